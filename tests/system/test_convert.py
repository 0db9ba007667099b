"""tutti mesh convert and refine: every format into every other one, what is lost, wrong input; VTK reads what it writes."""

import shutil
import unittest

from program import DATA, SystemTest, tutti

try:
    import vtk
except ImportError:  # Debian: python3-vtk9
    vtk = None

USAGE, INPUT, IO = 2, 4, 5
FORMATS = {"msh41": "msh", "msh22": "msh", "msh41-ascii": "msh", "msh22-ascii": "msh", "vtu": "vtu", "vtu-ascii": "vtu"}


class Convert(SystemTest):
    def well(self, *arguments, **keywords):
        result = tutti(*arguments, cwd=self.folder, **keywords)
        self.assertEqual(result.code, 0, result.err)
        self.assertEqual(result.error_lines(), [])
        return result

    def wrong(self, code, *arguments):
        """The last arguments are patterns after "--"."""
        split = arguments.index("--")
        self.assert_error(tutti("mesh", "convert", *arguments[:split], cwd=self.folder), code, *arguments[split + 1:])

    def box(self):
        self.well("mesh", "generate", "box", "--cubes", "4", "3", "2", "--split", "0.5", "--jitter", "0.2", "-o", "box.msh")

    def test_there_and_back(self):
        # From any format to MSH 4.1: the same bytes, as soon as the names, which VTU does not have, are gone.
        self.box()
        self.well("mesh", "convert", "box.msh", "nameless.vtu")
        self.well("mesh", "convert", "nameless.vtu", "expected.msh")
        expected = (self.folder / "expected.msh").read_bytes()
        info = self.well("mesh", "info", "expected.msh").out
        self.assertIn("144 tetrahedra, 60 vertices", info)
        for form, end in FORMATS.items():
            with self.subTest(format=form):
                self.well("mesh", "convert", "expected.msh", f"{form}.{end}", "--format", form)
                self.assertEqual(self.well("mesh", "info", f"{form}.{end}").out, info)
                self.well("mesh", "convert", f"{form}.{end}", "back.msh")
                self.assertEqual((self.folder / "back.msh").read_bytes(), expected)
        self.assertTrue((self.folder / "vtu-ascii.vtu").read_bytes().isascii())
        self.assertIn(b"4.1 0 8", (self.folder / "msh41-ascii.msh").read_bytes())
        # From MSH to MSH the names stay.
        self.well("mesh", "convert", "box.msh", "named.msh")
        self.assertEqual((self.folder / "named.msh").read_bytes(), (self.folder / "box.msh").read_bytes())

    def test_what_is_lost_is_said(self):
        self.box()
        result = self.well("mesh", "convert", "box.msh", "box.vtu", ranks=3)
        self.assertEqual(result.err.count("no place for the names of regions, their tags are kept: 1 'left', 2 'right'"), 1)
        self.assertEqual(result.err.count("no place for the names of boundaries"), 1)
        self.assertIn("box.vtu: 144 cells, 60 vertices, 104 boundary triangles", result.out)
        self.assertEqual(self.well("mesh", "convert", "box.vtu", "back.msh").err, "", "nothing is lost")

    def test_tetgen(self):
        for end in ["", ".node", ".ele", ".face"]:
            with self.subTest(end=end):
                self.well("mesh", "convert", f"{DATA}/tetgen/two_boxes.1{end}", "boxes.msh")
                info = self.well("mesh", "info", "boxes.msh").out
                self.assertIn("12 tetrahedra, 12 vertices", info)
                self.assertEqual(self.well("mesh", "info", f"{DATA}/tetgen/two_boxes.1{end}").out, info)

    def test_a_run_and_a_partition_take_every_format(self):
        self.box()
        self.well("mesh", "convert", "box.msh", "box.vtu")
        text = 'model = "diffusion"\n[mesh]\nfile = "{}"\n[physics]\nK = 1\ninitial = "x"\n[time]\nsteps = 3\n'
        expected = self.run_case(text.format("box.msh"))["checksum"]
        self.assertEqual(self.run_case(text.format("box.vtu"), ranks=2)["checksum"], expected)
        for end in [".node", ".ele", ".face"]:
            shutil.copy(DATA / "tetgen" / f"two_boxes.1{end}", self.folder)
        self.well("mesh", "convert", "two_boxes.1", "boxes.vtu")
        self.assertEqual(self.run_case(text.format("two_boxes.1.ele"))["checksum"],
                         self.run_case(text.format("boxes.vtu"))["checksum"])
        # Behind the line of the time that it took.
        first, again = (self.well("partition", mesh, "--weights", "1,2", "-o", "a.vtu").out.split("\n", 1)[1]
                        for mesh in ("box.msh", "box.vtu"))
        self.assertEqual(again, first)
        # What partition writes is a mesh again.
        self.assertIn("144 tetrahedra", self.well("mesh", "info", "a.vtu").out)

    def test_refine(self):
        # The same mesh from the program and from the case, on any ranks and devices; counts, volume and surfaces.
        self.box()
        self.assertIn("9,216 cells", self.well("mesh", "refine", "box.msh", "fine.msh", "--times", "2").out)
        info = self.well("mesh", "info", "fine.msh").out
        self.assertIn("9,216 tetrahedra, 1,989 vertices, 1,664 boundary faces, 1 connected piece", info)
        for wanted in [r'region 1 +"left" +4,608 cells, volume 0\.5', r'surface 5 +"z-min" +384 faces, area 1\n']:
            self.assertRegex(info, wanted)
        text = ('model = "diffusion"\n[mesh]\n{}\n[physics]\nK = 1\ninitial = "x"\n[[boundary]]\ntag = "x-min"\n'
                'type = "dirichlet"\nvalue = 1\n[time]\nsteps = 3\n')
        expected = self.run_case(text.format('file = "fine.msh"'))
        self.assertEqual(expected["cells"], 9216)
        refined = text.format('file = "box.msh"\nrefine = 2')
        box = text.format('generate = "box"\ncubes = [4, 3, 2]\nsplit = 0.5\njitter = 0.2\nrefine = 2')
        for case in [refined, box]:
            self.assertEqual(self.run_case(case)["checksum"], expected["checksum"])
        self.assertEqual(self.run_case(refined, ranks=2)["checksum"], expected["checksum"])
        self.assertEqual(self.run_case(refined, "--devices", "fake:2,cpu", "--threads", "3")["checksum"], expected["checksum"])
        bench = self.well("bench", "diffusion", "--mesh", "box.msh", "--refine", "1", "--dirichlet", "x-min", "--dirichlet",
                          "6", "--seconds", "0.01", "--devices", "cpu").out
        self.assertEqual(bench.count(" 1,152 "), 5)
        self.assert_error(tutti("mesh", "refine", "box.msh", "fine.msh", "--times", "11", cwd=self.folder), USAGE, "--times")
        self.assert_error(tutti("bench", "diffusion", "--mesh", "box.msh", "--dirichlet", "nowhere", cwd=self.folder), INPUT,
                          "no surface 'nowhere'")

    def test_refining_converges(self):
        text = ('model = "diffusion"\n[mesh]\ngenerate = "box"\ncubes = [3, 3, 3]\njitter = 0.2\nrefine = {}\n[physics]\nK = 1\n'
                'initial = "sin(pi*x)"\nexact = "sin(pi*x)*exp(-pi^2*t)"\n[[boundary]]\ntag = "x-min"\ntype = "dirichlet"\n'
                'value = 0\n[[boundary]]\ntag = "x-max"\ntype = "dirichlet"\nvalue = 0\n[time]\nend = 0.05\n'
                'method = "rkc2"\ndt = 0.002\n')
        errors = [self.run_case(text.format(times))["errors"] for times in range(3)]
        for coarse, fine in zip(errors, errors[1:]):
            self.assertGreater(coarse["l2"] / fine["l2"], 2**1.9)
            self.assertGreater(coarse["gradient_l2"] / fine["gradient_l2"], 2**0.95)

    def test_wrong_arguments(self):
        self.box()
        before = (self.folder / "box.msh").read_bytes()
        (self.folder / "link.msh").symlink_to("box.msh")
        self.wrong(USAGE, "box.msh", "box.msh", "--", r"box\.msh: is the mesh to be read; give the output another name")
        self.wrong(USAGE, "box.msh", "link.msh", "--", r"link\.msh: is the mesh to be read")
        self.wrong(USAGE, "box.msh", "box.stl", "--", r"box\.stl: the name must end in \.msh .* or \.vtu")
        self.wrong(USAGE, "box.msh", "box.vtu", "--format", "msh22", "--", r"format msh22 does not match .*must end in \.msh")
        self.wrong(USAGE, "box.msh", "box.vtu", "--format", "stl", "--", "stl")
        self.wrong(USAGE, "box.msh", "--", "output")
        self.wrong(IO, "box.stl", "out.msh", "--", r"box\.stl: cannot open the mesh file: No such file")
        (self.folder / "solid.stl").write_text("solid")
        self.wrong(INPUT, "solid.stl", "out.msh", "--", r"solid\.stl: .*supported are .*\.msh.*\.vtu.*\.node")
        self.wrong(IO, "none.vtu", "out.msh", "--", r"none\.vtu: cannot open the mesh file: No such file")
        self.wrong(IO, "none.ele", "out.msh", "--", r"none\.node: cannot open")
        self.wrong(IO, "box.msh", "no/such/out.msh", "--", r"no/such/out\.msh: cannot create")
        self.assertEqual((self.folder / "box.msh").read_bytes(), before)
        self.assertEqual(sorted(p.name for p in self.folder.iterdir()), ["box.msh", "link.msh", "solid.stl"])

    def test_damaged_input(self):
        ascii_vtu = (DATA / "vtu" / "ascii.vtu").read_bytes()
        raw = (DATA / "vtu" / "raw_zlib.vtu").read_bytes()
        node = (DATA / "tetgen" / "two_boxes.1.node").read_bytes()
        for end in [".ele", ".face"]:
            shutil.copy(DATA / "tetgen" / f"two_boxes.1{end}", self.folder / f"bad{end}")
        for name, content, place in [
                ("bad.vtu", ascii_vtu[:len(ascii_vtu) // 2], r"bad\.vtu:\d+: "),
                ("bad.vtu", ascii_vtu.replace(b"-3 0.25", b"-3 O.25"), r"bad\.vtu:19: 'fibre': found 'O\.25'"),
                ("bad.vtu", raw[:-50], r"bad\.vtu: byte \d+: "),
                ("bad.vtu", b"", r"bad\.vtu:1: "),
                ("bad.node", node.replace(b"12  3", b"13  3"), r"bad\.node:\d+: the file ends here"),
                ("bad.node", b"\0" * 100, r"bad\.node:1: ")]:
            with self.subTest(place=place):
                (self.folder / name).write_bytes(content)
                self.wrong(INPUT, name, "out.msh", "--", place)
                self.assertFalse((self.folder / "out.msh").exists())

    @unittest.skipIf(vtk is None, "VTK for Python is not installed")
    def test_vtk_reads_what_is_written(self):
        self.well("mesh", "convert", DATA / "vtu" / "raw.vtu", "data.msh")
        for form in ["vtu", "vtu-ascii"]:
            with self.subTest(format=form):
                self.well("mesh", "convert", "data.msh", f"{form}.vtu", "--format", form)
                reader = vtk.vtkXMLUnstructuredGridReader()
                errors = []
                reader.AddObserver("ErrorEvent", lambda *_: errors.append("error"))
                reader.SetFileName(str(self.folder / f"{form}.vtu"))
                reader.Update()
                self.assertEqual(errors, [])
                grid = reader.GetOutput()
                self.assertEqual((grid.GetNumberOfPoints(), grid.GetNumberOfCells()), (12, 12 + 4))
                self.assertEqual([grid.GetCellType(c) for c in range(16)], [vtk.VTK_TETRA] * 12 + [vtk.VTK_TRIANGLE] * 4)
                data = grid.GetCellData()
                tags = data.GetArray("region")
                self.assertEqual([tags.GetValue(c) for c in range(16)], [1] * 6 + [2] * 6 + [4, 4, 5, 5])
                fibre = data.GetArray("fibre")
                self.assertEqual(fibre.GetTuple(3), (8 / 3, -8.0, 1 / 9))
                self.assertEqual(fibre.GetTuple(15), (0.0, 0.0, 0.0))
                self.assertEqual(grid.GetPoint(11), (2.5 / 3, 0.7, 1 / 7))
                self.assertAlmostEqual(sum(self.volume(grid, c) for c in range(12)), 2.5 / 3 * 0.7 / 7, places=14)

    @staticmethod
    def volume(grid, cell):
        points = [grid.GetPoint(grid.GetCell(cell).GetPointId(i)) for i in range(4)]
        return vtk.vtkTetra.ComputeVolume(*points)


if __name__ == "__main__":
    unittest.main()
