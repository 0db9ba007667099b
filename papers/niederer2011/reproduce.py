#!/usr/bin/env python3
"""Activation times of the benchmark of Niederer et al. 2011, at some resolutions, as rows of a Markdown table.

    papers/niederer2011/reproduce.py                    # dx = 0.5 and 0.2 mm: minutes on four cores
    papers/niederer2011/reproduce.py 0.1 --devices cuda # 2.5 million cells
    papers/niederer2011/reproduce.py 0.5 --dt 0.01

Runs the program that TUTTI names (default: build/release/bin/tutti); results stay in the output folder.
"""

import argparse
import csv
import json
import os
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
SIZE = (20, 7, 3)


def run(program, dx, dt, end, devices, folder):
    """Activation times at P1 ... P9, and the summary."""
    cubes = [round(length / dx) for length in SIZE]
    words = ["run", HERE / "case.toml", "-o", folder, "--overwrite", "--set", f"mesh.cubes={cubes}", "--set",
             f"time.dt={dt}", "--set", f"time.end={end}"]
    subprocess.run([program, *map(str, words), *(["--devices", devices] if devices else [])], check=True,
                   stdout=subprocess.DEVNULL)
    last = list(csv.DictReader((folder / "probes.csv").open()))[-1]
    return ([float(last[f"P{k} activation"]) for k in range(1, 10)],
            json.loads((folder / "summary.json").read_text()))


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("dx", nargs="*", type=float, default=[0.5, 0.2], help="edges of the cubes [mm]")
    parser.add_argument("--dt", type=float, nargs="+", default=[0.05], help="time steps [ms]")
    parser.add_argument("--end", type=float, default=160, help="end [ms]")
    parser.add_argument("--devices", help="as of tutti run")
    parser.add_argument("-o", "--output", type=Path, default=Path("niederer2011"), help="folder of the results")
    arguments = parser.parse_args()
    program = os.environ.get("TUTTI", HERE.parents[1] / "build/release/bin/tutti")
    heads = ["dx [mm]", "dt [ms]", "cells", *(f"P{k}" for k in range(1, 10))]
    print(f"| {' | '.join(heads)} |\n|{' --- |' * len(heads)}")
    for dx in arguments.dx:
        for dt in arguments.dt:
            folder = arguments.output / f"dx{dx:g}-dt{dt:g}"
            folder.parent.mkdir(parents=True, exist_ok=True)
            times, summary = run(program, dx, dt, arguments.end, arguments.devices, folder)
            shown = ["-" if t < 0 else f"{t:.2f}" for t in times]
            print(f"| {dx:g} | {dt:g} | {summary['cells']:,} | {' | '.join(shown)} |", flush=True)


if __name__ == "__main__":
    try:
        main()
    except subprocess.CalledProcessError as error:
        sys.exit(error.returncode)
