"""What a run left: fields as arrays with their coordinates, curves as tables, the mesh, pictures.

    run = Run("DIR")                 # or the result of Case.run
    run.fields["u"], run.history, run.mesh, run.plot()
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from dataclasses import field as with_default
from functools import cached_property
from pathlib import Path

import numpy as np

from tutti import vtkxml
from tutti.messages import Error, need
from tutti.results import Results, read_probes

OF_THE_SPLIT = ("part", "node")  # written beside the fields


def table(columns):
    """Columns [(name, array)] as a pandas.DataFrame, or, without pandas, as a structured array."""
    names, taken = [], set()
    for name, _ in columns:  # two probes may have one name
        number, unique = 1, name
        while unique in taken:
            number, unique = number + 1, f"{name} ({number + 1})"
        taken.add(unique)
        names.append(unique)
    columns = [np.asarray(values) for _, values in columns]
    try:
        import pandas
    except ImportError:
        rows = np.empty(len(columns[0]) if columns else 0, [(name, c.dtype) for name, c in zip(names, columns)])
        for name, values in zip(names, columns):
            rows[name] = values
        return rows
    return pandas.DataFrame(dict(zip(names, columns)))


@dataclass
class Field:
    """A field at all times, as xarray.DataArray has it, where xarray is not installed."""

    name: str
    values: np.ndarray
    dims: tuple    # ("time", "cell") or ("time", "x", "y", "z"), and "component" of vectors
    coords: dict   # "time", and "x", "y", "z" of the cells
    attrs: dict = with_default(default_factory=dict)  # "units"

    @property
    def shape(self):
        return self.values.shape

    def __array__(self, dtype=None, copy=None):
        return np.array(self.values, dtype=dtype, copy=True if copy is None else copy)


def _as_field(name, values, dims, coords, unit):
    """coords: {name: (dims, values)}."""
    try:
        import xarray
    except ImportError:
        return Field(name, values, dims, {key: array for key, (_, array) in coords.items()}, {"units": unit})
    return xarray.DataArray(values, coords, dims, name, {"units": unit})


def _ordered_cells(path):
    """Centres (x, y, z) of the cells of a file and its arrays, in an order that the split of the mesh does not change.
    A centre is the mean of the cell's points; sums of ascending numbers have the same bits for any order of the points."""
    points, connectivity, ends, _, cell_data = vtkxml.read_elements(path)
    if "node" in cell_data:  # the nodes' own numbers
        order, centres = np.argsort(cell_data["node"]), points[connectivity]
    else:
        sizes = np.diff(ends, prepend=0)
        cell = np.repeat(np.arange(len(ends)), sizes)
        centres = np.empty((len(ends), 3))
        for d in range(3):
            x = points[connectivity, d] + 0.0  # makes -0.0 and 0.0 one number
            centres[:, d] = np.add.reduceat(x[np.lexsort((x, cell))], ends - sizes) / sizes if len(ends) else 0
        order = np.lexsort(centres.T[::-1])
    return centres[order], {name: values[order] for name, values in cell_data.items()}


class Fields(Mapping):
    """The fields by name, read when they are asked for. The cells of an unstructured mesh come in the order of their
    places, x first, nodes in that of their numbers: however the mesh was split."""

    def __init__(self, results):
        self._results = results

    @cached_property
    def _names(self):
        return [name for name in self._load(self._results.entries[0][1])[1] if name not in OF_THE_SPLIT]

    def __iter__(self):
        return iter(self._names)

    def __len__(self):
        return len(self._names)

    def __getitem__(self, name):
        return self.at(None, name)

    def __repr__(self):
        return f"<Fields {', '.join(self._names)} at {len(self._results.times)} times>"

    @staticmethod
    def _load(path):
        return vtkxml.read_boxes(path) if path.suffix in vtkxml.BOX_SUFFIXES else _ordered_cells(path)

    def at(self, time, name):
        """The field at one time only, "first", "last" or a number: the nearest output; None: at all times."""
        entries = self._results.entries
        if time is not None:
            entries = [entries[self._results.index_of(time)]]
        values = []
        for _, path in entries:
            places, cell_data = self._load(path)
            if name not in cell_data:
                raise KeyError(f"no field '{name}'; choose one of {', '.join(self._names)}")
            values.append(cell_data[name])
        times = np.array([when for when, _ in entries])
        if isinstance(places, list):  # planes between the cells of a grid
            dims = ("x", "y", "z")
            coords = {d: (d, 0.5 * (faces[1:] + faces[:-1])) for d, faces in zip(dims, places)}
        else:
            dims = ("cell",)
            coords = {d: ("cell", places[:, i]) for i, d in enumerate("xyz")}
        dims = ("time", *dims, *(["component"] if values[0].ndim > len(dims) else []))
        return _as_field(name, np.stack(values), dims, {"time": ("time", times), **coords}, self._results.unit(name))


class GraphFields(Mapping):
    """Of a graph: what was measured, a value per vertex."""

    MEASURES = ("betweenness", "closeness", "components")

    def __init__(self, folder, kept=None):
        self._files, self._kept = {}, kept
        for name in self.MEASURES:
            for suffix in (".csv", ".npy", ".npz"):
                if (folder / f"{name}{suffix}").is_file():
                    self._files[name] = folder / f"{name}{suffix}"

    def __iter__(self):
        return iter(self._files)

    def __len__(self):
        return len(self._files)

    def __getitem__(self, name):
        path = self._files[name]
        column = "component" if name == "components" else name
        kind = np.int64 if name == "components" else np.float64
        if path.suffix == ".csv":
            rows = np.atleast_1d(np.genfromtxt(path, delimiter=",", names=True, dtype=[("vertex", np.int64), (column, kind)]))
        else:
            rows = np.load(path)
        return _as_field(name, rows[column], ("vertex",), {"vertex": ("vertex", rows["vertex"])}, "")


class Run:
    """A folder of results. `said` is what the program printed; `summary` is summary.json (docs/reference/summary.md)."""

    def __init__(self, folder, said="", temporary=None):
        self.folder, self.said, self._temporary = Path(folder), said, temporary
        if not self.folder.is_dir():
            raise FileNotFoundError(f"{self.folder}: no such folder of results; check the name")

    @cached_property
    def summary(self):
        path = self.folder / "summary.json"
        try:
            return json.loads(path.read_text(encoding="utf-8"))
        except FileNotFoundError:
            raise FileNotFoundError(f"{path}: no such file: the run has not ended, or was killed; continue with run.restart()") from None
        except ValueError as error:
            raise ValueError(f"{path}: not JSON: {error}; the file is damaged") from None

    @cached_property
    def results(self):
        """The tutti.results.Results of the folder: the snapshots as they were written, part after part."""
        results = Results(self.folder)
        results.kept = self._temporary  # the files are there as long as somebody can ask for them
        return results

    @cached_property
    def fields(self):
        """{name: array}: xarray.DataArray, or Field where xarray is not installed."""
        return GraphFields(self.folder, self._temporary) if self.summary["model"] == "graph" else Fields(self.results)

    def slice(self, name):
        """The fields of the slice of this name, [[output.slice]]."""
        results = Results(self.folder, slice=name)
        results.kept = self._temporary
        return Fields(results)

    @property
    def times(self):
        """Times of the outputs, ascending."""
        return self.results.times

    @property
    def history(self):
        """Diagnostics over time, a pandas.DataFrame or, without pandas, a structured array."""
        return table(read_probes(self.folder / "history.csv"))

    @property
    def probes(self):
        """Values at the probes over time, as history."""
        return table(read_probes(self.folder / "probes.csv"))

    def line(self, name):
        """The rows of [[output.line]] of this name, all times: time, x, y, z and the quantities."""
        return table(read_probes(self.folder / "lines" / f"{name}.csv"))

    def surface(self, name):
        """The faces of the [[output.surface]] of this name with `profile`, all times: time, x, y, z, area and the value."""
        return table(read_probes(self.folder / "surfaces" / f"{name}.csv"))

    def plane(self, name):
        """The polygons of the [[output.plane]] of this name with `csv`, all times: time, x, y, z, area and the quantities."""
        return table(read_probes(self.folder / "planes" / f"{name}.csv"))

    @property
    def mesh(self):
        """The mesh with the fields of the last output, a grid of PyVista."""
        return self.mesh_at("last")

    def mesh_at(self, time):
        """The same at "first", "last" or a number: the nearest output."""
        pyvista = need("pyvista", "run.mesh")
        return pyvista.read(str(self.results.entries[self.results.index_of(time)][1]))

    def plot(self, output=None, **options):
        """A matplotlib.figure.Figure as `tutti plot` draws it, written to `output`, too, if one is named. options: field,
        time, clip, slice, at, view=(azimuth, elevation), range=(MIN, MAX), colours, title, dpi, as those of the command."""
        need("matplotlib", "run.plot()")
        from matplotlib import pyplot

        from tutti import plot

        words = plot.parse_arguments([str(self.folder)])
        unknown = [name for name in options if name not in vars(words) or name in ("folder", "output")]
        if unknown or options.get("clip") not in (None, "x", "y", "z", "none"):
            raise TypeError(f"run.plot: {unknown[0] if unknown else 'clip'}: expected field, time, clip (x, y, z or none), "
                            "slice, at, view, range, colours, title or dpi")
        vars(words).update(options)
        results = Results(self.folder, slice=words.slice) if words.slice else self.results
        figure, _ = plot.figure_of(results, results.load(words.time), {}, words)
        if output is not None:
            plot.save(figure, output, words.dpi)
        pyplot.close(figure)  # a notebook shows what the call returns, once
        return figure

    def plot_history(self, output=None):
        """The same of the diagnostics and probes over time."""
        need("matplotlib", "run.plot_history()")
        from matplotlib import pyplot

        from tutti import history, pictures

        figure = history.picture(history.panels(self.folder), self.folder.resolve().name)
        if output is not None:
            pictures.save_figure(figure, output, 130)
        pyplot.close(figure)
        return figure

    def restart(self, changes=(), devices=None, ranks=None, threads=None, progress=None, options=(), launch=None,
                program=None):
        """Goes on from the newest checkpoint with changed keys, {"time.end": 2}, and returns the Run, of the same folder."""
        from tutti.case import device_words, toml_text
        from tutti.program import run_program

        if not isinstance(changes, dict) and changes != ():
            raise TypeError(f"restart: {changes!r} is no dict of keys and values; write e.g. {{\"time.end\": 2}}")
        words = ["run", "--restart", str(self.folder)]
        words += [word for key, value in dict(changes).items() for word in ("--set", f"{key}={toml_text(value)}")]
        words += [*device_words(devices, threads), *options]
        said = run_program(words, ranks, launch, program, progress, self.folder / "stop")
        return Run(self.folder, said, self._temporary)

    def __repr__(self):
        try:
            s = self.summary
        except (OSError, ValueError, Error):
            return f"<Run in {self.folder}>"
        what = "vertices" if s["model"] == "graph" else "cells"
        return f"<Run of {s['model']}: {s['cells']:,} {what}, {s['steps']:,} steps, in {self.folder}>"
