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
import re
import shutil
import subprocess
import sys
import threading
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent), str(HERE.parents[1] / "python")]

import paper  # noqa: E402
import report  # noqa: E402
import session  # noqa: E402
from session import device_counts, devices_of, faked, listed  # noqa: E402

PARTS = ["table1", "figure4", "figure5", "figure6", "scaling"]
DATA = HERE.parents[1] / "tests" / "data" / "incompressible"

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
""" + session.NOTHING_WRITTEN
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
""" + session.NOTHING_WRITTEN


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


class Runs(session.Runs):
    def bench(self, name, grid, devices, ranks=1, threads=None, policies=("full",)):
        """Rows of `tutti bench incompressible`, one a policy."""
        o = self.options
        asked = dict(name=name, grid=list(grid), devices=devices, ranks=ranks, threads=threads, policies=list(policies),
                     sweeps=o.sweeps, seconds=o.seconds)

        def make():
            print(f"  {name}: {' x '.join(map(str, grid))} cells, {devices}{f', {ranks} ranks' if ranks > 1 else ''}", flush=True)
            with Watts(devices) as watts:
                rows = self.figures("bench", "incompressible", "--cells", listed(grid), "--solver", "jacobi", "--sweeps", o.sweeps,
                                    "--precision", "float", "--seconds", o.seconds, "--overlap", listed(policies), "--devices", devices,
                                    *(["--threads", threads] if threads else []), ranks=ranks)["results"]
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
            self.summary(case, "--devices", self.options.cases_on, *(["--threads", 1] if self.options.quick else []), folder=folder)
        return folder


def table1(runs):
    print("Table 1")
    o = runs.options
    grid = o.one or ((16, 4, 16) if faked(o) else paper.TABLE1_GRID)
    return [runs.bench("one device", grid, devices) for devices in ["cpu", *([devices_of(o, 1)] if o.gpus else [])]]


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


def scaling(runs):
    """1, 2, 4 (8) devices by the three policies: one size for all, and as many cells each. One rank drives all GPUs of this
    host; CPU ranks have a core each."""
    print("Figures 7 to 10")
    o = runs.options
    strong, weak = (paper.STRONG_GRID, paper.STRONG_GRID) if not o.quick else ((128, 16, 128), (128, 16, 64))
    if faked(o):
        strong, weak = (12, 8, 16), (12, 8, 8)
    strong, weak = o.strong or strong, o.weak or weak
    policies = list(paper.POLICIES)
    base = runs.bench("all CPU cores", strong, "cpu")
    records = []
    for count in device_counts(o.count):
        where = dict(devices=devices_of(o, count)) if o.gpus else dict(devices="cpu", ranks=count, threads=1)
        for name, grid in (("strong", strong), ("weak", (weak[0], weak[1], weak[2] * count))):
            records.append({**runs.bench(name, grid, policies=policies, **where), "count": count})
    done = {"base": base, "records": records, "gpus": bool(o.gpus)}
    report.plot_scaling(done, runs.folder)
    return done


def arguments(words):
    def grid(text):
        sides = tuple(int(word) for word in text.split(","))
        if len(sides) != 3:
            raise argparse.ArgumentTypeError(f"'{text}' is not X,Y,Z")
        return sides

    parser = session.parser_of("Jacobsen 2010", HERE.name, PARTS, "small grids", "GPUs to scale over; without any, ranks of one core")
    parser.add_argument("--ranks", type=int, metavar="N", help="without GPUs: ranks at most (default: one per core, 8 at most)")
    parser.add_argument("--sweeps", type=int, metavar="N", help="of Jacobi a step (default: 20; quick: 10)")
    parser.add_argument("--seconds", type=float, metavar="S", help="of timed steps per row (default: 5; quick: 0.5)")
    parser.add_argument("--one", type=grid, metavar="X,Y,Z", help="cells of Table 1 (default: 256,32,256)")
    parser.add_argument("--strong", type=grid, metavar="X,Y,Z", help="cells of Figures 7 and 8 (default: 1024,64,1024)")
    parser.add_argument("--weak", type=grid, metavar="X,Y,Z", help="cells per device of Figures 9 and 10 (default: 1024,64,1024)")
    parser.add_argument("--case-cells", type=int, metavar="N", help="Figure 4: cells per side (default: 256; quick: 64)")
    parser.add_argument("--heated-cells", type=int, metavar="N", help="Figures 5 and 6: cells per side (default: 128; quick: 32)")
    parser.add_argument("--cases-on", default="cpu", metavar="LIST", help="devices of Figures 4 to 6 (default: cpu)")
    options = session.options_of(parser, words, PARTS)
    options.sweeps = options.sweeps or (10 if options.quick else 20)
    options.seconds = options.seconds or (0.5 if options.quick else 5)
    options.case_cells = options.case_cells or (64 if options.quick else 256)
    options.heated_cells = options.heated_cells or (32 if options.quick else 128)
    return options


def reproduce(options):
    options.gpus = session.find_gpus(options)
    options.count = len(options.gpus) or options.ranks or min(8, len(os.sched_getaffinity(0)))
    runs = Runs(options)
    done = {"machine": session.machine(options), "date": time.strftime("%Y-%m-%d"), "quick": options.quick}
    for part in options.parts:
        done[part] = globals()[part](runs)
    (runs.folder / "report.json").write_text(json.dumps(done, indent=1) + "\n")
    return report.whole(done)


def main(words=None):
    options = arguments(words)
    return session.write_report(options, HERE / "README.md", lambda: reproduce(options))


if __name__ == "__main__":
    sys.exit(main())
