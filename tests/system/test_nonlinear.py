"""Diffusion whose rows change while it runs: films (Robin), contacts, K of u, sources of u, h of t."""

import json
import math
import unittest

from program import EQUAL, SystemTest, box_case, sets, tutti

RESOURCE, INPUT, NUMERICAL = 3, 4, 6

# U = sin(pi x) cos(pi y) + z and K = (1 + u^2) A; what stands behind `source` are -2 U grad U . A grad U and -(1 + U^2) A : H.
U = "(sin(pi*x)*cos(pi*y) + z)"
K = "K = [[\"2*(1+u^2)\", \"0.5*(1+u^2)\", 0], [\"0.5*(1+u^2)\", \"1+u^2\", 0], [0, 0, \"1+u^2\"]]"
UX, UY = "(pi*cos(pi*x)*cos(pi*y))", "(-pi*sin(pi*x)*sin(pi*y))"
SOURCE = (f"-2*{U}*(2*{UX}^2 + {UX}*{UY} + {UY}^2 + 1) + (1 + {U}^2)*(3*pi^2*sin(pi*x)*cos(pi*y) + pi^2*cos(pi*x)*sin(pi*y))")
FIXED = f'[[boundary]]\ntag = "*"\ntype = "dirichlet"\nvalue = "{U}"\n'
METHODS = {"euler": (0.9, 1.15), "rkc2": (1.85, 2.3), "backward-euler": (0.9, 1.15), "crank-nicolson": (1.85, 2.2), "bdf2": (1.8, 2.3)}
# A wall of two layers between fluids: films, layers and a contact are resistances in a row, of 1700 in all, between 20 and -10.
WALL = """model = "diffusion"
[mesh]
generate = "box"
cubes = [6, 4, 4]
upper = [0.1, 0.1, 0.1]
jitter = 0.2
split = 0.05
[physics]
K = 1e-4
exact = "20 - 30/1700*(x < 0.05 ? 100 + x/1e-4 : 1600 + (x - 0.05)/1e-3)"
[[physics.region]]
name = "right"
K = 1e-3
[[interface]]
regions = ["right", "left"]
resistance = 1000
[[boundary]]
tag = "x-min"
type = "robin"
h = 0.01
value = 20
[[boundary]]
tag = "x-max"
type = "robin"
h = 0.02
value = -10
[time]
{time}
[output]
history_every = 1
"""


def nonlinear(n, source=SOURCE, k=K, time='method = "steady"'):
    return box_case(n=n, physics=f'{k}\nsource = "{source}"\nexact = "{U}"\ninitial = "z"', boundary=FIXED, time=time,
                    output="history_every = 1\n")


def stepped(method, steps, end):
    more = {"euler": "", "rkc2": "stages = 8\n"}.get(method, "[solver]\ntolerance = 1e-12\n")
    return f'method = "{method}"\ndt = {end / steps}\nend = {end}\n{more}'


def film_in_time(method, steps, end=0.9):
    # u = (1 + x + y) cos(3 t): linear in space, so that all of the error is that of the steps; h changes in time.
    exact, h = "(1+x+y)*cos(3*t)", "2+sin(5*t)"
    flux = {"x-min": "-1.2", "x-max": "1.2", "y-min": "-2.2", "y-max": "2.2", "z-min": "0", "z-max": "0"}
    boundary = "".join(f'[[boundary]]\ntag = "{tag}"\ntype = "robin"\nh = "{h}"\nvalue = "{exact} + {q}*cos(3*t)/({h})"\n' for tag, q in flux.items())
    return box_case(n=3, physics=f'K = [[1, 0.2, 0], [0.2, 2, 0], [0, 0, 1]]\ninitial = "1+x+y"\nsource = "-3*(1+x+y)*sin(3*t)"\nexact = "{exact}"\n',
                    boundary=boundary, time=stepped(method, steps, end))


def decay(method, steps, end=1.0):
    # u' = -u^2, the same everywhere.
    return box_case(n=2, physics='K = 1\ninitial = 1\nsource = "-u^2"\nexact = "1/(1+t)"', time=stepped(method, steps, end))


def jump(n, time, flux="monotone"):
    # 100 along (1, 1, 0), 1 across it: beside the corner with 0 the least-squares flux goes beyond 1.
    return box_case(n=n, physics="K = [[50.5, 49.5, 0], [49.5, 50.5, 0], [0, 0, 1]]\ninitial = 1",
                    boundary='[[boundary]]\ntag = "*"\ntype = "dirichlet"\nvalue = "x<0.5 && y<0.5 && z<0.5 ? 0 : 1"\n',
                    time=f"{time}\n[numerics]\nflux = \"{flux}\"\n", output="history_every = 1\n")


def outcome(summary):
    names = ["checksum", "steps", "time", "dt", "mass", "errors", "solver", "diagnostics", "flows"]
    return {**{name: summary.get(name) for name in names}, "history": (summary["folder"] / "history.csv").read_text()}


class Nonlinear(SystemTest):
    def fails(self, text, code, *patterns, ranks=(None,)):
        for n in ranks:
            result = tutti("run", self.write("fails.toml", text), "-o", self.folder / "fails", "--overwrite", *EQUAL, timeout=60, ranks=n)
            self.assert_error(result, code, *patterns)

    def order(self, case, steps):
        errors = [self.run_case(case(n))["errors"]["l2"] for n in steps]
        return math.log2(errors[0] / errors[1])

    def test_fast_decay_is_stable(self):
        for method in ("euler", "rkc2"):
            text = box_case(n=3, physics='K = 0.01\ninitial = "1"\nsource = "-1e4*u"',
                            boundary='[[boundary]]\ntag = "x-min"\ntype = "dirichlet"\n', time=f'method = "{method}"\nsteps = 12')
            self.assertLess(self.run_case(text, *sets(physics__exact=0))["errors"]["linf"], 1)
        case = self.write("case.toml", text.replace('"rkc2"\nsteps = 12', '"euler"\ndt = 0.01\nend = 1'))
        self.assert_error(tutti("run", case, "-o", self.folder / "large", *EQUAL), NUMERICAL, "time.dt = 0.01 is above the stability limit")

    def test_a_wall_between_two_fluids(self):
        steady = self.run_case(WALL.format(time='method = "steady"'))
        self.assertLess(steady["errors"]["linf"], 1e-7)
        flow = 0.01 * 30 / 1700
        self.assertAlmostEqual(steady["flows"]["boundaries"]["x-min"] / flow, 1, delta=1e-8)
        self.assertAlmostEqual(steady["flows"]["boundaries"]["x-max"] / flow, -1, delta=1e-8)
        self.assertLess(abs(steady["flows"]["sum"]), 1e-8 * flow)
        self.assertEqual(set(steady["mass"]), {"final"})
        # Explicit and implicit steps go there.
        for time in ('method = "rkc2"\nend = 4000', 'method = "bdf2"\ndt = 100\nend = 4000'):
            self.assertLess(self.run_case(WALL.format(time=time))["errors"]["linf"], 1e-2)

    def test_films_that_change_in_time(self):
        for method, (least, most) in METHODS.items():
            with self.subTest(method=method):
                steps = {"euler": (500, 1000), "rkc2": (50, 100)}.get(method, (20, 40))
                order = self.order(lambda n: film_in_time(method, n), steps)
                self.assertGreater(order, least)
                self.assertLess(order, most)

    def test_sources_of_u(self):
        for method, (least, most) in METHODS.items():
            with self.subTest(method=method):
                order = self.order(lambda n: decay(method, n), (160, 320) if method == "euler" else (20, 40))
                self.assertGreater(order, least)
                self.assertLess(order, most)

    def test_second_order_with_k_of_u(self):
        few, many = (self.run_case(nonlinear(n)) for n in (4, 8))
        self.assertGreater(math.log2(few["errors"]["l2"] / many["errors"]["l2"]), 1.7)
        self.assertLess(abs(many["flows"]["sum"]), 1e-8)
        # Time leads there, too.
        for time in ('method = "euler"\nend = 1', 'method = "backward-euler"\ndt = 10\nend = 60'):
            late = self.run_case(nonlinear(4, time=time))
            self.assertAlmostEqual(late["errors"]["l2"], few["errors"]["l2"], delta=1e-7)

    def test_newton_ends_soon(self):
        # The source takes what it makes too much of: s' < 0.
        f = f"2*pi^2*sin(pi*x)*cos(pi*y) + 100*{U}^3"
        summary = self.run_case(nonlinear(6, f"{f} - 100*u^3", "K = 1"))
        self.assertLess(summary["errors"]["l2"], 0.02)
        self.assertLessEqual(summary["solver"]["linearisations"], 12)
        residuals = [float(line.split(",")[4]) for line in (summary["folder"] / "history.csv").read_text().splitlines()[1:]]
        self.assertLess(residuals[-1], 1e-10)

    def test_no_new_extrema(self):
        # 1e-4: what a residual of 1e-6 leaves of the solution.
        for time, above in (("steps = 40", 1e-14), ('method = "backward-euler"\ndt = 0.02\nsteps = 3\n[solver]\nlinearisations = 400', 1e-9),
                            ('method = "steady"\n[solver]\ntolerance = 1e-6\nlinearisations = 400', 1e-4)):
            largest = {}
            for flux in ("monotone", "auto"):
                # 5: with 6 cubes it depends on the last bits whether 1e-10 is reached (docs/adr/0027-no-new-extrema.md).
                summary = self.run_case(jump(5, time, flux))
                rows = [line.split(",") for line in (summary["folder"] / "history.csv").read_text().splitlines()]
                largest[flux] = [float(row[rows[0].index("max|u|")]) for row in rows[1:]]
            with self.subTest(time=time):
                self.assertLessEqual(largest["monotone"][-1], 1 + above)
                self.assertGreater(max(largest["auto"]), 1.01)

    def test_same_bits(self):
        time = 'method = "{}"\nsteps = 4\n'
        texts = [nonlinear(4, time=time.format("euler")), nonlinear(4, time=time.format("rkc2")), nonlinear(4),
                 nonlinear(3, SOURCE + " - u^3", time=time.format("bdf2") + "dt = 0.1"), decay("rkc2", 20),
                 WALL.format(time='method = "steady"'), film_in_time("crank-nicolson", 4),
                 jump(4, "steps = 4"), jump(4, 'method = "steady"\n[solver]\ntolerance = 1e-4')]
        for k, text in enumerate(texts):
            text = text if "history_every" in text else text + "history_every = 1\n"
            expected = outcome(self.run_case(text, "--devices", "cpu", "--threads", "1"))
            for ranks, devices, form in ((1, "fake:2,cpu", "ellpack"), (2, "cpu", "sliced"), (3, "fake:1,cpu", "sliced")):
                with self.subTest(text=k, ranks=ranks, devices=devices):
                    summary = self.run_case(text, "--devices", devices, *sets(numerics__format=form), ranks=ranks)
                    self.assertEqual(outcome(summary), expected)

    def test_a_restart_goes_on_bit_for_bit(self):
        for text, at in [(nonlinear(4), 2), (nonlinear(4, SOURCE + " - u^3", time='method = "bdf2"\nsteps = 6\ndt = 0.1'), 3),
                         (nonlinear(4, time='method = "rkc2"\nsteps = 6'), 3), (jump(4, 'method = "steady"\n[solver]\ntolerance = 1e-4'), 9)]:
            whole = self.run_case(text, *sets(checkpoint__every=at))
            first = min((whole["folder"] / "checkpoints").glob("*.h5"))
            again = self.folder / f"again{self.runs}"
            result = tutti("run", "--restart", first, "-o", again, "--devices", "fake:1,cpu", *EQUAL)
            self.assertEqual(result.code, 0, result.err)
            summary = json.loads((again / "summary.json").read_text())
            for name in ["checksum", "steps", "errors", "mass"]:
                self.assertEqual(summary.get(name), whole.get(name), name)

    def test_fluxes_of_a_continued_solution(self):
        run = self.run_case(nonlinear(3) + '[[output.surface]]\nname = "in"\nboundary = "x-min"\nof = "flux"\nprofile = true\n')
        folder = self.folder / "continued"
        again = tutti("run", "--restart", run["folder"], "-o", folder, *EQUAL)
        self.assertEqual(again.code, 0, again.err)
        rows = [(f / "history.csv").read_text().splitlines() for f in (run["folder"], folder)]
        self.assertEqual(rows[0][0], rows[1][0])
        self.assertEqual(rows[0][-1].split(",")[1:], rows[1][1].split(",")[1:], "K is that of the state, not of the initial values")

    def test_no_solution_is_said(self):
        self.fails(nonlinear(4) + "[solver]\nlinearisations = 2\n", NUMERICAL,
                   r"the steady solution has a residual of \S+ of the right-hand side after 2 linearisations, not 1e-10; raise")
        # u'' + 20 exp(u) = 0 has none (Bratu).
        bratu = box_case(n=4, physics='K = 1\nsource = "20*exp(u)"', boundary='[[boundary]]\ntag = "*"\ntype = "dirichlet"\n', time='method = "steady"')
        self.fails(bratu, NUMERICAL, r"the steady solution has a residual of")

    def test_a_step_that_k_outgrows(self):
        # The range is 0 to 1 at the start; the source takes u far beyond.
        text = box_case(n=4, physics='K = "1+u^2"\nsource = 1000', boundary='[[boundary]]\ntag = "x-min"\ntype = "dirichlet"\nvalue = 1\n',
                        time='end = 1')
        self.fails(text, NUMERICAL, r"at t = \S+ the operator is \S+ times what it was at the set-up, for u between 0 and 1: steps of", "lower time.dt")

    def test_what_is_refused(self):
        film = lambda more: WALL.format(time="steps = 1").replace("h = 0.01", more)  # noqa: E731
        self.fails(film('h = "-x - 1"'), INPUT, r"transfer coefficient h is -\S+ at", "must not be negative", ranks=(None, 2))
        self.fails(film(""), INPUT, r"boundary\[0\]\.h")
        self.fails(film('h = "u"'), INPUT, "unknown name 'u'")
        self.fails(WALL.format(time='method = "steady"').replace("h = 0.01", 'h = "1+t"'), INPUT, r"boundary\[0\]\.h depends on t")
        wall = WALL.format(time="steps = 1")
        self.fails(wall.replace("resistance = 1000", "resistance = -1"), INPUT, "contact resistance is -1", ranks=(None, 2))
        self.fails(wall.replace("resistance = 1000", 'resistance = "t"'), INPUT, "depends on t")
        self.fails(wall.replace('["right", "left"]', '["right", "right"]'), INPUT, "needs two regions")
        self.fails(wall.replace('["right", "left"]', '["right", "middle"]'), INPUT, "no region 'middle'")
        self.fails(wall.replace('["right", "left"]', '["right"]'), INPUT, "regions")
        self.fails(wall + '[[interface]]\nregions = ["left", "right"]\nresistance = 1\n', INPUT, "two .*interface")
        self.fails(nonlinear(3, k='K = "1 - u"'), INPUT, "not positive definite in cell .* where u is", ranks=(None, 2))
        self.fails(nonlinear(3, k='K = "1 + x"', source="sqrt(u - 10)"), INPUT, "sqrt", "u = ")
        self.fails(decay("euler", 200).replace('"-u^2"', '"sqrt(u-10)"'), INPUT, "not finite at t = 0")
        self.fails(nonlinear(3, time="steps = 1") + '[residency]\npolicy = "streamed"\n', INPUT, "residency.policy", ranks=(None, 2))
        self.fails(box_case(n=2, physics='K = 1\ninitial = "u"'), INPUT, "unknown name 'u'")
        for method in ("rkc2", "bdf2"):
            self.fails(jump(2, f'method = "{method}"\ndt = 0.1\nsteps = 1'), INPUT, 'time.method = "%s" can have new extrema' % method)
        self.fails(jump(2, "steps = 1") + '[residency]\npolicy = "streamed"\n', INPUT, "residency.policy")
        self.fails(jump(2, "dt = 1\nsteps = 1"), NUMERICAL, r"time.dt = 1 is above the stability limit \S+ of euler without new extrema; lower it, or use")

    def test_a_full_device_is_advised_what_can_be(self):
        case = self.write("full.toml", nonlinear(3, time="steps = 1"))
        result = tutti("run", case, "-o", self.folder / "full", "--devices", "fake:1", "--fake-memory", "10k", *EQUAL)
        self.assert_error(result, RESOURCE, "has 10.0 KiB left; use more devices or a smaller mesh")
        constant = self.write("constant.toml", box_case(n=3))
        for options, advice in [([], r'more devices, residency\.policy = "auto" or a smaller'),
                                (sets(residency__policy="auto"), "has 10.0 KiB left; use more devices or a smaller"),
                                (sets(numerics__format="ellpack"), "more devices or a smaller"),
                                (sets(numerics__precision="compact"), "more devices or a smaller")]:
            result = tutti("run", constant, "-o", self.folder / "full", "--devices", "fake:1", "--fake-memory", "10k", *EQUAL, *options)
            self.assert_error(result, RESOURCE, advice)


if __name__ == "__main__":
    unittest.main()
