"""Table 2 of the thesis: a bar, fixed at one end, with a force across it at the other, by the finite elements of CalculiX."""

import subprocess

import numpy as np

YOUNG, POISSON, FORCE, LENGTH = 200e9, 0.3, 1e4, 10.0
# Timoshenko: F L^3 / (3 E I) + F L / (5/6 G A); the stress is F L / (I / (h / 2)), all of a square of 1 m.
DEFLECTION = FORCE * LENGTH**3 / (3 * YOUNG / 12) + FORCE * LENGTH * 6 / 5 * 2 * (1 + POISSON) / YOUNG
STRESS = 6 * FORCE * LENGTH
EDGES = ((0, 1), (1, 2), (2, 0), (0, 3), (1, 3), (2, 3))  # in CalculiX's order of the nodes 5 to 10
FACES = ((0, 1, 2), (0, 1, 3), (1, 2, 3), (0, 2, 3))


def with_middles(points, cells):
    """Quadratic elements: a node in the middle of every edge."""
    pairs = np.sort(cells[:, EDGES].reshape(-1, 2), axis=1)
    edges, number = np.unique(pairs, axis=0, return_inverse=True)
    return np.vstack([points, points[edges].mean(axis=1)]), np.hstack([cells, len(points) + number.reshape(-1, 6)])


def end_loads(points, elements):
    """Of the nodes at z = L / 2: what an even traction in y gives each of them; its sum is 1."""
    at_end = points[:, 2] > LENGTH / 2 - 1e-9
    loads = np.zeros(len(points))
    for face in FACES:
        corners = elements[:, face]
        triangles = corners[at_end[corners].all(axis=1)]
        a, b, c = (points[triangles[:, k]] for k in range(3))
        area = np.linalg.norm(np.cross(b - a, c - a), axis=1) / 2
        if elements.shape[1] == 4:
            carriers = triangles
        else:  # the corners of a quadratic triangle carry nothing
            middles = [EDGES.index(p) if (p := (face[i], face[j])) in EDGES else EDGES.index(p[::-1])
                       for i, j in ((0, 1), (1, 2), (2, 0))]
            carriers = elements[:, [4 + m for m in middles]][at_end[corners].all(axis=1)]
        for k in range(3):
            np.add.at(loads, carriers[:, k], area / 3)
    return loads


def input_of(points, elements):
    # Numbers of 20 characters at most.
    kind = "C3D4" if elements.shape[1] == 4 else "C3D10"
    lines = ["*NODE, NSET=ALL"] + [f"{i + 1}, {x:.12e}, {y:.12e}, {z:.12e}" for i, (x, y, z) in enumerate(points.tolist())]
    lines += [f"*ELEMENT, TYPE={kind}, ELSET=BAR"]
    lines += [", ".join(map(str, [i + 1, *(np.array(e) + 1)])) for i, e in enumerate(elements.tolist())]
    lines += ["*MATERIAL, NAME=STEEL", "*ELASTIC", f"{YOUNG}, {POISSON}", "*SOLID SECTION, ELSET=BAR, MATERIAL=STEEL",
              "*BOUNDARY"]
    lines += [f"{i + 1}, 1, 3" for i in np.flatnonzero(points[:, 2] < -LENGTH / 2 + 1e-9)]
    lines += ["*STEP", "*STATIC", "*CLOAD"]
    loads = end_loads(points, elements)
    lines += [f"{i + 1}, 2, {-FORCE * loads[i]:.12e}" for i in np.flatnonzero(loads)]
    return "\n".join([*lines, "*NODE FILE", "U", "*EL FILE", "S", "*END STEP", ""])


def result(path, name, count):
    """Values of the nodes in CalculiX's .frd file: columns of 12 characters after the node's number."""
    values, inside = np.full((count, 6 if name == "STRESS" else 3), np.nan), False
    for line in path.read_text().split("\n"):
        if line.startswith(" -4"):
            inside = name in line
        elif inside and line.startswith(" -1"):
            row = [line[13 + 12 * k:25 + 12 * k] for k in range(values.shape[1])]
            values[int(line[3:13]) - 1] = [float(v) for v in row]
    return values


def solve(folder, name, points, cells, quadratic):
    """The deflection of the loaded end, and the largest and smallest stress along the bar; None where CalculiX gives up."""
    if quadratic:
        points, cells = with_middles(points, cells)
    (folder / f"{name}.inp").write_text(input_of(points, cells))
    try:
        done = subprocess.run(["ccx", name], cwd=folder, capture_output=True, text=True, errors="replace", timeout=600)
        shift, stress = (result(folder / f"{name}.frd", what, len(points)) for what in ("DISP", "STRESS"))
    except (OSError, ValueError, subprocess.TimeoutExpired):
        return None
    end = points[:, 2] > LENGTH / 2 - 1e-9
    if done.returncode != 0 or not np.isfinite(shift[end]).all():
        return None
    along = stress[np.isfinite(stress[:, 2]), 2]
    # Away from the clamp, whose corners are singular: at a quarter of the length, of 3/4 of the largest moment.
    near = np.flatnonzero(np.abs(points[:, 2] + LENGTH / 4) < 0.5)
    moment = FORCE * (LENGTH / 2 - points[near, 2])
    theory = 12 * moment * points[near, 1]  # sigma = M y / I
    slope = float(stress[near, 2] @ theory / (theory @ theory))
    return {"deflection": float(-shift[end, 1].mean()), "most": float(along.max()), "least": float(along.min()),
            "bending": slope, "nodes": len(points)}
