#!/usr/bin/env python3
"""Table 1 and Figures 4 to 10 of Jacobsen 2010 on this machine.

    papers/jacobsen2010/reproduce.py                      # all GPUs of this machine; without any, ranks of one CPU core
    papers/jacobsen2010/reproduce.py table1 scaling       # only these
    papers/jacobsen2010/reproduce.py --quick -o try       # small grids: about two minutes on two cores

Runs the program that TUTTI names (default: build/release/bin/tutti) and leaves tables, figures, and every number in the
output folder; what is in its runs.json is not run again. Needs matplotlib.
"""

import argparse
import json
import os
import platform
import re
import shutil
import subprocess
import sys
import threading
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path[:0] = [str(HERE), str(HERE.parent), str(ROOT / "python")]

import page  # noqa: E402
import paper  # noqa: E402
import report  # noqa: E402
from calls import Failed, call, find_gpus  # noqa: E402

PARTS = ["table1", "figure4", "figure5", "figure6", "scaling"]
DATA = ROOT / "tests" / "data" / "incompressible"

CAVITY = """# The lid-driven cavity at Re 1000, a plane: Figure 4.
model = "incompressible"
[grid]
cells = [{n}, {n}, 1]
[fluid]
viscosity = 0.001
[[boundary]]
face = "y-upper"
value = [1, 0, 0]
[time]
end = {end}
[output]
every = 0
[checkpoint]
minutes = 0
"""
# Lengths in sides, times in side^2 / diffusivity: Ra and Pr as they are.
HEATED = """# A cavity heated at its left side, a plane: Figures 5 and 6.
model = "incompressible"
[grid]
cells = [{n}, {n}, 1]
[fluid]
viscosity = {prandtl}
diffusivity = 1
buoyancy = [0, {buoyancy}, 0]
reference = 0.5
[initial]
temperature = "1 - x"
[[boundary]]
face = "x-lower"
temperature = "fixed"
temperature_value = 1
[[boundary]]
face = "x-upper"
temperature = "fixed"
temperature_value = 0
[time]
end = {end}
[output]
every = 0
[checkpoint]
minutes = 0
"""


class Watts:
    """The largest reading of a board's power while something runs; None where there is none."""

    def __init__(self, devices):
        numbers = re.findall(r"cuda:(\d+)", devices)
        self.command = ["nvidia-smi", "--query-gpu=power.draw", "--format=csv,noheader,nounits", "-i", ",".join(numbers)]
        self.works = bool(numbers) and shutil.which("nvidia-smi") is not None
        self.most, self.ends = None, threading.Event()
        self.thread = threading.Thread(target=self.watch)

    def watch(self):
        while not self.ends.wait(0.1):
            said = subprocess.run(self.command, capture_output=True, text=True).stdout.split()
            try:
                self.most = max(self.most or 0, sum(map(float, said)))
            except ValueError:
                return  # "[N/A]"

    def __enter__(self):
        if self.works:
            self.thread.start()
        return self

    def __exit__(self, *_):
        self.ends.set()
        if self.works:
            self.thread.join()


class Runs:
    """Runs the program and keeps what it measured."""

    def __init__(self, options):
        self.options, self.folder = options, options.output
        self.file = self.folder / "runs.json"
        self.kept = json.loads(self.file.read_text()) if self.file.exists() and not options.again else {}

    def keep(self, asked, make):
        """The record of what was asked for, made where it is not there."""
        key = json.dumps(asked, sort_keys=True)
        if key not in self.kept:
            self.kept[key] = {**asked, "date": time.strftime("%Y-%m-%d"), **make()}
            self.file.write_text(json.dumps(self.kept, indent=1) + "\n")
        return self.kept[key]

    def bench(self, name, grid, devices, ranks=1, threads=None, policies=("full",)):
        """Rows of `tutti bench incompressible`, one a policy."""
        o = self.options
        asked = dict(name=name, grid=list(grid), devices=devices, ranks=ranks, threads=threads, policies=list(policies),
                     sweeps=o.sweeps, seconds=o.seconds)

        def make():
            print(f"  {name}: {' x '.join(map(str, grid))} cells, {devices}{f', {ranks} ranks' if ranks > 1 else ''}", flush=True)
            file = self.folder / "bench.json"
            words = [*(o.mpirun + ["-np", ranks] if ranks > 1 else []), o.program, "bench", "incompressible", "--cells",
                     ",".join(map(str, grid)), "--solver", "jacobi", "--sweeps", o.sweeps, "--precision", "float",
                     "--seconds", o.seconds, "--overlap", ",".join(policies), "--devices", devices, "--json", file]
            with Watts(devices) as watts:
                call(*words, *(["--threads", threads] if threads else []))
            rows = json.loads(file.read_text())["results"]
            file.unlink()
            return {"rows": {row["overlap"]: row for row in rows}, "watts": watts.most}
        return self.keep(asked, make)

    def simulate(self, name, text):
        """A run of a case on the CPU; its folder of results, kept."""
        case, folder = self.folder / f"{name}.toml", self.folder / name
        changed = not case.exists() or case.read_text() != text or not (folder / "summary.json").exists()
        if changed or self.options.again:
            print(f"  {name}", flush=True)
            case.write_text(text)
            # A second thread costs small grids more than it gives where others use the machine.
            call(self.options.program, "run", case, "-o", folder, "--overwrite", "--devices", self.options.cases_on,
                  *(["--threads", 1] if self.options.quick else []))
        return folder


def table1(runs):
    print("Table 1")
    o = runs.options
    small = o.gpus and o.gpus[0].startswith("fake")
    grid = o.one or (paper.TABLE1_GRID if not small else (16, 4, 16))
    lists = ["cpu", *o.gpus[:1]]
    return [runs.bench("one device", grid, fake_list(devices)) for devices in lists]


def profiles_of(folder):
    from tutti.results import Results
    return Results(folder).load("last")


def compare(snapshot, curve, file, column):
    """The largest difference of a profile from a table, in the values' own scale, and what both are."""
    from tutti import profile
    reference = profile.read_reference(file, column)
    places, values = profile.profile_of(snapshot, profile.Curve(*curve), [0.5 * (f[0] + f[-1]) for f in snapshot.faces], None)
    found = profile.largest_difference(places, values, reference)
    return {"places": places.tolist(), "values": values.tolist(), "difference": abs(found[0]),
            "reference": {"places": reference.places.tolist(), "values": reference.values.tolist()}}


def figure4(runs):
    print("Figure 4")
    n = runs.options.case_cells
    folder = runs.simulate("cavity", CAVITY.format(n=n, end=60))
    snapshot = profiles_of(folder)
    done = {"cells": n}
    exact = f"re1000_N{n}" if n in (64, 128, 256) else "re1000_richardson"
    for letter, curve in (("u", ("u", "y")), ("v", ("v", "x"))):
        done[letter] = {"ghia": compare(snapshot, curve, DATA / f"ghia1982_{letter}.csv", "re1000"),
                        "exact": compare(snapshot, curve, DATA / f"cavity2d_mac_{letter}.csv", exact), "column": exact}
    report.plot_figure4(snapshot, done, runs.folder / "figure4.png")
    return done


def heated(runs, rayleigh, end):
    o = runs.options
    text = HEATED.format(n=o.heated_cells, prandtl=paper.FIGURE5["prandtl"], buoyancy=rayleigh * paper.FIGURE5["prandtl"], end=end)
    return profiles_of(runs.simulate(f"heated_{rayleigh}", text))


def figure5(runs):
    print("Figure 5")
    snapshots = {rayleigh: heated(runs, rayleigh, 0.3) for rayleigh in paper.FIGURE5["rayleigh"]}
    report.plot_figure5(snapshots, runs.folder / "figure5.png")
    return {"cells": runs.options.heated_cells,
            "T": {"140": compare(snapshots[140], ("T", "x"), DATA / "natural_convection_profiles.csv", "T_Pr7_Ra140")}}


def figure6(runs):
    print("Figure 6")
    snapshot = heated(runs, paper.FIGURE6["rayleigh"], 0.3)
    done = {"cells": runs.options.heated_cells}
    for letter, axis in (("T", "x"), ("u", "y"), ("v", "x")):
        done[letter] = compare(snapshot, (letter, axis), DATA / "natural_convection_profiles.csv", f"{letter}_Pr7_Ra100000")
    report.plot_figure6(done, runs.folder / "figure6.png")
    return done


def fake_list(devices):
    return "fake:1" if devices.startswith("fake") else devices


def scaling(runs):
    """1, 2, 4 (8) devices by the three policies: one size for all, and as many cells each. One rank drives all GPUs of this
    host; CPU ranks have a core each."""
    print("Figures 7 to 10")
    o = runs.options
    strong, weak = (paper.STRONG_GRID, paper.STRONG_GRID) if not o.quick else ((128, 16, 128), (128, 16, 64))
    if o.gpus and o.gpus[0].startswith("fake"):
        strong, weak = (12, 8, 16), (12, 8, 8)
    strong, weak = o.strong or strong, o.weak or weak
    policies = list(paper.POLICIES)
    base = runs.bench("all CPU cores", strong, "cpu")
    records = []
    for count in [k for k in (1, 2, 4, 8) if k <= o.count]:
        if not o.gpus:
            where = dict(devices="cpu", ranks=count, threads=1)
        else:
            where = dict(devices=f"fake:{count}" if o.gpus[0].startswith("fake") else ",".join(o.gpus[:count]))
        for name, grid in (("strong", strong), ("weak", (weak[0], weak[1], weak[2] * count))):
            records.append({**runs.bench(name, grid, policies=policies, **where), "count": count})
    done = {"base": base, "records": records, "gpus": bool(o.gpus)}
    report.plot_scaling(done, runs.folder)
    return done


def machine(options):
    """What was run on: one line."""
    said = call(options.program, "devices", "--devices", options.devices).strip().split("\n")
    return "; ".join(re.sub(r" +", " ", line) for line in said) + f"; {platform.system()} {platform.machine()}"


def arguments(words):
    def grid(text):
        sides = tuple(int(word) for word in text.split(","))
        if len(sides) != 3:
            raise argparse.ArgumentTypeError(f"'{text}' is not X,Y,Z")
        return sides

    parser = argparse.ArgumentParser(description="Jacobsen 2010 on this machine: a table and figures.")
    parser.add_argument("parts", nargs="*", metavar="PART", help=f"of {', '.join(PARTS)}; default: all")
    parser.add_argument("-o", "--output", type=Path, default=Path("results/jacobsen2010"), metavar="DIR")
    parser.add_argument("--devices", default="all", metavar="LIST",
                        help="GPUs to scale over (default: all of the machine); without any: ranks of one core")
    parser.add_argument("--ranks", type=int, metavar="N", help="without GPUs: ranks at most (default: one a core, 8 at most)")
    parser.add_argument("--sweeps", type=int, metavar="N", help="of Jacobi a step (default: 20; quick: 10)")
    parser.add_argument("--seconds", type=float, metavar="S", help="of timed steps a row (default: 5; quick: 0.5)")
    parser.add_argument("--one", type=grid, metavar="X,Y,Z", help="cells of Table 1 (default: 256,32,256)")
    parser.add_argument("--strong", type=grid, metavar="X,Y,Z", help="cells of Figures 7 and 8 (default: 1024,64,1024)")
    parser.add_argument("--weak", type=grid, metavar="X,Y,Z", help="cells a device of Figures 9 and 10 (default: 1024,64,1024)")
    parser.add_argument("--case-cells", type=int, metavar="N", help="Figure 4: cells a side (default: 256; quick: 64)")
    parser.add_argument("--heated-cells", type=int, metavar="N", help="Figures 5 and 6: cells a side (default: 128; quick: 32)")
    parser.add_argument("--cases-on", default="cpu", metavar="LIST", help="devices of Figures 4 to 6 (default: cpu)")
    parser.add_argument("--quick", action="store_true", help="small grids: to see that it works, and how it looks")
    parser.add_argument("--again", action="store_true", help="run anew what is there")
    parser.add_argument("--readme", action="store_true", help="put the report into the README.md beside this script")
    options = parser.parse_args(words)
    wrong = set(options.parts) - set(PARTS)
    if wrong:
        parser.error(f"no part {', '.join(sorted(wrong))}; choose of {', '.join(PARTS)}")
    options.parts = options.parts or PARTS
    options.program = os.environ.get("TUTTI", str(ROOT / "build" / "release" / "bin" / "tutti"))
    if not Path(options.program).is_file():
        parser.error(f"{options.program} is not there; build it, or set TUTTI")
    options.mpirun = os.environ.get("TUTTI_MPIRUN", "mpirun").split()
    options.sweeps = options.sweeps or (10 if options.quick else 20)
    options.seconds = options.seconds or (0.5 if options.quick else 5)
    options.case_cells = options.case_cells or (64 if options.quick else 256)
    options.heated_cells = options.heated_cells or (32 if options.quick else 128)
    return options


def main(words=None):
    options = arguments(words)
    options.output.mkdir(parents=True, exist_ok=True)
    try:
        options.gpus = find_gpus(options)
        options.count = len(options.gpus) or options.ranks or min(8, len(os.sched_getaffinity(0)))
        runs = Runs(options)
        done = {"machine": machine(options), "date": time.strftime("%Y-%m-%d"), "quick": options.quick}
        for part in options.parts:
            done[part] = globals()[part](runs)
    except Failed as error:
        print(f"reproduce.py: {error}", file=sys.stderr)
        return error.code
    (runs.folder / "report.json").write_text(json.dumps(done, indent=1) + "\n")
    text = report.whole(done)
    (runs.folder / "report.md").write_text(text)
    if options.readme:
        page.publish(HERE / "README.md", runs.folder, text)
    print(f"{runs.folder}: report.md, and the figures it names")
    return 0


if __name__ == "__main__":
    sys.exit(main())
