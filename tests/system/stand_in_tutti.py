#!/usr/bin/python3 -ES
"""Stands in for tutti on a machine with GPUs that is not there: takes the command lines of scripts/gpu-test.sh and leaves the
files that tutti would leave, at once. STAND_IN_RANKS: ranks; STAND_IN_BREAK: results folders of this name get another checksum."""

import json
import os
import sys

# It is started hundreds of times: without pathlib in three quarters of the time.
words = sys.argv[1:]


def write(text, *path):
    with open(os.path.join(*path), "w", encoding="utf-8") as file:
        file.write(text)


def option(name, default=None):
    return words[words.index(name) + 1] if name in words else default


settings = dict(words[i + 1].split("=", 1) for i, word in enumerate(words) if word == "--set")


def setting(key, default):
    return json.loads(settings.get(key, default))


def run():
    folder = option("-o") or option("--restart")
    os.makedirs(folder, exist_ok=True)
    exchange = "--no-exchange" not in words
    devices = option("--devices").split(",")
    blocks = setting("devices.limit_blocks", "0")
    gpus = [device for device in devices if device != "cpu"]
    # A GPU does 100 cells a second, or as many as it may run blocks; a CPU 10; the exchange of several GPUs takes a fifth.
    rate = len(gpus) * (blocks or 100) * (0.8 if exchange and len(gpus) > 1 else 1) + 10 * ("cpu" in devices)
    summary = {
        "cells": 6 * setting("mesh.cubes", "[20,20,20]")[0] ** 3, "steps": setting("time.steps", "1"), "ranks": int(os.environ.get("STAND_IN_RANKS", 1)),
        "overlap": setting("devices.overlap", '"full"'), "balance": {"weights": setting("balance.weights", '"measured"')},
        "parts": [{"device": device, "cells": 1} for device in devices], "cell_steps_per_second": rate,
        "checksum": "bad" if os.path.basename(folder) == os.environ.get("STAND_IN_BREAK") else "600d", "words": words}
    write(json.dumps(summary, indent=1), folder, "summary.json")
    write(
        f'[partition]\nmethod = {settings.get("partition.method", "0")}\n[devices]\ntransport = {settings.get("devices.transport", "0")}\n'
        f'limit_blocks = {blocks}\nexchange = {json.dumps(exchange)}\n', folder, "effective.toml")
    if "devices.gpu_memory" in settings:
        print("cuda:0 is full: it gets 1 % of the cells")
    if "profiles" in settings:
        for name in ("profiles.csv", "spectra.csv"):
            write("y,u\n", folder, name)


def devices():
    if "--measure" in words:
        print("cuda:0     a GPU\n           STREAM triad 4000.5 GB/s, launch 1 us\ncpu        a CPU\n           STREAM triad 100.0 GB/s")
        return
    row = {"device": "cuda:0", "peak_gb_per_second": None, "triad_gb_per_second": 4000.0, "cells_per_second": 2e10, "fraction_of_P": 1.0,
           "gflops": 1.0, "r_peak": 1.0, "r_stream": 1.0, "r_opt": 1.0}
    write(json.dumps({"devices": [row]}), option("--json"))


def bench_flow():
    side = int(option("--cells").split(",")[0])
    row = {"grid": [side] * 3, "solver": "jacobi", "overlap": "full", "precision": "float", "seconds_best": 1e-3, "cell_steps_per_second": side ** 3 * 1e3,
           "fraction_of_triad": 0.75, "sweeps": 20, "cell_sweeps_per_second": 3e11, "sweep_fraction_of_triad": 0.875, "gflops": 4321.0,
           "divergence": 1e-3}
    write(json.dumps({"results": [row]}), option("--json"))


def bench_transport():
    gpus = len(option("--devices").split(","))
    sizes = option("--size").split(",")
    rows = [{"nodes": int(option("--nodes")), "size": int(size), "operators": 1, "tracers": 1, "overlap": "full", "kernel": "auto", "seconds_best": 1e-3 / (0.9 * gpus if gpus > 1 else 1),
             "node_steps_per_second": 1e9, "fraction_of_triad": 0.93} for size in sizes]
    write(json.dumps({"results": rows}), option("--json"))


def bench_monodomain():
    row = {"reaction": "ten-tusscher-panfilov", "cells": int(option("--cells")), "seconds_best": 2e-3, "cell_steps_per_second": 2e9, "bytes_per_cell": 485.0,
           "fraction_of_triad": 0.25}
    write(json.dumps({"results": [row]}), option("--json"))


def bench():
    if words[1] == "incompressible":
        return bench_flow()
    if words[1] == "transport":
        return bench_transport()
    if words[1] == "monodomain":
        return bench_monodomain()
    row = {"format": "sliced", "layout": "auto", "precision": "double", "columns": "int10", "order": option("--orders", "hilbert"), "cells": 1000,
           "seconds_best": 1e-3, "cell_steps_per_second": 1e6, "fraction_of_P": 1.25}
    return write(json.dumps({"results": [row]}), option("--json"))


{"run": run, "devices": devices, "bench": bench}[words[0]]()
