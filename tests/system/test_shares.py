"""A mesh that is repartitioned while it runs; runs that exchange nothing; GPUs made slow."""

import json
import unittest

from program import SystemTest, box_case, sets, tutti

INITIAL = 'K = 1\ninitial = "sin(3*x+2*y)*z"'
# A step of the large part takes milliseconds: what a busy machine adds to a short one looks like work.
CASE = box_case(n=24, physics=INITIAL, time='method = "euler"\nsteps = 500')


def once_it_repartitions(run, before=500):
    """On a machine that is busy with other things all devices may wait alike, or do so at first: then once more."""
    for _ in range(6):
        summary = run()
        if summary["rebalances"] and summary["rebalances"][0]["step"] < before:
            break
    return summary


class Rebalance(SystemTest):
    def test_a_device_that_waits_gets_more(self):
        wanted = self.run_case(CASE, "--devices", "cpu")["checksum"]
        for ranks, devices, weights in [(2, "cpu", [1, 12]), (1, "fake:2", [1, 12]), (3, "cpu", [1, 12, 1])]:
            with self.subTest(ranks=ranks, devices=devices):
                # The first look is at the first report, the next at least 50 steps later.
                options = ["--devices", devices, "--threads", 1, *sets(balance__weights=weights, report__every=60,
                           checkpoint__every=200, balance__rebalance="always")]

                def run(options=options, ranks=ranks):
                    summary = self.run_case(CASE, *options, ranks=ranks)
                    self.assertEqual(summary["checksum"], wanted)
                    return summary

                summary = once_it_repartitions(run)
                self.assertEqual((summary["first_step"], summary["steps"]), (0, 500))
                self.assertTrue(1 <= len(summary["rebalances"]) <= 3, summary["rebalances"])
                first = summary["rebalances"][0]
                self.assertGreater(first["idle"], 0.05)
                self.assertLess(first["predicted_seconds_a_step"], first["seconds_a_step"])
                # Fake devices are slow by delays, whatever they have to do.
                if devices == "cpu":
                    shares = [part["weight"] for part in summary["parts"]]
                    self.assertLess(max(shares), 12 / sum(weights), "the large part is smaller now")
                # One message a neighbour and step, before and after.
                if ranks == 2:
                    self.assertEqual(summary["exchange"]["messages"], 2 * 500)

    def test_in_a_run_that_goes_on_from_a_checkpoint(self):
        wanted = self.run_case(CASE, "--devices", "cpu")["checksum"]
        before = self.run_case(CASE, "--devices", "cpu", *sets(checkpoint__every=100, checkpoint__keep=9))["folder"]

        def go_on():
            # The folder holds later checkpoints of the same run: they are not what it goes on from.
            result = tutti("run", "--restart", before / "checkpoints" / "step-000000000100.h5", "--devices", "cpu",
                           "--threads", 1, *sets(balance__weights=[1, 12], report__every=60,
                                                 balance__rebalance="always"), ranks=2)
            self.assertEqual(result.code, 0, result.err)
            return json.loads((before / "summary.json").read_text())

        summary = once_it_repartitions(go_on, before=300)
        self.assertEqual((summary["checksum"], summary["steps"], summary["first_step"]), (wanted, 500, 100))
        self.assertGreaterEqual(len(summary["rebalances"]), 1)
        self.assertLess(summary["rebalances"][0]["step"], 300)
        self.assertEqual(summary["exchange"]["messages"], 2 * 400, "each step was made, and once")
        for rebalance in summary["rebalances"]:
            self.assertGreater(rebalance["cost_seconds"], 0)

    def test_it_can_be_told_not_to(self):
        summary = self.run_case(CASE, "--devices", "cpu", "--threads", 1, *sets(balance__weights=[1, 12],
                                report__every=60, balance__rebalance=False), ranks=2)
        self.assertEqual(summary["rebalances"], [])

    def test_it_is_not_worth_it_near_the_end(self):
        text = box_case(n=14, physics=INITIAL, time='method = "euler"\nsteps = 130')
        summary = self.run_case(text, "--devices", "cpu", "--threads", 1, *sets(balance__weights=[1, 12],
                                report__every=60), ranks=2)
        self.assertEqual(summary["rebalances"], [], "ten steps cannot pay for a set-up")


class NoExchange(SystemTest):
    def test_it_says_so_and_writes_no_fields(self):
        probe = '[[output.probe]]\nname = "a"\npoint = [0.5, 0.5, 0.5]\n'
        text = box_case(n=6, physics=INITIAL, time='method = "euler"\nsteps = 60', output=probe)
        right = self.run_case(text, "--devices", "fake:2,cpu", *sets(balance__weights="equal"))
        for ranks, devices in [(1, "fake:2,cpu"), (1, "fake:2"), (3, "cpu")]:
            with self.subTest(ranks=ranks, devices=devices):
                summary = self.run_case(text, "--no-exchange", "--devices", devices,
                                        *sets(balance__weights="equal", checkpoint__every=10), ranks=ranks)
                self.assertIn("exchanged nothing", summary["wrong"])
                self.assertEqual(summary["exchange"], {"bytes": 0, "messages": 0})
                self.assertNotEqual(summary["checksum"], right["checksum"])
                left = sorted(path.name for path in summary["folder"].iterdir())
                self.assertEqual(left, ["effective.toml", "history.csv", "metrics.jsonl", "run.log", "summary.json"])
        self.assertNotIn("wrong", right)


class FewBlocks(SystemTest):
    def test_the_same_bits(self):
        text = box_case(physics=INITIAL)
        wanted = self.run_case(text, "--devices", "cpu")["checksum"]
        for devices in ["fake:1", "fake:2,cpu"]:
            summary = self.run_case(text, "--devices", devices, "--limit-blocks", 2, *sets(balance__weights="equal"))
            self.assertEqual(summary["checksum"], wanted)


if __name__ == "__main__":
    unittest.main()
