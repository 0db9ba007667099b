"""Runs with less and less memory: each ends with exit code 0, or with 3 and one line that says what was missing.

    memory_limits.py [--values N] [--ranks 1,2] [--models diffusion,...]

limits the address space of a run (prlimit --as) to N values for every model and number of ranks, between the least with
which the program starts and what the whole run takes. Below that least the dynamic loader and MPI_Init end the process
themselves (exit codes 127 and 1, messages of their own): MPI has no way to tell its caller, and nothing of tutti runs yet.
It is found at the start, by a program's run that does nothing but start MPI. Ends with a line a model and 1 if one failed.
"""

import argparse
import collections
import concurrent.futures
import os
import re
import shutil
import sys
import tempfile
from pathlib import Path

from program import EQUAL, MPIRUN, PROGRAM, box_case, run

OK, RESOURCE, NO_MPI = 0, 3, "MPI did not start"

CASES = {
    "diffusion": box_case(n=10, time="steps = 3", output='[[output.probe]]\nname = "p"\npoint = [0.5, 0.5, 0.5]'),
    "incompressible": """model = "incompressible"
[grid]
cells = [40, 40, 10]
[fluid]
viscosity = 0.01
diffusivity = 0.01
[[scalar]]
name = "a_dye_with_a_long_name"
diffusivity = 0.01
initial = "x"
[[boundary]]
face = "y-upper"
value = [1, 0, 0]
[time]
steps = 3
""",
    "transport": """model = "transport"
[nodes]
generate = "fibonacci"
count = 800
[velocity]
cartesian = ["-y", "x", "0"]
[[tracer]]
name = "q"
initial = "x"
[time]
steps = 3
""",
    "compressible": """model = "compressible"
[mesh]
generate = "box"
cubes = [4, 4, 4]
periodic = true
[physics.initial]
rho = "1 + 0.2*sin(2*pi*x)"
velocity = [0.5, 0, 0]
p = 1
[time]
steps = 3
""",
    "graph": """model = "graph"
[graph]
generate = "ssca2"
scale = 10
[measure]
sources = 30
[steps]
sources = 10
""",
}


def limited(megabytes, ranks, arguments, timeout=300):
    limit = ["prlimit", f"--as={int(megabytes * 2**20)}", "--core=0"]
    start = [] if ranks == 1 else [*MPIRUN, "-np", str(ranks)]
    return run([*start, *limit, PROGRAM, *map(str, arguments)], timeout=timeout)


def least(good, low, high, precision):
    """The smallest value with which `good` holds from there on, to `precision`."""
    while high - low > precision:
        middle = (low + high) / 2
        low, high = (low, middle) if good(middle) else (middle, high)
    return high


def mpi_did_not_start(result):
    """MPI_Init itself has ended a process, with words of its own; other ranks may have told that memory is missing."""
    ours = [line for line in result.err.split("\n") if line.startswith("tutti:")]
    return result.code == 1 and all("memory" in line for line in ours) and re.search("mpi_init|orte_|mca_|pml", result.err, re.IGNORECASE)


class Sweep:
    def __init__(self, folder, model, ranks):
        self.folder, self.model, self.ranks = folder, model, ranks
        self.case = folder / f"{model}.toml"
        self.case.write_text(CASES[model], encoding="utf-8")

    def arguments(self, name):
        # One device a rank and few threads: what a machine has must not decide what is tested.
        return ["run", self.case, "-o", self.folder / f"{self.model}-{self.ranks}-{name}", "--devices", "cpu", "--threads", "3",
                *([] if self.model == "graph" else EQUAL), "--set", "checkpoint.every=1", "--set", "checkpoint.keep=1"]

    def starts(self, megabytes):
        """MPI is up: the program itself says that the file is not there."""
        result = limited(megabytes, self.ranks, ["mesh", "info", self.folder / "none.msh"])
        return result.code == 5 and len(result.error_lines()) == 1

    def whole(self, megabytes):
        result = limited(megabytes, self.ranks, self.arguments("whole") + ["--overwrite"])
        if result.code not in (OK, RESOURCE):
            print(f"    {megabytes:.2f} MiB: exit code {result.code}: {result.err[-600:]}", flush=True)
        return result.code == OK

    def one(self, number, megabytes):
        """How a run ended, and what was wrong with that, if anything."""
        arguments = self.arguments(number)
        result = limited(megabytes, self.ranks, arguments)
        shutil.rmtree(arguments[3], ignore_errors=True)
        if mpi_did_not_start(result):
            return NO_MPI, None
        lines = result.error_lines()
        good = result.code == OK or (result.code == RESOURCE and len(lines) >= 1)
        return result.code, None if good else f"{megabytes:.2f} MiB: exit code {result.code}: {result.err[-600:]}"

    def sweep(self, values, jobs):
        low = least(self.starts, 20, 600, 0.5) + 0.5
        high = least(self.whole, low, 3000, 4)
        limits = [low + (high - low) * k / max(values - 1, 1) for k in range(values)]
        with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
            results = list(pool.map(self.one, range(values), limits))
        codes = collections.Counter(code for code, _ in results)
        failures = [text for _, text in results if text]
        print(f"{self.model:15} ranks {self.ranks}  {low:.0f} to {high:.0f} MiB  tried {values}  "
              f"exit 0: {codes[OK]}  exit 3: {codes[RESOURCE]}  {NO_MPI}: {codes[NO_MPI]}  failed {len(failures)}", flush=True)
        for text in failures[:5]:
            print("    " + text.replace("\n", "\n    "), flush=True)
        return not failures


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--values", type=int, default=300, help="limits a model and number of ranks (default: %(default)s)")
    parser.add_argument("--ranks", default="1,2")
    parser.add_argument("--models", default=",".join(CASES))
    parser.add_argument("--jobs", type=int, default=max(1, (os.cpu_count() or 1) // 2), help="runs at the same time")
    options = parser.parse_args()
    folder = Path(tempfile.mkdtemp(prefix="tutti_memory_"))
    try:
        good = [Sweep(folder, model, int(ranks)).sweep(options.values, options.jobs)
                for model in options.models.split(",") for ranks in options.ranks.split(",")]
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    return 0 if all(good) else 1


if __name__ == "__main__":
    sys.exit(main())
