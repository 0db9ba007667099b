"""tutti spectrum: all eigenvalues of a case of transport, and what is refused."""

import csv
import subprocess
import unittest

from program import ROOT, SystemTest, faults_of, run, sets, tutti

VORTEX = ROOT / "examples" / "vortex-roll-up" / "case.toml"
FEW = sets(nodes__count=252, stencil__size=31, stencil__degree=4, hyperviscosity__k=2)
PNG = b"\x89PNG\r\n\x1a\n"
HAS_MATPLOTLIB = subprocess.run(["/usr/bin/python3", "-c", "import matplotlib"], capture_output=True).returncode == 0


class Spectrum(SystemTest):
    def spectrum(self, *words, ranks=None):
        return tutti("spectrum", VORTEX, *FEW, *words, ranks=ranks, cwd=self.folder)

    def rows(self, name="eigenvalues.csv"):
        with open(self.folder / name, newline="") as lines:
            rows = list(csv.reader(lines))
        self.assertEqual(rows[0], ["operator", "re", "im", "re_dt", "im_dt"])
        return [(name, *map(float, numbers)) for name, *numbers in rows[1:]]

    def error(self, result, code, *words):
        self.assertEqual(result.code, code, result.out + result.err)
        lines = result.error_lines()
        self.assertEqual(len(lines), 1, result.err)
        for word in words:
            self.assertIn(word, lines[0])
        self.assertEqual(faults_of(lines[0].split("tutti: error: ", 1)[1], code), [], lines[0])

    def test_two_operators(self):
        done = self.spectrum()
        self.assertEqual(done.code, 0, done.err)
        rows = self.rows()
        self.assertEqual([sum(r[0] == name for r in rows) for name in ("advection", "damped")], [252, 252])
        dt = max(abs(r[4] / r[2]) for r in rows if abs(r[2]) > 0.1)
        for _, re, im, re_dt, im_dt in rows:
            self.assertAlmostEqual(re * dt, re_dt, places=9)
            self.assertAlmostEqual(im * dt, im_dt, places=9)
        # Conjugate pairs, and hyperviscosity that damps: what is furthest right comes nearer to the axis.
        largest = {name: max(r[1] for r in rows if r[0] == name) for name in ("advection", "damped")}
        self.assertGreater(largest["advection"], 1e-4)
        self.assertLess(largest["damped"], largest["advection"] / 2)
        self.assertLess(abs(sum(r[2] for r in rows)), 1e-6)
        for words in ("252 nodes, stencils of 31", "without hyperviscosity", "with hyperviscosity", f"{largest['damped']:.6g}",
                      "504 eigenvalues"):
            self.assertIn(words, done.out)

    def test_ranks_find_the_same(self):
        self.assertEqual(self.spectrum("-o", "one.csv").code, 0)
        two = self.spectrum("-o", "two.csv", ranks=2)
        self.assertEqual(two.code, 0, two.err)
        self.assertEqual((self.folder / "one.csv").read_text(), (self.folder / "two.csv").read_text())

    def test_without_hyperviscosity(self):
        done = tutti("spectrum", VORTEX, *sets(nodes__count=252, stencil__size=31, stencil__degree=4, hyperviscosity__kind="none"),
                     cwd=self.folder)
        self.assertEqual(done.code, 0, done.err)
        self.assertEqual({r[0] for r in self.rows()}, {"advection"})

    def test_what_a_run_refuses_is_shown(self):
        refused = sets(nodes__generate="random", nodes__count=492, hyperviscosity__beta=0.01)
        self.assertEqual(tutti("run", VORTEX, *refused, "-o", "results", cwd=self.folder).code, 6)
        done = tutti("spectrum", VORTEX, *refused, cwd=self.folder)
        self.assertEqual(done.code, 0, done.err)
        self.assertRegex(done.out, "a run is rejected: (noise|a mode) grows")
        self.assertGreater(max(r[1] for r in self.rows() if r[0] == "damped"), 1e-3)

    @unittest.skipUnless(HAS_MATPLOTLIB, "needs matplotlib")
    def test_picture(self):
        done = self.spectrum("--plot", "spectrum.png")
        self.assertEqual(done.code, 0, done.err)
        self.assertEqual((self.folder / "spectrum.png").read_bytes()[:8], PNG)
        # By hand, of a damaged table.
        (self.folder / "eigenvalues.csv").write_text("operator,re,im,re_dt,im_dt\ndamped,1,x,2,3\n")
        by_hand = run(["env", f"PYTHONPATH={ROOT / 'python'}", "/usr/bin/python3", "-m", "tutti", "spectrum", "eigenvalues.csv"],
                      cwd=self.folder)
        self.assertEqual(by_hand.code, 4)
        self.assertIn("eigenvalues.csv:2:", by_hand.err)

    def test_wrong_words(self):
        for ranks in (None, 2):
            self.error(tutti("spectrum", VORTEX, ranks=ranks, cwd=self.folder), 3, "10,242 nodes", "up to 5,000", "GiB",
                       "use fewer nodes")
        self.error(tutti("spectrum", ROOT / "examples" / "box" / "case.toml", cwd=self.folder), 2, "transport only")
        self.error(self.spectrum("-o", "no/such/folder.csv"), 5, "no/such/folder.csv")
        self.error(tutti("spectrum", "none.toml", cwd=self.folder), 5, "none.toml")
        self.assertEqual(list(self.folder.iterdir()), [])


if __name__ == "__main__":
    unittest.main()
