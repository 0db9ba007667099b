#!/usr/bin/env python3
"""Table 1 and Figures 1 to 4 of Choi 2019 on this machine.

    papers/choi2019/reproduce.py                          # all GPUs and CPU cores of this machine
    papers/choi2019/reproduce.py table1 figure4           # only these
    papers/choi2019/reproduce.py --quick --devices fake:2,cpu -o try

Runs the program that TUTTI names (default: build/release/bin/tutti) and leaves tables, figures, and every number in the
output folder; what is in its runs.json is not run again. Needs matplotlib.
"""

import json
import re
import sys
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent)]

import paper  # noqa: E402
import report  # noqa: E402
import session  # noqa: E402
from session import Failed, devices_of, faked  # noqa: E402

PARTS = ["table1", "figure1", "figure2", "figure3", "figure4"]
FULL = 3  # exit code of a run that has no room

CASE = """# A density wave in a periodic box of hexahedra, as papers/choi2019/reproduce.py runs it: inviscid, SSP-RK(5,4).
model = "compressible"
[mesh]
generate = "box"
element = "hex"
cubes = [{n}, {n}, {n}]
periodic = true
jitter = {jitter}
[physics.initial]
rho = "1 + 0.2*sin(2*pi*x)*sin(2*pi*y)*sin(2*pi*z)"
velocity = [0.5, 0.5, 0.5]
p = 1
[numerics]
order = {order}
form = "{form}"
flux = "llf"
[time]
method = "ssp-rk54"
dt = 1e-4
steps = {steps}
[balance]
rebalance = false
""" + session.NOTHING_WRITTEN


class Runs(session.Runs):
    def case(self, n, jitter=0.0, form="stored", order=None, steps=1):
        path = self.folder / "case.toml"
        path.write_text(CASE.format(n=n, jitter=jitter, form=form, order=self.options.order if order is None else order, steps=steps))
        return path

    def plan(self, n, devices, *words, **more):
        """Bytes of the only part, but for what kernels' libraries take."""
        said = self.tell("-v", "plan", self.case(n, **more), "--devices", devices, "--set", 'balance.weights="equal"', *words)
        return int(re.search(r"memory: part 0 takes (\d+) bytes", said)[1])

    def run(self, n, devices, *, weight=None, jitter=0.0, form="stored", cap=None, threads=0, **residency):
        """What one run measured, as a record; `refused` where there is no room."""
        o = self.options
        asked = dict(n=n, order=o.order, steps=o.steps, devices=devices, weight=weight, jitter=jitter, form=form, cap=cap, threads=threads,
                     residency=residency)

        def make():
            print(f"  n = {n}, {devices}{f', weight {weight}' if weight is not None else ''}{f', {residency}' if residency else ''}"
                  f"{f', {cap} bytes' if cap else ''}", flush=True)
            words = ["--devices", devices]
            if isinstance(weight, float):
                words += ["--set", f"balance.weights=[{weight}, {1 - weight}]"]
            elif weight is None:
                words += ["--set", 'balance.weights="equal"']
            if cap:
                words += ["--fake-memory", cap] if faked(o) else ["--set", f"devices.gpu_memory={cap}"]
            if threads:
                words += ["--threads", threads]
            for key, value in residency.items():
                words += ["--set", f"residency.{key}={json.dumps(value)}"]
            try:
                summary = self.summary(self.case(n, jitter, form, steps=o.steps), *words)
            except Failed as error:
                if error.code != FULL:
                    raise
                return {"refused": str(error)}
            parts = summary["parts"]
            held = parts[0].get("residency", {})
            arrays = [held, *held.get("others", [])] if held else []
            return {"seconds": summary["wall_seconds"] / o.steps * paper.ITERATIONS, "elements": summary["cells"],
                    "share": parts[0]["cells"] / summary["cells"], "free_stream": summary["free_stream_error"],
                    "loss": max((array["loss"] for array in arrays), default=0),
                    "device_bytes": sum(array["device_bytes"] for array in arrays) if held else None,
                    "chosen": f"{held['policy']} {held['format']}" if held else "all resident"}

        return self.keep(asked, make)


def table1(runs):
    print("Table 1")
    n, rows = 4, []
    for order in (1, 2, 3, 4, 6) if not runs.options.quick else (1, 2):
        rows.append({"order": order, "bytes": runs.plan(n, "cpu", order=order) / n**3,
                     "shared": runs.plan(n, "cpu", order=order, form="auto") / n**3})
    return rows


def figure1(runs):
    print("Figure 1")
    o = runs.options
    records = []
    for n in o.sizes:
        records += [runs.run(n, "cpu", threads=1), runs.run(n, "cpu")]
        if o.gpus:
            records.append(runs.run(n, devices_of(o, 1)))
    report.plot_sizes(records, runs.folder / "figure1.png")
    return records


def figure2(runs):
    print("Figure 2")
    o = runs.options
    records = []
    for n in o.hybrid:
        for weight in o.weights:
            records.append(runs.run(n, devices_of(o, 1, True), weight=weight))
        records.append(runs.run(n, devices_of(o, 1, True), weight="measured"))
        records.append({**runs.run(n, devices_of(o, 1)), "weight": 1})
    report.plot_weights(records, runs.folder / "figure2.png")
    return records


def figure3(runs):
    print("Figure 3")
    o = runs.options
    records = []
    for n in o.sizes:
        records += [runs.run(n, devices_of(o, k)) for k in session.device_counts(len(o.gpus))]
        records.append(runs.run(n, devices_of(o, len(o.gpus), True), weight="measured"))
    report.plot_gpus(records, runs.folder / "figure3.png")
    return records


def figure4(runs):
    """All policies in what the paper's compressed run needs of the device; all resident and what shares tables without a cap."""
    print("Figure 4")
    o = runs.options
    gpu = devices_of(o, 1)
    records = []
    for jitter in report.SHAPES:
        def add(name, cap=None, form="stored", **residency):
            records.append({**runs.run(o.capped, gpu, jitter=jitter, form=form, cap=cap, **residency), "name": name})

        words = ["--set", 'residency.policy="compressed"', "--set", "residency.rate=32"]
        # What is planned, and a margin for what a GPU's libraries take.
        cap = int(1.02 * runs.plan(o.capped, gpu, *words, jitter=jitter)) + (0 if faked(o) else 2 << 20)
        add("resident")
        add("resident", cap)
        add("managed", cap, policy="managed")
        add("compressed zfp-32", cap, policy="compressed", rate=32)
        add("compressed int32", cap, policy="compressed")
        add("overlaid", cap, policy="overlaid")
        add("streamed", cap, policy="streamed")
        add("auto", cap, policy="auto")
        add("auto, tolerance 1e-8", cap, policy="auto", tolerance=1e-8)
        if jitter == 0:
            add("shared tables", cap, form="auto")
    report.plot_saving(records, runs.folder / "figure4.png")
    return records


def arguments(words):
    def numbers(text):
        return [int(word) for word in text.split(",")]

    parser = session.parser_of("Choi 2019", HERE.name, PARTS, "small boxes of order 2", "GPUs and CPU")
    parser.add_argument("--order", type=int, metavar="P", help=f"of the polynomials (default: {paper.ORDER}; quick: 2)")
    parser.add_argument("--sizes", type=numbers, metavar="N,...", help="boxes of Figures 1 and 3 (default: 4 to 11; quick: 3,4)")
    parser.add_argument("--hybrid", type=numbers, metavar="N,...", help="boxes of Figure 2 (default: 7,10; quick: 4)")
    parser.add_argument("--capped", type=int, metavar="N", help=f"box of Figure 4 (default: {paper.CAPPED}; quick: 6)")
    parser.add_argument("--steps", type=int, metavar="N", help="a run (default: 20; quick: 2); seconds are those of 100")
    options = session.options_of(parser, words, PARTS)
    quick = options.quick
    options.order = options.order or (2 if quick else paper.ORDER)
    options.sizes = options.sizes or ([3, 4] if quick else list(range(4, 12)))
    options.hybrid = options.hybrid or ([4] if quick else [7, 10])
    options.capped = options.capped or (6 if quick else paper.CAPPED)
    options.steps = options.steps or (2 if quick else 20)
    options.weights = [0.5, 0.9] if quick else [0.5, 0.6, 0.72, 0.8, 0.9, 0.95, 0.99]
    return options


def reproduce(options):
    options.gpus = session.find_gpus(options)
    if not options.gpus and set(options.parts) - {"table1", "figure1"}:
        raise Failed(2, "no GPU: only table1 and figure1 can be made; give --devices fake:2,cpu to see the others")
    runs = Runs(options)
    done = {"machine": session.machine(options), "date": time.strftime("%Y-%m-%d"), "quick": options.quick, "order": options.order}
    for part in options.parts:
        done[part] = globals()[part](runs)
    (runs.folder / "report.json").write_text(json.dumps(done, indent=1) + "\n")
    return report.whole(done)


def main(words=None):
    options = arguments(words)
    return session.write_report(options, HERE / "README.md", lambda: reproduce(options))


if __name__ == "__main__":
    sys.exit(main())
