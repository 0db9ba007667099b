"""Curves over time: the diagnostics of history.csv, or else of metrics.jsonl, and the probes of probes.csv.

    python3 -m tutti.history DIR -o history.png
"""

import argparse
import json
import sys
import textwrap
from pathlib import Path

import matplotlib
import matplotlib.pyplot as plt
import numpy as np

from tutti.messages import told
from tutti.pictures import parse_dpi, save_figure
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


# Columns of history.csv that belong together: what their names end with, the panel's title.
GROUPS = [((" relative L2 error", " relative Linf error"), "relative errors"), ((" L2 error", " Linf error"), "errors")]


def is_constant(values):
    finite = values[np.isfinite(values)]
    return len(finite) == 0 or np.ptp(finite) <= 1e-12 * np.abs(finite).max()


def diagnostics_of(folder):
    """Time and {name: values}: of history.csv, or where it has no two lines, of the reports in metrics.jsonl."""
    history, metrics = folder / "history.csv", folder / "metrics.jsonl"
    if history.is_file():
        columns = read_probes(history)
        if len(columns[0][1]) > 1:
            return columns[0][1], dict(columns[1:])
    if not metrics.is_file():
        return np.zeros(0), {}
    columns = read_metrics(metrics)
    time = columns.get("time", np.zeros(0))
    return time, {name: values for name, values in columns.items() if name not in OF_THE_RUN}


def grouped(time, columns):
    """Panels of what changes: errors together, and names that differ in their last word only ("Nu x-lower", ...)."""
    found = {}
    for name, values in columns.items():
        title = next((title for ends, title in GROUPS if name.endswith(ends)), None)
        if title is None:
            first = name.rpartition(" ")[0]
            alike = [other for other in columns if first and other.rpartition(" ")[0] == first]
            title = first if len(alike) > 1 else name
        found.setdefault(title, {})[name] = values
    return [(title, time, curves) for title, curves in found.items()]


def unit_in(folder):
    """unit_in(folder)(name): as the summary says, "" where it does not."""
    try:
        units = json.loads((folder / "summary.json").read_text(encoding="utf-8")).get("units", {})
    except (OSError, ValueError):
        units = {}
    return lambda name: "" if units.get(name) in (None, "", "1") else f" [{units[name]}]"


def panels(folder, constants=None):
    """[(title of the axis, time, curves)]: the diagnostics that change, in groups, and all probes. Those that do not change
    are added to `constants`, {name: value}, if it is given."""
    time, columns = diagnostics_of(folder)
    if constants is not None and len(time) > 1:
        constants.update({name: values[np.isfinite(values)][0] for name, values in columns.items()
                          if is_constant(values) and np.any(np.isfinite(values))})
    found = grouped(time, {name: values for name, values in columns.items() if not is_constant(values)})
    if (folder / "probes.csv").is_file():
        probes = read_probes(folder / "probes.csv")
        times = probes.pop(0)[1]
        if probes and len(times):
            found.append(("probes", times, probes))
    found = found or grouped(time, columns)  # nothing changes: that is seen, too
    if not found:
        raise FileNotFoundError(f"{folder}: no history.csv, metrics.jsonl or probes.csv with values; did the run record any?")
    return found


def wants_log(curves):
    """Positive numbers over more than two orders of magnitude."""
    values = np.concatenate([np.asarray(v) for _, v in curves])
    values = values[np.isfinite(values)]
    return len(values) > 0 and values.min() > 0 and values.max() > 100 * values.min()


def picture(found, title, constants=None, unit=lambda name: ""):
    """`constants`: {name: value} of what does not change, told below the title."""
    figure, grid = plt.subplots(len(found), 1, figsize=(7.2, 1.4 + 2.1 * len(found)), sharex=True, squeeze=False,
                                layout="constrained")
    for axes, (name, time, curves) in zip(grid[:, 0], found):
        few = len(time) < 40
        items = list(curves.items() if isinstance(curves, dict) else curves)
        for i, (label, values) in enumerate(items):
            axes.plot(time, values, color=f"C{i % 10}", linestyle=["-", "--", ":"][i // 10 % 3], linewidth=1.4,
                      marker="." if few else None, label=label.replace("\n", " "))
        axes.set_ylabel((name + unit(name)).replace("$", r"\$"))
        axes.grid(True, linewidth=0.4, alpha=0.6)
        if wants_log(items):
            axes.set_yscale("log")
        else:
            axes.ticklabel_format(useOffset=False)
        if len(items) > 1 or name == "probes" or items[0][0] != name:
            legend = axes.legend(frameon=False, fontsize=9, ncols=1 + len(items) // 8)
            for text in legend.get_texts():
                text.set_parse_math(False)
    grid[-1, 0].set_xlabel("t" + unit("time"))
    figure.suptitle(title, fontsize=12)
    if constants:
        told_so = "constant: " + ", ".join(f"{name} = {value:.6g}" for name, value in constants.items())
        figure.supxlabel(textwrap.fill(told_so, 90), fontsize=8, parse_math=False)
    return figure


def main(argv=None):
    matplotlib.use("Agg")  # here, not above: run.plot() leaves the notebook its own
    parser = argparse.ArgumentParser(prog="tutti.history", description="Diagnostics and probes over time.")
    parser.add_argument("folder", help="folder of results")
    parser.add_argument("-o", "--output", default="history.png")
    parser.add_argument("--title", help="default: the folder's name")
    parser.add_argument("--dpi", type=parse_dpi, default=130)
    options = parser.parse_args(argv)
    folder = Path(options.folder)
    try:
        if not folder.is_dir():
            raise FileNotFoundError(f"{folder}: no such folder of results; check the name")
        constants = {}
        found = panels(folder, constants)
        figure = picture(found, options.title or folder.resolve().name.replace("$", r"\$"), constants, unit_in(folder))
        save_figure(figure, options.output, options.dpi)
    except (OSError, ValueError) as error:
        print(f"tutti.history: {told(error)}", file=sys.stderr)
        return 5 if isinstance(error, OSError) else 4
    curves = sum(len(c) for _, _, c in found)
    print(f"{options.output}: {curves} curve{'' if curves == 1 else 's'}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
