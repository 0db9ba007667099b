"""Writes a field of OpenFOAM, times its steps, and puts results of OpenFOAM and tutti beside each other.

usage: openfoam_case.py initial MESH.msh              # cos(pi x) at the centroids of the tetrahedra of a file of MSH 2.2
       openfoam_case.py steps FILE.json COMMAND...    # runs a solver; the file gets its seconds and iterations per step
       openfoam_case.py diffusion|cavity FOLDER ROUNDS DT STEPS CORES FILE.json    # prints a table, adds its rows to the file
"""

import csv
import json
import math
import pathlib
import re
import subprocess
import sys
import time


def tetrahedra(path):
    """Centroid along x, volume and region of each tetrahedron, in the order of the file, which gmshToFoam keeps."""
    lines = iter(pathlib.Path(path).read_text().splitlines())
    regions, points = {}, {}
    for line in lines:
        if line not in ("$PhysicalNames", "$Nodes", "$Elements"):
            continue
        for _ in range(int(next(lines))):
            words = next(lines).split()
            if line == "$PhysicalNames" and words[0] == "3":
                regions[words[1]] = words[2].strip('"')
            elif line == "$Nodes":
                points[words[0]] = tuple(map(float, words[1:]))
            elif line == "$Elements" and words[1] == "4":
                a, b, c, d = (points[n] for n in words[-4:])
                p, q, r = ([v - w for v, w in zip(e, a)] for e in (b, c, d))
                cross = q[1] * r[2] - q[2] * r[1], q[2] * r[0] - q[0] * r[2], q[0] * r[1] - q[1] * r[0]
                volume = abs(sum(v * w for v, w in zip(p, cross))) / 6
                yield (a[0] + b[0] + c[0] + d[0]) / 4, volume, regions[words[3]]


def initial(mesh):
    values = [math.cos(math.pi * x) for x, _, _ in tetrahedra(mesh)]
    print("dimensions [0 0 0 1 0 0 0];\ninternalField nonuniform List<scalar>", len(values), "(", *values, ");", sep="\n")
    print('boundaryField { ".*" { type zeroGradient; } }')


def steps(path, *command):
    """Each step ends with a line of ExecutionTime, which is flushed. The first counts as set-up; the last writes files."""
    ends, iterations = [], 0
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as run:
        for line in run.stdout:
            sys.stdout.write(line)
            if line.startswith("ExecutionTime"):
                ends.append(time.perf_counter())
            elif ends and (found := re.search(r"Solving for [Tp], .*No Iterations (\d+)", line)):
                iterations += int(found[1])
    if run.returncode or len(ends) < 3:
        sys.exit(f"the solver ended with {run.returncode} after {len(ends)} steps; at least 3 are needed")
    report = {"seconds": (ends[-2] - ends[0]) / (len(ends) - 2), "iterations": iterations / (len(ends) - 1)}
    pathlib.Path(path).write_text(json.dumps(report) + "\n")


def last_field(folder, name):
    """The values of a field at the last time, as lists of numbers."""
    last = max(folder.iterdir(), key=lambda time: float(time.name))
    values = re.search(r"nonuniform List<\w+>\s*\d+\s*\(\n(.*?)\n\)", (last / name).read_text(), re.DOTALL)[1]
    return [[float(word) for word in line.strip("()").split()] for line in values.splitlines()]


def fastest_peer(folder, name, rounds):
    return min((json.loads((folder / f"{name}-{i}.json").read_text()) for i in range(rounds)), key=lambda r: r["seconds"])


def fastest_tutti(folder, name, rounds):
    """The fastest of some runs: seconds per step, the summary, the first and the last row of the history."""
    runs = []
    for results in (folder / f"{name}-{i}" for i in range(rounds)):
        summary = json.loads((results / "summary.json").read_text())
        with (results / "history.csv").open() as file:
            history = [{key: float(value) for key, value in row.items()} for row in csv.DictReader(file)]
        runs.append((summary["wall_seconds"] / summary["steps"], summary, history[0], history[-1]))
    return min(runs, key=lambda run: run[0])


def row(program, method, cells, dt, seconds, iterations, **others):
    return {"program": program, "method": method, "cells": cells, "dt": dt, "ms per step": 1e3 * seconds,
            "iterations per step": iterations} | others  # fmt: skip


def diffusion(folder, rounds, dt, n):
    def others(seconds, dt, ratio, duration, exact):
        rate = -math.log(ratio) / duration
        return {"s per unit of time": seconds / dt, "rate": rate, "rate / exact": rate / exact}

    cells = list(tetrahedra(folder / "box.msh"))

    def mean_left(values):
        left = [(volume, value) for (_, volume, region), value in zip(cells, values, strict=True) if region == "left"]
        return sum(volume * value for volume, value in left) / sum(volume for volume, _ in left)

    start = mean_left([math.cos(math.pi * x) for x, _, _ in cells])
    exact = math.log1p(math.pi**2 * dt) / dt  # of the method, in time
    rows = []
    for name, solver in ("pcg", "PCG, DIC"), ("gamg", "GAMG"):
        peer = fastest_peer(folder, f"diffusion-{name}", rounds)
        end = mean_left([value for (value,) in last_field(folder / f"last-diffusion-{name}", "T")])
        rows.append(row("laplacianFoam", f"backward Euler, {solver}", len(cells), dt, peer["seconds"], peer["iterations"],
                        **others(peer["seconds"], dt, end / start, n * dt, exact)))  # fmt: skip
    for name in "multigrid", "chebyshev", "explicit":
        seconds, summary, first, last = fastest_tutti(folder, name, rounds)
        iterations, h, method = 0.0, summary["dt"], f"backward Euler, {name}"
        if name == "explicit":
            method, exact = "explicit Euler", -math.log1p(-(math.pi**2) * h) / h
        else:
            iterations = summary["solver"]["iterations"] / summary["steps"]
        rows.append(row("tutti", method, summary["cells"], h, seconds, iterations,
                        **others(seconds, h, last["left"] / first["left"], last["time"] - first["time"], exact)))  # fmt: skip
    return rows


def cavity(folder, rounds, dt, n):
    rows = []
    for name, solver in ("pcg", "PCG, DIC"), ("gamg", "GAMG"):
        peer = fastest_peer(folder, f"cavity-{name}", rounds)
        u = last_field(folder / f"last-cavity-{name}", "U")
        edge = round(len(u) ** (1 / 3))
        below = [v[0] for i, v in enumerate(u) if i // edge % edge < edge // 2]  # x runs fastest, then y
        rows.append(row("icoFoam", f"backward Euler, PISO, {solver}", len(u), dt, peer["seconds"], peer["iterations"],
                        time=n * dt, energy=sum(x * x for v in u for x in v) / (2 * len(u)), below=sum(below) / len(below)))  # fmt: skip
    seconds, summary, _, last = fastest_tutti(folder, "cavity-tutti", rounds)
    rows.append(row("tutti", "Adams-Bashforth, direct", summary["cells"], dt, seconds, 0.0,
                    time=last["time"], energy=last["energy"], below=last["below"]))  # fmt: skip
    return rows


def main(what, *arguments):
    if what in ("initial", "steps"):
        {"initial": initial, "steps": steps}[what](*arguments)
        return
    folder, rounds, dt, n, cores, path = arguments
    rows = {"diffusion": diffusion, "cavity": cavity}[what](pathlib.Path(folder), int(rounds), float(dt), int(n))
    print("| " + " | ".join(rows[0]) + " |\n|" + " --- |" * len(rows[0]))
    for r in rows:
        print("| " + " | ".join(f"{v:.4g}" if isinstance(v, float) else str(v) for v in r.values()) + " |", flush=True)
    path = pathlib.Path(path)
    rows = json.loads(path.read_text()) + [{"problem": what, "cores": int(cores)} | r for r in rows]
    path.write_text(json.dumps(rows, indent=1) + "\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
