"""The built program as the tests see it: run it, read what it leaves. Python's standard library only.

Environment, set by CTest: TUTTI (the program), TUTTI_MPIRUN (mpirun with its options), TUTTI_TEST_DATA (tests/data).
By hand: TUTTI=build/release/bin/tutti python3 -m unittest discover -s tests/system
"""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "scripts"))
import check_messages  # noqa: E402

DATA = Path(os.environ.get("TUTTI_TEST_DATA", ROOT / "tests" / "data"))
PROGRAM = str(Path(os.environ.get("TUTTI", ROOT / "build" / "release" / "bin" / "tutti")).resolve())
AS_ROOT = ["--allow-run-as-root"] if os.geteuid() == 0 else []
MPIRUN = os.environ.get("TUTTI_MPIRUN", " ".join(["mpirun --oversubscribe --bind-to none", *AS_ROOT])).split()
# More ranks and threads than cores: those that wait must let the others run.
os.environ.setdefault("OMPI_MCA_mpi_yield_when_idle", "1")
os.environ.setdefault("OMP_WAIT_POLICY", "passive")

# Weights are given: measuring the bandwidth of fake devices takes long and is another test's business.
EQUAL = ["--set", 'balance.weights="equal"']


class Result(NamedTuple):
    code: int
    out: str
    err: str

    def error_lines(self):
        return [line for line in self.err.split("\n") if "tutti: error:" in line]


def run(command, timeout=120, cwd=None):
    """Runs a command in a process group of its own; a run that does not end in time fails the test."""
    process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                               text=True, errors="replace", cwd=cwd, start_new_session=True)
    try:
        out, err = process.communicate(timeout=timeout)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        out, err = process.communicate()
        raise AssertionError(f"still running after {timeout} s: {' '.join(command)}\n{out}\n{err}") from None
    return Result(process.returncode, out, err)


def tutti(*arguments, ranks=None, timeout=120, cwd=None):
    """`ranks` None: started directly; else by mpirun."""
    start = [] if ranks is None else [*MPIRUN, "-np", str(ranks)]
    return run([*start, PROGRAM, *map(str, arguments)], timeout, cwd)


def sets(**values):
    """--set options: sets(time_steps=3) is --set time.steps=3; a value that is no number or list is quoted."""
    options = []
    for key, value in values.items():
        text = json.dumps(value) if isinstance(value, (str, list, bool)) else repr(value)
        options += ["--set", f"{key.replace('__', '.')}={text}"]
    return options


BOX = """model = "diffusion"
[mesh]
generate = "box"
cubes = [{n}, {n}, {n}]
jitter = {jitter}
[physics]
{physics}
{boundary}
[time]
{time}
[output]
{output}
"""


def box_case(n=8, jitter=0.2, physics='K = 1\ninitial = "x"', boundary="", time="steps = 10", output=""):
    return BOX.format(n=n, jitter=jitter, physics=physics, boundary=boundary, time=time, output=output)


SPHERE = """model = "transport"
[nodes]
generate = "icosahedral"
count = 642
[stencil]
size = 17
exponent = 5
degree = 2
[hyperviscosity]
k = 1
beta = 0.3
[velocity]
east = "cos(lat)"
[[tracer]]
name = "q"
initial = "z"
[time]
steps = 1
"""

KINDS = {2: "usage", 3: "resource", 4: "input", 5: "io", 6: "numerical", 7: "peer"}


def faults_of(message, code):
    """What is wrong with the form of a message of an error that ended with `code`: nothing, or a list of texts. Names of files
    and what stands between quotes may be anything."""
    message = re.sub(r"'[^']*'", "'{}'", re.sub(r"^/.*?(?=:\d|: )", "{}", message))
    return list(check_messages.form(message, KINDS[code]))


class SystemTest(unittest.TestCase):
    """Each test has a folder of its own, self.folder."""

    def setUp(self):
        if not Path(PROGRAM).is_file():
            self.fail(f"{PROGRAM} is not built; set TUTTI")
        self.folder = Path(tempfile.mkdtemp(prefix="tutti_system_"))
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)
        self.runs = 0

    def write(self, name, text):
        path = self.folder / name
        path.write_text(text, encoding="utf-8")
        return path

    def run_case(self, text, *options, ranks=None, timeout=60):
        """Runs a case that must succeed; the summary, with the folder of the results in it as "folder"."""
        self.runs += 1
        case = self.write(f"case{self.runs}.toml", text)
        folder = self.folder / f"results{self.runs}"
        result = tutti("run", case, "-o", folder, *EQUAL, *options, ranks=ranks, timeout=timeout)
        self.assertEqual(result.code, 0, result.err + result.out)
        self.assertEqual(result.error_lines(), [])
        summary = json.loads((folder / "summary.json").read_text(encoding="utf-8"))
        summary["folder"] = folder
        summary["out"] = result.out
        return summary

    def assert_error(self, result, code, *patterns):
        """One error line that matches all patterns, and the exit code of its kind."""
        self.assertEqual(result.code, code, result.err)
        lines = result.error_lines()
        self.assertEqual(len(lines), 1, result.err)
        for pattern in patterns:
            self.assertRegex(lines[0], pattern)
        self.assertEqual(faults_of(lines[0].split("tutti: error: ", 1)[1], code), [], lines[0])


def numbers_in(text):
    """All whole numbers of a text, thousands separators removed."""
    return [int(word.replace(",", "")) for word in re.findall(r"\b\d[\d,]*\b", text)]
