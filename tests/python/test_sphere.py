#!/usr/bin/env python3
"""Results at nodes on a sphere: reading, what a picture shows where, pictures. Needs numpy and matplotlib, no build and no
display.

Usage: test_sphere.py
"""

import contextlib
import io
import os
import shutil
import struct
import sys
import tempfile
import unittest
import zlib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "python"))
sys.dont_write_bytecode = True

import matplotlib.image  # noqa: E402
import numpy as np  # noqa: E402

from tutti import sphere  # noqa: E402
from tutti.__main__ import main  # noqa: E402
from tutti.plot import camera  # noqa: E402
from tutti.results import NodeSnapshot, Results  # noqa: E402

KINDS = {"<f8": "Float64", "<i8": "Int64", "<i4": "Int32", "|u1": "UInt8"}


def fibonacci(n):
    i = np.arange(n) + 0.5
    z, angle = 1 - 2 * i / n, np.pi * (1 + np.sqrt(5)) * i
    r = np.sqrt(1 - z * z)
    return np.stack([r * np.cos(angle), r * np.sin(angle), z], axis=1)


def write_nodes(path, points, fields, kind="PointData"):
    """A .vtu of vertices as tutti writes it, with one zlib block an array; before 0.2 the fields were CellData."""
    count = len(points)
    arrays = [("Points", 3, points), ("connectivity", 1, np.arange(count, dtype="<i4")),
              ("offsets", 1, np.arange(1, count + 1, dtype="<i4")), ("types", 1, np.ones(count, "u1"))]
    arrays += [(name, 1, values) for name, values in fields.items()]
    payload, elements = b"", []
    for name, components, values in arrays:
        data = np.ascontiguousarray(values)
        elements.append(f'<DataArray type="{KINDS[data.dtype.str]}" Name="{name}" NumberOfComponents="{components}" '
                        f'format="appended" offset="{len(payload)}"/>')
        packed = zlib.compress(data.tobytes(), 1)
        payload += struct.pack("<4Q", 1, data.nbytes, 0, len(packed)) + packed
    head = (f'<?xml version="1.0"?><VTKFile type="UnstructuredGrid" version="1.0" byte_order="LittleEndian" '
            f'header_type="UInt64" compressor="vtkZLibDataCompressor"><UnstructuredGrid><Piece NumberOfPoints="{count}" '
            f'NumberOfCells="{count}"><Points>{elements[0]}</Points><Cells>{"".join(elements[1:4])}</Cells><{kind}>'
            f'{"".join(elements[4:])}</{kind}></Piece></UnstructuredGrid><AppendedData encoding="raw">_')
    path.write_bytes(head.encode() + payload + b"</AppendedData></VTKFile>")


def write_results(folder, points, outputs, pieces=1, kind="PointData"):
    """results.pvd of `outputs`, {time: fields}, in so many pieces of a .pvtu; the last one of several is empty."""
    folder.mkdir(exist_ok=True)
    ends = np.linspace(0, len(points), max(pieces, 2)).astype(int)
    ends = [0, len(points)] if pieces == 1 else [*ends, len(points)]
    series = ""
    for output, (time, fields) in enumerate(outputs.items()):
        names = []
        for p, (a, b) in enumerate(zip(ends, ends[1:])):
            names.append(f"fields_{output}_{p}.vtu")
            write_nodes(folder / names[-1], points[a:b], {n: v[a:b] for n, v in fields.items()}, kind)
        arrays = "".join(f'<PDataArray type="{KINDS[v.dtype.str]}" Name="{n}"/>' for n, v in fields.items())
        (folder / f"fields_{output}.pvtu").write_text(
            '<?xml version="1.0"?><VTKFile type="PUnstructuredGrid" version="1.0" byte_order="LittleEndian"><PUnstructuredGrid '
            f'GhostLevel="0"><PPoints><PDataArray type="Float64" NumberOfComponents="3"/></PPoints><P{kind}>'
            f'{arrays}</P{kind}>{"".join(f"<Piece Source={chr(34)}{n}{chr(34)}/>" for n in names)}</PUnstructuredGrid></VTKFile>')
        series += f'<DataSet timestep="{time}" part="0" file="fields_{output}.pvtu"/>'
    (folder / "results.pvd").write_text(f'<?xml version="1.0"?><VTKFile type="Collection"><Collection>{series}'
                                        "</Collection></VTKFile>")


def fields_of(points):
    x, y, z = points.T
    return {"hills": np.exp(-4 * ((x - 1) ** 2 + y**2 + z**2)), "wave": x * y + z,
            "node": np.arange(len(points), dtype="<i8"), "part": (x > 0).astype("<i4")}


class Sphere(unittest.TestCase):
    def setUp(self):
        keep = os.environ.get("TUTTI_KEEP_PICTURES")  # a folder: to look at them
        self.folder = Path(tempfile.mkdtemp(prefix="tutti_sphere_")) if not keep else Path(keep) / self.id().split(".")[-1]
        if keep:
            self.folder.mkdir(parents=True, exist_ok=True)
        else:
            self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)

    def plot(self, *words, expect=0):
        out, error = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(error):
            code = main(["plot", *map(str, words)])
        self.assertEqual(code, expect, out.getvalue() + error.getvalue())
        return out.getvalue() + error.getvalue()

    def check_picture(self, path, colours):
        picture = matplotlib.image.imread(path)[:, :, :3]
        ink = np.any(picture < 0.97, axis=2)
        self.assertTrue(0.3 < ink.mean() < 0.95, f"{path}: {ink.mean():.2f} of it is drawn")
        self.assertGreater(len(np.unique((picture[ink] * 31).astype(int), axis=0)), colours)
        return picture


class Reading(Sphere):
    def test_both_readers_in_pieces(self):
        points = fibonacci(200)
        for pieces, kind in ((1, "PointData"), (4, "PointData"), (4, "CellData")):
            write_results(self.folder / "r", points, {0.5: fields_of(points)}, pieces, kind)
            for plain in ("", "1"):
                os.environ["TUTTI_PLAIN_READER"] = plain
                self.addCleanup(os.environ.pop, "TUTTI_PLAIN_READER", None)
                snapshot = Results(self.folder / "r").load()
                self.assertIsInstance(snapshot, NodeSnapshot)
                np.testing.assert_array_equal(snapshot.points, points)
                for name, values in fields_of(points).items():
                    np.testing.assert_array_equal(snapshot.point_data[name], values)

    def test_default_fields(self):
        points = fibonacci(20)
        snapshot = NodeSnapshot(0.0, points, fields_of(points))
        self.assertEqual(sphere.named_fields(snapshot, None), ["hills", "wave"])
        self.assertEqual(sphere.named_fields(snapshot, "wave, part"), ["wave", "part"])
        self.assertEqual(sphere.default_fields(NodeSnapshot(0.0, points, {"node": np.arange(20)})), ["node"])


class Raster(Sphere):
    """What is at a pixel, against the field at its place on the sphere."""

    def errors(self, n, view):
        points = fibonacci(n)
        drawn, = sphere.raster(points, [fields_of(points)["wave"]], view)
        places = sphere.pixel_grid() @ view
        exact = places[..., 0] * places[..., 1] + places[..., 2]
        self.assertTrue(np.array_equal(np.isfinite(drawn), np.isfinite(exact)), f"{n} nodes leave holes")
        return np.nanmax(np.abs(drawn - exact))

    def test_every_pixel_shows_its_place(self):
        for view in (camera(-70, 18), camera(0, 90), camera(33, -61)):
            self.assertLess(self.errors(100, view), 0.25)
            self.assertLess(self.errors(10000, view), 0.25 / 60)

    def test_thinned(self):
        self.assertLess(self.errors(400000, camera(20, 30)), 0.002)

    def test_a_place_beyond_the_rim_is_not_shown(self):
        view = camera(0, 0)
        points = fibonacci(5000)
        front, = sphere.raster(points, [fields_of(points)["hills"]], view)
        behind, = sphere.raster(points, [fields_of(points)["hills"]], view * [[-1], [1], [-1]])
        self.assertGreater(np.nanmax(front), 0.99)
        self.assertLess(np.nanmax(behind), np.exp(-8) * 1.1)  # the rim is sqrt(2) away from the hill

    def test_whole_numbers_are_not_mixed(self):
        points = fibonacci(2000)
        drawn, = sphere.raster(points, [np.where(points[:, 0] > 0, 7, 2).astype("<i4")], camera(-70, 18))
        self.assertEqual(set(np.unique(drawn[np.isfinite(drawn)])), {2.0, 7.0})

    def test_a_field_that_is_not_finite_leaves_a_hole(self):
        points = fibonacci(2000)
        values = points[:, 2].copy()
        values[np.argmax(points @ camera(0, 0)[2])] = np.nan
        drawn, = sphere.raster(points, [values], camera(0, 0))
        holes = np.isnan(drawn) & np.isfinite(sphere.pixel_grid()[..., 0])
        self.assertTrue(0 < holes.mean() < 0.01)


class Pictures(Sphere):
    def test_pictures(self):
        points = fibonacci(1000)
        folder = self.folder / "r"
        later = {name: values[::-1].copy() for name, values in fields_of(points).items()}
        write_results(folder, points, {0.0: fields_of(points), 2.5: later}, 3)
        one, both, all_tracers = (self.folder / f"{name}.png" for name in ("one", "both", "all"))
        self.assertIn("hills, wave at t = 2.5, 1,000 nodes", self.plot(folder, "-o", all_tracers, "--dpi", 60))
        tall = self.check_picture(all_tracers, 100)
        self.plot(folder, "-o", both, "--dpi", 60, "--field", "wave", "--view", "-20,60", "--time", "first")
        wide = self.check_picture(both, 100)
        self.assertGreater(tall.shape[0], 1.5 * wide.shape[0])
        self.plot(folder, "-o", one, "--dpi", 60, "--field", "wave", "--clip", "none")
        self.assertLess(self.check_picture(one, 100).shape[1], 0.75 * wide.shape[1])
        self.plot(folder, "-o", both, "--dpi", 60, "--field", "part", "--time", "all")
        self.check_picture(self.folder / "both-001.png", 5)

    def test_refused(self):
        points = fibonacci(100)
        write_results(self.folder / "r", points, {0.0: fields_of(points)})
        for words, why in ((["--field", "hills,q"], "no field 'q'; choose one of hills, wave, node, part"),
                           (["--clip", "x"], "--clip: nodes on a sphere are not cut")):
            self.assertIn(why, self.plot(self.folder / "r", "-o", self.folder / "x.png", *words, expect=4))
        write_results(self.folder / "few", points[:2], {0.0: fields_of(points[:2])})
        self.assertIn("2 nodes cannot be drawn", self.plot(self.folder / "few", "-o", self.folder / "x.png", expect=4))
        write_results(self.folder / "none", points[:0], {0.0: fields_of(points[:0])})
        self.assertIn("the mesh is empty", self.plot(self.folder / "none", "-o", self.folder / "x.png", expect=4))


if __name__ == "__main__":
    unittest.main()
