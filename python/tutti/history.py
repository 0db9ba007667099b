"""Curves over time: the diagnostics of metrics.jsonl and the probes of probes.csv.

    python3 -m tutti.history DIR -o history.png
"""

import argparse
import json
import sys
from pathlib import Path

import matplotlib
import matplotlib.pyplot as plt
import numpy as np

from tutti.messages import told
from tutti.pictures import save_figure
from tutti.results import read_probes

# What tells how the computation went, not what it computed.
OF_THE_RUN = {"step", "time", "wall_seconds", "wall", "rate", "cell_steps_per_second", "rank", "ranks"}


def flat_numbers(entry, prefix=""):
    """Numbers of a JSON object, those of objects in it too: {"diagnostics": {"mass": 1}} gives "mass"."""
    numbers = {}
    for name, value in entry.items():
        if isinstance(value, dict):
            numbers.update(flat_numbers(value, "" if name == "diagnostics" else f"{prefix}{name}."))
        elif isinstance(value, (int, float)) and not isinstance(value, bool):
            numbers[prefix + name] = float(value)
    return numbers


def read_metrics(path):
    """Columns of a metrics.jsonl: {"time": array, name: array, ...}; NaN where a line lacks a value. The last line may
    be cut off: the run goes on, or was killed."""
    lines = Path(path).read_text(encoding="utf-8").split("\n")
    entries = []
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            entry = json.loads(line)
            if not isinstance(entry, dict):
                raise ValueError("an object is expected")
            entries.append(flat_numbers(entry))
        except ValueError as error:
            if any(rest.strip() for rest in lines[number:]):
                raise ValueError(f"{path}:{number}: not a line of metrics: {error}; the file is damaged") from None
    names = list(dict.fromkeys(name for entry in entries for name in entry))
    return {name: np.array([entry.get(name, np.nan) for entry in entries]) for name in names}


def panels(folder):
    """[(title of the axis, time, {name: values})]: one for each diagnostic, one for all probes."""
    found = []
    metrics, probes = folder / "metrics.jsonl", folder / "probes.csv"
    if metrics.is_file():
        columns = read_metrics(metrics)
        time = columns.get("time", np.zeros(0))
        for name, values in columns.items():
            if name not in OF_THE_RUN and np.any(np.isfinite(values)):
                found.append((name, time, {name: values}))
    if probes.is_file():
        columns = read_probes(probes)
        time = columns.pop(0)[1]
        if columns and len(time):
            found.append(("probes", time, columns))
    if not found:
        raise FileNotFoundError(f"{folder}: no metrics.jsonl and no probes.csv with values; did the run record any?")
    return found


def picture(found, title):
    figure, grid = plt.subplots(len(found), 1, figsize=(7.2, 1.2 + 2.1 * len(found)), sharex=True, squeeze=False,
                                layout="constrained")
    for axes, (name, time, curves) in zip(grid[:, 0], found):
        few = len(time) < 40
        items = curves.items() if isinstance(curves, dict) else curves
        for i, (label, values) in enumerate(items):
            axes.plot(time, values, color=f"C{i % 10}", linestyle=["-", "--", ":"][i // 10 % 3], linewidth=1.4,
                      marker="." if few else None, label=label.replace("\n", " "))
        axes.set_ylabel(name.replace("$", r"\$"))
        axes.grid(True, linewidth=0.4, alpha=0.6)
        axes.ticklabel_format(useOffset=False)
        if len(items) > 1 or name == "probes":
            legend = axes.legend(frameon=False, fontsize=9, ncols=1 + len(items) // 8)
            for text in legend.get_texts():
                text.set_parse_math(False)
    grid[-1, 0].set_xlabel("t [s]")
    figure.suptitle(title, fontsize=12)
    return figure


def main(argv=None):
    matplotlib.use("Agg")  # here, not above: run.plot() leaves the notebook its own
    parser = argparse.ArgumentParser(prog="tutti.history", description="Diagnostics and probes over time.")
    parser.add_argument("folder", help="folder of results")
    parser.add_argument("-o", "--output", default="history.png")
    parser.add_argument("--title", help="default: the folder's name")
    parser.add_argument("--dpi", type=int, default=130)
    options = parser.parse_args(argv)
    folder = Path(options.folder)
    try:
        if not folder.is_dir():
            raise FileNotFoundError(f"{folder}: no such folder of results; check the name")
        found = panels(folder)
        figure = picture(found, options.title or folder.resolve().name.replace("$", r"\$"))
        save_figure(figure, options.output, options.dpi)
    except (OSError, ValueError) as error:
        print(f"tutti.history: {told(error)}", file=sys.stderr)
        return 5 if isinstance(error, OSError) else 4
    curves = sum(len(c) for _, _, c in found)
    print(f"{options.output}: {curves} curve{'' if curves == 1 else 's'}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
