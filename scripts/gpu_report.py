#!/usr/bin/env python3
"""Makes report.json and report.md of what scripts/gpu-test.sh left in a folder; exit code 1 when something failed.

    scripts/gpu_report.py OUT

Sections that were run on their own can be copied together into one folder first. Python's standard library only.
"""

import json
import re
import sys
from pathlib import Path

ORDERS = ["native", "hilbert", "random", "metis_blocks", "rcm"]
SECTIONS = ["unit", "sanitizer", "matrix", "bench", "large", "scaling", "incompressible", "transport", "orders"]


def read_json(path):
    """What the file holds; None where it is missing or broken."""
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None


def read_text(path):
    return path.read_text(encoding="utf-8", errors="replace") if path.is_file() else ""


def read_section(folder):
    """Its checks in the order they were made, and its seconds. A section without seconds was cut off: that is a failure."""
    checks = []
    for line in read_text(folder / "checks.tsv").splitlines():
        result, name, detail = line.split("\t")
        checks.append({"section": folder.name, "name": name, "result": result, "detail": detail})
    seconds = read_text(folder / "seconds").strip()
    if not seconds:
        checks.append({"section": folder.name, "name": "all of the section", "result": "failed", "detail": "cut off before its end"})
    elif not checks:
        checks.append({"section": folder.name, "name": "all of the section", "result": "failed", "detail": "nothing was checked"})
    return checks, int(seconds) if seconds else None


def read_kernels(text):
    """The lines of bench_diffusion_gpu, and the triad that stands above them."""
    line = r"^(.+?) +([\d.]+) ms +([\d.]+) B a row +([\d.]+) of the triad +([\d.]+) of P$"
    rows = [{"name": m[1], "milliseconds": float(m[2]), "bytes_a_row": float(m[3]), "of_triad": float(m[4]), "of_P": float(m[5])}
            for m in re.finditer(line, text, re.MULTILINE)]
    best = min((row["milliseconds"] for row in rows if row["name"].startswith("cuSPARSE")), default=None)
    for row in rows:
        row["against_cusparse"] = best / row["milliseconds"] if best and row["milliseconds"] else None
    return rows


def read_flow_kernels(text):
    """The lines of bench_flow_kernels."""
    line = r"^(\w+) +(\d+)\^3 +(.+?) +([\d.]+) ms +([\d.]+) G cells/s +([\d.]+) of the triad +([\d.]+) GFLOPS *(.*)$"
    return [{"type": m[1], "side": int(m[2]), "name": m[3], "milliseconds": float(m[4]), "g_cells_per_second": float(m[5]),
             "of_triad": float(m[6]), "gflops": float(m[7]), "notes": m[8]} for m in re.finditer(line, text, re.MULTILINE)]


def read_stencil_kernels(text):
    """The lines of bench_stencil_kernels."""
    line = r"^ *(\d+) +(\d+) +(\d+)  (.+?) +([\d.]+) ms +([\d.]+) of the triad$"
    return [{"size": int(m[1]), "operators": int(m[2]), "tracers": int(m[3]), "name": m[4], "milliseconds": float(m[5]), "of_triad": float(m[6])}
            for m in re.finditer(line, text, re.MULTILINE)]


def read_weights(text):
    """The lines of bench_stencil_weights that are of the GPU."""
    line = r"^(.+?) +(\d+) stencils/s, ([\d.]+) s for (\d+); with copies ([\d.]+) s$"
    return [{"name": m[1], "stencils": int(m[4]), "seconds": float(m[3]), "seconds_with_copies": float(m[5])}
            for m in re.finditer(line, text, re.MULTILINE)]


def read_triads(text):
    """GB/s by device, of `tutti devices --measure`."""
    return {m[1]: float(m[2]) for m in re.finditer(r"^(\S+) .*\n +STREAM triad ([\d.]+) GB/s", text, re.MULTILINE)}


def case_value(text, table, key):
    """A number, text or boolean of a case file that tutti wrote; Python before 3.11 cannot read TOML."""
    found = re.search(rf"^\[{table}\]\n(?:[^\[\n].*\n)*?{key} = (.+)$", text, re.MULTILINE)
    return json.loads(found[1]) if found else None


def read_run(folder):
    """What one timed run was and how fast; None where it left no results."""
    summary = read_json(folder / "summary.json")
    if summary is None:
        return None
    case = read_text(folder / "effective.toml")
    devices = [part["device"] for part in summary["parts"]]
    return {
        "section": folder.parent.name,
        "name": folder.name,
        "cells": summary["cells"],
        "steps": summary["steps"],
        "gpus": sum(device != "cpu" for device in devices),
        "cpu": "cpu" in devices,
        "cpu_cells": sum(part["cells"] for part in summary["parts"] if part["device"] == "cpu"),
        "ranks": summary["ranks"],
        "overlap": summary["overlap"],
        "transport": case_value(case, "devices", "transport"),
        "partition": case_value(case, "partition", "method"),
        "limit_blocks": case_value(case, "devices", "limit_blocks"),
        "exchange": case_value(case, "devices", "exchange"),
        "weights": summary["balance"]["weights"],
        "checksum": summary["checksum"],
        "cell_steps_per_second": summary["cell_steps_per_second"],
    }


def rate_of(runs, **wanted):
    """Cell-steps a second of the first run with these properties."""
    return next((run["cell_steps_per_second"] for run in runs if all(run[key] == value for key, value in wanted.items())), None)


def quotient(a, b):
    return a / b if a and b else None


def compare_runs(runs):
    """Each run beside the one GPU that has the same cells: efficiency; beside itself without an exchange: of_free; beside
    the same GPUs without the CPU: cpu_gain; beside the sum of these and the CPU alone: of_sum."""
    for run in runs:
        rate = run["cell_steps_per_second"]
        same = {key: run[key] for key in ("section", "cells", "limit_blocks")}
        alone = rate_of(runs, **same, gpus=1, cpu=False, exchange=True)
        run["efficiency"] = quotient(rate, alone * run["gpus"] if alone else None) if run["gpus"] else None
        alone, cpu = rate_of(runs, **same, gpus=run["gpus"], cpu=False, exchange=True), rate_of(
            runs, section=run["section"], cells=run["cells"], gpus=0)
        run["of_sum"] = quotient(rate, alone + cpu) if alone and cpu and run["cpu"] else None
        same.update({key: run[key] for key in ("gpus", "cpu", "ranks", "transport", "partition", "weights")})
        run["of_free"] = quotient(rate, rate_of(runs, **same, exchange=False)) if run["exchange"] else None
        same.update(cpu=False, exchange=run["exchange"])
        del same["weights"]
        run["cpu_gain"] = quotient(rate, rate_of(runs, **same)) if run["cpu"] else None


def collect(out):
    """All figures of the folder as one dictionary."""
    report = {"gpus": read_text(out / "gpus.txt").splitlines(), "sections": {}, "checks": [], "model": {}, "runs": []}
    for name in SECTIONS:
        if (out / name).is_dir():
            checks, seconds = read_section(out / name)
            report["sections"][name] = {"seconds": seconds}
            report["checks"] += checks
    for result in ("passed", "failed", "left-out"):
        report[result.replace("-", "_")] = sum(check["result"] == result for check in report["checks"])
    report["triad_gb_per_second"] = read_triads(read_text(out / "bench" / "devices.log"))
    report["rates"] = read_json(out / "bench" / "rates.json")
    report["kernels"] = read_kernels(read_text(out / "bench" / "kernels.log"))
    for mesh, files in (("box", ["bench/box"]), ("heart", ["bench/heart"]), ("orders", [f"orders/{order}" for order in ORDERS])):
        rows = [row for file in files for row in (read_json(out / f"{file}.json") or {}).get("results", [])]
        if rows:
            report["model"][mesh] = rows
    for name, section in (("flow", "incompressible"), ("transport", "transport")):
        files = sorted((out / section).glob("bench*.json"), key=lambda f: (len(f.name), f.name))
        report[name] = [{"run": file.stem.removeprefix("bench "), **row} for file in files for row in (read_json(file) or {}).get("results", [])]
    report["stencil_kernels"] = read_stencil_kernels(read_text(out / "transport" / "kernels.log"))
    report["stencil_weights"] = read_weights(read_text(out / "transport" / "weights.log"))
    report["flow_kernels"] = read_flow_kernels(read_text(out / "incompressible" / "kernels.log"))
    for name in ("large", "scaling"):
        folders = sorted((path.parent for path in (out / name).glob("*/summary.json")), key=lambda f: f.stat().st_mtime)
        report["runs"] += filter(None, map(read_run, folders))
    compare_runs(report["runs"])
    return report


def table(head, rows):
    """Lines of a Markdown table; None is an empty cell."""
    lines = [head, ["---"] * len(head), *rows]
    return ["| " + " | ".join("" if cell is None else str(cell) for cell in line) + " |" for line in lines] + [""]


def fixed(value, digits):
    return None if value is None else f"{value:,.{digits}f}"


def check_lines(report):
    sections = []
    for name, section in report["sections"].items():
        results = [check["result"] for check in report["checks"] if check["section"] == name]
        sections.append([name, *(results.count(r) for r in ("passed", "failed", "left-out")), section["seconds"]])
    lines = ["## Checks", "", *table(["section", "passed", "failed", "left out", "seconds"], sections)]
    for result in ("failed", "left-out", "passed"):
        chosen = [[c["section"], c["name"], c["detail"]] for c in report["checks"] if c["result"] == result]
        if chosen:
            lines += [f"### {result.replace('-', ' ').capitalize()}", "", *table(["section", "check", ""], chosen)]
    return lines


def bench_lines(report):
    lines = []
    if report["triad_gb_per_second"]:
        lines += ["## STREAM triad", "", *table(["device", "GB/s"], [[d, fixed(t, 1)] for d, t in report["triad_gb_per_second"].items()])]
    if report["rates"]:
        rows = [[d["device"], fixed(d["peak_gb_per_second"], 0), fixed(d["triad_gb_per_second"], 1), fixed(d["cells_per_second"] / 1e9, 3),
                 fixed(d["fraction_of_P"], 3), fixed(d["gflops"], 1), *(fixed(d[r], 4) for r in ("r_peak", "r_stream", "r_opt"))]
                for d in report["rates"]["devices"]]
        lines += ["## Shares of the devices", "", *table(["device", "peak GB/s", "triad GB/s", "G cells/s", "of P", "GFLOPS", "r_peak",
                                                          "r_stream", "r_opt"], rows)]
    if report["kernels"]:
        rows = [[k["name"], fixed(k["milliseconds"], 4), fixed(k["bytes_a_row"], 1), fixed(k["of_triad"], 3), fixed(k["of_P"], 3),
                 fixed(k["against_cusparse"], 2)] for k in report["kernels"]]
        lines += ["## Kernels", "", *table(["kernel", "ms", "B a row", "of the triad", "of P", "against the best of cuSPARSE"], rows)]
    for mesh, results in report["model"].items():
        rows = [[r["format"], r["layout"], r["precision"], r["columns"], r["order"], fixed(r["seconds_best"] * 1e3, 4),
                 fixed(r["cell_steps_per_second"] / 1e9, 3), fixed(r["fraction_of_P"], 3)] for r in results]
        lines += [f"## Model: {mesh}, {results[0]['cells']:,} cells", "",
                  *table(["format", "layout", "precision", "columns", "order", "ms a step", "G cell-steps/s", "of P"], rows)]
    return lines


def flow_lines(report):
    lines = []
    if report["flow"]:
        rows = [[r["run"], "x".join(map(str, r["grid"])), r["solver"], r["overlap"], r["precision"], fixed(r["seconds_best"] * 1e3, 4),
                 fixed(r["cell_steps_per_second"] / 1e9, 3), fixed(r["fraction_of_triad"], 3), r.get("sweeps"),
                 fixed(quotient(r.get("cell_sweeps_per_second"), 1e9), 2), fixed(r.get("sweep_fraction_of_triad"), 3),
                 fixed(r.get("gflops"), 1), f"{r['divergence']:.1e}"] for r in report["flow"]]
        lines += ["## Incompressible flow", "", "Of the triad: by the values that a step, and a sweep, must move; divergence: max|div u| h/U.", "",
                  *table(["run", "cells", "solver", "overlap", "type", "ms a step", "G cell-steps/s", "of the triad", "sweeps", "G cell-sweeps/s",
                          "sweep of the triad", "GFLOPS", "divergence"], rows)]
    if report["flow_kernels"]:
        rows = [[k["type"], f"{k['side']}^3", k["name"], fixed(k["milliseconds"], 4), fixed(k["g_cells_per_second"], 2),
                 fixed(k["of_triad"], 3), fixed(k["gflops"], 1), k["notes"]] for k in report["flow_kernels"]]
        head = ["type", "cells", "kernel", "ms", "G cells/s", "of the triad", "GFLOPS", "notes"]
        lines += ["## Kernels of the flow", "", *table(head, rows)]
    return lines


def transport_lines(report):
    lines = []
    if report["transport"]:
        alone = {(r["nodes"], r["size"], r["operators"], r["tracers"]): r["seconds_best"] for r in report["transport"] if r["run"].endswith("1 GPU")}
        rows = []
        for r in report["transport"]:
            one, gpus = alone.get((r["nodes"], r["size"], r["operators"], r["tracers"])), re.match(r"(\d+) GPU$", r["run"])
            rows.append([r["run"], f"{r['nodes']:,}", r["size"], r["operators"], r["tracers"], r["kernel"], r["overlap"], fixed(r["seconds_best"] * 1e3, 4),
                         fixed(r["node_steps_per_second"] / 1e6, 1), fixed(r["fraction_of_triad"], 3),
                         fixed(quotient(one, r["seconds_best"] * int(gpus[1])), 3) if gpus else None])
        lines += ["## Transport", "", "Of the triads of all GPUs: by the values that a step of RK4 must move.", "",
                  *table(["run", "nodes", "n", "operators", "tracers", "kernel", "overlap", "ms a step", "M node-steps/s", "of the triads", "efficiency"], rows)]
    if report["stencil_kernels"]:
        rows = [[k["size"], k["operators"], k["tracers"], k["name"], fixed(k["milliseconds"], 4), fixed(k["of_triad"], 3)] for k in report["stencil_kernels"]]
        lines += ["## Kernels of stencils", "", *table(["n", "operators", "tracers", "kernel", "ms", "of the triad"], rows)]
    if report["stencil_weights"]:
        rows = [[w["name"], f"{w['stencils']:,}", fixed(w["seconds"], 3), fixed(w["seconds_with_copies"], 3)] for w in report["stencil_weights"]]
        lines += ["## Weights of stencils", "", *table(["basis", "stencils", "s", "s with copies"], rows)]
    return lines


def run_lines(report):
    lines = []
    for section, title in (("large", "## One GPU and the CPU"), ("scaling", "## Several GPUs")):
        rows = [[f"{r['cells']:,}", r["gpus"], "yes" if r["cpu"] else "no", fixed(100 * r["cpu_cells"] / r["cells"], 2), r["ranks"],
                 r["transport"], r["partition"], r["weights"], r["limit_blocks"] or None, "yes" if r["exchange"] else "no",
                 fixed(r["cell_steps_per_second"] / 1e9, 4), fixed(r["efficiency"], 3), fixed(r["of_free"], 3), fixed(r["cpu_gain"], 3),
                 fixed(r["of_sum"], 3)]
                for r in report["runs"] if r["section"] == section]
        if rows:
            lines += [title, "", "Efficiency: of so many times one GPU. Of free: of the same without an exchange. "
                      "With the CPU: of the same without it. Of the sum: of the GPUs' and the CPU's own.", "",
                      *table(["cells", "GPUs", "CPU", "% of cells", "ranks", "transport", "partition", "weights", "blocks", "exchange",
                              "G cell-steps/s", "efficiency", "of free", "with the CPU", "of the sum"], rows)]
    return lines


def main():
    if len(sys.argv) != 2 or not Path(sys.argv[1]).is_dir():
        sys.exit("gpu_report.py: say scripts/gpu_report.py OUT, the folder of scripts/gpu-test.sh")
    out = Path(sys.argv[1])
    report = collect(out)
    seconds = sum(section["seconds"] or 0 for section in report["sections"].values())
    verdict = f"{report['passed']} checks passed, {report['failed']} failed, {report['left_out']} left out; {seconds} s"
    lines = ["# GPU tests", "", *(f"- {gpu}" for gpu in report["gpus"]), "", f"**{verdict}**", ""]
    lines += check_lines(report) + bench_lines(report) + flow_lines(report) + transport_lines(report) + run_lines(report)
    (out / "report.json").write_text(json.dumps(report, indent=1) + "\n", encoding="utf-8")
    (out / "report.md").write_text("\n".join(lines), encoding="utf-8")
    for check in report["checks"]:
        if check["result"] == "failed":
            print(f"failed  {check['section']}: {check['name']}: {check['detail']}")
    print(f"{verdict}: {out / 'report.md'}")
    return 1 if report["failed"] else 0


if __name__ == "__main__":
    sys.exit(main())
