#!/usr/bin/env python3
"""The package as pip installs it, and its histories. Needs numpy and matplotlib; pip and venv for the installation.

Usage: test_package.py
"""

import importlib.util
import json
import os
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "python"))
sys.dont_write_bytecode = True

import numpy as np  # noqa: E402

from tutti import history, marks  # noqa: E402
from tutti.__main__ import main  # noqa: E402
from tutti.messages import told  # noqa: E402
from tutti.pictures import write_whole  # noqa: E402
from tutti.results import read_probes  # noqa: E402


class Package(unittest.TestCase):
    def setUp(self):
        self.folder = Path(tempfile.mkdtemp(prefix="tutti_package_"))
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)

    def run_python(self, *words, **options):
        done = subprocess.run([*map(str, words)], capture_output=True, text=True, **options)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return done.stdout


class Pictures(Package):
    def test_a_picture_is_whole_or_not_there(self):
        picture = self.folder / "a.png"
        for content in (b"first", b"second"):
            write_whole(picture, content)
            self.assertEqual(picture.read_bytes(), content)
        link = self.folder / "link.png"
        link.symlink_to(picture)
        write_whole(link, b"third")
        self.assertEqual((link.is_symlink(), picture.read_bytes()), (True, b"third"))
        # Files may have 4 bytes only: the old one stays, and nothing half.
        self.run_python(sys.executable, "-c", f"import resource, signal; signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
                        "resource.setrlimit(resource.RLIMIT_FSIZE, (4, 4))\n"
                        "from tutti.pictures import write_whole\n"
                        f"try: write_whole('{picture}', b'too long')\n"
                        f"except OSError as error: assert error.filename == '{picture}', error\n"
                        "else: raise SystemExit('no error')", cwd=ROOT / "python")
        self.assertEqual(picture.read_bytes(), b"third")
        self.assertEqual(sorted(p.name for p in self.folder.iterdir()), ["a.png", "link.png"])

    def test_a_full_disk_is_told_with_the_file(self):
        with self.assertRaises(OSError) as caught:
            write_whole("/dev/full", b"content")
        self.assertEqual(told(caught.exception), "/dev/full: No space left on device; free space or choose another folder")
        data = self.folder / "data.json"
        data.write_text(json.dumps({"series": [{"name": "u", "h": [1, 0.5], "error": [1, 0.25]}]}), encoding="utf-8")
        for output, code, words in (("/dev/full", 5, "/dev/full: No space left"), (self.folder / "none" / "a.png", 5, "a.png: No such file")):
            done = subprocess.run([sys.executable, "-m", "tutti.convergence", str(data), "-o", str(output)], capture_output=True, text=True,
                                  cwd=ROOT / "python")
            self.assertEqual(done.returncode, code, done.stderr)
            self.assertIn(words, done.stderr)
            self.assertEqual(done.stderr.count("\n"), 1)


class Install(Package):
    def test_pip_installs_it_without_a_network(self):
        for module in ("venv", "ensurepip", "setuptools"):
            if importlib.util.find_spec(module) is None:
                self.skipTest(f"this Python has no {module}")
        source = self.folder / "python"  # setuptools leaves build/ beside the sources
        shutil.copytree(ROOT / "python", source, ignore=shutil.ignore_patterns("__pycache__", "*.egg-info", "build"))
        environment = self.folder / "venv"
        # Debian's setuptools and numpy are the system's.
        self.run_python(sys.executable, "-m", "venv", "--system-site-packages", environment)
        python = environment / "bin" / "python3"
        self.run_python(python, "-m", "pip", "install", "--quiet", "--no-index", "--no-build-isolation", "--no-deps", source,
                        env=dict(os.environ, PIP_DISABLE_PIP_VERSION_CHECK="1"))
        where = self.run_python(python, "-c", "import tutti; print(tutti.__file__, tutti.__version__)", cwd=self.folder)
        self.assertIn(str(environment), where)
        version = (ROOT / "CMakeLists.txt").read_text().split("VERSION ")[2].split()[0]
        self.assertTrue(where.strip().endswith(version), f"{where}: the program's version is {version}")
        for name in ("tutti-plot", "tutti-history", "tutti-profile", "tutti-convergence"):
            self.assertIn("usage:", self.run_python(environment / "bin" / name, "--help", cwd=self.folder))
        self.assertIn("history", self.run_python(python, "-m", "tutti", "--help", cwd=self.folder))


class Dispatch(Package):
    def test_words(self):
        self.assertEqual(main(["--help"]), 0)
        self.assertEqual(main([]), 2)
        self.assertEqual(main(["draw"]), 2)

    def test_timeline(self):
        code = main(["timeline", "-o", str(self.folder / "t.png"), "--", str(self.folder / "none.json")])
        self.assertEqual(code, 5 if importlib.util.find_spec("tutti.timeline") else 3)


class History(Package):
    def metrics(self, text):
        path = self.folder / "metrics.jsonl"
        path.write_text(text)
        return path

    def test_metrics(self):
        lines = [{"step": 1, "time": 0.5, "mass": 2, "note": "x", "ok": True},
                 {"step": 2, "time": 1.0, "diagnostics": {"max|u|": 3}, "gpu": {"bytes": 7}}]
        columns = history.read_metrics(self.metrics("\n".join(map(json.dumps, lines)) + '\n{"step": 3, "t'))
        self.assertEqual(list(columns), ["step", "time", "mass", "max|u|", "gpu.bytes"])
        np.testing.assert_array_equal(columns["time"], [0.5, 1.0])
        np.testing.assert_array_equal(columns["mass"], [2, np.nan])
        np.testing.assert_array_equal(columns["max|u|"], [np.nan, 3])
        with self.assertRaisesRegex(ValueError, r"metrics\.jsonl:1: "):
            history.read_metrics(self.metrics("nonsense\n{}\n"))
        with self.assertRaisesRegex(ValueError, r"metrics\.jsonl:1: .*object"):
            history.read_metrics(self.metrics("[1]\n{}\n"))
        self.assertEqual(history.read_metrics(self.metrics("")), {})

    def test_probes(self):
        path = self.folder / "probes.csv"
        path.write_text('time,"a ""b"", c",p,p\n0,1,2,3\n1,4,5,6\n2,7')
        columns = read_probes(path)
        self.assertEqual([name for name, _ in columns], ["time", 'a "b", c', "p", "p"])
        np.testing.assert_array_equal(columns[3][1], [3, 6])
        path.write_text("time,p\n0,x\n1,2\n")
        with self.assertRaisesRegex(ValueError, "row 1"):
            read_probes(path)
        path.write_text("")
        with self.assertRaisesRegex(ValueError, "no header"):
            read_probes(path)

    def test_picture(self):
        self.metrics("".join(json.dumps({"step": i, "time": i, "mass": 1 + i, "m$x$": -i}) + "\n" for i in range(100)))
        (self.folder / "probes.csv").write_text("time,$\\frac,p\n" + "".join(f"{i},{i},{-i}\n" for i in range(100)))
        output = self.folder / "h.png"
        self.assertEqual(main(["history", str(self.folder), "-o", str(output)]), 0)
        self.assertGreater(output.stat().st_size, 10000)
        self.assertEqual([len(curves) for _, _, curves in history.panels(self.folder)], [1, 1, 2])
        for name in ("metrics.jsonl", "probes.csv"):
            (self.folder / name).unlink()
        self.assertEqual(main(["history", str(self.folder), "-o", str(output)]), 5)

    def test_history_in_groups(self):
        lines = ["time,max|u|,mass,u L2 error,u Linf error,u relative L2 error,Nu x-lower,Nu x-upper"]
        lines += [f"{i},{2.0**-i},5,{i + 1},{i + 2},{i + 3},{i},{-i}" for i in range(10)]
        (self.folder / "history.csv").write_text("\n".join(lines) + "\n")
        self.metrics('{"time": 1, "other": 1}\n{"time": 2, "other": 2}\n')
        constants = {}
        found = history.panels(self.folder, constants)
        self.assertEqual([(title, list(curves)) for title, _, curves in found],
                         [("max|u|", ["max|u|"]), ("errors", ["u L2 error", "u Linf error"]),
                          ("relative errors", ["u relative L2 error"]), ("Nu", ["Nu x-lower", "Nu x-upper"])])
        self.assertEqual(constants, {"mass": 5}, "what does not change has no panel")
        self.assertEqual([history.wants_log(list(curves.items())) for _, _, curves in found], [True, False, False, False])
        (self.folder / "summary.json").write_text('{"units": {"time": "s", "mass": "1"}}')
        unit = history.unit_in(self.folder)
        self.assertEqual((unit("time"), unit("mass"), unit("u")), (" [s]", "", ""))
        output = self.folder / "h.png"
        self.assertEqual(main(["history", str(self.folder), "-o", str(output)]), 0)
        self.assertGreater(output.stat().st_size, 10000)


class Marks(unittest.TestCase):
    def test_scales(self):
        scale = marks.colour_scale(np.array([-1.0, 2.0, np.nan]))
        self.assertEqual((scale.norm.vmin, scale.norm.vmax, scale.get_cmap().name), (-2, 2, "signed"))
        self.assertEqual(marks.colour_scale(np.array([-0.01, 2.0])).get_cmap().name, "warm", "a mere overshoot")
        scale = marks.colour_scale(np.array([-1.0, 2.0]), -1, 3)
        self.assertEqual((scale.norm.vmin, scale.norm.vmax, scale.get_cmap().name), (-1, 3, "signed"))
        self.assertEqual(marks.colour_scale(np.ones(3), map_name="viridis").get_cmap().name, "viridis")

    def test_ends_and_lengths(self):
        np.testing.assert_allclose(marks.end_ticks(0.013, 1.0), [0.013, 0.2, 0.4, 0.6, 0.8, 1.0])
        self.assertEqual([marks.round_length(x) for x in (0.3, 1.0, 4.99, 5.0, 70)], [0.2, 1.0, 2.0, 5.0, 50.0])


if __name__ == "__main__":
    unittest.main()
