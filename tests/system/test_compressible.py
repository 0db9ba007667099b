"""Compressible flow as a user meets it: the keys that others rely on, what stops a run, plan and bench."""

import csv
import json
import re
import unittest

from program import EQUAL, SystemTest, sets, tutti

BOX = """model = "compressible"
[mesh]
generate = "box"
element = "{element}"
cubes = [{cubes}]
jitter = {jitter}
periodic = {periodic}
"""
WAVE = """[physics.initial]
rho = "1 + 0.2*sin(2*pi*x)*sin(2*pi*y)*sin(2*pi*z)"
velocity = [0.5, 0.5, 0.5]
p = 1
[physics.exact]
rho = "1 + 0.2*sin(2*pi*(x-0.5*t))*sin(2*pi*(y-0.5*t))*sin(2*pi*(z-0.5*t))"
"""
# Gas is torn apart until there is none.
TORN = """[physics.initial]
rho = 1
velocity = ["x < 0.5 ? -3.5 : 3.5", 0, 0]
p = 0.4
[[boundary]]
tag = "*"
type = "supersonic-outflow"
"""


def box(element="tet", cubes="2, 2, 2", jitter=0.0, periodic="true"):
    return BOX.format(element=element, cubes=cubes, jitter=jitter, periodic=periodic)


class Compressible(SystemTest):
    def try_case(self, text, *options, ranks=None):
        """What a run says that may fail, and the folder of its results."""
        self.runs += 1
        folder = self.folder / f"results{self.runs}"
        return tutti("run", self.write(f"case{self.runs}.toml", text), "-o", folder, *EQUAL, *options, ranks=ranks), folder

    def test_keys_that_others_rely_on(self):
        for element in ("hex", "tet", "prism"):
            with self.subTest(element=element):
                text = box(element, jitter=0.1) + WAVE + "[numerics]\norder = 2\n[time]\nsteps = 3\n"
                summary = self.run_case(text, "--devices", "fake:1,cpu")
                self.assertEqual(summary["model"], "compressible")
                self.assertLess(summary["errors"]["l2"], 0.05)
                self.assertGreater(summary["errors"]["l2"], 1e-4)
                self.assertIsNone(summary["errors"]["gradient_l2"])
                self.assertLess(summary["free_stream_error"], 1e-13)
                self.assertLess(abs(summary["mass"]["drift"]), 1e-14)
                self.assertNotIn("forces", summary)

    def test_drag_and_lift(self):
        text = box("prism", cubes="2, 2, 1", periodic='"xz"') + """[physics]
viscosity = 0.1
[physics.initial]
rho = 1
velocity = ["0.2*y", 0, 0]
p = 0.8
[[boundary]]
tag = "y-min"
type = "adiabatic"
[[boundary]]
tag = "y-max"
type = "adiabatic"
velocity = [0.2, 0, 0]
[forces]
surface = "y-min"
speed = 2
area = 0.5
lift = [0, -3, 0]
every = 2
[numerics]
order = 2
[time]
steps = 6
dt = 1e-4
[output]
history_every = 2
"""
        summary = self.run_case(text, "--devices", "cpu")
        force = summary["forces"]["y-min"]["force"]
        self.assertAlmostEqual(force[1], -0.8, delta=1e-4)
        found = summary["diagnostics"]
        # The stream's pressure times the area is 1.
        self.assertAlmostEqual(found["lift coefficient"], 0.8, delta=1e-4)
        self.assertAlmostEqual(found["drag coefficient"], 0.02, delta=1e-5)
        self.assertAlmostEqual(found["mean lift coefficient"], 0.8, delta=1e-4)
        self.assertEqual(found["Strouhal"], 0)
        with open(summary["folder"] / "history.csv", encoding="utf-8") as lines:
            self.assertIn("drag coefficient", next(csv.reader(lines)))
        for changes, said in ((sets(forces__surface="y-top"), "the mesh has no surface 'y-top'"),
                              (sets(forces__lift=[0, 0, 0]), "a direction needs a length")):
            result, _ = self.try_case(text, *changes)
            self.assert_error(result, 4, said)

    def test_a_vacuum_ends_the_run(self):
        # Energy is taken away beyond x = 0.5: the pressure is below 0 after t = 0.14.
        text = box("hex", cubes="4, 1, 1") + """[physics]
source = [0, 0, 0, 0, "x > 0.5 ? -100*t : 0"]
[physics.initial]
rho = 1
velocity = [0, 0, 0]
p = 0.4
[numerics]
order = 1
[time]
steps = 60
dt = 5e-3
[checkpoint]
every = 3
[report]
every = 1
"""
        for devices, ranks in (("cpu", None), ("fake:1,cpu", 2)):
            with self.subTest(devices=devices):
                result, folder = self.try_case(text, "--devices", devices, ranks=ranks)
                self.assert_error(result, 6, r"the (density|pressure) is (-?[\d.e-]+|not a number) in element \d+ around "
                                             r"\(0\.[68]\d+, 0\.5, 0\.5\) at time 0\.1[45]\d*;")
                kept = sorted((folder / "checkpoints").glob("step-*.h5"))
                self.assertEqual(int(re.search(r"\d+", kept[-1].name)[0]), 27, "the last good state")

    def test_a_pressure_below_zero_at_the_start_is_found_on_all_devices(self):
        # A polynomial overshoots where the initial state jumps inside of an element.
        text = BOX.format(element="hex", cubes="4, 2, 2", jitter=0.1, periodic='"yz"') + TORN + "[time]\nsteps = 5\n"
        for devices in ("cpu", "fake:3"):
            for form in ("auto", "recomputed"):
                with self.subTest(devices=devices, form=form):
                    result, _ = self.try_case(text, "--devices", devices, *sets(numerics__form=form))
                    self.assert_error(result, 6, r"the pressure is -1\.6\d+ in element 1 around .* at time 0;")

    def test_nearly_a_vacuum(self):
        text = (box("hex", cubes="32, 1, 1", periodic='"yz"') + TORN +
                "[numerics]\norder = 2\n[time]\nsteps = 60\ndt = 5e-4\n[report]\nevery = 1\n")
        result, _ = self.try_case(text, "--devices", "cpu")
        self.assert_error(result, 6, 'set numerics.limiter to "positivity"')
        summary = self.run_case(text, "--devices", "cpu", *sets(numerics__limiter="positivity"))
        self.assertGreater(summary["diagnostics"]["smallest rho"], 0)
        self.assertGreater(summary["diagnostics"]["smallest p"], 0)

    def test_wrong_keys(self):
        text = box() + WAVE + "[numerics]\norder = 0\n[time]\nsteps = 1\n"
        result, _ = self.try_case(text, *sets(numerics__shock_viscosity=0.5))
        self.assert_error(result, 4, "order 0 has no higher polynomials")

    def test_plan(self):
        case = self.write("case.toml", box("mixed", cubes="4, 3, 3", jitter=0.1, periodic='"xz"') + WAVE + """[physics]
viscosity = 0.01
source = ["x", 0, 0, 0, 1]
[[boundary]]
tag = "*"
type = "isothermal"
temperature = "1 + 0.1*x"
[numerics]
order = 2
[time]
end = 0.1
[balance]
weights = "equal"
""")
        planned = tutti("plan", case, "--devices", "fake:2,cpu", "-v")
        self.assertEqual(planned.code, 0, planned.err)
        self.assertRegex(planned.out, r"time step [\d.e-]+ \(at the start, 3 stages\)")
        self.assertIn("elements of order 2", planned.out)
        self.assertEqual(planned.out.count("kernels: "), 1)  # of the plan's devices
        self.assertIn("kernels: portable, with the same bits on CPUs and GPUs", planned.out)
        self.assertIn("tables", planned.out)
        self.assertNotIn("FULL", planned.out)
        # A GPU that is too small for its part gets what it has room for.
        small = tutti("plan", case, "--devices", "fake:1,cpu", *sets(devices__fake_memory="2M"))
        self.assertEqual(small.code, 0, small.err)
        self.assertIn("full", small.out + small.err)

    def test_bench(self):
        result = tutti("bench", "compressible", "--degrees", "2000", "--element", "tet,hex", "--order", "1,2",
                       "--equations", "euler,navier-stokes", "--form", "auto,stored", "--steps", "1", "--devices", "cpu",
                       "--json", "bench.json", cwd=self.folder)
        self.assertEqual(result.code, 0, result.err)
        rows = json.loads((self.folder / "bench.json").read_text())["results"]
        self.assertEqual(len(rows), 16)
        for row in rows:
            bases = (row["order"] + 1) * (row["order"] + 2) * (row["order"] + 3) // 6
            self.assertEqual(row["degrees_of_freedom"], row["elements"] * 5 * bases)
            self.assertAlmostEqual(row["nanoseconds_a_degree_and_stage"] * row["degrees_of_freedom"] * row["stages"] * 1e-9,
                                   row["seconds_best"])


# A warm wall below, gas that is forced, elements of several types: what kernels of all kinds read of an element.
FORMS = """model = "compressible"
[mesh]
generate = "box"
element = "mixed"
cubes = [5, 2, 2]
jitter = 0.1
periodic = "xy"
[physics]
viscosity = 0.01
source = [0, "0.1*sin(t + x)", 0, 0, 0]
[physics.initial]
rho = "1 + 0.2*sin(2*pi*x)"
velocity = [0.5, 0.4, "0.1*sin(2*pi*x)"]
p = 1
[forces]
surface = "z-min"
[[boundary]]
tag = "z-min"
type = "isothermal"
temperature = 1.1
[[boundary]]
tag = "z-max"
type = "slip"
[numerics]
order = {order}
form = "{form}"
limiter = "positivity"
shock_viscosity = 0.1
[time]
steps = 4
"""


class Forms(SystemTest):
    def test_recomputed_elements_are_those_of_tables(self):
        for order in (1, 3, 5):
            with self.subTest(order=order):
                tables = self.run_case(FORMS.format(order=order, form="auto"), "--devices", "cpu")
                text = FORMS.format(order=order, form="recomputed")
                summary = self.run_case(text, "--devices", "cpu")
                self.assertLess(summary["free_stream_error"], 1e-13)
                for name, value in tables["diagnostics"].items():
                    self.assertAlmostEqual(summary["diagnostics"][name], value, delta=1e-11, msg=name)
                for devices, ranks in [("fake:2", None), ("fake:1,cpu", 3)]:
                    again = self.run_case(text, "--devices", devices, ranks=ranks)
                    self.assertEqual(again["checksum"], summary["checksum"])
                first = self.run_case(text, "--devices", "cpu", *sets(time__steps=2, checkpoint__every=2))
                result = tutti("run", "--restart", first["folder"], "-o", self.folder / "again", "--overwrite", "--devices", "fake:2",
                               *sets(time__steps=4))
                self.assertEqual(result.code, 0, result.err)
                self.assertEqual(json.loads((self.folder / "again" / "summary.json").read_text(encoding="utf-8"))["checksum"], summary["checksum"])

    def test_they_take_little_memory(self):
        case = self.write("case.toml", FORMS.format(order=3, form="recomputed"))
        plans = [tutti("-v", "plan", case, "--devices", "fake:1", *sets(numerics__form=form)) for form in ("auto", "recomputed")]
        taken = [int(re.search(r"memory: part 0 takes (\d+) bytes", plan.out)[1]) for plan in plans]
        self.assertRegex(plans[0].out, r'elements have tables of their own: all tables take [\d.]+ [KM]iB, with numerics.form = "recomputed" ')
        self.assertNotIn("recomputed", plans[1].out)
        self.assertLess(taken[1], taken[0] / 3)
        result = tutti("run", case, "-o", self.folder / "small", "--devices", "fake:1", "--fake-memory", str(taken[0] // 2),
                       *sets(numerics__form="auto"))
        self.assert_error(result, 3, r'more devices, residency\.policy = "auto", numerics\.form = "recomputed" or a smaller')
        summary = self.run_case(case.read_text(encoding="utf-8"), "--devices", "fake:1", "--fake-memory", str(taken[0] // 2))
        self.assertNotIn("residency", summary["parts"][0])


if __name__ == "__main__":
    unittest.main()
