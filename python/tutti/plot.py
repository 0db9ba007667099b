"""A picture of a field on its mesh, from outside and cut open, on a plane through a structured grid, on a layer of elements,
or on the two halves of a sphere; needs no display.

    python3 -m tutti.plot DIR -o heart.png [--field u] [--time last] [--clip y] [--view -70,18]
"""

import argparse
import io
import sys
from pathlib import Path

import matplotlib
import matplotlib.pyplot as plt
import numpy as np
from matplotlib.collections import PolyCollection
from PIL import Image  # matplotlib needs it, too

from tutti import slices, sphere, surface
from tutti.marks import colour_bar, colour_scale, draw_length, draw_triad
from tutti.messages import told
from tutti.pictures import parse_dpi, save_figure, write_whole
from tutti.results import BoxSnapshot, ElementSnapshot, NodeSnapshot, Results

AXES = {"x": 0, "y": 1, "z": 2}
VIEW = (-70.0, 18.0)  # azimuth and elevation in degrees


def camera(azimuth, elevation):
    """Rows right, up, towards the eye, for angles in degrees; z is up."""
    a, e = np.radians([azimuth, elevation])
    eye = np.array([np.cos(e) * np.cos(a), np.cos(e) * np.sin(a), np.sin(e)])
    right = np.array([-np.sin(a), np.cos(a), 0.0])
    return np.stack([right, np.cross(eye, right), eye])


def shade(colours, normals, view):
    """Lambert's law with a lamp above the viewer's left shoulder, and some light from everywhere."""
    lamp = np.array([-0.35, 0.5, 0.8]) @ view
    lamp /= np.linalg.norm(lamp)
    light = 0.55 + 0.5 * np.clip(normals @ lamp, 0, 1)
    shaded = colours.copy()
    shaded[:, :3] = np.clip(colours[:, :3] * light[:, None], 0, 1)
    return shaded


def draw(axes, triangles, values, view, colour_of):
    """Draws triangles, the farthest first; those that show their back are left out (a closed surface hides them)."""
    facing = triangles.take(triangles.faces_towards(view[2]))
    seen = facing.corners @ view.T
    order = np.argsort(seen[:, :, 2].mean(axis=1), kind="stable")
    colours = shade(colour_of(values[facing.cell]), facing.normal, view)
    # Edges in the face's own colour close the seams between neighbours.
    axes.add_collection(PolyCollection(seen[order][:, :, :2], facecolors=colours[order], edgecolors=colours[order],
                                       linewidths=0.25, antialiaseds=False))
    axes.set_aspect("equal")
    axes.set_axis_off()


def cut_open(mesh, outside, axis, at, view):
    """The surface of the half behind the plane across `axis`, and the cut; the half nearer to the eye is taken away, so
    the cut lies before everything else."""
    normal = np.zeros(3)
    normal[AXES[axis]] = 1.0 if view[2][AXES[axis]] >= 0 else -1.0
    low, high = mesh.points[:, AXES[axis]].min(), mesh.points[:, AXES[axis]].max()
    offset = normal[AXES[axis]] * (low + at * (high - low))
    return surface.clip(outside, normal, offset), mesh.section(normal, offset)


def frame(axes, points, view):
    """The same window on both panels, with a little air and room below."""
    seen = points @ view[:2].T
    low, high = seen.min(axis=0), seen.max(axis=0)
    air = 0.02 * (high - low).max()
    axes.set_xlim(low[0] - air, high[0] + air)
    axes.set_ylim(low[1] - 0.16 * (high - low).min() - air, high[1] + air)  # room for what lies in the corners


def choose_field(cell_data, name):
    if name is None:
        if not cell_data:
            raise ValueError("--field: the results hold no field; see [output] of the case")
        name = "u" if "u" in cell_data else next(iter(cell_data))
    if name not in cell_data:
        raise ValueError(f"--field: no field '{name}'; choose one of {', '.join(cell_data) or 'none'}")
    return name, np.asarray(cell_data[name])


def shown_fields(snapshot, name):
    """[(name, a number per cell)]: what a picture shows; of a vector, its length."""
    boxes = isinstance(snapshot, BoxSnapshot)
    names = slices.default_fields(snapshot) if boxes and name is None else []
    if isinstance(snapshot, NodeSnapshot):
        names = sphere.named_fields(snapshot, name)
    chosen = [choose_field(snapshot.cell_data, n) for n in names or [name]]
    axes_of_cells = 3 if boxes else 1
    return [(n, np.linalg.norm(v, axis=-1) if v.ndim > axes_of_cells else v) for n, v in chosen]


def time_unit(results):
    """ s" where the summary says that times are seconds: a case may have no dimensions."""
    unit = results.unit("time")
    return f" {unit}" if unit not in ("", "1") else ""


def title_of(results, name, time, elements):
    summary = results.summary
    cells = f", {summary['cells']:,} {elements}" if "cells" in summary else ""
    model = f"{summary['model'].capitalize()}: " if "model" in summary else ""
    return f"{model}{name} at t = {time:.4g}{time_unit(results)}{cells}"


def picture(snapshot, field, view, clip, at, scale, title, label, length_unit=""):
    """A figure with one panel, or two where `clip` is an axis."""
    mesh = snapshot.merged()
    outside = mesh.boundary()
    panels = [[outside]]
    if clip != "none":
        panels.append(cut_open(mesh, outside, clip, at, view))
    size = (mesh.points @ view[:2].T)
    width, height = size.max(axis=0) - size.min(axis=0)
    panel_width = np.clip(6.2 * width / height, 3.0, 8.0)
    panel_height = np.clip(panel_width * height / width, 2.5, 6.2)
    figure, grid = plt.subplots(1, len(panels), figsize=(panel_width * len(panels) + 1.5, panel_height + 0.7),
                                squeeze=False, layout="constrained")
    for axes, layers in zip(grid[0], panels):
        for triangles in layers:
            draw(axes, triangles, field, view, scale.to_rgba)
        frame(axes, mesh.points, view)
        draw_length(axes, length_unit)
    draw_triad(grid[0, 0], view)
    figure.suptitle(title, fontsize=14)
    colour_bar(figure, scale, label, ax=list(grid[0]), shrink=0.75)
    return figure


def save(figure, path, dpi):
    """Triangles are drawn without smoothing, or seams would show; so a PNG is drawn twice as fine and averaged."""
    if not str(path).lower().endswith(".png"):
        save_figure(figure, path, dpi)
    else:
        fine, small = io.BytesIO(), io.BytesIO()
        figure.savefig(fine, dpi=2 * dpi, facecolor="white", format="png")
        Image.open(fine).convert("RGB").reduce(2).save(small, "PNG", optimize=True, dpi=(dpi, dpi))
        write_whole(path, small.getvalue())
    plt.close(figure)


def parse_view(text):
    try:
        azimuth, elevation = (float(part) for part in text.split(","))
    except ValueError:
        raise argparse.ArgumentTypeError(f"'{text}' is not AZIMUTH,ELEVATION in degrees; write e.g. -70,18") from None
    return azimuth, elevation


def parse_range(text):
    try:
        low, high = (float(part) for part in text.split(","))
        if not low < high:
            raise ValueError
    except ValueError:
        raise argparse.ArgumentTypeError(f"'{text}' is not MIN,MAX with MIN below MAX; write e.g. 0,1") from None
    return low, high


def parse_arguments(argv):
    parser = argparse.ArgumentParser(prog="tutti.plot", description="A picture of a field, outside and cut open.")
    parser.add_argument("folder", help="folder of results")
    parser.add_argument("-o", "--output", default="tutti.png", help="picture to write (.png, .pdf, .svg)")
    parser.add_argument("--field", help="cell array; default: u, else the first (of a structured grid: the "
                        "velocity and T; of nodes on a sphere: all tracers; several: a,b); the length of a vector is shown")
    parser.add_argument("--slice", metavar="NAME", help="this slice ([[output.slice]]) instead of the whole grid")
    parser.add_argument("--time", default="last", help="first, last, all (one picture per output: out-000.png, ...) or a "
                        "time, of which the nearest output is taken")
    parser.add_argument("--clip", choices=["x", "y", "z", "none"], help="axis across which it is cut open; default: y; of "
                        "a structured grid, the one with the fewest cells; of a layer of elements: none; none: from "
                        "outside, of a sphere one half")
    parser.add_argument("--at", type=float, default=0.5, help="place of the cut, from 0 to 1 of the extent")
    parser.add_argument("--view", type=parse_view, help="azimuth,elevation in degrees; default: -70,18, or across a "
                        "layer of elements")
    parser.add_argument("--range", type=parse_range, metavar="MIN,MAX", default=(None, None), help="range of the colour scale")
    parser.add_argument("--colours", default="auto", help="warm, signed (diverging, for numbers with a sign), auto: one of "
                        "these two; or a colour map of matplotlib")
    parser.add_argument("--title")
    parser.add_argument("--dpi", type=parse_dpi, default=160)
    words = list(sys.argv[1:] if argv is None else argv)
    for i in range(len(words) - 1, 0, -1):  # argparse takes "-60,20" for an option unless it is joined
        if words[i - 1] in ("--view", "--range"):
            words[i - 1:i + 1] = [f"{words[i - 1]}={words[i]}"]
    return parser.parse_args(words)


def size_of(snapshot):
    """Cells, or cells in x, y and z; and what they are called."""
    if isinstance(snapshot, NodeSnapshot):
        return (len(snapshot.points),), "nodes"
    if isinstance(snapshot, BoxSnapshot):
        return snapshot.shape, "cells"
    return (snapshot.mesh.cells if isinstance(snapshot, ElementSnapshot) else len(snapshot.tets),), "cells"


def whole_layer(points):
    """How elements are shown that are flat in one direction, as of flow in a plane: from there, not cut; else None."""
    size = np.ptp(points, axis=0)
    thin = int(np.argmin(size))
    return ("none", ((0.0, 0.0), (-90.0, 0.0), (-90.0, 90.0))[thin]) if size[thin] < 0.2 * np.sort(size)[1] else None


def sphere_picture(snapshot, fields, options, scales, title, labels):
    if options.clip not in (None, "none"):
        raise ValueError("--clip: nodes on a sphere are not cut; leave it out, or choose none for one half of the sphere")
    front = camera(*(options.view or VIEW))
    behind = front * np.array([[-1], [1], [-1]])  # from the other side, with the same north
    return sphere.picture(snapshot, fields, [front] if options.clip else [front, behind], scales, title, labels)


def figure_of(results, snapshot, spans, options):
    """The figure of a snapshot and what it shows; the colours of a field span spans[name], without these its own."""
    cells, elements = size_of(snapshot)
    if np.prod(cells) == 0:
        raise ValueError(f"{options.folder}: the mesh is empty; at least one cell is expected")
    fields = shown_fields(snapshot, options.field)
    names = [name for name, _ in fields]
    scales, labels = [], []
    for i, (name, values) in enumerate(fields):
        limits = options.range if i == 0 or isinstance(snapshot, NodeSnapshot) else (None, None)
        scales.append(colour_scale(spans.get(name, values), *limits, options.colours))
        unit = results.unit(name)
        labels.append(name if unit in ("", "1") else f"{name} [{unit}]")
    title = options.title or title_of(results, ", ".join(names), snapshot.time, elements)
    if isinstance(snapshot, NodeSnapshot):
        figure = sphere_picture(snapshot, fields, options, scales, title, labels)
    elif isinstance(snapshot, BoxSnapshot):
        if not 0 <= options.at <= 1:
            raise ValueError(f"--at: {options.at:g} is not in the grid; choose 0 to 1")
        if options.clip == "none":
            raise ValueError("--clip: a structured grid is shown on a plane; choose x, y or z")
        axis = AXES[options.clip] if options.clip else slices.default_axis(snapshot)
        labels = [f"|{label}|" if snapshot.cell_data[name].ndim > 3 else label for label, name in zip(labels, names)]
        figure = slices.picture(snapshot, fields, axis, options.at, scales, title, labels)
    else:
        if not 0 <= options.at <= 1:
            raise ValueError(f"--at: {options.at:g} is not in the mesh; choose 0 to 1")
        clip, view = options.clip or "y", options.view or VIEW
        if isinstance(snapshot, ElementSnapshot) and not (options.clip or options.view):
            clip, view = whole_layer(snapshot.points) or (clip, view)
        figure = picture(snapshot, fields[0][1], camera(*view), clip, options.at, scales[0], title, labels[0],
                         results.unit("length"))
    return figure, f"{', '.join(names)} at t = {snapshot.time:.6g}, {' x '.join(f'{n:,}' for n in cells)} {elements}"


def draw_snapshot(results, snapshot, spans, output, options):
    """One picture."""
    figure, shown = figure_of(results, snapshot, spans, options)
    save(figure, output, options.dpi)
    print(f"{output}: {shown}")


def draw_all(results, options):
    """One picture per output, with one scale of colours, so that they can be compared."""
    ends = {}
    for time in results.times:
        for name, values in shown_fields(results.load(time), options.field):
            finite = values[np.isfinite(values)]
            ends.setdefault(name, []).extend([finite.min(), finite.max()] if len(finite) else [])
    spans = {name: np.array(numbers) for name, numbers in ends.items()}
    output = Path(options.output)
    for i, time in enumerate(results.times):
        draw_snapshot(results, results.load(time), spans, output.with_name(f"{output.stem}-{i:03d}{output.suffix}"),
                      options)


def main(argv=None):
    matplotlib.use("Agg")  # here, not above: run.plot() leaves the notebook its own
    options = parse_arguments(argv)
    try:
        results = Results(options.folder, slice=options.slice)
        if options.time == "all":
            draw_all(results, options)
        else:
            draw_snapshot(results, results.load(options.time), {}, options.output, options)
    except (OSError, ValueError) as error:
        print(f"tutti.plot: {told(error)}", file=sys.stderr)
        return 4 if isinstance(error, ValueError) else 5
    return 0


if __name__ == "__main__":
    sys.exit(main())
