#!/usr/bin/env python3
"""Reads what the tests of structured grids (Vti.*, BoxResults.*) left, with VTK's own readers and with the plain one.

Usage: read_boxes.py FOLDER. The folder holds results.pvd; faces.txt, a line of numbers a direction; times.txt, a time a
line. The fields are known: see check_snapshot. Exit code 1 says what differs. TUTTI_NO_VTK=1 leaves VTK out; without
that, a missing VTK is a failure.
"""

import os
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "python"))
sys.dont_write_bytecode = True

import numpy as np  # noqa: E402

from tutti import vtkxml  # noqa: E402
from tutti.results import Results  # noqa: E402


def check(condition, text):
    if not condition:
        sys.exit(f"read_boxes.py: {text}")


def check_snapshot(snapshot, faces, time):
    """cell: number of the cell in the grid. velocity: floats, (x + time, y, z) of the centre."""
    name = f"t = {time}"
    shape = tuple(len(f) - 1 for f in faces)
    check(snapshot.shape == shape, f"{name}: cells {snapshot.shape}, {shape} expected")
    for got, wanted in zip(snapshot.faces, faces):
        check(np.allclose(got, wanted, rtol=1e-14, atol=1e-14 * np.abs(wanted).max()), f"{name}: faces {got}")
    i, j, k = np.meshgrid(*map(np.arange, shape), indexing="ij")
    cell, velocity, part = (snapshot.cell_data[n] for n in ("cell", "velocity <&>", "part"))
    check(np.array_equal(cell, i + shape[0] * (j + shape[1] * k)) and cell.dtype == np.float64, f"{name}: cell")
    centre = np.stack(np.meshgrid(*(0.5 * (f[1:] + f[:-1]) for f in faces), indexing="ij"), axis=-1) + [time, 0, 0]
    check(velocity.dtype == np.float32 and velocity.shape == (*shape, 3), f"{name}: type of velocity")
    check(np.allclose(velocity, centre, rtol=1e-6, atol=1e-6), f"{name}: velocity")
    check(part.dtype == np.int32 and part.shape == shape, f"{name}: type of part")
    return part


def check_pieces(folder, part):
    """Every piece can be opened alone, has its time, and holds the cells that say so."""
    for path in sorted(folder.glob("fields/*.vt?")):
        number = int(path.stem.split("_p")[1])
        _, fields = vtkxml.read_boxes(path)
        check(fields["part"].size == np.count_nonzero(part == number), f"{path.name}: {fields['part'].shape} cells")
        check(np.all(fields["part"] == number), f"{path.name}: part")


def check_time_of_vtk(folder, times):
    from vtkmodules import vtkIOXML

    for path in sorted(folder.glob("fields/*.*vt?")):
        kind = ("P" if path.suffix[1] == "p" else "") + ("ImageData" if path.suffix.endswith("i") else "RectilinearGrid")
        reader = getattr(vtkIOXML, f"vtkXML{kind}Reader")()
        reader.SetFileName(str(path))
        reader.Update()
        check(reader.GetErrorCode() == 0, f"{path.name}: VTK's error {reader.GetErrorCode()}")
        if reader.GetOutput().GetNumberOfCells() > 0 and path.suffix[1] != "p":
            value = reader.GetOutput().GetFieldData().GetArray("TimeValue").GetValue(0)
            check(value == times[int(path.stem.split("_")[1])], f"{path.name}: TimeValue {value}")


def check_folder(folder, faces, times):
    results = Results(folder)
    check(results.times == times, f"times {results.times}, {times} expected")
    for time in times:
        part = check_snapshot(results.load(time), faces, time)
    check_pieces(folder, part)


def main():
    folder = Path(sys.argv[1])
    faces = [np.array(line.split(), float) for line in (folder / "faces.txt").read_text().splitlines()]
    times = [float(line) for line in (folder / "times.txt").read_text().splitlines()]
    if not os.environ.get("TUTTI_NO_VTK"):
        os.environ.pop("TUTTI_PLAIN_READER", None)
        check(vtkxml.have_vtk(), "VTK cannot be imported; install python3-vtk9 or set TUTTI_NO_VTK=1")
        check_folder(folder, faces, times)
        check_time_of_vtk(folder, times)
    os.environ["TUTTI_PLAIN_READER"] = "1"
    check_folder(folder, faces, times)


if __name__ == "__main__":
    main()
