#!/usr/bin/env python3
"""Compares the model `incompressible` with known flows (tests/convergence/cases/flow), run by the program itself.

usage: scripts/validate_flow.py [--program FILE] [--study NAME]... [--quick] [--devices LIST] [--write]
  --program FILE   the built program (default: build/release/bin/tutti)
  --study NAME     only this one (default: all; the cube only where it is named)
  --quick          small grids only, as in the tests
  --devices LIST   what computes (default: cpu)
  --write          put the tables into docs/validation.md
Every study has limits; the exit code is 1 when one is broken. Needs numpy.
"""
import csv
import sys
import tempfile

import numpy as np
import validation
from validation import ROOT, Study, order, settings

sys.path.insert(0, str(ROOT / "python"))
from tutti.results import Results  # noqa: E402

DATA = ROOT / "tests/data/incompressible"


class Run:
    """One run: its summary, and its last velocity on the faces of the cells."""

    def __init__(self, case, **changes):
        with tempfile.TemporaryDirectory() as folder:
            self.summary = validation.run(validation.CASES / "flow" / case, folder, settings(**changes))
            self.snapshot = Results(folder).load("last")
        self.told = self.summary["diagnostics"]
        self.velocity = self.snapshot.cell_data["velocity"]

    def on_faces(self, c):
        """Component c on the faces across direction c, between walls. What is written is the mean of a cell's two faces,
        and the first face is a wall at rest."""
        centred = np.moveaxis(self.velocity[..., c], c, 0)
        faces = np.zeros((centred.shape[0] + 1, *centred.shape[1:]))
        for i, mean in enumerate(centred):
            faces[i + 1] = 2 * mean - faces[i]
        return np.moveaxis(faces, 0, c)

    def profile(self, c, lower, upper):
        """Of component c (0 over y, 1 over x) through the middle of a square, with its values at the walls."""
        faces = self.on_faces(c)[..., 0]
        middle = faces.shape[c] // 2
        other = 1 - c
        values = np.take(faces, middle, c)
        ends = self.snapshot.faces[other][[0, -1]]
        return np.r_[ends[0], self.snapshot.centres[other], ends[1]], np.r_[lower, values, upper]


def spline(x, y):
    """The cubic spline through points, without a knot behind the first and before the last interval, as a function."""
    h, slope, n = np.diff(x), np.diff(y) / np.diff(x), len(x)
    system, right = np.zeros((n, n)), np.zeros(n)
    for i in range(1, n - 1):
        system[i, i - 1:i + 2] = h[i], 2 * (h[i - 1] + h[i]), h[i - 1]
        right[i] = 3 * (h[i] * slope[i - 1] + h[i - 1] * slope[i])
    for row, a, b, s, t in ((0, h[0], h[1], slope[0], slope[1]), (n - 1, h[-1], h[-2], slope[-1], slope[-2])):
        near = (0, 1) if row == 0 else (n - 1, n - 2)
        system[row, near] = b, a + b
        right[row] = ((a + 2 * (a + b)) * b * s + a * a * t) / (a + b)
    rise = np.linalg.solve(system, right)

    def value(at):
        at = np.asarray(at, float)
        i = np.clip(np.searchsorted(x, at) - 1, 0, n - 2)
        s = (at - x[i]) / h[i]
        return ((1 + 2 * s) * (1 - s)**2 * y[i] + s * (1 - s)**2 * h[i] * rise[i] + s * s * (3 - 2 * s) * y[i + 1] +
                s * s * (s - 1) * h[i] * rise[i + 1])

    return value


def column(file, name):
    """Places and values of a table; lines with # tell its source."""
    with open(file, encoding="utf-8") as lines:
        rows = list(csv.reader(line for line in lines if not line.startswith("#")))
    at = rows[0].index(name)
    return np.array([(float(row[0]), float(row[at])) for row in rows[1:] if row[at].strip()]).T


def cavity(quick):
    """The steady state is that of the very scheme: it must be met to rounding and the last changes."""
    study = Study("Re", "cells", "steps", "largest error of u", "of v")
    cases = [(100, 64, "ab2", 0.0018), (1000, 64, "rk3", 0.018)]
    if not quick:
        cases += [(400, 64, "ab2", 0.004), (100, 128, "ab2", 0.0005), (400, 128, "ab2", 0.0018), (1000, 128, "ab2", 0.0035),
                  (3200, 128, "rk3", 0.009)]
    for re, n, method, dt in cases:
        # The less friction, the slower the last changes fade.
        run = Run("cavity.toml", grid__cells=[n, n, 1], fluid__viscosity=1 / re, time__method=method, time__dt=dt,
                  time__steady=5e-8 * min(1, 1000 / re))
        errors = []
        for c, (name, lid) in enumerate((("u", 1), ("v", 0))):
            places, values = column(DATA / f"cavity2d_mac_{name}.csv", f"re{re}_N{n}")
            errors.append(np.abs(spline(*run.profile(c, 0, lid))(places) - values).max())
        study.row(re, f"{n}²", f"{run.summary['steps']:,}", *(f"{e:.1e}" for e in errors))
        study.limit(f"Re {re}, {n} cells", max(errors), 0, 2e-6)
    return study


def space(case, runs, quick, least=1.9):
    """The error of the velocity against an exact solution."""
    study = Study("cells", "error of u", "order")
    sizes, errors = [16, 32, 64] if quick else [16, 32, 64, 128], []
    for n in sizes:
        errors.append(runs(case, n).summary["errors"]["l2"])
        study.row(f"{n}²", f"{errors[-1]:.2e}", f"{np.log2(errors[-2] / errors[-1]):.2f}" if len(errors) > 1 else "")
    study.limit(f"{case}: order in space", order([1 / n for n in sizes], errors), least, 2.2)
    return study


def vortices(quick):
    return space("vortices.toml", lambda case, n: Run(case, grid__cells=[n, n, 1], time__dt=0.01 if n < 100 else 0.005),
                 quick)


def walls(quick, stretch=0):
    def run(case, n):
        return Run(case, grid__cells=[n, n, 1], grid__stretch=[stretch, stretch, 0])

    return space("walls.toml", run, quick)


def time(quick, method, wanted):
    """Against the same grid's solution with a step that leaves nothing to be seen."""
    study = Study("dt", "error of u", "order")
    fine = Run("vortices.toml", time__method="rk3", time__dt=0.004 if quick else 0.001).velocity
    steps, errors = [0.08, 0.04, 0.02] if quick else [0.08, 0.04, 0.02, 0.01], []
    for dt in steps:
        velocity = Run("vortices.toml", time__method=method, time__dt=dt).velocity
        errors.append(np.sqrt(np.mean((velocity - fine)**2)))
        study.row(dt, f"{errors[-1]:.2e}", f"{np.log2(errors[-2] / errors[-1]):.2f}" if len(errors) > 1 else "")
    study.limit(f"{method}: order in time", order(steps, errors), wanted - 0.1, wanted + 0.3)
    return study


def vortices_3d(quick):
    """Means over the box at t = 2 against a pseudo-spectral solution made for tutti: 48^3 modes, 2/3 of them kept, Runge-Kutta
    of order 4, dt = 0.01; 32^3 gives the same digits but the last three."""
    study = Study("cells", "energy", "its error", "order", "enstrophy", "its error", "order")
    exact = np.array([0.06539915038, 0.2338386185])
    sizes, found = [16, 32] if quick else [16, 32, 64], []
    volume = (2 * np.pi)**3
    for n in sizes:
        told = Run("vortices_3d.toml", grid__cells=[n, n, n]).told
        found.append(np.array([told["energy"], told["enstrophy"]]) / volume)
        errors = np.abs(found[-1] - exact)
        orders = np.log2(np.abs(found[-2] - exact) / errors) if len(found) > 1 else None
        study.row(f"{n}³", *(text for k in (0, 1) for text in (f"{found[-1][k]:.7f}", f"{errors[k]:.1e}",
                                                               f"{orders[k]:.2f}" if orders is not None else "")))
        # In a periodic box what friction takes is twice viscosity times enstrophy.
        study.limit(f"{n}: dissipation over 2 viscosity enstrophy", told["dissipation"] / (0.1 * told["enstrophy"]), 0.999999, 1.000001)
    errors = np.abs(np.array(found) - exact)
    for k, name in enumerate(("energy", "enstrophy")):
        study.limit(f"3-D vortices, {name}: order", order([1 / n for n in sizes], errors[:, k]), 1.8, 2.3)
        rest = abs((4 * found[-1][k] - found[-2][k]) / 3 / exact[k] - 1)
        study.limit(f"{name}, extrapolated: relative error", rest, 0, 2e-3 if quick else 2e-4)
    return study


# Chebyshev collocation, computed for tutti (see tests/data/incompressible/natural_convection_profiles.csv); Pr 0.71.
HEATED = {1000: (1.1177897, 3.6494477, 3.6974383), 10000: (2.2448158, 16.1833349, 19.6282188),
          100000: (4.5216361, 34.7406705, 68.6353623), 1000000: (8.8252008, 64.8344022, 220.5651397)}


def heated(quick):
    study = Study("Ra", "cells", "Nu", "u_max", "v_max", "orders", "extrapolated, off by")
    grids = {1000: [16, 32], 10000: [32, 64], 100000: [32, 64]} if quick else {
        1000: [16, 32, 64], 10000: [16, 32, 64], 100000: [32, 64, 128], 1000000: [64, 128]}
    for rayleigh, sizes in grids.items():
        exact, found = np.array(HEATED[rayleigh]), []
        for n in sizes:
            run = Run("heated.toml", grid__cells=[n, n, 1], fluid__buoyancy=[0, 0.71 * rayleigh, 0], time__dt=0.1 / n**2,
                      time__steady=1e-4 if rayleigh < 1e6 else 1e-2)
            nusselt = [run.told[f"Nu x{where}"] for where in ("-lower", "-upper", " middle", " mean")]
            # Of the steady scheme all planes carry the same heat.
            study.limit(f"Ra {rayleigh}, {n} cells: spread of the Nusselt numbers", np.ptp(nusselt) / nusselt[0], 0,
                        2e-5 if rayleigh < 1e6 else 2e-4)
            largest = []
            for c in (0, 1):
                curve = run.profile(c, 0, 0)
                largest.append(spline(*curve)(np.linspace(0, 1, 20001)).max())
            found.append(np.array([nusselt[0], *largest]))
            orders = np.log2(np.abs(found[-2] - exact) / np.abs(found[-1] - exact)) if len(found) > 1 else None
            rest = np.abs((4 * found[-1] - found[-2]) / 3 / exact - 1) if len(found) > 1 else None
            study.row(f"{rayleigh:,}", f"{n}²", f"{found[-1][0]:.5f}", f"{found[-1][1]:.4f}", f"{found[-1][2]:.4f}",
                      ", ".join(f"{o:.2f}" for o in orders) if orders is not None else "",
                      ", ".join(f"{100 * r:.3f} %" for r in rest) if rest is not None else "")
        # The layers at the walls have few cells on the small grids: errors of the velocities fall with order 2 only on finer
        # ones. An error that is tiny by chance, because it changes its sign between two grids, has no order.
        for k, name in enumerate(("Nu", "u_max", "v_max")):
            study.limit(f"Ra {rayleigh}, {name}: extrapolated, relative error", rest[k], 0, 2e-3 if quick else 1e-3)
            if name == "Nu" or (not quick and abs(found[-1][k] / exact[k] - 1) > 1e-4):
                study.limit(f"Ra {rayleigh}, {name}: order", orders[k], 1.8, 2.3)
        study.row("", "exact", *(f"{value:.4f}" for value in exact), "", "")
    return study


def cube(quick):
    """Against the tables of Albensoeder and Kuhlmann (2005); long, and so only where it is named."""
    study = Study("cells", "error of u", "error of w", "extrapolated, off by")
    sizes, found = [16, 32] if quick else [32, 64, 96], []
    for n in sizes:
        run = Run("cube.toml", grid__cells=[n, n, n])
        curves = []
        for c, (name, lid) in ((0, ("u", 1)), (2, ("w", 0))):
            # On the plane between the cells across y no value lies: cubic through the two cells on either side.
            plane = np.moveaxis(run.on_faces(c), (c, 1), (0, 1))[n // 2]
            line = sum(w * plane[n // 2 + k] for k, w in ((-2, -1 / 16), (-1, 9 / 16), (0, 9 / 16), (1, -1 / 16)))
            centres = (np.arange(n) + 0.5) / n
            places, values = column(DATA / f"albensoeder2005_cube_{name}.csv", "re1000")
            curves.append(spline(np.r_[0, centres, 1], np.r_[0, line, lid])(places) - values)
        found.append(curves)
        rest = []
        if len(found) > 1:
            gain = (n / sizes[len(found) - 2]) ** 2
            rest = [np.abs((gain * b - a) / (gain - 1)).max() for a, b in zip(*found[-2:])]
        study.row(f"{n}³", *(f"{np.abs(e).max():.4f}" for e in curves), ", ".join(f"{e:.4f}" for e in rest))
    study.limit("cube, extrapolated", max(rest), 0, 0.1 if quick else 0.002)
    return study


STUDIES = {
    "cavity": cavity,
    "vortices": vortices,
    "ab2": lambda quick: time(quick, "ab2", 2),
    "rk3": lambda quick: time(quick, "rk3", 3),
    "walls": walls,
    "stretched": lambda quick: walls(quick, 1.5),
    "vortices-3d": vortices_3d,
    "heated": heated,
    "cube": cube,
}


def main():
    broken = 0
    for name in validation.parse(__doc__, STUDIES, [s for s in STUDIES if s != "cube"]):
        print(f"\n{name}", flush=True)
        study = STUDIES[name](validation.PARSED.quick)
        broken += study.broken
        if validation.PARSED.write:
            validation.put_table(f"flow, {name}", study.lines)
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
