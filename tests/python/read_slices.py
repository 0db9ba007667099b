#!/usr/bin/env python3
"""Holds the slices of a run to its fields: the same numbers in the same cells, at the same times.

Usage: read_slices.py FOLDER NAME:AXIS:LAYER:TIMES ... A slice's name, its axis as a number, its layer of cells and its
times, between commas; at those times FOLDER has fields, too. Exit code 1 says what differs. TUTTI_NO_VTK=1 leaves VTK
out; without that, a missing VTK is a failure.
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
        sys.exit(f"read_slices.py: {text}")


def check_slice(folder, name, axis, layer, times):
    whole, part = Results(folder), Results(folder, slice=name)
    check(part.times == times, f"{name}: times {part.times}, {times} expected")
    for time in times:
        all_cells, cells = whole.load(time), part.load(time)
        check(all_cells.time == time, f"there are no fields at {time}")
        check(cells.shape == tuple(1 if d == axis else n for d, n in enumerate(all_cells.shape)), f"{name}: {cells.shape}")
        for d in range(3):
            faces = all_cells.faces[d][layer:layer + 2] if d == axis else all_cells.faces[d]
            check(np.allclose(cells.faces[d], faces, rtol=1e-14, atol=1e-14 * np.abs(faces).max()), f"{name}: faces {d}")
        check(list(cells.cell_data) == list(all_cells.cell_data), f"{name}: fields {list(cells.cell_data)}")
        for field, values in all_cells.cell_data.items():
            expected, got = np.take(values, [layer], axis), cells.cell_data[field]
            check(got.dtype == values.dtype and np.array_equal(got, expected), f"{name}: {field} at {time} differs")


def main():
    folder = Path(sys.argv[1])
    slices = [(name, int(axis), int(layer), [float(t) for t in times.split(",")])
              for name, axis, layer, times in (word.split(":") for word in sys.argv[2:])]
    for plain in ("", "1"):
        if plain:
            os.environ["TUTTI_PLAIN_READER"] = plain
        elif os.environ.get("TUTTI_NO_VTK"):
            continue
        else:
            os.environ.pop("TUTTI_PLAIN_READER", None)
            check(vtkxml.have_vtk(), "VTK cannot be imported; install python3-vtk9 or set TUTTI_NO_VTK=1")
        for one in slices:
            check_slice(folder, *one)
    names = sorted(path.stem for path in folder.glob("slices/*.pvd"))
    check(names == sorted("slice-" + name for name, *_ in slices), f"slices {names}")


if __name__ == "__main__":
    main()
