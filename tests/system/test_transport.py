"""Transport on the sphere as a user meets it: the example, results, restarts, and one line for what is wrong."""

import csv
import json
import math
import struct
import unittest

try:
    import h5py
except ImportError:  # Debian: python3-h5py
    h5py = None

from program import EQUAL, ROOT, SystemTest, sets, tutti
from test_physics import read_u

INPUT, IO, NUMERICAL = 4, 5, 6
EXAMPLE = ROOT / "examples" / "vortex-roll-up" / "case.toml"

CASE = """model = "transport"
[nodes]
{nodes}
[stencil]
size = 25
exponent = 5
degree = 4
[hyperviscosity]
k = 2
[velocity]
{velocity}
{tracers}
[time]
{time}
{more}
"""
NODES = 'generate = "icosahedral"\ncount = 362'
STEADY = 'east = "cos(lat) + 0.3*sin(lat)*cos(lon)"\nnorth = "-0.3*sin(lon)"'
CHANGING = 'cartesian = ["-y + 0.2*sin(3*t)*z", "x", "x*y*cos(t)"]'
DYE = '[[tracer]]\nname = "dye"\ninitial = "sin(2*lon)*cos(lat)^2 + z"\n'
SALT = '[[tracer]]\nname = "salt"\ninitial = "exp(-4*((x-1)^2 + y^2 + z^2))"\n'


def case(nodes=NODES, velocity=STEADY, tracers=DYE, time="steps = 12", more=""):
    return CASE.format(nodes=nodes, velocity=velocity, tracers=tracers, time=time, more=more)


def outcome(summary):
    """All that must not depend on the machine or on a restart."""
    return {name: summary.get(name) for name in ["checksum", "cells", "steps", "time", "dt", "mass", "tracers"]}


class Runs(SystemTest):
    def test_the_example(self):
        result = tutti("run", EXAMPLE, "-o", self.folder / "results", *EQUAL)
        self.assertEqual(result.code, 0, result.err)
        self.assertIn("10,242 nodes", result.out)
        summary = json.loads((self.folder / "results" / "summary.json").read_text(encoding="utf-8"))
        front, = summary["tracers"]
        self.assertEqual(front["name"], "front")
        self.assertLess(front["l2"], 1e-4)
        self.assertLess(front["l1"], front["linf"])
        self.assertLess(abs(front["mass"] / (4 * math.pi) - 1), 1e-5)
        self.assertTrue(0.4 < front["min"] < 1 < front["max"] < 1.6)

    def test_the_same_bits(self):
        runs = [(None, "fake:2,cpu", "metis"), (3, "fake:1,cpu", "hilbert"), (2, "cpu", "latitude")]
        for velocity, tracers, more, machines in ((STEADY, DYE, "", runs[:2]),
                                                  (CHANGING, DYE + SALT, "[output]\nhistory_every = 1", runs[1:])):
            text = case(velocity=velocity, tracers=tracers, more=more)
            whole = self.run_case(text, "--devices", "cpu")
            for ranks, devices, method in machines:
                with self.subTest(velocity=velocity, ranks=ranks, devices=devices, method=method):
                    other = self.run_case(text, "--devices", devices, *sets(partition__method=method), ranks=ranks)
                    self.assertEqual(outcome(other), outcome(whole))
                    if more:
                        self.assertEqual((other["folder"] / "history.csv").read_text(),
                                         (whole["folder"] / "history.csv").read_text())

    def test_the_same_bits_where_a_mode_grew_at_first(self):
        # The operators of a second try are other work than those of the first, which GPUs may have kept.
        text = case(nodes='generate = "random"\ncount = 2000\nseparation = 0.5', time="steps = 12\ndt = 0.05")
        text = text.replace("[hyperviscosity]", '[hyperviscosity]\ngamma = "uniform"')
        whole = self.run_case(text, "--devices", "cpu")
        for devices in ("fake:1", "fake:3"):
            self.assertEqual(outcome(self.run_case(text, "--devices", devices)), outcome(whole))

    def test_automatic_steps_cost_no_accuracy(self):
        bell = (ROOT / "examples" / "cosine-bell" / "case.toml").read_text(encoding="utf-8").replace("10242", "2562")
        bell = bell.replace("end = 1036800", "end = 259200")  # a quarter of a turn
        runs = [self.run_case(bell, *sets(time__tolerance=tolerance)) for tolerance in (0.005, 0.02, 0)]
        steps = [run["dt"] for run in runs]
        self.assertTrue(steps[0] < steps[1] < steps[2], steps)
        self.assertGreaterEqual(steps[0], 0.499 * steps[2])
        short = self.run_case(bell, *sets(time__dt=steps[2] / 4))
        errors = [run["tracers"][0]["l2"] for run in (*runs, short)]
        self.assertLess(abs(errors[0] - errors[3]), 0.3 * abs(errors[2] - errors[3]), errors)
        self.assertEqual(outcome(self.run_case(bell, "--devices", "fake:2,cpu")), outcome(runs[0]))
        # The end does not matter, and a smooth tracer's error is small with any stable step.
        self.assertEqual(self.run_case(bell, *sets(time__end=64800))["dt"], steps[0])
        smooth = self.run_case(case()), self.run_case(case(), *sets(time__tolerance=0))
        self.assertEqual(smooth[0]["dt"], smooth[1]["dt"])

    def test_little_damping_is_no_error(self):
        # k = 3 with so little: the maximum of noise rises, and no eigenvector of a step grows.
        bell = (ROOT / "examples" / "cosine-bell" / "case.toml").read_text(encoding="utf-8").replace("10242", "2562")
        for beta in (0.08, 0.2):
            run = self.run_case(bell, *sets(hyperviscosity__beta=beta, time__end=129600))
            self.assertLess(run["tracers"][0]["max"], 1010)

    def test_stencils_of_300_nodes(self):
        text = case(nodes='generate = "icosahedral"\ncount = 642', time="steps = 2").replace("size = 25", "size = 300")
        text = text.replace("exponent = 5\ndegree = 4", "exponent = 7\ndegree = 10")
        whole = self.run_case(text)
        self.assertEqual(outcome(self.run_case(text, "--devices", "fake:2,cpu")), outcome(whole))

    def test_fields_are_point_data(self):
        run = self.run_case(case(tracers=DYE + SALT), ranks=2)
        for path in (*run["folder"].rglob("*.vtu"), *run["folder"].rglob("*.pvtu")):
            head = path.read_bytes().split(b"<AppendedData")[0]
            points = head[head.index(b"PointData>"):head.rindex(b"PointData>")]
            for name in (b'"dye"', b'"salt"', b'"node"', b'"part"'):
                self.assertIn(b"Name=" + name, points, path)
                self.assertEqual(head.count(b"Name=" + name), 1)
        # Another run starts from them, and from what earlier versions wrote, the data of cells.
        for kind in (b"PointData", b"CellData"):
            for path in run["folder"].rglob("*.vtu"):
                path.write_bytes(path.read_bytes().replace(b"<CellData>\n</CellData>\n", b"").replace(b"PointData", kind))
            again = case(tracers='[[tracer]]\nname = "dye"\ninitial = "old"\n', time="steps = 0",
                         more=f'[[field]]\nname = "old"\nfile = "{run["folder"]}"\ncolumn = "dye"\ninterpolation = "nearest"')
            self.assertEqual(self.run_case(again)["tracers"][0]["max"], run["tracers"][0]["max"])

    @unittest.skipUnless(h5py, "needs h5py")
    def test_one_file_of_point_data(self):
        text = case(more='[output]\nformat = "vtkhdf"\nevery = 6')
        found = []
        for ranks in (None, 2):
            run = self.run_case(text, ranks=ranks)
            again = tutti("run", "--restart", run["folder"], "--set", "time.steps=18", *EQUAL)
            self.assertEqual(again.code, 0, again.err)
            with h5py.File(run["folder"] / "results.vtkhdf") as file:
                top = file["VTKHDF"]
                self.assertEqual(len(top["CellData"] if "CellData" in top else ()), 0)
                self.assertEqual(list(top["PointData/node"][:362]), list(range(362)))
                self.assertEqual(list(top["Steps/PointDataOffsets/dye"]), [0, 362, 724, 1086])
                found.append([top[name][...].tobytes() for name in ("Points", "PointData/dye", "Connectivity")])
        self.assertEqual(found[0], found[1])

    def test_a_velocity_from_a_file(self):
        (self.folder / "east.csv").write_text("x,y,z,v\n1,0,0,1\n-1,0,0,1\n0,1,0,1\n0,-1,0,1\n0,0,1,0\n0,0,-1,0\n")
        field = '[[field]]\nname = "wind"\nfile = "east.csv"\ninterpolation = "nearest"\n'
        moved = self.run_case(case(velocity='east = "wind*cos(lat)"', more=field + "[numerics]\ncheck = false"), ranks=2)
        self.assertNotEqual(moved["checksum"], self.run_case(case(velocity='east = "0"', time="steps = 12\ndt = 0.01"))["checksum"])

    def test_damping_is_local_where_nodes_are_uneven(self):
        local, uniform = ('[hyperviscosity]\ngamma = "%s"' % kind for kind in ("local", "uniform"))
        vortex = EXAMPLE.read_text(encoding="utf-8").replace("10242", "2562").replace("k = 3", "k = 2")
        vortex = vortex.replace("end = 3.0", "end = 10.0")
        uneven = vortex.replace("icosahedral", "random")
        found = self.run_case(uneven)
        self.assertRegex(found["out"], r"beta [\d.]+, local")
        self.assertEqual(outcome(self.run_case(uneven.replace("[hyperviscosity]", local))), outcome(found))
        self.assertEqual(outcome(self.run_case(uneven, "--devices", "fake:2,cpu", ranks=2)), outcome(found))
        front, = found["tracers"]
        self.assertTrue(0.45 < front["min"] < front["max"] < 1.55, front)
        # On even ones it makes little difference, and is left.
        found, other = self.run_case(vortex), self.run_case(vortex.replace("[hyperviscosity]", local))
        self.assertEqual(outcome(self.run_case(vortex.replace("[hyperviscosity]", uniform))), outcome(found))
        self.assertNotEqual(other["checksum"], found["checksum"])
        self.assertLess(abs(other["tracers"][0]["l2"] / found["tracers"][0]["l2"] - 1), 0.1)

    def test_more_tracers_than_a_pass_takes(self):
        many = "".join(f'[[tracer]]\nname = "t{k}"\ninitial = "z + {k}*x"\n' for k in range(11))
        whole = self.run_case(case(tracers=many), "--devices", "cpu")
        self.assertEqual(outcome(self.run_case(case(tracers=many), "--devices", "fake:2")), outcome(whole))
        for k, tracer in enumerate(whole["tracers"]):
            alone, = self.run_case(case(tracers=f'[[tracer]]\nname = "t{k}"\ninitial = "z + {k}*x"\n'))["tracers"] \
                if k in (0, 10) else (tracer,)
            # Not the same bits: noise, by which dt is found, is another one.
            self.assertAlmostEqual(alone["min"], tracer["min"], delta=1e-2)
            self.assertAlmostEqual(alone["max"], tracer["max"], delta=1e-2)

    def test_an_exact_solution_without_value(self):
        text = case(tracers=DYE.rstrip() + '\nexact = "1/(x-x)"\n')
        for ranks in (None, 2):
            folder = self.folder / f"exact_{ranks}"
            path = self.folder / "exact.toml"
            path.write_text(text, encoding="utf-8")
            result = tutti("run", path, "-o", folder, *EQUAL, ranks=ranks)
            self.assertEqual(result.code, INPUT)
            self.assertIn("must be finite", result.err)
            self.assertIn("checksum", json.loads((folder / "summary.json").read_text(encoding="utf-8")))

    def test_a_cache_is_good_for_all_devices(self):
        text = case(nodes='generate = "fibonacci"\ncount = 4500', more="[numerics]\ncheck = false")  # two blocks of the file
        whole = self.run_case(text)
        cached = text.replace("[stencil]", '[stencil]\ncache = "weights.bin"')
        for writer, reader in ((dict(ranks=3), dict(devices="fake:2")), (dict(devices="fake:1,cpu"), dict(ranks=2))):
            written = None
            for run in (writer, reader):
                with self.subTest(writer=writer, run=run):
                    found = self.run_case(cached, "--devices", run.get("devices", "cpu"), ranks=run.get("ranks"))
                    self.assertEqual(outcome(found), outcome(whole))
                    file = (self.folder / "weights.bin").stat().st_ino  # what is written anew is another file
                    self.assertEqual(written or file, file)
                    written = file
            (self.folder / "weights.bin").unlink()

    def test_a_cache_that_is_another_file(self):
        other = self.folder / "other.txt"
        other.write_text("somebody's\n", encoding="utf-8")
        path = self.folder / "cached.toml"
        path.write_text(case().replace("[stencil]", f'[stencil]\ncache = "{other}"'), encoding="utf-8")
        result = tutti("run", path, "-o", self.folder / "cached", *EQUAL)
        self.assertEqual(result.code, INPUT)
        self.assertIn("not a cache of stencils", result.err)
        self.assertEqual(other.read_text(encoding="utf-8"), "somebody's\n")

    def test_it_goes_on_elsewhere(self):
        for velocity, tracers, method, machines in ((STEADY, DYE, "ssp-rk3", [(None, "cpu"), (3, "cpu")]),
                                                    (CHANGING, DYE + SALT, "rk4", [(2, "fake:1,cpu")])):
            text = case(velocity=velocity, tracers=tracers, time=f'steps = 12\nmethod = "{method}"',
                        more="[checkpoint]\nevery = 5\nminutes = 0\nkeep = 9")
            whole = self.run_case(text, "--devices", "fake:2")
            for ranks, devices in machines:
                with self.subTest(velocity=velocity, ranks=ranks, devices=devices):
                    folder = self.folder / f"again_{method}_{ranks}"
                    result = tutti("run", "--restart", whole["folder"] / "checkpoints" / f"step-{5:012d}.h5", "-o", folder,
                                   *EQUAL, "--devices", devices, ranks=ranks)
                    self.assertEqual(result.code, 0, result.err)
                    summary = json.loads((folder / "summary.json").read_text(encoding="utf-8"))
                    self.assertEqual(outcome(summary), outcome(whole))
                    self.assertEqual(summary["first_step"], 5)

    def test_results_and_probes(self):
        probe = '[output]\n[[output.probe]]\nname = "top"\npoint = [0, 0, 1]\n'
        for ranks in (None, 3):
            summary = self.run_case(case(tracers=DYE + SALT, more=probe), ranks=ranks)
            values = self.field(summary["folder"], "dye")
            self.assertEqual(len(values), 362)
            self.assertEqual(max(values), summary["tracers"][0]["max"])
            self.assertEqual(min(self.field(summary["folder"], "salt")), summary["tracers"][1]["min"])
            with open(summary["folder"] / "probes.csv", encoding="utf-8") as lines:
                names, first, *_, last = csv.reader(lines)
            self.assertEqual(names[0], "time")
            self.assertEqual(len(names), 3)
            # Node 0 is at the pole, where z = 1.
            self.assertEqual(float(first[1]), 1)
            self.assertIn(float(last[1]), values)

    def field(self, folder, name):
        return read_u(folder, 1, name)

    def test_nodes_from_a_file(self):
        made = tutti("nodes", "generate", "icosahedral", "--count", "362", "-o", self.folder / "nodes.bin")
        self.assertEqual(made.code, 0, made.err)
        generated, read = self.run_case(case()), self.run_case(case(nodes='file = "nodes.bin"'))
        self.assertEqual(outcome(read), outcome(generated))


class Wrong(SystemTest):
    def expect(self, text, code, *patterns, options=(), ranks_list=(None, 3)):
        file = self.write("case.toml", text)
        for ranks in ranks_list:
            with self.subTest(ranks=ranks):
                result = tutti("run", file, "-o", self.folder / "results", "--overwrite", *EQUAL, *options, ranks=ranks)
                self.assert_error(result, code, *patterns)
                self.assertNotIn("internal error", result.err)
                self.assertFalse((self.folder / "results" / "summary.json").exists())

    def test_keys(self):
        one = [None]
        self.expect(case(velocity=""), INPUT, r"case\.toml:1:", "there is no velocity", r"velocity\.east")
        self.expect(case(tracers=""), INPUT, r"case\.toml:1:", r"no \[\[tracer\]\]", ranks_list=one)
        self.expect(case(tracers=DYE + "colour = 2\n"), INPUT, r"case\.toml:17\b", r"unknown key 'tracer\[0\]\.colour'",
                    ranks_list=one)
        self.expect(case(tracers=DYE.replace("z", "zz")), INPUT, r"case\.toml:16\b", "unknown name 'zz'", ranks_list=one)
        self.expect(case(velocity='east = "1/cos(lat)^20/(1-z)"'), INPUT, r"case\.toml:12\b", "1/cos", ranks_list=[3])
        self.expect(case(velocity=STEADY + "\n" + CHANGING), INPUT, r"case\.toml:14\b", "given twice", ranks_list=one)

    def test_nodes(self):
        self.expect(case(nodes='generate = "icosahedral"\ncount = 400'), INPUT, r"case\.toml:4\b", "362", "492", ranks_list=[None])
        self.expect(case(nodes='generate = "fibonacci"\ncount = 20'), INPUT, "there are 20, fewer than the 25 of a stencil")
        self.expect(case(nodes='file = "none.xyz"'), IO, r"none\.xyz")

    def test_damaged_files(self):
        made = tutti("nodes", "generate", "fibonacci", "--count", "300", "-o", self.folder / "good.bin")
        self.assertEqual(made.code, 0, made.err)
        good = (self.folder / "good.bin").read_bytes()
        for name, data, pattern in (("cut.bin", good[:-5], r"cut\.bin.*bytes"),
                                    ("far.bin", good[:480] + struct.pack("<d", 3.0) + good[488:], r"far\.bin.*origin"),
                                    ("nan.bin", good[:480] + struct.pack("<d", math.nan) + good[488:], r"nan\.bin"),
                                    ("twice.bin", good + good[:24], r"twice\.bin.*nodes 0 and 300"),
                                    ("empty.bin", b"", r"empty\.bin")):
            with self.subTest(file=name):
                (self.folder / name).write_bytes(data)
                self.expect(case(nodes=f'file = "{name}"'), INPUT, pattern,
                            ranks_list=[None, 3] if name == "twice.bin" else [None])

    def test_a_field_in_a_velocity_that_changes(self):
        field = '[[field]]\nname = "wind"\nfile = "east.csv"\n'
        (self.folder / "east.csv").write_text("x,y,z,v\n1,0,0,1\n")
        self.expect(case(velocity='east = "wind"\nnorth = "cos(t)"', more=field), INPUT, r"case\.toml:12\b", r"names a \[\[field\]\] and t")

    def test_steps_that_are_too_long(self):
        self.expect(case(time="steps = 3\ndt = 0.5"), NUMERICAL, r"case\.toml:20\b", r"time\.dt = 0\.5 is above the stability limit 0\.\d+")

    def test_a_probe_off_the_sphere_is_refused(self):
        probe = '[output]\n[[output.probe]]\nname = "top"\npoint = [0, 0, 2]\n'
        self.expect(case(more=probe), 4, r"probe 'top' at a distance of 2 from the centre is off the unit sphere", ranks_list=[None])

    def test_operators_that_are_unstable(self):
        # The paper's shape parameter and damping fit maximum-determinant nodes, and not these.
        text = EXAMPLE.read_text(encoding="utf-8").replace("icosahedral", "fibonacci").replace("10242", "4096")
        text += '[stencil]\nbasis = "gaussian"\nsize = 31\n'
        text = text.replace("[hyperviscosity]\nk = 3", '[hyperviscosity]\nkind = "paper"\ngamma_c = 800\nk = 4')
        self.expect(text, NUMERICAL, "a mode grows", "polyharmonic", ranks_list=[3])

    def test_damping_that_is_too_little_for_uneven_nodes(self):
        text = EXAMPLE.read_text(encoding="utf-8").replace("icosahedral", "random").replace("10242", "2562")
        text = text.replace("[hyperviscosity]", '[hyperviscosity]\ngamma = "uniform"')
        self.expect(text, NUMERICAL, "a mode grows", r"hyperviscosity\.beta up to 2\b", r"hyperviscosity\.k = 2",
                    ranks_list=[None])
        # A step that the case gives bounds the damping that is tried: what ends the run is the noise.
        self.expect(text.replace("end = 3.0", "end = 3.0\ndt = 0.15"), NUMERICAL, "a mode grows", "up to 1.2",
                    ranks_list=[None])


if __name__ == "__main__":
    unittest.main()
