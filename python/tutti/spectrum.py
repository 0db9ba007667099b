"""Eigenvalues times the time step, beside the region in which a step lets nothing grow.

    python3 -m tutti.spectrum eigenvalues.csv -o spectrum.png

The table is that of `tutti spectrum`: operator, re, im, re_dt, im_dt. --scale S draws re / S and im / S instead, without the
region.
"""

import argparse
import csv
import sys

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt  # noqa: E402
import numpy as np  # noqa: E402

from tutti.messages import told  # noqa: E402
from tutti.pictures import parse_dpi, save_figure  # noqa: E402

TITLES = {"advection": "no hyperviscosity", "damped": "with hyperviscosity"}
COLUMNS = ["operator", "re", "im", "re_dt", "im_dt"]


def read(path):
    """{operator: (eigenvalues, eigenvalues times dt)}, complex."""
    found = {}
    with open(path, encoding="utf-8", newline="") as lines:
        rows = csv.reader(lines)
        if next(rows, None) != COLUMNS:
            raise ValueError(f"{path}: no table of eigenvalues: the first line is not {','.join(COLUMNS)}; use that of tutti spectrum")
        for number, row in enumerate(rows, 2):
            try:
                name, (re, im, re_dt, im_dt) = row[0], map(float, row[1:])
            except (ValueError, IndexError):
                raise ValueError(f"{path}:{number}: a name and four numbers are expected; the file is damaged") from None
            found.setdefault(name, []).append((complex(re, im), complex(re_dt, im_dt)))
    if not found:
        raise ValueError(f"{path}: there are no eigenvalues in it; use the table of tutti spectrum")
    return {name: np.array(values).T for name, values in found.items()}


def amplification(z, method):
    """What a step multiplies a solution of du/dt = (z/dt) u by."""
    cubic = 1 + z + z**2 / 2 + z**3 / 6
    return np.abs(cubic + z**4 / 24 if method == "rk4" else cubic)


def limits(values):
    """((left, right), (lower, upper)) around all values, but no further than the methods' regions."""
    high = min(3.4, 1.15 * np.max(np.abs(values.imag), initial=1e-300))
    side = 0.06 * high
    left, right = np.min(values.real, initial=0), np.max(values.real, initial=0)
    return (max(-3.4, 1.1 * left) - side, min(1.4, 1.1 * right) + side), (-high, high)


def picture(found, method, scale=None, title=""):
    """One panel an operator, all with the same axes. Red: right of the imaginary axis."""
    shown = {name: times_dt if scale is None else plain / scale for name, (plain, times_dt) in found.items()}
    together = np.concatenate(list(shown.values()))
    if scale is None:
        (left, right), (lower, upper) = limits(together)
        if upper > 1:  # the region itself is of that size: show it
            left, right, lower, upper = -3.4, max(right, 0.6), -3.4, 3.4
        x, y = np.meshgrid(np.linspace(left, right, 400), np.linspace(lower, upper, 400))
    figure, grid = plt.subplots(1, len(found), figsize=(4.4 * len(found) + 0.6, 4.6), squeeze=False, layout="constrained")
    for axes, (name, values) in zip(grid[0], shown.items()):
        axes.axvline(0, color="0.6", linewidth=0.7)
        if scale is None:
            axes.contour(x, y, amplification(x + 1j * y, method), levels=[1], colors="0.35", linewidths=1)
            axes.set_xlim(left, right)
            axes.set_ylim(lower, upper)
            outside = np.sum((values.real < left) | (values.real > right) | (np.abs(values.imag) > upper))
            if outside:
                axes.text(0.03, 0.03, f"{outside} outside", transform=axes.transAxes, fontsize=8, color="#d9493f")
        plain = found[name][0]
        grows = plain.real > 1e-6 * np.max(np.abs(plain))
        for these, colour in ((~grows, "#3b6fa8"), (grows, "#d9493f")):
            axes.plot(values[these].real, values[these].imag, ".", markersize=2.2, color=colour)
        axes.set_title(f"{TITLES.get(name, name)}: largest real part {np.max(plain.real):.3g} 1/s", fontsize=10)
        axes.set_xlabel("Re, times dt" if scale is None else f"Re / {scale:.4g}")
        axes.grid(True, linewidth=0.3, alpha=0.6)
    grid[0][0].set_ylabel(f"Im, times dt; dark line: rim of {method}'s region" if scale is None else f"Im / {scale:.4g}")
    figure.suptitle(title, fontsize=12)
    return figure


def main(argv=None):
    parser = argparse.ArgumentParser(prog="tutti.spectrum", description="Eigenvalues beside what a time step allows.")
    parser.add_argument("table", help="of tutti spectrum")
    parser.add_argument("-o", "--output", default="spectrum.png")
    parser.add_argument("--method", choices=["rk4", "ssp-rk3"], default="rk4")
    parser.add_argument("--scale", type=float, help="divide by this instead of multiplying by dt")
    parser.add_argument("--title", default="")
    parser.add_argument("--dpi", type=parse_dpi, default=130)
    options = parser.parse_args(argv)
    try:
        found = read(options.table)
        save_figure(picture(found, options.method, options.scale, options.title), options.output, options.dpi)
    except (OSError, ValueError) as error:
        print(f"tutti.spectrum: {told(error)}", file=sys.stderr)
        return 5 if isinstance(error, OSError) else 4
    print(f"{options.output}: eigenvalues of {len(found)} operator{'' if len(found) == 1 else 's'}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
