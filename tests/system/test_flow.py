"""What is told about a flow: energies, where it is fastest, Nusselt numbers, and when it is steady."""

import csv
import json
import unittest

from program import SystemTest, sets, tutti

INPUT = 4

FLOW = """model = "incompressible"
[grid]
cells = [{cells}]
stretch = [{stretch}]
[fluid]
viscosity = {viscosity}
{fluid}
[initial]
{initial}
{boundary}
[time]
{time}
[output]
history_every = 1
"""
SWIRL = ('velocity = ["sin(pi*x)^2*sin(2*pi*y)*sin(pi*z)", "-sin(2*pi*x)*sin(pi*y)^2*sin(pi*z)", '
         '"0.3*sin(3*pi*x)*y*(1-y)*sin(pi*z)"]\n')
WARM = "".join(f'[[boundary]]\nface = "{face}"\ntemperature = "fixed"\ntemperature_value = {value}\n'
               for face, value in (("y-lower", 3), ("y-upper", 1)))
LID = '[[boundary]]\nface = "z-upper"\nvalue = [1, 0.5, 0]\n'


def flow(cells="8, 7, 6", stretch="0, 0, 0", viscosity=0.01, fluid="", initial="", boundary="", time="steps = 5"):
    return FLOW.format(cells=cells, stretch=stretch, viscosity=viscosity, fluid=fluid, initial=initial,
                       boundary=boundary, time=time)


def history(summary):
    """Columns of history.csv."""
    with open(summary["folder"] / "history.csv", encoding="utf-8") as lines:
        names, *rows = csv.reader(lines)
    return {name: [float(row[i]) for row in rows] for i, name in enumerate(names)}


class Flow(SystemTest):
    def test_the_same_bits(self):
        text = flow(stretch="1, 0.5, 0", fluid="diffusivity = 0.02\nbuoyancy = [0, 3, 0]", boundary=WARM + LID,
                    initial=SWIRL + 'temperature = "1 + x*y"')
        whole = self.run_case(text, "--devices", "cpu")
        lines = (whole["folder"] / "history.csv").read_text()
        self.assertEqual(len(lines.splitlines()), 7)  # names, the start, five steps
        for ranks, devices, cut in ((1, "fake:2,cpu", "slabs"), (2, "cpu", "pencils"), (3, "fake:1,cpu", "blocks")):
            with self.subTest(ranks=ranks, devices=devices, cut=cut):
                summary = self.run_case(text, "--devices", devices, *sets(partition__cut=cut), ranks=ranks)
                self.assertEqual((summary["folder"] / "history.csv").read_text(), lines)
                self.assertEqual(summary["diagnostics"], whole["diagnostics"])
                self.assertEqual(summary["checksum"], whole["checksum"])

    def test_pieces_change_no_bits(self):
        whole = self.run_case(flow(boundary=LID, time="steps = 6\ndt = 0.01"), "--devices", "cpu")
        part = self.run_case(flow(boundary=LID, time="steps = 3\ndt = 0.01"), "--devices", "fake:3", *sets(pressure__pieces=3))
        result = tutti("run", "--restart", part["folder"], *sets(time__steps=6, pressure__pieces=2), "--devices", "fake:2,cpu")
        self.assertEqual(result.code, 0, result.err)
        self.assertEqual(json.loads((part["folder"] / "summary.json").read_text())["checksum"], whole["checksum"])
        path = self.write("jacobi.toml", flow())
        result = tutti("run", path, "-o", self.folder / "none", *sets(pressure__solver="jacobi", pressure__pieces=2))
        self.assertEqual(result.code, INPUT, result.err)
        self.assertIn("'pressure.pieces' has no effect here", result.err)

    def test_what_does_not_go_together_leaves_nothing(self):
        case = self.write("case.toml", flow(boundary=LID + LID))
        for ranks in (None, 2):
            result = tutti("run", case, "-o", self.folder / "r", ranks=ranks)
            self.assert_error(result, INPUT, r"case\.toml:\d+:\d+: the face z-upper has another table")
            self.assertNotIn("MPI_ABORT", result.err)
            self.assertFalse((self.folder / "r").exists())

    def test_only_friction_takes_energy(self):
        # Also on a grid whose cells differ in size. The rest is the error in time: it falls with dt^3 and, of the sum
        # over the steps, with dt^2.
        for stretch in ("0, 0, 0", "1.5, 1, 1.2"):
            for viscosity, most in ((0, 2e-7), (0.01, 2e-5)):
                with self.subTest(stretch=stretch, viscosity=viscosity):
                    told = history(self.run_case(flow("12, 10, 8", stretch, viscosity, initial=SWIRL,
                                                      time='method = "rk3"\ndt = 0.005\nsteps = 60'), "--devices", "cpu"))
                    energy, power = told["energy"], told["dissipation"]
                    lost = 0.005 * (sum(power) - 0.5 * (power[0] + power[-1]))
                    self.assertAlmostEqual((energy[-1] - energy[0] + lost) / energy[0], 0, delta=most)
                    if viscosity > 0:
                        self.assertGreater(lost, 0.1 * energy[0])

    def test_heat_of_a_fluid_at_rest(self):
        # What conducts alone: all Nusselt numbers are 1, with an even and an odd number of cells.
        for cells in ("3, 8, 4", "3, 9, 1"):
            summary = self.run_case(flow(cells, "0, 1, 0", fluid="diffusivity = 0.1", boundary=WARM,
                                         initial='temperature = "3 - 2*y"'), "--devices", "cpu")
            for where in ("-lower", "-upper", " middle", " mean"):
                self.assertAlmostEqual(summary["diagnostics"][f"Nu y{where}"], 1, delta=1e-12)
            self.assertAlmostEqual(summary["diagnostics"]["heat"], 2, delta=1e-12)
            self.assertNotIn("Nu x-lower", summary["diagnostics"])

    def test_the_fastest_place(self):
        # Vortices in a periodic square: the speed is largest in several cells, of which the first is told.
        periodic = "".join(f'[[boundary]]\nface = "{d}-{end}"\nvelocity = "periodic"\n' for d in "xy"
                           for end in ("lower", "upper"))
        for initial, place in (('velocity = ["exp(-50*((x-0.3)^2+(y-0.7)^2))*(y-0.7)", "-exp(-50*((x-0.3)^2+(y-0.7)^2))*(x-0.3)", 0]', None),
                               ("velocity = [2, 1, 0]", (0.05, 0.05, 0.5))):
            told = self.run_case(flow("10, 10, 1", boundary=periodic, initial=initial, time="steps = 0"), "--devices",
                                 "fake:2,cpu")["diagnostics"]
            found = tuple(told[f"speed at {d}"] for d in "xyz")
            if place is None:
                self.assertLess(abs(found[0] - 0.3) + abs(found[1] - 0.7), 0.25)
            else:
                self.assertEqual(found, place)
                self.assertAlmostEqual(told["speed"], 5**0.5, delta=1e-15)

    def test_a_steady_flow_ends_the_run(self):
        text = flow("8, 1, 8", viscosity=0.5, boundary=LID, time="end = 100\nsteady = 0.1\n[checkpoint]\nevery = 70")
        whole = self.run_case(text, "--devices", "cpu")
        self.assertTrue(whole["steady"])
        self.assertEqual(whole["steps"] % 50, 0)
        self.assertLess(whole["time"], 20)
        energy = history(whole)["energy"]
        self.assertLess(abs(energy[-1] - energy[-2]), 0.2 * whole["dt"] * energy[-1])
        # The same end on other devices, and from a checkpoint between two looks.
        apart = self.run_case(text, "--devices", "fake:1,cpu", *sets(balance__rebalance=False))
        self.assertEqual([apart[k] for k in ("steps", "checksum")], [whole[k] for k in ("steps", "checksum")])
        first = sorted((whole["folder"] / "checkpoints").iterdir())[0]
        again = self.folder / "again"
        result = tutti("run", "--restart", first, "-o", again, "--devices", "cpu", "--quiet")
        self.assertEqual(result.code, 0, result.err)
        summary = json.loads((again / "summary.json").read_text(encoding="utf-8"))
        self.assertEqual([summary[k] for k in ("steps", "checksum")], [whole[k] for k in ("steps", "checksum")])
        # In the same folder the history goes on behind the lines before the checkpoint.
        lines = (whole["folder"] / "history.csv").read_text()
        self.assertEqual(tutti("run", "--restart", first, "-o", whole["folder"], "--overwrite", "--quiet", "--devices",
                               "cpu").code, 0)
        self.assertEqual((whole["folder"] / "history.csv").read_text(), lines)
        never = self.run_case(text, "--devices", "cpu", *sets(time__steady=0, time__steps=60))
        self.assertFalse(never["steady"])


if __name__ == "__main__":
    unittest.main()
