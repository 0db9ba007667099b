"""The examples of transport on a sphere: the errors of their READMEs, the same field on all devices, their pictures."""

import re
import unittest

from program import ROOT, SystemTest, sets, tutti

EXAMPLES = ("vortex-roll-up", "cosine-bell", "deformational-flow")


def case_of(example):
    return (ROOT / "examples" / example / "case.toml").read_text(encoding="utf-8")


def table_row(example, nodes):
    """Numbers of the README's row for so many nodes, after nodes and steps."""
    text = (ROOT / "examples" / example / "README.md").read_text(encoding="utf-8")
    row = re.search(rf"^\| {nodes:,} \|(.*)\|$", text, re.MULTILINE)
    return [float(cell) for cell in row[1].split("|")]


class SphereExamples(SystemTest):
    def test_errors_are_those_of_the_readmes(self):
        for example in EXAMPLES:
            with self.subTest(example=example):
                summary = self.run_case(case_of(example), "--devices", "cpu", *sets(nodes__count=2562))
                steps, *errors = table_row(example, 2562)
                self.assertEqual(summary["steps"], steps)
                norms = ("l1", "l2", "linf") if len(summary["tracers"]) == 1 else ("l2", "linf")
                found = [tracer[norm] for tracer in summary["tracers"] for norm in norms]
                self.assertEqual(len(found), len(errors))
                for value, told in zip(found, errors):
                    self.assertLess(abs(value - told), 0.01 * told)  # what is printed has two or three digits

    def test_the_same_field_on_all_devices(self):
        for example in EXAMPLES:
            text = case_of(example)
            few = sets(nodes__count=642, time__steps=12, time__end="", numerics__check=False)
            few[few.index('time.end=""')] = "time.end="  # takes the key out
            whole = self.run_case(text, "--devices", "cpu", *few)
            for ranks, devices in ((1, "fake:2,cpu"), (2, "cpu"), (2, "fake:1,cpu")):
                with self.subTest(example=example, ranks=ranks, devices=devices):
                    summary = self.run_case(text, "--devices", devices, *few, ranks=ranks)
                    self.assertEqual(summary["checksum"], whole["checksum"])
                    self.assertEqual(summary["tracers"], whole["tracers"])

    def test_another_angle(self):
        text = case_of("cosine-bell")
        errors = [self.run_case(text.replace("pi/2", alpha), *sets(nodes__count=2562))["tracers"][0]["l2"]
                  for alpha in ("0", "pi/4", "pi/2")]
        self.assertLess(max(errors), 1.4 * min(errors))

    def test_pictures(self):
        summary = self.run_case(case_of("deformational-flow"), *sets(nodes__count=642, output__every=50))
        result = tutti("plot", summary["folder"], "--time", "2.5", "--view", "180,15", "--field", "hills,cylinders")
        if result.code == 3:
            self.skipTest(result.err)  # no numpy or matplotlib
        self.assertEqual(result.code, 0, result.err)
        self.assertRegex(result.out, r"hills, cylinders at t = 2\.5\d*, 642 nodes")
        self.assertGreater((summary["folder"] / "plot.png").stat().st_size, 20000)
        self.assert_error(tutti("plot", summary["folder"], "--field", "hill"), 4, "no field 'hill'; choose one of hills")
        self.assert_error(tutti("plot", summary["folder"], "--clip", "x"), 4, "--clip: nodes on a sphere are not cut")


if __name__ == "__main__":
    unittest.main()
