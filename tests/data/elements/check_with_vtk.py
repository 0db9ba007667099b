#!/usr/bin/env python3
"""Reads a .vtu of Lagrange or linear cells with VTK and compares its fields, between the points, with what they sample.

usage: check_with_vtk.py FILE DEGREE   (exit code 77: there is no VTK here)
Point data 'f' is x + 2 y + 3 z, 'g' the element's number plus that to the power DEGREE, where DEGREE is not 0; cell data
'element' is the element's number. Prints the cells' types, and the volume by VTK's own cut into tetrahedra.
"""
import sys

try:
    from vtkmodules.vtkCommonCore import reference
    from vtkmodules.vtkFiltersVerdict import vtkCellSizeFilter
    from vtkmodules.vtkIOXML import vtkXMLUnstructuredGridReader
except ImportError:
    sys.exit(77)

POINTS = [(0.2, 0.3, 0.1), (0.1, 0.2, 0.6), (0.45, 0.1, 0.3)]


def main(path, degree):
    reader = vtkXMLUnstructuredGridReader()
    reader.SetFileName(path)
    reader.Update()
    grid = reader.GetOutput()
    assert grid.GetNumberOfCells() > 0, "no cells"
    f, g = (grid.GetPointData().GetArray(name) for name in "fg")
    element = grid.GetCellData().GetArray("element")
    worst = 0.0
    for c in range(grid.GetNumberOfCells()):
        cell = grid.GetCell(c)
        for place in POINTS:
            x, weights = evaluate(cell, place)
            exact = x[0] + 2 * x[1] + 3 * x[2]
            values = [sum(w * a.GetValue(cell.GetPointId(i)) for i, w in enumerate(weights)) for a in (f, g)]
            worst = max(worst, abs(values[0] - exact))
            if degree:
                worst = max(worst, abs(values[1] - exact**degree - element.GetValue(c)))
    assert worst < 1e-11, f"a field differs by {worst}"
    size = vtkCellSizeFilter()
    size.SetInputData(grid)
    size.SetComputeSum(True)
    size.Update()
    print(sorted({grid.GetCellType(c) for c in range(grid.GetNumberOfCells())}), end=" ")
    print(f"{abs(size.GetOutput().GetFieldData().GetArray('Volume').GetValue(0)):.6f}")
    return 0


def evaluate(cell, place):
    """The point at parametric coordinates, and the shape functions there."""
    x, weights = [0.0] * 3, [0.0] * cell.GetNumberOfPoints()
    cell.EvaluateLocation(reference(0), list(place), x, weights)
    return x, weights


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], int(sys.argv[2])))
