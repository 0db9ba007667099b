#!/usr/bin/env python3
"""The meshes of McGuiness 2011, sections 3.1 and 3.2: a perturbed cube, four perturbed bars, their quality, and times.

    papers/mcguiness2011/meshes.py                        # all parts, on all devices
    papers/mcguiness2011/meshes.py cube bars --devices cpu --threads 1
    papers/mcguiness2011/meshes.py times --devices cuda:0,cuda:1

Runs the program that TUTTI names (default: build/release/bin/tutti) and leaves meshes, figures, figures.json and meshes.md's
report in the output folder. Needs numpy and matplotlib; unstructured meshes need gmsh, else boxes of Kuhn's tetrahedra are taken;
Table 2 needs CalculiX (ccx).
"""

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path[:0] = [str(HERE.parent), str(ROOT / "python")]

import matplotlib.pyplot as plt  # noqa: E402
import numpy as np  # noqa: E402

import page  # noqa: E402
from bending import DEFLECTION, STRESS, solve  # noqa: E402
from session import Failed, call  # noqa: E402
from tutti import plot, surface  # noqa: E402

PARTS = ["cube", "bars", "bending", "times", "parts"]
VIEW = (-60.0, 25.0)
# Table 1 of the thesis: largest aspect ratio, largest and smallest cell volume (1e-3 m^3).
TABLE_1 = {"smooth": (5.8, 5.4, 0.68), "1": (32.1, 2.25, 0.36), "2": (17.3, 9.65, 0.49), "3": (29.8, 32.4, 0.36),
           "4": (414.8, 108.8, 0.02)}
NODES = [9_000, 46_000, 69_000, 72_000]  # of Figures 3.1 and 3.2
CUT_NODES = [14_000, 26_000, 49_000, 68_000]  # of Figures 3.6 and 3.7


# Meshes: Gmsh's MSH 2.2 in ASCII.


def read(path):
    lines = Path(path).read_text().split("\n")
    at = lines.index("$Nodes")
    count = int(lines[at + 1])
    points = np.array([line.split()[1:4] for line in lines[at + 2:at + 2 + count]], float)
    return lines, at + 2, points


def write(path, mesh, points):
    lines, at, old = mesh
    changed = [f"{i + 1} {x!r} {y!r} {z!r}" for i, (x, y, z) in enumerate(points.tolist())]
    Path(path).write_text("\n".join([*lines[:at], *changed, *lines[at + len(old):]]))


def tets(mesh):
    found = []
    for line in mesh[0][mesh[0].index("$Elements") + 2:]:
        words = line.split()
        if len(words) > 2 and words[1] == "4":
            found.append([int(w) - 1 for w in words[-4:]])
    return np.array(found)


def base(options, name, size, h):
    """An unstructured mesh of a box around the origin, or Kuhn's."""
    path = options.output / f"{name}.msh"
    if shutil.which("gmsh"):
        geo = path.with_suffix(".geo")
        half = [s / 2 for s in size]
        geo.write_text('SetFactory("OpenCASCADE");\n'
                       f"Box(1) = {{{-half[0]}, {-half[1]}, {-half[2]}, {size[0]}, {size[1]}, {size[2]}}};\n"
                       f"Mesh.MeshSizeMax = {h};\nMesh.MeshSizeMin = {h};\nGeneral.NumThreads = 1;\n"
                       'Physical Volume("body", 1) = {1};\n'
                       "For i In {1:6}\n  Physical Surface(i) = {i};\nEndFor\n")
        call("gmsh", "-3", "-format", "msh22", "-o", path, geo)
        call(options.program, "mesh", "convert", path, path.with_suffix(".tutti.msh"), "--format", "msh22-ascii")
        path.with_suffix(".tutti.msh").replace(path)
        return read(path)
    cubes = [max(2, round(s / h)) for s in size]
    call(options.program, "mesh", "generate", "box", "--cubes", *cubes, "--size", *size, "--format", "msh22-ascii", "-o", path)
    lines, at, points = read(path)
    return lines, at, points - np.array(size) / 2


def pull(s, half, power):
    """To the middle above 1, away from it below; the sides stay."""
    return np.sign(s) * half * (np.abs(s) / half) ** power


def smooth(options, source, target, *words):
    report = options.output / f"{target}.json"
    call(options.program, "mesh", "smooth", options.output / f"{source}.msh", "-o", options.output / f"{target}.msh", "--format",
         "msh22-ascii", "--json", report, *options.device_words, *words)
    return json.loads(report.read_text())


def kept(report):
    """Of a report of quality what the tables name."""
    return {"aspect": report["aspect"]["max"], "largest": 1e3 * report["volume"]["max"],
            "smallest": 1e3 * report["volume"]["min"], "inverted": report["inverted"], "cells": report["cells"],
            "mean_ratio": report["mean_ratio"]["min"], "mean": report["mean_ratio"]["mean"],
            "angles": [report["dihedral"]["min"], report["dihedral"]["max"]]}


# Pictures


def mean_ratios(points, cells):
    a, b, c, d = (points[cells[:, k]] for k in range(4))
    volume = np.einsum("ij,ij->i", np.cross(b - a, c - a), d - a) / 6
    squares = sum(np.sum((p - q) ** 2, axis=1) for p, q in ((a, b), (a, c), (a, d), (b, c), (b, d), (c, d)))
    return 12 * np.cbrt(9 * volume * np.abs(volume)) / squares


def draw(axes, points, cells, chosen, view, scale, title):
    triangles = surface.boundary(points, cells[chosen])
    # Facets of cells, not a smooth body.
    flat = np.cross(triangles.corners[:, 1] - triangles.corners[:, 0], triangles.corners[:, 2] - triangles.corners[:, 0])
    triangles.normal = flat / np.maximum(np.linalg.norm(flat, axis=1, keepdims=True), 1e-300)
    facing = triangles.take(flat @ view[2] > 0)
    seen = facing.corners @ view.T
    order = np.argsort(seen[:, :, 2].mean(axis=1), kind="stable")
    values = np.clip(mean_ratios(points, cells)[chosen], 0, 1)
    colours = plot.shade(scale.to_rgba(values[facing.cell]), facing.normal, view)
    axes.add_collection(plot.PolyCollection(seen[order][:, :, :2], facecolors=colours[order], edgecolors="#00000090",
                                            linewidths=0.25))
    axes.set_aspect("equal")
    axes.set_axis_off()
    low, high = seen[:, :, :2].min(axis=(0, 1)), seen[:, :, :2].max(axis=(0, 1))
    air = 0.03 * (high - low).max()
    axes.set_xlim(low[0] - air, high[0] + air)
    axes.set_ylim(low[1] - air, high[1] + air)
    axes.set_title(title, fontsize=10)


def colours():
    return plt.cm.ScalarMappable(plt.Normalize(0, 1), "RdYlBu")


def bar_of(figure, axes, scale):
    bar = figure.colorbar(scale, ax=axes, shrink=0.7, pad=0.02, aspect=30)
    bar.set_label("mean ratio")
    bar.outline.set_visible(False)


# Parts


def cube(options, found):
    """Figure 3.3: nodes pushed away from the middle."""
    mesh = base(options, "cube", (1, 1, 1), 0.12)
    perturbed = pull(mesh[2], 0.5, 0.55)
    write(options.output / "cube_perturbed.msh", mesh, perturbed)
    report = smooth(options, "cube_perturbed", "cube_smoothed", "--iterations", "100")
    found["cube"] = {"before": kept(report["before"]), "after": kept(report["after"]),
                     "iterations": len(report["smoothing"]) - 1}
    cells = tets(mesh)
    smoothed = read(options.output / "cube_smoothed.msh")[2]
    figure, grid = plt.subplots(2, 2, figsize=(8.5, 7.5), layout="constrained")
    view, scale = plot.camera(*VIEW), colours()
    for row, (points, name) in zip(grid, ((perturbed, "perturbed"), (smoothed, "smoothed"))):
        everything = np.ones(len(cells), bool)
        draw(row[0], points, cells, everything, view, scale, f"{name}, from outside")
        layer = points[cells].min(axis=1)[:, 2] <= -0.5 + 1e-9
        draw(row[1], points, cells, layer, plot.camera(-60, 55), scale, f"{name}, cells of the bottom face")
    bar_of(figure, grid, scale)
    figure.savefig(options.output / "figure3_3.png", dpi=80, facecolor="white")
    plt.close(figure)


def perturb_bar(points, variant):
    """Variants 1 to 4 of section 3.1.2: to or from the axis in x, to it in y, and from the middle along z."""
    along = {1: 1.0, 2: 1.0, 3: 0.8, 4: 0.6}[variant]
    return np.stack([pull(points[:, 0], 0.5, 0.65 if variant == 1 else 1.5), pull(points[:, 1], 0.5, 1.5),
                     pull(points[:, 2], 5.0, along)], axis=1)


def bars(options, found):
    """Figures 3.4 and 3.5, Table 1."""
    mesh = base(options, "bar", (1, 1, 10), 0.26)
    cells = tets(mesh)
    perturbed, smoothed, rows = [], [], {}
    for variant in (1, 2, 3, 4):
        points = perturb_bar(mesh[2], variant)
        write(options.output / f"bar{variant}.msh", mesh, points)
        report = smooth(options, f"bar{variant}", f"bar{variant}_smoothed", "--iterations", "1000", "--stop-energy", "1e-9",
                        "--energy", "l2v", "--untangle", "300")
        rows[variant] = {"before": kept(report["before"]), "after": kept(report["after"]),
                         "untangling": max(0, len(report["untangling"]) - 1), "iterations": len(report["smoothing"]) - 1}
        perturbed.append(points)
        smoothed.append(read(options.output / f"bar{variant}_smoothed.msh")[2])
    apart = max(np.linalg.norm(s - smoothed[0], axis=1).max() for s in smoothed[1:])
    found["bars"] = {"rows": rows, "apart": float(apart)}

    view, scale = plot.camera(-55, 22), colours()
    figure, grid = plt.subplots(2, 1, figsize=(9, 6.5), layout="constrained")
    turn = [2, 0, 1]  # the bar lies along x in the picture
    lying = smoothed[0][:, turn]
    behind = lying[cells].mean(axis=1)[:, 1] > 0
    draw(grid[0], lying, cells, behind, view, scale, "smoothed, cut away")
    draw(grid[1], lying, cells, np.ones(len(cells), bool), view, scale, "smoothed, from outside")
    bar_of(figure, grid, scale)
    figure.savefig(options.output / "figure3_4.png", dpi=80, facecolor="white")
    plt.close(figure)
    figure, grid = plt.subplots(4, 2, figsize=(11, 9), layout="constrained")
    for row, points, variant in zip(grid, perturbed, (1, 2, 3, 4)):
        lying = points[:, turn]
        draw(row[0], lying, cells, np.ones(len(cells), bool), view, scale, f"perturbed {variant}")
        draw(row[1], lying, cells, lying[cells].mean(axis=1)[:, 1] > 0, view, scale, f"perturbed {variant}, cut away")
    bar_of(figure, grid, scale)
    figure.savefig(options.output / "figure3_5.png", dpi=80, facecolor="white")
    plt.close(figure)


def bending(options, found):
    """Table 2: the bars of `bars` under a force."""
    if not shutil.which("ccx"):
        print("Table 2 is left out: CalculiX (ccx) is not installed", file=sys.stderr)
        return
    rows = {}
    for name in ("bar1_smoothed", "bar1", "bar2", "bar3", "bar4"):
        mesh = read(options.output / f"{name}.msh")
        for kind in ("linear", "quadratic"):
            rows[f"{name} {kind}"] = solve(options.output, f"{name}_{kind}", mesh[2], tets(mesh), kind == "quadratic")
    found["bending"] = rows


def on(options, count):
    """So many of the devices of --devices, or threads where it is the cpu."""
    names = options.devices.split(",") if options.devices else ["cpu"]
    if names == ["cpu"]:
        return ["--devices", "cpu", "--threads", count]
    return ["--devices", ",".join(names[:count])] if count <= len(names) else None


def box(options, nodes):
    n = round(nodes ** (1 / 3)) - 1
    path = options.output / f"times{nodes}.msh"
    call(options.program, "mesh", "generate", "box", "--cubes", n, n, n, "--jitter", "0.14", "-o", path)
    return path, (n + 1) ** 3


def measure(options, sizes, run):
    """Milliseconds of `run` over sizes and numbers of devices, the least of three."""
    rows = []
    for nodes in sizes if not options.quick else sizes[:1]:
        path, real = box(options, nodes)
        for count in options.counts:
            words = on(options, count)
            if words is not None:
                rows.append({"nodes": real, "count": count, "ms": 1e3 * min(run(path, words) for _ in range(3))})
    return rows


def draw_times(options, rows, times_name, ratio_name, title):
    unit = "threads" if options.devices in ("", "cpu") else "devices"
    counts, sizes = sorted({r["count"] for r in rows}), sorted({r["nodes"] for r in rows})
    ms = {(r["nodes"], r["count"]): r["ms"] for r in rows}
    figure, axes = plt.subplots(figsize=(6, 4), layout="constrained")
    for c in counts:
        axes.plot(sizes, [ms[n, c] for n in sizes], "o-", label=f"{c} {unit}")
    axes.set(xlabel="nodes", ylabel="ms", title=title, ylim=(0, None))
    axes.legend()
    figure.savefig(options.output / times_name, dpi=80, facecolor="white")
    plt.close(figure)
    figure, axes = plt.subplots(figsize=(6, 4), layout="constrained")
    for n in sizes:
        axes.plot(counts, [ms[n, c] / ms[n, counts[0]] for c in counts], "o-", label=f"{n} nodes")
    axes.plot(counts, [counts[0] / c for c in counts], "--", color="grey")
    axes.set(xlabel=unit, ylabel=f"time over that of {counts[0]}", title=title, xticks=counts, ylim=(0, None))
    axes.legend()
    figure.savefig(options.output / ratio_name, dpi=80, facecolor="white")
    plt.close(figure)


def times(options, found):
    """Figures 3.1 and 3.2: an iteration of smoothing, over mesh size and devices."""
    def run(path, words):
        report = options.output / "times.json"
        call(options.program, "mesh", "smooth", path, "-o", options.output / "times.vtu", "--json", report, "--iterations", 20,
             "--stop-energy", 0, "--boundary", "fixed", *words)
        known = json.loads(report.read_text())
        return known["seconds"] / (len(known["smoothing"]) - 1)
    found["times"] = measure(options, NODES, run)
    draw_times(options, found["times"], "figure3_1.png", "figure3_2.png", "smoothing, an iteration")


def parts(options, found):
    """Figures 3.6 and 3.7: 16 Voronoi parts, over mesh size and devices."""
    def run(path, words):
        said = call(options.program, "partition", path, "--weights", ",".join(["1"] * 16), "--method", "voronoi", "-o",
                    options.output / "parts.vtu", *words)
        return float(re.search(r"split in ([0-9.e+-]+) s", said).group(1))
    found["parts"] = measure(options, CUT_NODES, run)
    draw_times(options, found["parts"], "figure3_6.png", "figure3_7.png", "Voronoi parts of the cells")


def number(value, digits=3):
    return f"{value:.{digits}g}"


def report_of(found, options):
    text = f"Run with `{' '.join(options.device_words) or 'all devices'}`.\n\n"
    if "cube" in found:
        rows = [[name, q["cells"], q["inverted"], number(q["mean_ratio"]), number(q["mean"]),
                 " to ".join(number(a) for a in q["angles"]), number(q["aspect"])]
                for name, q in (("perturbed", found["cube"]["before"]), ("smoothed", found["cube"]["after"]))]
        text += "### The cube\n\n`figure3_3.png`: as Figure 3.3.\n\n" + page.table(
            ["cube", "cells", "inverted", "min mean ratio", "mean", "dihedral angles", "max aspect"], rows) + "\n"
    if "bars" in found:
        rows = []
        for variant, row in found["bars"]["rows"].items():
            for name, q, theirs in ((f"perturbed {variant}", row["before"], TABLE_1[str(variant)]),
                                    (f"smoothed {variant}", row["after"], TABLE_1["smooth"])):
                rows.append([name, number(q["aspect"]), theirs[0], number(q["largest"]), theirs[1], number(q["smallest"]),
                             theirs[2], q["inverted"], number(q["mean_ratio"])])
        text += ("### The bars\n\n`figure3_4.png`, `figure3_5.png`: as Figures 3.4 and 3.5. Table 1, volumes in 1e-3 m^3; "
                 "\"thesis\" stands behind each of our columns, its smoothed bar beside all four of ours:\n\n")
        text += page.table(["bar", "max aspect", "thesis", "max volume", "thesis", "min volume", "thesis", "inverted",
                            "min mean ratio"], rows)
        text += (f"\nNodes of the four smoothed bars are {number(found['bars']['apart'])} m apart at most "
                 "(the thesis: less than 1 %).\n\n")
    if "bending" in found:
        rows = [["theory", "", number(DEFLECTION, 4), number(STRESS), number(-STRESS), 1]]
        for name, r in found["bending"].items():
            mesh, kind = name.split(" ")
            label = "smoothed" if "smoothed" in mesh else f"perturbed {mesh[3:]}"
            rows.append([label, kind] + (["did not run"] + 3 * [""] if r is None else [
                number(r["deflection"], 4), number(r["most"]), number(r["least"]), number(r["bending"], 4)]))
        text += ("\n### The bars under a force\n\nTable 2: CalculiX, elements with straight sides, linear (4 nodes) and quadratic "
                 "(10). Deflection in m, stress along the bar in Pa; the last column is the stress a quarter along the bar over "
                 "that of theory.\n\n")
        text += page.table(["bar", "elements", "deflection", "largest stress", "smallest", "bending / theory"], rows)
    for key, title, figures in (("times", "Times of an iteration of smoothing", (1, 2)), ("parts", "Times of 16 Voronoi parts", (6, 7))):
        if key in found:
            text += f"\n### {title}\n\n`figure3_{figures[0]}.png`, `figure3_{figures[1]}.png`.\n\n" + page.table(
                ["nodes", "devices or threads", "ms"], [[r["nodes"], r["count"], number(r["ms"])] for r in found[key]])
    return text


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("parts", nargs="*", help=f"of {', '.join(PARTS)}; default: all")
    parser.add_argument("-o", "--output", type=Path, default=Path("results/mcguiness2011/meshes"))
    parser.add_argument("--devices", default="")
    parser.add_argument("--threads", default="")
    parser.add_argument("--counts", type=int, nargs="+", default=[1, 2, 4], help="devices, or threads of a cpu, of the times")
    parser.add_argument("--quick", action="store_true", help="the smallest size of the times only")
    parser.add_argument("--readme", action="store_true", help="put the report into meshes.md")
    options = parser.parse_args()
    unknown = set(options.parts) - set(PARTS)
    if unknown:
        parser.error(f"no part {', '.join(sorted(unknown))}; there are {', '.join(PARTS)}")
    options.program = os.environ.get("TUTTI", ROOT / "build" / "release" / "bin" / "tutti")
    options.device_words = [word for name in ("devices", "threads") if getattr(options, name)
                            for word in (f"--{name}", getattr(options, name))]
    options.output.mkdir(parents=True, exist_ok=True)
    figures = options.output / "figures.json"
    found = json.loads(figures.read_text()) if figures.exists() else {}
    try:
        for part in options.parts or PARTS:
            {"cube": cube, "bars": bars, "bending": bending, "times": times, "parts": parts}[part](options, found)
            figures.write_text(json.dumps(found, indent=1))
    except (Failed, OSError, subprocess.SubprocessError) as error:
        print(f"meshes.py: {error}", file=sys.stderr)
        return 1
    text = report_of(json.loads(figures.read_text()), options)
    (options.output / "report.md").write_text(text)
    if options.readme:
        page.publish(HERE / "meshes.md", options.output, text)
    print(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
