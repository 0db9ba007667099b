"""Times steps of PyFR on a periodic box, in batches, as `tutti bench` does; prints one object of JSON.

usage: pyfr_steps.py MESH.pyfrm BACKEND euler|navier-stokes P plain|anti-aliased SECONDS [STEPS_A_BATCH]
MPI4PY_RC_INITIALIZE=no has to be set: PyFR starts MPI itself, after a fork.
"""

import json
import math
import statistics
import sys
import time

from pyfr.backends import get_backend
from pyfr.inifile import Inifile
from pyfr.mpiutil import init_mpi
from pyfr.readers.native import NativeReader
from pyfr.solvers import get_solver

CASE = """
[backend]
precision = double
[constants]
gamma = 1.4
mu = 1e-3
Pr = 0.72
[solver]
system = {equations}
order = {order}
anti-alias = {anti_alias}
[solver-time-integrator]
scheme = tvd-rk3
controller = none
tstart = 0
tend = 1
dt = {dt}
[solver-interfaces]
riemann-solver = rusanov
ldg-beta = 0.5
ldg-tau = 0.1
[solver-interfaces-tri]
flux-pts = williams-shunn
[solver-interfaces-quad]
flux-pts = gauss-legendre
[solver-elements-tet]
soln-pts = shunn-ham
quad-pts = witherden-vincent
quad-deg = {tet_degree}
[solver-elements-hex]
soln-pts = gauss-legendre
quad-pts = gauss-legendre
quad-deg = {hex_degree}
[soln-ics]
rho = 1 + 0.2*sin(2*pi*x)*sin(2*pi*y)
u = 0.5
v = 0.4
w = 0.3
p = 1
"""
STAGES = 3
DT = 1e-5  # of no interest, so short that all orders are stable


def main(mesh, backend, equations, order, anti_alias, seconds, batch=1):
    start = time.perf_counter()
    order, batch = int(order), int(batch)
    # Tetrahedra as tutti's. In hexahedra a rule of degree 2p would be PyFR's own points: no anti-aliasing.
    case = Inifile(
        CASE.format(
            equations=equations, order=order, dt=DT, anti_alias="flux" if anti_alias == "anti-aliased" else "none",
            tet_degree=2 * order, hex_degree=2 * order + 3,
        )
    )  # fmt: skip
    init_mpi()
    solver = get_solver(get_backend(backend, case), NativeReader(mesh).mesh, None, case)

    def run(steps):
        solver.backend.wait()
        begin = time.perf_counter()
        for _ in range(steps):
            solver._idxcurr = solver.step(0, DT)
        solver.backend.wait()
        return (time.perf_counter() - begin) / steps

    set_up = time.perf_counter() - start
    rate = math.sqrt(sum((r[:, 0] ** 2).sum() for r in solver.dt_soln) / sum(r[:, 0].size for r in solver.dt_soln))
    run(2)
    run(batch)
    times, begin = [], time.perf_counter()
    while len(times) < 5 or time.perf_counter() - begin < float(seconds):
        times.append(run(batch))
    (element, (points, variables, elements)), *_ = solver.system.ele_shapes.items()
    degrees = points * variables * elements
    print(json.dumps({
        "element": element, "elements": elements, "points": points, "equations": equations, "order": order,
        "anti_aliasing": anti_alias, "backend": backend, "degrees_of_freedom": degrees, "steps": len(times) * batch,
        "set_up_seconds": set_up, "seconds_best": min(times), "seconds_median": statistics.median(times),
        "nanoseconds_a_degree_and_stage": min(times) * 1e9 / (degrees * STAGES), "density_rate": rate,
    }))  # fmt: skip


if __name__ == "__main__":
    main(*sys.argv[1:])
