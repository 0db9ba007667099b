#!/usr/bin/env python3
"""The example notebooks and the tutorial, run by the built program: their cells one after the other, and by nbconvert where it is installed.

Usage: TUTTI=build/release/bin/tutti test_notebooks.py
"""

import importlib.util
import json
import os
import re
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
ENVIRONMENT = {"TUTTI": str(ROOT / "build/release/bin/tutti"), **os.environ, "PYTHONPATH": str(ROOT / "python")}
NOTEBOOKS = sorted((ROOT / "examples/notebooks").glob("*.ipynb"))


class Notebooks(unittest.TestCase):
    def run_python(self, *words, **options):
        with tempfile.TemporaryDirectory(prefix="tutti_notebook_") as folder:
            done = subprocess.run([sys.executable, *words], cwd=folder, capture_output=True, text=True, env={**ENVIRONMENT, **options})
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return done.stdout

    def test_cells(self):
        self.assertGreaterEqual(len(NOTEBOOKS), 2)
        for path in NOTEBOOKS:
            with self.subTest(path.name):
                cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
                code = [cell for cell in cells if cell["cell_type"] == "code"]
                self.assertEqual([cell["outputs"] for cell in code], [[]] * len(code), "clear the outputs before committing")
                self.run_python("-c", "\n\n".join("".join(cell["source"]) for cell in code), MPLBACKEND="Agg")

    def test_the_tutorial(self):
        text = (ROOT / "docs/tutorial/python.md").read_text(encoding="utf-8").split("## Graphs and meshes")[0]
        blocks = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
        self.assertEqual(len(blocks), 5)
        code = f"import os\nos.chdir({str(ROOT)!r})\n" + "\n".join(blocks)
        self.assertIn("input --set physics.K=-1: K is not positive definite in cell", self.run_python("-c", code, MPLBACKEND="Agg"))

    @unittest.skipUnless(all(map(importlib.util.find_spec, ("nbconvert", "ipykernel"))), "this Python has no nbconvert with ipykernel")
    def test_as_notebooks(self):
        for path in NOTEBOOKS:
            with self.subTest(path.name):
                text = self.run_python("-m", "nbconvert", "--to", "notebook", "--execute", "--stdout", str(path))
                self.assertGreaterEqual(text.count('"image/png"'), 2)  # run.plot() shows itself, once a call
                self.assertRegex(text, "100 %  step |3 of 3 runs")  # progress


if __name__ == "__main__":
    unittest.main()
