"""Large read-only arrays that a device has no room for: [residency] keeps them elsewhere, or in fewer bits."""

import json
import re
import unittest

from program import EQUAL, SystemTest, box_case, sets, tutti

CASE = box_case(n=12, jitter=0.2)  # 10,368 cells: coefficients of 1.3 MiB in 41 pieces of 32 KiB, 0.6 MiB of other arrays
SMALL = "1200k"
NODES = """model = "transport"
[nodes]
generate = "icosahedral"
count = 2562
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
steps = 4
"""
STEADY = NODES.format(velocity='east = "cos(lat)"', more="")  # weights of 0.5 MiB in 11 pieces, others of 0.3 MiB
CHANGING = NODES.format(velocity='cartesian = ["-y + 0.2*sin(3*t)*z", "x", "x*y*cos(t)"]',
                        more='[[tracer]]\nname = "salt"\ninitial = "x"')
FLOW = """model = "compressible"
[mesh]
generate = "box"
element = "{element}"
cubes = [4, 4, 4]
periodic = true
jitter = {jitter}
[physics]
viscosity = {viscosity}
[physics.initial]
rho = "1 + 0.2*sin(2*pi*x)*sin(2*pi*y)*sin(2*pi*z)"
velocity = [0.5, 0.4, 0.3]
p = 1
[numerics]
order = 2
form = "{form}"
limiter = "{limiter}"
[time]
steps = 3
"""


def flow(element="hex", jitter=0.1, viscosity=0.0, form="auto", limiter="none"):
    return FLOW.format(element=element, jitter=jitter, viscosity=viscosity, form=form, limiter=limiter)


GAS = flow()  # 64 elements: 2.0 MiB of tables of elements, 0.5 MiB of tables of faces, 0.4 MiB of other arrays


# Bent hexahedra between walls, one of which is warm; what flows through the walls is asked for, too.
WALLS = flow(viscosity=1e-2).replace("periodic = true", 'periodic = "xy"') + '''
[forces]
surface = "z-min"
[[boundary]]
tag = "z-min"
type = "isothermal"
temperature = 1.1
[[boundary]]
tag = "z-max"
type = "adiabatic"
'''


def keys(policy, **more):
    return sets(residency__policy=policy, **{f"residency__{key}": value for key, value in more.items()})


class Residency(SystemTest):
    checksums = {}

    def whole(self, text):
        if text not in self.checksums:
            self.checksums[text] = self.run_case(text, "--devices", "cpu")
        return self.checksums[text]

    def refused(self, text, code, *patterns, memory=SMALL, options=()):
        case = self.write("refused.toml", text)
        result = tutti("run", case, "-o", self.folder / "refused", "--overwrite", *EQUAL, "--devices", "fake:1",
                       "--fake-memory", memory, *options)
        self.assert_error(result, code, *patterns)

    def test_what_copies_has_the_same_bits(self):
        checksum = self.whole(CASE)["checksum"]
        self.refused(CASE, 3, "not enough for 10,368 cells", r'; use more devices, residency\.policy = "auto" or a smaller mesh')
        for policy in ["streamed", "overlaid", "managed", "auto"]:
            with self.subTest(policy=policy):
                summary = self.run_case(CASE, "--devices", "fake:1", "--fake-memory", SMALL, *keys(policy))
                self.assertEqual(summary["checksum"], checksum)
                held = summary["parts"][0]["residency"]
                self.assertEqual(held["array"], "coefficients A")
                self.assertIn(held["policy"], [policy] if policy != "auto" else ["streamed", "overlaid", "managed"])
                self.assertEqual((held["format"], held["loss"]), ("double", 0))
                self.assertGreater(held["host_bytes"], 0)
                # Ten steps, and the noise of the set-up.
                self.assertGreater(held["brought_bytes"], 10 * held["host_bytes"])
                self.assertRegex(summary["out"], r"fake:0 of rank 0: coefficients A \w+: [\d.]+ % stay on the device")

    def test_any_parts(self):
        checksum = self.whole(CASE)["checksum"]
        for devices, ranks, memory, method in [("fake:2", None, "700k", "euler"), ("fake:1,cpu", None, "700k", "euler"),
                                               ("fake:1", 3, "500k", "euler"), ("fake:2,cpu", 2, "300k", "euler"),
                                               ("fake:1", None, SMALL, "rkc2")]:
            with self.subTest(devices=devices, ranks=ranks, method=method):
                options = sets(time__method=method)
                wanted = checksum if method == "euler" else self.run_case(CASE, "--devices", "cpu", *options)["checksum"]
                summary = self.run_case(CASE, "--devices", devices, "--fake-memory", memory, *keys("streamed"), *options,
                                        ranks=ranks)
                self.assertEqual(summary["checksum"], wanted)
                for part in summary["parts"]:
                    self.assertEqual("residency" in part, part["device"] != "cpu")

    def test_auto_leaves_alone_what_fits(self):
        summary = self.run_case(CASE, "--devices", "fake:1", *keys("auto"))
        self.assertEqual(summary["checksum"], self.whole(CASE)["checksum"])
        self.assertNotIn("residency", summary["parts"][0])

    def test_a_device_takes_what_it_has_no_room_for_or_the_cpu_does(self):
        # By measured weights, whichever is quicker: both are right, and the device is no longer bound by its room.
        checksum = self.whole(CASE)["checksum"]
        summary = self.run_case(CASE, "--devices", "fake:1,cpu", "--fake-memory", SMALL, *keys("auto"),
                                *sets(balance__weights="measured"))
        self.assertEqual(summary["checksum"], checksum)
        given = self.run_case(CASE, "--devices", "fake:1,cpu", "--fake-memory", SMALL, *keys("auto"),
                              *sets(balance__weights=[1, 0]))
        self.assertEqual(given["checksum"], checksum)
        self.assertEqual(given["parts"][0]["cells"], 10368)
        pushed = self.run_case(CASE, "--devices", "fake:1,cpu", "--fake-memory", SMALL, *sets(balance__weights=[1, 0]))
        self.assertLess(pushed["parts"][0]["cells"], 7000)

    def test_fewer_bits_lose_little(self):
        whole = self.whole(CASE)
        for more, name, least, most in [(dict(), "int32", 1e-11, 1e-8), (dict(rate=32), "zfp-32", 1e-11, 1e-6),
                                        (dict(format="float"), "float", 1e-9, 1e-7),
                                        (dict(format="int16"), "int16", 1e-6, 1e-3)]:
            with self.subTest(name=name):
                summary = self.run_case(CASE, "--devices", "fake:1", "--fake-memory", "1600k", *keys("compressed", **more))
                held = summary["parts"][0]["residency"]
                self.assertEqual((held["policy"], held["format"], held["host_bytes"]), ("compressed", name, 0))
                self.assertTrue(least < held["loss"] < most, held)
                self.assertAlmostEqual(summary["diagnostics"]["max|u|"], whole["diagnostics"]["max|u|"], delta=most)
        streamed = self.run_case(CASE, "--devices", "fake:1", "--fake-memory", "1000k", *keys("streamed", format="int32"))
        self.assertGreater(streamed["parts"][0]["residency"]["host_bytes"], 0)
        chosen = self.run_case(CASE, "--devices", "fake:1", "--fake-memory", "1600k", *keys("auto", tolerance=1e-8))
        self.assertLessEqual(chosen["parts"][0]["residency"]["loss"], 1e-8)

    def test_one_byte_too_few(self):
        for text, policies in [(CASE, ["streamed", "compressed", "auto"]), (STEADY, ["overlaid", "compressed"]),
                               (GAS, ["overlaid", "managed", "compressed"])]:
            for policy in policies:
                with self.subTest(policy=policy, text=text[:20]):
                    case = self.write("case.toml", text)
                    plan = tutti("-v", "plan", case, *EQUAL, "--devices", "fake:1", "--fake-memory", "300k", *keys(policy))
                    self.assertEqual(plan.code, 0, plan.err)
                    self.assertIn("the run would stop with exit code 3", plan.err)
                    least = int(re.search(r"memory: part 0 takes (\d+) bytes", plan.out)[1])
                    summary = self.run_case(text, "--devices", "fake:1", "--fake-memory", str(least), *keys(policy))
                    if policy != "compressed":
                        self.assertEqual(summary["checksum"], self.whole(text)["checksum"])
                    self.refused(text, 3, r"not enough for [\d,]+ (cells|nodes|elements): they need|no room for '",
                                 memory=str(least - 1), options=keys(policy))

    def test_the_plan_is_what_is_run(self):
        case = self.write("case.toml", CASE)
        for policy in ["auto", "streamed", "compressed"]:
            with self.subTest(policy=policy):
                options = [*EQUAL, "--devices", "fake:2", "--fake-memory", "700k", *keys(policy)]
                plan = tutti("-v", "plan", case, *options)
                run = tutti("-v", "run", case, "-o", self.folder / "r", "--overwrite", *options)
                self.assertEqual((plan.code, run.code), (0, 0), plan.err + run.err)
                planned = re.findall(r"memory: part (\d+) takes (\d+) bytes", plan.out)
                self.assertEqual(len(planned), 2)
                self.assertEqual(planned, re.findall(r"memory: part (\d+) has taken (\d+) bytes", run.out))
                if policy == "compressed":
                    self.assertIn("coefficients A compressed as int32", plan.out)
                else:
                    self.assertRegex(plan.out, r"coefficients A streamed: [\d.]+ % stay on the device, a pass copies ")
                    self.assertRegex(plan.out, r"copies [\d.]+ \w+ per step from the host, at [\d.]+ GB/s in ")

    def test_transport(self):
        for text in (STEADY, CHANGING):
            checksum = self.whole(text)["checksum"]
            memory = "800k" if text == STEADY else "1600k"
            for policy in ["streamed", "overlaid", "auto"]:
                for devices, ranks in [("fake:1", None), ("fake:1,cpu", 2)][:2 if policy == "streamed" else 1]:
                    with self.subTest(policy=policy, devices=devices, changing=text == CHANGING):
                        summary = self.run_case(text, "--devices", devices, "--fake-memory", memory, *keys(policy),
                                                ranks=ranks)
                        self.assertEqual(summary["checksum"], checksum)
                        if ranks is None:
                            held = summary["parts"][0]["residency"]
                            self.assertEqual(held["array"], "weights of stencils")
                            self.assertGreater(held["host_bytes"], 0)
            summary = self.run_case(text, "--devices", "fake:1", *keys("compressed"))
            held = summary["parts"][0]["residency"]
            self.assertTrue(1e-11 < held["loss"] < 1e-7, held)
            self.assertLess(held["device_bytes"], 0.6 * 2816 * 24 * 8 * (1 if text == STEADY else 3))

    def test_flow_has_the_same_bits(self):
        for text, memory in [(GAS, "700k"), (flow(viscosity=1e-3, limiter="positivity"), "1100k"), (WALLS, "1500k"),
                             (flow("mixed", form="stored"), "2500k"), (flow("prism", jitter=0.0, form="stored"), "1M")]:
            checksum = self.whole(text)["checksum"]
            for policy in ["streamed", "overlaid", "managed", "auto"] if text == GAS else ["streamed"]:
                with self.subTest(policy=policy, text=text[40:200]):
                    summary = self.run_case(text, "--devices", "fake:1", "--fake-memory", memory, *keys(policy))
                    self.assertEqual(summary["checksum"], checksum)
                    held = summary["parts"][0]["residency"]
                    arrays = [held, *held["others"]]
                    self.assertEqual([array["array"] for array in arrays], ["tables of elements", "tables of faces"])
                    for array in arrays:
                        self.assertEqual((array["format"], array["loss"]), ("double", 0))
                        self.assertGreater(array["host_bytes"], 0)
                        self.assertGreater(array["brought_bytes"], 9 * array["host_bytes"] // 2)  # three steps of three stages
                    for name in ["free_stream_error"] if text != WALLS else ["forces"]:
                        self.assertEqual(summary[name], self.whole(text)[name])
        for devices, ranks, memory in [("fake:2", None, "500k"), ("fake:1,cpu", 2, "400k")]:
            with self.subTest(devices=devices, ranks=ranks):
                summary = self.run_case(GAS, "--devices", devices, "--fake-memory", memory, *keys("streamed"), ranks=ranks)
                self.assertEqual(summary["checksum"], self.whole(GAS)["checksum"])
                for part in summary["parts"]:
                    self.assertEqual("residency" in part, part["device"] != "cpu")

    def test_flow_in_fewer_bits(self):
        forms = [(dict(), "int32", 1e-11, 1e-8), (dict(rate=32), "zfp-32", 1e-10, 1e-6), (dict(rate=48), "zfp-48", 1e-15, 1e-11),
                 (dict(format="float"), "float", 1e-9, 1e-7), (dict(format="int16"), "int16", 1e-6, 1e-3)]
        for text, some in ((GAS, forms), (flow(viscosity=1e-3, limiter="positivity"), forms[:2])):
            for more, name, least, most in some:
                with self.subTest(name=name, text=text[100:]):
                    summary = self.run_case(text, "--devices", "fake:1", *keys("compressed", **more))
                    held = summary["parts"][0]["residency"]
                    self.assertEqual((held["policy"], held["format"], held["host_bytes"]), ("compressed", name, 0))
                    self.assertTrue(least < held["loss"] < most, held)
                    self.assertTrue(summary["free_stream_error"] < 100 * most, summary["free_stream_error"])
                    whole = self.whole(text)["diagnostics"]
                    self.assertAlmostEqual(summary["diagnostics"]["Mach"], whole["Mach"], delta=100 * most)

    def test_flow_that_shares_its_tables_keeps_none_apart(self):
        text = flow("tet")
        summary = self.run_case(text, "--devices", "fake:1", *keys("streamed"))
        self.assertEqual(summary["checksum"], self.whole(text)["checksum"])
        self.assertNotIn("residency", summary["parts"][0])

    def test_keys_that_do_not_go_together(self):
        for options, pattern in [
            (keys("compressed", format="double"), "not compressed"),
            (keys("resident", format="int32"), "needs the policy compressed"),
            (keys("auto", format="float"), "set residency.tolerance instead"),
            (keys("compressed", format="int16", rate=8), "residency.rate belongs to the format zfp"),
            (keys("streamed") + sets(numerics__format="ellpack"), "sliced"),
            (keys("streamed") + sets(numerics__precision="compact"), "float"),
            (keys("streamed", tolerance=1e-6), "residency.tolerance"),
            (keys("elsewhere"), "residency.policy"),
        ]:
            with self.subTest(pattern=pattern):
                self.refused(CASE, 4, pattern, memory="64M", options=options)

    def test_a_restart_under_another_policy(self):
        first = self.run_case(CASE, "--devices", "fake:1", "--fake-memory", SMALL, *keys("streamed"),
                              *sets(checkpoint__every=5))
        result = tutti("run", "--restart", first["folder"], "-o", self.folder / "again", *EQUAL, "--devices", "fake:1",
                       *keys("resident"), *sets(time__steps=20))
        self.assertEqual(result.code, 0, result.err)
        whole = self.run_case(CASE, "--devices", "cpu", *sets(time__steps=20))
        again = json.loads((self.folder / "again" / "summary.json").read_text(encoding="utf-8"))
        self.assertEqual(again["checksum"], whole["checksum"])


if __name__ == "__main__":
    unittest.main()
