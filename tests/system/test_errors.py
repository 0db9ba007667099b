"""Everything a user can get wrong ends with one line that helps and the right exit code, on one rank and on three."""

import unittest

from program import DATA, EQUAL, SystemTest, box_case, faults_of, sets, tutti

USAGE, RESOURCE, INPUT, IO, NUMERICAL = 2, 3, 4, 5, 6
GOOD = box_case(n=4)
ONE = [None]
SECONDS = 20  # no run below may take longer: a rank that waits for one that is gone would


class Errors(SystemTest):
    def expect(self, text, code, *patterns, options=(), output=None, ranks_list=(None, 3)):
        """Runs the case, on one rank and on three unless told otherwise."""
        case = self.write("case.toml", text)
        for ranks in ranks_list:
            with self.subTest(ranks=ranks, options=options):
                folder = output or self.folder / "results"
                result = tutti("run", case, "-o", folder, "--overwrite", *EQUAL, *options, ranks=ranks, timeout=SECONDS)
                self.assert_error(result, code, *patterns)
                self.assertNotIn("internal error", result.err)
                self.assertFalse((self.folder / "results" / "summary.json").exists())

    def change(self, before, after):
        self.assertIn(before, GOOD)
        return GOOD.replace(before, after)

    def line_of(self, text, word):
        return next(number for number, line in enumerate(text.split("\n"), 1) if word in line)

    def test_the_form_can_say_no(self):
        self.assertEqual(faults_of("case.toml:3:5: unknown key 'jiter'; did you mean 'jitter'?", INPUT), [])
        self.assertNotEqual(faults_of("unknown key 'jiter'; did you mean 'jitter'?", INPUT), [])
        for wrong in ["", "something went wrong", "case.toml:3:5: something went wrong", "std::bad_alloc",
                      "case.toml:3:5: unknown key 'jiter'"]:
            for code in (USAGE, RESOURCE, INPUT, IO, NUMERICAL):
                self.assertNotEqual(faults_of(wrong, code), [], wrong)

    def test_a_good_case_is_no_error(self):
        self.run_case(GOOD)
        self.run_case(GOOD, ranks=3)

    def test_unknown_key(self):
        text = self.change("jitter", "jiter")
        self.expect(text, INPUT, rf"case\.toml:{self.line_of(text, 'jiter')}\b", r"jiter", r"did you mean '(mesh\.)?jitter'")
        text = self.change("[physics]", "[phisics]")
        self.expect(text, INPUT, rf"case\.toml:{self.line_of(text, 'phisics')}\b", "did you mean 'physics'", ranks_list=ONE)
        self.expect(GOOD, INPUT, "--set", "did you mean 'time'", options=["--set", "tme.dt=1"], ranks_list=ONE)

    def test_broken_toml(self):
        text = self.change("[physics]", "[physics")
        self.expect(text, INPUT, rf"case\.toml:{self.line_of(text, '[physics')}\b", ranks_list=[3])

    def test_meshes_whose_cells_do_not_fit(self):
        def mesh(nodes, cells):
            return "\n".join(["$MeshFormat", "2.2 0 8", "$EndMeshFormat", "$Nodes", str(len(nodes)),
                              *(f"{i} {x} {y} {z}" for i, (x, y, z) in enumerate(nodes, 1)), "$EndNodes", "$Elements", str(len(cells)),
                              *(f"{i} 4 2 1 1 " + " ".join(map(str, cell)) for i, cell in enumerate(cells, 1)), "$EndElements", ""])
        text = """model = "diffusion"
[mesh]
file = "cells.msh"
{}
[physics]
K = 1
initial = "x"
[time]
steps = 1
"""
        nodes = [(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1), (1, 0, 0), (0, 1, 0), (0, 0, 1), (1, 1, 1)]
        self.write("cells.msh", mesh(nodes, [(1, 2, 3, 4), (5, 6, 7, 8)]))
        self.expect(text.format(""), INPUT, r"cells\.msh: 1 crack: cells 0 and 1 touch at \(0\.333333, 0\.333333, 0\.333333\)",
                    r'mesh\.repair = "merge"')
        self.assertEqual(self.run_case(text.format('repair = "merge"'), *EQUAL, ranks=2)["cells"], 2)
        self.run_case(text.format("allow_cracks = true"), *EQUAL)
        # The second cell is two: the vertex between them lies on an edge of the first.
        nodes = [*nodes[:4], (1, 1, 1), (0.5, 0.5, 0)]
        self.write("cells.msh", mesh(nodes, [(1, 2, 3, 4), (2, 6, 4, 5), (6, 3, 4, 5)]))
        for repair in ("", 'repair = "merge"'):
            self.expect(text.format(repair), INPUT, r"cells\.msh: 1 hanging node: vertex 5 at \(0\.5, 0\.5, 0\)", r"edge of cell 0",
                        r"mesh\.allow_cracks = true", ranks_list=ONE)
        self.run_case(text.format("allow_cracks = true"), *EQUAL)

    def test_wrong_values(self):
        self.expect(self.change("jitter = 0.2", 'jitter = "much"'), INPUT, r"case\.toml:\d+", "jitter", ranks_list=ONE)
        self.expect(self.change("jitter = 0.2", "jitter = 0.9"), INPUT, r"case\.toml:\d+", "jitter", ranks_list=ONE)
        self.expect(self.change('"x"', '"x+"'), INPUT, r"case\.toml:\d+", r"x\+", ranks_list=ONE)
        self.expect(self.change('"x"', '"log(x-0.5)"'), INPUT, "log", "x = ")
        self.expect(self.change("K = 1", 'K = [[1,2,0],[0,1,0],[0,0,1]]'), INPUT, r"case\.toml:\d+", "not symmetric", ranks_list=ONE)
        self.expect(self.change("K = 1", "K = -1"), INPUT, r"case\.toml:\d+:\d+: K is not positive definite in cell \d+ at \(")
        self.expect(self.change("K = 1", ""), INPUT, "K", ranks_list=ONE)
        self.expect(self.change("steps = 10", ""), INPUT, r"time\.(end|steps)", ranks_list=ONE)

    def test_names_that_the_mesh_does_not_have(self):
        boundary = '[[boundary]]\ntag = "x-mim"\n[time]'
        self.expect(self.change("[time]", boundary), INPUT, r"case\.toml:\d+", "x-mim", "'x-min'", ranks_list=ONE)
        region = '[[physics.region]]\nname = "bone"\nK = 1\n[time]'
        self.expect(self.change("[time]", region), INPUT, r"case\.toml:\d+", "bone", "'box'", ranks_list=[3])

    def test_a_probe_outside(self):
        probe = '[output]\n[[output.probe]]\nname = "far"\npoint = [2, 0, 0]'
        far = r"case\.toml:\d+:\d+: probe 'far' at \(2, 0, 0\) is outside the mesh"
        self.expect(self.change("[output]", probe), INPUT, far)
        for ranks in (None, 3):
            plan = tutti("plan", self.folder / "case.toml", *EQUAL, ranks=ranks, timeout=SECONDS)
            self.assert_error(plan, INPUT, far)
            self.assertEqual(plan.out, "")

    def test_missing_files(self):
        self.expect('model = "diffusion"\n[mesh]\nfile = "none.msh"\n[physics]\nK = 1\n[time]\nsteps = 1\n', IO, r"none\.msh")
        for ranks in [None, 3]:
            result = tutti("run", self.folder / "none.toml", "-o", self.folder / "r", ranks=ranks, timeout=SECONDS)
            self.assert_error(result, IO, r"none\.toml")

    def test_broken_meshes(self):
        text = 'model = "diffusion"\n[mesh]\nfile = "broken.msh"\n[physics]\nK = 1\n[time]\nsteps = 1\n'
        ascii_mesh = (DATA / "mesh" / "two_boxes_v22_ascii.msh").read_bytes()
        binary_mesh = (DATA / "mesh" / "two_boxes_v41_binary.msh").read_bytes()
        for content, place in [(ascii_mesh[:len(ascii_mesh) // 2], r"broken\.msh:\d+"),
                               (binary_mesh[:len(binary_mesh) // 2], r"broken\.msh.*(offset|byte) ?\d+"),
                               (ascii_mesh.replace(b"$EndNodes", b"$EndNods"), r"broken\.msh:\d+"),
                               (b"", r"broken\.msh"), (b"\0" * 1000, r"broken\.msh")]:
            (self.folder / "broken.msh").write_bytes(content)
            self.expect(text, INPUT, place, ranks_list=ONE)
        self.expect(text, INPUT, place, ranks_list=[3])

    def test_a_cell_that_is_there_twice(self):
        nodes = "4\n1 0 0 0\n2 1 0 0\n3 0 1 0\n4 0 0 1\n"
        self.write("twice.msh", f"$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes\n{nodes}$EndNodes\n"
                   "$Elements\n2\n1 4 2 1 1 1 2 3 4\n2 4 2 1 1 2 3 1 4\n$EndElements\n")
        says = r"twice\.msh: mesh: cells 0 and 1 have the same four vertices"
        self.expect('model = "diffusion"\n[mesh]\nfile = "twice.msh"\n[physics]\nK = 1\n[time]\nsteps = 1\n', INPUT, says)
        for command in (["mesh", "info"], ["partition", "--weights", "1,1"]):
            self.assert_error(tutti(*command, self.folder / "twice.msh", timeout=SECONDS), INPUT, says)

    def test_devices_that_are_not_there(self):
        self.expect(GOOD, USAGE, "bogus", "cuda:I", options=["--devices", "bogus"])
        self.expect(GOOD, USAGE, "twice", options=["--devices", "cpu,cpu"], ranks_list=ONE)
        self.expect(GOOD, RESOURCE, "core 9999", options=["--devices", "cpu:9999"], ranks_list=ONE)
        self.expect(GOOD, RESOURCE, "cuda:99", options=["--devices", "cuda:99"], ranks_list=[3])
        self.expect(GOOD, USAGE, "--fake-memory", "xyz", options=["--devices", "fake:1", "--fake-memory", "xyz"], ranks_list=ONE)
        self.expect(GOOD, INPUT, "1 entries for", options=["--devices", "fake:1,cpu", "--set", "balance.weights=[1]"], ranks_list=[3])

    def test_transports_that_are_not_there(self):
        for word, says in [("device", "no rank has a GPU"), ("nccl", "NCCL|no rank has a CUDA GPU")]:
            self.expect(GOOD, RESOURCE, f'devices.transport = "{word}"', says,
                        options=["--devices", "cpu", *sets(devices__transport=word)], ranks_list=ONE if word == "nccl" else (None, 3))
        self.expect(GOOD, RESOURCE, "fake:0", "CUDA-aware", "auto",
                    options=["--devices", "fake:1,cpu", *sets(devices__transport="device")])
        self.expect(GOOD, INPUT, "devices.transport", "pigeon", "nccl", options=sets(devices__transport="pigeon"), ranks_list=ONE)

    def test_a_device_too_small(self):
        # What the cells need and what is left, before anything is allocated; at three ranks, too.
        self.expect(box_case(n=8), RESOURCE, r"not enough for 3,072 cells: they need about [\d.]+ KiB",
                    r"all \d devices together have [\d.]+ KiB left", options=["--devices", "fake:2", "--fake-memory", "20k"])
        self.expect(box_case(n=8), RESOURCE, r"the device has 20(\.0)? KiB left", ranks_list=ONE,
                    options=["--devices", "fake:1", "--fake-memory", "20k"])
        # What fits only just: the steps need no more than the plan.
        self.run_case(box_case(n=8), "--devices", "fake:2", "--fake-memory", "1M", ranks=3)

    def test_a_time_step_above_the_limit(self):
        limit = r"time\.dt = 1 is above the stability limit 0\.0\d+ of euler"
        text = self.change("steps = 10", "steps = 10\ndt = 1")
        self.expect(text, NUMERICAL, rf"case\.toml:{self.line_of(text, 'dt = 1')}\b", limit, "rkc2")
        self.expect(GOOD, NUMERICAL, "limit", "stages",
                    options=["--set", "time.dt=1", "--set", 'time.method="rkc2"', "--set", "time.stages=3"], ranks_list=ONE)

    def test_a_field_that_overflows(self):
        self.expect(self.change('"x"', '"1.7e308*sin(100*x)"'), NUMERICAL,
                    r"field .u. is (-?inf|nan) in cell \d+ \(rank 0, part 0\) at time \S+, step 1; lower time.dt")

    def test_a_source_that_fails_in_the_middle(self):
        # Every rank meets it at the same time, outside of any collective call.
        text = self.change("K = 1", 'K = 1\nsource = "sqrt(0.001-t)"')
        self.expect(text, INPUT, r"case\.toml:\d+", "sqrt", "t = ")

    def test_folders_that_cannot_be_made(self):
        # Below a regular file: not even root can make a folder there.
        self.write("file", "")
        self.expect(GOOD, IO, "file/results", output=self.folder / "file" / "results")
        self.expect(GOOD, IO, "file", output=self.folder / "file", ranks_list=ONE)

    def test_results_that_cannot_be_written(self):
        for name in ["fields", "summary.json", "results.pvd"]:
            folder = self.folder / f"taken_{name}"
            if name == "fields":
                folder.mkdir()
                (folder / name).write_text("")
            else:
                (folder / name / "full").mkdir(parents=True)  # a folder where a file should be
            self.expect(GOOD, IO, name.split(".")[0], output=folder, ranks_list=ONE if name == "results.pvd" else (None, 3))

    def test_command_lines(self):
        for arguments in [[], ["walk"], ["run"], ["run", "case.toml", "--fast"], ["run", "case.toml", "-o", "r", "--fast"],
                          ["run", "case.toml", "-o", "r", "--threads", "0"], ["mesh"], ["mesh", "generate", "ball"],
                          ["partition", "a.msh"], ["partition", "a.msh", "--weights", "-1"]]:
            for ranks in [None, 3] if arguments == ["walk"] else ONE:
                with self.subTest(arguments=arguments, ranks=ranks):
                    result = tutti(*arguments, ranks=ranks, timeout=SECONDS, cwd=self.folder)
                    self.assert_error(result, USAGE, "--help")
        case = self.write("case.toml", GOOD)
        for setting in ["time.dt", "=1", "time..dt=1"]:
            with self.subTest(setting=setting):
                result = tutti("run", case, "-o", self.folder / "r", "--set", setting, timeout=SECONDS)
                self.assert_error(result, USAGE, "--set")


if __name__ == "__main__":
    unittest.main()
