"""Power cuts at any moment. What was made durable is there; what was not may be there, in part, or be zeros."""

import os
import subprocess
from pathlib import Path

from kill import end
from trials import checkpoint_steps, goes_on, preloaded, require, whole

SHORT, LONG = 30, 400


class Disk:
    """What the disk holds after the cut: of each file and folder the durable state, or more of what came behind it."""

    def __init__(self, store, folder, dice):
        self.store, self.dice = store, dice
        self.now = {}  # by inode: where the file or folder is now
        for path in [folder, *folder.rglob("*"), *store.glob("kept-*")]:
            self.now[str(path.lstat().st_ino)] = path

    def names(self, inode):
        """Lines "<inode> <kind> <name>"."""
        durable = self.store / f"d{inode}"
        now = self.now.get(inode)
        if now is not None and now.is_dir() and self.dice.random() < 0.5:
            return [f"{path.lstat().st_ino} {'d' if path.is_dir() else 'f'} {path.name}" for path in sorted(now.iterdir())]
        return durable.read_text().splitlines() if durable.exists() else []

    def content(self, inode):
        stored = self.store / f"f{inode}"
        durable = stored.read_bytes() if stored.exists() else b""
        now = self.now.get(inode)
        live = now.read_bytes() if now is not None and now.is_file() else durable
        if not live.startswith(durable):
            return self.dice.choice([live, durable])
        more = live[len(durable):]
        more = more[:self.dice.choice([0, len(more), self.dice.randint(0, len(more))])]
        return durable + (more if self.dice.random() < 0.7 else bytes(len(more)))

    def restore(self, inode, target):
        target.mkdir()
        for line in self.names(inode):
            below, kind, name = line.split(" ", 2)
            if kind == "d":
                self.restore(below, target / name)
            else:
                (target / name).write_bytes(self.content(below))


def trial(t):
    model, ranks = t.model_and_ranks()
    store, folder, left = t.folder / "store", t.folder / "results", t.folder / "left"
    store.mkdir()
    environment = {"LD_PRELOAD": preloaded("TUTTI_POWER_CUT"), "POWER_FOLDER": folder, "POWER_STORE": store}
    with t.start(t.case(model), "-o", folder, ranks=ranks, environment=environment) as running:
        try:
            # The copies of what is durable cost time, too.
            code = running.process.wait((0.2 + t.dice.random()) * 1.2 * whole(t, model, ranks).seconds)
            require(code == 0, f"exit code {code} before the cut:\n{running.said()}")
        except subprocess.TimeoutExpired:
            end(running, ranks, t.dice)
    named = {int(Path(name).stem[5:]) for names in store.glob("d*") if "." not in names.name
             for name in names.read_text().split() if name.startswith("step-") and name.endswith(".h5")}
    if folder.exists():
        Disk(store, folder, t.dice).restore(str(os.stat(folder).st_ino), left)
    else:
        left.mkdir()
    steps = checkpoint_steps(left)
    require(not named or (steps and steps[-1] >= max(named)), f"the checkpoint of step {max(named, default=0)} was durable: {steps}")
    goes_on(t, model, left, ranks)
    return f"from step {steps[-1] if steps else 0}"
