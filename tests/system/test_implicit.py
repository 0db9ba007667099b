"""Implicit steps of diffusion and its steady solution: orders, bits, restarts, and what is refused."""

import json
import math
import unittest

from program import EQUAL, SystemTest, box_case, sets, tutti

NUMERICAL, INPUT = 6, 4

# u = sin(pi x) cos(pi y) + z, K full.
STEADY = """K = [[2, 0.5, 0], [0.5, 1, 0], [0, 0, 1]]
source = "3*pi^2*sin(pi*x)*cos(pi*y) + pi^2*cos(pi*x)*sin(pi*y)"
exact = "sin(pi*x)*cos(pi*y) + z"
"""
FIXED = """[[boundary]]
tag = "*"
type = "dirichlet"
value = "sin(pi*x)*cos(pi*y) + z"
[[boundary]]
tag = "z-max"
value = 1
"""
# u = (1 + x + y) cos(3 t): linear in space, so that all of the error is that of the steps.
IN_TIME = 'K = [[1, 0.2, 0], [0.2, 2, 0], [0, 0, 1]]\ninitial = "1+x+y"\nsource = "-3*(1+x+y)*sin(3*t)"\nexact = "(1+x+y)*cos(3*t)"\n'
MOVING = '[[boundary]]\ntag = "*"\ntype = "dirichlet"\nvalue = "(1+x+y)*cos(3*t)"\n'
METHODS = ["backward-euler", "crank-nicolson", "bdf2"]


def steady(n, **more):
    return box_case(n=n, physics=STEADY, boundary=FIXED, time='method = "steady"',
                    output="history_every = 1\n" + more.get("output", ""))


def in_time(method, dt, end=0.9, n=4, tolerance=1e-12):
    return box_case(n=n, physics=IN_TIME, boundary=MOVING,
                    time=f'method = "{method}"\ndt = {dt}\nend = {end}\n[solver]\ntolerance = {tolerance}',
                    output="history_every = 1\n")


def adaptive(method, tolerance, dt=0.3, n=3):
    return in_time(method, dt, n=n).replace("[solver]", f"tolerance = {tolerance}\n[solver]")


def outcome(summary):
    names = ["checksum", "cells", "steps", "time", "dt", "mass", "errors", "solver", "diagnostics"]
    return {**{name: summary[name] for name in names}, "history": (summary["folder"] / "history.csv").read_text()}


class Implicit(SystemTest):
    def test_second_order_in_space(self):
        errors = [self.run_case(steady(n))["errors"]["l2"] for n in (6, 12)]
        self.assertGreater(math.log2(errors[0] / errors[1]), 1.8)

    def test_orders_in_time(self):
        for method, least, most in [("backward-euler", 0.9, 1.15), ("crank-nicolson", 1.9, 2.15), ("bdf2", 1.85, 2.2)]:
            with self.subTest(method=method):
                errors = [self.run_case(in_time(method, 0.9 / n))["errors"]["l2"] for n in (20, 40)]
                order = math.log2(errors[0] / errors[1])
                self.assertGreater(order, least)
                self.assertLess(order, most)

    def test_the_last_step_may_be_another(self):
        # 0.9 is no whole number of steps: bdf2 has to take the shorter one for what it is.
        for method, most in [("crank-nicolson", 4e-3), ("bdf2", 4e-3)]:
            self.assertLess(self.run_case(in_time(method, 0.07))["errors"]["l2"], most)

    def test_steps_by_tolerance(self):
        # The error goes with the power p / (p + 1) of the tolerance: 0.5 and 0.67.
        for method, power in [("backward-euler", 0.5), ("crank-nicolson", 2 / 3), ("bdf2", 2 / 3)]:
            with self.subTest(method=method):
                coarse, fine = (self.run_case(adaptive(method, tolerance)) for tolerance in (1e-3, 1e-5))
                self.assertLess(coarse["errors"]["linf"], 0.02)
                self.assertAlmostEqual(math.log10(coarse["errors"]["l2"] / fine["errors"]["l2"]), 2 * power, delta=0.4)
                self.assertGreater(fine["diagnostics"]["substeps"], 2 * coarse["diagnostics"]["substeps"])
        # A pulse in the middle: sub-steps are short there only, and longer ones are tried in vain.
        pulse = box_case(n=2, physics='K = 1\ninitial = 1\nsource = "exp(-((t-5)/0.3)^2)"',
                         time='method = "bdf2"\ndt = 1\nend = 10\ntolerance = 1e-6')
        summary = self.run_case(pulse)
        self.assertAlmostEqual(summary["mass"]["final"], 1 + 0.3 * math.sqrt(math.pi), delta=2e-4)
        self.assertGreater(summary["diagnostics"]["rejected"], 3)
        self.assertLess(summary["diagnostics"]["substeps"], 600)

    def test_coefficients_a_million_apart(self):
        # A flux of 1 through both: piecewise linear, so that the scheme is exact. Explicit steps would be of 1e-9.
        physics = 'K = 1e6\nexact = "max(1e-6*x, 5e-7 + x - 0.5)"\n[[physics.region]]\nname = "right"\nK = 1\n'
        ends = '[[boundary]]\ntag = "x-min"\ntype = "dirichlet"\nvalue = 0\n[[boundary]]\ntag = "x-max"\nvalue = 1\n'
        def case(time):
            return box_case(n=6, physics=physics, boundary=ends, time=time).replace("jitter", "split = 0.5\njitter")
        for time in ['method = "steady"', *(f'method = "{m}"\ndt = 0.5\nend = 20' for m in ("backward-euler", "bdf2"))]:
            self.assertLess(self.run_case(case(time))["errors"]["linf"], 1e-6, time)
        self.fails(case("dt = 0.5\nend = 20"), NUMERICAL, "time.dt")

    def test_steady_is_where_time_leads(self):
        late = self.run_case(box_case(n=5, physics=STEADY, boundary=FIXED, time='method = "rkc2"\nend = 3'))
        for text in (steady(5), box_case(n=5, physics=STEADY, boundary=FIXED,
                                         time='method = "backward-euler"\ndt = 100\nend = 800')):
            now = self.run_case(text)
            self.assertAlmostEqual(now["errors"]["l2"], late["errors"]["l2"], delta=1e-8)
            self.assertAlmostEqual(now["mass"]["final"], late["mass"]["final"], delta=1e-8)

    def test_same_bits(self):
        texts = [steady(5).replace("jitter", "split = 0.5\njitter"), in_time("bdf2", 0.3, n=3), in_time("crank-nicolson", 0.3, n=3),
                 adaptive("bdf2", 1e-3)]
        expected = [outcome(self.run_case(text, "--devices", "cpu", "--threads", "1")) for text in texts]
        for k, (text, ranks, devices) in enumerate([(0, 1, "fake:2,cpu"), (0, 2, "cpu"), (0, 3, "fake:1,cpu"),
                                                    (0, 4, "cpu"), (0, 7, "cpu"), (1, 1, "fake:1"), (1, 3, "cpu"),
                                                    (2, 2, "fake:1,cpu"), (3, 3, "fake:1,cpu")]):
            with self.subTest(text=text, ranks=ranks, devices=devices):
                options = sets(partition__method=["metis", "hilbert"][k % 2], devices__overlap=["full", "none"][k % 2],
                               numerics__format=["sliced", "ellpack"][k % 2])
                summary = self.run_case(texts[text], "--devices", devices, *options, ranks=ranks)
                self.assertEqual(outcome(summary), expected[text])

    def test_iterations_hardly_grow_with_the_mesh(self):
        few, many = (self.run_case(steady(n)) for n in (6, 16))
        self.assertLess(many["solver"]["iterations"], 1.6 * few["solver"]["iterations"])
        other = self.run_case(steady(16), *sets(solver__preconditioner="chebyshev"))
        self.assertAlmostEqual(other["errors"]["l2"], many["errors"]["l2"], delta=1e-8)
        self.assertGreater(other["solver"]["iterations"], 2 * many["solver"]["iterations"])

    def test_more_parts_than_cells(self):
        text = box_case(n=1, jitter=0, physics='K = 1\nsource = "x"', time='method = "steady"',
                        boundary='[[boundary]]\ntag = "*"\ntype = "dirichlet"\nvalue = "y"\n')
        expected = self.run_case(text)["checksum"]
        self.assertEqual(self.run_case(text, "--devices", "fake:1,cpu", ranks=4)["checksum"], expected)

    def test_a_restart_goes_on_bit_for_bit(self):
        for text, at in [(steady(6), 3), (in_time("bdf2", 0.1), 5), (in_time("crank-nicolson", 0.1), 5),
                         *((adaptive(method, 1e-4), 1) for method in METHODS)]:
            whole = self.run_case(text, *sets(checkpoint__every=at))
            first = min((whole["folder"] / "checkpoints").glob("*.h5"))
            again = self.folder / f"again{self.runs}"
            result = tutti("run", "--restart", first, "-o", again, "--devices", "fake:1,cpu", *EQUAL)
            self.assertEqual(result.code, 0, result.err)
            summary = json.loads((again / "summary.json").read_text())
            self.assertLess(summary["first_step"], whole["steps"])
            self.assertGreaterEqual(summary["first_step"], at)
            for name in ["checksum", "steps", "solver", "errors", "mass"]:
                self.assertEqual(summary[name], whole[name], name)

    def fails(self, text, code, *patterns, options=()):
        case = self.write("fails.toml", text)
        result = tutti("run", case, "-o", self.folder / "fails", "--overwrite", *EQUAL, *options, timeout=60)
        self.assert_error(result, code, *patterns)

    def test_no_solution_is_said(self):
        for ranks in (None, 2):
            case = self.write("short.toml", steady(4) + "[solver]\niterations = 2\n")
            folder = self.folder / f"short{ranks}"
            result = tutti("run", case, "-o", folder, *EQUAL, ranks=ranks)
            self.assert_error(result, NUMERICAL, r"short\.toml:\d+:\d+: the steady solution has a residual of .* after 2 iterations, not 1e-10")
            summary = json.loads((folder / "summary.json").read_text())
            self.assertEqual(summary["solver"]["iterations"], 2)
            self.assertFalse(summary["steady"])
            self.assertTrue((folder / "results.pvd").exists())
        self.fails(steady(4) + "[solver]\ntolerance = 1e-19\n", NUMERICAL, "stays at", "raise solver.tolerance")
        self.fails(in_time("bdf2", 0.1), NUMERICAL, "the step to t = 0.1 has a residual of", "raise solver.iterations",
                   options=sets(solver__iterations=1))

    def test_a_run_that_did_not_suffice_goes_on(self):
        case = self.write("short.toml", steady(6) + "[solver]\niterations = 2\n[checkpoint]\nevery = 1\n")
        folder = self.folder / "goes-on"
        self.assertEqual(tutti("run", case, "-o", folder, *EQUAL).code, NUMERICAL)
        result = tutti("run", "--restart", folder, *sets(solver__iterations=100), *EQUAL)
        self.assertEqual(result.code, 0, result.err)
        self.assertEqual(json.loads((folder / "summary.json").read_text())["checksum"], self.run_case(steady(6))["checksum"])

    def test_what_is_refused(self):
        free = lambda time: box_case(n=2, physics="K = 1", time=time)  # noqa: E731
        fixed = lambda time, more="": box_case(n=2, physics=STEADY + more, boundary=FIXED, time=time)  # noqa: E731
        implicit = 'method = "backward-euler"\n'
        for text, *patterns in [
                (free('method = "steady"'), r"\d+:\d+: no boundary gives u"),
                (fixed('method = "steady"').replace('type = "dirichlet"', 'type = "neumann"'), "no boundary gives u"),
                (fixed('method = "steady"\nend = 1'), "'time.end' has no effect here"),
                (fixed('method = "steady"\nsteps = 1'), "'time.steps' has no effect here"),
                (fixed('method = "steady"\ndt = 1'), "'time.dt' has no effect here"),
                (fixed('method = "steady"\nsafety = 0.5'), "'time.safety' has no effect here"),
                (fixed('method = "steady"\nstages = 5'), "'time.stages' has no effect here"),
                (fixed('method = "Steady"'), "time.method"),
                (fixed('method = "implicit"'), "time.method"),
                (fixed('method = ""'), "time.method"),
                (fixed('method = 2'), "time.method"),
                (fixed('method = "steady"').replace('value = "sin(pi*x)*cos(pi*y) + z"', 'value = "t"'), r"boundary\[0\].value depends on t"),
                (fixed('method = "steady"').replace("value = 1", 'value = "t"'), r"boundary\[1\].value depends on t"),
                (fixed('method = "steady"').replace('source = "', 'source = "t+'), "physics.source depends on t"),
                (fixed('method = "steady"').replace('exact = "', 'exact = "t+'), "physics.exact depends on t"),
                (fixed(implicit + "end = 1"), "give time.dt"),
                (fixed(implicit + 'dt = "auto"\nend = 1'), "give time.dt"),
                (fixed(implicit + "dt = 0.1"), "one of the keys 'time.end', 'time.steps' must be given"),
                (fixed(implicit + "dt = 0\nend = 1"), "time.dt"),
                (fixed(implicit + "dt = 0.1\nend = 1\ntolerance = 0"), "time.tolerance"),
                (fixed(implicit + "dt = 0.1\nend = 1\ntolerance = 1e-11"), "time.tolerance = 1e-11 is below solver.tolerance = 1e-10"),
                (fixed("end = 1\ntolerance = 1e-3"), "'time.tolerance' has no effect here"),
                (fixed('method = "steady"\ntolerance = 1e-3'), "'time.tolerance' has no effect here"),
                (fixed(implicit + "dt = -1\nend = 1"), "time.dt"),
                (fixed(implicit + "dt = nan\nend = 1"), "time.dt"),
                (fixed(implicit + "dt = 0.1\nend = 1\nsteps = 2"), "exclude each other"),
                (fixed(implicit + "dt = 0.1\nend = 1\nsafety = 0.5"), "'time.safety' has no effect here"),
                (fixed(implicit + "dt = 0.1\nend = 1\nstages = 5"), "'time.stages' has no effect here"),
                (fixed("end = 1\n[solver]\ntolerance = 1e-6"), "'solver.tolerance' has no effect here"),
                (fixed("end = 1\n[solver]\niterations = 5"), "'solver.iterations' has no effect here"),
                (fixed('method = "steady"\n[solver]\ntolerance = 0'), "solver.tolerance"),
                (fixed('method = "steady"\n[solver]\ntolerance = -1'), "solver.tolerance"),
                (fixed('method = "steady"\n[solver]\ntolerance = 2'), "solver.tolerance"),
                (fixed('method = "steady"\n[solver]\ntolerance = nan'), "solver.tolerance"),
                (fixed('method = "steady"\n[solver]\niterations = 0'), "solver.iterations"),
                (fixed('method = "steady"\n[solver]\niterations = 1.5'), "solver.iterations"),
                (fixed('method = "steady"\n[solver]\ntol = 1e-6'), "tol"),
                (fixed('method = "steady"') + "[devices]\nexchange = false\n", "cannot do without exchange")]:
            with self.subTest(patterns=patterns):
                self.fails(text, INPUT, *patterns)
        self.fails(fixed(implicit + "dt = 1e-300\nend = 1"), NUMERICAL, "a time step of")


if __name__ == "__main__":
    unittest.main()
