"""Profiles along lines through structured grids, beside reference tables.

    python3 -m tutti profile DIR -o profiles.png --reference ghia_u.csv --reference ghia_v.csv --column re1000

By default the velocity's x component over y and its y component over x, through the middle of the grid. A reference is a CSV
file: comment lines with "#" say its source, the next line names the columns, the first column is the coordinate and has the
axis' name (y, or s for any). An empty entry is no point.
"""

import argparse
import csv
import re
import sys
from dataclasses import dataclass
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt  # noqa: E402
import numpy as np  # noqa: E402

from tutti import box  # noqa: E402
from tutti.messages import told  # noqa: E402
from tutti.pictures import parse_dpi, save_figure  # noqa: E402
from tutti.results import BoxSnapshot, Results  # noqa: E402

COMPONENTS = {"u": 0, "v": 1, "w": 2}
MARKERS = "osD^vP*X"


@dataclass
class Curve:
    """What is drawn over which axis: u, v, w of the velocity, or a scalar field."""

    quantity: str
    axis: str

    def __str__(self):
        return f"{self.quantity}({self.axis})"


@dataclass
class Reference:
    path: Path
    axis: str  # name of the first column
    column: str
    places: np.ndarray
    values: np.ndarray
    source: str  # its comment lines


def parse_curves(text):
    """The curves of "u:y,v:x"."""
    curves = []
    for word in text.split(","):
        quantity, _, axis = word.strip().rpartition(":")
        if not quantity or axis not in box.AXES:
            raise ValueError(f"--curves: '{word}' is not a quantity and an axis; write e.g. u:y,v:x or T:x")
        curves.append(Curve(quantity, axis))
    return curves


def read_reference(path, column=None):
    """A Reference; `column` may be left out where there is one besides the coordinate."""
    path = Path(path)
    lines = path.read_text(encoding="utf-8").splitlines()
    source = "\n".join(line.lstrip("# ") for line in lines if line.startswith("#"))
    rows = [row for row in csv.reader(line for line in lines if line.strip() and not line.startswith("#"))]
    header = [name.strip() for name in rows[0]] if rows else []
    if len(header) < 2 or len(rows) < 2:
        raise ValueError(f"{path}: no table; a line of names and two columns at least are expected")
    if column is None and len(header) > 2:
        raise ValueError(f"{path}: which column is meant? Choose with --column: {', '.join(header[1:])}")
    if column is not None and column not in header[1:]:
        raise ValueError(f"{path}: no column '{column}'; choose one of {', '.join(header[1:])}")
    at = header.index(column, 1) if column is not None else 1
    points = []
    for number, row in enumerate(rows[1:], 1):
        try:
            if row[at].strip():
                points.append((float(row[0]), float(row[at])))
        except (ValueError, IndexError):
            raise ValueError(f"{path}: row {number}: two numbers are expected; the file is damaged") from None
    places, values = np.array(sorted(points)).reshape(-1, 2).T
    return Reference(path, header[0], header[at], places, values, source)


def curve_of(reference, curves):
    """The curve that a reference belongs to: by its axis, and by its column's name where that begins with a quantity."""
    same_axis = [c for c in curves if c.axis == reference.axis]
    if not same_axis and reference.axis not in box.AXES:
        same_axis = curves
    named = [c for c in same_axis if re.match(re.escape(c.quantity) + "(_|$)", reference.column)]
    found = named or same_axis
    if len(found) != 1:
        raise ValueError(f"{reference.path}: column '{reference.column}' over '{reference.axis}' belongs to "
                         f"{len(found)} of the curves {', '.join(map(str, curves))}; choose others with --curves")
    return found[0]


def read_references(paths, columns, curves):
    """[(Curve, Reference)]; one name of a column is for all files, several are one for each."""
    if len(columns) > 1 and len(columns) != len(paths):
        raise ValueError(f"--column: {len(columns)} columns for {len(paths)} references; give one for all, or one for each")
    columns = columns * len(paths) if len(columns) == 1 else columns or [None] * len(paths)
    references = [read_reference(path, column) for path, column in zip(paths, columns)]
    return [(curve_of(reference, curves), reference) for reference in references]


def profile_of(snapshot, curve, through, field):
    """Coordinates and values of a curve."""
    scalars = [name for name, values in snapshot.cell_data.items() if values.ndim == 3]
    velocity = field or (None if curve.quantity in scalars else box.velocity_name(snapshot))
    if curve.quantity in COMPONENTS and velocity is not None:
        return box.profile(snapshot, velocity, COMPONENTS[curve.quantity], curve.axis, through)
    return box.profile(snapshot, curve.quantity, None, curve.axis, through)


def largest_difference(places, values, reference):
    """Of the profile (linear between its points) from the reference, as (difference, place); points beyond the outermost
    centres, such as walls, are left out."""
    between = (reference.places >= places[0]) & (reference.places <= places[-1])
    if not np.any(between):
        return None
    off = np.interp(reference.places[between], places, values) - reference.values[between]
    worst = np.argmax(np.abs(off))
    return off[worst], reference.places[between][worst]


def picture(curves, profiles, references, through, title):
    """`profiles`: [(label, {curve number: (places, values)})]. Upright axes stand upright."""
    figure, grid = plt.subplots(1, len(curves), figsize=(4.9 * len(curves) + 0.4, 4.9), squeeze=False, layout="constrained")
    for i, (axes, curve) in enumerate(zip(grid[0], curves)):
        upright = curve.axis != "x"

        def draw(places, values, *style, **more):
            axes.plot(*((values, places) if upright else (places, values)), *style, **more)  # noqa: B023

        for k, (label, of_curve) in enumerate(profiles):
            draw(*of_curve[i], color=f"C{k}", linewidth=1.5, label=label)
        mine = [reference for c, reference in references if c is curve]
        for k, reference in enumerate(mine):
            draw(reference.places, reference.values, MARKERS[k % len(MARKERS)], color="black", markersize=5,
                 markerfacecolor="none", markeredgewidth=1.0, clip_on=False, zorder=3,
                 label=f"{reference.path.stem}: {reference.column}")
        axis = box.AXES[curve.axis]
        axes.set_title(f"{curve} on " + ", ".join(f"{'xyz'[d]} = {through[d]:.4g}" for d in range(3) if d != axis),
                       fontsize=11, parse_math=False)
        labels = (curve.axis, curve.quantity)
        axes.set_xlabel(labels[upright], parse_math=False)
        axes.set_ylabel(labels[not upright], parse_math=False)
        axes.grid(True, linewidth=0.4, alpha=0.6)
        for text in axes.legend(frameon=False, fontsize=8).get_texts():
            text.set_parse_math(False)
    figure.suptitle(title, fontsize=12)
    return figure


def parse_through(text):
    try:
        x, y, z = (float(part) for part in text.split(","))
    except ValueError:
        raise argparse.ArgumentTypeError(f"'{text}' is not a point X,Y,Z; write e.g. 0.5,0.5,0.5") from None
    return x, y, z


def parse_arguments(argv):
    parser = argparse.ArgumentParser(prog="tutti.profile", description="Profiles along lines, beside reference tables.")
    parser.add_argument("folder", nargs="+", help="folders of results on structured grids")
    parser.add_argument("-o", "--output", default="profile.png", help="picture to write (.png, .pdf, .svg)")
    parser.add_argument("--curves", default="u:y,v:x", help="what over which axis: u, v, w of the velocity, or a field")
    parser.add_argument("--through", type=parse_through, metavar="X,Y,Z", help="point on all lines; default: the middle")
    parser.add_argument("--field", help="the velocity; default: velocity, u, or the first vector")
    parser.add_argument("--time", default="last", help="first, last or a time, of which the nearest output is taken")
    parser.add_argument("--reference", action="append", default=[], metavar="FILE.csv", help="table to draw; may be repeated")
    parser.add_argument("--column", action="append", default=[], metavar="NAME",
                        help="column of the references: once for all, or once for each")
    parser.add_argument("--title")
    parser.add_argument("--dpi", type=parse_dpi, default=130)
    words = list(sys.argv[1:] if argv is None else argv)
    for i in range(len(words) - 1, 0, -1):  # argparse takes "-1,0,0" for an option unless it is joined
        if words[i - 1] == "--through":
            words[i - 1:i + 1] = [f"--through={words[i]}"]
    return parser.parse_args(words)


def run(options):
    curves = parse_curves(options.curves)
    references = read_references(options.reference, options.column, curves)
    profiles, through, times = [], options.through, []
    for folder in options.folder:
        snapshot = Results(folder).load(options.time)
        if not isinstance(snapshot, BoxSnapshot):
            raise ValueError(f"{folder}: a profile needs results on a structured grid (.pvti or .pvtr)")
        through = through or tuple(0.5 * (f[0] + f[-1]) for f in snapshot.faces)
        of_curve = [profile_of(snapshot, curve, through, options.field) for curve in curves]
        profiles.append((Path(folder).resolve().name, of_curve))
        times.append(snapshot.time)
    title = options.title or ("t = " + ", ".join(f"{t:.6g}" for t in dict.fromkeys(times)))
    save_figure(picture(curves, profiles, references, through, title), options.output, options.dpi)
    print(f"{options.output}: {', '.join(map(str, curves))} of {', '.join(label for label, _ in profiles)}")
    for label, of_curve in profiles:
        for curve, reference in references:
            worst = largest_difference(*of_curve[curves.index(curve)], reference)
            if worst is not None:
                print(f"{label}: {curve} is at most {abs(worst[0]):.6g} off {reference.path.name}, {reference.column} "
                      f"(at {curve.axis} = {worst[1]:g})")


def main(argv=None):
    options = parse_arguments(argv)
    try:
        run(options)
    except (OSError, ValueError) as error:
        print(f"tutti.profile: {told(error)}", file=sys.stderr)
        return 4 if isinstance(error, ValueError) else 5
    return 0


if __name__ == "__main__":
    sys.exit(main())
