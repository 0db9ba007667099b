"""Pipes, devices and links where a file is expected: nothing waits, nothing is eaten up, nothing is replaced."""

import json
import os
import re
import subprocess
import threading
import unittest
from pathlib import Path

from program import EQUAL, PROGRAM, SystemTest, box_case, sets, tutti

IO, INPUT = 5, 4
SECONDS = 30  # one that waits is still there then
NOT_REGULAR = "cannot be read: it is a pipe or a device; a .* is expected"

NODES = """model = "transport"
[nodes]
file = "{file}"
[stencil]
size = 30
cache = "{cache}"
[velocity]
cartesian = ["-y", "x", "0"]
[[tracer]]
name = "c"
initial = "x"
[time]
end = 0.1
"""


class Inputs(SystemTest):
    def special(self, name):
        """A pipe that nobody writes and a device without end, under names with this end."""
        pipe, zero = self.folder / f"pipe{name}", self.folder / f"zero{name}"
        os.mkfifo(pipe)
        zero.symlink_to("/dev/zero")
        return [pipe, zero]

    def refused(self, *arguments, cwd=None, ranks=None):
        result = tutti(*arguments, timeout=SECONDS, cwd=cwd, ranks=ranks)
        self.assert_error(result, IO, NOT_REGULAR)

    def test_cases(self):
        for path in self.special(".toml"):
            for ranks in (None, 2):
                self.refused("run", path, "-o", self.folder / "r", ranks=ranks)
            self.refused("plan", path)

    def test_cases_of_folders(self):
        (self.folder / "box").mkdir()
        self.write("box/case.toml", box_case(n=2))
        for ranks in (None, 2):
            result = tutti("plan", self.folder / "box", "--devices", "cpu", ranks=ranks)
            self.assertEqual(result.code, 0, result.err)
        result = tutti("run", self.folder, "-o", self.folder / "r", timeout=SECONDS)
        self.assert_error(result, IO, "case.toml: cannot open the case file: No such file")

    def test_cases_without_end(self):
        long = self.folder / "long.toml"
        long.touch()
        os.truncate(long, 1 << 40)  # a hole: no disk, but as much memory
        result = tutti("run", long, "-o", self.folder / "r", timeout=SECONDS)
        self.assert_error(result, INPUT, "has 1099511627776 bytes; a case file of at most 16777216 is expected")

    def test_meshes(self):
        for end in (".msh", ".vtu", ".node"):
            for path in self.special(end):
                self.refused("mesh", "info", path)
        case = self.write("case.toml", box_case().replace('generate = "box"', 'file = "pipe.msh"')
                          .replace("cubes = [8, 8, 8]\njitter = 0.2\n", ""))
        self.refused("run", case, "-o", self.folder / "r", ranks=2)
        huge = self.folder / "huge.msh"
        huge.touch()
        os.truncate(huge, 1 << 42)
        result = tutti("mesh", "info", huge, timeout=SECONDS)
        self.assert_error(result, 3, "the file has 4398046511104 bytes, and .* bytes of memory are left")

    def test_nodes_and_their_cache(self):
        for path in self.special(".xyz"):
            self.refused("nodes", "info", path)
        self.assertEqual(tutti("nodes", "generate", "icosahedral", "--m", 5, "-o", self.folder / "a.xyz").code, 0)
        for cache in self.special(".cache"):
            case = self.write("case.toml", NODES.format(file="a.xyz", cache=cache.name))
            self.refused("run", case, "-o", self.folder / "r", *EQUAL)

    def test_checkpoints_and_rows(self):
        case = self.write("case.toml", box_case(n=2, output='probe_every = 1\n[[output.probe]]\nname = "a"\n'
                                                            'point = [0.5, 0.5, 0.5]'))
        folder = self.folder / "r"
        self.assertEqual(tutti("run", case, "-o", folder, *EQUAL, *sets(checkpoint__every=5)).code, 0)
        for path in self.special(".h5"):
            self.refused("run", "--restart", path, "-o", self.folder / "s")
        newest = sorted((folder / "checkpoints").iterdir())[-1]
        kept = newest.read_bytes()
        newest.unlink()
        os.mkfifo(newest)
        self.refused("run", "--restart", folder, ranks=2)
        newest.unlink()
        newest.write_bytes(kept)
        (folder / "probes.csv").unlink()
        os.mkfifo(folder / "probes.csv")
        result = tutti("run", "--restart", folder, *sets(time__steps=12), *EQUAL, timeout=SECONDS)
        self.assertEqual(result.code, IO, result.err)


class Outputs(SystemTest):
    def setUp(self):
        super().setUp()
        self.case = self.write("case.toml", box_case(n=2))

    def run_traced(self, target, folder="r", ranks=None):
        return tutti("run", self.case, "-o", self.folder / folder, "--overwrite", "--trace", target, *EQUAL, ranks=ranks,
                     timeout=SECONDS)

    def test_a_full_device(self):
        link = self.folder / "full"
        link.symlink_to("/dev/full")
        for target in (link, Path("/dev/full")):
            for ranks in (None, 2):
                self.assert_error(self.run_traced(target, ranks=ranks), IO, f"{target}: 0 of . bytes written, then: No space")
        self.assertFalse((self.folder / "r" / "summary.json").exists())
        self.assertEqual(os.readlink(link), "/dev/full")
        self.assertTrue(Path("/dev/full").is_char_device())

    def test_a_pipe(self):
        pipe = self.folder / "trace.json"
        os.mkfifo(pipe)
        self.assert_error(self.run_traced(pipe), IO, "no process reads this pipe")
        read = []
        reader = threading.Thread(target=lambda: read.append(pipe.read_text()))
        reader.start()
        result = self.run_traced(pipe)
        reader.join(SECONDS)
        self.assertEqual(result.code, 0, result.err)
        self.assertGreater(len(json.loads(read[0])["traceEvents"]), 10)
        self.assertTrue(pipe.is_fifo())

    def test_standard_output(self):
        out = self.folder / "out"
        with out.open("w", encoding="utf-8") as file:
            code = subprocess.run([PROGRAM, "-q", "run", self.case, "-o", self.folder / "r", "--trace", "/dev/stdout", *EQUAL],
                                  stdout=file, stdin=subprocess.DEVNULL, timeout=SECONDS, check=False).returncode
        self.assertEqual(code, 0)
        self.assertGreater(len(json.loads(out.read_text(encoding="utf-8"))["traceEvents"]), 10)

    def test_links_that_the_user_made(self):
        (self.folder / "kept").mkdir()
        link = self.folder / "trace.json"
        link.symlink_to("kept/trace.json")
        self.assertEqual(self.run_traced(link).code, 0)
        self.assertTrue(link.is_symlink())
        self.assertIn("traceEvents", (self.folder / "kept" / "trace.json").read_text())

    def test_what_is_printed_arrives_or_the_exit_code_tells(self):
        self.assertEqual(tutti("mesh", "generate", "box", "--cubes", 2, 2, 2, "-o", self.folder / "box.msh").code, 0)
        for arguments in (["reference"], ["mesh", "info", self.folder / "box.msh"], ["--help"], ["--version"], ["devices"],
                          ["completion", "bash"]):
            with self.subTest(arguments=arguments), open("/dev/full", "w", encoding="utf-8") as full:
                result = subprocess.run([PROGRAM, *map(str, arguments)], stdout=full, stderr=subprocess.PIPE, text=True,
                                        stdin=subprocess.DEVNULL, timeout=SECONDS, check=False)
                self.assertEqual(result.returncode, IO, result.stderr)
                self.assertIn("tutti: error: standard output: not all of it could be written", result.stderr)
        # A run's results are in its folder.
        with open("/dev/full", "w", encoding="utf-8") as full:
            result = subprocess.run([PROGRAM, "run", self.case, "-o", self.folder / "r", *EQUAL], stdout=full,
                                    stderr=subprocess.PIPE, stdin=subprocess.DEVNULL, timeout=SECONDS, check=False)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertTrue((self.folder / "r" / "summary.json").is_file())


class Names(SystemTest):
    def test_control_characters_are_escaped(self):
        mesh, nasty = self.folder / "box.msh", "\x1b]0;x\x07\x1b[2J\u009b31mü"
        result = tutti("mesh", "generate", "box", "--cubes", 2, 2, 2, "--split", 0.5, "--format", "msh22-ascii", "-o", mesh)
        self.assertEqual(result.code, 0, result.err)
        text = mesh.read_text(encoding="utf-8")
        self.assertIn('"left"', text)
        mesh.write_text(text.replace('"left"', f'"{nasty}"').replace('"x-min"', f'"{nasty}"'), encoding="utf-8")
        shown = tutti("mesh", "info", mesh)
        self.assertEqual(shown.code, 0, shown.err)
        self.assertEqual(shown.out.count(r'"\x1b]0;x\x07\x1b[2J\u009b31mü"'), 2, shown.out)
        converted = tutti("mesh", "convert", mesh, self.folder / "box.vtu")
        self.assertEqual(converted.code, 0, converted.err)
        case = self.write("case.toml", box_case().replace('generate = "box"', 'file = "box.msh"').replace(
            "cubes = [8, 8, 8]\njitter = 0.2\n", "") + '[[boundary]]\ntag = "none"\ntype = "dirichlet"\nvalue = 0\n')
        wrong = tutti("run", case, "-o", self.folder / "r", *EQUAL)
        self.assertEqual(wrong.code, INPUT, wrong.err)
        for text in (shown.out, converted.out, converted.err, wrong.out, wrong.err):
            self.assertNotRegex(text, re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f]"))


if __name__ == "__main__":
    unittest.main()
