#!/usr/bin/env python3
"""Measures orders of convergence with the program, on cases whose solution is known (tests/convergence/cases).

usage: scripts/validate.py [--program FILE] [--study NAME]... [--quick] [--devices LIST] [--write]
  --program FILE  the built program (default: build/release/bin/tutti)
  --study NAME    only this one (default: all)
  --quick         coarse meshes only, as in the tests
  --devices LIST  what computes (default: as tutti run)
  --write         draw docs/images/convergence-*.png and put the tables into docs/validation.md
Every study has limits on its orders; the exit code is 1 when one is broken. Needs Python's standard library only, and
numpy and matplotlib with --write.
"""
import json
import math
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import validation
from validation import CASES, ROOT, Study, order

BOXES = {True: [8, 12, 20], False: [8, 12, 16, 24, 32, 40]}
EDGES = {True: [0.2, 0.1, 0.05], False: [0.2, 0.14, 0.1, 0.07, 0.05, 0.03]}
STEPS = {True: [20, 40, 80], False: [20, 40, 80, 160, 320]}
ANY = math.inf

# name: case, changes, error norms with (least, most) order
SPACE = {
    "tensor": ("tensor.toml", [], {"l2": (1.8, ANY), "gradient_l2": (0.9, ANY)}),
    "fibre": ("fibre.toml", [], {"l2": (1.8, ANY), "gradient_l2": (0.9, ANY)}),
    "jump": ("jump.toml", [], {"l2": (1.8, ANY), "gradient_l2": (0.9, ANY)}),
    # A steady solution: K of u, a film.
    "nonlinear": ("nonlinear.toml", [], {"l2": (1.8, ANY), "gradient_l2": (0.9, ANY)}),
    # Fluxes that u bounds.
    "monotone": ("tensor.toml", ['numerics.flux="monotone"', 'time.method="backward-euler"', "time.dt=0.02", "solver.tolerance=1e-7",
                                 "solver.linearisations=500"], {"l2": (1.8, ANY), "gradient_l2": (0.9, ANY)}),
    # The test of the test: without the gradients the flux is inconsistent, and these limits must see it.
    "two-point": ("tensor.toml", ['numerics.flux="two-point"'], {"l2": (-ANY, 1), "gradient_l2": (-ANY, 0.5)}),
}
TIME = {
    "euler": ("time.toml", ['time.method="euler"'], {"l2": (0.95, 1.2)}),
    "rkc2": ("time.toml", ['time.method="rkc2"'], {"l2": (1.9, 2.3)}),
    "backward-euler": ("time.toml", ['time.method="backward-euler"'], {"l2": (0.9, 1.1)}),
    "crank-nicolson": ("time.toml", ['time.method="crank-nicolson"'], {"l2": (1.9, 2.1)}),
    "bdf2": ("time.toml", ['time.method="bdf2"'], {"l2": (1.85, 2.2)}),
}
WORDS = {"l2": "u", "gradient_l2": "gradient"}


def run(case, changes):
    with tempfile.TemporaryDirectory() as folder:
        return validation.run(CASES / case, folder, changes)


def space_study(name, quick):
    """Rows of errors on each family of meshes. x is the mesh width (volume / cells)^(1/3); the volume is 1."""
    case, changes, limits = SPACE[name]
    few = quick or name in ("nonlinear", "monotone")  # rows anew for each linear solution
    families = {"jittered boxes": [[f"mesh.cubes=[{n}, {n}, {n}]"] for n in BOXES[few]]}
    if shutil.which("gmsh"):
        split = ["mesh.split=0.5"] if "split" in (CASES / case).read_text() else []
        families["gmsh"] = [['mesh.generate="unstructured-box"', f"mesh.h={h}", *split] for h in EDGES[few]]
    else:
        print("gmsh is not installed: boxes only")
    for family, meshes in families.items():
        rows = []
        for mesh in meshes:
            summary = run(case, changes + mesh)
            cells = summary["cells"]
            rows.append({"label": f"{cells:,}", "x": cells ** (-1 / 3), **{k: summary["errors"][k] for k in limits}})
        yield family, rows, limits


def time_study(name, quick):
    case, changes, limits = TIME[name]
    rows = []
    for n in STEPS[quick]:
        summary = run(case, changes + [f"time.dt={1 / n}"])
        rows.append({"label": f"{1 / n:g}", "x": 1 / n, **{k: summary["errors"][k] for k in limits}})
    yield name, rows, limits


def table(first, rows, norms):
    """Lines of Markdown; the order of a row is that between it and the row before."""
    lines = ["| " + " | ".join([first] + [f"error of {WORDS[k]} | order" for k in norms]) + " |",
             "| --- |" + " ---: | ---: |" * len(norms)]
    for before, row in zip([None, *rows], rows):
        line = f"| {row['label']} |"
        for k in norms:
            local = f"{order([before['x'], row['x']], [before[k], row[k]]):.2f}" if before else ""
            line += f" {row[k]:.2e} | {local} |"
        lines.append(line)
    return lines


def check(title, rows, limits):
    """Prints the table; returns how many limits are broken."""
    study = Study()
    print(f"\n{title}\n" + "\n".join(table("", rows, limits)))
    for norm, (least, most) in limits.items():
        study.limit(f"{WORDS[norm]}: order", order([r["x"] for r in rows], [r[norm] for r in rows]), least, most)
    return study.broken


def draw(name, title, series, x):
    data = {"title": title, "x": x, "y": "RMS error", "series": series}
    output = ROOT / f"docs/images/convergence-{name}.png"
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "data.json"
        file.write_text(json.dumps(data))
        python = "/usr/bin/python3" if Path("/usr/bin/python3").exists() else sys.executable  # sees Debian's matplotlib
        environment = dict(os.environ, PYTHONPATH=str(ROOT / "python"))
        subprocess.run([python, "-m", "tutti.convergence", file, "-o", output, "--dpi", "110"], check=True, env=environment)


def series_of(results, name, limits, orders):
    return [{"name": f"{WORDS[k]}, {family}", "h": [r["x"] for r in rows], "error": [r[k] for r in rows],
             "order": orders[k]} for family, rows, _ in results[name] for k in limits]


def write(results):
    for name, families in results.items():
        for family, rows, limits in families:
            mark = name if name in TIME else f"{name}, {family}"
            validation.put_table(mark, table("dt" if name in TIME else "cells", rows, limits))
    titles = {"tensor": "Full tensor, mixed boundaries", "fibre": "Rotating fibre, 9:1, Neumann boundaries",
              "jump": "Two tensors, an interface at x = 0.5"}
    both = {"l2": 2, "gradient_l2": 1}
    for name, title in titles.items():
        if name in results:
            draw(name, title, series_of(results, name, both, both), "mesh width h")
    if "two-point" in results and "tensor" in results:
        none = {"l2": None}
        series = [dict(s, name=s["name"].replace("u", flux, 1)) for study, flux in (("tensor", "full"), ("two-point", "two-point"))
                  for s in series_of(results, study, ["l2"], both if study == "tensor" else none)]
        draw("two-point", "Error of u with the full flux and the two-point flux", series, "mesh width h")
    if all(name in results for name in ("euler", "rkc2")):
        series = [{"name": name, "h": [r["x"] for r in results[name][0][1]], "error": [r["l2"] for r in results[name][0][1]],
                   "order": slope} for name, slope in (("euler", 1), ("rkc2", 2))]
        draw("time", "Error in time", series, "time step [s]")


def main():
    broken, results = 0, {}
    for name in validation.parse(__doc__, [*SPACE, *TIME], devices=None):
        study = space_study if name in SPACE else time_study
        results[name] = []
        for family, rows, limits in study(name, validation.PARSED.quick):
            broken += check(name if name in TIME else f"{name}, {family}", rows, limits)
            results[name].append((family, rows, limits))
    if validation.PARSED.write:
        write(results)
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
