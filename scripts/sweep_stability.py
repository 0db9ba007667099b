#!/usr/bin/env python3
"""Diffusion on many meshes, tensors and boundaries: no run that blows up ends with code 0, and none that is stable is refused.

    sweep_stability.py [--program build/release/bin/tutti] [--jobs 2] [--quick] [--csv table.csv]

Meshes: Delaunay's of random points in a cube, with slivers; jittered, stretched, refined and graded Kuhn boxes; gmsh's and
TetGen's where these are installed. Each is run with several tensors and boundary conditions,
  1. with numerics.flux = "auto": must end with code 0, with max|u| at most 3 (1 at the start; there is no maximum principle);
  2. with "least-squares": code 0, not grown tenfold, and the checksum of 1, or refused with code 6;
  3. where it was refused, again without the check: it must grow, or be found to grow, else it was refused for nothing;
  4. 100 steps with "monotone": max|u| must not grow in any.
Takes about half a second a combination; needs numpy and scipy. `--quick`: a few combinations.
"""

import argparse
import csv
import itertools
import json
import pathlib
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor

import numpy as np
from scipy.spatial import Delaunay

BOUNDARIES = {"fixed": 'tag = "*"\ntype = "dirichlet"', "closed": 'tag = "*"\ntype = "neumann"', "mixed": 'tag = "1"\ntype = "dirichlet"'}


def kuhn(n, jitter, seed):
    random = np.random.RandomState(seed)
    grid = np.stack(np.meshgrid(*[np.arange(n + 1)] * 3, indexing="ij"), -1).reshape(-1, 3).astype(float)
    points = (grid + jitter * (2 * random.rand(*grid.shape) - 1) * ((grid > 0) & (grid < n))) / n
    cells = []
    for corner in itertools.product(range(n), repeat=3):
        for path in itertools.permutations(range(3)):
            at, cell = list(corner), []
            for axis in (None, *path):
                if axis is not None:
                    at[axis] += 1
                cell.append((at[0] * (n + 1) + at[1]) * (n + 1) + at[2])
            cells.append(cell)
    return points, np.array(cells)


def volumes(points, cells):
    x = points[cells]
    return np.einsum("ni,ni->n", np.cross(x[:, 1] - x[:, 0], x[:, 2] - x[:, 0]), x[:, 3] - x[:, 0]) / 6


def delaunay(n, seed, flattest, grade=1):
    """Random points in a cube and on its faces and edges; cells flatter than `flattest` of the mean are left out."""
    random = np.random.RandomState(seed)
    points = [random.rand(n, 3), np.array(list(itertools.product((0, 1), repeat=3)), float)]
    for axis, side in itertools.product(range(3), (0, 1)):
        on_face = random.rand(int(n ** (2 / 3)), 3)
        on_face[:, axis] = side
        points.append(on_face)
        for other in (0, 1):
            on_edge = random.rand(int(n ** (1 / 3)), 3)
            on_edge[:, (axis + 1) % 3], on_edge[:, (axis + 2) % 3] = side, other
            points.append(on_edge)
    points = np.concatenate(points) ** grade
    cells = Delaunay(points).simplices
    size = np.abs(volumes(points, cells))
    return points, cells[size > flattest * size.mean()]


def write_msh(path, points, cells):
    """MSH 2.2; the sides of the bounding box are physical surfaces 1 to 6."""
    low, high = points.min(0), points.max(0)
    faces = {}
    for cell in cells:
        for face in itertools.combinations(cell, 3):
            faces.setdefault(tuple(sorted(face)), []).append(face)
    lines = []
    for face in (f for f in faces.values() if len(f) == 1):
        centre = points[list(face[0])].mean(0)
        gaps = np.concatenate([(centre - low) / (high - low), (high - centre) / (high - low)])
        lines.append(f"2 2 {np.argmin(gaps) + 1} 1 " + " ".join(str(v + 1) for v in face[0]))
    flip = volumes(points, cells) < 0
    cells = np.where(flip[:, None], cells[:, [1, 0, 2, 3]], cells)
    lines += ["4 2 7 1 " + " ".join(str(v + 1) for v in cell) for cell in cells]
    with open(path, "w", encoding="utf-8") as out:
        out.write(f"$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes\n{len(points)}\n")
        out.writelines(f"{i + 1} {x!r} {y!r} {z!r}\n" for i, (x, y, z) in enumerate(points.tolist()))
        out.write(f"$EndNodes\n$Elements\n{len(lines)}\n")
        out.writelines(f"{i + 1} {line}\n" for i, line in enumerate(lines))
        out.write("$EndElements\n")


def write_cube(path):
    """The unit cube for TetGen; its sides are surfaces 1 to 6."""
    corners = list(itertools.product((0, 1), repeat=3))
    sides = [[c for c in corners if c[axis] == side] for axis, side in itertools.product(range(3), (0, 1))]
    lines = ["8 3 0 0", *(f"{k + 1} {x} {y} {z}" for k, (x, y, z) in enumerate(corners)), "6 1"]
    for number, (a, b, c, d) in enumerate(sides):
        lines += [f"1 0 {number + 1}", "4 " + " ".join(str(corners.index(v) + 1) for v in (a, b, d, c))]
    path.write_text("\n".join([*lines, "0", "0", ""]), encoding="utf-8")


def meshes(folder, quick):
    """name -> table [mesh]"""
    def file(name, mesh, stretch=1.0, more=""):
        points, cells = mesh
        assert abs(np.abs(volumes(points, cells)).sum() - 1) < 1e-3, "cells overlap"
        write_msh(folder / f"{name}.msh", points * np.array([stretch, 1, 1]), cells)
        return f'file = "{folder / name}.msh"{more}'

    yield "delaunay 1", file("delaunay1", delaunay(150, 1, 1e-3))
    yield "jittered 0.25", file("jittered25", kuhn(6, 0.25, 1))
    if quick:
        return
    for seed in (2, 3):
        yield f"delaunay {seed}", file(f"delaunay{seed}", delaunay(250, seed, 1e-3))
    yield "delaunay, flat", file("delaunay4", delaunay(150, 4, 1e-6))
    yield "delaunay, stretched 50:1", file("delaunay5", delaunay(150, 5, 1e-3), stretch=50)
    yield "delaunay, graded", file("delaunay6", delaunay(150, 6, 1e-3, grade=2))
    yield "delaunay, refined", file("delaunay7", delaunay(40, 7, 1e-3), more="\nrefine = 1")
    yield "kuhn", file("kuhn", kuhn(6, 0, 1))
    yield "jittered 0.2", file("jittered20", kuhn(6, 0.2, 1))
    yield "jittered, stretched 50:1", file("jittered50", kuhn(6, 0.2, 2), stretch=50)
    points, cells = kuhn(6, 0.1, 3)
    yield "jittered, graded", file("graded", (points**1.5, cells))
    yield "jittered, refined", file("refined", kuhn(3, 0.25, 4), more="\nrefine = 1")
    if shutil.which("gmsh"):
        yield "gmsh", 'generate = "unstructured-box"\nh = 0.17'
    if shutil.which("tetgen"):
        # Radius-edge ratios up to 2: with slivers.
        write_cube(folder / "cube.poly")
        subprocess.run(["tetgen", "-pq2a0.0015Q", folder / "cube.poly"], check=True)
        yield "tetgen", f'file = "{folder}/cube.1.ele"'


def tensors(quick):
    yield "1", np.eye(3)
    for ratio in (5.8, 100) if quick else (5.8, 9, 30, 100):
        for kind, seed in (("fibre", 1),) if quick else (("fibre", 1), ("fibre", 2), ("sheet", 3)):
            q, _ = np.linalg.qr(np.random.RandomState(seed).randn(3, 3))
            k = q @ np.diag([ratio, ratio if kind == "sheet" else 1, 1]) @ q.T
            yield f"{kind} {ratio:g} ({seed})", (k + k.T) / 2


def case_of(mesh, tensor, boundary):
    k = ", ".join("[" + ", ".join(repr(float(v)) for v in row) + "]" for row in tensor)
    return f'''model = "diffusion"
[mesh]
{mesh}
[physics]
K = [{k}]
initial = "sin(37*x+11*y)*cos(29*z-17*y)"
[[boundary]]
{BOUNDARIES[boundary]}
value = 0
[time]
steps = 3000
[report]
every = 1000
[output]
history_every = 1000
'''


def run(program, case, folder, *more):
    done = subprocess.run([program, "run", case, "-o", folder, "--overwrite", "--devices", "cpu", "--threads", "1",
                           "--set", 'balance.weights="equal"', *more], capture_output=True, text=True, check=False)
    summary = folder / "summary.json"
    return done, json.loads(summary.read_text(encoding="utf-8")) if done.returncode == 0 else None


def grows_at(history):
    """The first step in which max|u| grows, beyond rounding; None: in no one."""
    rows = list(csv.DictReader(history.open(encoding="utf-8")))
    levels = [float(row["max|u|"]) for row in rows]
    return next((k for k in range(1, len(levels)) if levels[k] > levels[k - 1] * (1 + 1e-12)), None)


def bounded(summary, most):
    return summary["diagnostics"]["max|u|"] <= most


def judge(program, folder, mesh, tensor, boundary):
    """(verdict of auto, of least-squares, what is wrong)"""
    folder.mkdir()
    case = folder / "case.toml"
    case.write_text(case_of(mesh, tensor, boundary), encoding="utf-8")
    wrong = []
    auto, its = run(program, case, folder / "auto")
    if auto.returncode != 0:
        wrong.append("auto refused: " + auto.stderr.strip().splitlines()[-1])
    elif not bounded(its, 3):
        wrong.append(f"auto ends with code 0 and {its['diagnostics']['max|u|']:.3g}")
    damped = "are damped" in auto.stdout + auto.stderr
    plain, whose = run(program, case, folder / "plain", "--set", 'numerics.flux="least-squares"')
    if plain.returncode == 0:
        if not bounded(whose, 12):
            wrong.append(f"least-squares ends with code 0 and {whose['diagnostics']['max|u|']:.3g}")
        if its and not damped and its["checksum"] != whose["checksum"]:
            wrong.append("auto has other bits than least-squares")
    else:
        # Ten times as long, and where it is stopped it grew.
        free, end = run(program, case, folder / "free", "--set", 'numerics.flux="least-squares"', "--set", "numerics.check=false",
                        "--set", "time.steps=30000")
        if free.returncode == 0 and bounded(end, 12):
            wrong.append("least-squares refused for nothing: " + plain.stderr.strip().splitlines()[-1])
    monotone, _ = run(program, case, folder / "monotone", "--set", 'numerics.flux="monotone"', "--set", "time.steps=100",
                      "--set", "output.history_every=1")
    if monotone.returncode != 0:
        wrong.append("monotone refused: " + monotone.stderr.strip().splitlines()[-1])
    elif (step := grows_at(folder / "monotone/history.csv")) is not None:
        wrong.append(f"monotone: max|u| grows in step {step}")
    shutil.rmtree(folder)
    return "damped" if damped else "least-squares", "runs" if plain.returncode == 0 else "refused", wrong


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", default="build/release/bin/tutti")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--csv", help="a line for each combination")
    options = parser.parse_args()
    counts, bad, rows = {}, 0, []
    with tempfile.TemporaryDirectory() as name, ThreadPoolExecutor(options.jobs) as team:
        folder = pathlib.Path(name)
        work = []
        for number, ((mesh, table), (tensor, k), boundary) in enumerate(
                itertools.product(list(meshes(folder, options.quick)), list(tensors(options.quick)), BOUNDARIES)):
            work.append(((mesh, tensor, boundary), team.submit(judge, options.program, folder / str(number), table, k, boundary)))
        for key, result in work:
            auto, plain, wrong = result.result()
            counts[key[0], auto, plain] = counts.get((key[0], auto, plain), 0) + 1
            rows.append((*key, auto, plain, "; ".join(wrong)))
            for text in wrong:
                bad += 1
                print("WRONG", *key, text, sep=" | ", flush=True)
    for (mesh, auto, plain), count in sorted(counts.items()):
        print(f"{mesh:28} auto: {auto:14} least-squares: {plain:8} {count:4}")
    print(f"{len(rows)} combinations, {bad} wrong")
    if options.csv:
        with open(options.csv, "w", newline="", encoding="utf-8") as out:
            csv.writer(out).writerows([("mesh", "tensor", "boundary", "auto", "least-squares", "wrong"), *rows])
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
