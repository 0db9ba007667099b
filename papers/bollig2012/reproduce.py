#!/usr/bin/env python3
"""Figures 8 to 13 and 15 to 18 of Bollig 2012 on this machine.

    papers/bollig2012/reproduce.py                        # all of it; GPUs where there are any
    papers/bollig2012/reproduce.py speedup scaling        # only these
    papers/bollig2012/reproduce.py --quick -o try         # few nodes: about a minute on two cores

Runs the program that TUTTI names (default: build/release/bin/tutti) and leaves tables, figures, and every number in the
output folder; what is in its runs.json is not run again, and the report is of all that stands there, from whatever machine.
Needs matplotlib and numpy.
"""

import json
import math
import os
import re
import shutil
import sys
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path[:0] = [str(HERE), str(HERE.parent), str(ROOT / "python")]

import cases  # noqa: E402
import paper  # noqa: E402
import report  # noqa: E402
import session  # noqa: E402
from session import Failed, device_counts, devices_of, faked, listed  # noqa: E402

PARTS = ["spectra", "fields", "convergence", "speedup", "scaling", "ranks", "breakdown"]
NUMERICAL = 6  # exit code of a run that is refused because noise grows
OVERLAPS = ("none", "messages", "full")


class NodeSets:
    """The maximum-determinant nodes of a folder, else tutti's own."""

    def __init__(self, folder):
        self.files = {}
        if folder:
            for file in sorted([*folder.glob("md*.xyzw.f64"), *folder.glob("md/md*.xyzw.f64")]):
                self.files[int(re.match(r"md(\d+)", file.name)[1])] = file
        self.kind = "maximum-determinant" if self.files else "relaxed"

    def find(self, count):
        """About so many: (number, what a case's [nodes] takes)."""
        if self.files:
            near = min(self.files, key=lambda n: abs(math.log(n / count)))
            return near, self.files[near]
        near = 10 * max(2, round(math.sqrt((count - 2) / 10)))**2 + 2
        return near, ("relaxed", near)


class Runs(session.Runs):
    def keep(self, part, asked, make):
        return super().keep({"part": part, **asked}, make)

    def simulate(self, text, *words, folder=None):
        """A run on the CPU: its summary, or the line that refuses it."""
        case = self.folder / "case.toml"
        case.write_text(text)
        try:
            return self.summary(case, "--devices", self.options.cases_on, *words, folder=folder)
        except Failed as error:
            if error.code != NUMERICAL:
                raise
            return {"refused": re.sub(r"^\S*case\.toml:\d+:\d+: ", "", str(error).rsplit("error: ", 1)[-1])}

    def error_of(self, test, count, size, end):
        """One point of Figures 10 and 13; `size` None: tutti's default stencils."""
        o = self.options
        count, nodes = o.sets.find(count)
        asked = dict(test=test, kind=o.sets.kind, nodes=count, size=size, end=end)

        def make():
            print(f"  {test}, {count:,} nodes, stencils of {size or 'tutti, 57'}", flush=True)
            text, more = cases.MAKE[test](nodes, size, end), {}
            found = self.simulate(text)
            if "refused" in found:  # noise grows: what comes of it, as far as it goes
                more = found
                found = self.simulate(text, "--set", "numerics.check=false")
                if "refused" in found:
                    return {**more, "lost": found["refused"]}
            tracer = found["tracers"][0]
            return {**more, "l1": tracer["l1"], "l2": tracer["l2"], "linf": tracer["linf"], "min": tracer["min"], "max": tracer["max"],
                    "steps": found["steps"], "seconds": found["wall_seconds"]}
        return self.keep("convergence", asked, make)

    def bench(self, part, nodes, sizes, operators, devices, *, ranks=1, threads=None, overlaps=("full",), method="hilbert", kernel="auto"):
        """Rows of `tutti bench transport`."""
        o = self.options
        asked = dict(machine=o.machine, nodes=nodes, sizes=list(sizes), operators=list(operators), devices=devices, ranks=ranks,
                     threads=threads, overlaps=list(overlaps), method=method, kernel=kernel, seconds=o.seconds)

        def make():
            print(f"  {nodes:,} nodes, {devices}{f', {threads} thread' if threads else ''}{f', {ranks} ranks' if ranks > 1 else ''}",
                  flush=True)
            found = self.figures("bench", "transport", "--nodes", nodes, "--size", listed(sizes), "--operators", listed(operators),
                                 "--overlap", listed(overlaps), "--partition", method, "--kernel", kernel, "--seconds", o.seconds,
                                 "--devices", devices, *(["--threads", threads] if threads else []), ranks=ranks)
            return {"rows": found["results"]}
        return self.keep(part, asked, make)


def spectra(runs):
    """Figures 8 and 11: all eigenvalues before and after hyperviscosity."""
    print("Figures 8 and 11")
    o = runs.options
    for test, end in (("vortex", paper.FIGURE10["time"]), ("bell", 2 * math.pi)):
        count, nodes = o.sets.find(o.spectrum_nodes)
        size = paper.FIGURE8["size"] if not o.quick else 31
        asked = dict(test=test, kind=o.sets.kind, nodes=count, size=size)

        def make():
            print(f"  {test}, {count:,} nodes, stencils of {size}", flush=True)
            case, table = runs.folder / "case.toml", runs.folder / f"eigenvalues_{test}.csv"
            case.write_text(cases.MAKE[test](nodes, size, end))
            begin = time.monotonic()
            said = runs.tell("spectrum", case, "-o", table, *(["--threads", o.threads] if o.threads else []))
            refused = re.search(r"a run is rejected: (.*)", said)
            found = report.plot_spectrum(table, f"{test}: {count:,} {o.sets.kind} nodes, stencils of {size}",
                                         runs.folder / report.SPECTRUM_FILES[test])
            table.unlink()  # megabytes
            return {"operators": found, "seconds": time.monotonic() - begin, **({"refused": refused[1]} if refused else {})}
        runs.keep("spectra", asked, make)


def fields(runs):
    """Figures 9 and 12."""
    print("Figures 9 and 12")
    o = runs.options
    for test, wanted, end in (("vortex", paper.FIGURE9, paper.FIGURE9["time"]), ("bell", paper.FIGURE12, o.turns)):
        count, nodes = o.sets.find(wanted["nodes"] if not o.quick else 1024)
        asked = dict(test=test, kind=o.sets.kind, nodes=count, size=wanted["size"], end=end)

        def make():
            print(f"  {test}, {count:,} nodes, stencils of {wanted['size']}", flush=True)
            folder = runs.folder / test
            found = runs.simulate(cases.MAKE[test](nodes, wanted["size"], end), folder=folder)
            refused = found.get("refused")
            if refused:
                found = runs.simulate(cases.MAKE[test](nodes, None, end), folder=folder)
                if "refused" in found:
                    return found
            report.plot_field(folder, test, end, runs.folder / report.FIELD_FILES[test])
            tracer = found["tracers"][0]
            shutil.rmtree(folder)
            return {"l2": tracer["l2"], "linf": tracer["linf"], "min": tracer["min"], "max": tracer["max"], "steps": found["steps"],
                    "instead": refused}
        runs.keep("fields", asked, make)


def convergence(runs):
    """Figures 10 and 13."""
    print("Figures 10 and 13")
    o = runs.options
    for test, end in (("vortex", paper.FIGURE10["time"]), ("bell", o.turns)):
        for size in (*o.sizes, None):
            for count in o.counts:
                runs.error_of(test, count, size, end)


def speedup(runs):
    """Figures 15 and 16: a GPU, and all CPU cores, over one CPU core."""
    print("Figures 15 and 16")
    o = runs.options
    for nodes in o.bench_nodes:
        runs.bench("speedup", nodes, o.sizes, (1, 2), "cpu", threads=1)
        runs.bench("speedup", nodes, o.sizes, (1, 2), "cpu")
        if o.gpus:
            for kernel in ("auto", "warp"):
                runs.bench("speedup", nodes, o.sizes, (1, 2), devices_of(o, 1), kernel=kernel)
    if o.gpus and not faked(o):  # beyond the caches
        for kernel in ("auto", "warp"):
            runs.bench("speedup", 1_000_000, (31, 101), (1, 2), o.gpus[0], kernel=kernel)


def scaling(runs):
    """Figures 17b, d: one size on 1, 2, 4 (8) GPUs, one rank that drives them all."""
    print("Figures 17b and d")
    o = runs.options
    if not o.gpus:
        print("  no GPU: left out")
    for count in device_counts(len(o.gpus)):
        devices = devices_of(o, count)
        # The paper's latitude slices.
        runs.bench("scaling", o.scaling_nodes, o.sizes, (1, 2), devices, overlaps=OVERLAPS, method="latitude")
        if not faked(o):
            runs.bench("scaling", 4_000_000, (31,), (1,), devices)


def rank_counts(options):
    """One only, where there is no mpirun."""
    most = options.ranks if shutil.which(options.mpirun[0]) else 1
    if most < options.ranks:
        print(f"  no {options.mpirun[0]}: one rank only; set TUTTI_MPIRUN")
    return [k for k in (1, 2, 4, 6, 8) if k <= most]


def ranks(runs):
    """Figures 17a, c: ranks of one CPU core."""
    print("Figures 17a and c")
    o = runs.options
    for count in rank_counts(o):
        runs.bench("ranks", o.scaling_nodes, o.sizes, (1, 2), "cpu", ranks=count, threads=1, method="latitude")


def breakdown(runs):
    """Figure 18: where the time of a step goes, without overlap, by the run's own clocks."""
    print("Figure 18")
    o = runs.options
    where = [("cpu", k, k) for k in rank_counts(o)]
    for count in device_counts(len(o.gpus)):
        where.append((devices_of(o, count), 1, count))
    for devices, count, parts in where:
        for size in o.sizes:
            steps = o.steps if not devices.startswith("fake") else 20
            asked = dict(machine=o.machine, nodes=o.scaling_nodes, size=size, devices=devices, ranks=count, parts=parts, steps=steps)

            def make():
                print(f"  {o.scaling_nodes:,} nodes, stencils of {size}, {devices}{f', {count} ranks' if count > 1 else ''}", flush=True)
                case = runs.folder / "case.toml"
                case.write_text(cases.timed(o.scaling_nodes, size, 1, "latitude", steps))
                found = runs.summary(case, "--devices", devices, "--set", 'devices.overlap="none"',
                                     *(["--threads", 1] if devices == "cpu" else []), ranks=count)
                means = {name: sum(p["seconds"][name] for p in found["parts"]) / len(found["parts"]) / found["steps"]
                         for name in ("separator", "interior", "exchange", "idle")}
                return {"seconds": found["wall_seconds"] / found["steps"], "means": means}
            runs.keep("breakdown", asked, make)


def machine(options):
    """What timings are of: one line, without what changes from run to run."""
    return "; ".join(re.sub(r",? memory [^,;]*$", "", line) for line in session.device_lines(options))


def arguments(words):
    def numbers(text):
        return [int(word.replace("_", "")) for word in text.split(",")]

    parser = session.parser_of("Bollig 2012", HERE.name, [*PARTS, "report (the report of what is there)"], "few nodes", "GPUs of the timings",
                               "add the records to the runs.json beside this script, and put the report of them all into the README.md")
    parser.add_argument("--nodes", type=Path, metavar="DIR",
                        help="folder of maximum-determinant sets, mdNNNNN.xyzw.f64 (default: TUTTI_NODES, else ../shared/data/nodes, "
                             "else tutti's own relaxed nodes)")
    parser.add_argument("--own-nodes", action="store_true", help="tutti's own relaxed nodes, whatever is there")
    parser.add_argument("--cases-on", default="cpu", metavar="LIST", help="devices of fields and convergence (default: cpu)")
    parser.add_argument("--threads", type=int, metavar="N", help="of the spectra's set-up (default: all cores)")
    parser.add_argument("--ranks", type=int, metavar="N", help="CPU ranks at most (default: one per core, 8 at most)")
    parser.add_argument("--sizes", type=numbers, metavar="N,...", help="of stencils (default: 17,31,50,101)")
    parser.add_argument("--counts", type=numbers, metavar="N,...", help="nodes of the convergence (default: 1,024 to 10,201)")
    parser.add_argument("--spectrum-nodes", type=int, metavar="N", help="default: 2,500; full: 4,096, minutes on one core")
    parser.add_argument("--bench-nodes", type=numbers, metavar="N,...", help="of speed-ups (default: 4096,27556)")
    parser.add_argument("--scaling-nodes", type=int, metavar="N", help="default: 27,556")
    parser.add_argument("--seconds", type=float, metavar="S", help="of timed steps per row (default: 0.3; quick: 0.02)")
    parser.add_argument("--steps", type=int, metavar="N", help="of a run of Figure 18 (default: 500; quick: 20)")
    parser.add_argument("--turns", type=int, metavar="N", help="of the bell (default: 10; quick: 1)")
    parser.add_argument("--full", action="store_true", help="spectra of 4,096 nodes and errors up to 27,556, as in the paper")
    o = session.options_of(parser, words, [*PARTS, "report"])
    o.parts = [part for part in o.parts if part != "report"]
    if o.nodes and not NodeSets(o.nodes).files:
        parser.error(f"--nodes {o.nodes}: no md*.xyzw.f64 in it, nor in md/; leave it out for tutti's own nodes")
    if not o.nodes and not o.own_nodes:
        there = Path(os.environ.get("TUTTI_NODES", ROOT.parent / "shared" / "data" / "nodes"))
        o.nodes = there.resolve() if there.is_dir() else None
    o.sets = NodeSets(None if o.own_nodes else o.nodes)
    quick = o.quick
    o.sizes = o.sizes or list(paper.SIZES)
    o.counts = o.counts or ([256, 1024, 2500] if quick else [n for n in paper.NODES if o.full or n <= 10_201])
    o.spectrum_nodes = o.spectrum_nodes or (529 if quick else paper.FIGURE8["nodes"] if o.full else 2500)
    o.bench_nodes = o.bench_nodes or ([1024] if quick else [4096, paper.SCALING_NODES])
    o.scaling_nodes = o.scaling_nodes or (1024 if quick else paper.SCALING_NODES)
    o.seconds = o.seconds or (0.02 if quick else 0.3)
    o.steps = o.steps or (20 if quick else 500)
    o.turns = o.turns or (1 if quick else paper.FIGURE13["turns"])
    o.ranks = o.ranks or min(8, len(os.sched_getaffinity(0)))
    return o


def publish_records(runs):
    """Those beside this script, which may be of other machines, and those of this folder."""
    file = HERE / "runs.json"
    kept = {**(json.loads(file.read_text()) if file.exists() else {}), **runs.kept}
    session.write_records(file, kept)
    for name in (*report.SPECTRUM_FILES.values(), *report.FIELD_FILES.values()):  # of their runs; others are drawn from records
        if (HERE / name).exists() and not (runs.folder / name).exists():
            shutil.copyfile(HERE / name, runs.folder / name)
    return kept


def reproduce(options):
    runs = Runs(options)
    if options.parts:
        options.gpus, options.machine = session.find_gpus(options), machine(options)
    for part in options.parts:
        globals()[part](runs)
    (runs.folder / "case.toml").unlink(missing_ok=True)
    kept = publish_records(runs) if options.readme else runs.kept
    return report.whole(runs.folder, {part: [r for r in kept.values() if r["part"] == part] for part in PARTS})


def main(words=None):
    options = arguments(words)
    return session.write_report(options, HERE / "README.md", lambda: reproduce(options))


if __name__ == "__main__":
    sys.exit(main())
