#!/usr/bin/env python3
"""Reads what the test Vtu.vtk_reads_what_was_written left, with VTK's own readers and with the plain one.

Usage: read_results.py FOLDER. Exit code 1 says what differs. TUTTI_NO_VTK=1 leaves VTK out; without that, a missing VTK
is a failure.
"""

import os
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "python"))
sys.dont_write_bytecode = True

import numpy as np  # noqa: E402

from tutti import vtkxml  # noqa: E402
from tutti.results import Results  # noqa: E402

SIDE = 9
CELLS = 6 * SIDE**3
TIMES = [0.0, 0.1, 0.2]
PIECES = [3, 0, 6]  # layers of small cubes along x; the piece in the middle is empty


def check(condition, text):
    if not condition:
        sys.exit(f"read_results.py: {text}")


def volumes(points, tets):
    a, b, c, d = (points[tets[:, i]] for i in range(4))
    return np.einsum("ij,ij->i", np.cross(b - a, c - a), d - a) / 6


def check_grid(name, points, tets, data, time):
    check(len(tets) == CELLS, f"{name}: {len(tets)} cells, {CELLS} expected")
    check(np.allclose(volumes(points, tets), 1 / CELLS, rtol=1e-9), f"{name}: volumes")
    centre = points[tets].mean(axis=1)
    check(np.allclose(data["u"], centre @ [1, 10, 100] + time, rtol=1e-13, atol=1e-13), f"{name}: u")
    check(np.allclose(data["direction"], centre, rtol=1e-13, atol=1e-13), f"{name}: direction")
    check(data["u"].dtype == np.float64 and data["direction"].shape == (CELLS, 3), f"{name}: types")
    check(np.array_equal(np.sort(data['global <&">']), 2**40 + np.arange(CELLS)), f"{name}: 64-bit numbers")
    check(np.array_equal(np.unique(data["part"]), [0, 2]) and data["part"].dtype == np.int32, f"{name}: part")


def check_times_of_vtk(folder):
    """ParaView reads the time of a lone file from its field data."""
    from vtkmodules.vtkIOXML import vtkXMLUnstructuredGridReader

    reader = vtkXMLUnstructuredGridReader()
    reader.SetFileName(str(folder / "u_000002_p0000.vtu"))
    reader.Update()
    check(reader.GetOutput().GetNumberOfCells() == PIECES[0] * SIDE**2 * 6, "cells of one piece")
    value = reader.GetOutput().GetFieldData().GetArray("TimeValue").GetValue(0)
    check(value == 0.2, f"TimeValue {value}")


def check_folder(folder):
    results = Results(folder)
    check(results.times == TIMES, f"times {results.times}")
    for time in TIMES:
        snapshot = results.load(time)
        check_grid(f"t = {time}", snapshot.points, snapshot.tets, snapshot.cell_data, time)
        merged = snapshot.merged()
        check(len(merged.points) == (SIDE + 1) ** 3, f"{len(merged.points)} points when merged")
        check_grid("merged", merged.points, merged.tets, merged.cell_data, time)


def main():
    folder = Path(sys.argv[1])
    with_vtk = not os.environ.get("TUTTI_NO_VTK")
    if with_vtk:
        os.environ.pop("TUTTI_PLAIN_READER", None)
        check(vtkxml.have_vtk(), "VTK cannot be imported; install python3-vtk9 or set TUTTI_NO_VTK=1")
        check_folder(folder)
        check_times_of_vtk(folder)
    os.environ["TUTTI_PLAIN_READER"] = "1"
    check_folder(folder)


if __name__ == "__main__":
    main()
