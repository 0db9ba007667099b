"""A user's model on an installed tutti: examples/own-model, built with find_package(tutti), and whether it is right.

Environment, set by CTest besides that of program.py: TUTTI_BUILD (the build folder), TUTTI_CMAKE, TUTTI_CXX (the
compiler), TUTTI_LAUNCHER (of the compiler, may be empty).
"""

import json
import math
import os
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

from program import EQUAL, MPIRUN, ROOT, SystemTest, run, sets

CMAKE = os.environ.get("TUTTI_CMAKE", "cmake")
BUILD = Path(os.environ.get("TUTTI_BUILD", ROOT / "build" / "release")).resolve()
EXAMPLE = ROOT / "examples" / "own-model"

CASE = """model = "advection"
[mesh]
generate = "box"
cubes = [{n}, {n}, {n}]
jitter = {jitter}
[physics]
{physics}
[time]
{time}
[output]
{output}
"""


def case(physics, n=8, jitter=0.2, time="steps = 20", output=""):
    return CASE.format(n=n, jitter=jitter, physics=physics, time=time, output=output)


def checked(command, timeout=600):
    result = run(list(map(str, command)), timeout=timeout)
    if result.code != 0:
        raise AssertionError(f"{' '.join(map(str, command))}\n{result.out}\n{result.err}")
    return result


def configure(build, *options):
    """The example, copied out of the repository: nothing but the options can lead it to tutti."""
    source = work / "own-model"
    if not source.is_dir():
        shutil.copytree(EXAMPLE, source)
    compiler = [f"-DCMAKE_CXX_COMPILER={os.environ['TUTTI_CXX']}"] if os.environ.get("TUTTI_CXX") else []
    launcher = [f"-DCMAKE_CXX_COMPILER_LAUNCHER={os.environ.get('TUTTI_LAUNCHER', '')}"]
    return checked([CMAKE, "-S", source, "-B", build, *compiler, *launcher, *options])


def setUpModule():
    global work, prefix, advect
    work = Path(tempfile.mkdtemp(prefix="tutti_own_model_"))
    unittest.addModuleCleanup(shutil.rmtree, work, ignore_errors=True)
    checked([CMAKE, "--install", BUILD, "--prefix", work / "first"])
    prefix = work / "moved"  # an installed tree can be moved
    (work / "first").rename(prefix)
    configure(work / "build", f"-DCMAKE_PREFIX_PATH={prefix}")
    checked([CMAKE, "--build", work / "build", "--parallel", "2"])
    advect = work / "build" / "advect"


class OwnModel(SystemTest):
    def advect(self, *arguments, ranks=None):
        start = [] if ranks is None else [*MPIRUN, "-np", str(ranks)]
        return run([*start, str(advect), *map(str, arguments)])

    def run_case(self, text, *options, ranks=None):
        self.runs += 1
        file, folder = self.write(f"case{self.runs}.toml", text), self.folder / f"results{self.runs}"
        result = self.advect("run", file, "-o", folder, *EQUAL, *options, ranks=ranks)
        self.assertEqual(result.code, 0, result.err + result.out)
        return {**json.loads((folder / "summary.json").read_text(encoding="utf-8")), "folder": folder}

    def test_installed_tree(self):
        for name in ["bin/tutti", "include/tutti/device/for_each.hpp", "include/tutti/device/cuda/reduce_kernels.cuh",
                     "share/tutti/python/tutti/plot.py", "share/tutti/examples/own-model/advection.cu",
                     "share/doc/tutti/LICENSE", "share/doc/tutti/NOTICE"]:
            self.assertTrue((prefix / name).is_file(), name)
        self.assertRegex(checked([prefix / "bin" / "tutti", "--version"]).out, r"^tutti \d+\.\d+\.\d+, commit \w+(-modified)?\n$")
        packages = list(prefix.glob("lib*/cmake/tutti/*"))
        self.assertTrue(packages)
        for file in packages:
            text = file.read_text(encoding="utf-8")
            for place in [str(BUILD), str(ROOT), str(work)]:
                self.assertNotIn(place, text, file)

    def test_libraries_come_from_absolute_folders(self):
        script = ROOT / "scripts" / "check_hardening.py"
        self.assertIn("1 programs and libraries, 0 problems", checked(
            [sys.executable, script, prefix, "--require", os.environ.get("TUTTI_HARDENING", "")]).out)
        self.assertIn("1 programs and libraries, 0 problems", checked([sys.executable, script, work / "build"]).out)

    def test_build_tree_and_wrong_version(self):
        configure(work / "of-build-tree", f"-Dtutti_DIR={BUILD}")
        source = work / "wrong-version"
        source.mkdir()
        (source / "CMakeLists.txt").write_text(
            "cmake_minimum_required(VERSION 3.25)\nproject(a LANGUAGES CXX)\nfind_package(tutti 99 REQUIRED)\n")
        result = subprocess.run([CMAKE, "-S", source, "-B", source / "build", f"-DCMAKE_PREFIX_PATH={prefix}"],
                                capture_output=True, text=True)
        self.assertNotEqual(result.returncode, 0)
        self.assertIn('requested version "99"', result.stderr)

    @unittest.skipUnless(all(shutil.which(f"mpicxx.{mpi}") for mpi in ("mpich", "openmpi")), "there is one MPI only")
    def test_another_mpi(self):
        # What CMake finds by itself need not be tutti's; it takes tutti's then, and refuses another that is asked for.
        used = [line.split("=", 1)[1] for line in (BUILD / "CMakeCache.txt").read_text().split("\n")
                if line.startswith("MPI_CXX_COMPILER:")][0]
        other = "mpicxx.openmpi" if "mpich" in used else "mpicxx.mpich"
        with self.assertRaisesRegex(AssertionError, r"(?s)built with the MPI of .*set\s+MPI_CXX_COMPILER"):
            configure(work / "other-mpi", f"-DCMAKE_PREFIX_PATH={prefix}", f"-DMPI_CXX_COMPILER={shutil.which(other)}")

    def test_its_own_name(self):
        self.assertRegex(self.advect("--version").out, r"^advect 1\.0\ntutti \d+\.\d+\.\d+, commit \w+")
        for words in (["--help"], ["run", "--help"], ["plan", "--help"], ["reference", "--help"]):
            shown = self.advect(*words)
            self.assertEqual(shown.code, 0)
            self.assertIn("advect", shown.out)
            self.assertNotRegex(shown.out, r"\btutti (run|plan|reference)\b", words)
        summary = self.run_case(case("velocity = [1, 0, 0]"), "--set", "balance.weights=[1]")
        log = (summary["folder"] / "run.log").read_text()
        self.assertRegex(log, r"^advect, tutti \d+\.\d+\.\d+, .*\ncommit: ")
        again = self.advect("run", "--restart", summary["folder"])
        self.assertRegex(again.err, r"^advect: warning: .* is already at the end")
        for wrong in (["plan", self.folder / "none.toml"], ["plan"], ["run", "none.toml"], ["fly"]):
            result = self.advect(*wrong)
            self.assertNotEqual(result.code, 0)
            self.assertRegex(result.err, r"^advect: error: ")
            self.assertEqual(len(result.err.splitlines()), 1)

    def test_plan(self):
        file = self.write("plan.toml", case("velocity = [1, 0, 0]", n=12))
        for ranks, devices in ((None, "cpu"), (2, "fake:1,cpu")):
            planned = self.advect("plan", file, "--devices", devices, ranks=ranks)
            self.assertEqual(planned.code, 0, planned.err)
            self.assertIn("10,368 cells", planned.out)
            for pattern in (r"part 0 on .*: [\d,]+ cells, [\d.]+ \w+ of [\d.]+ \w+", r"time step 0\.\d+, 20 steps", r"measured: \S+ s per step"):
                self.assertRegex(planned.out, pattern)
            self.assertEqual(planned.out.count("\npart "), 4 if ranks else 1)
        wrong = self.write("wrong.toml", case("velocty = [1, 0, 0]"))
        self.assertRegex(self.advect("plan", wrong).err, r"^advect: error: .*wrong\.toml:7: unknown key 'physics\.velocty'; did you mean 'physics\.velocity'")

    def test_short(self):
        lines = sum(len(f.read_text(encoding="utf-8").splitlines()) for f in EXAMPLE.iterdir()
                    if f.suffix in {".cpp", ".hpp", ".cu"})
        self.assertLess(lines, 150)

    def test_constants_stay(self):
        # Linear velocities without divergence: the flux through a face is exact, so what enters a cell leaves it.
        summary = self.run_case(case('velocity = ["y+0.5", "z-0.3", "x"]\ninitial = 3\ninflow = 3\nexact = 3',
                                     time="steps = 100"))
        self.assertLess(summary["errors"]["linf"], 1e-12)
        self.assertLess(abs(summary["mass"]["drift"]), 1e-13)
        # A test of this test: with another inflow it changes.
        other = self.run_case(case('velocity = ["y+0.5", "z-0.3", "x"]\ninitial = 3\ninflow = 2\nexact = 3'))
        self.assertGreater(other["errors"]["linf"], 0.1)

    def test_mass_stays_in_a_closed_box(self):
        # Nothing crosses the walls: two rolls, strong jitter, a velocity whose discrete divergence is not zero.
        physics = """velocity = ["sin(pi*x)*cos(pi*y)*(1+z)", "-cos(pi*x)*sin(pi*y)", "sin(2*pi*z)*x"]
initial = "(x-0.3)^2+(y-0.4)^2+(z-0.5)^2 < 0.04 ? 1 : 0.1"
exact = "(x-0.3)^2+(y-0.4)^2+(z-0.5)^2 < 0.04 ? 1 : 0.1"
"""
        summary = self.run_case(case(physics, jitter=0.25, time="steps = 100"), "--devices", "fake:1,cpu", ranks=2)
        self.assertLess(abs(summary["mass"]["drift"]), 1e-13)
        self.assertGreater(summary["errors"]["l2"], 0.05)  # it did move

    def test_mass_enters_through_the_boundary_only(self):
        # u = 1 flows in through a face of area 1 with velocity 2; in a few steps nothing reaches the other side.
        # A step carries what enters across one face: four cells and more lie between the sides of each of 16 cubes.
        physics = 'velocity = [2, 0, 0]\ninflow = 1'
        summary = self.run_case(case(physics, n=16, time="steps = 12"))
        self.assertEqual(summary["mass"]["initial"], 0)
        self.assertGreater(summary["time"], 0)
        self.assertAlmostEqual(summary["mass"]["final"] / (2 * summary["time"]), 1, delta=1e-12)

    def test_first_order(self):
        physics = """velocity = ["1", "0.5", "-0.25"]
initial = "sin(2*x+y-z)"
inflow = "sin(2*(x-t) + (y-0.5*t) - (z+0.25*t))"
exact = "sin(2*(x-t) + (y-0.5*t) - (z+0.25*t))"
"""
        errors = [self.run_case(case(physics, n=n, time="end = 0.5"))["errors"] for n in [6, 12, 24]]
        self.assertIsNone(errors[0]["gradient_l2"])
        for coarse, fine in zip(errors, errors[1:]):
            order = math.log2(coarse["l2"] / fine["l2"])
            print(f"order of convergence: {order:.3f}")
            self.assertGreater(order, 0.85)
            self.assertLess(order, 1.3)
        self.assertLess(errors[-1]["l2"], 0.03)

    def test_same_bits(self):
        physics = """velocity = ["1+y*z", "sin(3*x)", "-0.5*x"]
initial = "exp(-4*(x^2+y^2+z^2))"
inflow = "cos(5*t)*y"
exact = "x*y+t"
"""
        text = case(physics, output='[[output.probe]]\nname = "a"\npoint = [0.51, 0.22, 0.34]')

        def outcome(*options, ranks=None):
            summary = self.run_case(text, *options, ranks=ranks)
            names = ["checksum", "cells", "time", "dt", "mass", "errors"]
            return {**{n: summary[n] for n in names}, "probe": (summary["folder"] / "probes.csv").read_text()}

        expected = outcome("--devices", "cpu", "--threads", "1")
        for ranks, devices, overlap, method in [(3, "cpu", "full", "metis"), (None, "fake:2,cpu", "full", "hilbert"),
                                                (3, "fake:2,cpu", "messages", "slabs"), (2, "fake:1", "none", "metis")]:
            with self.subTest(ranks=ranks, devices=devices):
                options = sets(devices__overlap=overlap, partition__method=method)
                self.assertEqual(outcome("--devices", devices, *options, ranks=ranks), expected)

    def test_messages(self):
        fine = case('velocity = [1, 0, 0]')
        for text, code, words in [
                (fine.replace("[1, 0, 0]", '["t", 0, 0]'), 4, "physics.velocity.*depends on t"),
                (fine.replace("velocity", "speed"), 4, "physics.speed"),
                (fine.replace("steps = 20", "steps = 20\ndt = 10"), 6, "above the stability limit"),
                (fine.replace('"advection"', '"diffusion"'), 4, "advection")]:
            with self.subTest(words=words):
                result = self.advect("run", self.write("bad.toml", text), "-o", self.folder / "bad", ranks=2)
                self.assertEqual(result.code, code, result.err)
                lines = [line for line in result.err.split("\n") if "advect: error:" in line]
                self.assertEqual(len(lines), 1, result.err)
                self.assertRegex(lines[0], words)
        self.assertEqual(self.advect("walk").code, 2)

    def test_reference_and_case(self):
        self.assertIn("| `inflow` |", self.advect("reference").out)
        folder = self.folder / "dye"
        small = sets(mesh__cubes=[12, 8, 8], time__end=1)
        self.assertEqual(self.advect("run", EXAMPLE / "case.toml", "-o", folder, *small).code, 0)
        self.assertTrue((folder / "results.pvd").is_file())


if __name__ == "__main__":
    unittest.main()
