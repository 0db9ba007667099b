"""A timeline of one time step: what every device, copy stream, MPI and thread did, as Figure 3 of Langguth et al. 2015.

    tutti run CASE -o DIR --trace trace.json
    python3 -m tutti.timeline trace.json -o timeline.png [--step 12]

The file is in the Trace Event Format; Perfetto (https://ui.perfetto.dev) shows all of it.
"""

import argparse
import json
import re
import sys
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt  # noqa: E402
from matplotlib.patches import Patch  # noqa: E402

from tutti.messages import told  # noqa: E402
from tutti.pictures import parse_dpi, save_figure  # noqa: E402

# What a slice is about: its colour and its words in the legend. Blue waits for nobody, warm colours move data.
KINDS = {
    "separator": ("#d9493f", "separators"),
    "interior": ("#8fb4d9", "interior"),
    "copy": ("#f0a13c", "copies"),
    "message": ("#6a9f4f", "MPI messages"),
    "host": ("#c9a66b", "packing on the host"),
    "start": ("#444444", "starting work on a stream"),
    "other": ("#b5b5b5", "other"),
}


def kind_of(name):
    """The entry of KINDS for the name of a task."""
    first = name.split(" ")[0]
    if first in ("separator", "interior", "start"):
        return first
    if first in ("copy", "peer"):
        return "copy"
    if first in ("send", "receive"):
        return "message"
    return "host" if first in ("gather", "pack", "unpack") else "other"


class Row:
    """A thread of the trace: its label and its slices (begin, length, name) in microseconds."""

    def __init__(self, rank, order, name):
        self.rank, self.order, self.name = rank, order, name
        self.slices = []


class Timeline:
    """A trace file, read. Raises ValueError when it is not one of tutti's."""

    def __init__(self, path):
        self.path = path
        try:
            events = json.loads(Path(path).read_text(encoding="utf-8"))["traceEvents"]
            self._names = {(e["pid"], e["tid"]): e["args"]["name"] for e in events if e["name"] == "thread_name"}
            self._slices = [e for e in events if e["ph"] == "X"]
            for e in self._slices:
                e["ts"], e["dur"] = float(e["ts"]), float(e["dur"])
            self.steps = sorted({e["args"]["step"] for e in self._slices if "step" in e["args"]})
        except (KeyError, TypeError, ValueError) as error:
            raise ValueError(f"{path}: not a trace of tutti ({error}); give a file of tutti run --trace") from None

    def rows(self, step):
        """The rows on which the step left something, by rank and place, and the step's first and last moment."""
        rows = {}
        for e in self._slices:
            if e["args"].get("step") != step or e["name"] == f"step {step}":
                continue
            key = e["pid"], e["tid"]
            rows.setdefault(key, Row(*key, self._names.get(key, f"row {key[1]}")))
            rows[key].slices.append((e["ts"], e["dur"], e["name"]))
        ordered = [rows[key] for key in sorted(rows)]
        begin = min((s[0] for row in ordered for s in row.slices), default=0.0)
        end = max((s[0] + s[1] for row in ordered for s in row.slices), default=0.0)
        return ordered, begin, end


def choose_step(timeline, step):
    """The given step, or the one in the middle: the first ones may still be warming up."""
    if not timeline.steps:
        raise ValueError(f"{timeline.path}: the trace holds no step; was the run shorter than --trace-steps?")
    if step is None:
        return timeline.steps[len(timeline.steps) // 2]
    if step not in timeline.steps:
        first, last = timeline.steps[0], timeline.steps[-1]
        raise ValueError(f"--step: step {step} is not in {timeline.path}; choose one of {first} to {last}")
    return step


def unit_of(microseconds):
    return (1e3, "ms") if microseconds >= 2e3 else (1.0, "us")


def label_of(row):
    """The row's name without what the thread's roles are: they are in the program's -v output."""
    return re.sub(r":.*", "", row.name) if row.name.startswith("thread ") else row.name


def picture(timeline, step, title=None):
    """A figure with one panel a rank, on one axis of time."""
    rows, begin, end = timeline.rows(step)
    scale, unit = unit_of(end - begin)
    ranks = sorted({row.rank for row in rows})
    heights = [sum(row.rank == rank for row in rows) for rank in ranks]
    figure, grid = plt.subplots(len(ranks), 1, sharex=True, squeeze=False, layout="constrained",
                                height_ratios=heights, figsize=(11, 1.5 + 0.34 * sum(heights) + 0.2 * len(ranks)))
    seen = set()
    shortest = (end - begin) / scale / 1200  # nothing that happened is too short to be seen
    for axes, rank in zip(grid[:, 0], ranks):
        mine = [row for row in rows if row.rank == rank]
        for y, row in enumerate(mine):
            for start, length, name in sorted(row.slices):
                kind = kind_of(name)
                seen.add(kind)
                width = max(length / scale, shortest)
                axes.broken_barh([((start - begin) / scale, width)], (y - 0.38, 0.76), color=KINDS[kind][0], linewidth=0)
                if length / scale > 0.011 * len(name) * (end - begin) / scale:
                    axes.text((start - begin + 0.5 * length) / scale, y, name, ha="center", va="center", fontsize=7,
                              clip_on=True, color="white" if kind in ("separator", "message", "start") else "black")
        axes.set_ylim(len(mine) - 0.4, -0.6)
        axes.set_yticks(range(len(mine)), [label_of(row) for row in mine], fontsize=8)
        axes.tick_params(axis="y", length=0)
        axes.set_ylabel(f"rank {rank}")
        axes.grid(axis="x", linewidth=0.4, alpha=0.6)
        axes.set_axisbelow(True)
        for side in ("top", "right", "left"):
            axes.spines[side].set_visible(False)
    grid[-1, 0].set_xlim(0, max((end - begin) / scale, shortest))
    grid[-1, 0].set_xlabel(f"time since the step began [{unit}]")
    figure.suptitle(title or f"Time step {step}", fontsize=12)
    handles = [Patch(color=colour, label=words) for kind, (colour, words) in KINDS.items() if kind in seen]
    grid[0, 0].legend(handles=handles, loc="lower center", bbox_to_anchor=(0.5, 1.0), ncol=len(handles), frameon=False,
                      fontsize=8, handlelength=1.2, columnspacing=1.5)
    return figure


def draw(trace_path, out_png, step=None, title=None, dpi=160):
    """Draws a step of a trace (default: the one in the middle) and returns its number. ValueError, OSError."""
    timeline = Timeline(trace_path)
    chosen = choose_step(timeline, step)
    figure = picture(timeline, chosen, title)
    save_figure(figure, out_png, dpi)
    plt.close(figure)
    return chosen


def main(argv=None):
    parser = argparse.ArgumentParser(prog="tutti.timeline", description="A timeline of one time step.")
    parser.add_argument("trace", help="file of tutti run --trace")
    parser.add_argument("-o", "--output", default="timeline.png", help="picture to write (.png, .pdf, .svg)")
    parser.add_argument("--step", type=int, help="which step; default: the middle one of the trace")
    parser.add_argument("--title")
    parser.add_argument("--dpi", type=parse_dpi, default=160)
    options = parser.parse_args(argv)
    try:
        step = draw(options.trace, options.output, options.step, options.title, options.dpi)
    except (OSError, ValueError) as error:
        print(f"tutti.timeline: {told(error)}", file=sys.stderr)
        return 4 if isinstance(error, ValueError) else 5
    print(f"{options.output}: step {step} of {options.trace}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
