"""gmsh runs on what tutti gives it and on nothing else: no command and no option that lies in a folder of results, in the
current folder or in the user's home is read, and a mesh that is made again for a restart must be the same one."""

import json
import os
import shutil
import stat
import unittest
import unittest.mock
from pathlib import Path

from program import EQUAL, SystemTest, sets, tutti

RESOURCE, INPUT = 3, 4

CASE = """model = "diffusion"
[mesh]
generate = "unstructured-box"
h = 0.3
[physics]
K = 1
initial = "x"
[time]
steps = 8
"""
# gmsh reads such a file at its start: commands are run, options change the mesh.
HOSTILE = 'SystemCall "touch {evil}";\nMesh.CharacteristicLengthFactor = 0.5;\nMesh.CharacteristicLengthMax = 0.2;\n'
NAMES = [".gmshrc", ".gmsh-options", ".gmsh-errors", "gmsh.opt", "box.geo.opt", "box-surface.geo.opt", "box-surface.msh.opt",
         "box-surface.geo", "box-surface.msh", "box.geo", "box.msh"]


@unittest.skipUnless(shutil.which("gmsh"), "gmsh is not installed")
class PrivateGmsh(SystemTest):
    def setUp(self):
        super().setUp()
        self.case = self.write("case.toml", CASE)
        self.evil = self.folder / "evil"

    def lay(self, folder):
        folder.mkdir(parents=True, exist_ok=True)
        for name in NAMES:
            (folder / name).write_text(HOSTILE.format(evil=self.evil))

    def run_in(self, cwd, *arguments, code=0, ranks=None):
        result = tutti("run", *arguments, *EQUAL, cwd=cwd, ranks=ranks)
        self.assertEqual(result.code, code, result.err)
        self.assertFalse(self.evil.exists(), "a command that lay there was run")
        return result

    def checksum(self, folder):
        summary = json.loads((folder / "summary.json").read_text(encoding="utf-8"))
        return summary["checksum"], summary["cells"], summary["steps"]

    def test_nothing_that_lies_about_is_read(self):
        calm, there, home = self.folder / "calm", self.folder / "there", self.folder / "home"
        self.run_in(None, self.case, "-o", calm, *sets(checkpoint__every=4))
        for folder in (there, there / "r" / "mesh", home):
            self.lay(folder)
        with unittest.mock.patch.dict(os.environ, {"HOME": str(home)}):
            self.run_in(there, self.case, "-o", "r", *sets(checkpoint__every=4))
            self.assertEqual(self.checksum(there / "r"), self.checksum(calm))
            # What gmsh made is there to be looked at; what else lay there is as it was.
            mesh = there / "r" / "mesh"
            self.assertEqual((mesh / ".gmshrc").read_text(), HOSTILE.format(evil=self.evil))
            self.assertEqual((mesh / "box.msh").read_bytes(), (calm / "mesh" / "box.msh").read_bytes())
            self.assertIn("Info", (mesh / "box.log").read_text())
            # A folder received from somebody, and the run goes on.
            for folder in (there, there / "r", mesh):
                self.lay(folder)
            self.run_in(there, "--restart", "r", *sets(time__steps=12), ranks=2)
            self.run_in(None, "--restart", calm, *sets(time__steps=12))
            self.assertEqual(self.checksum(there / "r"), self.checksum(calm))
            self.lay(there / "heart.msh.gmsh")
            result = tutti("mesh", "generate", "biventricle", "--size", 12, "-o", "heart.msh", cwd=there)
            self.assertEqual(result.code, 0, result.err)
            self.assertFalse(self.evil.exists())

    def gmsh(self, script):
        """A PATH whose gmsh is this script."""
        folder = self.folder / "bin"
        folder.mkdir(exist_ok=True)
        program = folder / "gmsh"
        program.write_text("#!/bin/sh\n" + script)
        program.chmod(0o755)
        return unittest.mock.patch.dict(os.environ, {"PATH": f"{folder}:{os.environ['PATH']}", "HOME": str(self.folder)})

    def test_a_home_that_is_new_and_empty(self):
        report = self.folder / "report"
        real = shutil.which("gmsh")
        with self.gmsh(f'{{ pwd; echo "$HOME"; echo "$GMSH_HOME"; echo "$TMPDIR"; stat -c %a ..; ls -A "$HOME" .; }} '
                       f'>> {report}\nexec {real} "$@"\n'):
            self.run_in(None, self.case, "-o", self.folder / "r")
        lines = report.read_text().split("\n")
        work, *homes, mode = lines[:5]
        self.assertEqual(len(set(homes)), 1, lines)
        self.assertEqual(mode, "700")
        self.assertEqual(lines[5:8], [".:", "box-surface.geo", "box-surface.log"])
        for folder in (work, homes[0]):
            self.assertFalse(Path(folder).is_relative_to(self.folder), folder)
            self.assertFalse(Path(folder).exists(), "it is gone afterwards")

    def test_another_mesh_is_not_gone_on_with(self):
        folder = self.folder / "r"
        self.run_in(None, self.case, "-o", folder, *sets(checkpoint__every=4))
        before = self.checksum(folder)
        with self.gmsh(f'exec {shutil.which("gmsh")} "$@" -clscale 0.8\n'):
            result = self.run_in(None, "--restart", folder, *sets(time__steps=12), code=INPUT)
        self.assertRegex(result.err, "the mesh has changed: .* cells with checksum")
        self.assertEqual(self.checksum(folder), before)

    def test_a_program_of_the_current_folder_is_not_run(self):
        there = self.folder / "there"
        (there / "r" / "mesh").mkdir(parents=True)
        for folder in (there, there / "r" / "mesh"):
            program = folder / "gmsh"
            program.write_text(f"#!/bin/sh\ntouch {self.evil}\n")
            program.chmod(program.stat().st_mode | stat.S_IXUSR)
        with unittest.mock.patch.dict(os.environ, {"PATH": ":.:bin"}):
            result = self.run_in(there, self.case, "-o", "r", code=RESOURCE)
        self.assertIn("apt install gmsh", result.err)


if __name__ == "__main__":
    unittest.main()
