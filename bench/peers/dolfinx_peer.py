"""Solves the problems of dolfinx.sh with dolfinx 0.5, and puts both programs' results beside each other.

usage: dolfinx_peer.py mesh MESH.msh MESH.npz               # points and tetrahedra of a file of MSH 2.2
       dolfinx_peer.py check                                # is the library there, of the right version, with hypre?
       dolfinx_peer.py solve FILE.json PROBLEM MESH.npz ORDER SOLVER TOLERANCE DT STEPS    # under mpirun
       dolfinx_peer.py rows PROBLEM FOLDER ROUNDS FILE.json # prints a table, adds its rows to the file
"""

import json
import math
import pathlib
import sys
import time

try:
    import numpy as np
except ImportError as missing:
    sys.exit(f"dolfinx.sh: {missing}; PYTHON names the one that has dolfinx")

DEGREE = 6  # of the quadrature of an error at all points
SOLVERS = {
    # Of three dimensions: hypre's manual advises a threshold of 0.5, HMIS and ext+i.
    "hypre": "-pc_type hypre -pc_hypre_boomeramg_strong_threshold 0.5 -pc_hypre_boomeramg_coarsen_type HMIS "
             "-pc_hypre_boomeramg_interp_type ext+i -pc_hypre_boomeramg_P_max 4",
    "gamg": "-pc_type gamg",
    "icc": "-pc_type bjacobi -sub_pc_type icc",
}  # fmt: skip
SPELT = {"hypre": "CG, BoomerAMG", "gamg": "CG, GAMG", "icc": "CG, ICC(0)"}


def steady_exact(m, x, y, z):
    return m.sin(m.pi * x) * m.cos(m.pi * y) + z


def heat_exact(m, x, y, z):
    return m.cos(m.pi * x) * m.cos(m.pi * y) * m.cos(m.pi * z)


def decay(dt, steps):
    """Of heat_exact, by backward Euler with steps of dt: an error beside it is one in space (and of the solver)."""
    return (1 + 3 * math.pi**2 * dt) ** -steps


def exact_of(problem, dt, steps):
    if problem == "steady":
        return steady_exact
    factor = decay(dt, steps)
    return lambda m, x, y, z: factor * heat_exact(m, x, y, z)


def write_mesh(source, target):
    words = pathlib.Path(source).read_bytes()
    nodes = words[words.index(b"$Nodes") : words.index(b"$EndNodes")].split(b"\n", 2)
    points = np.array(nodes[2].split(), dtype=float).reshape(int(nodes[1]), 4)
    elements = words[words.index(b"$Elements") : words.index(b"$EndElements")].splitlines()[2:]
    cells = np.array([row[-4:] for row in map(bytes.split, elements) if row[1] == b"4"], dtype=np.int64)
    np.savez(target, points=points[np.argsort(points[:, 0]), 1:], cells=cells - 1)


def check():
    try:
        import dolfinx
        from petsc4py import PETSc
    except ImportError as error:
        sys.exit(f"dolfinx.sh: {error}; apt-get install python3-dolfinx (Debian 12); PYTHON names the one that has it")
    if not dolfinx.__version__.startswith("0.5."):
        sys.exit(f"dolfinx.sh: dolfinx {dolfinx.__version__} is here, and names functions differently; 0.5 is needed (Debian 12)")
    if not PETSc.Sys.hasExternalPackage("hypre"):
        sys.exit("dolfinx.sh: PETSc has no hypre; Debian's has")


def solve(path, problem, mesh_file, order, solver, tolerance, dt, steps):
    import dolfinx
    import ufl
    from dolfinx import fem
    from mpi4py import MPI
    from petsc4py import PETSc

    order, tolerance, dt, steps = int(order), float(tolerance), float(dt), int(steps)
    steps = 1 if problem == "steady" else steps
    world = MPI.COMM_WORLD
    points, cells = np.zeros((0, 3)), np.zeros((0, 4), np.int64)
    if world.rank == 0:
        with np.load(mesh_file) as file:
            points, cells = file["points"], file["cells"]
    mesh = dolfinx.mesh.create_mesh(world, cells, points, ufl.Mesh(ufl.VectorElement("Lagrange", ufl.tetrahedron, 1)))
    space = fem.FunctionSpace(mesh, ("Lagrange", order))
    jit = {"cffi_extra_compile_args": ["-O3", "-march=native"], "cache_dir": str(pathlib.Path(path).parent / "forms")}
    form = lambda expression: fem.form(expression, jit_params=jit)  # noqa: E731
    u, v, x = ufl.TrialFunction(space), ufl.TestFunction(space), ufl.SpatialCoordinate(mesh)
    exact = exact_of(problem, dt, steps)
    found = fem.Function(space)

    bounds = []
    if problem == "steady":
        K = ufl.as_matrix([[2, 0.5, 0], [0.5, 1, 0], [0, 0, 1]])
        pi = math.pi
        source = 3 * pi**2 * ufl.sin(pi * x[0]) * ufl.cos(pi * x[1]) + pi**2 * ufl.cos(pi * x[0]) * ufl.sin(pi * x[1])
        left, right = form(ufl.inner(K * ufl.grad(u), ufl.grad(v)) * ufl.dx), form(source * v * ufl.dx)
        mesh.topology.create_connectivity(2, 3)
        around = fem.locate_dofs_topological(space, 2, dolfinx.mesh.exterior_facet_indices(mesh.topology))
        value = fem.Function(space)
        value.interpolate(lambda at: steady_exact(np, *at))
        bounds = [fem.dirichletbc(value, around)]
    else:
        left = form((u * v + dt * ufl.inner(ufl.grad(u), ufl.grad(v))) * ufl.dx)
        masses = form(u * v * ufl.dx)
        found.interpolate(lambda at: heat_exact(np, *at))

    def clock():
        world.barrier()
        return time.perf_counter()

    times = [clock()]
    matrix = fem.petsc.assemble_matrix(left, bcs=bounds)
    matrix.assemble()
    if problem == "steady":
        b = fem.petsc.assemble_vector(right)
        fem.petsc.apply_lifting(b, [left], [bounds])
        b.ghostUpdate(addv=PETSc.InsertMode.ADD, mode=PETSc.ScatterMode.REVERSE)
        fem.petsc.set_bc(b, bounds)
    else:
        mass = fem.petsc.assemble_matrix(masses)
        mass.assemble()
        b = mass.createVecLeft()
    times.append(clock())

    options = PETSc.Options()
    words = SOLVERS[solver].split()
    for key, given in zip(words[::2], words[1::2]):
        options[key] = given
    krylov = PETSc.KSP().create(world)
    krylov.setType("cg")
    krylov.setNormType(PETSc.KSP.NormType.UNPRECONDITIONED)
    krylov.setTolerances(rtol=tolerance, atol=0, max_it=1000)
    krylov.setInitialGuessNonzero(problem != "steady")
    krylov.setOperators(matrix)
    krylov.setFromOptions()
    krylov.setUp()
    krylov.setUpOnBlocks()
    times.append(clock())

    iterations = 0
    for _ in range(steps):
        if problem != "steady":
            mass.mult(found.vector, b)
        krylov.solve(b, found.vector)
        if krylov.getConvergedReason() <= 0:
            sys.exit(f"dolfinx.sh: {problem}, {SPELT[solver]}: not solved in {krylov.getIterationNumber()} iterations")
        iterations += krylov.getIterationNumber()
    times.append(clock())
    found.x.scatter_forward()
    residual = b.duplicate()
    matrix.mult(found.vector, residual)
    residual.axpy(-1, b)
    left_over = residual.norm() / b.norm()

    def error(degree):
        square = (found - exact(UflFunctions(ufl), *x)) ** 2 * ufl.dx(metadata={"quadrature_degree": degree})
        return math.sqrt(world.allreduce(fem.assemble_scalar(form(square)), op=MPI.SUM))

    report = {"unknowns": space.dofmap.index_map.size_global, "cells": mesh.topology.index_map(3).size_global,
              "assembly": times[1] - times[0], "setup": times[2] - times[1], "solution": times[3] - times[2], "iterations": iterations,
              "steps": steps, "residual": left_over, "error_centres": error(1), "error": error(DEGREE)}  # fmt: skip
    if world.rank == 0:
        pathlib.Path(path).write_text(json.dumps(report) + "\n")


class UflFunctions:
    """The functions of an exact solution, by the names of NumPy's."""

    def __init__(self, ufl):
        self.sin, self.cos, self.pi = ufl.sin, ufl.cos, math.pi


def tutti_report(results, problem):
    """What `solve` reports, of a folder of results. At all points u is linear in a cell, by the gradient that the fluxes use."""
    import basix

    sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "python"))
    from tutti.vtkxml import read_grid, read_series

    summary = json.loads((results / "summary.json").read_text())
    points, cells, data = read_grid(read_series(results / "results.pvd")[-1][1])
    corners = points[cells]
    centres = corners.mean(axis=1)
    volumes = np.abs(np.linalg.det(corners[:, 1:] - corners[:, :1])) / 6
    steps = 1 if problem == "steady" else summary["steps"]
    exact = exact_of(problem, summary["dt"], steps)

    def error(degree):
        square = 0
        for at, weight in zip(*basix.make_quadrature(basix.CellType.tetrahedron, degree)):
            x = np.einsum("k,ckd->cd", [1 - at.sum(), *at], corners)
            value = data["u"] + np.einsum("cd,cd->c", data["gradient"], x - centres)
            square += 6 * weight * volumes @ (value - exact(np, *x.T)) ** 2
        return math.sqrt(square)

    setup = summary["setup_seconds"]
    return {"unknowns": summary["cells"], "cells": summary["cells"], "assembly": setup["assemble"],
            "setup": setup["stability"], "solution": summary["wall_seconds"], "iterations": summary["solver"]["iterations"], "steps": steps,
            "residual": summary["solver"]["residual"], "error_centres": error(1), "error": error(DEGREE)}  # fmt: skip


def total(report):
    return report["assembly"] + report["setup"] + report["solution"] if report["steps"] == 1 else report["solution"] / report["steps"]


def rows(problem, folder, rounds, path):
    folder, path, rounds = pathlib.Path(folder), pathlib.Path(path), int(rounds)
    runs = sorted(folder.glob(f"{problem}-*-0.json")) + sorted(folder.glob(f"{problem}-tutti-*-0"))
    table = json.loads(path.read_text())
    time_heads = ["assembly [s]", "set-up [s]", "solution [s]"] if problem == "steady" else ["s per step"]
    heads = ["program", "cores", "cells", "unknowns", *time_heads, "iterations", "ns per unknown", "error at centres", "error at all points"]
    print("| " + " | ".join(heads) + " |", "| " + " | ".join("---" for _ in heads) + " |", sep="\n")
    made = []
    for first in runs:
        tried = [first.with_name(first.name.replace("-0", f"-{i}") if first.is_dir() else f"{first.stem[:-1]}{i}.json") for i in range(rounds)]
        words = first.stem.split("-")
        if words[1] == "tutti":
            reports, program = [tutti_report(results, problem) for results in tried], "tutti"
        else:
            reports = [json.loads(file.read_text()) for file in tried]
            program = f"dolfinx, P{words[2]}, {SPELT[words[3]]}"
        best = min(reports, key=total)
        made.append({"problem": problem, "program": program, "cores": int(words[-2]), "seconds": total(best),
                     "seconds_all": [total(r) for r in reports], "ns_per_unknown": 1e9 * total(best) / best["unknowns"], **best})  # fmt: skip
    for row in sorted(made, key=lambda row: (row["cores"], row["program"], row["cells"])):
        spent = [row["assembly"], row["setup"], row["solution"]] if problem == "steady" else [row["seconds"]]
        cells = [row["program"], row["cores"], f"{row['cells']:,}", f"{row['unknowns']:,}", *(f"{s:.3g}" for s in spent),
                 f"{row['iterations'] / row['steps']:.3g}", f"{row['ns_per_unknown']:.0f}", f"{row['error_centres']:.2e}",
                 f"{row['error']:.2e}"]  # fmt: skip
        print("| " + " | ".join(map(str, cells)) + " |")
    path.write_text(json.dumps(table + made, indent=1) + "\n")


if __name__ == "__main__":
    {"mesh": write_mesh, "check": check, "solve": solve, "rows": rows}[sys.argv[1]](*sys.argv[2:])
