"""Runs that are still going: start one, see how far it is, send it signals, wait for its end."""

import json
import os
import signal
import subprocess
import time
from pathlib import Path

from program import MPIRUN, PROGRAM, Result


def wait_until(condition, what, seconds=60):
    """What `condition` returns, once it is true."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        found = condition()
        if found:
            return found
        time.sleep(0.002)
    raise AssertionError(f"after {seconds} s, still not: {what}")


def lines_of(path):
    """The whole lines of a file that may be growing, or may not be there yet."""
    try:
        text = Path(path).read_text(encoding="utf-8")
    except FileNotFoundError:
        return []
    return text.split("\n")[:-1]


def last_step(folder):
    """The last step that metrics.jsonl reports; 0: none."""
    lines = lines_of(Path(folder) / "metrics.jsonl")
    return json.loads(lines[-1])["step"] if lines else 0


def checkpoint_steps(folder):
    """The steps of the checkpoints in a results folder, ascending."""
    return sorted(int(path.stem[5:]) for path in (Path(folder) / "checkpoints").glob("step-*.h5"))


def checkpoint(folder, step):
    return Path(folder) / "checkpoints" / f"step-{step:012d}.h5"


class Running:
    """tutti in a process group of its own; what it says goes to files in `folder`, for nobody reads a pipe."""

    def __init__(self, folder, *arguments, ranks=None, environment=None):
        start = [] if ranks is None else [*MPIRUN, "-np", str(ranks)]
        # Set for the ranks, not for mpirun.
        if environment:
            start += ["env", *(f"{name}={value}" for name, value in environment.items())]
        self.out, self.err = Path(folder) / "out.txt", Path(folder) / "err.txt"
        with open(self.out, "wb") as out, open(self.err, "wb") as err:
            self.process = subprocess.Popen([*start, PROGRAM, *map(str, arguments)], stdin=subprocess.DEVNULL, stdout=out,
                                            stderr=err, start_new_session=True)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            for pid in [*self.ranks(), self.process.pid]:
                self.signal(signal.SIGKILL, pid)
            self.process.wait()

    @property
    def pid(self):
        return self.process.pid

    def ranks(self):
        """Process numbers of all ranks that are running now: tutti itself, or what mpirun has started."""
        parents, programs = {}, {}
        for entry in Path("/proc").iterdir():
            if not entry.name.isdigit():
                continue
            try:
                # The name in brackets may hold anything; the parent comes second behind it.
                parents[int(entry.name)] = int((entry / "stat").read_text().rpartition(")")[2].split()[1])
                programs[int(entry.name)] = os.readlink(entry / "exe")
            except (OSError, ValueError):
                continue
        found = []
        for pid, program in programs.items():
            above = pid
            while above != self.pid and above in parents:
                above = parents[above]
            if above == self.pid and program == PROGRAM:
                found.append(pid)
        return sorted(found)

    def signal(self, number, pid=None):
        try:
            os.kill(pid or self.pid, number)
        except ProcessLookupError:
            pass

    def wait(self, seconds=60):
        """The end, as a Result."""
        try:
            self.process.wait(seconds)
        except subprocess.TimeoutExpired:
            raise AssertionError(f"still running after {seconds} s\n{self.said()}") from None
        return Result(self.process.returncode, self.out.read_text(errors="replace"), self.err.read_text(errors="replace"))

    def said(self):
        return self.out.read_text(errors="replace") + self.err.read_text(errors="replace")
