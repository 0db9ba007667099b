#!/usr/bin/env python3
"""Section 3.3 (SSCA#2) of McGuiness 2011 on this machine: the runs behind its Figures 3.8 to 3.21, as tables.

    papers/mcguiness2011/graphs.py --devices cpu --counts 1 2 4                 # CPU cores
    papers/mcguiness2011/graphs.py --devices cuda --counts 1 2 4 8              # GPUs of one host
    papers/mcguiness2011/graphs.py --devices cpu --scales 10 11 --part-scales 8 --counts 1 2 --sources 64 -o try   # seconds

Runs the program that TUTTI names (default: build/release/bin/tutti). Everything goes to the output folder: graphs.md (the
tables), pictures where there is matplotlib, and runs.json; what stands there is not run again. --readme puts tables and pictures
at the end of the page.
"""

import argparse
import json
import math
import os
import shlex
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--devices", choices=["cpu", "cuda", "fake"], default="cpu")
    parser.add_argument("--counts", type=int, nargs="+", default=[1, 2, 4], help="cores or GPUs")
    parser.add_argument("--scales", type=int, nargs="+", default=[16, 17, 18, 19, 20, 21], help="of the full graph")
    parser.add_argument("--part-scales", type=int, nargs="*", default=[16, 18], help="of the distributed graph")
    parser.add_argument("--sources", type=int, default=1024, help="of kernel 4")
    parser.add_argument("--repeats", type=int, default=1, help="runs of each kind, of which the fastest stands")
    parser.add_argument("--mpirun", default=os.environ.get("TUTTI_MPIRUN", "mpirun --oversubscribe --bind-to none"))
    parser.add_argument("-o", "--output", default="results/mcguiness2011")
    parser.add_argument("--readme", action="store_true", help="put the report at the end of README.md (needs matplotlib)")
    return parser.parse_args()


class Runs:
    """One run a number of devices, scale and placement; kept in runs.json."""

    def __init__(self, options):
        self.options = options
        self.folder = Path(options.output)
        self.folder.mkdir(parents=True, exist_ok=True)
        self.file = self.folder / "runs.json"
        self.known = json.loads(self.file.read_text()) if self.file.exists() else {}

    def get(self, placement, scale, count):
        kind = self.options.devices
        key = f"{placement} {kind} {count} scale {scale} sources {self.options.sources}"
        if key not in self.known:
            out = self.folder / "run.json"
            program = os.environ.get("TUTTI", str(ROOT / "build/release/bin/tutti"))
            command = [program, "-q", "graph", "ssca2", "--scale", str(scale), "--sources", str(self.options.sources),
                       "--placement", placement, "--json", str(out)]
            if kind == "cuda":
                command += ["--devices", ",".join(f"cuda:{i}" for i in range(count))]
            elif placement == "copies":
                command += {"cpu": ["--devices", "cpu", "--threads", str(count)], "fake": ["--devices", f"fake:{count}"]}[kind]
            else:  # a rank a part, as the thesis has it
                command += ["--devices", {"cpu": "cpu", "fake": "fake:1"}[kind]]
                command += ["--threads", "1"] if kind == "cpu" else []
                command = [*shlex.split(self.options.mpirun), "-np", str(count), *command]
            found = []
            for _ in range(self.options.repeats):
                done = subprocess.run(command, capture_output=True, text=True, check=False)
                found.append(json.loads(out.read_text()) if done.returncode == 0 else {"error": done.stderr.strip()[-400:]})
            self.known[key] = min(found, key=lambda run: run.get("seconds", math.inf))
            self.known[key]["load"] = os.getloadavg()[0]
            self.file.write_text(json.dumps(self.known, indent=1) + "\n")
            print(f"{key}: {self.known[key].get('seconds', self.known[key].get('error'))}", flush=True)
        return self.known[key]


WORDS = {"cuda": "GPUs", "cpu": "cores", "fake": "fake devices"}


def counted(runs, count):
    return f"{count} {WORDS[runs.options.devices]}" if count != 1 else "1 " + WORDS[runs.options.devices][:-1]


def table(head, rows):
    return ["| " + " | ".join(head) + " |", "|" + " --- |" * len(head), *("| " + " | ".join(row) + " |" for row in rows), ""]


def shown(value, form="{:.4g}"):
    return "" if value is None else form.format(value)


def seconds(run, kernel):
    if "error" in run:
        return None
    return run["seconds"] if kernel == 4 else run[f"kernel{kernel}"]["seconds"]


def ratio(a, b):
    return a / b if a and b else None


def timings(runs, placement, scales, counts, figures):
    """Seconds of kernels 1, 3 and 4, and those of kernel 4 over the first count and over the first scale."""
    lines, head = [], ["scale", *(counted(runs, c) for c in counts)]
    for kernel in (1, 3, 4):
        lines += [f"**Kernel {kernel}** [s] ({figures[0]})", ""]
        lines += table(head, [[str(s), *(shown(seconds(runs.get(placement, s, c), kernel)) for c in counts)] for s in scales])
    k4 = {(s, c): seconds(runs.get(placement, s, c), 4) for s in scales for c in counts}
    lines += [f"**Kernel 4 over that of {counts[0]}**; halving is expected ({figures[1]})", ""]
    lines += table(head, [[str(s), *(shown(ratio(k4[s, c], k4[s, counts[0]]), "{:.3f}") for c in counts)] for s in scales])
    lines += [f"**Kernel 4 over that of scale {scales[0]}**; doubling is expected ({figures[2]})", ""]
    return lines + table(head, [[str(s), *(shown(ratio(k4[s, c], k4[scales[0], c]), "{:.2f}") for c in counts)] for s in scales])


def pictures(runs, placement, scales, counts, name):
    """Seconds of kernels 1, 3 and 4 over the devices, a curve a scale; and kernel 4 over the first count and the first scale."""
    try:
        sys.path.insert(0, str(ROOT / "papers"))
        from page import GREY, plt, save
    except ImportError:
        return []
    kind = WORDS[runs.options.devices]
    k4 = {(s, c): seconds(runs.get(placement, s, c), 4) for s in scales for c in counts}
    figure, axes = plt.subplots(1, 5, figsize=(22, 4), layout="constrained")
    for axis in axes[:4]:
        axis.set_xticks(counts)
    for axis, kernel in zip(axes, (1, 3, 4)):
        for s in scales:
            axis.plot(counts, [seconds(runs.get(placement, s, c), kernel) or math.nan for c in counts], "o-", label=f"scale {s}")
        axis.set(title=f"kernel {kernel}", xlabel=kind, ylabel="seconds", yscale="log")
    for s in scales:
        axes[3].plot(counts, [ratio(k4[s, c], k4[s, counts[0]]) or math.nan for c in counts], "o-", label=f"scale {s}")
    axes[3].plot(counts, [counts[0] / c for c in counts], "--", color=GREY, label="halving")
    axes[3].set(title=f"kernel 4 over that of {counted(runs, counts[0])}", xlabel=kind)
    for c in counts:
        axes[4].plot(scales, [ratio(k4[s, c], k4[scales[0], c]) or math.nan for s in scales], "o-", label=counted(runs, c))
    axes[4].plot(scales, [2 ** (s - scales[0]) for s in scales], "--", color=GREY, label="doubling")
    axes[4].set_xticks(scales)
    axes[4].set(title=f"kernel 4 over that of scale {scales[0]}", xlabel="scale", yscale="log")
    save(figure, runs.folder / name)
    return [f"`{name}`", ""]


def report(options):
    runs = Runs(options)
    lines = ["### Full graph: a copy a device", ""]
    lines += timings(runs, "copies", options.scales, options.counts, ("Figure 3.8", "Figure 3.9", "Figure 3.10"))
    lines += pictures(runs, "copies", options.scales, options.counts, "figure3_8.png")
    rows = []
    for s in options.scales:
        run = runs.get("copies", s, options.counts[-1])
        if "error" not in run:
            rows.append([str(s), *(f"{run[k] * 1e-9:.4g}" for k in ("teps", "edges_sources_per_second",
                                                                      "reached_edges_per_second", "teps_with_setup"))])
    lines += [f"**Kernel 4's rate** with {options.counts[-1]}, in 1e9 a second", ""]
    lines += table(["scale", "TEPS, 7 N sources / t", "edges x sources", "of them reached", "TEPS with its set-up"], rows)
    counts = [c for c in options.counts if c > 1]
    if options.part_scales and counts:
        where = "on GPUs of one rank" if options.devices == "cuda" else "a rank per part"
        lines += [f"### Distributed graph: vertices in parts, {where}", ""]
        lines += timings(runs, "parts", options.part_scales, counts,
                         ("Figures 3.11, 3.14", "Figures 3.12, 3.15", "Figures 3.13, 3.16"))
        lines += pictures(runs, "parts", options.part_scales, counts, "figure3_14.png")
        rows = []
        for s in options.part_scales:
            for c in counts:
                run = runs.get("parts", s, c)
                if "error" not in run:
                    k4 = run["kernel4"]
                    whole = seconds(runs.get("copies", s, c), 4) if s in options.scales else None
                    ranks = options.devices != "cuda"  # GPUs of a rank store what travels, while they sweep
                    rows.append([str(s), str(c), f"{100 * k4['exchange_seconds'] / run['seconds']:.0f} %" if ranks else "",
                                 f"{k4['bytes_sent'] / run['sources'] / run['vertices']:.3g}" if ranks else "",
                                 shown(ratio(whole, run["seconds"]), "{:.2f}")])
        lines += ["**What travels** (Figures 3.17 to 3.19)", ""]
        lines += table(["scale", "parts", "of kernel 4 in exchanges, with waiting", "bytes per vertex and source between ranks",
                        "rate over the full graph's"], rows)
    errors = {k: v["error"] for k, v in runs.known.items() if "error" in v}
    lines += [f"Not run, {k}: {text}" for k, text in errors.items()]
    loads = [run["load"] for run in runs.known.values() if "load" in run]
    if loads:
        lines += [f"The fastest of {options.repeats} runs each. {os.cpu_count()} cores, whose load was {min(loads):.0f} to {max(loads):.0f} at the end of each run (ours included)."]
    text = "\n".join(lines).rstrip() + "\n"
    (runs.folder / "graphs.md").write_text(text)
    if options.readme:
        sys.path.insert(0, str(ROOT / "papers"))
        from page import publish
        publish(Path(__file__).parent / "README.md", runs.folder, text)
    print(f"tables: {runs.folder / 'graphs.md'}")
    return 1 if errors else 0


if __name__ == "__main__":
    sys.exit(report(arguments()))
