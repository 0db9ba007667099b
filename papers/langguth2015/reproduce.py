#!/usr/bin/env python3
"""Table 1, Figures 3, 4 and 5 of Langguth 2015, and a projection to 1,024 nodes, on this machine.

    papers/langguth2015/reproduce.py                          # all GPUs and CPU cores of this machine
    papers/langguth2015/reproduce.py figure5 projection       # only these
    papers/langguth2015/reproduce.py --quick --devices fake:2,cpu -o try

Runs the program that TUTTI names (default: build/release/bin/tutti) and leaves tables, figures, and every number in the
output folder; what is in its runs.json is not run again. Needs matplotlib.
"""

import json
import math
import shutil
import sys
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent), str(HERE.parents[1] / "python")]

import paper  # noqa: E402
import report  # noqa: E402
import session  # noqa: E402
from session import Failed, device_counts, devices_of, listed  # noqa: E402

PARTS = ["table1", "figure3", "figure4", "figure5", "projection"]
PROJECTED_NODES = [1, 2, 4, 8, 16, 32, 64, 128, 1024]
FULL = 3  # exit code of a run whose mesh has no room

CASE = """# {cells} cells or so, as papers/langguth2015/reproduce.py runs them: explicit Euler, a full tensor, no output.
model = "diffusion"
[mesh]
{mesh}
[physics]
K = [["1", "0.3", "0"], ["0.3", "2", "0"], ["0", "0", "1"]]
initial = "exp(-((x-0.5)^2+(y-0.5)^2+(z-0.5)^2))"
[partition]
method = "{partition}"
[time]
method = "euler"
steps = 100
[numerics]
check = false
[balance]
rebalance = false
""" + session.NOTHING_WRITTEN


def mesh_of(kind, cells):
    """Keys of [mesh] for about so many cells."""
    if kind == "box":
        n = max(2, round((cells / 6) ** (1 / 3)))
        return f'generate = "box"\ncubes = [{n}, {n}, {n}]\njitter = 0.2'
    # gmsh makes a coarse heart, refinement (eight cells of one) the rest: h = 1.8 mm gives 113,444 cells.
    refine = max(0, math.ceil(math.log(cells / 250_000, 8)))
    h = 1.8 * (113_444 / (cells / 8**refine)) ** (1 / 3)
    return f'generate = "biventricle"\nh = {h:.4f}\nrefine = {refine}'


def partition_of(options, cells):
    """METIS takes minutes and much memory for 100 million cells; the Hilbert curve takes seconds."""
    return options.partition or ("metis" if cells < 2e7 else "hilbert")


class Runs(session.Runs):
    """Of a small and a large instance."""

    def __init__(self, options):
        super().__init__(options)
        self.sizes = {}
        for name, cells in (("small", options.small_cells), ("large", options.large_cells)):
            self.set_size(name, cells)

    def set_size(self, name, cells):
        self.sizes[name] = cells
        text = CASE.format(cells=cells, mesh=mesh_of(self.options.mesh, cells), partition=partition_of(self.options, cells))
        self.case(name).write_text(text)

    def case(self, instance):
        return self.folder / f"{instance}.toml"

    def run(self, instance, gpus, cpu, *, weights="measured", exchange=True, overlap="full", limit_blocks=0):
        """What one run measured, as a record. A large mesh that has no room is made smaller until it has."""
        while True:
            asked = dict(instance=instance, cells_asked=self.sizes[instance], mesh=self.options.mesh,
                         devices=devices_of(self.options, gpus, cpu), weights=weights, exchange=exchange, overlap=overlap,
                         limit_blocks=limit_blocks)
            try:
                return self.keep(asked, lambda: {"gpus": gpus, "cpu": cpu, **self.start(asked)})
            except Failed as error:
                if error.code != FULL or instance != "large" or self.sizes["large"] < 2 * self.sizes["small"]:
                    raise
            self.set_size("large", int(0.8 * self.sizes["large"]))
            print(f"  no room: trying {self.sizes['large']:,} cells")

    def start(self, asked):
        o = self.options
        slow = asked["devices"] == "cpu" or "fake" in asked["devices"] or asked["limit_blocks"]
        steps = max(10, o.steps // 20) if slow else o.steps
        words = ["--devices", asked["devices"], "--set", f"time.steps={steps}", "--set", f'balance.weights="{asked["weights"]}"',
                 "--set", f'devices.overlap="{asked["overlap"]}"']
        if not asked["exchange"]:
            words.append("--no-exchange")
        if asked["limit_blocks"]:
            words += ["--limit-blocks", asked["limit_blocks"]]
        print(f"  {asked['instance']}, {asked['devices']}, {asked['weights']}, overlap {asked['overlap']}"
              f"{'' if asked['exchange'] else ', no exchange'}"
              f"{', ' + str(asked['limit_blocks']) + ' blocks' if asked['limit_blocks'] else ''}", flush=True)
        summary = self.summary(self.case(asked["instance"]), *words)
        parts = summary["parts"]
        return {"cells": summary["cells"], "steps": summary["steps"], "rate": summary["cell_steps_per_second"],
                "milliseconds": 1e3 * summary["wall_seconds"] / summary["steps"],
                "cpu_cells": sum(p["cells"] for p in parts if p["device"] == "cpu"),
                "most_ghosts": max(p["ghosts"] for p in parts), "checksum": summary.get("checksum")}

    def rates(self, gpus, cpu, limit_blocks=0):
        """`tutti devices --model` of the small instance."""
        words = [*(["--limit-blocks", limit_blocks] if limit_blocks else []), *(["--seconds", 0.05] if self.options.quick else [])]
        return self.figures("devices", "--model", "diffusion", self.case("small"), "--devices", devices_of(self.options, gpus, cpu), *words)


def table1(runs):
    print("Table 1")
    found = runs.rates(len(runs.options.gpus), True)
    (runs.folder / "table1.json").write_text(json.dumps(found, indent=1) + "\n")
    (runs.folder / "table1.md").write_text(report.table1(found))


def figure3(runs):
    print("Figure 3")
    from tutti import timeline
    trace = runs.folder / "trace.json"
    # Weights by bandwidth, so that the CPU takes part.
    runs.summary(runs.case("small"), "--devices", devices_of(runs.options, len(runs.options.gpus), True), "--set", "time.steps=20",
                 "--set", 'balance.weights="stream"', "--trace", trace)
    timeline.draw(trace, runs.folder / "figure3.png")


def instances(options):
    return ["small"] if options.quick else ["small", "large"]


def figure4(runs):
    print("Figure 4")
    records = []
    for instance in instances(runs.options):
        records.append(runs.run(instance, 0, True))
        records += [runs.run(instance, k, False) for k in device_counts(len(runs.options.gpus))]
    report.plot_figure4(records, runs.folder / "figure4.png")
    return records


def slow_blocks(runs):
    """Thread blocks that make one GPU about as much faster than the CPU as the paper's K20 is, and both rates."""
    best = None
    for blocks in [2**k for k in range(1, 13)]:
        gpu, cpu = (d["cells_per_second"] for d in runs.rates(1, True, blocks)["devices"])
        off = abs(math.log(gpu / cpu / paper.GPU_OVER_CPU))
        if best and off > best[1]:
            break  # faster with every block: it only gets further off
        best = (blocks, off)
    return best[0]


def figure5(runs):
    print("Figure 5")
    options = runs.options
    records = []
    for instance in instances(options):
        for k in device_counts(len(options.gpus)):
            records += [runs.run(instance, k, False), runs.run(instance, k, False, exchange=False)]
            if instance not in options.beside_cpu:
                continue
            for weights in ("measured", "stream"):
                records += [runs.run(instance, k, True, weights=weights),
                            runs.run(instance, k, True, weights=weights, exchange=False)]
    for overlap in ("none", "messages"):
        records.append(runs.run("small", len(options.gpus), True, weights="stream", overlap=overlap))
    # One GPU made as slow as the paper's: there the CPU must count.
    blocks = options.limit_blocks
    if blocks is None:
        kept = runs.folder / "limit_blocks.json"
        if options.again or not kept.exists():
            kept.write_text(json.dumps(slow_blocks(runs)))
        blocks = json.loads(kept.read_text())
    if blocks:
        records.append(runs.run("small", 0, True))
        records.append(runs.run("small", 1, False, limit_blocks=blocks))
        for exchange in (True, False):
            records.append(runs.run("small", 1, True, limit_blocks=blocks, exchange=exchange))
    report.plot_figure5(records, runs.folder / "figure5.png")
    return records


def projection(runs, records):
    print("Projection")
    options = runs.options
    devices = options.rates
    if not devices:
        devices = runs.folder / "devices.json"  # measured once, all of them
        runs.figures("plan", runs.case("small"), "--nodes", 1, "--devices", devices_of(options, len(options.gpus), True), file=devices)
    node = json.loads(devices.read_text())["devices"]

    def plan(instance, chosen, nodes, file=None):
        rates = runs.folder / "rates.json"
        rates.write_text(json.dumps({"devices": chosen}))
        found = runs.figures("plan", runs.case(instance), "--nodes", listed(nodes), "--rates", rates, file=file)
        rates.unlink()
        return found

    # The paper's node: one GPU and the CPU.
    gpu, cpu = [d for d in node if d["accelerator"]], [d for d in node if not d["accelerator"]]
    nodes = [n for n in options.nodes if not options.quick or n <= 8]
    plans = {name: plan(name, gpu[:1] + cpu, nodes, runs.folder / f"projection_{name}.json") for name in instances(options)}
    # One node with so many GPUs: what was run here.
    checks = []
    for record in records if not options.rates else []:
        if not record["exchange"] or record["limit_blocks"] or record["weights"] != "measured" or record["gpus"] == 0:
            continue
        chosen = gpu[:record["gpus"]] + (cpu if record["cpu"] else [])
        projected = plan(record["instance"], chosen, [1])["nodes"][0]["cell_steps_per_second"]
        checks.append({"instance": record["instance"], "cells": record["cells"], "devices": record["devices"],
                       "measured": record["rate"], "projected": projected, "error": projected / record["rate"] - 1})
    (runs.folder / "checks.json").write_text(json.dumps(checks, indent=1) + "\n")
    report.plot_projection(plans, runs.folder / "projection.png")
    return plans, checks


def arguments(words):
    parser = session.parser_of("Langguth 2015", HERE.name, PARTS, "a box of 10,000 cells, few steps", "GPUs to scale over")
    parser.add_argument("--mesh", choices=["heart", "box"], help="default: heart where gmsh is installed, else box")
    parser.add_argument("--small-cells", type=int, metavar="N", help=f"default: {paper.SMALL_CELLS:,}")
    parser.add_argument("--large-cells", type=int, default=paper.LARGE_CELLS, metavar="N",
                        help="default: %(default)s; less where it has no room")
    parser.add_argument("--beside-cpu", choices=["small", "large", "both"], default="both",
                        help="instances of Figure 5 that run with the CPU, too (default: both)")
    parser.add_argument("--nodes", type=lambda text: [int(n) for n in text.split(",")], default=PROJECTED_NODES, metavar="N,...",
                        help="of the projection (default: 1 to 1,024)")
    parser.add_argument("--partition", help="default: metis, for 20 million cells or more hilbert")
    parser.add_argument("--steps", type=int, default=1000, metavar="N", help="of a run; a twentieth without fast devices")
    parser.add_argument("--limit-blocks", type=int, metavar="N",
                        help="thread blocks of the slowed GPU; 0: leave it out; default: as fast beside this CPU as the K20")
    parser.add_argument("--rates", type=Path, metavar="FILE", help="project with the devices of this file of tutti plan --json; nothing is checked")
    options = session.options_of(parser, words, PARTS)
    options.beside_cpu = ["small", "large"] if options.beside_cpu == "both" else [options.beside_cpu]
    if options.quick:
        options.mesh, options.steps = options.mesh or "box", min(options.steps, 200)
    options.small_cells = options.small_cells or (10_000 if options.quick else paper.SMALL_CELLS)
    options.mesh = options.mesh or ("heart" if shutil.which("gmsh") else "box")
    return options


def reproduce(options):
    options.gpus = session.find_gpus(options)
    if not options.gpus and set(options.parts) - {"projection"}:
        raise Failed(2, f"--devices {options.devices}: no GPU to compare with; fake:2,cpu shows how it works")
    runs = Runs(options)
    done = {"machine": session.machine(options), "mesh": options.mesh, "date": time.strftime("%Y-%m-%d")}
    for part in [part for part in PARTS if part in options.parts]:
        done[part] = projection(runs, done.get("figure5", [])) if part == "projection" else globals()[part](runs)
    return report.whole(runs.folder, done)


def main(words=None):
    options = arguments(words)
    return session.write_report(options, HERE / "README.md", lambda: reproduce(options))


if __name__ == "__main__":
    sys.exit(main())
