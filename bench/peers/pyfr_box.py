"""Writes a periodic unit box of N^3 cubes in Gmsh's format 2.2, as PyFR reads it: hexahedra, or tetrahedra as tutti cuts them.

usage: pyfr_box.py tet|hex N FILE.msh
"""

import itertools
import sys

import numpy as np

# Corners of a cube are bits (1: x, 2: y, 4: z). Kuhn's six tetrahedra are the paths from corner 0 to corner 7.
KUHN = [[0, 1, 3, 7], [0, 3, 2, 7], [0, 2, 6, 7], [0, 6, 4, 7], [0, 4, 5, 7], [0, 5, 1, 7]]
HEXAHEDRON = [0, 1, 3, 2, 4, 5, 7, 6]
GMSH_TYPES = {"tet": (2, 4), "hex": (3, 5)}  # of faces and elements


def corners(grid, bits, cubes):
    """Points of the given corners of all cubes, x fastest."""
    n = grid.shape[0] - 1
    shifted = [grid[b >> 2 : n + (b >> 2), (b >> 1) & 1 : n + ((b >> 1) & 1), b & 1 : n + (b & 1)] for b in bits]
    return np.stack([s[cubes].ravel() for s in shifted], axis=1)


def sides(shapes):
    """(axis, end, corners) of the faces that elements of one cube have on its sides."""
    for axis, end, shape in itertools.product(range(3), range(2), shapes):
        face = sorted(b for b in shape if b >> axis & 1 == end)
        if len(shape) == 8:
            yield axis, end, [face[i] for i in (0, 1, 3, 2)]
        elif len(face) == 3:
            yield axis, end, face


def main(element, n, path):
    n = int(n)
    grid = np.arange(1, (n + 1) ** 3 + 1).reshape(n + 1, n + 1, n + 1)  # indexed by z, y, x
    face_type, element_type = GMSH_TYPES[element]
    shapes = KUHN if element == "tet" else [HEXAHEDRON]
    everywhere = (slice(None),) * 3
    names = ["fluid"] + [f"periodic_{x}_{end}" for x in "xyz" for end in "lr"]
    blocks = []
    for axis, end, face in sides(shapes):
        cubes = list(everywhere)
        cubes[2 - axis] = slice(-1, None) if end else slice(0, 1)
        blocks.append((face_type, 2 + 2 * axis + end, corners(grid, face, tuple(cubes))))
    inside = np.stack([corners(grid, shape, everywhere) for shape in shapes], axis=1)
    blocks.append((element_type, 1, inside.reshape(-1, inside.shape[-1])))

    with open(path, "w") as out:
        out.write("$MeshFormat\n2.2 0 8\n$EndMeshFormat\n")
        out.write(f"$PhysicalNames\n{len(names)}\n")
        out.writelines(f'{3 if i == 1 else 2} {i} "{name}"\n' for i, name in enumerate(names, 1))
        out.write(f"$EndPhysicalNames\n$Nodes\n{grid.size}\n")
        z, y, x = np.unravel_index(np.arange(grid.size), grid.shape)
        np.savetxt(out, np.stack([grid.ravel(), x / n, y / n, z / n], axis=1), fmt="%d %.17g %.17g %.17g")
        out.write(f"$EndNodes\n$Elements\n{sum(len(points) for _, _, points in blocks)}\n")
        first = 1
        for kind, name, points in blocks:
            tags = np.tile([0, kind, 2, name, name], (len(points), 1))
            tags[:, 0] = np.arange(first, first + len(points))
            np.savetxt(out, np.hstack([tags, points]), fmt="%d")
            first += len(points)
        out.write("$EndElements\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
