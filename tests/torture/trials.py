"""What all kinds of trials share: tiny cases, their whole runs, and what must be right after anything has happened to a run."""

import json
import os
import random
import shutil
import sys
import threading
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "system"))
from program import DATA, EQUAL, MPIRUN, PROGRAM, box_case, faults_of, run, sets, tutti  # noqa: E402
from running import Running, checkpoint, checkpoint_steps, lines_of  # noqa: E402
from test_restart import outcome, reports  # noqa: E402

__all__ = ["DATA", "EQUAL", "MPIRUN", "OPTIONS", "PROGRAM", "Running", "Trial", "Whole", "box_case", "checkpoint", "checkpoint_steps",
           "clear_error", "goes_on", "lines_of", "outcome", "preloaded", "require", "run", "same_rows", "sets", "tutti", "whole"]

USAGE, RESOURCE, INPUT, IO, NUMERICAL, PEER = 2, 3, 4, 5, 6, 7
# One device and one thread: what a machine has must not decide what is tested.
OPTIONS = ["--devices", "cpu", "--threads", "1", *EQUAL]
SECONDS = 300  # a run that takes longer hangs; on a busy machine ranks wait long for each other
STEPS, EVERY = 24, 4

OUTPUT = f"""[output]
every = 6
history_every = 1
probe_every = 1
[[output.probe]]
name = "a"
point = {{point}}
[checkpoint]
every = {EVERY}
minutes = 0
keep = 3
[report]
every = 1
"""
DIFFUSION = """model = "diffusion"
[mesh]
generate = "box"
cubes = [4, 4, 3]
jitter = 0.2
[physics]
K = [["1", "0.3", "0"], ["0.3", "2", "0"], ["0", "0", "1+y"]]
initial = "exp(-4*((x-0.3)^2+y^2+z^2))"
[[boundary]]
tag = "x-min"
type = "dirichlet"
value = "1+y*t"
[time]
steps = {steps}
"""
FLOW = """model = "incompressible"
[grid]
cells = [6, 5, 4]
[fluid]
viscosity = 0.01
[[scalar]]
name = "dye"
diffusivity = 0.01
initial = "x"
[[boundary]]
face = "y-upper"
value = [1, 0, 0]
[time]
steps = {steps}
"""
TRANSPORT = """model = "transport"
[nodes]
generate = "icosahedral"
count = 362
[stencil]
size = 25
exponent = 5
degree = 4
[velocity]
east = "cos(lat) + 0.3*sin(lat)*cos(lon)"
north = "-0.3*sin(lon)"
[[tracer]]
name = "dye"
initial = "sin(2*lon)*cos(lat)^2 + z"
[time]
steps = {steps}
"""
COMPRESSIBLE = """model = "compressible"
[mesh]
generate = "box"
element = "prism"
cubes = [2, 2, 2]
jitter = 0.1
periodic = true
[physics]
viscosity = 0.001
[physics.initial]
rho = "1 + 0.2*sin(2*pi*x)*sin(2*pi*y)"
velocity = [0.5, "0.1*sin(2*pi*z)", 0]
p = 1
[numerics]
order = 2
[time]
steps = {steps}
"""
POINTS = {"transport": "[0.0, 0.6, 0.8]"}
CASES = {name: text.format(steps=STEPS) + OUTPUT.format(point=POINTS.get(name, "[0.51, 0.22, 0.34]"))
         for name, text in (("diffusion", DIFFUSION), ("incompressible", FLOW), ("transport", TRANSPORT), ("compressible", COMPRESSIBLE))}
CASES["diffusion in one file"] = CASES["diffusion"].replace("[output]", '[output]\nformat = "vtkhdf"')
MODELS = list(CASES)
ROWS = ["probes.csv", "history.csv", "metrics.jsonl"]


def require(condition, what):
    if not condition:
        raise AssertionError(what)


class Trial:
    """One trial: a folder of its own, and what its seed decides."""

    def __init__(self, kind, number, seed, base):
        self.number, self.base = number, base
        self.dice = random.Random(f"{seed}:{kind}:{number}")
        self.folder = base / f"{kind}-{number}"
        self.folder.mkdir(parents=True)

    def model_and_ranks(self, two_ranks=0.06):
        """The models in turn; now and then two ranks, whose start takes mpirun long."""
        return MODELS[self.number % len(MODELS)], 2 if self.dice.random() < two_ranks else None

    def case(self, model):
        path = self.folder / "case.toml"
        path.write_text(CASES[model], encoding="utf-8")
        return path

    def start(self, *arguments, ranks=None, environment=None):
        said = self.folder / f"said{len(list(self.folder.glob('said*')))}"
        said.mkdir()
        return Running(said, "run", *arguments, *OPTIONS, ranks=ranks, environment=environment)


class Whole:
    """A run that nothing has happened to."""

    def __init__(self, folder, text, ranks=None, options=()):
        shutil.rmtree(folder, ignore_errors=True)  # of one that failed
        folder.mkdir(parents=True)
        case = folder / "case.toml"
        case.write_text(text, encoding="utf-8")
        self.folder = folder / "results"
        begin = time.monotonic()
        result = tutti("run", case, "-o", self.folder, *OPTIONS, *options, ranks=ranks, timeout=SECONDS)
        self.seconds = time.monotonic() - begin
        require(result.code == 0, f"the run that nothing happens to ends with code {result.code}: {result.err}")
        self.outcome = outcome(json.loads((self.folder / "summary.json").read_text(encoding="utf-8")))


_wholes, _lock = {}, threading.Lock()


def whole(trial, model, ranks=None):
    """Made once for all trials."""
    with _lock:
        if (model, ranks) not in _wholes:
            _wholes[model, ranks] = Whole(trial.base / "whole" / f"{model}-{ranks or 1}", CASES[model], ranks)
        return _wholes[model, ranks]


def preloaded(name):
    """A library of the tests for LD_PRELOAD; what torture.py was given the build for."""
    return os.environ[name]


def clear_error(result, codes):
    """One line in the form that all errors have, and one of the exit codes."""
    lines = result.error_lines()
    require(result.code in codes and len(lines) == 1,
            f"exit code {result.code}, {len(lines)} error lines, not one of {sorted(codes)} and one line:\n{result.err[-2000:]}")
    faults = faults_of(lines[0].split("tutti: error: ", 1)[1], result.code)
    require(not faults, f"{lines[0]}: {faults}")


def same_outcome(folder, expected, result):
    require(result.code == 0, f"exit code {result.code}:\n{result.err[-2000:]}")
    require(not result.error_lines(), result.err)
    found = outcome(json.loads((folder / "summary.json").read_text(encoding="utf-8")))
    require(found == expected, f"another outcome:\n{found}\n{expected}")


def same_rows(folder, other):
    """Every row of the whole run, once."""
    for name in ("probes.csv", "history.csv"):
        require((folder / name).read_text() == (other.folder / name).read_text(), f"{name} has other rows")
    require(reports(folder) == reports(other.folder), "metrics.jsonl has other rows")


def one_file(folder, layout):
    """Its arrays and its number of steps. Not of one layout: without the mesh, in which each rank has points of its own."""
    import h5py
    arrays = {}
    with h5py.File(folder / "results.vtkhdf") as file:
        file.visititems(lambda name, item: arrays.update({name: item[...].tobytes()}) if hasattr(item, "shape") else None)
        arrays.pop("VTKHDF/CellData/part")
        if not layout:
            arrays = {name: values for name, values in arrays.items() if name.startswith(("VTKHDF/CellData/", "VTKHDF/Steps/"))}
        return arrays, file["VTKHDF/Steps"].attrs["NSteps"]


def same_files(folder, other, layout):
    """Every file of fields is there and whole. `layout`: all was written by one rank, so they are the same bytes."""
    if (other.folder / "results.vtkhdf").exists():
        require(one_file(folder, layout) == one_file(other.folder, layout), "another results.vtkhdf")
        require(not list(folder.rglob("*.redo")), "a redo file is left over")
        return
    require((folder / "results.pvd").read_text() == (other.folder / "results.pvd").read_text() or not layout, "another results.pvd")
    for path in (other.folder / "fields").iterdir():
        found = folder / "fields" / path.name
        require(found.is_file(), f"{path.name} is not there")
        require(found.stat().st_size > 0 if not layout else found.read_bytes() == path.read_bytes(), f"{path.name} is another")
    left = [str(path) for path in folder.rglob("*.tmp")]
    require(not left, f"left over: {left}")


def goes_on(trial, model, folder, ranks=None):
    """A run that was ended at any moment and in any way goes on, and all is as if nothing had been."""
    other = whole(trial, model)
    case = trial.case(model)
    if checkpoint_steps(folder):
        result = tutti("run", "--restart", folder, *OPTIONS, *sets(time__steps=STEPS), timeout=SECONDS)
        require("missing" not in result.err, f"rows are missing that the checkpoint recorded:\n{result.err}")
    else:
        result = tutti("run", case, "-o", folder, "--overwrite", *OPTIONS, timeout=SECONDS)
    same_outcome(folder, other.outcome, result)
    same_rows(folder, other)
    same_files(folder, other, ranks is None)
    steps = checkpoint_steps(folder)
    # One more than are kept, where it was ended before the oldest went and nothing was left to do.
    require(steps[-1:] == [STEPS] and len(steps) <= 4, f"checkpoints of the steps {steps}")
    require(not (folder / "tutti.lock").exists(), "the lock is still there")
