#!/usr/bin/env python3
"""Cases run from Python by the built program: fields, histories, meshes, sweeps, errors. Needs numpy; what pandas, xarray,
PyVista and matplotlib add is tested where they are installed.

Usage: TUTTI=build/release/bin/tutti test_cases.py
"""

import contextlib
import csv
import importlib.util
import io
import itertools
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest
import warnings
from pathlib import Path
from unittest import mock

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "python"))
sys.dont_write_bytecode = True
os.environ.setdefault("TUTTI", str(ROOT / "build/release/bin/tutti"))
os.environ.setdefault("OMPI_MCA_mpi_yield_when_idle", "1")
os.environ.setdefault("MPLBACKEND", "Agg")

import numpy as np  # noqa: E402

import tutti  # noqa: E402
from tutti.case import Case, toml_text  # noqa: E402
from tutti import surface  # noqa: E402
from tutti.elements import ElementMesh  # noqa: E402
from tutti.runs import Field  # noqa: E402

BOX = {"model": "diffusion", "mesh": {"generate": "box", "cubes": [3, 3, 3], "jitter": 0.2},
       "physics": {"K": 1, "initial": "x + 2*y"}, "time": {"steps": 10}, "balance": {"weights": "equal"},
       "output": {"every": 5, "history_every": 1, "probe": [{"name": "a", "point": [0.3, 0.4, 0.6]}, {"name": "a", "point": [0.6, 0.4, 0.3]}]}}
FLOW = {"model": "incompressible", "grid": {"cells": [6, 4, 2], "upper": [3, 2, 1]}, "fluid": {"viscosity": 0.1, "diffusivity": 0.1},
        "initial": {"temperature": "x + 10*y + 100*z"}, "time": {"steps": 2}}
SPHERE = {"model": "transport", "nodes": {"generate": "icosahedral", "count": 162}, "stencil": {"size": 17, "exponent": 5, "degree": 2},
          "hyperviscosity": {"k": 1, "beta": 0.3}, "velocity": {"east": "cos(lat)"}, "tracer": [{"name": "q", "initial": "z"}], "time": {"steps": 2}}
GAS = {"model": "compressible", "mesh": {"generate": "box", "element": "prism", "cubes": [2, 2, 1], "periodic": True},
       "physics": {"initial": {"rho": "2 + x", "velocity": [0, 0, 0], "p": 1}}, "numerics": {"order": 1}, "time": {"steps": 1}}
GRAPH = {"model": "graph", "graph": {"generate": "torus", "rows": 4, "columns": 5}, "output": {"formats": ["npz"]}}


def without(*modules):
    """As if these were not installed."""
    return mock.patch.dict(sys.modules, dict.fromkeys(modules))


class Cases(unittest.TestCase):
    def setUp(self):
        self.folder = Path(tempfile.mkdtemp(prefix="tutti_cases_"))
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)

    def case(self, content):
        return Case(content, self.folder)

    def run_case(self, content, **options):
        return self.case(content).run(devices=options.pop("devices", "cpu"), threads=1, **options)


class Keys(Cases):
    def test_values_as_toml(self):
        for value, text in ((True, "true"), (3, "3"), (0.1, "0.1"), (float("inf"), "inf"), ("a\"b\\\n", r'"a\"b\\\n"'), (np.float64(2), "2.0"),
                            ([1, [2, "x"]], '[1, [2, "x"]]'), (np.array([1, 2]), "[1, 2]"), ({"a": {"b c": 1}}, '{"a" = {"b c" = 1}}'),
                            (Path("a/b"), '"a/b"')):
            self.assertEqual(toml_text(value), text)
        with self.assertRaisesRegex(TypeError, "object is no value of a case"):
            toml_text(object())

    @unittest.skipUnless(importlib.util.find_spec("tomllib") or importlib.util.find_spec("tomli"), "this Python has no tomllib")
    def test_keys_are_read_changed_and_taken_out(self):
        path = self.folder / "case.toml"
        path.write_text('[physics]\nK = 1\n[[boundary]]\ntag = "a"\nvalue = 2\n')
        case = Case.load(path)
        self.assertEqual((case["physics.K"], case["boundary[0].value"]), (1, 2))
        case["physics.K"] = 0.2
        case["boundary[0].value"] = "t"
        case["boundary[1].tag"] = "b"
        case["time.end"] = 3
        other = case.copy()
        del case["physics.K"]
        self.assertEqual(case["boundary"], [{"tag": "a", "value": "t"}, {"tag": "b"}])
        self.assertEqual((case["time"], other["physics.K"]), ({"end": 3}, 0.2))
        for key in ("physics.K", "time.dt", "boundary[2]", "time.end.x"):
            with self.assertRaisesRegex(KeyError, "default holds"):
                case[key]
        with self.assertRaisesRegex(KeyError, "no key of a case"):
            case["time..end"] = 1
        with self.assertRaisesRegex(TypeError, "cannot be a function of Python, which initial values"):
            case["physics.exact"] = np.sin
        self.assertIn("time.end=3", repr(case))
        path.write_text("a = [")
        with self.assertRaises(tutti.Error) as caught:
            Case.load(path)["a"]
        self.assertEqual(caught.exception.kind, "input")


class Meshes(Cases):
    def test_meshes_of_meshio(self):
        def convert(name, python=sys.executable):
            done = subprocess.run([os.environ["TUTTI"], "mesh", "convert", name, "made.msh"], cwd=self.folder, text=True,
                                  capture_output=True, env={**os.environ, "TUTTI_PYTHON": python})
            return done.returncode, done.stdout + done.stderr

        (self.folder / "bad.inp").write_text("nothing")
        if not importlib.util.find_spec("meshio"):
            self.assertRegex(str(convert("bad.inp")), "this Python has no meshio; pip install meshio")
            self.skipTest("needs meshio")
        import meshio

        points = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1], [1, 1, 1.0]])
        cells = [("tetra", np.array([[0, 1, 2, 3], [1, 2, 3, 4]])), ("triangle", np.array([[0, 1, 2], [1, 2, 4]]))]
        none = np.zeros(0, int)
        sets = {"steel": [np.array([0]), none], "air": [np.array([1]), none], "inlet": [none, np.array([1])]}
        meshio.write(self.folder / "a.inp", meshio.Mesh(points, cells, cell_sets=sets))
        mesh = meshio.Mesh(points, cells, cell_data={"cell_tags": [np.array([-6, -7]), np.array([0, -8])]})
        mesh.point_tags, mesh.cell_tags = {}, {-6: ["steel"], -7: ["air"], -8: ["inlet"]}
        for name in ("a.inp", "a.med"):
            if name == "a.med":
                if not importlib.util.find_spec("h5py"):
                    continue
                meshio.write(self.folder / name, mesh)
            code, said = convert(name)
            self.assertEqual((code, "groups: air, inlet, steel" in said), (0, True), said)
            run = self.run_case({"model": "diffusion", "mesh": {"file": str(self.folder / "made.msh")}, "time": {"steps": 1},
                                 "physics": {"K": 1, "region": [{"name": "air", "K": 2}, {"name": "steel", "K": 3}]},
                                 "boundary": [{"tag": "inlet", "type": "dirichlet", "value": 1}], "balance": {"weights": "equal"}})
            self.assertEqual(run.summary["cells"], 2)
        for name, words in (("bad.inp", "cells: none; tetrahedra"), ("none.med", "No such file")):
            code, said = convert(name)
            self.assertNotEqual(code, 0)
            self.assertEqual(said.count("\n"), 1, said)
            self.assertIn(words, said)


class Fields(Cases):
    def check_at_start(self, run, name, formula, dims):
        """At t = 0 the field is the formula of its own coordinates."""
        field = run.fields[name]
        x, y, z = (np.asarray(field.coords[d]) for d in "xyz")
        if dims == "xyz":
            x, y, z = x[:, None, None], y[None, :, None], z[None, None, :]
        np.testing.assert_allclose(np.asarray(field.values)[0], formula(x, y, z), rtol=1e-12, atol=1e-12)
        np.testing.assert_array_equal(np.asarray(field.coords["time"]), run.times)
        self.assertEqual(tuple(field.dims), ("time", *(dims if dims == "xyz" else ["cell"])))
        self.assertIn(name, list(run.fields))
        self.assertNotIn("part", list(run.fields))
        return field

    def test_initial_values_of_python(self):
        case = self.case(BOX)
        case["physics.initial"] = lambda x, y, z: np.exp(-x) * y + z
        run = case.run(self.folder / "given", devices="cpu", threads=1)
        first = self.check_at_start(run, "u", lambda x, y, z: np.exp(-x) * y + z, ["cell"])
        self.assertEqual(len(list((self.folder / "given.inputs").iterdir())), 1)
        case["physics.initial"] = 2 * np.asarray(first)[0]  # as the fields have them
        twice = case.run(devices="fake:1,cpu", ranks=2)
        np.testing.assert_array_equal(np.asarray(twice.fields["u"])[0], 2 * np.asarray(first)[0])
        self.assertIn("of Python", repr(case))
        self.assertIn("cells", case.plan())
        case["physics.initial"] = np.ones(7)
        with self.assertRaisesRegex(ValueError, r"shape \(7,\); the mesh has \(162,\) cells"):
            case.run()
        case["physics.initial"] = lambda x, y, z: 1 / (x - x)
        with self.assertRaisesRegex(ValueError, "must be finite"), np.errstate(divide="ignore"):
            case.run()
        flow = self.case(FLOW)
        flow["initial.temperature"] = lambda x, y, z: x + 10 * y + 100 * z
        flow["initial.velocity"] = lambda x, y, z: (0 * x, 0, 0 * z)
        self.check_at_start(flow.run(devices="cpu", threads=1), "T", lambda x, y, z: x + 10 * y + 100 * z, "xyz")

    def test_other_keys_of_python(self):
        def u_of(case, **options):
            return np.asarray(case.run(devices=options.pop("devices", "cpu"), threads=1, **options).fields.at("last", "u"))[0]

        box = {**BOX, "boundary": [{"tag": "x-min", "type": "dirichlet"}, {"tag": "x-max"}], "time": {"steps": 4}}
        wanted, given = self.case(box), self.case(box)
        for key, formula, function in (("physics.K", "1 + x*y", lambda x, y, z: 1 + x * y), ("physics.source", "x - z", lambda x, y, z: x - z),
                                       ("boundary[0].value", "1 + 2*y", lambda x, y, z: 1 + 2 * y)):
            wanted[key], given[key] = formula, function
        expected = u_of(wanted)
        np.testing.assert_allclose(u_of(given), expected, rtol=1e-9)  # the line through the cells is the boundary's
        np.testing.assert_array_equal(u_of(given, devices="fake:1,cpu", ranks=2), u_of(given))
        given["physics.K"] = 3 * np.ones(162)
        wanted["physics.K"] = 3
        np.testing.assert_allclose(u_of(given), u_of(wanted), rtol=1e-9)
        given["physics.K"] = lambda x, y, z: (x, y, z)
        with self.assertRaisesRegex(ValueError, "physics.K: 3 components; 1 is expected"):
            given.run()
        sphere, same = self.case(SPHERE), self.case(SPHERE)
        del sphere["velocity.east"]
        sphere["velocity.cartesian"] = lambda x, y, z: (-y, x, 0 * z)
        self.assertEqual(sphere.run(devices="cpu", threads=1).summary["steps"], 2)
        same["velocity.east"] = lambda x, y, z: np.hypot(x, y)
        q = [np.asarray(case.run(devices="cpu", threads=1).fields.at("last", "q"))[0] for case in (sphere, same)]
        np.testing.assert_allclose(q[0], q[1], atol=1e-9)
        same["velocity.north"] = "sin(t)"
        with self.assertRaisesRegex(tutti.Error, r"names a \[\[field\]\] and t"):
            same.run()

    def test_tetrahedra_on_any_devices_and_ranks(self):
        run = self.run_case(BOX)
        u = self.check_at_start(run, "u", lambda x, y, z: x + 2 * y, "cell")
        self.assertEqual(u.shape, (3, 162))
        for options in ({"devices": ["fake:2"]}, {"ranks": 2}):
            other = self.run_case(BOX, **options).fields["u"]
            np.testing.assert_array_equal(other.values, u.values)
            np.testing.assert_array_equal(other.coords["y"], u.coords["y"])
        last = run.fields.at("last", "u")
        self.assertEqual(last.shape, (1, 162))
        np.testing.assert_array_equal(last.values[0], u.values[-1])
        self.assertEqual(self.run_case({**BOX, "time": {"steps": 10}}).summary["checksum"], run.summary["checksum"])
        with self.assertRaisesRegex(KeyError, "choose one of u"):
            run.fields["v"]

    def test_grids(self):
        flow = self.run_case({**FLOW, "output": {"slice": [{"name": "middle", "axis": "z", "position": 0.4}]}})
        self.check_at_start(flow, "T", lambda x, y, z: x + 10 * y + 100 * z, "xyz")
        self.assertEqual(flow.fields["velocity"].shape, (2, 6, 4, 2, 3))
        layer = flow.slice("middle")["T"]
        np.testing.assert_array_equal(layer.values[:, :, :, 0], np.asarray(flow.fields["T"].values)[:, :, :, 0])

    def test_nodes_and_elements(self):
        q = self.check_at_start(self.run_case(SPHERE), "q", lambda x, y, z: z, "cell")
        np.testing.assert_array_equal(q.values, self.run_case(SPHERE, devices="fake:2").fields["q"].values)
        rho = self.check_at_start(self.run_case(GAS), "rho", lambda x, y, z: 2 + x, "cell")
        with mock.patch.dict(os.environ, TUTTI_PLAIN_READER="1"):
            np.testing.assert_array_equal(self.run_case(GAS, devices="fake:2").fields["rho"].values, rho.values)

    def test_graphs(self):
        run = self.run_case(GRAPH)
        values = run.fields["betweenness"]
        np.testing.assert_array_equal(values.coords["vertex"], np.arange(20))
        self.assertGreater(values.values.min(), 0)
        text = self.run_case({**GRAPH, "output": {"formats": ["csv"]}}).fields["betweenness"]
        np.testing.assert_array_equal(text.values, values.values)
        self.assertIn("20 vertices", repr(run))

    def test_without_and_with_xarray(self):
        run = self.run_case(BOX)
        with without("xarray"):
            plain = run.fields["u"]
        self.assertIsInstance(plain, Field)
        self.assertEqual((plain.name, plain.attrs["units"], np.asarray(plain).shape), ("u", "", (3, 162)))
        if importlib.util.find_spec("xarray"):
            field = run.fields["u"]
            np.testing.assert_array_equal(field.sel(time=0.0).values, plain.values[0])
            self.assertEqual(field.coords["x"].dims, ("cell",))


class Tables(Cases):
    def test_history_and_probes(self):
        run = self.run_case(BOX)
        with open(run.folder / "history.csv", newline="") as file:
            rows = list(csv.DictReader(file))
        with without("pandas"):
            history, probes = run.history, run.probes
        self.assertEqual(list(history.dtype.names), list(rows[0]))
        self.assertEqual(len(history), 11)
        np.testing.assert_array_equal(history["mass"], [float(row["mass"]) for row in rows])
        self.assertEqual(probes.dtype.names, ("time", "a", "a (2)"))
        if importlib.util.find_spec("pandas"):
            self.assertEqual(type(run.history).__name__, "DataFrame")
            np.testing.assert_array_equal(run.history["mass"], history["mass"])

    def test_a_sweep(self):
        case = self.case(BOX)
        with without("pandas"):
            rows = tutti.sweep(case, {"physics.K": [0.5, -1], "time.steps": [2, 3]}, jobs=2, output=self.folder / "sweep", devices="cpu")
        np.testing.assert_array_equal(rows["physics.K"], [0.5, 0.5, -1, -1])
        np.testing.assert_array_equal(rows["steps"], [2, 3, np.nan, np.nan])
        self.assertEqual([bool(run) for run in rows["run"]], [True, True, False, False])
        self.assertEqual(rows["problem"][0], "")
        self.assertIn("K is not positive definite", rows["problem"][2])
        alone = self.run_case({**BOX, "physics": {"K": 0.5, "initial": "x + 2*y"}, "time": {"steps": 3}})
        self.assertEqual(rows["checksum"][1], alone.summary["checksum"])
        self.assertEqual(rows["mass"][1], alone.summary["diagnostics"]["mass"])
        self.assertEqual(json.loads((self.folder / "sweep" / "001" / "summary.json").read_text())["steps"], 3)
        self.assertNotIn("time.steps", repr(case))


class Pictures(Cases):
    def test_mesh(self):
        run = self.run_case(BOX)
        with without("pyvista"), self.assertRaisesRegex(tutti.Error, "pip install pyvista") as caught:
            run.mesh
        self.assertEqual((caught.exception.kind, caught.exception.code), ("resource", 3))
        if importlib.util.find_spec("pyvista"):
            self.assertEqual(run.mesh.n_cells, 162)
            self.assertEqual(self.run_case(GAS).mesh["rho"].shape, (8,))

    def check_closed(self, mesh):
        """A half and its section close each other, wherever the plane lies: along faces that are not flat, too."""
        for axis, at in itertools.product(np.eye(3), (0.25, 0.5, 0.51)):
            low, high = (mesh.points @ axis).min(), (mesh.points @ axis).max()
            offset = low + at * (high - low)
            half, cut = surface.clip(mesh.boundary(), axis, offset), mesh.section(axis, offset)
            area = [np.cross(t.corners[:, 1] - t.corners[:, 0], t.corners[:, 2] - t.corners[:, 0]) / 2 for t in (half, cut)]
            self.assertAlmostEqual(area[0].sum(axis=0) @ axis + np.linalg.norm(area[1], axis=1).sum(), 0, delta=1e-12)
            self.assertGreater(np.linalg.norm(area[1], axis=1).sum(), 0.01)

    @unittest.skipUnless(importlib.util.find_spec("matplotlib"), "this Python has no matplotlib")
    def test_pictures_of_elements(self):
        box = {"generate": "box", "cubes": [3, 3, 4], "jitter": 0.2, "periodic": True}
        mixed = {"file": str(ROOT / "tests" / "data" / "elements" / "vtu" / "mixed_quadratic.vtu")}  # one of each kind
        for mesh, count, size in (({**box, "element": "hex"}, 36, 0.3), ({**box, "element": "prism"}, 72, 0.3), (mixed, 4, 1)):
            walls = {"boundary": [{"tag": "*", "type": "slip"}]} if count == 4 else {}
            run = self.run_case({**GAS, "mesh": mesh, "numerics": {"order": 0}, **walls}, devices="fake:2,cpu")
            snapshot = run.results.load("first")
            mesh = snapshot.merged()
            self.assertEqual(mesh.cells, count)
            outside = mesh.boundary()
            a, b, c = np.moveaxis(outside.corners, 1, 0)
            self.assertLess(np.abs(np.cross(b - a, c - a).sum(axis=0)).max(), 1e-13)  # closed
            if count > 4:
                self.assertAlmostEqual(np.einsum("ij,ij->i", a, np.cross(b, c)).sum() / 6, 1, delta=1e-13)
            self.check_closed(mesh)
            x = outside.corners.mean(axis=1)[:, 0]  # each has the colour of its own cell, where rho = 2 + x
            self.assertLess(np.abs(snapshot.cell_data["rho"][outside.cell] - 2 - x).max(), size)
            run.plot(self.folder / "a.png", dpi=40)
            self.assertGreater((self.folder / "a.png").stat().st_size, 3000)
        with self.assertRaisesRegex(ValueError, "a.vtu: cells of VTK's type 7; .* are expected"):
            ElementMesh.of("a.vtu", np.zeros((4, 3)), np.arange(4), np.array([4]), np.array([7]))

    @unittest.skipUnless(importlib.util.find_spec("matplotlib"), "this Python has no matplotlib")
    def test_a_layer_is_seen_from_above(self):
        from tutti import plot

        self.assertIsNone(plot.whole_layer(np.array([[0, 0, 0], [5, 5, 1]])))
        self.assertEqual(plot.whole_layer(np.array([[0, 0, 0], [50, 40, 1]])), ("none", (-90.0, 90.0)))
        np.testing.assert_allclose(plot.camera(-90.0, 90.0), np.eye(3), atol=1e-15)

    @unittest.skipUnless(importlib.util.find_spec("matplotlib"), "this Python has no matplotlib")
    def test_pictures(self):
        run = self.run_case({**FLOW, "output": {"history_every": 1}})
        figure = run.plot(self.folder / "a.png", field="T", clip="z", range=(0, 100), dpi=40)
        self.assertEqual(type(figure).__name__, "Figure")
        self.assertGreater((self.folder / "a.png").stat().st_size, 3000)
        run.plot_history(self.folder / "h.png")
        self.assertGreater((self.folder / "h.png").stat().st_size, 3000)
        for options in ({"clip": "w"}, {"colour": "red"}):
            with self.assertRaisesRegex(TypeError, "run.plot: "):
                run.plot(**options)
        with without("matplotlib"), self.assertRaisesRegex(tutti.Error, "no matplotlib"):
            run.plot()


class Running(Cases):
    def test_an_error_has_the_programs_line_and_kind(self):
        path = self.folder / "case.toml"
        path.write_text('model = "diffusion"\n[mesh]\ngenerate = "bix"\n')
        said = subprocess.run([os.environ["TUTTI"], "run", path, "-o", self.folder / "out"], capture_output=True, text=True)
        with self.assertRaises(tutti.Error) as caught:
            Case.load(path).run()
        self.assertEqual("tutti: error: " + str(caught.exception), said.stderr.strip())
        self.assertEqual((caught.exception.code, caught.exception.kind), (said.returncode, "input"))
        with self.assertRaisesRegex(tutti.Error, "cuda:77") as caught:
            self.case(BOX).plan(devices="cuda:77")
        self.assertEqual(caught.exception.kind, "resource" if caught.exception.code == 3 else "usage")
        with self.assertRaisesRegex(tutti.Error, "cubes"):
            self.run_case({**BOX, "mesh": {"generate": "box", "cubes": [0, 1, 1]}}, ranks=2)
        with self.assertRaisesRegex(FileNotFoundError, "no such program"):
            self.run_case(BOX, program=self.folder / "none")
        self.assertIn("memory", self.case(BOX).plan(devices="cpu"))
        self.assertEqual(list(self.folder.glob("case-*.toml")), [])

    def test_wrong_arguments_are_told_in_one_line(self):
        run = self.run_case(BOX, output=self.folder / "out")
        wrong = [
            (lambda: self.case([1, 2]), TypeError, "list is no case; give a dict or the text"),
            (lambda: self.run_case(BOX, ranks=0), ValueError, "ranks=0: not a whole number from 1 on; leave it out"),
            (lambda: self.run_case(BOX, ranks="two"), ValueError, "ranks='two': not a whole number"),
            (lambda: self.case(BOX).run(threads=0), ValueError, "threads=0: not a whole number from 1 on; leave it out"),
            (lambda: self.run_case(BOX, ranks=2, launch="no-such-launcher -n {ranks}"), FileNotFoundError, "launch='no-such-.*: no such program"),
            (lambda: self.run_case(BOX, ranks=2, launch="mpirun -n {rank}"), ValueError, r"only \{ranks\} can stand in braces"),
            (lambda: run.restart("time.end"), TypeError, "restart: 'time.end' is no dict"),
            (lambda: tutti.sweep(self.case(BOX), {"physics.K": 3}), TypeError, r"sweep: physics.K: 3 is no list of values; write \[3\]"),
            (lambda: tutti.sweep(self.case(BOX), {"physics.K": "x"}), TypeError, "'x' is no list of values"),
            (lambda: tutti.sweep(self.case(BOX), {"physics.K": [1]}, jobs=0), ValueError, "sweep: jobs=0: not a whole number"),
        ]
        for do, kind, text in wrong:
            with self.subTest(text), self.assertRaisesRegex(kind, text) as caught:
                do()
            self.assertEqual(str(caught.exception).count("\n"), 0)
        (self.folder / "out/summary.json").write_text("{")
        with self.assertRaisesRegex(ValueError, "summary.json: not JSON: .*; the file is damaged"):
            tutti.Run(self.folder / "out").summary

    def test_results_in_a_folder(self):
        run = self.run_case(BOX, output=self.folder / "out")
        with self.assertRaises(tutti.Error) as caught:
            self.run_case(BOX, output=self.folder / "out")
        self.assertEqual(caught.exception.kind, "usage")
        self.run_case(BOX, output=self.folder / "out", overwrite=True)
        self.assertEqual(tutti.Run(self.folder / "out").summary["checksum"], run.summary["checksum"])
        temporary = self.run_case(BOX)
        fields, folder = temporary.fields, temporary.folder
        del temporary
        self.assertEqual(fields["u"].shape[0], 3)  # the files are there as long as the fields
        del fields
        self.assertFalse(folder.exists())

    def test_a_restart_goes_on(self):
        content = {**BOX, "checkpoint": {"every": 5}}
        run = self.run_case({**content, "time": {"steps": 5}})
        more = run.restart({"time.steps": 10}, devices="cpu", threads=1)
        self.assertEqual((more.summary["first_step"], more.summary["steps"]), (5, 10))
        self.assertEqual(more.summary["checksum"], self.run_case(content).summary["checksum"])

    def test_progress(self):
        lines = []
        self.run_case(BOX, progress=lines.append)
        self.assertIn("step 10 of 10", lines[-1])
        said = io.StringIO()
        with contextlib.redirect_stdout(said):
            self.run_case(BOX, progress=True)
            self.run_case(BOX)  # no terminal, no notebook
        self.assertRegex(said.getvalue(), r"^\r.*\r100 % .*\n$")

    def stand_in(self, script):
        path = self.folder / "stand_in"
        path.write_text("#!/bin/sh\n" + script)
        path.chmod(0o755)
        return path

    def test_warnings_and_lost_ranks(self):
        program = self.stand_in('echo "tutti: warning: a core is busy" >&2; echo noise >&2; echo "tutti: error: rank 1: lost; start anew" >&2; exit 7\n')
        with warnings.catch_warnings(record=True) as caught, self.assertRaises(tutti.Error) as error:
            warnings.simplefilter("always")
            self.run_case(BOX, program=program)
        self.assertEqual([str(w.message) for w in caught], ["a core is busy"])
        self.assertEqual((str(error.exception), error.exception.kind), ("rank 1: lost; start anew", "peer"))
        with self.assertRaises(tutti.Error) as error:
            self.run_case(BOX, program=self.stand_in("kill -9 $$\n"))
        self.assertEqual((error.exception.kind, error.exception.code), ("bug", -9))

    def test_an_interrupt_leaves_a_checkpoint(self):
        script = (f"import sys; sys.path.insert(0, {str(ROOT / 'python')!r})\nfrom tutti.case import Case\n"
                  f"Case({ {**BOX, 'time': {'steps': 10**8}, 'output': {}} !r}, {str(self.folder)!r}).run("
                  f"{str(self.folder / 'out')!r}, devices='cpu', threads=1)\n")
        process = subprocess.Popen([sys.executable, "-c", script], stderr=subprocess.PIPE, text=True)
        for _ in range(600):
            if (self.folder / "out" / "metrics.jsonl").is_file():
                break
            time.sleep(0.05)
        process.send_signal(signal.SIGINT)
        _, stderr = process.communicate(timeout=60)
        self.assertIn("KeyboardInterrupt", stderr)
        self.assertTrue(tutti.Run(self.folder / "out").summary["stopped"])
        self.assertTrue(list((self.folder / "out" / "checkpoints").glob("*.h5")))


class Smoothing(Cases):
    def test_a_moved_point_goes_back(self):
        n = 4
        x, y = np.meshgrid(np.arange(n + 1.0), np.arange(n + 1.0))
        places = np.stack([x.ravel(), y.ravel()], axis=1)
        c = (np.arange(n)[:, None] * (n + 1) + np.arange(n)).ravel()
        triangles = np.concatenate([np.stack([c, c + 1, c + n + 2], 1), np.stack([c, c + n + 2, c + n + 1], 1)])
        moved = places.copy()
        moved[2 * (n + 1) + 2] += 0.3
        better = tutti.smooth(moved, triangles, boundary="fixed", iterations=50, devices="cpu", threads=1)
        self.assertEqual(better.shape, moved.shape)
        self.assertLess(np.abs(better - places).max(), 0.05)
        with self.assertRaisesRegex(tutti.Error, "--energy") as caught:
            tutti.smooth(moved, triangles, energy="none")
        self.assertEqual(caught.exception.kind, "usage")
        for wrong, kind in ((triangles[:, :2], TypeError), (triangles + 1, ValueError), (triangles * 1.0, TypeError)):
            with self.assertRaisesRegex(kind, "cells: "):
                tutti.smooth(moved, wrong)


if __name__ == "__main__":
    unittest.main()
