"""A picture of how good a mesh's cells are: histograms, and the mesh from outside and cut open, coloured by mean ratio.

    python3 -m tutti.quality QUALITY.json QUALITY.vtu -o quality.png

`tutti mesh quality MESH --png FILE.png` makes both files and calls this.
"""

import argparse
import json
import sys
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt  # noqa: E402
import numpy as np  # noqa: E402

from tutti import plot, vtkxml  # noqa: E402
from tutti.messages import told  # noqa: E402
from tutti.results import Snapshot  # noqa: E402

VIEW = (-70.0, 22.0)
BLUE = "#3b6fa8"
MEASURES = [("mean_ratio", "mean ratio", "min"), ("dihedral", "dihedral angle [degrees]", "both"),
            ("aspect", "aspect ratio", "max")]


def extremes(measure, which):
    def number(name):
        value = measure[name]
        return "infinite" if value is None else f"{value:.4g}"
    return {"min": f"min {number('min')}", "max": f"max {number('max')}",
            "both": f"{number('min')} to {number('max')}"}[which]


def histogram(axes, measure, label, which):
    edges, counts = np.array(measure["histogram"]["edges"], float), np.array(measure["histogram"]["counts"], float)
    if not np.isfinite(edges[-1]):
        edges[-1] = 2 * edges[-2]
    axes.bar(edges[:-1], counts, np.diff(edges), align="edge", color=BLUE, edgecolor="white", linewidth=0.5)
    if counts.max(initial=0) > 0:
        axes.set_yscale("log")
        axes.set_ylim(0.7, 3 * counts.max())
    if which == "max":
        axes.set_xscale("log")
        axes.set_xlim(1, edges[-1])
    axes.set_xlabel(label)
    axes.set_ylabel("cells" if which != "both" else "angles")
    axes.set_title(extremes(measure, which), fontsize=10)
    axes.spines[["top", "right"]].set_visible(False)


def wire(axes, triangles, view):
    """The edges of what shows its front."""
    facing = triangles.take(triangles.faces_towards(view[2]))
    seen = facing.corners @ view.T
    order = np.argsort(seen[:, :, 2].mean(axis=1), kind="stable")
    axes.add_collection(plot.PolyCollection(seen[order][:, :, :2], facecolors="none", edgecolors="#00000055",
                                            linewidths=0.3))


def mesh_panels(figure, grid, snapshot, field):
    mesh = snapshot.merged()
    view = plot.camera(*VIEW)
    outside = mesh.boundary()
    layers = [[outside], plot.cut_open(mesh, outside, "y", 0.5, view)]
    scale = plt.cm.ScalarMappable(plt.Normalize(0, 1), "RdYlBu")
    for axes, parts in zip(grid, layers):
        for triangles in parts:
            plot.draw(axes, triangles, field, view, scale.to_rgba)
        if len(mesh.tets) <= 50_000:
            wire(axes, parts[-1], view)
        plot.frame(axes, mesh.points, view)
    grid[0].set_title("from outside", fontsize=10)
    grid[1].set_title("cut open", fontsize=10)
    bar = figure.colorbar(scale, ax=list(grid), shrink=0.8, aspect=30, pad=0.02)
    bar.set_label("mean ratio")
    bar.outline.set_visible(False)


def picture(quality, snapshot, title):
    figure = plt.figure(figsize=(12, 8), layout="constrained")
    above, below = figure.subfigures(2, 1, height_ratios=(1.5, 1))
    if len(snapshot.tets) > 0:
        mesh_panels(above, above.subplots(1, 2), snapshot, np.clip(snapshot.cell_data["mean_ratio"], 0, 1))
    for axes, (name, label, which) in zip(below.subplots(1, 3), MEASURES):
        histogram(axes, quality[name], label, which)
    inverted = f", {quality['inverted']:,} inverted" if quality["inverted"] else ""
    figure.suptitle(f"{title}: {quality['cells']:,} cells{inverted}", fontsize=14)
    return figure


def read_quality(path):
    try:
        return json.loads(Path(path).read_text(encoding="utf-8"))
    except ValueError as error:
        raise ValueError(f"{path}: not a report of tutti mesh quality --json: {error}; write it anew") from None


def main(argv=None):
    parser = argparse.ArgumentParser(prog="tutti.quality", description="How good the cells of a mesh are.")
    parser.add_argument("json", help="file of tutti mesh quality --json")
    parser.add_argument("vtu", help="tetrahedra with the cell data mean_ratio")
    parser.add_argument("-o", "--output", default="quality.png")
    parser.add_argument("--title", default="")
    options = parser.parse_args(argv)
    try:
        points, tets, data = vtkxml.read_grid(options.vtu)
        figure = picture(read_quality(options.json), Snapshot(0.0, points, tets, data), options.title or options.vtu)
        plot.save(figure, options.output, 110)
    except (OSError, ValueError) as error:
        print(f"tutti.quality: {told(error)}", file=sys.stderr)
        return 4 if isinstance(error, ValueError) else 5
    print(f"{options.output}: quality of {options.title or options.vtu}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
