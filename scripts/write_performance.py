#!/usr/bin/env python3
"""Writes docs/performance.md and its charts, docs/images/performance-*.svg, from docs/performance.json.

usage: scripts/write_performance.py [--check]
  --check  write nothing; fail where the page or a chart is not what the JSON says (a test does this; needs no matplotlib)

A row of the JSON has "model", "link" (to the notebook), "problem", "value" with "unit", "on" (one of the section's "machines"), and
where there are any "limit" ("share" of what), "peer" ("name" with the "ratio", or with its own "value" and "unit"), "date",
"command", and "headline": true for the first table. A value or ratio is a number, a list of them, {"from": a, "to": b}, or words.
"""
import argparse
import difflib
import hashlib
import json
import sys
from decimal import Decimal
from pathlib import Path

DOCS = Path(__file__).resolve().parent.parent / "docs"
PAGE, DATA = DOCS / "performance.md", DOCS / "performance.json"
BLUE, ORANGE, GREY, INK = "#0072b2", "#d55e00", "#6f6f6f", "#222222"  # told apart by the colour-blind, too
LIMITS = {"the triad": BLUE, "P": ORANGE}
NEEDED, ALLOWED = {"model", "link", "problem", "value", "on"}, {"unit", "limit", "peer", "date", "command", "headline"}


def shown(value):
    """A value with the digits that the JSON has."""
    if isinstance(value, dict):
        return f"{value['from']} to {value['to']}"
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)


def numbers(value):
    values = value.values() if isinstance(value, dict) else value if isinstance(value, list) else [value]
    return [float(one) for one in values]


def ratio(row):
    """How many times as fast as the peer; from both figures where the row has no ratio of its own, in two digits."""
    peer = row["peer"]
    if "ratio" in peer:
        return peer["ratio"]
    rate = row["unit"].endswith(("/s", "TEPS"))  # else a time
    times = [ours / theirs if rate else theirs / ours for ours, theirs in zip(numbers(row["value"]), numbers(peer["value"]))]
    return [Decimal(f"{one:#.2g}".rstrip(".") if one < 99.5 else f"{one:.0f}") for one in times]


def peer_text(row):
    if not (peer := row.get("peer")):
        return ""
    own = f" ({shown(peer['value'])} {peer['unit']})" if "value" in peer else ""
    return f"{shown(ratio(row))} times {peer['name']}{own}"


def table(rows):
    """A Markdown table; the name of a model stands in the first of its rows, columns without entries are left out."""
    heads, lines, last = ["model", "problem", "on", "figure", "limit", "peer"], [], None
    for row in rows:
        model, last = "" if row["model"] == last else f"[{row['model']}]({row['link']})", row["model"]
        limit = f"{shown(row['limit']['share'])} of {row['limit']['of']}" if "limit" in row else ""
        figure = f"{shown(row['value'])} {row.get('unit', '')}".strip()
        lines.append([model, row["problem"], row["on"], figure, limit, peer_text(row)])
    kept = [at for at in range(len(heads)) if any(line[at] for line in lines)]
    return ["".join(f"| {line[at]} " if line[at] else "| " for at in kept) + "|" for line in [heads, ["---"] * len(heads), *lines]]


def conditions(section):
    """A line a machine: what it is, and from when to when its figures were measured."""
    lines = []
    for name, words in section["machines"].items():
        days = sorted({row["date"] for row in section["rows"] if row["on"] == name and "date" in row})
        when = f", {days[0]}" + (f" to {days[-1]}" if days[1:] else "") if days else ""
        lines.append(f"- {name}{when}: {words}")
    return lines


def complain(data):
    """A line a row that lacks something, has an unknown key (a typing error), or was measured on a machine that is not described."""
    for section in data["sections"]:
        for row in section["rows"]:
            wrong = [f"no {key}" for key in sorted(NEEDED - set(row))] + [f"unknown key {key}" for key in sorted(set(row) - NEEDED - ALLOWED)]
            if row.get("on") not in section["machines"]:
                wrong.append(f"{row.get('on')} is not among the machines")
            if wrong:
                yield f"docs/performance.json: {section['title']}, {row.get('model')}, {row.get('problem')}: {', '.join(wrong)}"


def page(data):
    first = [row for section in data["sections"] for row in section["rows"] if row.get("headline")]
    text = ["# Performance", "", "<!-- Written by scripts/write_performance.py from performance.json: change that. -->", "", data["intro"], "",
            "## In short", "", *table(first), "",
            "![Times as fast as other programs](images/performance-peers.svg)", "",
            "![Shares of the physical limits](images/performance-limits.svg)", ""]
    for section in data["sections"]:
        text += [f"## {section['title']}", "", *([section["text"], ""] if "text" in section else [])]
        text += [*conditions(section), "", *table(section["rows"]), ""]
        commands = dict.fromkeys(row["command"] for row in section["rows"] if "command" in row)
        text += [*(f"    {command}" for command in commands), ""]
        text += [section["after"], ""] if "after" in section else []
    return "\n".join(text[:-1]) + "\n"


def bars(data, key):
    """The rows with a `key` ("limit" or "peer") a section: name, numbers, words beside the bar, what is compared with."""
    panels = []
    for section in data["sections"]:
        made = [[f"{row['model']}, {row['on']}\n{row['problem']}",
                 numbers(row["limit"]["share"] if key == "limit" else ratio(row)),
                 f"{shown(row['limit']['share'])} of {row['limit']['of']}".replace(" of the triad", "") if key == "limit" else peer_text(row).split(" (")[0],
                 row["limit"]["of"] if key == "limit" else ""] for row in section["rows"] if key in row]
        panels += [[section["title"], made]] if made else []
    return panels


def chart(panels, key, file, mark):
    try:
        import matplotlib
    except ImportError:
        sys.exit("write_performance.py: the charts need matplotlib; pip install matplotlib")
    matplotlib.use("Agg")
    import matplotlib.pyplot as plt
    plt.rcParams.update({"font.size": 8, "svg.hashsalt": "tutti", "text.color": INK, "axes.labelcolor": INK})
    heights = [len(made) + 0.2 for _, made in panels]
    everything = [value for _, made in panels for _, values, *_ in made for value in values]
    figure, grid = plt.subplots(len(panels), 1, squeeze=False, sharex=True, figsize=(8, 0.36 * sum(heights) + 0.3 * len(panels) + 0.6),
                                gridspec_kw={"height_ratios": heights}, layout="constrained")
    for axes, (title, made) in zip(grid[:, 0], panels):
        for place, (_, values, words, limit) in enumerate(made):
            thick, start = 0.68 / len(values), 0 if key == "limit" else 1
            for at, value in enumerate(values):
                colour = LIMITS.get(limit, GREY) if key == "limit" else BLUE if value >= 1 else ORANGE
                axes.barh(place - 0.34 + thick * (at + 0.5), value - start, 0.88 * thick, start, color=colour, zorder=2)
            inside = key == "limit" and len(values) == 1  # beside bars that are too thin for words
            where, ink = (0, "white") if inside else (max(values) if key == "limit" else max(1, *values), INK)
            axes.annotate(words, (where, place), (4, 0), textcoords="offset points", va="center", color=ink, zorder=4,
                          bbox=None if inside else {"facecolor": "white", "edgecolor": "none", "pad": 0.5})
        axes.set_yticks(range(len(made)), [name for name, *_ in made])
        axes.set_ylim(len(made) - 0.5, -0.5)  # the first row on top
        axes.axvline(1, color=INK, linewidth=1.2, zorder=3)
        axes.set_title(title, loc="left", fontsize=9, fontweight="bold")
        axes.grid(axis="x", color="#dddddd", linewidth=0.6, zorder=0)
        axes.tick_params(axis="y", length=0, pad=5)
        axes.spines[["top", "right", "left"]].set_visible(False)
    if key == "peer":
        axes.set_xscale("log")
        axes.set_xlim(0.8 * min([0.5, *everything]), 150 * max([2, *everything]))
        ticks = [f"{tick * 10.0**power:g}" for power in (-2, -1, 0, 1, 2) for tick in (1, 2, 5)]
        ticks = [tick for tick in ticks if axes.get_xlim()[0] < float(tick) < axes.get_xlim()[1]]
        axes.set_xticks([float(tick) for tick in ticks], ticks)
        axes.minorticks_off()
        figure.supxlabel("times as fast as the peer, on a logarithmic axis (blue: tutti is faster; orange: the peer is)", fontsize=8)
    else:
        axes.set_xlim(0, 1.1 * max([1, *everything]))
        figure.supxlabel("share of the triad, the line at 1, or of the limit named (P: the bound of a format with more bytes)", fontsize=8)
    figure.savefig(file, facecolor="white", metadata={"Date": None, "Description": mark})


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true")
    check = parser.parse_args().check
    data = json.loads(DATA.read_text(), parse_float=Decimal)
    if wrong := list(complain(data)):
        sys.exit("\n".join(wrong))
    text, before, old = page(data), PAGE.read_text() if PAGE.exists() else "", []
    if check and before != text:
        old.append(PAGE.name)
        sys.stdout.writelines(difflib.unified_diff(before.splitlines(True), text.splitlines(True), "docs/performance.md", "what the JSON says"))
    elif not check:
        PAGE.write_text(text)
    for key in ("limit", "peer"):
        panels, file = bars(data, key), DOCS / f"images/performance-{key}s.svg"
        mark = "made from " + hashlib.sha256(json.dumps(panels).encode()).hexdigest()  # lets --check tell an old chart
        if not check:
            chart(panels, key, file, mark)
        elif not file.exists() or mark not in file.read_text():
            old.append(file.name)
    if old:
        print(f"\nNot what docs/performance.json says: {', '.join(old)}. Run scripts/write_performance.py.")
    return 1 if old else 0


if __name__ == "__main__":
    sys.exit(main())
