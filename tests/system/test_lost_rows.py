"""What a checkpoint mentions is on the disk before it, and a restart throws no row away that it can keep.

TUTTI_POWER_CUT, set by CTest, is the library made of power_cut.cpp.
"""

import os
import random
import shutil
import signal
import time
import unittest
from pathlib import Path

from program import EQUAL, sets
from running import Running, checkpoint, checkpoint_steps, lines_of, wait_until
from test_restart import STEPS, RestartTest, case_of, outcome, reports

POWER_CUT = os.environ.get("TUTTI_POWER_CUT", "")
HISTORY = sets(output__history_every=1)


class LostRows(RestartTest):
    """Files of rows that are shorter than a checkpoint recorded, damaged, or of other columns."""

    def setUp(self):
        super().setUp()
        self.whole = self.run_case(case_of(), *HISTORY)
        self.rows = {name: lines_of(self.whole["folder"] / name) for name in ["probes.csv", "history.csv", "metrics.jsonl"]}

    def go_on_after(self, damage, ranks=None, options=()):
        """Restarts from step 8 after damage(path) to each file; the folder and the warnings."""
        folder = self.copy(self.whole["folder"])
        for name in self.rows:
            damage(folder / name)
        summary = self.go_on(checkpoint(folder, 8), *HISTORY, *options, ranks=ranks)
        self.assertEqual(outcome(summary), outcome(self.whole))
        return folder, summary["err"]

    def test_nothing_is_lost(self):
        folder, said = self.go_on_after(lambda path: None)
        self.assertNotIn("warning", said)
        self.assertEqual(lines_of(folder / "history.csv"), self.rows["history.csv"])
        self.assertEqual(list(folder.glob("*.before-restart*")), [])

    def test_shorter_than_recorded(self):
        def cut(path):
            path.write_bytes(path.read_bytes()[:path.stat().st_size // 3])

        for ranks in (None, 2):
            with self.subTest(ranks=ranks):
                folder, said = self.go_on_after(cut, ranks)
                for name, rows in self.rows.items():
                    left = lines_of(folder / f"{name}.before-restart")
                    found = lines_of(folder / name)
                    self.assertGreaterEqual(len(left), 3)
                    self.assertEqual(found[:len(left)], rows[:len(left)], "what was there stays")
                    if name != "metrics.jsonl":  # where the clock counts
                        self.assertEqual(found[len(left):], rows[-(STEPS - 8):], "and it goes on")
                    missing = len(rows) - (STEPS - 8) - len(left)
                    self.assertRegex(said, rf"{name}: {missing} lines? of the previous run are missing, after .* up to .*; "
                                           rf"what was there is kept in .*{name}\.before-restart")

    def test_empty_and_gone(self):
        for damage in (lambda path: path.write_bytes(b""), Path.unlink):
            folder, said = self.go_on_after(damage)
            for name, rows in self.rows.items():
                self.assertRegex(said, rf"{name}: \d+ lines of the previous run are missing")
                if name != "metrics.jsonl":
                    self.assertEqual(lines_of(folder / name), [rows[0], *rows[-(STEPS - 8):]])
            self.assertEqual([row["step"] for row in reports(folder)], list(range(9, STEPS + 1)))

    def test_a_hole(self):
        def tear(path):
            rows = path.read_bytes().split(b"\n")
            path.write_bytes(b"\n".join([*rows[:3], b"\0" * len(rows[3]), *rows[4:]]))

        folder, said = self.go_on_after(tear)
        for name, rows in self.rows.items():
            self.assertRegex(said, rf"{name}: 1 line of the previous run are missing")
            if name != "metrics.jsonl":
                self.assertEqual(lines_of(folder / name), [*rows[:3], *rows[4:]])
            self.assertIn("\0", (folder / f"{name}.before-restart").read_text())

    def test_other_columns(self):
        folder, said = self.go_on_after(lambda path: None, options=["--set", 'output.probe[0].name="c"'])
        self.assertRegex(said, "probes.csv: an earlier run wrote other columns; they were set aside")
        self.assertEqual(lines_of(folder / "probes.csv.before-restart"), self.rows["probes.csv"])
        self.assertEqual(lines_of(folder / "probes.csv")[1:], self.rows["probes.csv"][-(STEPS - 8):])


@unittest.skipUnless(POWER_CUT, "TUTTI_POWER_CUT names no library")
class PowerCut(RestartTest):
    """Runs that are killed at random moments, and of their folder only what was made durable is left."""

    def image(self, store, folder, target):
        """What the disk holds of a folder."""
        target.mkdir()
        names = store / f"d{folder.stat().st_ino if isinstance(folder, Path) else folder}"
        for line in names.read_text().splitlines() if names.exists() else []:
            inode, kind, name = line.split(" ", 2)
            if kind == "d":
                self.image(store, inode, target / name)
            else:
                content = store / f"f{inode}"
                (target / name).write_bytes(content.read_bytes() if content.exists() else b"")

    def cut(self, number, ranks, dice):
        store, folder, left = (self.folder / f"{what}{number}" for what in ("store", "cut", "left"))
        store.mkdir()
        case = self.write("case.toml", self.text)
        environment = {"LD_PRELOAD": POWER_CUT, "POWER_FOLDER": folder, "POWER_STORE": store}
        with Running(self.folder, "run", case, "-o", folder, *self.options, ranks=ranks, environment=environment) as running:
            wait_until(lambda: checkpoint_steps(folder)[1:] or running.process.poll() is not None, "two checkpoints")
            time.sleep(dice.random() * 0.3)
            for pid in running.ranks():
                running.signal(signal.SIGKILL, pid)
        self.image(store, folder, left)
        self.assertGreaterEqual(len(checkpoint_steps(left)), 1)
        return left

    def test_what_a_checkpoint_mentions_is_there(self):
        steps, dice = 40, random.Random(5)
        self.text = case_of(n=6, time=f"steps = {steps}", every=4)
        self.options = [*EQUAL, *HISTORY, *sets(output__every=2)]
        whole = self.run_case(self.text, *HISTORY, *sets(output__every=2))
        for number in range(4):
            ranks = 2 if number == 3 else None
            with self.subTest(cut=number, ranks=ranks):
                left = self.cut(number, ranks, dice)
                step = checkpoint_steps(left)[-1]
                rows = {name: lines_of(left / name) for name in ["probes.csv", "history.csv", "metrics.jsonl"]}
                summary = self.go_on(left, *HISTORY, *sets(output__every=2))
                self.assertEqual(outcome(summary), outcome(whole))
                self.assertNotRegex(summary["err"], "missing|could not be read")
                self.assertGreaterEqual(len(rows["probes.csv"]), step + 2)
                self.assertEqual([row["step"] for row in reports(left)], list(range(1, steps + 1)))
                for name in ["probes.csv", "history.csv", "results.pvd"]:
                    self.assertEqual((left / name).read_text(), (whole["folder"] / name).read_text(), name)
                for path in (whole["folder"] / "fields").iterdir():
                    found = left / "fields" / path.name
                    if ranks is None:
                        self.assertEqual(found.read_bytes(), path.read_bytes(), path.name)
                    self.assertGreater(found.stat().st_size, 0, path.name)
                shutil.rmtree(left)


if __name__ == "__main__":
    unittest.main()
