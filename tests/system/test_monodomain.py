"""Diffusion with cells that react: fronts of known speed, orders, bits, restarts, activation, and what is refused."""

import csv
import json
import math
import unittest

from program import EQUAL, SystemTest, sets, tutti

NUMERICAL, INPUT = 6, 4

# For epsilon = 0 a front of speed (1 - 2 a) sqrt(K / 2) is an exact solution.
FRONT = """model = "diffusion"
[mesh]
generate = "box"
cubes = [{n}, 2, 2]
upper = [{length}, {width}, {width}]
jitter = {jitter}
[physics]
K = 1
initial = "exact"
exact = "0.5*(1-tanh((x-14-0.8*sqrt(0.5)*t)/(2*sqrt(2))))"
[ionic]
model = "fitzhugh-nagumo"
epsilon = 0
activation = 0.5
{ionic}
[time]
{time}
[output]
every = 0
[[output.probe]]
name = "p"
point = [20, 0.1, 0.1]
"""


def front(n, time, ionic, jitter=0.1):
    return FRONT.format(n=n, length=40, width=80 / n, time=time, ionic=ionic, jitter=jitter)


def tissue(model, dt, strength, ionic="", time='method = "rkc2"', n=6, more=""):
    """A block in which a stimulus starts a wave; a second one meets it."""
    return f"""model = "diffusion"
[mesh]
generate = "box"
cubes = [{2 * n}, {n}, 2]
upper = [{2 * n * 0.5}, {n * 0.5}, 1]
jitter = 0.1
[physics]
K = [0.2, 0.1, 0.1]
[ionic]
model = "{model}"
activation = {0 if model.startswith("ten") else 0.5}
{ionic}
[[ionic.stimulus]]
where = "x < 1"
duration = 1.5
strength = {strength}
[[ionic.stimulus]]
where = "y > 1.5"
start = 1.01
duration = 2
period = 5
strength = {strength}
[time]
{time}
dt = {dt}
steps = 24
[output]
every = 0
{more}"""


MODELS = {"fitzhugh-nagumo": ("fitzhugh-nagumo", 0.1, 0.8, "rate = 2\n"),
          "mitchell-schaeffer": ("mitchell-schaeffer", 0.1, 0.6, 'splitting = "strang"\nrecovery = "x > 2 ? 0.9 : 1"\n'),
          "ten-tusscher-panfilov": ("ten-tusscher-panfilov", 0.05, 45, 'layer = "x > 4 ? 2 : x > 2 ? 1 : 0"\n')}


class Monodomain(SystemTest):
    def last_probe(self, summary):
        return list(csv.DictReader((summary["folder"] / "probes.csv").read_text().split("\n")))[-1]

    def test_fronts_have_their_speed_and_the_order_of_space(self):
        errors = []
        for n, dt in [(40, 0.08), (80, 0.02)]:
            summary = self.run_case(front(n, f'method = "rkc2"\ndt = {dt}\nend = 16', 'splitting = "strang"'))
            errors.append(summary["errors"]["l2"])
        self.assertGreater(math.log2(errors[0] / errors[1]), 1.7)
        self.assertLess(errors[1], 2e-3)
        # It passes x = 20 when it has gone 6.
        arrives = float(self.last_probe(summary)["p activation"])
        self.assertAlmostEqual(arrives, 6 / (0.8 * math.sqrt(0.5)), delta=0.3)

    def test_orders_of_the_splittings(self):
        for splitting, method, least, most in [("godunov", "rkc2", 0.85, 1.2), ("strang", "rkc2", 1.8, 2.3),
                                               ("strang", "crank-nicolson", 1.8, 2.3), ("godunov", "backward-euler", 0.8, 1.2)]:
            with self.subTest(splitting=splitting, method=method):
                ends = [self.run_case(front(40, f'method = "{method}"\ndt = {dt}\nend = 8', f'splitting = "{splitting}"', 0))
                        ["mass"]["final"] for dt in (0.4, 0.2, 0.1)]
                order = math.log2(abs((ends[1] - ends[0]) / (ends[2] - ends[1])))
                self.assertGreater(order, least)
                self.assertLess(order, most)

    def test_same_bits(self):
        names = ["checksum", "cells", "steps", "time", "dt", "mass", "diagnostics"]
        for model in MODELS:
            text = tissue(*MODELS[model])
            first = self.run_case(text, "--devices", "cpu", "--threads", "1")
            for k, (ranks, devices) in enumerate([(1, "fake:2,cpu"), (3, "cpu"), (2, "fake:1,cpu")]):
                with self.subTest(model=model, ranks=ranks, devices=devices):
                    options = sets(devices__overlap=["full", "none", "messages"][k])
                    other = self.run_case(text, "--devices", devices, *options, ranks=ranks)
                    self.assertEqual({n: other[n] for n in names}, {n: first[n] for n in names})

    def test_a_restart_goes_on_bit_for_bit(self):
        for model in MODELS:
            with self.subTest(model=model):
                whole = self.run_case(tissue(*MODELS[model], more="[checkpoint]\nevery = 15\n"))
                first = min((whole["folder"] / "checkpoints").glob("*.h5"))
                again = self.folder / f"again{self.runs}"
                result = tutti("run", "--restart", first, "-o", again, "--devices", "fake:1,cpu", *EQUAL)
                self.assertEqual(result.code, 0, result.err)
                summary = json.loads((again / "summary.json").read_text())
                self.assertEqual(summary["first_step"], 15)
                self.assertEqual(summary["checksum"], whole["checksum"])
        result = tutti("run", "--restart", first, "-o", self.folder / "other", *EQUAL,
                       *sets(ionic__model="mitchell-schaeffer", ionic__activation=0.5))
        self.assert_error(result, INPUT, "ionic.model|checkpoint")

    def test_state_is_written_where_it_is_asked_for(self):
        text = tissue(*MODELS["mitchell-schaeffer"], more='[[output.probe]]\nname = "p"\npoint = [0.4, 0.4, 0.4]\n')
        self.assertEqual(list(self.last_probe(self.run_case(text))), ["time", "p u", "p activation"])
        last = self.last_probe(self.run_case(text, "--set", "ionic.output=true"))
        self.assertIn("p h", last)
        # Stimulated at once: 0.6 a unit of time.
        self.assertAlmostEqual(float(last["p activation"]), 0.5 / 0.6, delta=0.25)

    def test_plan_counts_the_state(self):
        case = self.write("plan.toml", tissue(*MODELS["ten-tusscher-panfilov"]))
        result = tutti("plan", case, *EQUAL)
        self.assertEqual(result.code, 0, result.err)
        self.assertIn("ionic state", tutti("plan", case, "--verbose", *EQUAL).out + result.out)

    def test_what_is_refused(self):
        plain = lambda **more: tissue("mitchell-schaeffer", 0.1, 0.6, **more)  # noqa: E731
        stimulus = 'where = "x < 1"\nduration = 1.5'
        cases = [
            (plain().replace("mitchell-schaeffer", "hodgkin-huxley"), INPUT, "ionic.model"),
            (plain().replace('where = "x < 1"', 'where = "x < -1"'), INPUT, r"\d+:\d+: this stimulus reaches no cell"),
            (plain().replace('where = "x < 1"', 'where = "x < t"'), INPUT, "depends on t"),
            (plain().replace(stimulus, stimulus.replace("1.5", "-1.5")), INPUT, "duration"),
            (plain().replace(stimulus, stimulus.replace("1.5", "0")), INPUT, "duration"),
            (plain().replace(stimulus, 'where = "x < 1"'), INPUT, "duration"),
            (plain().replace("start = 1.01", "start = -1"), INPUT, "start"),
            (plain().replace("period = 5", "period = 1"), INPUT, "shorter than the pulse"),
            (plain(ionic="tau_in = 0"), INPUT, "tau_in"),
            (plain(ionic="epsilon = 0.1"), INPUT, "'ionic.epsilon' has no effect here"),
            (plain(ionic='layer = "1"'), INPUT, "'ionic.layer' has no effect here"),
            (plain(ionic='recovery = "1/(x-x)"'), INPUT, "recovery|1/\\(x-x\\)"),
            (plain().replace("dt = 0.1", "dt = 0.5"), NUMERICAL, "time.dt = 0.5 is above the stability limit"),
            (plain(time='method = "bdf2"'), INPUT, "bdf2 does not work with ionic.model"),
            (plain(time='method = "backward-euler"').replace("dt = 0.1", "dt = 0.5"), NUMERICAL, "of ionic.model"),
            (plain(time='method = "backward-euler"\ntolerance = 1e-3'), INPUT, r"steps with \[ionic\] are as long as time.dt"),
            (plain().replace("dt = 0.1\nsteps = 24\n", "").replace("rkc2", "steady"), INPUT, "steady does not work"),
            (plain() + '[[ionic.stimulus]]\nwhere = "1"\nduration = 1\nstrength = 1\n' * 7, INPUT, "8 is the most"),
            (tissue("none", 0.02, 1), INPUT, "has no effect here"),
            (tissue(*MODELS["ten-tusscher-panfilov"][:3], ionic="layer = 3"), INPUT, "it must be 0, 1 or 2"),
            (tissue("fitzhugh-nagumo", 0.1, 1e200), NUMERICAL, "nan|inf"),
        ]
        for ranks in (None, 2):
            for k, (text, code, pattern) in enumerate(cases):
                if ranks and k % 5:
                    continue
                with self.subTest(pattern=pattern, ranks=ranks):
                    case = self.write("fails.toml", text)
                    result = tutti("run", case, "-o", self.folder / "fails", "--overwrite", *EQUAL, ranks=ranks, timeout=60)
                    self.assert_error(result, code, pattern)


if __name__ == "__main__":
    unittest.main()
