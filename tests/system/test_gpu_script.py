"""scripts/gpu-test.sh and its report: every row is there, and what fails is said. No GPU is needed: first by a stand-in for tutti
on a machine that seems to have four, then by the program itself on fake ones."""

import itertools
import json
import os
import unittest

from program import PROGRAM, ROOT, SystemTest, run

STAND_IN = ROOT / "tests" / "system" / "stand_in_tutti.py"
KERNELS = """a GPU
7986000 rows, 13.89 entries each; triad 4294 GB/s; P = 33/216 x triad (Langguth 2015, eq. 3)
sliced compact int10, tuned                    0.2000 ms    94.0 B per row   0.910 of the triad   2.088 of P
cuSPARSE CSR, algorithm 1                      0.5500 ms   198.7 B per row   0.672 of the triad   0.730 of P
cuSPARSE sliced ELL                            0.4000 ms   196.0 B per row   0.878 of the triad   0.967 of P
"""
FLOW_KERNELS = """a GPU
triad 4294 GB/s; a sweep 3 values a cell, momentum 10, divergence 4, correction 7, temperature 6
float   256^3  sweep, a thread per cell                    0.0500 ms   335.54 G cells/s  0.938 of the triad   3355.4 GFLOPS
float   256^3  marching, 4 cells x 512 x 2, 1 ahead, 64 planes   0.0500 ms   335.54 G cells/s  0.938 of the triad   3355.4 GFLOPS  64 registers; right
"""
STENCIL_KERNELS = """a GPU, triad 4294 GB/s; 2000000 nodes; a stage of RK4, n (8 D + 4) + 40 T bytes a node
   n operators tracers
  31         1       1  1 thread per row, 4 of 128              0.2000 ms    0.960 of the triad
  31         1       1  cuSPARSE CSR, algorithm 2               0.3000 ms    0.640 of the triad
"""
WEIGHTS = """16 threads, stencils of 1000000 Fibonacci nodes
Gaussian, n = 31         500000 stencils/s, 2.000 s for 1000000; with copies 2.500 s
"""


class GpuScript(SystemTest):
    def setUp(self):
        super().setUp()
        self.bundle, self.out = self.folder / "bundle", self.folder / "out"
        (self.bundle / "bin").mkdir(parents=True)
        (self.bundle / "meshes").mkdir()
        (self.bundle / "meshes" / "heart.vtu").touch()
        (self.bundle / "examples").symlink_to(ROOT / "examples")
        for name in ("test_gpu", "test_device"):
            self.program(f"bundle/bin/{name}", "exit 0")
        self.program("bundle/bin/bench_diffusion_gpu", f"cat << END\n{KERNELS}END")
        self.program("bundle/bin/bench_flow_kernels", f"cat << END\n{FLOW_KERNELS}END")
        self.program("bundle/bin/bench_flow_pressure", "exit 0")
        self.program("bundle/bin/bench_stencil_kernels", f"cat << END\n{STENCIL_KERNELS}END")
        self.program("bundle/bin/bench_stencil_weights", f"cat << END\n{WEIGHTS}END")
        self.program("machine/nvidia-smi", "for gpu in 0 1 2 3; do echo a GPU; done")
        self.program("machine/compute-sanitizer", 'shift 4; exec "$@"')
        self.program("machine/mpirun", 'shift; STAND_IN_RANKS=$1; export STAND_IN_RANKS; shift; exec "$@"')

    def program(self, name, text):
        path = self.write_file(name, f"#!/bin/sh\n{text}\n")
        path.chmod(0o755)

    def write_file(self, name, text):
        (self.folder / name).parent.mkdir(exist_ok=True)
        return self.write(name, text)

    def script(self, *arguments, stand_in=True, **environment):
        """The script's end, and its report; None where it wrote none."""
        tutti = self.bundle / "bin" / "tutti"
        tutti.unlink(missing_ok=True)
        tutti.symlink_to(STAND_IN if stand_in else PROGRAM)
        if stand_in:
            environment |= {"PATH": f"{self.folder / 'machine'}:{os.environ['PATH']}", "MPIRUN": "mpirun"}
        words = [f"{name}={value}" for name, value in environment.items()]
        result = run(["env", f"BUNDLE={self.bundle}", *words, str(ROOT / "scripts" / "gpu-test.sh"), str(self.out), *arguments], timeout=250)
        report = self.out / "report.json"
        return result, json.loads(report.read_text()) if report.exists() else None

    def passed(self, report, section):
        return {check["name"] for check in report["checks"] if check["section"] == section and check["result"] == "passed"}

    def test_a_machine_of_four_gpus(self):
        result, report = self.script("--only", "unit,sanitizer,matrix,bench,monodomain,large,scaling,incompressible,transport,orders")
        self.assertEqual(result.code, 0, result.out + result.err)
        self.assertEqual((report["failed"], report["left_out"]), (0, 0))
        self.assertEqual(list(report["sections"]), ["unit", "sanitizer", "matrix", "bench", "monodomain", "large", "scaling", "incompressible", "transport", "orders"])
        self.assertTrue(all(section["seconds"] is not None for section in report["sections"].values()))
        self.assertEqual(self.passed(report, "unit"), {"test_gpu", "test_gpu found a GPU", "test_device"})
        self.assertEqual(self.passed(report, "sanitizer"), {f"{tool} {case}" for tool in ("memcheck", "racecheck", "synccheck")
                                                            for case in ("shared", "ahead", "int10", "two", "flow", "transport", "compressible portable", "compressible tuned", "compressible, fused",
                                                                         "monodomain", "passes of a flow")} - {"racecheck two"})
        orders = ["native", "hilbert", "random", "metis_blocks", "rcm"]
        self.assertEqual(self.passed(report, "orders"), set(orders))
        self.assertEqual([row["order"] for row in report["model"]["orders"]], orders)
        self.every_way_is_in_the_matrix(report)
        self.figures_are_right(report)
        self.the_flow_is_right(report)
        self.transport_is_right(report)
        self.assertLessEqual({"ten Tusscher-Panfilov, 1 GPU", "the same, Strang, 4 GPU + cpu", "FitzHugh-Nagumo, 4 GPU", "bench reactions"},
                             self.passed(report, "monodomain"))
        text = (self.out / "report.md").read_text()
        for words in ("2.088", "4,000.5", "| ten-tusscher-panfilov | 4,000,000 | 2.0000 | 2,000.0 | 485 | 0.250 |", "Model: heart", "Model: orders", "synccheck int10", "| nccl |", "One GPU and the CPU",
                      "| 512, 1 GPU | 512x512x512 | jacobi | full | float | 1.0000 | 134.218 | 0.750 | 20 | 300.00 | 0.875 |", "marching, 4 cells x 512 x 2, 1 ahead, 64 planes",
                      "| 2 GPU | 4,500,000 | 31 | 1 | 1 | auto | full | 0.5556 | 1,000.0 | 0.930 | 0.900 |", "| 31 | 1 | 1 | 1 thread per row, 4 of 128 | 0.2000 | 0.960 |",
                      "| Gaussian, n = 31 | 1,000,000 | 2.000 | 2.500 |"):
            self.assertIn(words, text)

    def every_way_is_in_the_matrix(self, report):
        matrix = self.passed(report, "matrix")
        for count, cpu, policy in itertools.product((1, 2, 4), ("", " + cpu"), ("none", "messages", "full")):
            ways = [(1, "auto")] + ([(1, "staged"), (count, "staged"), (count, "nccl")] if count > 1 else [])
            for ranks, transport in ways:
                name = f"euler, {count} GPU{cpu}, {ranks} ranks, {transport}, overlap {policy}"
                self.assertEqual(name in matrix, count != 2 or policy == "full", name)
                if name not in matrix:
                    continue
                folder = "".join(c if c.isalnum() or c == "." else "-" for c in name)
                summary = json.loads((self.out / "matrix" / folder / "summary.json").read_text())
                self.assertEqual((summary["ranks"], summary["overlap"]), (ranks, policy))
                self.assertIn(",".join([f"cuda:{i}" for i in range(count)] + ["cpu"] * bool(cpu)), summary["words"])
                self.assertIn(f'devices.transport="{transport}"', summary["words"])
        for name in ("int10-compact, 1 GPU", "forced-rkc2, 4 GPU + cpu", "restart-euler, cuda:0 then cpu", "full, GPU of 30M: said so"):
            self.assertIn(name, matrix)

    def figures_are_right(self, report):
        self.assertEqual(report["triad_gb_per_second"], {"cuda:0": 4000.5, "cpu": 100.0})
        self.assertEqual([kernel["against_cusparse"] for kernel in report["kernels"]], [2.0, 0.4 / 0.55, 1.0])
        self.assertEqual(report["model"]["heart"][0]["fraction_of_P"], 1.25)
        scaling = [r for r in report["runs"] if r["section"] == "scaling"]
        found = {(r["gpus"], r["ranks"], r["transport"], r["partition"], r["exchange"]) for r in scaling}
        ways = {(1, 1, "auto", "slabs")} | {(n, *way) for n in (2, 4) for way in ((1, "auto", "slabs"), (1, "auto", "metis"), (n, "staged", "slabs"),
                                                                               (n, "nccl", "slabs"))}
        self.assertEqual(found, {(*way, exchange) for way in ways for exchange in (True, False)})
        for r in scaling:
            self.assertAlmostEqual(r["efficiency"], 0.8 if r["gpus"] > 1 and r["exchange"] else 1)
            self.assertEqual(r["of_free"], None if not r["exchange"] else 0.8 if r["gpus"] > 1 else 1)
        gains = {r["limit_blocks"]: (r["cpu_gain"], r["of_sum"]) for r in report["runs"]
                 if r["section"] == "large" and r["cpu"] and r["gpus"]}
        self.assertEqual(gains, {0: (1.1, None), 32: (42 / 32, 1)})

    def the_flow_is_right(self, report):
        flow = self.passed(report, "incompressible")
        for policy, way in itertools.product(("none", "messages", "full"), ("1 GPU", "1 GPU + cpu", "4 GPU", "4 GPU + cpu", "4 GPU, 4 ranks")):
            name = f"cavity, {way}, overlap {policy}"
            self.assertIn(name, flow)
            folder = "".join(c if c.isalnum() or c == "." else "-" for c in name)
            summary = json.loads((self.out / "incompressible" / folder / "summary.json").read_text())
            self.assertEqual((summary["overlap"], summary["ranks"]), (policy, 4 if "ranks" in way else 1))
            self.assertIn(str(self.out / "incompressible" / "cavity.toml"), summary["words"])
        self.assertLessEqual({"cavity, 4 GPU, 4 ranks, nccl", "heated, 4 GPU + cpu", "turbulent, 4 GPU + cpu: profiles", "direct, periodic, 4 GPU", "direct, blocks, 4 GPU + cpu", "bench 256, 1 GPU", "bench 512, 4 GPU", "bench weak, 2 GPU", "kernels"}, flow)
        self.assertEqual({r["run"] for r in report["flow"]}, {f"{cells}, {count} GPU" for cells in (256, 384, 512) for count in (1, 2, 4)} |
                         {f"{cells}, {count} GPU, direct" for cells in (256, 384, 512) for count in (2, 4)} | {"weak, 2 GPU", "weak, 4 GPU"})
        rates = {"type": "float", "side": 256, "milliseconds": 0.05, "g_cells_per_second": 335.54, "of_triad": 0.938, "gflops": 3355.4}
        self.assertEqual(report["flow_kernels"], [{"name": "sweep, a thread per cell", "notes": "", **rates},
                                                  {"name": "marching, 4 cells x 512 x 2, 1 ahead, 64 planes",
                                                   "notes": "64 registers; right", **rates}])

    def transport_is_right(self, report):
        kinds = {"changing", "steady", "separate", "ssp-rk3"}
        ways = {f"{kind}, {way}" for kind in kinds for way in ("1 GPU", "1 GPU + cpu", "4 GPU", "4 GPU + cpu")}
        ways |= {f"changing, 4 GPU, one per rank, {transport}" for transport in ("staged", "nccl")}
        benches = {f"bench {name}" for name in ("operators", "tracers", "few nodes", "1 GPU", "2 GPU", "4 GPU")}
        # GPUs without cells, as measured weights may leave them.
        ways |= {f"{name}, one of 4 GPU" for name in kinds}
        self.assertEqual(self.passed(report, "transport"), ways | benches | {"kernels", "weights"})
        summary = json.loads((self.out / "transport" / "ssp-rk3--4-GPU---cpu" / "summary.json").read_text())
        self.assertIn(str(self.out / "transport" / "sphere.toml"), summary["words"])
        self.assertEqual({(r["run"], r["nodes"], r["size"]) for r in report["transport"] if "GPU" in r["run"]},
                         {(f"{count} GPU", 4500000, size) for count in (1, 2, 4) for size in (31, 101)})
        self.assertEqual([k["name"] for k in report["stencil_kernels"]], ["1 thread per row, 4 of 128", "cuSPARSE CSR, algorithm 2"])
        self.assertEqual(report["stencil_weights"], [{"name": "Gaussian, n = 31", "stencils": 1000000, "seconds": 2.0, "seconds_with_copies": 2.5}])

    def assert_fails(self, end, section, name, detail):
        result, report = end
        self.assertEqual(result.code, 1, result.out)
        failed = [(c["section"], c["name"], c["detail"]) for c in report["checks"] if c["result"] == "failed"]
        self.assertEqual(failed, [(section, name, detail)])
        self.assertIn(f"failed  {section}: {name}: {detail}", result.out)
        table = f"### Failed\n\n| section | check |  |\n| --- | --- | --- |\n| {section} | {name} | {detail} |"
        self.assertIn(table, (self.out / "report.md").read_text())

    def test_what_fails_is_said(self):
        self.program("bundle/bin/test_gpu", "exit 3")
        self.assert_fails(self.script("--only", "unit,large"), "unit", "test_gpu", "exit code 3")
        # The report is of the whole folder: mended is only what is run again.
        self.assert_fails(self.script("--only", "large"), "unit", "test_gpu", "exit code 3")
        self.program("bundle/bin/test_gpu", "echo no GPU on this machine")
        self.assert_fails(self.script("--only", "unit"), "unit", "test_gpu found a GPU", "exit code 1")
        self.program("bundle/bin/test_gpu", "exit 0")
        self.assertEqual(self.script("--only", "unit")[0].code, 0)
        self.assert_fails(self.script("--only", "large", STAND_IN_BREAK="GPU---cpu--stream"), "large", "GPU + cpu, stream",
                          "exit code 0, checksum bad, expected 600d")

    def test_a_section_that_was_cut_off_has_failed(self):
        self.script("--only", "unit,sanitizer")
        (self.out / "sanitizer" / "seconds").unlink()
        self.assert_fails(self.script("--only", "unit"), "sanitizer", "all of the section", "cut off before its end")

    def test_usage(self):
        for arguments, words in ((["--only", "units"], "there is no section units"), (["--quick"], "there is no option --quick"),
                                 (["--only"], "--only needs sections")):
            result, report = self.script(*arguments)
            self.assertEqual((result.code, report), (2, None))
            self.assertIn(words, result.err)

    def test_the_program_on_fake_gpus(self):
        result, report = self.script("--only", "matrix", stand_in=False, FAKE_GPUS=1)
        self.assertEqual(result.code, 0, result.out + result.err)
        self.assertEqual(len(self.passed(report, "matrix")), 24)
        names = ["monodomain", "large", "scaling", "incompressible", "transport", "compressible", "graph", "smoothing", "residency"]
        result, report = self.script("--only", ",".join(names), stand_in=False, FAKE_GPUS=2)
        self.assertEqual(result.code, 0, result.out + result.err)
        self.assertEqual({name: len(self.passed(report, name)) for name in names},
                         dict(monodomain=5, large=6, scaling=8, incompressible=15, transport=10, compressible=5, graph=10, smoothing=10, residency=0))
        self.assertGreater(report["flow"][0]["cell_steps_per_second"], 0)
        self.assertTrue(all(r["node_steps_per_second"] > 0 for r in report["transport"]))
        self.assertEqual(sum(r["section"] == "scaling" for r in report["runs"]), 8)
        self.assertTrue(all(r["cell_steps_per_second"] > 0 and (r["gpus"] == 0 or r["efficiency"] > 0) for r in report["runs"]))


if __name__ == "__main__":
    unittest.main()
