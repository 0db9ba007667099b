"""What a case can say about itself: constants, when things are written, errors against an exact solution, averages over time."""

import csv
import json
import unittest
import xml.etree.ElementTree as ElementTree

from program import EQUAL, SPHERE, SystemTest, box_case, sets, tutti

INPUT = 4
DECAY = 'K = 1\ninitial = "exact"\nexact = "exp(-3*pi^2*t)*cos(pi*x)*cos(pi*y)*cos(pi*z)"'
FLOW = """model = "incompressible"
[grid]
cells = [16, 16, 1]
[fluid]
viscosity = 0.05
diffusivity = 0.05
[initial]
velocity = "exact"
temperature = "exact"
[exact]
velocity = ["sin(2*pi*x)*cos(2*pi*y)*exp(-8*pi^2*0.05*t)", "-cos(2*pi*x)*sin(2*pi*y)*exp(-8*pi^2*0.05*t)", 0]
temperature = "2"
[[boundary]]
face = "x-lower"
velocity = "periodic"
[[boundary]]
face = "x-upper"
velocity = "periodic"
[[boundary]]
face = "y-lower"
velocity = "periodic"
[[boundary]]
face = "y-upper"
velocity = "periodic"
[[scalar]]
name = "s"
diffusivity = 0
initial = "exact"
exact = "3"
[time]
end = 0.05
[output]
history_interval = 0.02
"""
GAS = """model = "compressible"
[mesh]
generate = "box"
cubes = [3, 3, 3]
[physics.initial]
rho = "exact"
velocity = [0, 0, 0]
p = 1
[physics.exact]
rho = "1 + 0*t"
[[boundary]]
tag = "*"
type = "slip"
[time]
steps = 2
[output]
history_every = 1
"""


def rows_of(path):
    with open(path, encoding="utf-8", newline="") as file:
        return [{name: float(value) for name, value in row.items()} for row in csv.DictReader(file)]


def result_times(folder):
    return [float(node.get("timestep")) for node in ElementTree.parse(folder / "results.pvd").iter("DataSet")]


class Cases(SystemTest):
    def fails(self, text, *patterns, options=(), code=INPUT):
        case = self.write("case.toml", text)
        self.assert_error(tutti("run", case, "-o", self.folder / "none", *EQUAL, *options), code, *patterns)

    def test_constants(self):
        plain = self.run_case(box_case(n=4, physics='K = 2\ninitial = "2*x + 6*y"'))
        named = box_case(n=4, physics='K = "a"\ninitial = "a*x + b*y"').replace("[mesh]", '[constants]\na = 2\nb = "3*a"\n[mesh]')
        same = self.run_case(named)
        self.assertEqual(plain["checksum"], same["checksum"])
        self.assertIn('[constants]\na = 2\nb = "3*a"\n', (same["folder"] / "effective.toml").read_text())
        other = self.run_case(named, "--set", "constants.a=1", ranks=2)
        self.assertNotEqual(other["checksum"], same["checksum"])
        again = tutti("run", "--restart", same["folder"], "--set", "constants.a=1", "--set", "time.steps=20", *EQUAL)
        self.assert_error(again, INPUT, "constants.a is now 1, but the checkpoint .* was written with 2")
        self.fails(named.replace("b =", "c ="), r"case\.toml:\d+:\d+: ", "unknown name 'b'")
        self.fails(named, "--set constants.a=t: ", "depends on position or time", options=["--set", "constants.a=t"])
        self.fails(named, "'sin' cannot name a constant", options=["--set", "constants.sin=1"])

    def test_times_are_met_and_restarts_are_the_same(self):
        output = ("interval = 0.004\nprobe_times = [0.001, 0.0055]\nhistory_interval = 0.005\n"
                  '[[output.probe]]\nname = "p"\npoint = [0.3, 0.3, 0.3]\n[checkpoint]\ntimes = [0.0052]\nkeep = 9')
        text = box_case(n=4, physics=DECAY, time="end = 0.0123", output=output)
        run = self.run_case(text)
        self.assertEqual(result_times(run["folder"]), [0, 0.004, 0.008, 0.012, 0.0123])
        self.assertEqual([row["time"] for row in rows_of(run["folder"] / "probes.csv")], [0, 0.001, 0.0055, 0.0123])
        self.assertEqual([row["time"] for row in rows_of(run["folder"] / "history.csv")], [0, 0.005, 0.01, 0.0123])
        files = {name: (run["folder"] / name).read_bytes() for name in ("history.csv", "probes.csv", "results.pvd")}
        middle = sorted((run["folder"] / "checkpoints").glob("*.h5"))[0]
        again = tutti("run", "--restart", middle, *EQUAL, ranks=2)
        self.assertEqual(again.code, 0, again.err)
        summary = json.loads((run["folder"] / "summary.json").read_text())
        self.assertEqual(summary["checksum"], run["checksum"])
        self.assertEqual(summary["steps"], run["steps"])
        for name, content in files.items():
            self.assertEqual((run["folder"] / name).read_bytes(), content, name)

    def test_steps_that_are_counted_keep_their_length(self):
        run = self.run_case(box_case(n=4, physics=DECAY, time="steps = 6\ndt = 1e-4", output="interval = 2.5e-4"))
        self.assertEqual([round(time / 1e-4, 6) for time in result_times(run["folder"])], [0, 3, 5, 6])
        self.fails(box_case(output="interval = 0"), r"case\.toml:\d+:\d+: 'output\.interval' must be a number > 0")
        self.fails(box_case(output='times = ["a"]'), r"'output\.times' must be a list of numbers")
        self.fails(box_case(output="slice_interval = 1"), "only models on a grid have slices")

    def test_errors_over_time(self):
        names = ["L2 error", "Linf error", "relative L2 error", "relative Linf error"]
        u = "sin(lon - t)*cos(lat)"
        sphere = SPHERE.replace('initial = "z"', f'initial = "exact"\nexact = "{u}"').replace("steps = 1", "end = 0.1\n[output]\nhistory_interval = 0.05")
        for text, fields in [(box_case(n=8, physics=DECAY, time="end = 0.01", output="history_interval = 0.005"), ["u"]),
                             (sphere, ["q"]), (FLOW, ["velocity", "T", "s"]), (GAS, ["rho"])]:
            with self.subTest(fields=fields):
                run = self.run_case(text)
                rows = rows_of(run["folder"] / "history.csv")
                self.assertGreaterEqual(len(rows), 3)
                for field in fields:
                    for norm in names:
                        key = norm.replace(" error", "").replace(" ", "_").lower()
                        self.assertEqual(rows[-1][f"{field} {norm}"], run["field_errors"][field][key])
                        self.assertLess(rows[0][f"{field} {norm}"], 1e-3, "it begins with the exact solution")
                        self.assertLess(rows[-1][f"{field} {norm}"], 0.05)
        self.fails(box_case(physics='K = 1\ninitial = "exact"'), r"'physics\.initial' is \"exact\", and there is no 'physics\.exact'")

    def test_errors_where_the_exact_solution_has_no_value(self):
        text = box_case(n=4, physics='K = 1\nexact = "1/t"', time="steps = 2", output="history_every = 1")
        case = self.write("case.toml", text)
        result = tutti("run", case, "-o", self.folder / "r", *EQUAL)
        self.assertIn("history.csv has nan there", result.err + result.out)
        rows = rows_of(self.folder / "r" / "history.csv")
        self.assertNotEqual(rows[0]["u L2 error"], rows[0]["u L2 error"])
        self.assertGreater(rows[1]["u L2 error"], 0)

    def value_in(self, source, column):
        """Of results, through a case that begins with them and writes a probe."""
        field = f'[[field]]\nname = "old"\nfile = "{source}"\ncolumn = "{column}"\ninterpolation = "nearest"\n[mesh]'
        text = box_case(n=4, jitter=0, physics='K = 1\ninitial = "old"', time="steps = 0",
                        output='[[output.probe]]\nname = "p"\npoint = [0.3, 0.3, 0.3]').replace("[mesh]", field)
        return rows_of(self.run_case(text)["folder"] / "probes.csv")[0]["p"]

    def test_statistics(self):
        """u = t: all that is asked for is known."""
        statistics = '[statistics]\nof = ["mean", "variance", "min", "max"]\n[checkpoint]\nevery = 4\nkeep = 9'
        text = box_case(n=4, jitter=0, physics="K = 1\nsource = 1", time="end = 1e-3\ndt = 1e-4", output=statistics)
        run = self.run_case(text)
        for name, value in [("mean", 5.5e-4), ("variance", 1e-8 * 99 / 12), ("min", 1e-4), ("max", 1e-3)]:
            self.assertAlmostEqual(self.value_in(run["folder"], f"u_{name}") / value, 1, 9, name)
        fields = {path.name: path.read_bytes() for path in (run["folder"] / "fields").iterdir()}
        again = tutti("run", "--restart", run["folder"] / "checkpoints" / "step-000000000004.h5", *EQUAL)
        self.assertEqual(again.code, 0, again.err)
        for name, content in fields.items():
            self.assertEqual((run["folder"] / "fields" / name).read_bytes(), content, name)
        late = self.run_case(text + '[partition]\nmethod = "hilbert"\n', "--set", "statistics.begin=5e-4", "--set",
                             'statistics.of=["mean"]', "--set", 'statistics.fields=["u"]', ranks=2)
        self.assertAlmostEqual(self.value_in(late["folder"], "u_mean") / 8e-4, 1, 9)
        never = tutti("run", self.write("never.toml", text), "-o", self.folder / "never", *EQUAL, "--set", "statistics.begin=1")
        self.assertEqual(never.code, 0)
        self.assertRegex(never.err, r"statistics\.begin=1: the run ends at 0\.001, before statistics\.begin = 1: all statistics are 0")
        self.fails(text, "there is no field 'v' in the results; take some of u", options=["--set", 'statistics.fields=["v"]'])
        self.fails(text, "must be a list of words of", options=["--set", 'statistics.of=["median"]'])
        self.fails(box_case(output="[statistics]\nevery = 2"), "'statistics.every' has no effect here; it belongs to statistics.of")
        clash = SPHERE + '[[tracer]]\nname = "q_mean"\ninitial = "1"\n[statistics]\nof = ["mean"]\n'
        self.fails(clash, "there is a field 'q_mean' already")
        tracer = clash.replace('"q_mean"', '"r"') + 'fields = ["q"]\n'
        self.assertIn('Name="q_mean"', next((self.run_case(tracer)["folder"] / "fields").glob("*1.pvtu")).read_text())
        other = tutti("run", "--restart", run["folder"], "--set", "statistics.every=2", "--set", "time.end=2e-3", *EQUAL)
        self.assert_error(other, INPUT, "statistics.every is now 2")

    def test_tables_and_fields(self):
        (self.folder / "q.csv").write_text("t,q\n0,0\n1,2\n")
        table = '[[table]]\nname = "q"\nfile = "q.csv"\n[mesh]'
        source = box_case(n=4, physics='K = 1\nsource = "q(t)"', time="end = 1e-3\ndt = 1e-4").replace("[mesh]", table)
        plain = box_case(n=4, physics='K = 1\nsource = "2*t"', time="end = 1e-3\ndt = 1e-4")
        devices = ["--devices", "fake:1,cpu"]
        self.assertEqual(self.run_case(source)["checksum"], self.run_case(plain)["checksum"])
        self.assertEqual(self.run_case(source, *devices, ranks=2)["checksum"], self.run_case(plain)["checksum"])
        flow = FLOW
        first = self.run_case(flow)
        grid = '[[field]]\nname = "old"\nfile = "{}"\ncolumn = "T"\n[grid]'.format(first["folder"])
        second = self.run_case(flow.replace("[grid]", grid).replace('temperature = "exact"', 'temperature = "old"'))
        self.assertLess(second["field_errors"]["T"]["linf"], 1e-12, "T is 2 everywhere")
        field = '[[field]]\nname = "old"\nfile = "q.csv"\n[mesh]'
        self.fails(source.replace("q(t)", "q"), "'q' is a table")
        self.fails(source.replace("[mesh]", field).replace('source = "q(t)"', 'exact = "old"'), "which this key cannot name")
        (self.folder / "k.csv").write_text("x,y,z,k\n0,0,0,1\n1,0,0,2\n0,1,0,1\n0,0,1,1\n1,1,1,2\n")
        named = field.replace("q.csv", "k.csv")
        self.fails(source.replace("[mesh]", named).replace("q(t)", "old*t"), r"'physics\.source' names a \[\[field\]\] and t")
        given = box_case(n=4, physics='K = "old"\nsource = "old"\ninitial = "x"').replace("[mesh]", named)
        formula = box_case(n=4, physics='K = "1+x"\nsource = "1+x"\ninitial = "x"')
        self.assertAlmostEqual(self.run_case(given, *devices, ranks=2)["mass"]["final"], self.run_case(formula)["mass"]["final"], delta=1e-9)
        initial = box_case(physics='K = 1\ninitial = "old"').replace("[mesh]", field)
        self.fails(initial, r"q\.csv: there is no column 'x'; take one of t, q")
        case = self.write("case.toml", initial.replace("q.csv", "none.vtu"))
        self.assert_error(tutti("run", case, "-o", self.folder / "none", *EQUAL, ranks=2), 5, "none.vtu")

    def test_one_file_of_results(self):
        try:
            import h5py
        except ImportError:
            self.skipTest("needs h5py")
        output = 'every = 2\nformat = "vtkhdf"\n[checkpoint]\nevery = 3\nkeep = 9'
        mixed = GAS.replace('"box"', '"box"\nelement = "mixed"\norder = 2').replace("steps = 2", "steps = 6")
        mixed = mixed.replace("cubes = [3,", "cubes = [4,").replace("history_every = 1", output) + '[statistics]\nof = ["mean", "max"]'
        for text, corners in [(mixed, None),
                              (box_case(n=3, physics='K = 1\ninitial = "x"', time="steps = 6", output=output), 4),
                              (FLOW.replace("history_interval", 'format = "vtkhdf"\nhistory_interval'), 8)]:
            run, alone = self.run_case(text, ranks=2), self.run_case(text)
            self.assertFalse((run["folder"] / "results.pvd").exists())
            with h5py.File(run["folder"] / "results.vtkhdf") as file, h5py.File(alone["folder"] / "results.vtkhdf") as other:
                top = file["VTKHDF"]
                self.assertEqual((list(top.attrs["Version"]), top.attrs["Type"]), ([2, 0], b"UnstructuredGrid"))
                cells, steps = run["cells"], top["Steps"].attrs["NSteps"]
                self.assertEqual(steps, len(top["Steps/Values"]))
                if corners is None:  # hexahedra, prisms, pyramids and tetrahedra with points between their corners
                    self.assertEqual(set(top["Types"][...]), {29, 32, 27, 24})
                    self.assertLess(0, min(top["CellData/rho_mean"][-cells:]))
                else:
                    self.assertEqual(len(top["Connectivity"]), corners * cells)
                self.assertEqual(list(top["NumberOfCells"]), [cells])
                self.assertEqual(len(top["Offsets"]), cells + 1)
                self.assertLess(max(top["Connectivity"]), top["NumberOfPoints"][0])
                for name, values in top["CellData"].items():
                    self.assertEqual(len(values), steps * cells)
                    self.assertEqual(list(top["Steps/CellDataOffsets"][name]), [k * cells for k in range(steps)])
                    if name != "part":
                        self.assertEqual(values[...].tobytes(), other["VTKHDF/CellData"][name][...].tobytes(), "in any partition")
                content = {name: values[...].tobytes() for name, values in top["CellData"].items() if name != "part"}
            if corners != 8:
                again = tutti("run", "--restart", run["folder"] / "checkpoints" / "step-000000000003.h5", *EQUAL)
                self.assertEqual(again.code, 0, again.err)
                with h5py.File(run["folder"] / "results.vtkhdf") as file:
                    for name, values in content.items():
                        self.assertEqual(file["VTKHDF/CellData"][name][...].tobytes(), values, name)
                case = self.write("case.toml", text)
                self.assert_error(tutti("run", case, "-o", run["folder"], *EQUAL), 2, "overwrite")
                again = ["run", "--restart", run["folder"], "--set", "time.steps=9", *EQUAL]
                self.assert_error(tutti(*again, "--set", 'output.format="vtk"'), 2, "output.format of its results so far is vtkhdf")
                with open(run["folder"] / "results.vtkhdf", "r+b") as file:
                    file.truncate(3000)
                self.assert_error(tutti(*again), 5, "cannot be read: .* write elsewhere with -o")

    def test_run_log(self):
        run = self.run_case(box_case(n=3, time="steps = 4"), "-q", ranks=2)
        log = (run["folder"] / "run.log").read_text()
        self.assertRegex(log, r"^tutti .*\ncommit: \w+.*\nhost: .*\ncommand: .* run .*case1\.toml")
        for key in ("commit", "host", "command", "folder", "mpi", "hdf5", "compiler"):
            self.assertTrue(run["provenance"][key], key)
        again = tutti("run", "--restart", run["folder"], *EQUAL)
        self.assertEqual(again.code, 0, again.err)
        longer = (run["folder"] / "run.log").read_text()
        self.assertTrue(longer.startswith(log), "a run that goes on appends")
        for said in ("command: ", "warning: .* is already at the end of the run", "4 steps|step 4", "results: "):
            self.assertRegex(longer[len(log):], said)
        folder = self.folder / "bad"
        case = self.write("bad.toml", box_case(n=3, time="dt = 1\nend = 3000", physics='K = 1\ninitial = "x"\nsource = "exp(t)"'))
        failed = tutti("run", case, "-o", folder, "--set", "numerics.check=false", *EQUAL)
        self.assertNotEqual(failed.code, 0)
        if folder.exists():
            self.assertIn("error: " + failed.error_lines()[0].split("error: ", 1)[1], (folder / "run.log").read_text())

    def test_steady(self):
        """u decays to nothing but its mean: the test is of every step's change, by 50."""
        text = box_case(n=3, physics='K = 1\ninitial = "1 + x"', time="steps = 9999\nsteady = 1e-6",
                        output="history_every = 1\n[checkpoint]\nevery = 49\nkeep = 99")
        run = self.run_case(text, "--devices", "fake:1,cpu", ranks=2)
        self.assertTrue(run["steady"])
        self.assertEqual(run["steps"] % 50, 0)
        self.assertLess(run["steps"], 9999)
        self.assertEqual(rows_of(run["folder"] / "history.csv")[-1]["time"], run["time"])
        files = sorted((run["folder"] / "checkpoints").glob("*.h5"))
        middle = next((path for path in files if int(path.stem[-6:]) % 50 == 49), files[0])
        again = tutti("run", "--restart", middle, *EQUAL)
        self.assertEqual(again.code, 0, again.err)
        summary = json.loads((run["folder"] / "summary.json").read_text())
        self.assertEqual((summary["steps"], summary["checksum"]), (run["steps"], run["checksum"]))
        gas = self.run_case(GAS.replace("steps = 2", "steps = 60\nsteady = 1e-6").replace("rho = \"exact\"", "rho = 1"))
        self.assertEqual((gas["steady"], gas["steps"]), (True, 50))
        sphere = self.run_case(SPHERE.replace("steps = 1", "steps = 60\nsteady = 1e-6"))
        self.assertEqual((sphere["steady"], sphere["steps"]), (False, 60))

    def test_lines(self):
        line = '[[output.line]]\nname = "{}"\nfrom = {}\nto = {}\npoints = 5\n'
        output = "every = 2\n" + line.format("a-b", [0.1, 0.2, 0.3], [0.9, 0.2, 0.3]) + "[checkpoint]\nevery = 3\nkeep = 9"
        run = self.run_case(box_case(n=3, physics='K = 1e-9\ninitial = "x > 0.5"', time="steps = 5\ndt = 1e-3", output=output))
        path = run["folder"] / "lines" / "a-b.csv"
        rows = rows_of(path)
        self.assertEqual([row["time"] for row in rows[::5]], [0, 0.002, 0.004, 0.005])
        for row, x in zip(rows, 4 * [0.1, 0.3, 0.5, 0.7, 0.9]):
            self.assertAlmostEqual(row["x"], x, 12)
            self.assertEqual((row["y"], row["z"]), (0.2, 0.3))
            if abs(x - 0.5) > 0.3:
                self.assertAlmostEqual(row["u"], x > 0.5, 5)
        content = path.read_bytes()
        again = tutti("run", "--restart", sorted((run["folder"] / "checkpoints").glob("*.h5"))[0], *EQUAL, ranks=2)
        self.assertEqual((again.code, path.read_bytes()), (0, content), again.err)
        longer = tutti("run", "--restart", run["folder"], "--set", "time.steps=6", *EQUAL)
        self.assertEqual((longer.code, [row["time"] for row in rows_of(path)[::5]]), (0, [0, 0.002, 0.004, 0.006]), longer.err)
        again = tutti("run", self.write("c.toml", box_case(n=3, output=output)), "-o", run["folder"], "--overwrite", *EQUAL, ranks=3)
        self.assertEqual((again.code, len(rows_of(path))), (0, 6 * 5), again.err)
        sphere = self.run_case(SPHERE.replace("[time]", "[output]\n" + line.format("s", [1, 0, 0], [0, 0, 1]) + "[time]"))
        for row in rows_of(sphere["folder"] / "lines" / "s.csv"):
            self.assertAlmostEqual(row["x"] ** 2 + row["y"] ** 2 + row["z"] ** 2, 1, 12)
        flow = self.run_case(FLOW + line.format("f", [0.5, 0.1, 0.5], [0.5, 0.9, 0.5]), ranks=2)
        self.assertEqual(list(rows_of(flow["folder"] / "lines" / "f.csv")[0]), ["time", "x", "y", "z", "u", "v", "w", "p", "T", "s"])
        ends = [0.1, 0.2, 0.3], [9, 9, 9]
        self.fails(box_case(n=3, output=line.format("a", *ends)), r"case\.toml:\d+:\d+: line 'a' at .* is outside the mesh")
        self.fails(box_case(n=3, output=line.format("../a", *ends)), "take 1 to 100 letters")
        self.fails(box_case(n=3, output=2 * line.format("a", [0.1, 0.2, 0.3], [0.2, 0.2, 0.3])), "there is a line 'a' already")

    def test_graphs_have_no_times(self):
        graph = 'model = "graph"\n[graph]\ngenerate = "torus"\nrows = 4\ncolumns = 4\n'
        for more, reason in [("[output]\ninterval = 1", "has no time"), ("[output]\nhistory_times = [1]", "has no time"),
                             ("[statistics]\nof = ['mean']", "no fields over time"), ("[constants]\na = 1", "takes no expressions"),
                             ('[output]\nformat = "vtkhdf"', "no fields over time"), ("[checkpoint]\ninterval = 1", "has no time")]:
            with self.subTest(more):
                case = self.write("case.toml", graph + more)
                self.assert_error(tutti("run", case, "-o", self.folder / "none"), INPUT, r"case\.toml:\d+: unknown key", reason)

    def test_meshes_of_other_formats(self):
        text = box_case().replace('generate = "box"', 'file = "part.med"').replace("cubes = [8, 8, 8]\njitter = 0.2\n", "")
        self.fails(text, r"part\.med: .*No such file", code=5)
        self.assert_error(tutti("mesh", "convert", self.folder / "none.med", "made.msh"), 5, r"none\.med: .*No such file")
        for name in ("part.med", "part.foo", "part.geo"):
            (self.folder / name).write_text("cells")
        self.fails(text, r"part\.med: unsupported format \.med; try tutti mesh convert part\.med part\.msh, and give that file")
        self.fails(text.replace(".med", ".geo"), r"part\.geo: a geometry, not a mesh; run gmsh -3 part\.geo -o part\.msh, and give")
        self.fails(text.replace(".med", ".foo"), r"part\.foo: unsupported format \.foo; supported are")


if __name__ == "__main__":
    unittest.main()
