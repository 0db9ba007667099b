"""tutti mesh quality and smooth, the partitioner voronoi: figures, files of every format, cases, wrong input."""

import json
import re
import sys
import unittest

from program import DATA, ROOT, SystemTest, box_case, run, tutti

USAGE, INPUT, IO = 2, 4, 5
FORMATS = {"msh41": "msh", "msh22": "msh", "msh41-ascii": "msh", "msh22-ascii": "msh", "vtu": "vtu", "vtu-ascii": "vtu"}
ONE = ["--devices", "cpu", "--threads", "1"]

try:
    import matplotlib
except ImportError:
    matplotlib = None


class Smoothing(SystemTest):
    def well(self, *arguments, **keywords):
        result = tutti(*arguments, cwd=self.folder, **keywords)
        self.assertEqual(result.code, 0, result.err)
        self.assertEqual(result.error_lines(), [])
        return result

    def wrong(self, code, *arguments, ranks=None):
        """The last arguments are patterns after "--"."""
        split = arguments.index("--")
        self.assert_error(tutti("mesh", *arguments[:split], cwd=self.folder, ranks=ranks), code, *arguments[split + 1:])

    def box(self, jitter="0.25", name="box.msh"):
        self.well("mesh", "generate", "box", "--cubes", "6", "5", "4", "--size", "6", "5", "4", "--split", "3", "--jitter",
                  jitter, "-o", name)

    def quality(self, mesh):
        self.well("mesh", "quality", mesh, "--json", "quality.json")
        return json.loads((self.folder / "quality.json").read_text(encoding="utf-8"))

    def smooth(self, *arguments, **keywords):
        return self.well("mesh", "smooth", *arguments, *ONE, **keywords)

    def content(self, mesh):
        """Vertices and the rest of a mesh, from its file in MSH 2.2."""
        self.well("mesh", "convert", mesh, "content.msh", "--format", "msh22-ascii")
        text = (self.folder / "content.msh").read_text(encoding="utf-8")
        head, nodes, tail = re.fullmatch(r"(?s)(.*\$Nodes\n\d+\n)(.*?)(\$EndNodes.*)", text).groups()
        (self.folder / "content.msh").unlink()
        return [tuple(map(float, line.split()[1:])) for line in nodes.splitlines()], (head, tail)

    def test_quality(self):
        self.box()
        result = self.well("mesh", "quality", "box.msh", "--json", "a.json", "--vtu", "a.vtu", "--worst", "3")
        report = json.loads((self.folder / "a.json").read_text(encoding="utf-8"))
        self.assertEqual((report["cells"], report["inverted"]), (720, 0))
        self.assertAlmostEqual(report["total_volume"], 120, places=10)
        self.assertTrue(0 < report["mean_ratio"]["min"] < report["mean_ratio"]["mean"] < 1)
        self.assertTrue(0 < report["dihedral"]["min"] < 70.5 < report["dihedral"]["max"] < 180)
        self.assertEqual(sum(report["mean_ratio"]["histogram"]["counts"]), 720)
        self.assertEqual(sum(report["dihedral"]["histogram"]["counts"]), 6 * 720)
        self.assertEqual([w["mean_ratio"] for w in report["worst"]], sorted(w["mean_ratio"] for w in report["worst"]))
        self.assertEqual(report["worst"][0]["mean_ratio"], report["mean_ratio"]["min"])
        self.assertIn("720", result.out)
        # The coloured mesh is a mesh, and says what the report says.
        data = (self.folder / "a.vtu").read_bytes()
        for name in [b"mean_ratio", b"radius_ratio", b"aspect_ratio", b"min_dihedral", b"volume"]:
            self.assertIn(b'Name="' + name + b'"', data)
        self.assertEqual(self.quality("a.vtu")["mean_ratio"], report["mean_ratio"])

    def test_quality_of_every_format(self):
        self.box()
        expected = self.quality("box.msh")
        for form, end in FORMATS.items():
            with self.subTest(format=form):
                self.well("mesh", "convert", "box.msh", f"{form}.{end}", "--format", form)
                found = self.quality(f"{form}.{end}")
                self.assertEqual({k: found[k] for k in expected if k != "worst"},
                                 {k: expected[k] for k in expected if k != "worst"})
        self.assertEqual(self.quality(f"{DATA}/tetgen/two_boxes.1")["cells"], 12)

    @unittest.skipIf(matplotlib is None, "matplotlib is not installed")
    def test_picture(self):
        self.box()
        self.well("mesh", "quality", "box.msh", "--png", "box.png")
        picture = (self.folder / "box.png").read_bytes()
        self.assertEqual(picture[:8], b"\x89PNG\r\n\x1a\n")
        self.assertGreater(len(picture), 50_000)
        self.assertEqual(sorted(p.name for p in self.folder.iterdir()), ["box.msh", "box.png"])
        self.wrong(IO, "quality", "box.msh", "--png", "no/box.png", "--", r"no/box\.png")

    def test_smooth_keeps_all_but_places(self):
        self.box()
        before = self.quality("box.msh")
        first, rest = self.content("box.msh")
        for options in [[], ["--energy", "l2v"], ["--sweeps", "jacobi"], ["--boundary", "fixed"]]:
            with self.subTest(options=options):
                result = self.smooth("box.msh", "-o", "better.msh", "--iterations", "30", "--json", "run.json", *options)
                after = self.quality("better.msh")
                self.assertEqual((after["cells"], after["inverted"]), (720, 0))
                self.assertGreater(after["mean_ratio"]["min"], 1.3 * before["mean_ratio"]["min"])
                self.assertGreater(after["mean_ratio"]["mean"], before["mean_ratio"]["mean"])
                self.assertGreater(after["dihedral"]["min"], before["dihedral"]["min"])
                self.assertAlmostEqual(after["total_volume"], 120, places=10)
                moved, same = self.content("better.msh")
                self.assertEqual(same, rest)
                self.assertNotEqual(moved, first)
                run = json.loads((self.folder / "run.json").read_text(encoding="utf-8"))
                energies = [state["energy"] for state in run["smoothing"]]
                self.assertGreater(len(energies), 2)
                for higher, lower in zip(energies, energies[1:]):
                    self.assertLessEqual(lower, higher * (1 + 1e-13))
                self.assertEqual(run["after"]["mean_ratio"], after["mean_ratio"])
                for a, b in zip(first, moved):
                    for x, y, side in zip(a, b, (6, 5, 4)):
                        if x in (0, side):
                            self.assertEqual(x, y)
                    if a[0] == 3 and 3 in (a[0], b[0]):
                        self.assertEqual(b[0], 3, "the regions' interface is a plane")

    def test_every_format_in_and_out(self):
        self.box()
        self.smooth("box.msh", "-o", "expected.msh", "--iterations", "3")
        expected = self.content("expected.msh")
        for form, end in FORMATS.items():
            with self.subTest(format=form):
                self.well("mesh", "convert", "box.msh", f"in-{form}.{end}", "--format", form)
                self.smooth(f"in-{form}.{end}", "-o", f"out.{end}", "--format", form, "--iterations", "3")
                vertices, rest = self.content(f"out.{end}")
                self.assertEqual(vertices, expected[0])
                if end == "msh":
                    self.assertEqual(rest, expected[1])
        result = self.smooth(f"{DATA}/tetgen/two_boxes.1", "-o", "boxes.vtu")
        self.assertIn("boxes.vtu: 12 cells, 12 vertices", result.out)

    def test_devices_and_ranks_change_no_byte(self):
        self.box()
        self.smooth("box.msh", "-o", "expected.msh", "--iterations", "4")
        expected = (self.folder / "expected.msh").read_bytes()
        self.well("mesh", "smooth", "box.msh", "-o", "a.msh", "--iterations", "4", "--devices", "fake:2,cpu", "--threads", "2",
                  "--weights", "1,2,1")
        self.assertEqual((self.folder / "a.msh").read_bytes(), expected)
        self.smooth("box.msh", "-o", "b.msh", "--iterations", "4", "--partition", "voronoi", "--weights", "1,1,0.5", ranks=3)
        self.assertEqual((self.folder / "b.msh").read_bytes(), expected)

    def test_inverted_cells_are_turned(self):
        self.box()
        text = "".join(self.content("box.msh")[1][0])
        vertices, (head, tail) = self.content("box.msh")
        # The vertex nearest to the middle goes through the far side of its cells.
        middle = min(range(len(vertices)), key=lambda v: sum((a - b) ** 2 for a, b in zip(vertices[v], (2, 2, 2))))
        vertices[middle] = tuple(x + 1.4 for x in vertices[middle])
        lines = "".join(f"{v + 1} {x!r} {y!r} {z!r}\n" for v, (x, y, z) in enumerate(vertices))
        self.write("tangled.msh", head + lines + tail)
        before = self.quality("tangled.msh")
        self.assertGreater(before["inverted"], 0, text)
        self.assertLess(before["mean_ratio"]["min"], 0)
        result = self.smooth("tangled.msh", "-o", "valid.msh")
        self.assertIn("of untangling", result.out)
        after = self.quality("valid.msh")
        self.assertEqual((after["cells"], after["inverted"]), (720, 0))
        self.assertGreater(after["mean_ratio"]["min"], 0.3)
        self.wrong(INPUT, "smooth", "tangled.msh", "-o", "no.msh", "--untangle", "0", *ONE, "--",
                   r"mesh: \d+ of 720 cells are inverted; use --untangle")
        self.assertFalse((self.folder / "no.msh").exists())

    def test_swaps(self):
        self.box()
        result = self.smooth("box.msh", "-o", "swapped.msh", "--iterations", "20", "--swap", "3", "--json", "run.json")
        before, swapped = self.quality("box.msh"), self.quality("swapped.msh")
        self.assertEqual(swapped["inverted"], 0)
        self.assertGreater(swapped["mean_ratio"]["min"], before["mean_ratio"]["min"])
        self.assertAlmostEqual(swapped["total_volume"], 120, places=10)
        count = json.loads((self.folder / "run.json").read_text())["swapped"]
        self.assertEqual("swaps of cells" in result.out, count > 0)
        self.smooth("box.msh", "-o", "ranks.msh", "--iterations", "20", "--swap", "3", ranks=2)
        self.assertEqual((self.folder / "ranks.msh").read_bytes(), (self.folder / "swapped.msh").read_bytes())

    def test_triangles(self):
        # A square of 6 x 6 squares, cut in triangles, with tags and without.
        n, nodes, cells = 6, [], []
        for j in range(n + 1):
            for i in range(n + 1):
                inside = 0 < i < n and 0 < j < n
                nodes.append((i + inside * 0.35 * ((7 * i + 5 * j) % 3 - 1), j + inside * 0.35 * ((3 * i + 2 * j) % 3 - 1), 0))
        for j in range(n):
            for i in range(n):
                a = j * (n + 1) + i + 1
                cells += [(a, a + 1, a + n + 2), (a, a + n + 2, a + n + 1)]
        for tag in [0, 4]:
            with self.subTest(tag=tag):
                text = "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes\n" + f"{len(nodes)}\n"
                text += "".join(f"{k + 1} {x!r} {y!r} {z!r}\n" for k, (x, y, z) in enumerate(nodes))
                text += f"$EndNodes\n$Elements\n{len(cells)}\n"
                text += "".join(f"{k + 1} 2 2 {tag} 1 {a} {b} {c}\n" for k, (a, b, c) in enumerate(cells))
                self.write("plane.msh", text + "$EndElements\n")
                before = self.quality("plane.msh")
                self.assertEqual((before["cells"], before["triangles"]), (72, True))
                after = {}
                for form, end in FORMATS.items():
                    self.smooth("plane.msh", "-o", f"out-{form}.{end}", "--format", form, "--iterations", "20")
                    after[form] = self.quality(f"out-{form}.{end}")
                    self.assertEqual((after[form]["cells"], after[form]["inverted"]), (72, 0))
                    self.assertAlmostEqual(after[form]["total_volume"], 36, places=10)
                    self.assertGreater(after[form]["mean_ratio"]["min"], before["mean_ratio"]["min"])
                    self.assertEqual(after[form]["mean_ratio"], after["msh41"]["mean_ratio"])
                    self.assertEqual(after[form]["worst"][0]["region"], tag)
        self.smooth("plane.msh", "-o", "a.msh", "--iterations", "20", ranks=2)
        self.assertEqual((self.folder / "a.msh").read_bytes(), (self.folder / "out-msh41.msh").read_bytes())
        self.well("mesh", "quality", "plane.msh", "--vtu", "plane.vtu")
        self.assertIn(b"mean_ratio", (self.folder / "plane.vtu").read_bytes())
        # Other commands want tetrahedra.
        self.wrong(INPUT, "info", "plane.msh", "--", r"there are no tetrahedra")
        self.wrong(USAGE, "smooth", "plane.msh", "-o", "o.msh", "--boundary", "free", *ONE, "--", "choose --boundary slide")

    def test_case(self):
        self.box()
        self.smooth("box.msh", "-o", "expected.msh", "--energy", "l2v", "--iterations", "3", "--boundary", "fixed")
        case = ('[mesh]\nfile = "box.msh"\n[smooth]\nenergy = "l2v"\niterations = 3\nboundary = "fixed"\n'
                '[devices]\nlist = "fake:1,cpu"\nthreads = 1\nweights = [1, 3]\n[partition]\nmethod = "voronoi"\n'
                '[output]\nmesh = "out.msh"\njson = "run.json"\n')
        self.write("case.toml", case)
        # From another folder: names of files are those beside the case.
        result = tutti("mesh", "smooth", self.folder / "case.toml")
        self.assertEqual(result.code, 0, result.err)
        expected = (self.folder / "expected.msh").read_bytes()
        self.assertEqual((self.folder / "out.msh").read_bytes(), expected)
        self.assertEqual(len(json.loads((self.folder / "run.json").read_text())["smoothing"]), 4)
        # The command line goes first.
        self.well("mesh", "smooth", "case.toml", "--iterations", "1", "-o", "other.msh")
        self.assertEqual(len(json.loads((self.folder / "run.json").read_text())["smoothing"]), 2)
        self.assertNotEqual((self.folder / "other.msh").read_bytes(), expected)
        for old, new, code, said in [
                ("energy", "enrgy", INPUT, r"case\.toml:4: .*'smooth\.enrgy'; did you mean 'smooth\.energy'"),
                ('"l2v"', '"volume"', INPUT, r"case\.toml:4.*smooth\.energy.*'?shape"),
                ("iterations = 3", "iterations = -1", INPUT, r"case\.toml:5.*smooth\.iterations"),
                ('file = "box.msh"', "", INPUT, r"mesh\.file"),
                ('file = "box.msh"', 'file = "none.msh"', IO, r"none\.msh: cannot open"),
                ('mesh = "out.msh"', "", USAGE, r"case\.toml: no mesh to write; give -o OUT, or output\.mesh"),
                ("[smooth]", "[smooth", INPUT, r"case\.toml:3")]:
            with self.subTest(new=new):
                self.assertIn(old, case)
                self.write("case.toml", case.replace(old, new, 1))
                self.wrong(code, "smooth", "case.toml", "--", said)
        self.wrong(IO, "smooth", "none.toml", "-o", "x.msh", "--", r"none\.toml: cannot open", ranks=2)

    def test_wrong_input(self):
        self.box()
        self.wrong(USAGE, "smooth", "box.msh", "--", r"box\.msh: no mesh to write; give -o OUT")
        self.wrong(USAGE, "smooth", "box.msh", "-o", "box.msh", *ONE, "--", r"is the mesh to be read")
        self.wrong(USAGE, "smooth", "box.msh", "-o", "box.stl", *ONE, "--", r"must end in \.msh .* or \.vtu")
        self.wrong(USAGE, "smooth", "box.msh", "-o", "o.msh", "--energy", "volume", "--", "energy")
        self.wrong(USAGE, "smooth", "box.msh", "-o", "o.msh", "--method", "thesis", *ONE, "--", "choose --energy l2v", ranks=2)
        self.wrong(USAGE, "smooth", "box.msh", "-o", "o.msh", "--iterations", "-1", "--", "iterations")
        self.wrong(USAGE, "smooth", "box.msh", "-o", "o.msh", "--weights", "1,2", *ONE, "--", "2 numbers for 1 devices")
        self.wrong(USAGE, "smooth", "box.msh", "-o", "o.msh", "--partition", "voronoy", *ONE, "--", "voronoi")
        self.wrong(IO, "smooth", "none.msh", "-o", "o.msh", *ONE, "--", r"none\.msh: cannot open", ranks=2)
        self.wrong(IO, "smooth", "box.msh", "-o", "no/o.msh", *ONE, "--", r"no/o\.msh: cannot create")
        self.wrong(IO, "quality", "box.msh", "--json", "no/q.json", "--", r"no/q\.json")
        self.wrong(IO, "quality", "none.msh", "--", r"none\.msh: cannot open")
        whole = (self.folder / "box.msh").read_bytes()
        for content in [whole[:len(whole) // 2], b"", b"$MeshFormat\n4.1 1 8\n", b"\0" * 64]:
            (self.folder / "bad.msh").write_bytes(content)
            for command in [["quality", "bad.msh"], ["smooth", "bad.msh", "-o", "o.msh", *ONE]]:
                self.wrong(INPUT, *command, "--", r"bad\.msh:")
        self.wrong(INPUT, "smooth", DATA / "elements/gmsh/tube.msh", "-o", "o.msh", *ONE, "--", r"tube\.msh")
        self.assertFalse((self.folder / "o.msh").exists())

    @unittest.skipIf(matplotlib is None, "matplotlib is not installed")
    def test_the_papers_cube(self):
        out = self.folder / "out"
        result = run([sys.executable, str(ROOT / "papers/mcguiness2011/meshes.py"), "cube", "-o", str(out), *ONE])
        self.assertEqual(result.code, 0, result.err)
        cube = json.loads((out / "figures.json").read_text())["cube"]
        self.assertEqual(cube["after"]["inverted"], 0)
        self.assertGreater(cube["after"]["mean_ratio"], 0.4)
        self.assertGreater(cube["after"]["mean"], cube["before"]["mean"])
        self.assertEqual((out / "figure3_3.png").read_bytes()[:4], b"\x89PNG")
        self.assertIn("| smoothed | ", (out / "report.md").read_text())

    def test_voronoi(self):
        self.box("0.1")
        expected = self.run_case(box_case(n=8))
        voronoi = ["--set", 'partition.method="voronoi"']
        for options in [[], ["--devices", "fake:2,cpu", "--threads", "1"]]:
            self.assertEqual(self.run_case(box_case(n=8), *voronoi, *options)["checksum"], expected["checksum"])
        self.assertEqual(self.run_case(box_case(n=8), *voronoi, ranks=3)["checksum"], expected["checksum"])
        for weights in ["1,1,1,1", "0.97,0.03", "1,3,0,2"]:
            with self.subTest(weights=weights):
                out = self.well("partition", "box.msh", "--method", "voronoi", "--weights", weights, "-o", "parts.vtu").out
                self.assertIn("cells 720, ", out)
                given = [float(w) for w in weights.split(",")]
                rows = [int(line.split()[2].replace(",", "")) for line in out.split("part  ")[1].splitlines()[1:][:len(given)]]
                self.assertEqual(sum(rows), 720)
                for w, n in zip(given, rows):
                    share = 720 * w / sum(given)
                    self.assertLessEqual(abs(n - share), max(1, 0.02 * share) + 1)
        result = tutti("partition", "box.msh", "--method", "voronoi", "--weights", "-1,2", cwd=self.folder)
        self.assert_error(result, USAGE, "weights")


if __name__ == "__main__":
    unittest.main()
