"""Pipes, devices and links where a file is expected: nothing waits, nothing is eaten up."""

import os
import unittest

from program import EQUAL, SystemTest, box_case, sets, tutti

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


if __name__ == "__main__":
    unittest.main()
