"""tutti plan --nodes: a case on many copies of this host."""

import json
import re
import unittest

from program import EQUAL, SPHERE, SystemTest, box_case, sets, tutti

RATES = {"devices": [{"device": "cuda:0", "accelerator": True, "cells_per_second": 2e10, "launch_us": 8,
                      "to_device_gb_per_second": 50, "to_host_gb_per_second": 50, "copy_latency_us": 6},
                     {"device": "cpu", "accelerator": False, "cells_per_second": 5e8, "launch_us": 1}]}

FLOW = """model = "incompressible"
[grid]
cells = [8, 10, 16]
[fluid]
viscosity = 0.01
[pressure]
solver = "red_black"
[time]
steps = 1
"""
TWO_TRACERS = SPHERE + '[[tracer]]\nname = "r"\ninitial = "x"\n'


class Nodes(SystemTest):
    def setUp(self):
        super().setUp()
        self.case = self.write("box.toml", box_case(n=12))  # 10,368 cells

    def plan(self, *options):
        result = tutti("plan", self.case, *options, cwd=self.folder)
        self.assertEqual(result.code, 0, result.err)
        return result.out

    def test_measured_here(self):
        out = self.plan("--nodes", "1,2,8", "--devices", "fake:1,cpu", *EQUAL, "--json", "plan.json")
        self.assertEqual(len(re.findall(r"^ +\d+ .*%", out, re.M)), 3, out)
        plan = json.loads((self.folder / "plan.json").read_text())
        self.assertEqual([(n["nodes"], n["parts"], n["projected"]) for n in plan["nodes"]],
                         [(1, 2, False), (2, 4, False), (8, 16, True)])
        self.assertIn("projected: the mesh was not partitioned", out)
        one = plan["nodes"][0]
        self.assertEqual(one["efficiency"], 1)
        self.assertEqual(one["most_messages"], 0, "nothing leaves the only node")
        self.assertGreater(one["most_ghosts"], 0)
        self.assertGreaterEqual(plan["nodes"][1]["most_messages"], 1)
        for line in plan["nodes"]:
            seconds = line["seconds"]
            self.assertGreaterEqual(seconds["none"], seconds["messages"])
            self.assertGreaterEqual(seconds["messages"], seconds["full"])
            self.assertGreater(seconds["full"], 0)
            self.assertAlmostEqual(line["cell_steps_per_second"] * seconds["full"] / plan["cells"], 1)
        # What was measured can be taken elsewhere: the same parts and seconds.
        self.plan("--nodes", "1,2,8", "--rates", "plan.json", *EQUAL, "--json", "again.json")
        again = json.loads((self.folder / "again.json").read_text())
        for line, other in zip(plan["nodes"], again["nodes"], strict=True):
            self.assertEqual(line["most_ghosts"], other["most_ghosts"])
            self.assertAlmostEqual(line["seconds"]["full"] / other["seconds"]["full"], 1)
        self.assertEqual(sorted(p.name for p in self.folder.iterdir()), ["again.json", "box.toml", "plan.json"])

    def test_counts_are_those_of_a_run(self):
        (self.folder / "rates.json").write_text(json.dumps(RATES))
        self.plan("--nodes", "1", "--rates", "rates.json", *EQUAL, "--json", "plan.json")
        line = json.loads((self.folder / "plan.json").read_text())["nodes"][0]
        summary = self.run_case(box_case(n=12), "--devices", "fake:1,cpu")
        self.assertEqual(line["ghosts"], sum(part["ghosts"] for part in summary["parts"]))
        self.assertEqual(line["most_ghosts"], max(part["ghosts"] for part in summary["parts"]))

    def test_other_kinds_of_mesh(self):
        (self.folder / "rates.json").write_text(json.dumps(RATES))

        def nodes(text, *options):
            case = self.write("case.toml", text)
            result = tutti("plan", case, "--nodes", "1,2", "--rates", "rates.json", "--json", "plan.json", *EQUAL, *options,
                           cwd=self.folder)
            self.assertEqual(result.code, 0, result.err)
            return json.loads((self.folder / "plan.json").read_text())["nodes"]

        # Nodes on a sphere: those of a run. Two tracers travel together.
        summary = self.run_case(TWO_TRACERS, "--devices", "fake:1,cpu")
        one, two = nodes(TWO_TRACERS)
        self.assertEqual(one["ghosts"], sum(part["ghosts"] for part in summary["parts"]))
        rows = json.loads((self.folder / "plan.json").read_text())["cells"]
        self.assertEqual(rows, 642)
        self.assertEqual(two["most_message_bytes"] % 16, 0)
        self.assertGreater(two["most_message_bytes"], 0)
        # Slabs of a grid: a plane on each side of a cut.
        one, two = nodes(FLOW)
        self.assertEqual((one["ghosts"], two["ghosts"]), (2 * 80, 6 * 80))
        self.assertEqual((two["most_message_bytes"], two["most_messages"]), (8 * 80, 1))
        one, two = nodes(FLOW.replace("[time]", '[numerics]\nprecision = "float"\n[time]'))
        self.assertEqual(two["most_message_bytes"], 4 * 80)

    def test_a_faster_network_and_the_bound(self):
        (self.folder / "rates.json").write_text(json.dumps(RATES))
        rates = ["--rates", "rates.json", "--json", "plan.json", "--nodes", "2,4"]
        seconds = []
        for speed in ["0.1", "100"]:
            self.plan(*rates, "--network-gb-per-second", speed)
            seconds.append(json.loads((self.folder / "plan.json").read_text())["nodes"][1]["seconds"]["full"])
        self.assertGreater(seconds[0], seconds[1])
        self.plan(*rates, "--real-nodes", "2")
        plan = json.loads((self.folder / "plan.json").read_text())
        self.assertEqual([n["projected"] for n in plan["nodes"]], [False, False, True])
        self.assertEqual(plan["law"], {"largest_cut_nodes": 2, "error": None})

    def test_wrong_input(self):
        plan = ["plan", self.case, "--devices", "cpu"]
        self.assert_error(tutti(*plan, "--nodes", "0"), 2, "--nodes", "0")
        self.assert_error(tutti(*plan, "--nodes", "1,10369"), 4, "10368 cells", "fewer nodes")
        self.assert_error(tutti(*plan, "--json", self.folder / "x.json"), 2, "--nodes")
        self.assert_error(tutti(*plan, "--nodes", "2", ranks=2), 2, "start one")
        self.assert_error(tutti(*plan, "--nodes", "2", "--rates", self.folder / "none.json"), 5, "none.json")
        for text in ["", "{}", '{"devices": []}', '{"devices": [{"device": "cpu"}]}',
                     json.dumps(RATES).replace("2e10", "0").replace("20000000000.0", "0")]:
            rates = self.write("rates.json", text)
            self.assert_error(tutti(*plan, "--nodes", "2", "--rates", rates), 4, "rates.json")
        rates = self.write("rates.json", json.dumps(RATES))
        self.assert_error(tutti(*plan, "--nodes", "2", "--rates", rates, *sets(balance__weights="stream")), 2, "stream")
        self.assert_error(tutti(*plan, "--nodes", "2", "--json", self.folder / "no" / "x.json"), 5, "x.json")


if __name__ == "__main__":
    unittest.main()
