#!/usr/bin/env python3
"""Writes the .vtu files of this folder with VTK (Debian: python3-vtk9): one grid in every encoding.

usage: /usr/bin/python3 make.py    (in this folder; the files were made with VTK 9.1.0)
"""
import vtk
from vtk.util.numpy_support import numpy_to_vtk
import numpy as np

# Two cubes side by side in six tetrahedra each around their diagonals, then their two ends as tagged triangles and one
# triangle without a tag, and a vertex and a line, which readers of meshes leave out.
points = [(x, y, z) for z in (0, 1) for y in (0, 1) for x in (0, 1, 2.5)]
number = {point: i for i, point in enumerate(points)}
tets = []
for low, high in [(0, 1), (1, 2.5)]:
    for axes in [(0, 1, 2), (1, 2, 0), (2, 0, 1), (0, 2, 1), (2, 1, 0), (1, 0, 2)]:
        corner = [low, 0, 0]
        path = [tuple(corner)]
        for axis in axes:
            corner[axis] = high if axis == 0 else 1
            path.append(tuple(corner))
        tet = [number[p] for p in path]
        a, b, c, d = (np.array(points[i], float) for i in tet)
        if np.dot(np.cross(b - a, c - a), d - a) < 0:
            tet[2], tet[3] = tet[3], tet[2]
        tets.append(tet)
ends = [[number[(x, *p)] for p in corners]
        for x in (0, 2.5) for corners in [[(0, 0), (1, 0), (1, 1)], [(0, 0), (1, 1), (0, 1)]]]
lower = [number[p] for p in [(0, 0, 0), (1, 0, 0), (1, 1, 0)]]

grid = vtk.vtkUnstructuredGrid()
vertices = vtk.vtkPoints()
vertices.SetDataTypeToDouble()
for x, y, z in points:
    vertices.InsertNextPoint(x / 3, y * 0.7, z / 7)
grid.SetPoints(vertices)
cells = [(vtk.VTK_VERTEX, [0], 0)]
cells += [(vtk.VTK_TRIANGLE, ends[i], 4 if i < 2 else 5) for i in range(4)]
cells += [(vtk.VTK_TETRA, tet, 1 + i // 6) for i, tet in enumerate(tets)]
cells += [(vtk.VTK_TRIANGLE, lower, 0), (vtk.VTK_LINE, [0, 1], 9)]
for kind, numbers, _ in cells:
    grid.InsertNextCell(kind, len(numbers), numbers)


def add(name, values, kind):
    array = numpy_to_vtk(np.array(values), deep=True, array_type=kind)
    array.SetName(name)
    grid.GetCellData().AddArray(array)


n = len(cells)
add("region", np.array([tag for _, _, tag in cells], np.int32), vtk.VTK_INT)
add("fibre", np.array([[c / 3, -c, 1 / (c + 1)] for c in range(n)]), vtk.VTK_DOUBLE)
add("pair", np.array([[c, c] for c in range(n)], float), vtk.VTK_DOUBLE)
for name, kind, numpy_type in [
        ("Int8", vtk.VTK_SIGNED_CHAR, np.int8), ("UInt8", vtk.VTK_UNSIGNED_CHAR, np.uint8),
        ("Int16", vtk.VTK_SHORT, np.int16), ("UInt16", vtk.VTK_UNSIGNED_SHORT, np.uint16),
        ("Int32", vtk.VTK_INT, np.int32), ("UInt32", vtk.VTK_UNSIGNED_INT, np.uint32),
        ("Int64", vtk.VTK_LONG_LONG, np.int64), ("UInt64", vtk.VTK_UNSIGNED_LONG_LONG, np.uint64),
        ("Float32", vtk.VTK_FLOAT, np.float32), ("Float64", vtk.VTK_DOUBLE, np.float64)]:
    # 5 times the cell's number, in signed types with a minus sign.
    add(name, np.array([5 * c if name.startswith("U") else -5 * c for c in range(n)]).astype(numpy_type), kind)
words = vtk.vtkStringArray()
words.SetName("words")
for c in range(n):
    words.InsertNextValue(f"cell {c}")
grid.GetCellData().AddArray(words)
heights = numpy_to_vtk(np.arange(len(points), dtype=float), deep=True)
heights.SetName("height")
grid.GetPointData().AddArray(heights)


def write(name, mode, compressed=False, header=64, big_endian=False, block=None, base64=False):
    writer = vtk.vtkXMLUnstructuredGridWriter()
    writer.SetInputData(grid)
    writer.SetFileName(name + ".vtu")
    writer.SetDataMode({"ascii": writer.Ascii, "binary": writer.Binary, "appended": writer.Appended}[mode])
    writer.SetEncodeAppendedData(base64)
    writer.SetHeaderType(writer.UInt64 if header == 64 else writer.UInt32)
    writer.SetByteOrder(writer.BigEndian if big_endian else writer.LittleEndian)
    writer.SetCompressor(vtk.vtkZLibDataCompressor() if compressed else None)
    if block:
        writer.SetBlockSize(block)
    if not writer.Write():
        raise SystemExit(f"{name}: VTK could not write it")


write("ascii", "ascii")
write("inline", "binary", header=32)
write("inline_zlib", "binary", compressed=True, block=96)
write("raw", "appended")
write("raw_zlib", "appended", compressed=True, header=32, block=96)
write("base64", "appended", base64=True)
write("base64_zlib", "appended", compressed=True, base64=True, block=96)
write("big_endian", "appended", header=32, big_endian=True)
write("big_endian_zlib", "appended", compressed=True, big_endian=True, block=96)
