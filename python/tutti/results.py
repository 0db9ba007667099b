"""A folder of results: the summary, the times and the fields.

    results = Results("DIR")
    snapshot = results.load("last")
    snapshot.points, snapshot.tets, snapshot.cell_data["u"]

A structured grid is loaded as a BoxSnapshot:

    snapshot.centres[0], snapshot.cell_data["velocity"][i, j, k]

So is a slice of one, [[output.slice]], which is one cell thick:

    Results("DIR", slice="NAME").load("last")

Elements of several kinds are loaded as an ElementSnapshot:

    snapshot.mesh.points, snapshot.mesh.groups, snapshot.cell_data["rho"]

Nodes, as of transport on the sphere, are loaded as a NodeSnapshot:

    snapshot.points, snapshot.point_data["front"]
"""

import csv
import json
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from tutti import surface, vtkxml
from tutti.elements import ElementMesh


@dataclass
class Snapshot:
    """The mesh and its cell arrays at one time."""

    time: float
    points: np.ndarray  # (n, 3)
    tets: np.ndarray  # (m, 4), numbers of points
    cell_data: dict = field(default_factory=dict)  # name -> (m,) or (m, components)

    def merged(self):
        """The same with points that several pieces share made one (they agree in every bit)."""
        points, number = surface.merge(self.points)
        return Snapshot(self.time, points, number[self.tets], self.cell_data)

    def boundary(self):
        """What of the mesh can be seen from outside, as surface.Triangles."""
        return surface.boundary(self.points, self.tets)

    def section(self, normal, offset):
        """The plane normal . p = offset through the cells, as surface.Triangles."""
        return surface.section(self.points, self.tets, normal, offset)


@dataclass
class ElementSnapshot:
    """A mesh of elements of several kinds and its cell arrays at one time."""

    time: float
    mesh: ElementMesh
    cell_data: dict = field(default_factory=dict)  # name -> (m,) or (m, components)

    @property
    def points(self):
        return self.mesh.points

    def merged(self):
        return self.mesh.merged()


@dataclass
class BoxSnapshot:
    """A structured grid and its cell arrays at one time."""

    time: float
    faces: list  # planes between the cells in x, y, z; ascending; one more than cells
    cell_data: dict = field(default_factory=dict)  # name -> (nx, ny, nz) or (nx, ny, nz, components)

    @property
    def centres(self):
        """Centres of the cells in x, y, z."""
        return [0.5 * (f[1:] + f[:-1]) for f in self.faces]

    @property
    def shape(self):
        """Cells in x, y, z."""
        return tuple(max(len(f) - 1, 0) for f in self.faces)


@dataclass
class NodeSnapshot:
    """Nodes and their arrays at one time."""

    time: float
    points: np.ndarray  # (n, 3)
    point_data: dict = field(default_factory=dict)  # name -> (n,) or (n, components)

    @property
    def cell_data(self):
        """The same, for what takes any snapshot: every node is a cell."""
        return self.point_data


def read_probes(path):
    """Columns of a probes.csv, [("time", array), (name, array), ...]: two probes may have one name. A last line that is
    cut off is left out: the run goes on, or was killed."""
    with open(path, newline="", encoding="utf-8") as stream:
        rows = list(csv.reader(stream))
    if not rows:
        raise ValueError(f"{path}: no header; the names of the probes are expected")
    values = []
    for number, row in enumerate(rows[1:], 1):
        try:
            if len(row) != len(rows[0]):
                raise ValueError(f"{len(row)} values for {len(rows[0])} columns")
            values.append([float(v) for v in row])
        except ValueError as error:
            if number + 1 < len(rows):
                raise ValueError(f"{path}: row {number}: {error}; the file is damaged") from None
    table = np.array(values).reshape(-1, len(rows[0]))
    return [(name, table[:, i]) for i, name in enumerate(rows[0])]


class Results:
    """What `tutti run CASE -o DIR` left in DIR; with `slice`, the slice of this name instead of the whole grid."""

    def __init__(self, folder, slice=None):
        self.folder = Path(folder)
        if not self.folder.is_dir():
            raise FileNotFoundError(f"{self.folder}: no such folder of results; check the name")
        if slice is not None:
            series = [self._series_of_slice(slice)]
        else:
            series = sorted(self.folder.glob("*.pvd"), key=lambda path: (path.name != "results.pvd", path))
        self._series = vtkxml.read_series(series[0]) if series else self._lone_files()
        if not self._series and (self.folder / "results.vtkhdf").is_file():
            raise FileNotFoundError(f"{self.folder}: results.vtkhdf is for ParaView and h5py; write output.format = "
                                    "\"vtk\" to read them here")
        if not self._series:
            raise FileNotFoundError(f"{self.folder}: no .pvd, .pvtu, .vtu or other file of VTK; did the run write output?")
        summary = self.folder / "summary.json"
        try:
            self.summary = json.loads(summary.read_text(encoding="utf-8")) if summary.is_file() else {}
        except ValueError as error:
            raise ValueError(f"{summary}: not JSON: {error}; the file is damaged") from None

    def _series_of_slice(self, name):
        found = {path.stem[len("slice-"):]: path for path in sorted(self.folder.glob("slices/slice-*.pvd"))}
        if name not in found:
            if not found:
                raise ValueError(f"--slice: no slice '{name}', the run wrote none; add [[output.slice]] to the case")
            raise ValueError(f"--slice: no slice '{name}'; choose one of {', '.join(found)}")
        return found[name]

    def _lone_files(self):
        for suffix in (".pvtu", ".vtu", *vtkxml.BOX_SUFFIXES):
            if files := sorted(self.folder.glob("*" + suffix)):
                return [(float(i), path) for i, path in enumerate(files)]
        return []

    @property
    def entries(self):
        """[(time, file)] of the outputs, by time."""
        return self._series

    @property
    def times(self):
        """Times of the outputs, ascending."""
        return [time for time, _ in self._series]

    def index_of(self, time="last"):
        """Number of the output at `time`: "first", "last" or a number, of which the nearest output is taken."""
        if time in ("first", "last"):
            return 0 if time == "first" else len(self._series) - 1
        try:
            wanted = float(time)
        except ValueError:
            raise ValueError(f"--time: '{time}' is not first, last or a number; write one of these") from None
        return int(np.argmin(np.abs(np.array(self.times) - wanted)))

    def load(self, time="last"):
        """The Snapshot at `time` (see index_of); of other elements than tetrahedra, the ElementSnapshot; of a structured
        grid, the BoxSnapshot; of nodes, the NodeSnapshot."""
        when, path = self._series[self.index_of(time)]
        if path.suffix in vtkxml.BOX_SUFFIXES:
            return BoxSnapshot(when, *vtkxml.read_boxes(path))
        points, connectivity, ends, types, cell_data = vtkxml.read_elements(path)
        if np.all(types == vtkxml.VTK_TETRA):
            return Snapshot(when, points, connectivity.reshape(-1, 4), cell_data)
        if np.all(types == vtkxml.VTK_VERTEX):
            return NodeSnapshot(when, points[connectivity], cell_data)
        return ElementSnapshot(when, ElementMesh.of(path, points, connectivity, ends, types), cell_data)

    def unit(self, name):
        """Unit of a field, "" when the summary names none."""
        return self.summary.get("units", {}).get(name, "")

    def probes(self, file="probes.csv"):
        """Columns of the probes' file: {"time": array, name: array, ...}."""
        return dict(read_probes(self.folder / file))
