"""Better meshes by the program: nodes move until the cells are better (docs/explanation/mesh-smoothing.md).

    better = tutti.smooth(points, cells, iterations=50)
"""

import tempfile
from pathlib import Path

import numpy as np

from tutti.case import device_words
from tutti.program import run_program
from tutti.vtkxml import read_elements

GMSH_TYPES = {3: 2, 4: 4}  # triangles, tetrahedra: by points a cell


def smooth(points, cells, devices=None, ranks=None, threads=None, launch=None, program=None, **options):
    """New places of the points, (n, 2) or (n, 3) as given, for triangles (m, 3) or tetrahedra (m, 4), numbers of points.

    options: those of `tutti mesh smooth`, e.g. energy="l2v", boundary="fixed", iterations=50, stop_quality=0.5.
    Errors of the program are tutti.Error with its line.
    """
    points, cells = np.asarray(points, float), np.asarray(cells)
    if points.ndim != 2 or points.shape[1] not in (2, 3):
        raise TypeError(f"points: an array of shape {points.shape}; expected (n, 2) or (n, 3)")
    if cells.ndim != 2 or cells.shape[1] not in GMSH_TYPES or cells.dtype.kind not in "iu":
        raise TypeError(f"cells: an array of shape {cells.shape} of {cells.dtype}; expected whole numbers, (m, 3) or (m, 4)")
    if cells.size and not 0 <= cells.min() <= cells.max() < len(points):
        raise ValueError(f"cells: numbers from {cells.min()} to {cells.max()}; expected points 0 to {len(points) - 1}")
    words = ["-q", "mesh", "smooth", "mesh.msh", "-o", "better.vtu", *device_words(devices, threads)]
    for name, value in options.items():
        words += [f"--{name.replace('_', '-')}", str(value)]
    with tempfile.TemporaryDirectory(prefix="tutti_smooth_") as name:
        folder = Path(name)
        _write(folder / "mesh.msh", points, cells)
        run_program(words, ranks, launch, program, cwd=folder)
        return read_elements(folder / "better.vtu")[0][:, :points.shape[1]]


def _write(path, points, cells):
    """Gmsh's MSH 2.2 as text; 17 digits keep every bit."""
    with open(path, "w", encoding="ascii") as file:
        file.write(f"$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes\n{len(points)}\n")
        space = np.zeros((len(points), 3))
        space[:, :points.shape[1]] = points
        np.savetxt(file, np.column_stack([np.arange(1, len(points) + 1), space]), fmt="%d %.17g %.17g %.17g")
        file.write(f"$EndNodes\n$Elements\n{len(cells)}\n")
        head = np.ones((len(cells), 5), np.int64) * [0, GMSH_TYPES[cells.shape[1]], 2, 1, 1]
        head[:, 0] = np.arange(1, len(cells) + 1)
        np.savetxt(file, np.column_stack([head, cells + 1]), fmt="%d")
        file.write("$EndElements\n")
