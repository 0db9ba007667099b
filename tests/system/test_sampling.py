"""Integrals, fluxes through the boundary, planes, interpolated probes: known values, the same on any machine, refusals."""

import csv
import math
import unittest

from program import EQUAL, SPHERE, SystemTest, box_case, sets, tutti
from test_flow import LID, SWIRL, WARM, flow, history

INPUT = 4
MACHINES = ((1, "fake:2,cpu"), (3, "fake:1,cpu"))


def tables(name, *entries):
    """[[output.<name>]] tables of dictionaries."""
    text = ""
    for entry in entries:
        text += f"[[output.{name}]]\n" + "".join(f"{key} = {toml(value)}\n" for key, value in entry.items())
    return text


def toml(value):
    return str(value).lower() if isinstance(value, bool) else repr(value) if not isinstance(value, str) else f'"{value}"'


def rows(path):
    with open(path, encoding="utf-8") as lines:
        return [{name: float(text) for name, text in row.items()} for row in csv.DictReader(lines)]


ENDS = ('[[boundary]]\ntag = "x-min"\ntype = "dirichlet"\nvalue = 0\n'
        '[[boundary]]\ntag = "x-max"\ntype = "dirichlet"\nvalue = 3\n')
SIDES = tables("surface", {"name": "left", "boundary": "x-min", "of": "flux", "profile": True},
               {"name": "right", "boundary": "x-max", "of": "flux", "scale": 2.0, "unit": "W"},
               {"name": "side", "boundary": "y-min", "of": "flux"},
               {"name": "warmest side", "boundary": "y-min", "of": "u", "kind": "max"})
PARTS = tables("integral", {"name": "half", "of": "u", "where": "x < 0.5"},
               {"name": "region", "of": "1", "region": "right"},
               {"name": "middle", "of": "u", "kind": "mean", "where": "x > 0.25 && x < 0.75"},
               {"name": "least", "of": "u", "kind": "min"}, {"name": "gradient", "of": "gradient[0]", "kind": "mean"})
CUT = tables("plane", {"name": "cut", "point": [0.5, 0.5, 0.5], "normal": [1, 1, 0], "csv": True})
POINTS = tables("probe", {"name": "a", "point": [0.31, 0.42, 0.77]}) + tables(
    "line", {"name": "axis", "from": [0.01, 0.3, 0.3], "to": [0.99, 0.6, 0.7], "points": 20})


class Tetrahedra(SystemTest):
    # u = 3 x: linear, so that the scheme and all that is read of it are exact.
    TEXT = box_case(n=6, physics='K = 2\ninitial = "3*x"', boundary=ENDS, time="steps = 4",
                    output='history_every = 2\nevery = 2\ninterpolate = true\nextra = ["flux", "gradient"]\n').replace(
                        "jitter = 0.2", "jitter = 0.2\nsplit = 0.5") + SIDES + PARTS + CUT + POINTS

    def test_a_linear_function(self):
        summary = self.run_case(self.TEXT, "--devices", "cpu")
        told = history(summary)
        for name, value in {"left": 6, "right": -12, "side": 0, "half": 0.375, "region": 0.5, "gradient": 3}.items():
            for found in told[name]:
                self.assertAlmostEqual(found, value, delta=0.03 if name == "half" else 1e-9, msg=name)
            self.assertEqual(summary["diagnostics"][name], told[name][-1])
        self.assertAlmostEqual(told["middle"][0], 1.5, delta=0.02)
        self.assertTrue(0 < told["least"][0] < 0.2 and 2.8 < told["warmest side"][0] < 3)
        self.assertEqual(summary["units"], {"right": "W"})
        faces = rows(summary["folder"] / "surfaces" / "left.csv")
        self.assertEqual(len(faces), 3 * 72)  # two triangles a square, three times
        self.assertAlmostEqual(sum(row["area"] for row in faces), 3)
        for row in faces:
            self.assertEqual(row["x"], 0)
            self.assertAlmostEqual(row["flux"], 6)
        for name, x in (("probes.csv", None), ("lines/axis.csv", "x")):
            for row in rows(summary["folder"] / name):
                self.assertAlmostEqual(row["a" if x is None else "u"], 3 * (0.31 if x is None else row[x]), delta=1e-9)
        cut = rows(summary["folder"] / "planes" / "cut.csv")
        last = [row for row in cut if row["time"] == cut[-1]["time"]]
        self.assertEqual(len(cut), 3 * len(last))
        self.assertAlmostEqual(sum(row["area"] for row in last), math.sqrt(2))
        for row in last:
            self.assertAlmostEqual(row["x"] + row["y"], 1)
            self.assertAlmostEqual(row["u"], 3 * row["x"], delta=0.5)

    def test_the_same_on_any_machine(self):
        text = self.TEXT.replace("steps = 4", "steps = 4\n[checkpoint]\nevery = 2").replace('"3*x"', '"sin(7*x)*y + z^2"')
        whole = self.run_case(text, "--devices", "cpu")
        names = ("history.csv", "probes.csv", "lines/axis.csv", "planes/cut.csv", "surfaces/left.csv", "planes/plane-cut.pvd")
        files = {name: (whole["folder"] / name).read_text() for name in names}
        for ranks, devices in MACHINES:
            summary = self.run_case(text, "--devices", devices, ranks=ranks)
            for name in names:
                self.assertEqual((summary["folder"] / name).read_text(), files[name], (name, devices))
        first = sorted((whole["folder"] / "checkpoints").iterdir())[0]
        self.assertEqual(tutti("run", "--restart", first, "--devices", "fake:1,cpu", ranks=2).code, 0)
        for name in names:
            self.assertEqual((whole["folder"] / name).read_text(), files[name], ("restart", name))

    def test_what_flows_in_is_what_there_is_more(self):
        text = box_case(n=5, physics='K = [1, 2, 0.5]\ninitial = "sin(5*x)*y"\nsource = "z"', boundary=ENDS +
                        '[[boundary]]\ntag = "z-max"\nvalue = "0.5 + t"\n', time="steps = 3",
                        output="history_every = 1\n") + SIDES.replace("2.0", "1.0") + tables(
                            "surface", {"name": "top", "boundary": "z-max", "of": "flux"})
        summary = self.run_case(text, "--devices", "cpu")
        told = history(summary)
        for k in range(3):
            out = sum(told[name][k] for name in ("left", "right", "top"))
            dt = told["time"][k + 1] - told["time"][k]
            self.assertAlmostEqual((told["mass"][k + 1] - told["mass"][k]) / dt, 0.5 - out, delta=1e-9)
        self.assertAlmostEqual(told["top"][1], -0.5 - told["time"][1])

    def test_integrals_of_statistics(self):
        """u = t: the mean over time of ten samples, over the half of the cube."""
        mean = tables("integral", {"name": "m", "of": "u_mean", "where": "x < 0.5"}, {"name": "most", "of": "u_max", "kind": "max"})
        text = box_case(n=4, jitter=0, physics="K = 1\nsource = 1", time="end = 1e-3\ndt = 1e-4", output="history_every = 1\n" +
                        mean + '[statistics]\nof = ["mean", "max"]\n[checkpoint]\nevery = 4\nkeep = 9')
        whole = self.run_case(text, "--devices", "cpu")
        told = history(whole)
        for k in range(11):
            self.assertAlmostEqual(told["m"][k], 0.25e-4 * (k + 1 if k > 0 else 0), delta=1e-15)
            self.assertAlmostEqual(told["most"][k], 1e-4 * k, delta=1e-15)
        line = (whole["folder"] / "history.csv").read_text()
        first = sorted((whole["folder"] / "checkpoints").iterdir())[0]
        self.assertEqual(tutti("run", "--restart", first, "--devices", "fake:1,cpu", ranks=2).code, 0)
        self.assertEqual((whole["folder"] / "history.csv").read_text(), line)
        # One that is not asked for is unknown, though it is kept.
        case = self.write("wrong.toml", text.replace("u_mean", "u_min"))
        self.assert_error(tutti("run", case, "-o", self.folder / "wrong", *EQUAL), INPUT,
                          "there is no 'u_min' in the results; take one of u, u_mean, u_max, or 1")

    def test_a_steady_solution(self):
        """Iterates, too: a line of the history is one."""
        text = self.TEXT.replace("steps = 4", 'method = "steady"').replace('"3*x"', "0")
        whole = self.run_case(text, "--devices", "cpu")
        told = history(whole)
        self.assertAlmostEqual(told["left"][-1], 6, delta=1e-6)
        self.assertAlmostEqual(told["right"][-1], -12, delta=1e-6)
        summary = self.run_case(text, "--devices", "fake:1,cpu", ranks=2)
        for name in ("history.csv", "probes.csv", "planes/cut.csv", "surfaces/left.csv"):
            self.assertEqual((summary["folder"] / name).read_text(), (whole["folder"] / name).read_text(), name)
        without = history(self.run_case(text[:text.index("[[output")].replace('extra = ["flux", "gradient"]', ""), "--devices", "cpu"))
        self.assertEqual(without["residual"], told["residual"])

    def test_refusals(self):
        def refused(output, *patterns, more=""):
            case = self.write("wrong.toml", box_case(n=3, time="steps = 1", output="history_every = 1\n" + output) + more)
            for ranks in (None, 2):
                result = tutti("run", case, "-o", self.folder / "wrong", "--overwrite", "--devices", "cpu",
                               *sets(balance__weights="equal"), ranks=ranks)
                self.assert_error(result, INPUT, *patterns)

        one = {"name": "a", "of": "u"}
        refused(tables("integral", {**one, "of": "v"}), r"wrong\.toml:\d+", "there is no 'v' in the results; take one of u, or 1")
        refused(tables("integral", one, one), "column 'a' already")
        refused(tables("integral", {**one, "name": "mass"}), "column 'mass' of its own")
        refused(tables("integral", {**one, "region": "inner"}), "the mesh has no region 'inner'; the mesh has 'box'")
        refused(tables("integral", {**one, "where": "x > 2"}), "no cell's middle lies where integral 'a'")
        refused(tables("integral", {**one, "where": "x > t"}), "t")
        refused(tables("integral", {**one, "kind": "median"}), "kind", '"integral"')
        side = {"name": "s", "boundary": "x-min", "of": "flux"}
        refused(tables("surface", {**side, "boundary": "top"}), "the mesh has no surface 'top'; the mesh has 'x-min'")
        refused(tables("surface", {**side, "of": "heat"}), "there is no 'heat' at the boundary; take one of: flux, u")
        refused(tables("surface", {**side, "name": "a/b", "profile": True}), "surface 'a/b': its file is called by its name")
        plane = {"name": "p", "point": [0.5, 0.5, 0.5], "normal": [0, 0, 1]}
        refused(tables("plane", {**plane, "normal": [0, 0, 0]}), "the normal of plane 'p' has no direction")
        refused(tables("plane", {**plane, "point": [0, 0, 2]}), "plane 'p' cuts no cell")
        refused(tables("plane", plane, plane), "there is a plane 'p' already")
        refused("interpolate = true\n" + tables("probe", {"name": "a", "point": [2, 0, 0]}), "outside the mesh")
        refused('extra = ["curl"]', "extra", '"gradient"')
        refused('extra = ["flux"]', "the two-point flux has no gradients", more='[numerics]\nflux = "two-point"\n')


class Boxes(SystemTest):
    ENDS = tables("surface", *({"name": f"{of} at {end}", "boundary": end, "of": of, "kind": kind}
                               for of, kind in (("flow", "integral"), ("T flux", "integral"), ("Nu", "mean"), ("friction x", "integral"))
                               for end in ("y-lower", "y-upper"))) + tables(
        "surface", {"name": "lid", "boundary": "z-upper", "of": "friction x", "profile": True})
    TEXT = flow(stretch="1, 0.5, 0", fluid="diffusivity = 0.02\nbuoyancy = [0, 3, 0]", boundary=WARM + LID,
                initial=SWIRL + 'temperature = "1 + x*y"').replace("[output]\n", "[output]\ninterpolate = true\n") + ENDS + tables(
                    "integral", {"name": "T there", "of": "T"}, {"name": "u", "of": "velocity[0]", "kind": "max", "where": "z > 0.5"}
                ) + POINTS + tables("plane", {"name": "cut", "point": [0.5, 0.5, 0.5], "normal": [1, 1, 1], "csv": True})

    def test_walls_and_the_same_bits(self):
        whole = self.run_case(self.TEXT, "--devices", "cpu")
        told = history(whole)
        for end in ("y-lower", "y-upper"):
            for k in range(6):
                self.assertEqual(told[f"flow at {end}"][k], 0)
                self.assertAlmostEqual(told[f"Nu at {end}"][k], told[f"Nu {end}"][k], delta=1e-12)
        for k in range(6):
            self.assertAlmostEqual(told["T there"][k], told["heat"][k], delta=1e-13)
        names = ("history.csv", "probes.csv", "lines/axis.csv", "planes/cut.csv", "surfaces/lid.csv")
        files = {name: (whole["folder"] / name).read_text() for name in names}
        for (ranks, devices), cut in zip(MACHINES, ("slabs", "blocks")):
            summary = self.run_case(self.TEXT, "--devices", devices, *sets(partition__cut=cut), ranks=ranks)
            for name in names:
                self.assertEqual((summary["folder"] / name).read_text(), files[name], (name, devices))

    def test_the_heated_cavity(self):
        """G. de Vahl Davis (Int. J. Numer. Methods Fluids 3, 1983), Rayleigh number 10,000: the local Nusselt number at the warm wall
        is 2.238 in the mean, 3.528 at most, 0.586 at least; the stream function is 5.071 in the middle."""
        text = flow("32, 32, 1", "1, 1, 0", viscosity=0.71, fluid="diffusivity = 1\nbuoyancy = [0, 7100, 0]\nreference = 0.5",
                    initial='temperature = "1 - x"', time="end = 1\nsteady = 0.1",
                    boundary="".join(f'[[boundary]]\nface = "{face}"\ntemperature = "fixed"\ntemperature_value = {value}\n'
                                     for face, value in (("x-lower", 1), ("x-upper", 0)))).replace(
            "history_every = 1", 'history_every = 500\nextra = ["stream_function", "face_velocity"]\ninterpolate = true') + tables(
            "surface", *({"name": kind, "boundary": "x-lower", "of": "Nu", "kind": kind} for kind in ("mean", "min", "max"))) + tables(
            "probe", {"name": "middle", "point": [0.5, 0.5, 0.5]}) + tables("integral", {"name": "v", "of": "face_velocity[1]"})
        summary = self.run_case(text, "--devices", "cpu")
        found = summary["diagnostics"]
        for kind, value in (("mean", 2.238), ("min", 0.586), ("max", 3.528)):
            self.assertAlmostEqual(found[kind], value, delta=0.015 * value, msg=kind)
        self.assertAlmostEqual(found["mean"], found["Nu x-lower"], delta=1e-12)
        self.assertAlmostEqual(abs(rows(summary["folder"] / "probes.csv")[-1]["middle stream_function"]), 5.071, delta=0.05)
        self.assertAlmostEqual(found["v"], 0, delta=1e-9)
        case = self.write("solid.toml", flow("4, 4, 4").replace("[output]", '[output]\nextra = ["stream_function"]'))
        self.assert_error(tutti("run", case, "-o", self.folder / "solid", "--devices", "cpu"), INPUT, "one cell thick")


GAS = """model = "compressible"
[mesh]
generate = "box"
element = "{element}"
cubes = [3, 2, 2]
jitter = 0.1
periodic = "x"
[physics]
viscosity = 0.1
[physics.initial]
rho = "1 + 0.2*y - 0.1*z"
velocity = [0, 0, 0]
p = "0.8 + 0.1*y"
[[boundary]]
tag = "*"
type = "adiabatic"
[numerics]
order = 2
[time]
steps = 2
dt = 1e-4
[output]
history_every = 1
interpolate = true
"""


class OtherModels(SystemTest):
    def test_elements(self):
        for element in ("tet", "hex"):
            text = GAS.format(element=element) + tables(
                "surface", *({"name": of, "boundary": "y-min", "of": of} for of in ("mass flux", "force y")),
                {"name": "pressure", "boundary": "z-max", "of": "force z", "kind": "mean", "profile": True}) + tables(
                "integral", {"name": "gas", "of": "rho"}, {"name": "size", "of": "1", "region": "box"}) + POINTS + CUT
            whole = self.run_case(text, "--devices", "cpu")
            told = history(whole)
            self.assertAlmostEqual(told["force y"][-1], whole["forces"]["y-min"]["force"][1], delta=1e-13)
            self.assertAlmostEqual(told["force y"][0], -0.8, delta=1e-3)
            for k in range(3):
                self.assertAlmostEqual(told["gas"][k], told["mass"][k], delta=1e-13)
                self.assertAlmostEqual(told["size"][k], 1, delta=1e-13)
                self.assertAlmostEqual(told["mass flux"][k], 0, delta=1e-13)
            first = rows(whole["folder"] / "probes.csv")[0]
            self.assertAlmostEqual(first["a rho"], 1 + 0.2 * 0.42 - 0.077, delta=1e-12)
            self.assertAlmostEqual(first["a p"], 0.842, delta=1e-12)
            cut = rows(whole["folder"] / "planes" / "cut.csv")
            self.assertAlmostEqual(sum(row["area"] for row in cut), 2 * math.sqrt(2), delta=1e-12)
            names = ("history.csv", "probes.csv", "lines/axis.csv", "planes/cut.csv", "surfaces/pressure.csv")
            summary = self.run_case(text, "--devices", "fake:1,cpu", ranks=2)
            for name in names:
                self.assertEqual((summary["folder"] / name).read_text(), (whole["folder"] / name).read_text(), name)

    def test_nodes(self):
        at = [0.6, 0.48, 0.64]
        text = SPHERE + "[output]\nhistory_every = 1\ninterpolate = true\n" + tables("probe", {"name": "a", "point": at}) + tables(
            "line", {"name": "axis", "from": [1, 0, 0.1], "to": [0, 1, 0.2], "points": 9}) + tables(
            "integral", {"name": "north", "of": "1", "where": "z > 0"}, {"name": "q there", "of": "q", "kind": "max"})
        whole = self.run_case(text, "--devices", "cpu")
        self.assertAlmostEqual(rows(whole["folder"] / "probes.csv")[0]["a"], 0.64, delta=1e-9)
        for row in rows(whole["folder"] / "lines" / "axis.csv")[:9]:
            self.assertAlmostEqual(row["q"], row["z"], delta=1e-9)
        told = history(whole)
        self.assertAlmostEqual(told["north"][0], 2 * math.pi, delta=0.3)  # nodes on the equator count on one side
        self.assertAlmostEqual(told["q there"][0], 1, delta=1e-3)
        summary = self.run_case(text, "--devices", "fake:1,cpu", ranks=3)
        for name in ("history.csv", "probes.csv", "lines/axis.csv"):
            self.assertEqual((summary["folder"] / name).read_text(), (whole["folder"] / name).read_text(), name)
        for table, why in (("surface", "a sphere has no boundary"), ("plane", "nodes have no cells to be cut")):
            case = self.write("wrong.toml", SPHERE + tables(table, {"name": "a"}))
            self.assert_error(tutti("run", case, "-o", self.folder / "wrong"), INPUT, f"unknown key 'output.{table}'", why)


if __name__ == "__main__":
    unittest.main()
