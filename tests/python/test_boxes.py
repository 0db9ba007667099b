#!/usr/bin/env python3
"""Results on structured grids: reading, planes and lines through them, pictures, profiles beside references. Needs numpy and
matplotlib, no build and no display.

Usage: test_boxes.py
"""

import contextlib
import io
import os
import shutil
import struct
import sys
import tempfile
import unittest
import unittest.mock
import zlib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "python"))
sys.dont_write_bytecode = True

import matplotlib.image  # noqa: E402
import numpy as np  # noqa: E402

from tutti import box, slices, vtkxml  # noqa: E402
from tutti import profile as profiles  # noqa: E402
from tutti.__main__ import main  # noqa: E402
from tutti.results import BoxSnapshot, Results  # noqa: E402

REFERENCE = ROOT / "tests" / "data" / "incompressible"
KINDS = {"<f8": "Float64", "<f4": "Float32", "<i4": "Int32"}


def even(low, high, cells):
    return np.linspace(low, high, cells + 1)


def stretched(low, high, cells):
    """Small cells at both ends."""
    s = np.linspace(-1, 1, cells + 1)
    return low + (high - low) * 0.5 * (1 + np.tanh(1.6 * s) / np.tanh(1.6))


def centres(faces):
    return np.meshgrid(*(0.5 * (f[1:] + f[:-1]) for f in faces), indexing="ij")


def write_piece(path, faces, lower, fields, uniform):
    """A .vti or .vtr as tutti writes it, with one zlib block an array. `faces` of the piece; `lower`: their first numbers."""
    kind = "ImageData" if uniform else "RectilinearGrid"
    extent = " ".join(f"{a} {a + len(f) - 1}" for a, f in zip(lower, faces))
    payload = b""

    def element(name, values, components):
        nonlocal payload
        data = np.ascontiguousarray(values)
        text = (f'<DataArray type="{KINDS[data.dtype.str]}" Name="{name}" NumberOfComponents="{components}" '
                f'format="appended" offset="{len(payload)}"/>')
        packed = zlib.compress(data.tobytes(), 1)
        payload += struct.pack("<4Q", 1, data.nbytes, 0, len(packed)) + packed
        return text

    def attributes():
        if not uniform:
            return ""
        h = [f[1] - f[0] for f in faces]
        origin = [f[0] - a * d for f, a, d in zip(faces, lower, h)]
        return ' Origin="{!r} {!r} {!r}" Spacing="{!r} {!r} {!r}"'.format(*map(float, origin), *map(float, h))

    coordinates = "" if uniform else "".join(element("xyz"[d], f, 1) for d, f in enumerate(faces))
    data = "".join(element(name, np.moveaxis(v, (0, 1, 2), (2, 1, 0)), v.shape[3] if v.ndim > 3 else 1)
                   for name, v in fields.items())
    head = (f'<?xml version="1.0"?><VTKFile type="{kind}" version="1.0" byte_order="LittleEndian" header_type="UInt64" '
            f'compressor="vtkZLibDataCompressor"><{kind} WholeExtent="{extent}"{attributes()}><Piece Extent="{extent}">'
            + (f"<Coordinates>{coordinates}</Coordinates>" if coordinates else "") +
            f'<CellData>{data}</CellData></Piece></{kind}><AppendedData encoding="raw">_')
    path.write_bytes(head.encode() + payload + b"</AppendedData></VTKFile>")
    return extent


def write_boxes(folder, faces, outputs, cuts=(0.0, 0.3, 1.0), uniform=None):
    """results.pvd of `outputs`, {time: fields}, in pieces that are cut across x."""
    folder.mkdir(exist_ok=True)
    if uniform is None:
        uniform = all(np.allclose(np.diff(f), f[1] - f[0]) for f in faces)
    suffix, kind = ("vti", "PImageData") if uniform else ("vtr", "PRectilinearGrid")
    planes = [round(c * (len(faces[0]) - 1)) for c in cuts]
    whole = " ".join(f"0 {len(f) - 1}" for f in faces)
    numbers = ['{!r} {!r} {!r}'.format(*map(float, n)) for n in ([f[0] for f in faces], [f[1] - f[0] for f in faces])]
    even_grid = f' Origin="{numbers[0]}" Spacing="{numbers[1]}"' if uniform else ""
    series = ""
    for output, (time, fields) in enumerate(outputs.items()):
        pieces = ""
        for p, (a, b) in enumerate(zip(planes, planes[1:])):
            name = f"f_{output}_{p}.{suffix}"
            extent = write_piece(folder / name, [faces[0][a:b + 1], *faces[1:]], (a, 0, 0),
                                 {n: v[a:b] for n, v in fields.items()}, uniform)
            pieces += f'<Piece Extent="{extent}" Source="{name}"/>'
        arrays = "".join(f'<PDataArray type="{KINDS[v.dtype.str]}" Name="{n}" NumberOfComponents="'
                         f'{v.shape[3] if v.ndim > 3 else 1}"/>' for n, v in fields.items())
        coordinates = "" if uniform else "<PCoordinates>" + 3 * '<PDataArray type="Float64"/>' + "</PCoordinates>"
        (folder / f"f_{output}.p{suffix}").write_text(
            f'<?xml version="1.0"?><VTKFile type="{kind}" version="1.0" byte_order="LittleEndian"><{kind} '
            f'WholeExtent="{whole}" GhostLevel="0"{even_grid}>{coordinates}<PCellData>{arrays}</PCellData>{pieces}</{kind}>'
            "</VTKFile>")
        series += f'<DataSet timestep="{time}" part="0" file="f_{output}.p{suffix}"/>'
    (folder / "results.pvd").write_text(f'<?xml version="1.0"?><VTKFile type="Collection"><Collection>{series}'
                                        "</Collection></VTKFile>")


def taylor_green(faces, time=0.0):
    x, y, _ = centres(faces)
    decay = np.exp(-2 * 0.1 * time)
    u = np.stack([np.cos(x) * np.sin(y), -np.sin(x) * np.cos(y), np.zeros_like(x)], axis=-1) * decay
    return {"velocity": u, "p": -0.25 * (np.cos(2 * x) + np.cos(2 * y)) * decay**2}


def linear(faces):
    """Fields that linear interpolation gives exactly."""
    x, y, z = centres(faces)
    return {"u": np.stack([2 * x - y, y + 3 * z, x + y + z], axis=-1), "T": 1 + x - 2 * y + 4 * z}


class Boxes(unittest.TestCase):
    def setUp(self):
        keep = os.environ.get("TUTTI_KEEP_PICTURES")  # a folder: to look at them
        self.folder = Path(tempfile.mkdtemp(prefix="tutti_boxes_")) if not keep else Path(keep) / self.id().split(".")[-1]
        if keep:
            self.folder.mkdir(parents=True, exist_ok=True)
        else:
            self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)

    def run_words(self, *words, expect=0):
        out, error = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(error):
            code = main([str(w) for w in words])
        self.assertEqual(code, expect, out.getvalue() + error.getvalue())
        return out.getvalue() + error.getvalue()

    def check_picture(self, path, colours, ink_at_least=0.15):
        picture = matplotlib.image.imread(path)[:, :, :3]
        self.assertGreater(min(picture.shape[:2]), 150)
        ink = np.any(picture < 0.97, axis=2)
        self.assertTrue(ink_at_least < ink.mean() < 0.95, f"{path}: {ink.mean():.2f} of it is drawn")
        self.assertGreater(len(np.unique((picture[ink] * 31).astype(int), axis=0)), colours)
        return picture


class Reading(Boxes):
    def check_read(self, faces, **more):
        fields = {**linear(faces), "n": np.arange(np.prod([len(f) - 1 for f in faces]), dtype="<f4").reshape(
            [len(f) - 1 for f in faces]), "part": np.ones([len(f) - 1 for f in faces], "<i4")}
        write_boxes(self.folder / "r", faces, {0.5: fields}, **more)
        for plain in ("", "1"):
            os.environ["TUTTI_PLAIN_READER"] = plain
            self.addCleanup(os.environ.pop, "TUTTI_PLAIN_READER", None)
            snapshot = Results(self.folder / "r").load()
            self.assertIsInstance(snapshot, BoxSnapshot)
            self.assertEqual(snapshot.time, 0.5)
            for got, wanted in zip(snapshot.faces, faces):
                np.testing.assert_allclose(got, wanted, rtol=1e-13, atol=1e-13)
            self.assertEqual(list(snapshot.cell_data), list(fields))
            for name, values in fields.items():
                np.testing.assert_array_equal(snapshot.cell_data[name], values)
                self.assertEqual(snapshot.cell_data[name].dtype, values.dtype)

    def test_uniform(self):
        self.check_read([even(-1, 1, 10), even(0, 2, 4), even(0, 3, 6)])

    def test_stretched(self):
        self.check_read([stretched(-1, 1, 10), even(0, 2, 4), stretched(0, 3, 6)])

    def test_a_layer_and_one_piece(self):
        self.check_read([even(0, 1, 8), even(0, 1, 8), even(0, 1, 1)], cuts=(0, 0.125, 1))
        self.check_read([stretched(0, 1, 8), even(0, 1, 8), even(0, 1, 1)], cuts=(0, 1))

    def test_a_lone_piece(self):
        faces = [even(0, 1, 8), even(0, 1, 4), even(0, 1, 2)]
        write_boxes(self.folder / "r", faces, {0.0: linear(faces)}, cuts=(0, 0.5, 1))
        for plain in ("", "1"):
            os.environ["TUTTI_PLAIN_READER"] = plain
            self.addCleanup(os.environ.pop, "TUTTI_PLAIN_READER", None)
            piece_faces, fields = vtkxml.read_boxes(self.folder / "r" / "f_0_1.vti")
            np.testing.assert_allclose(piece_faces[0], faces[0][4:])
            np.testing.assert_array_equal(fields["T"], linear(faces)["T"][4:])

    @unittest.skipUnless(vtkxml.have_vtk(), "without VTK the small reader reads")
    def test_where_vtk_finds_nothing_the_small_reader_reads(self):
        """As VTK 9.1 does with Expat 2.6."""
        faces = [even(0, 1, 8), even(0, 1, 4), even(0, 1, 6)]
        write_boxes(self.folder / "r", faces, {0.0: linear(faces)})
        nothing = lambda path: ([np.zeros(0)] * 3, {})  # noqa: E731
        with unittest.mock.patch.object(vtkxml, "_read_boxes_with_vtk", nothing):
            np.testing.assert_array_equal(Results(self.folder / "r").load("last").cell_data["T"], linear(faces)["T"])

    def test_slices(self):
        faces = [even(0, 1, 8), even(0, 1, 4), even(0, 1, 6)]
        layer = [faces[0], faces[1], faces[2][2:4]]
        folder = self.folder / "r"
        write_boxes(folder, faces, {0.0: linear(faces)})
        with self.assertRaisesRegex(ValueError, "no slice 'a-1', the run wrote none"):
            Results(folder, slice="a-1")
        write_boxes(folder / "slices", layer, {0.0: linear(layer), 0.5: linear(layer)})
        (folder / "slices" / "results.pvd").rename(folder / "slices" / "slice-a-1.pvd")
        (folder / "a.pvd").write_text("")  # somebody's own: the run's is results.pvd
        self.assertEqual(Results(folder).load().shape, (8, 4, 6))
        results = Results(folder, slice="a-1")
        self.assertEqual(results.times, [0.0, 0.5])
        self.assertEqual(results.load().shape, (8, 4, 1))
        np.testing.assert_array_equal(results.load().cell_data["T"], linear(layer)["T"])
        with self.assertRaisesRegex(ValueError, "no slice 'b'; choose one of a-1"):
            Results(folder, slice="b")
        picture = self.folder / "slice.png"
        self.run_words("plot", folder, "--slice", "a-1", "--field", "T", "-o", picture)
        self.check_picture(picture, 20)
        self.assertIn("no slice 'b'", self.run_words("plot", folder, "--slice", "b", expect=4))

    def test_damage(self):
        os.environ["TUTTI_PLAIN_READER"] = "1"
        self.addCleanup(os.environ.pop, "TUTTI_PLAIN_READER", None)
        faces = [even(0, 1, 8), even(0, 1, 4), even(0, 1, 2)]
        write_boxes(self.folder / "r", faces, {0.0: linear(faces)}, cuts=(0, 0.5, 1))
        joined = self.folder / "r" / "f_0.pvti"
        text = joined.read_text()
        joined.write_text(text[:text.index("<Piece")] + text[text.index("<Piece", text.index("<Piece") + 1):])
        with self.assertRaisesRegex(ValueError, "leave 32 cells out"):
            Results(self.folder / "r").load()
        joined.write_text(text[:text.index("<Piece")] + "</PImageData></VTKFile>")
        with self.assertRaisesRegex(ValueError, "no pieces"):
            Results(self.folder / "r").load()
        joined.write_text(text)
        (self.folder / "r" / "f_0_1.vti").unlink()
        with self.assertRaises(FileNotFoundError):
            Results(self.folder / "r").load()


class Sampling(Boxes):
    def snapshot(self, *faces):
        return BoxSnapshot(0.0, list(faces), linear(faces))

    def test_profiles_of_linear_fields_are_exact(self):
        for faces in ([even(0, 1, 4), even(0, 2, 6), even(-1, 1, 5)], [stretched(0, 1, 9), even(0, 2, 6), stretched(0, 1, 7)]):
            snapshot = self.snapshot(*faces)
            for through in (None, (0.21, 0.4, 0.9), (0.01, 1.99, 0.0)):
                x, y, z = through or [0.5 * (f[0] + f[-1]) for f in faces]
                at, u = box.profile(snapshot, "u", "x", "y", through)
                np.testing.assert_allclose(at, snapshot.centres[1])
                np.testing.assert_allclose(u, 2 * x - at, atol=1e-13)
                at, w = box.profile(snapshot, "u", 2, 0, through)
                np.testing.assert_allclose(w, at + y + z, atol=1e-13)
                at, t = box.profile(snapshot, "T", None, "z", through)
                np.testing.assert_allclose(t, 1 + x - 2 * y + 4 * at, atol=1e-13)

    def test_a_centre_gives_the_cell(self):
        snapshot = self.snapshot(even(0, 1, 5), stretched(0, 1, 6), even(0, 1, 1))
        c = snapshot.centres
        _, t = box.profile(snapshot, "T", None, "x", (0, c[1][2], 0.9))
        np.testing.assert_array_equal(t, snapshot.cell_data["T"][:, 2, 0])
        np.testing.assert_array_equal(box.plane(snapshot, snapshot.cell_data["T"], 1, c[1][5]),
                                      snapshot.cell_data["T"][:, 5])

    def test_refused(self):
        snapshot = self.snapshot(even(0, 1, 4), even(0, 1, 4), even(0, 1, 4))
        for words, why in ((("v", None, "x"), "choose one of u, T"), (("u", None, "x"), "by component"),
                           (("T", "x", "x"), "by component"), (("u", "q", "x"), "'q'"), (("u", 3, "x"), "'3'"),
                           (("u", "x", "q"), "no axis 'q'"), (("T", None, "x", (0.5, 1.1, 0.5)), "y = 1.1 is outside")):
            with self.assertRaisesRegex(ValueError, why):
                box.profile(snapshot, *words)

    def test_axis_and_fields_of_a_picture(self):
        shape = {(8, 8, 1): 2, (8, 1, 8): 1, (1, 8, 8): 0, (4, 4, 4): 2, (4, 3, 4): 1, (8, 4, 4): 2}
        for cells, axis in shape.items():
            self.assertEqual(slices.default_axis(self.snapshot(*(even(0, 1, n) for n in cells))), axis, cells)
        snapshot = self.snapshot(*3 * [even(0, 1, 2)])
        self.assertEqual(slices.default_fields(snapshot), ["u", "T"])
        del snapshot.cell_data["u"]
        self.assertEqual(slices.default_fields(snapshot), ["T"])
        lone = BoxSnapshot(0.0, snapshot.faces, {"p": np.zeros((2, 2, 2)), "q": np.zeros((2, 2, 2))})
        self.assertEqual(slices.default_fields(lone), ["p"])


class Pictures(Boxes):
    def test_taylor_green(self):
        faces = [even(0, 2 * np.pi, 64), even(0, 2 * np.pi, 64), even(0, 0.1, 1)]
        write_boxes(self.folder / "tg", faces, {t: taylor_green(faces, t) for t in (0.0, 1.0)})
        picture = self.folder / "tg.png"
        self.assertIn("64 x 64 x 1 cells", self.run_words("plot", self.folder / "tg", "-o", picture, "--dpi", 80))
        self.check_picture(picture, 200)
        self.run_words("plot", self.folder / "tg", "-o", self.folder / "p.png", "--dpi", 80, "--field", "p", "--time", "all")
        self.check_picture(self.folder / "p-000.png", 100)
        self.check_picture(self.folder / "p-001.png", 100)

    def test_stretched_convection_in_three_dimensions(self):
        faces = [stretched(0, 2, 40), stretched(0, 1, 24), even(0, 1, 10)]
        x, y, _ = centres(faces)
        roll = np.stack([np.sin(np.pi * x / 2) * np.cos(np.pi * y), -0.5 * np.cos(np.pi * x / 2) * np.sin(np.pi * y),
                         0 * x], axis=-1)
        fields = {"velocity": roll.astype("<f4"), "T": 1 - x / 2 + 0.15 * np.sin(np.pi * x) * np.sin(2 * np.pi * y)}
        write_boxes(self.folder / "r", faces, {3.0: fields})
        picture = self.folder / "two.png"
        self.run_words("plot", self.folder / "r", "-o", picture, "--dpi", 80)
        two = self.check_picture(picture, 200)
        one = self.folder / "one.png"
        self.run_words("plot", self.folder / "r", "-o", one, "--dpi", 80, "--field", "T", "--clip", "x")
        self.assertLess(self.check_picture(one, 50).shape[1], two.shape[1])
        self.assertIn("choose x, y or z", self.run_words("plot", self.folder / "r", "--clip", "none", expect=4))
        self.assertIn("--at: 2 is not", self.run_words("plot", self.folder / "r", "--at", "2", expect=4))
        self.assertIn("choose one of velocity, T", self.run_words("plot", self.folder / "r", "--field", "q", expect=4))

    def test_fluid_at_rest(self):
        faces = [even(0, 1, 6), even(0, 1, 6), even(0, 1, 1)]
        fields = {"velocity": np.zeros((6, 6, 1, 3)), "T": np.ones((6, 6, 1))}
        write_boxes(self.folder / "r", faces, {0.0: fields})
        self.run_words("plot", self.folder / "r", "-o", self.folder / "rest.png", "--dpi", 80)
        self.check_picture(self.folder / "rest.png", 5)


class Profiles(Boxes):
    def cavity(self, name, n):
        """Not a solution: the profiles of Ghia et al. at Re 1000 on the two centrelines."""
        faces = [even(0, 1, n), even(0, 1, n), even(0, 1, 1)]
        x, y, _ = centres(faces)
        u = profiles.read_reference(REFERENCE / "ghia1982_u.csv", "re1000")
        v = profiles.read_reference(REFERENCE / "ghia1982_v.csv", "re1000")
        velocity = np.stack([np.interp(y, u.places, u.values), np.interp(x, v.places, v.values), 0 * x], axis=-1)
        write_boxes(self.folder / name, faces, {8.0: {"velocity": velocity, "T": x}})
        return self.folder / name

    def test_picture_beside_ghia(self):
        output = self.folder / "profile.png"
        text = self.run_words("profile", self.cavity("n32", 32), self.cavity("n128", 128), "-o", output, "--dpi", 80,
                              "--reference", REFERENCE / "ghia1982_u.csv", "--reference", REFERENCE / "ghia1982_v.csv",
                              "--reference", REFERENCE / "cavity2d_mac_u.csv", "--column", "re1000", "--column", "re1000",
                              "--column", "re1000_richardson")
        self.check_picture(output, 10, 0.02)
        lines = [line for line in text.splitlines() if line.startswith("n128: ")]
        self.assertEqual(len(lines), 3)
        off = [float(line.split("at most ")[1].split()[0]) for line in lines]
        self.assertLess(max(off[:2]), 0.015)  # a table has kinks
        self.assertIn("n128: v(x) is at most", lines[1])

    def test_other_curves(self):
        output = self.folder / "t.png"
        reference = REFERENCE / "natural_convection_profiles.csv"
        self.run_words("profile", self.cavity("r", 16), "-o", output, "--curves", "T:x,u:y,v:x", "--through", "0.5,0.25,0.5",
                       "--reference", reference, "--reference", reference, "--column", "T_Pr7_Ra140", "--column",
                       "u_Pr7_Ra140", "--time", "first")
        self.check_picture(output, 10, 0.02)

    def test_references(self):
        files = sorted(REFERENCE.glob("*.csv"))
        self.assertEqual(len(files), 7)
        for path in files:
            header = next(line for line in path.read_text().splitlines() if not line.startswith("#")).split(",")
            for column in header[1:]:
                table = profiles.read_reference(path, column)
                self.assertIn("Source: ", table.source)
                self.assertTrue(len(table.places) >= 14 and np.all(np.diff(table.places) > 0), path)
        misprint = profiles.read_reference(REFERENCE / "ghia1982_u.csv", "re3200")
        self.assertEqual(len(misprint.places), 16)
        self.assertNotIn(0.4531, misprint.places)
        lone = profiles.read_reference(REFERENCE / "albensoeder2005_cube_u.csv")
        self.assertEqual((lone.axis, lone.column, lone.values[-1]), ("z", "re1000", 1.0))

    def test_refused(self):
        r = self.cavity("r", 8)
        u = REFERENCE / "ghia1982_u.csv"
        cube = REFERENCE / "albensoeder2005_cube_u.csv"
        for words, why in ((["--reference", u], "Choose with --column: re100, re400"),
                           (["--reference", u, "--column", "re5"], "no column 're5'"),
                           (["--reference", u, "--column", "re100", "--column", "re400"], "2 columns for 1 references"),
                           (["--reference", cube], "choose others with --curves"),
                           (["--curves", "u"], "'u' is not a quantity"), (["--curves", "q:x"], "no field 'q'"),
                           (["--field", "q"], "choose one of velocity, T"), (["--field", "T"], "by component"),
                           (["--through", "2,0,0"], "x = 2 is outside")):
            self.assertIn(why, self.run_words("profile", r, "-o", self.folder / "x.png", *words, expect=4))
        self.run_words("profile", self.folder / "none", expect=5)
        self.run_words("profile", r, "--reference", self.folder / "none.csv", expect=5)
        for text in ("", "y\n1\n", "y,u\n", "y,u\na,b\n", "y,u\n1\n"):
            (self.folder / "bad.csv").write_text(text)
            self.assertIn("bad.csv", self.run_words("profile", r, "--reference", self.folder / "bad.csv", expect=4))


if __name__ == "__main__":
    unittest.main()
