#!/usr/bin/env python3
"""Makes results of a ball, plots them without a display and looks at the picture; then the convergence plot.

Needs numpy and matplotlib only. Usage: smoke.py
"""

import json
import os
import struct
import subprocess
import sys
import tempfile
import zlib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "python"))
sys.dont_write_bytecode = True

import numpy as np  # noqa: E402

from tutti import surface  # noqa: E402
from tutti.convergence import observed_order  # noqa: E402
from tutti.results import Results  # noqa: E402


def check(condition, text):
    if not condition:
        sys.exit(f"smoke.py: {text}")


def ball(n):
    """The cube [-1, 1]^3 in Kuhn's tetrahedra, pushed onto the unit ball."""
    line = np.arange(n + 1)
    k, j, i = (a.ravel() for a in np.meshgrid(line, line, line, indexing="ij"))
    points = 2.0 * np.stack([i, j, k], axis=1) / n - 1
    largest, length = np.abs(points).max(axis=1), np.linalg.norm(points, axis=1)
    points *= np.where(length > 0, largest / np.where(length > 0, length, 1), 0)[:, None]
    step = np.array([1, n + 1, (n + 1) ** 2])
    corner = (line[:-1, None, None] * step[2] + line[:-1, None] * step[1] + line[:-1]).ravel()
    tets = []
    for order, odd in (((0, 1, 2), 0), ((1, 2, 0), 0), ((2, 0, 1), 0), ((0, 2, 1), 1), ((1, 0, 2), 1), ((2, 1, 0), 1)):
        path = np.cumsum([0, *step[list(order)]])
        if odd:
            path[[1, 2]] = path[[2, 1]]
        tets.append(corner[:, None] + path)
    return points, np.concatenate(tets)


def volume(corners, apex):
    a, b, c = (corners[:, i] - apex for i in range(3))
    return np.einsum("ij,ij->i", np.cross(a, b), c).sum() / 6


def write_vtu(path, points, tets, fields):
    """A file as tutti writes it, with one zlib block an array."""
    arrays = [("Points", "Float64", 3, points), ("connectivity", "Int32", 1, tets.astype("<i4")),
              ("offsets", "Int32", 1, (4 * np.arange(1, len(tets) + 1)).astype("<i4")),
              ("types", "UInt8", 1, np.full(len(tets), 10, "u1"))]
    arrays += [(name, "Float64", 1 if values.ndim == 1 else 3, values) for name, values in fields.items()]
    payload, elements = b"", []
    for name, kind, components, values in arrays:
        elements.append(f'<DataArray type="{kind}" Name="{name}" NumberOfComponents="{components}" format="appended" '
                        f'offset="{len(payload)}"/>')
        packed = zlib.compress(values.tobytes(), 1)
        payload += struct.pack("<4Q", 1, values.nbytes, 0, len(packed)) + packed
    head = (f'<?xml version="1.0"?><VTKFile type="UnstructuredGrid" version="1.0" byte_order="LittleEndian" '
            f'header_type="UInt64" compressor="vtkZLibDataCompressor"><UnstructuredGrid>'
            f'<Piece NumberOfPoints="{len(points)}" NumberOfCells="{len(tets)}"><Points>{elements[0]}</Points>'
            f'<Cells>{"".join(elements[1:4])}</Cells><CellData>{"".join(elements[4:])}</CellData></Piece>'
            f'</UnstructuredGrid><AppendedData encoding="raw">_')
    path.write_bytes(head.encode() + payload + b"</AppendedData></VTKFile>")


def run(*arguments, expect=0):
    environment = {k: v for k, v in os.environ.items() if k != "DISPLAY"}
    environment.update(PYTHONPATH=str(ROOT / "python"), PYTHONDONTWRITEBYTECODE="1")
    done = subprocess.run([sys.executable, "-m", *map(str, arguments)], env=environment, capture_output=True, text=True)
    check(done.returncode == expect, f"{arguments}: exit code {done.returncode}, {expect} expected\n{done.stderr}")
    return done.stderr


def check_picture(path, colours_at_least):
    import matplotlib.image

    picture = matplotlib.image.imread(path)[:, :, :3]
    check(picture.shape[0] > 300 and picture.shape[1] > 400, f"{path}: size {picture.shape}")
    ink = np.any(picture < 0.97, axis=2)
    check(0.15 < ink.mean() < 0.9, f"{path}: {ink.mean():.2f} of it is drawn")
    colours = len(np.unique((picture[ink] * 31).astype(int), axis=0))
    check(colours >= colours_at_least, f"{path}: {colours} colours")
    return picture


def check_surface(points, tets):
    """The boundary is closed, and so is a half with its section: each encloses the right volume."""
    whole = volume(points[tets][:, 1:], points[tets[:, 0]])
    outside = surface.boundary(points, tets)
    check(abs(volume(outside.corners, np.zeros(3)) - whole) < 1e-12, "the boundary does not enclose the ball")
    normal, offset = np.array([0.0, 1.0, 0.0]), 0.1234
    half = surface.clip(outside, normal, offset)
    cut = surface.section(points, tets, normal, offset)
    flat = np.cross(cut.corners[:, 1] - cut.corners[:, 0], cut.corners[:, 2] - cut.corners[:, 0]) / 2
    area = np.linalg.norm(flat, axis=1).sum()
    check(half.corners[:, :, 1].max() <= offset + 1e-12, "something stays before the cut")
    # The divergence theorem for the constant field in y: the section closes what the cut opened.
    opened = np.cross(half.corners[:, 1] - half.corners[:, 0], half.corners[:, 2] - half.corners[:, 0])[:, 1].sum() / 2
    check(abs(opened + area) < 1e-12, f"the section has area {area}, the opening {-opened}")


def check_plots(folder):
    points, tets = ball(12)
    check_surface(points, tets)
    centre = points[tets].mean(axis=1)
    results = folder / "results"
    results.mkdir()
    for index, time in enumerate((0.0, 0.5)):
        fields = {"u": np.exp(-3 * np.linalg.norm(centre - [0.5, 0, 0], axis=1) ** 2) + time, "flux": centre,
                  "flat": np.ones(len(tets))}
        write_vtu(results / f"u_{index}.vtu", points, tets, fields)
    series = "".join(f'<DataSet timestep="{t}" part="0" file="u_{i}.vtu"/>' for i, t in enumerate((0.0, 0.5)))
    (results / "results.pvd").write_text(f'<?xml version="1.0"?><VTKFile type="Collection"><Collection>{series}'
                                         "</Collection></VTKFile>")
    (results / "summary.json").write_text(json.dumps({"model": "diffusion", "cells": len(tets), "units": {"u": "K"}}))
    check(Results(results).times == [0.0, 0.5] and Results(results).index_of("0.4") == 1, "times")

    picture = folder / "ball.png"
    run("tutti.plot", results, "-o", picture, "--dpi", 80)
    two = check_picture(picture, 200)
    run("tutti.plot", results, "-o", picture, "--dpi", 80, "--clip", "none", "--time", "first", "--field", "flux")
    one = check_picture(picture, 100)
    check(one.shape[1] < two.shape[1], "one panel is as wide as two")
    for clip in "xz":
        run("tutti.plot", results, "-o", picture, "--dpi", 80, "--clip", clip, "--view", "-20,35", "--field", "flat")
        check_picture(picture, 5)
    check("choose one of u, flux, flat" in run("tutti.plot", results, "--field", "v", expect=4), "unknown field")
    for option, value, code, says in (("--at", 3, 4, "--at: 3 is not in the mesh"), ("--dpi", -4, 2, "'-4' is not a whole number"),
                                      ("--colours", "rainbowx", 4, "no colour map 'rainbowx'; choose warm"),
                                      ("--slice", "a", 4, "no slice 'a', the run wrote none")):
        check(says in run("tutti.plot", results, "-o", picture, option, value, expect=code), option)
    check("no such folder" in run("tutti.plot", folder / "none", expect=5), "missing folder")


def check_convergence(folder):
    h = [0.1, 0.05, 0.025]
    data = {"title": "test", "series": [{"name": "u", "h": h, "error": [4e-3, 1e-3, 2.5e-4], "order": 2},
                                        {"name": "gradient", "h": h, "error": [4e-2, 2e-2, 1e-2], "order": 1}]}
    check(abs(observed_order(h, data["series"][0]["error"]) - 2) < 1e-12, "observed order")
    (folder / "data.json").write_text(json.dumps(data))
    run("tutti.convergence", folder / "data.json", "-o", folder / "c.png")
    check((folder / "c.png").stat().st_size > 5000, "convergence plot")
    data["series"][0]["error"][0] = 0
    (folder / "data.json").write_text(json.dumps(data))
    check("series 'u'" in run("tutti.convergence", folder / "data.json", expect=4), "zero error")


def check_timeline(folder):
    """A made-up trace of two ranks: a device with its streams, MPI, two threads; three steps."""
    rows = {10: "cuda:0 compute", 11: "cuda:0 copy out", 12: "cuda:0 copy in", 100000: "MPI",
            200000: "thread 0 on core 0: messages, computes", 200001: "thread 1 on core 1: controls cuda:0, computes"}
    work = [(10, "separator", 20, 300), (11, "copy separators", 320, 200), (100000, "send 0>1", 530, 400),
            (12, "copy ghosts 1>0", 1400, 250), (10, "interior", 330, 2600), (200001, "start separator", 5, 14),
            (200001, "start interior", 320, 9)]
    work += [(200000 + t, "interior", 600 + 400 * k, 395) for t in (0, 1) for k in range(6)]
    events = [{"name": "thread_name", "ph": "M", "pid": r, "tid": row, "args": {"name": name}}
              for r in (0, 1) for row, name in rows.items()]
    events += [{"name": name, "ph": "X", "ts": 1e6 * step + begin, "dur": length, "pid": r, "tid": row,
                "args": {"step": step}} for r in (0, 1) for step in (10, 11, 12) for row, name, begin, length in work]
    (folder / "trace.json").write_text(json.dumps({"traceEvents": events}))
    run("tutti.timeline", folder / "trace.json", "-o", folder / "t.png")
    check_picture(folder / "t.png", 8)
    run("tutti.timeline", folder / "trace.json", "-o", folder / "t.png", "--step", 12)
    check("10 to 12" in run("tutti.timeline", folder / "trace.json", "--step", 9, expect=4), "unknown step")
    check("no such file" in run("tutti.timeline", folder / "none.json", expect=5).lower(), "missing trace")
    for text in ("", "{}", "[]", '{"traceEvents":[]}', '{"traceEvents":[{"ph":"X"}]}'):
        (folder / "bad.json").write_text(text)
        check("tutti.timeline:" in run("tutti.timeline", folder / "bad.json", expect=4), f"bad trace '{text}'")


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as name:
        check_plots(Path(name))
        check_convergence(Path(name))
        check_timeline(Path(name))
