"""What a run must keep: mass, constants, linear fields, given time; and that its forcing acts when it should."""

import math
import struct
import unittest
import xml.etree.ElementTree as ElementTree
import zlib

from program import SystemTest, box_case, sets

FULL = 'K = [["1", "0.3", "0"], ["0.3", "2", "0.2"], ["0", "0.2", "1"]]\n'
FIBRE = 'fibre = ["cos(2*z)", "sin(2*z)", "0.3"]\nlongitudinal = 9\ntransverse = 1\n'
LINEAR = "1+2*x-y+3*z"
# n.K grad u of the linear field with the full tensor: K grad u = (1.7, -0.8, 2.8).
FLUX = {"x-max": 1.7, "y-min": 0.8, "z-max": 2.8}


def boundary(tag, kind, value):
    return f'[[boundary]]\ntag = "{tag}"\ntype = "{kind}"\nvalue = "{value}"\n'


def read_u(folder, number, name="u"):
    """The field of all parts of output `number`: zlib blocks behind "number of blocks, size, size of the last, sizes"."""
    values = []
    for path in sorted(folder.glob(f"fields/fields_{number:06d}_p*.vtu")):
        data = path.read_bytes()
        header = data[:data.index(b"<AppendedData")]
        array = next(a for a in ElementTree.fromstring(header + b"</VTKFile>").iter("DataArray") if a.get("Name") == name)
        at = data.index(b"_", len(header)) + 1 + int(array.get("offset"))
        blocks = struct.unpack_from("<Q", data, at)[0]
        sizes = struct.unpack_from(f"<{blocks}Q", data, at + 24)
        at += 24 + 8 * blocks
        for size in sizes:
            raw = zlib.decompress(data[at:at + size])
            values += struct.unpack(f"<{len(raw) // 8}d", raw)
            at += size
    return values


class Physics(SystemTest):
    def test_mass_stays_without_flux(self):
        # A jittered box: no row of the operator has a friend in symmetry.
        for physics in [FULL, FIBRE]:
            for method in ["euler", "rkc2"]:
                with self.subTest(physics=physics, method=method):
                    text = box_case(n=6, jitter=0.25, physics=physics + 'initial = "x*exp(-y)+z^3-0.5"',
                                    time=f'steps = 1000\nmethod = "{method}"')
                    mass = self.run_case(text, "--devices", "cpu")["mass"]
                    self.assertLessEqual(abs(mass["drift"]), 1e-13)
                    self.assertNotEqual(mass["initial"], 0)

    def test_constants_stay_to_the_last_bit(self):
        for value in ["0.1", "-7.3e5"]:
            for k, options in enumerate([{}, dict(numerics__format="ellpack"), dict(numerics__precision="compact"),
                                         dict(time__method="rkc2", time__stages=7)]):
                text = box_case(n=5, jitter=0.3, physics=FIBRE + f'initial = "{value}"\nexact = "{value}"',
                                time="steps = 50")
                with self.subTest(value=value, **options):
                    summary = self.run_case(text, *sets(**options), "--devices", ["cpu", "fake:1,cpu"][k % 2])
                    self.assertEqual(summary["errors"]["linf"], 0)
                    self.assertEqual(set(read_u(summary["folder"], 1)), {float(value)})

    def test_linear_fields_stay_with_mixed_boundaries(self):
        sides = "".join(boundary(tag, "neumann", flux) for tag, flux in FLUX.items())
        for method in ["euler", "rkc2"]:
            text = box_case(n=6, jitter=0.2, physics=FULL + f'initial = "{LINEAR}"\nexact = "{LINEAR}"',
                            boundary=sides + boundary("*", "dirichlet", LINEAR),
                            time=f'steps = 200\nmethod = "{method}"')
            errors = self.run_case(text, ranks=2)["errors"]
            self.assertLess(errors["linf"], 1e-12)
            self.assertLess(errors["gradient_l2"], 1e-10)

    def test_a_wrong_flux_is_seen(self):
        # A test of the test above.
        sides = "".join(boundary(tag, "neumann", 1.01 * flux) for tag, flux in FLUX.items())
        text = box_case(n=6, jitter=0.2, physics=FULL + f'initial = "{LINEAR}"\nexact = "{LINEAR}"',
                        boundary=sides + boundary("*", "dirichlet", LINEAR), time="steps = 200")
        self.assertGreater(self.run_case(text)["errors"]["linf"], 1e-3)

    def test_fixed_values_that_move_in_time(self):
        # u = x + t: linear in space and time, so that both methods are exact but for rounding.
        for method, ranks, devices in [("euler", 3, "fake:1,cpu"), ("rkc2", 2, "cpu")]:
            text = box_case(n=4, physics=FULL + 'initial = "x"\nsource = "1"\nexact = "x+t"',
                            boundary=boundary("*", "dirichlet", "x+t"), time=f'end = 0.1\nmethod = "{method}"')
            summary = self.run_case(text, "--devices", devices, ranks=ranks)
            self.assertLess(summary["errors"]["linf"], 1e-12)
            self.assertAlmostEqual(summary["time"], 0.1, delta=1e-15)

    def test_a_source_in_time(self):
        # du/dt = cos t everywhere: Euler adds up the left ends, RKC2 is of second order.
        steps, end = 20, 1.0
        dt = end / steps
        text = box_case(n=2, physics='K = 0.001\ninitial = "0"\nsource = "cos(t)"', time=f"end = {end}\ndt = {dt}")
        u = read_u(self.run_case(text)["folder"], 1)
        left_ends = dt * sum(math.cos(k * dt) for k in range(steps))
        for value in u:
            self.assertAlmostEqual(value, left_ends, delta=1e-13)
        errors = []
        for n in [10, 20]:
            text = box_case(n=2, physics='K = 0.001\ninitial = "0"\nsource = "cos(t)"',
                            time=f'end = {end}\ndt = {end / n}\nmethod = "rkc2"')
            errors.append(abs(read_u(self.run_case(text)["folder"], 1)[0] - math.sin(end)))
        self.assertLess(errors[0], 5e-3)
        self.assertGreater(math.log2(errors[0] / errors[1]), 1.8)

    def test_rotating_fibre_spreads_along_the_fibre(self):
        # A spot in the middle of a box with fibres along x below and along y above; probes beside the spot.
        text = box_case(n=10, jitter=0.1, physics='fibre = ["cos(pi*z/2)", "sin(pi*z/2)", "0"]\nlongitudinal = 9\n'
                        'transverse = 1\ninitial = "exp(-40*((x-0.5)^2+(y-0.5)^2))"'.replace("pi", str(math.pi)),
                        time="end = 0.004",
                        output="".join(f'[[output.probe]]\nname = "{n}"\npoint = {p}\n' for n, p in {
                            "low_x": [0.9, 0.5, 0.1], "low_y": [0.5, 0.9, 0.1],
                            "high_x": [0.9, 0.5, 0.9], "high_y": [0.5, 0.9, 0.9]}.items()))
        summary = self.run_case(text, "--devices", "fake:2,cpu")
        lines = (summary["folder"] / "probes.csv").read_text().split()
        last = dict(zip(lines[0].split(","), map(float, lines[-1].split(","))))
        self.assertGreater(last["low_x"], 2 * last["low_y"])
        self.assertGreater(last["high_y"], 2 * last["high_x"])
        self.assertLessEqual(abs(summary["mass"]["drift"]), 1e-13)
        self.assertEqual(len(lines), summary["steps"] + 2)  # the names, the start, each step

    def test_a_region_that_hardly_conducts(self):
        # Two regions of a split box; next to nothing passes the interface (the harmonic mean), nothing moves behind it.
        text = box_case(n=6, jitter=0, physics='K = 1\ninitial = "x"\n[[physics.region]]\nname = "right"\nK = 1e-12',
                        time="steps = 300").replace("jitter = 0", "jitter = 0\nsplit = 0.5")
        folder = self.run_case(text, "--devices", "cpu")["folder"]
        before, after = read_u(folder, 0), read_u(folder, 1)
        for u0, u1 in zip(before, after, strict=True):
            if u0 > 0.5:
                self.assertAlmostEqual(u0, u1, delta=1e-9)
        left = [u1 for u0, u1 in zip(before, after) if u0 < 0.5]
        self.assertAlmostEqual(sum(left) / len(left), 0.25, delta=1e-9)
        self.assertLess(max(left) - min(left), 0.1)

    def test_output_times_and_no_steps(self):
        text = box_case(n=2, time="steps = 10", output="every = 4")
        folder = self.run_case(text, ranks=2)["folder"]
        series = ElementTree.parse(folder / "results.pvd").getroot()
        times = [float(d.get("timestep")) for d in series.iter("DataSet")]
        self.assertEqual(len(times), 4)  # 0, 4, 8, 10
        self.assertEqual(times, sorted(times))
        self.assertAlmostEqual(times[1] * 10, times[3] * 4, delta=1e-12)
        summary = self.run_case(text, *sets(time__steps=0))
        self.assertEqual((summary["steps"], summary["time"]), (0, 0))
        self.assertEqual(summary["mass"]["initial"], summary["mass"]["final"])


if __name__ == "__main__":
    unittest.main()
