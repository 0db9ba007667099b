"""A mesh, or nodes, larger than a device's memory go to the others, with the same bits."""

import re
import unittest

from program import EQUAL, SystemTest, box_case, sets, tutti

CASE = box_case(n=8, jitter=0.2)  # 3,072 cells of 150 to 250 B


class Capacity(SystemTest):
    @classmethod
    def setUpClass(cls):
        cls.checksum = None

    def setUp(self):
        super().setUp()
        if Capacity.checksum is None:
            Capacity.checksum = self.run_case(CASE, "--devices", "cpu")["checksum"]

    def fill(self, memory, *options, ranks=None, devices="fake:1,cpu"):
        summary = self.run_case(CASE, "--devices", devices, "--fake-memory", memory, *options, ranks=ranks)
        self.assertEqual(summary["checksum"], self.checksum)
        self.assertEqual(sum(part["cells"] for part in summary["parts"]), summary["cells"])
        return summary

    def test_what_does_not_fit_goes_to_the_others(self):
        for devices in ["fake:1,cpu", "fake:2,cpu"]:
            for ranks in [None, 2, 3]:
                with self.subTest(devices=devices, ranks=ranks):
                    summary = self.fill("40k", ranks=ranks, devices=devices)
                    fakes = [p for p, part in enumerate(summary["parts"]) if part["device"] != "cpu"]
                    self.assertEqual(summary["balance"]["full_parts"], fakes)
                    self.assertEqual(len(re.findall(r"is full: it gets", summary["out"])), len(fakes))
                    for p in fakes:
                        self.assertGreater(summary["parts"][p]["cells"], 40)

    def test_every_size_of_memory(self):
        # From nothing to plenty: whatever the padding of a few rows, it fits, and more memory takes no fewer cells.
        before = -1
        for memory in ["1", "4k", "20k", "60k", "150k", "300k", "500k", "1M"]:
            with self.subTest(memory=memory):
                summary = self.fill(memory, *sets(balance__weights=[1, 0]))
                cells = summary["parts"][0]["cells"]
                self.assertGreaterEqual(cells, before)
                self.assertEqual(bool(summary["balance"]["full_parts"]), cells < 3072)
                before = cells
        self.assertEqual(before, 3072)

    def test_formats_orders_and_methods(self):
        for options in [dict(numerics__format="ellpack"), dict(numerics__precision="compact"),
                        dict(time__method="rkc2", physics__source="t"), dict(partition__order="random"),
                        dict(partition__method="slabs"), dict(partition__method="hilbert"), dict(numerics__columns="int32")]:
            with self.subTest(**options):
                whole = self.run_case(CASE, "--devices", "cpu", *sets(**options))
                part = self.run_case(CASE, "--devices", "fake:2,cpu", "--fake-memory", "70k", *sets(**options))
                self.assertEqual(part["balance"]["full_parts"], [0, 1])
                self.assertEqual(part["checksum"], whole["checksum"])

    def test_every_kind_of_weights_is_bounded(self):
        for weights in ["measured", "stream", "peak", [3, 1]]:
            with self.subTest(weights=weights):
                summary = self.fill("20k", *sets(balance__weights=weights))
                # What is measured of a fake device may be anything, on a busy machine next to nothing.
                if weights in ["peak", [3, 1]]:
                    self.assertEqual(summary["balance"]["full_parts"], [0])
                self.assertLess(summary["parts"][0]["cells"], 150)
                self.assertEqual(summary["balance"]["weights"], weights if isinstance(weights, str) else "list")
                self.assertEqual("cpu_share" in summary["balance"], weights == "measured")

    def test_all_together_too_small(self):
        case = self.write("case.toml", CASE)
        for ranks in [None, 2, 3]:
            for memory in ["1", "20k", "75k"]:
                with self.subTest(ranks=ranks, memory=memory):
                    folder = self.folder / "none"
                    result = tutti("run", case, "-o", folder, "--overwrite", *EQUAL, "--devices", "fake:2",
                                   "--fake-memory", memory, ranks=ranks)
                    self.assert_error(result, 3, r"not enough for 3,072 cells: they need about [\d.]+ KiB",
                                      rf"all {2 * (ranks or 1)} devices together have ")

    def test_a_restart_with_less_memory(self):
        # The partition of the checkpoint does not fit any more.
        first = self.run_case(CASE, "--devices", "fake:1,cpu", *sets(checkpoint__every=5))
        result = tutti("run", "--restart", first["folder"], "-o", self.folder / "again", *EQUAL, "--devices", "fake:1,cpu",
                       "--fake-memory", "60k", *sets(time__steps=20))
        self.assertEqual(result.code, 0, result.err)
        self.assertIn("fake:0 is full", result.out)
        whole = self.run_case(CASE, "--devices", "cpu", *sets(time__steps=20))
        self.assertIn(whole["checksum"], (self.folder / "again" / "summary.json").read_text())

    def test_the_plan_is_what_is_run(self):
        case = self.write("case.toml", CASE)
        options = ["-v", *EQUAL, "--devices", "fake:2,cpu", "--fake-memory", "70k"]
        plan = tutti("-v", "plan", case, *options[1:])
        self.assertEqual(plan.code, 0, plan.err)
        run = tutti("-v", "run", case, "-o", self.folder / "r", *options[1:])
        self.assertEqual(re.findall(r"memory: part (\d+) takes (\d+) bytes", plan.out),
                         re.findall(r"memory: part (\d+) has taken (\d+) bytes", run.out))
        self.assertEqual(len(re.findall("full: no memory left", plan.out)), 2)


NODES = """model = "transport"
[nodes]
generate = "icosahedral"
count = 1002
[stencil]
size = 25
exponent = 5
degree = 4
[velocity]
{velocity}
[[tracer]]
name = "dye"
initial = "sin(2*lon)*cos(lat)^2 + z"
{more}
[time]
steps = 6
"""
STEADY = NODES.format(velocity='east = "cos(lat)"', more="")  # 1,002 nodes of about 330 B, and 32 B a ghost
CHANGING = NODES.format(velocity='cartesian = ["-y + 0.2*sin(3*t)*z", "x", "x*y*cos(t)"]',
                        more='[[tracer]]\nname = "salt"\ninitial = "x"')


class NodeCapacity(SystemTest):
    def test_what_does_not_fit_goes_to_the_others(self):
        whole = self.run_case(STEADY, "--devices", "cpu")
        for devices, ranks in [("fake:1,cpu", None), ("fake:2,cpu", None), ("fake:2,cpu", 2), ("fake:1,cpu", 3)]:
            with self.subTest(devices=devices, ranks=ranks):
                summary = self.run_case(STEADY, "--devices", devices, "--fake-memory", "40k", ranks=ranks)
                self.assertEqual(summary["checksum"], whole["checksum"])
                fakes = [p for p, part in enumerate(summary["parts"]) if part["device"] != "cpu"]
                self.assertEqual(summary["balance"]["full_parts"], fakes)
                self.assertEqual(len(re.findall(r"is full: it gets [\d.]+ % of the nodes", summary["out"])), len(fakes))
                for p in fakes:
                    self.assertTrue(60 < summary["parts"][p]["cells"] < 120, summary["parts"][p])

    def test_every_size_of_memory(self):
        # From nothing to plenty; formulas of a velocity that changes take some of it whatever the part.
        for text in (STEADY, CHANGING):
            whole = self.run_case(text, "--devices", "cpu")
            before = -1
            for memory in ["1", "4k", "12k", "60k", "250k", "2M"]:
                with self.subTest(memory=memory):
                    summary = self.run_case(text, "--devices", "fake:1,cpu", "--fake-memory", memory,
                                            *sets(balance__weights=[1, 0]))
                    self.assertEqual(summary["checksum"], whole["checksum"])
                    cells = summary["parts"][0]["cells"]
                    self.assertGreaterEqual(cells, before)
                    self.assertEqual(bool(summary["balance"]["full_parts"]), cells < 1002)
                    before = cells
            self.assertEqual(before, 1002)

    def test_methods_and_weights(self):
        whole = self.run_case(STEADY, "--devices", "cpu")
        for options in [dict(partition__method="latitude"), dict(partition__method="hilbert"),
                        dict(balance__weights="measured"), dict(balance__weights="peak")]:
            with self.subTest(**options):
                summary = self.run_case(STEADY, "--devices", "fake:2,cpu", "--fake-memory", "40k", *sets(**options))
                self.assertEqual(summary["checksum"], whole["checksum"])
                for part in summary["parts"][:2]:
                    self.assertLess(part["cells"], 120)

    def test_all_together_too_small(self):
        case = self.write("case.toml", STEADY)
        for ranks in [None, 3]:
            for memory in ["1", "40k"]:
                with self.subTest(ranks=ranks, memory=memory):
                    result = tutti("run", case, "-o", self.folder / "none", "--overwrite", *EQUAL, "--devices", "fake:1",
                                   "--fake-memory", memory, ranks=ranks)
                    self.assert_error(result, 3, r"not enough for 1,002 nodes: they need about [\d.]+ KiB",
                                      rf"{'all 3 devices together have' if ranks else 'the device has'} .* fewer nodes")

    def test_a_restart_with_less_memory(self):
        first = self.run_case(STEADY, "--devices", "fake:1,cpu", *sets(checkpoint__every=3))
        result = tutti("run", "--restart", first["folder"], "-o", self.folder / "again", *EQUAL, "--devices", "fake:1,cpu",
                       "--fake-memory", "60k", *sets(time__steps=9))
        self.assertEqual(result.code, 0, result.err)
        self.assertIn("fake:0 is full", result.out)
        whole = self.run_case(STEADY, "--devices", "cpu", *sets(time__steps=9))
        self.assertIn(whole["checksum"], (self.folder / "again" / "summary.json").read_text())

    def test_the_plan_is_what_is_run(self):
        # Random nodes: operators are made several times, as more damping is tried; one at a time is there.
        for text in (STEADY, CHANGING, CHANGING.replace("icosahedral", "random")):
            case = self.write("case.toml", text)
            options = [*EQUAL, "--devices", "fake:2,cpu", "--fake-memory", "60k"]
            plan = tutti("-v", "plan", case, *options)
            self.assertEqual(plan.code, 0, plan.err)
            run = tutti("-v", "run", case, "-o", self.folder / "r", "--overwrite", *options)
            self.assertEqual(run.code, 0, run.err)
            self.assertEqual(re.findall(r"memory: part (\d+) takes (\d+) bytes", plan.out),
                             re.findall(r"memory: part (\d+) has taken (\d+) bytes", run.out))
            self.assertEqual(len(re.findall("full: no memory left", plan.out)), 2)
        plan = tutti("plan", case, *EQUAL, "--devices", "fake:2", "--fake-memory", "60k")
        self.assertEqual(plan.code, 0, plan.err)
        self.assertEqual(len(re.findall(" FULL$", plan.out, re.MULTILINE)), 2)
        self.assertIn("the run would stop with exit code 3", plan.err)


if __name__ == "__main__":
    unittest.main()
