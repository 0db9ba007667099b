#!/usr/bin/env python3
"""Makes report.json and report.md of what scripts/gpu-test.sh left in a folder; exit code 1 when something failed.

    scripts/gpu_report.py OUT
    scripts/gpu_report.py --sections     # their names, as scripts/gpu-test.sh takes them; --orders: of the rows of the heart

Sections that were run on their own can be copied together into one folder first. Python's standard library only.
"""

import json
import re
import sys
from pathlib import Path

ORDERS = ["native", "hilbert", "random", "metis_blocks", "rcm"]
SECTIONS = ["unit", "sanitizer", "matrix", "bench", "monodomain", "large", "scaling", "incompressible", "transport", "compressible", "graph", "smoothing",
            "residency", "orders"]
# Where `tutti bench MODEL` left its figures: the name in the report, the section. Diffusion's are those of each mesh.
BENCHES = {"monodomain": "monodomain", "flow": "incompressible", "transport": "transport"}

# What the benchmarks of kernels print, a line each: the name in the report, the log, the line.
LOGS = {
    "kernels": ("bench/kernels.log", r"(?P<name>.+?) +(?P<milliseconds>N) ms +(?P<bytes_a_row>N) B per row +(?P<of_triad>N) of the triad +(?P<of_P>N) of P"),
    "flow_kernels": ("incompressible/kernels.log", r"(?P<type>\w+) +(?P<side>N)\^3 +(?P<name>.+?) +(?P<milliseconds>N) ms +"
                     r"(?P<g_cells_per_second>N) G cells/s +(?P<of_triad>N) of the triad +(?P<gflops>N) GFLOPS *(?P<notes>.*)"),
    "stencil_kernels": ("transport/kernels.log",
                        r" *(?P<size>N) +(?P<operators>N) +(?P<tracers>N)  (?P<name>.+?) +(?P<milliseconds>N) ms +(?P<of_triad>N) of the triad"),
    "stencil_weights": ("transport/weights.log",
                        r"(?P<name>.+?) +\d+ stencils/s, (?P<seconds>N) s for (?P<stencils>N); with copies (?P<seconds_with_copies>N) s"),
}


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


def read_lines(text, line):
    """Every line of the log that is such a line, numbers as numbers."""
    def value(word):
        return int(word) if word.isdigit() else float(word) if re.fullmatch(r"[\d.]+", word) else word
    found = re.finditer(f"^{line.replace('>N)', '>[0-9.]+)')}$", text, re.MULTILINE)
    return [{key: value(word) for key, word in m.groupdict().items()} for m in found]


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


def compare_gpus(rows):
    """Of `tutti bench transport`: efficiency, beside the one GPU that has the same nodes and kernels."""
    def alike(row):
        return row["nodes"], row["size"], row["operators"], row["tracers"]
    alone = {alike(row): row["seconds_best"] for row in rows if row["run"].endswith("1 GPU")}
    for row in rows:
        gpus = re.match(r"(\d+) GPU$", row["run"])
        row["efficiency"] = quotient(alone.get(alike(row)), row["seconds_best"] * int(gpus[1])) if gpus else None


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
    for name, (file, line) in LOGS.items():
        report[name] = read_lines(read_text(out / file), line)
    best = min((row["milliseconds"] for row in report["kernels"] if row["name"].startswith("cuSPARSE")), default=None)
    for row in report["kernels"]:
        row["against_cusparse"] = quotient(best, row["milliseconds"])
    for mesh, files in (("box", ["bench/box"]), ("heart", ["bench/heart"]), ("orders", [f"orders/{order}" for order in ORDERS])):
        rows = [row for file in files for row in (read_json(out / f"{file}.json") or {}).get("results", [])]
        if rows:
            report["model"][mesh] = rows
    for name, section in BENCHES.items():
        files = sorted((out / section).glob("bench*.json"), key=lambda f: (len(f.name), f.name))
        report[name] = [{"run": file.stem.removeprefix("bench "), **row} for file in files for row in (read_json(file) or {}).get("results", [])]
    compare_gpus(report["transport"])
    for name in ("large", "scaling"):
        folders = sorted((path.parent for path in (out / name).glob("*/summary.json")), key=lambda f: f.stat().st_mtime)
        report["runs"] += filter(None, map(read_run, folders))
    compare_runs(report["runs"])
    return report


def table(head, rows):
    """Lines of a Markdown table; None is an empty cell."""
    lines = [head, ["---"] * len(head), *rows]
    return ["| " + " | ".join("" if cell is None else str(cell) for cell in line) + " |" for line in lines] + [""]


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


# Tables of figures: the title, what stands above it, and a column each: its head, the figure's name (or what makes a text of
# the row), its digits (without: as it is) and what it is multiplied with.
RATES = ("## Shares of the devices", "", [
    ("device", "device"), ("peak GB/s", "peak_gb_per_second", 0), ("triad GB/s", "triad_gb_per_second", 1), ("G cells/s", "cells_per_second", 3, 1e-9),
    ("of P", "fraction_of_P", 3), ("GFLOPS", "gflops", 1), ("r_peak", "r_peak", 4), ("r_stream", "r_stream", 4), ("r_opt", "r_opt", 4)])
MODEL = [("format", "format"), ("layout", "layout"), ("precision", "precision"), ("columns", "columns"), ("order", "order"),
         ("ms per step", "seconds_best", 4, 1e3), ("G cell-steps/s", "cell_steps_per_second", 3, 1e-9), ("of P", "fraction_of_P", 3)]
TABLES = {
    "kernels": ("## Kernels", "", [
        ("kernel", "name"), ("ms", "milliseconds", 4), ("B per row", "bytes_a_row", 1), ("of the triad", "of_triad", 3), ("of P", "of_P", 3),
        ("against the best of cuSPARSE", "against_cusparse", 2)]),
    "monodomain": ("## Cells that react", "", [
        ("reaction", "reaction"), ("cells", "cells", 0), ("ms per step", "seconds_best", 4, 1e3), ("M cell-steps/s", "cell_steps_per_second", 1, 1e-6),
        ("B per cell", "bytes_per_cell", 0), ("of the triad", "fraction_of_triad", 3)]),
    "flow": ("## Incompressible flow", "Of the triad: by the values that a step, and a sweep, must move; divergence: max|div u| h/U.", [
        ("run", "run"), ("cells", lambda r: "x".join(map(str, r["grid"]))), ("solver", "solver"), ("overlap", "overlap"), ("type", "precision"),
        ("ms per step", "seconds_best", 4, 1e3), ("G cell-steps/s", "cell_steps_per_second", 3, 1e-9), ("of the triad", "fraction_of_triad", 3),
        ("sweeps", "sweeps"), ("G cell-sweeps/s", "cell_sweeps_per_second", 2, 1e-9), ("sweep of the triad", "sweep_fraction_of_triad", 3),
        ("GFLOPS", "gflops", 1), ("divergence", lambda r: f"{r['divergence']:.1e}")]),
    "flow_kernels": ("## Kernels of the flow", "", [
        ("type", "type"), ("cells", lambda r: f"{r['side']}^3"), ("kernel", "name"), ("ms", "milliseconds", 4), ("G cells/s", "g_cells_per_second", 2),
        ("of the triad", "of_triad", 3), ("GFLOPS", "gflops", 1), ("notes", "notes")]),
    "transport": ("## Transport", "Of the triads of all GPUs: by the values that a step of RK4 must move.", [
        ("run", "run"), ("nodes", "nodes", 0), ("n", "size"), ("operators", "operators"), ("tracers", "tracers"), ("kernel", "kernel"),
        ("overlap", "overlap"), ("ms per step", "seconds_best", 4, 1e3), ("M node-steps/s", "node_steps_per_second", 1, 1e-6),
        ("of the triads", "fraction_of_triad", 3), ("efficiency", "efficiency", 3)]),
    "stencil_kernels": ("## Kernels of stencils", "", [
        ("n", "size"), ("operators", "operators"), ("tracers", "tracers"), ("kernel", "name"), ("ms", "milliseconds", 4), ("of the triad", "of_triad", 3)]),
    "stencil_weights": ("## Weights of stencils", "", [
        ("basis", "name"), ("stencils", "stencils", 0), ("s", "seconds", 3), ("s with copies", "seconds_with_copies", 3)]),
}
RUNS = [("cells", "cells", 0), ("GPUs", "gpus"), ("CPU", lambda r: "yes" if r["cpu"] else "no"),
        ("% of cells", lambda r: f"{100 * r['cpu_cells'] / r['cells']:.2f}"), ("ranks", "ranks"), ("transport", "transport"), ("partition", "partition"),
        ("weights", "weights"), ("blocks", lambda r: r["limit_blocks"] or None), ("exchange", lambda r: "yes" if r["exchange"] else "no"),
        ("G cell-steps/s", "cell_steps_per_second", 4, 1e-9), ("efficiency", "efficiency", 3), ("of free", "of_free", 3),
        ("with the CPU", "cpu_gain", 3), ("of the sum", "of_sum", 3)]


def cell(row, figure, digits=None, scale=1):
    value = figure(row) if callable(figure) else row.get(figure)
    return value if value is None or digits is None else f"{value * scale:,.{digits}f}"


def table_lines(rows, title, above, columns):
    """Nothing where there are no rows."""
    made = table([column[0] for column in columns], [[cell(row, *column[1:]) for column in columns] for row in rows])
    return [title, "", *([above, ""] if above else []), *made] if rows else []


def figure_lines(report):
    triads = [{"device": device, "triad": triad} for device, triad in report["triad_gb_per_second"].items()]
    lines = table_lines(triads, "## STREAM triad", "", [("device", "device"), ("GB/s", "triad", 1)])
    lines += table_lines((report["rates"] or {}).get("devices", []), *RATES) + table_lines(report["kernels"], *TABLES["kernels"])
    for mesh, results in report["model"].items():
        lines += table_lines(results, f"## Model: {mesh}, {results[0]['cells']:,} cells", "", MODEL)
    for name in list(TABLES)[1:]:
        lines += table_lines(report[name], *TABLES[name])
    for section, title in (("large", "## One GPU and the CPU"), ("scaling", "## Several GPUs")):
        above = ("Efficiency: of so many times one GPU. Of free: of the same without an exchange. "
                 "With the CPU: of the same without it. Of the sum: of the GPUs' and the CPU's own.")
        lines += table_lines([r for r in report["runs"] if r["section"] == section], title, above, RUNS)
    return lines


def main():
    if sys.argv[1:] in (["--sections"], ["--orders"]):
        print(*(SECTIONS if sys.argv[1] == "--sections" else ORDERS))
        return 0
    if len(sys.argv) != 2 or not Path(sys.argv[1]).is_dir():
        sys.exit("gpu_report.py: say scripts/gpu_report.py OUT, the folder of scripts/gpu-test.sh")
    out = Path(sys.argv[1])
    report = collect(out)
    seconds = sum(section["seconds"] or 0 for section in report["sections"].values())
    verdict = f"{report['passed']} checks passed, {report['failed']} failed, {report['left_out']} left out; {seconds} s"
    lines = ["# GPU tests", "", *(f"- {gpu}" for gpu in report["gpus"]), "", f"**{verdict}**", ""]
    lines += check_lines(report) + figure_lines(report)
    (out / "report.json").write_text(json.dumps(report, indent=1) + "\n", encoding="utf-8")
    (out / "report.md").write_text("\n".join(lines), encoding="utf-8")
    for check in report["checks"]:
        if check["result"] == "failed":
            print(f"failed  {check['section']}: {check['name']}: {check['detail']}")
    print(f"{verdict}: {out / 'report.md'}")
    return 1 if report["failed"] else 0


if __name__ == "__main__":
    sys.exit(main())
