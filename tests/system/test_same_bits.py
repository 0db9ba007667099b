"""The answer is the same, bit for bit, however the mesh is split, ordered, stored and overlapped."""

import re
import unittest

from program import DATA, SystemTest, box_case, sets, tutti

# Everything that can reach a result: a full tensor, a source, fixed values, a flux, time.
PHYSICS = """K = [["1", "0.3", "0.1*x"], ["0.3", "2", "0"], ["0.1*x", "0", "1+y"]]
initial = "exp(-4*((x-0.3)^2+y^2+z^2))"
source = "sin(x+t)*exp(-y*t)"
exact = "exp(-4*((x-0.3)^2+y^2+z^2))*exp(-t)"
"""
BOUNDARY = """[[boundary]]
tag = "x-min"
type = "dirichlet"
value = "1+y*t"
[[boundary]]
tag = "z-max"
value = "x > 0.4 ? tanh(x-2*t) : x*t^1.5"
[[boundary]]
tag = "y-min"
value = "cos(9*t)"
"""
PROBE = '[[output.probe]]\nname = "a"\npoint = [0.51, 0.22, 0.34]\n[[output.probe]]\nname = "b"\npoint = [0, 0, 0]\n'
CASE = box_case(physics=PHYSICS, boundary=BOUNDARY, time="steps = 8", output=PROBE)

RANKS = [1, 2, 3, 4, 7]
PARTS = {"cpu": 1, "fake:1": 1, "fake:1,cpu": 2, "fake:2,cpu": 3, "fake:3": 3}  # of each rank
OVERLAPS = ["full", "messages", "none"]
METHODS = ["metis", "hilbert", "slabs", "scotch"]
ORDERS = ["hilbert", "native", "random", "rcm", "metis_blocks"]
FORMATS = [dict(numerics__format="sliced"), dict(numerics__format="ellpack", numerics__layout="rows"),
           dict(numerics__format="ellpack", numerics__layout="blocks"),
           dict(numerics__format="sliced", numerics__sigma=1)]


def partitioners():
    """Those of this build: Scotch is optional."""
    help_text = tutti("partition", "--help").out
    return [m for m in METHODS if re.search(rf"\b{m}\b", help_text)]


def outcome(summary):
    """All that must not depend on the split."""
    names = ["checksum", "cells", "steps", "time", "dt", "rho", "mass", "errors"]
    return {**{name: summary[name] for name in names}, "probes": (summary["folder"] / "probes.csv").read_text()}


class SameBits(SystemTest):
    def setUp(self):
        super().setUp()
        self.methods = partitioners()

    def compare(self, text, expected, ranks, devices, k):
        """One run with the k-th choice of everything else: of twelve in a row, each way of overlap meets each of four
        methods and each of four formats."""
        turn = k // 4
        options = {"devices__overlap": OVERLAPS[turn % 3], "partition__method": self.methods[(k + turn) % len(self.methods)],
                   "partition__order": ORDERS[(k + 2 * turn) % 5], "partition__graph": ["stencil", "faces"][(k + turn // 2) % 2],
                   "devices__fake_seed": k, **FORMATS[(k + 2 * turn) % 4]}
        arguments = ["--devices", devices, "--threads", [1, 2, 3][k % 3], *sets(**options)]
        with self.subTest(ranks=ranks, devices=devices, **options):
            summary = self.run_case(text, *arguments, ranks=ranks)
            self.assertEqual(len(summary["parts"]), (ranks or 1) * PARTS[devices])
            self.assertEqual(outcome(summary), expected)

    def test_euler_on_all_ranks_and_devices(self):
        # All pairs of devices and overlap, and each number of ranks twice or more. (All ranks by all policies: mpi_step.)
        expected = outcome(self.run_case(CASE, "--devices", "cpu", "--threads", "1"))
        lists = [d for d in PARTS if d != "fake:1"]
        for k in range(12):
            self.compare(CASE, expected, RANKS[k % 5], lists[k % 4], k)

    def test_rkc2(self):
        text = CASE.replace("steps = 8", 'method = "rkc2"\nsteps = 2\nstages = 6')
        expected = outcome(self.run_case(text, "--devices", "cpu", "--threads", "1"))
        for k, (ranks, devices) in enumerate([(None, "fake:3"), (2, "cpu"), (3, "fake:1,cpu"), (4, "fake:2,cpu")]):
            self.compare(text, expected, ranks, devices, 5 * k + 1)

    def test_forcing_of_each_kind_runs_ahead(self):
        # Only the source, only the boundary, or a function of t alone changes in time; nothing needs the host in a step.
        zero = box_case(n=5, physics='K = 1\ninitial = "x"', time="steps = 40")
        for k, (source, value) in enumerate([("sin(x+t)*exp(-y*t)", "y"), ("x*y", "1+y*t"), ("exp(-t)", "sin(t)"), ("0", "x*t")]):
            text = zero.replace("[physics]", f'[[boundary]]\ntag = "x-max"\ntype = "dirichlet"\nvalue = "{value}"\n[physics]\nsource = "{source}"')
            for m, method in enumerate(['method = "euler"', 'method = "rkc2"\nstages = 4']):
                case = text.replace("steps = 40", method + "\nsteps = 40")
                expected = self.run_case(case, "--devices", "cpu")["checksum"]
                # Alone, a device runs ahead; each method and each kind meets several, too.
                for devices in ["fake:1", ["fake:3", "fake:2,cpu"][(k + m) % 2]]:
                    with self.subTest(source=source, value=value, method=method, devices=devices):
                        self.assertEqual(self.run_case(case, "--devices", devices)["checksum"], expected)

    def test_any_weights(self):
        text = box_case(time="steps = 5")
        expected = self.run_case(text, "--devices", "cpu")["checksum"]
        for ranks, devices, weights, least in [
                (1, "fake:2,cpu", [1, 0, 1], 1), (1, "fake:1,cpu", [0.03, 0.97], 1), (2, "fake:1,cpu", [0, 1, 0, 3], 2),
                (3, "cpu", [0, 0, 5], 2), (1, "fake:3", [0, 1, 0], 2)]:
            with self.subTest(ranks=ranks, devices=devices, weights=weights):
                summary = self.run_case(text, "--devices", devices, *sets(balance__weights=weights), ranks=ranks)
                self.assertEqual(summary["checksum"], expected)
                total = sum(weights)
                for part, weight in zip(summary["parts"], weights, strict=True):
                    self.assertAlmostEqual(part["weight"], weight / total)
                    self.assertAlmostEqual(part["cells"] / summary["cells"], weight / total, delta=0.01)
                    self.assertEqual(part["cells"] == 0, weight == 0)

    def test_more_parts_than_cells(self):
        text = box_case(n=1, jitter=0, physics='K = 1\ninitial = "x+2*y"', time="steps = 4")
        expected = self.run_case(text, "--devices", "cpu")
        self.assertEqual(expected["cells"], 6)
        for ranks, devices, method in [(7, "fake:1,cpu", "hilbert"), (3, "fake:3", "metis"), (None, "fake:6,cpu", "slabs")]:
            with self.subTest(ranks=ranks, devices=devices, method=method):
                summary = self.run_case(text, "--devices", devices, *sets(partition__method=method), ranks=ranks)
                self.assertEqual(summary["checksum"], expected["checksum"])
                self.assertEqual(sum(part["cells"] for part in summary["parts"]), 6)

    def test_mesh_files(self):
        # One mesh in four formats: two regions, two tensors. Gmsh writes 16 digits as text, and all bits in binary.
        physics = 'K = 1\ninitial = "x*y+z"\n[[physics.region]]\nname = "3"\nK = 0.1'
        for kind in ["ascii", "binary"]:
            checksums = []
            for version, devices, ranks in [("v22", "cpu", None), ("v41", "fake:1,cpu", 3 if kind == "binary" else None)]:
                mesh = DATA / "mesh" / f"two_boxes_{version}_{kind}.msh"
                text = f'model = "diffusion"\n[mesh]\nfile = "{mesh}"\n[physics]\n{physics}\n[time]\nsteps = 10\n'
                checksums.append(self.run_case(text, "--devices", devices, ranks=ranks)["checksum"])
            self.assertEqual(*checksums, kind)

    def test_transports(self):
        expected = outcome(self.run_case(CASE, "--devices", "cpu"))
        # All pairs of two. (All ranks by all transports: mpi_exchange.)
        for ranks, devices, transport in [(None, "fake:2,cpu", "device"), (None, "fake:2", "staged"), (2, "fake:2,cpu", "staged"),
                                          (2, "fake:2", "device"), (3, "fake:2,cpu", "device"), (4, "fake:2", "staged"),
                                          (None, "fake:3,cpu", "direct"), (2, "fake:2", "direct")]:
            with self.subTest(ranks=ranks, devices=devices, transport=transport):
                options = sets(devices__transport=transport, devices__fake_open=transport == "device")
                summary = self.run_case(CASE, "--devices", devices, *options, ranks=ranks)
                self.assertEqual(outcome(summary), expected)

    def test_fake_seeds_change_nothing(self):
        text = box_case(n=4, time="steps = 5")
        found = {self.run_case(text, "--devices", "fake:2,cpu", *sets(devices__fake_seed=s))["checksum"] for s in range(5)}
        self.assertEqual(len(found), 1)

    def test_five_runs_of_the_same(self):
        # Nothing is varied but what the machine does by itself: which thread takes which chunk, which message comes first.
        text = CASE.replace("[8, 8, 8]", "[5, 5, 5]")
        options = ["--devices", "fake:2,cpu", "--threads", "2"]
        first = outcome(self.run_case(text, *options, ranks=2))
        self.assertEqual(first["cells"], 6 * 5 ** 3)
        for k in range(1, 5):
            with self.subTest(run=k):
                self.assertEqual(outcome(self.run_case(text, *options, ranks=2)), first)

    def test_the_checksum_sees_the_last_bit(self):
        # A test of these tests.
        base = box_case(n=2, physics='K = 1\ninitial = "x"', time="steps = 3")
        a = self.run_case(base)["checksum"]
        self.assertEqual(a, self.run_case(base)["checksum"])
        self.assertNotEqual(a, self.run_case(base.replace('"x"', '"x*1.0000000000000003"'))["checksum"])
        self.assertNotEqual(a, self.run_case(base, *sets(time__steps=4))["checksum"])
        self.assertNotEqual(a, self.run_case(base, *sets(numerics__precision="compact", mesh__jitter=0.3))["checksum"])


if __name__ == "__main__":
    unittest.main()
