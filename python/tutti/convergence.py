"""A log-log picture of errors over mesh width, with reference slopes.

    python3 -m tutti.convergence data.json -o out.png

The file holds {"title": "...", "x": "mesh width h", "y": "relative L2 error",
"series": [{"name": "u", "h": [...], "error": [...], "order": 2}, ...]}; "order" draws a reference slope, once an order.
"""

import argparse
import json
import sys
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt  # noqa: E402
import numpy as np  # noqa: E402
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter  # noqa: E402

from tutti.messages import told  # noqa: E402
from tutti.pictures import parse_dpi, save_figure  # noqa: E402

MARKERS = "osD^vP*X"


def observed_order(h, error):
    """Slope of a straight line through the logarithms."""
    return float(np.polyfit(np.log(h), np.log(error), 1)[0])


def check(series):
    h, error = np.asarray(series["h"], float), np.asarray(series["error"], float)
    if len(h) != len(error) or len(h) < 2:
        raise ValueError(f"series '{series['name']}': as many values of h as errors, and at least two, are needed")
    if not (np.all(np.isfinite(h)) and np.all(np.isfinite(error)) and np.all(h > 0) and np.all(error > 0)):
        raise ValueError(f"series '{series['name']}': only numbers > 0 can be drawn on logarithmic axes")
    return h, error


def picture(data):
    figure, axes = plt.subplots(figsize=(6.4, 4.8), layout="constrained")
    slopes = set()
    for i, series in enumerate(data["series"]):
        h, error = check(series)
        axes.loglog(h, error, marker=MARKERS[i % len(MARKERS)], color=f"C{i}",
                    label=f"{series['name']} (order {observed_order(h, error):.2f})")
        order = series.get("order")
        if order is not None and order not in slopes:
            ends = np.array([h.min(), h.max()])
            start = 0.7 * error[np.argmin(h)]
            axes.loglog(ends, start * (ends / ends[0]) ** order, "--", color="0.55", linewidth=1, label=f"slope {order:g}")
            slopes.add(order)
    axes.xaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axes.xaxis.set_minor_formatter(NullFormatter())
    axes.set_xlabel(data.get("x", "mesh width h"))
    axes.set_ylabel(data.get("y", "error"))
    axes.set_title(data.get("title", ""))
    axes.grid(True, which="both", linewidth=0.4, alpha=0.6)
    axes.legend(frameon=False, fontsize=9)
    return figure


def main(argv=None):
    parser = argparse.ArgumentParser(prog="tutti.convergence", description="Errors over mesh width, with slopes.")
    parser.add_argument("data", help="JSON file, see the module's text")
    parser.add_argument("-o", "--output", default="convergence.png")
    parser.add_argument("--dpi", type=parse_dpi, default=160)
    options = parser.parse_args(argv)
    try:
        figure = picture(json.loads(Path(options.data).read_text()))
    except (OSError, ValueError, KeyError) as error:
        text = f"key {error} is missing" if isinstance(error, KeyError) else error
        print(f"tutti.convergence: {options.data}: {text}", file=sys.stderr)
        return 5 if isinstance(error, OSError) else 4
    try:
        save_figure(figure, options.output, options.dpi)
    except (OSError, ValueError) as error:
        print(f"tutti.convergence: {told(error)}", file=sys.stderr)
        return 5 if isinstance(error, OSError) else 4
    return 0


if __name__ == "__main__":
    sys.exit(main())
