#!/usr/bin/env python3
"""Compares the model `transport` with known solutions (tests/convergence/cases/sphere), run by the program itself.

usage: scripts/validate_transport.py [--program FILE] [--study NAME]... [--quick] [--devices LIST]
  --program FILE   the built program (default: build/release/bin/tutti)
  --study NAME     only this one (default: all)
  --quick          few nodes only, as in the tests
  --devices LIST   what computes (default: cpu)
Every study has limits; the exit code is 1 when one is broken, and 77 when all that were asked for need node sets that
are not there. Python's standard library only.
"""
import csv
import math
import sys
import tempfile
from pathlib import Path

import validation
from validation import ROOT, Study, order, settings

CASES = validation.CASES / "sphere"
VORTEX = ROOT / "examples/vortex-roll-up/case.toml"
# Not part of tutti: the maximum-determinant nodes of Womersley and Sloan as raw doubles.
NODES = ROOT.parent / "shared/data/nodes/md"
SKIPPED = 77
FAMILIES = ("icosahedral", "fibonacci", "relaxed")


class Run:
    """One run: the errors of its first tracer, and the last values at its probes."""

    def __init__(self, case, leave_out=(), **changes):
        with tempfile.TemporaryDirectory() as folder:
            if leave_out:
                lines = [line for line in case.read_text().splitlines() if not line.startswith(tuple(leave_out))]
                case = Path(folder) / "case.toml"
                case.write_text("\n".join(lines) + "\n")
            results = Path(folder) / "results"
            self.tracer = validation.run(case, results, settings(**changes))["tracers"][0]
            self.probes = []
            if (results / "probes.csv").exists():
                with open(results / "probes.csv", encoding="utf-8") as lines:
                    self.probes = [float(value) for value in list(csv.reader(lines))[-1][1:]]


def nodes_order(family):
    """The vortex roll-up at t = 3 against its exact solution, with polynomials of degree 6."""

    def study(quick):
        study = Study()
        counts = [1442, 2562, 5762, 10242] if quick else [2562, 10242, 40962]
        errors = []
        for count in counts:
            # Delta^3 leaves the order of the splines. On some nodes it lets noise grow, but too slowly for this test.
            errors.append(Run(VORTEX, nodes__generate=family, nodes__count=count, hyperviscosity__k=3,
                              numerics__check=False).tracer["l2"])
            print(f"{family}, {count:,} nodes: l2 = {errors[-1]:.3e}", flush=True)
        # Fibonacci's nodes are worst at the poles, where this flow has its vortices.
        least = 3.2 if family == "fibonacci" else 3.8
        study.limit("order", order([count ** -0.5 for count in counts], errors), least, 7.5)
        return study

    return study


def time_order(method, least, most):
    """Against a run with short steps on the same nodes, in a wind that changes."""

    def study(quick):
        study = Study()
        steps = [64, 128, 256]
        fine = Run(CASES / "waves.toml", time__dt=2 / 2048, time__method=method).probes
        errors = []
        for count in steps:
            run = Run(CASES / "waves.toml", time__dt=2 / count, time__method=method)
            errors.append(max(abs(a - b) for a, b in zip(run.probes, fine)))
            print(f"{method}, {count} steps: {errors[-1]:.3e}", flush=True)
        study.limit("order", order([1 / count for count in steps], errors), least, most)
        return study

    return study


def bell_with(alpha, **changes):
    a, b = -2 * math.pi * math.sin(alpha), 2 * math.pi * math.cos(alpha)
    # omega x (x, y, z), omega = (a, 0, b).
    velocity = [f"{-b!r}*y", f"{b!r}*x - {a!r}*z", f"{a!r}*y"]
    return Run(CASES / "bell.toml", velocity__cartesian=velocity, hyperviscosity__k=2, **changes)


def bell(quick):
    """A revolution about axes at three angles: no axis is better than another, but for how nodes lie below the bell: a
    tenth on so many, more on fewer."""
    study = Study()
    errors = {}
    for name, alpha in (("0", 0), ("pi/4", math.pi / 4), ("pi/2", math.pi / 2)):
        run = bell_with(alpha, nodes__generate="relaxed", nodes__count=7292 if quick else 16002)
        errors[name] = run.tracer["l2"]
        print(f"bell, alpha = {name}: l2 = {errors[name]:.4e}", flush=True)
    for name, error in errors.items():
        study.limit(f"alpha = {name}, beside alpha = 0", error / errors["0"], 0.85, 1.15)
    return study


def stable(quick):
    """Ten revolutions of the bell, and the vortices until t = 10, on every kind of nodes: nothing grows, and the check
    before the run agrees."""
    study = Study()
    nodes = [(family, {}) for family in FAMILIES] + [("random", {"nodes__seed": seed}) for seed in (1, 2, 3)]
    for count in [2562] if quick else [2562, 10242]:
        for family, more in nodes:
            more = {"nodes__generate": family, "nodes__count": count, **more}
            name = ", ".join(str(value) for value in more.values())
            run = bell_with(0.3, time__end=10.0, **more)
            study.limit(f"{name}: largest of the bell", run.tracer["max"], 0.3, 1.1)
            study.limit(f"{name}: smallest", run.tracer["min"], -0.3, 0)
            run = Run(VORTEX, hyperviscosity__k=2, time__end=10.0, **more)
            study.limit(f"{name}: largest of the vortices", run.tracer["max"], 1.5, 1.55)
            study.limit(f"{name}: smallest", run.tracer["min"], 0.45, 0.5)
    return study


def paper(quick):
    """The vortex roll-up with the paper's parameters on its nodes [Bollig 2012, Figure 10]: 1.249e-2 by a prototype."""
    file = NODES / "md10201.xyzw.f64"
    if not file.exists():
        print(f"left out: there is no {file}")
        return None
    study = Study()
    run = Run(VORTEX, ["generate", "count"], nodes__file=str(file), stencil__basis="gaussian", stencil__size=50,
              hyperviscosity__kind="paper", hyperviscosity__k=4, hyperviscosity__gamma_c=145, time__dt=0.05,
              time__end=10.0)
    study.limit("l2 at t = 10", run.tracer["l2"], 1.249e-2 * 0.99, 1.249e-2 * 1.01)
    return study


STUDIES = {**{family: nodes_order(family) for family in FAMILIES}, "rk4": time_order("rk4", 3.8, 4.3),
           "ssp-rk3": time_order("ssp-rk3", 2.8, 3.3), "bell": bell, "stable": stable, "paper": paper}


def main():
    names = validation.parse(__doc__, STUDIES, writes=False)
    done = [STUDIES[name](validation.PARSED.quick) for name in names]
    if not any(done):
        return SKIPPED
    return 1 if any(study and study.broken for study in done) else 0


if __name__ == "__main__":
    sys.exit(main())
