"""tutti nodes: every kind into every format and back, what info says, wrong options and wrong files."""

import math
import struct
import unittest

from program import SystemTest, tutti

try:
    import vtk
except ImportError:  # Debian: python3-vtk9
    vtk = None

USAGE, INPUT, IO = 2, 4, 5
KINDS = {"icosahedral": ["--m", "4"], "fibonacci": ["--count", "150"], "relaxed": ["--count", "150", "--sweeps", "20"],
         "random": ["--count", "150", "--seed", "4", "--separation", "0.4"]}
FORMATS = ["xyz", "txt", "bin", "raw", "f64", "vtp", "vtu"]


class Nodes(SystemTest):
    def well(self, *arguments, **keywords):
        result = tutti("nodes", *arguments, cwd=self.folder, **keywords)
        self.assertEqual(result.code, 0, result.err)
        self.assertEqual(result.error_lines(), [])
        return result.out

    def wrong(self, code, *arguments):
        """The last arguments are patterns after "--"."""
        split = arguments.index("--")
        self.assert_error(tutti("nodes", *arguments[:split], cwd=self.folder), code, *arguments[split + 1:])

    def test_every_kind_in_every_format(self):
        for kind, options in KINDS.items():
            told = set()
            for form in FORMATS:
                with self.subTest(kind=kind, format=form):
                    out = self.well("generate", kind, *options, "-o", f"a.{form}")
                    self.assertIn(f"a.{form}: {162 if kind == 'icosahedral' else 150} nodes", out)
                    told.add(self.well("info", f"a.{form}"))
            self.assertEqual(len(told), 1, "the same nodes in every format")

    def test_what_info_says(self):
        self.well("generate", "icosahedral", "--count", "12", "-o", "a.xyz")
        out = self.well("info", "a.xyz")
        self.assertIn("12 nodes", out)
        self.assertIn("63.43 degrees", out)  # atan 2
        self.assertIn("mesh ratio   1.1784", out)
        self.assertIn("cells        1.0000 to 1.0000", out)
        self.assertIn("weights      none", out)

    def test_weights(self):
        self.well("generate", "random", "--count", "300", "--weights", "-o", "a.xyzw.bin")
        values = struct.unpack("<1200d", (self.folder / "a.xyzw.bin").read_bytes())
        self.assertAlmostEqual(sum(values[3::4]), 4 * math.pi, 10)
        for i in range(0, 1200, 4):
            self.assertAlmostEqual(sum(x * x for x in values[i:i + 3]), 1, 14)
        self.assertIn("weights      sum 12.566", self.well("info", "a.xyzw.bin"))

    def test_one_rank_writes(self):
        one = self.well("generate", "relaxed", "--count", "150", "-o", "a.bin")
        first = (self.folder / "a.bin").read_bytes()
        self.assertEqual(self.well("generate", "relaxed", "--count", "150", "-o", "a.bin", ranks=3), one)
        self.assertEqual((self.folder / "a.bin").read_bytes(), first)

    @unittest.skipIf(vtk is None, "no VTK")
    def test_vtk_reads_it(self):
        for form, reader in {"vtp": "vtkXMLPolyDataReader", "vtu": "vtkXMLUnstructuredGridReader"}.items():
            with self.subTest(format=form):
                self.well("generate", "icosahedral", "--m", "3", "--weights", "-o", f"a.{form}")
                source = getattr(vtk, reader)()
                source.SetFileName(str(self.folder / f"a.{form}"))
                source.Update()
                data = source.GetOutput()
                self.assertEqual(data.GetNumberOfPoints(), 92)
                self.assertEqual(data.GetNumberOfCells(), 1)
                self.assertEqual(data.GetCell(0).GetNumberOfPoints(), 92)
                self.assertEqual(data.GetPoint(0), (0.0, 0.0, 1.0))
                self.assertEqual(data.GetPointData().GetArray("weights").GetNumberOfTuples(), 92)

    def test_wrong_options(self):
        self.wrong(USAGE, "generate", "--", "icosahedral, fibonacci, relaxed, random")
        self.wrong(USAGE, "generate", "icosahedral", "--count", "10000", "-o", "a.xyz", "--", "9612", "10242")
        self.wrong(USAGE, "generate", "icosahedral", "--count", "3", "-o", "a.xyz", "--", "12 .m = 1.")
        self.wrong(USAGE, "generate", "icosahedral", "-o", "a.xyz", "--", "--count N or --m M is needed")
        self.wrong(USAGE, "generate", "relaxed", "--m", "3", "--count", "92", "-o", "a.xyz", "--", "--count", "--m")
        self.wrong(USAGE, "generate", "relaxed", "--m", "3", "--sweeps", "-1", "-o", "a.xyz", "--", "-1 sweeps")
        self.wrong(USAGE, "generate", "fibonacci", "--count", "-5", "-o", "a.xyz", "--", "-5 nodes")
        self.wrong(USAGE, "generate", "fibonacci", "-o", "a.xyz", "--", "--count")
        self.wrong(USAGE, "generate", "random", "--count", "9", "--separation", "0.9", "-o", "a.xyz", "--", "0 to 0.7")
        self.wrong(USAGE, "generate", "fibonacci", "--count", "9", "-o", "a.csv", "--", "a.csv", "must end in .xyz")
        self.wrong(USAGE, "generate", "fibonacci", "--count", "9", "-o", "a.xyzw.bin", "--", "no weights")
        self.assertEqual(list(self.folder.iterdir()), [], "nothing is left of them")

    def test_wrong_files(self):
        self.wrong(IO, "info", "missing.xyz", "--", "missing.xyz: cannot open the file of nodes")
        for name, text, *patterns in [
                ("empty.xyz", "", "empty.xyz: there are no nodes"),
                ("words.xyz", "1 0 0\nx y z\n", "words.xyz:2: found 'x'"),
                ("short.xyz", "1 0 0\n0 1\n", "short.xyz:2: the line ends"),
                ("nan.xyz", "1 0 0\nnan 0 0\n", "nan.xyz:2: node 1", "finite"),
                ("length.xyz", "1 0 0\n# far\n2 0 0\n", "length.xyz:3: node 1 lies 2 from the origin", "divide"),
                ("twice.xyz", "1 0 0\n0 1 0\n1 0 0\n", "nodes 0 and 2", "remove one"),
                ("weights.xyz", "1 0 0 1\n0 1 0 1\n", "sum of the weights is 2", "4 pi"),
                ("a.bin", "0123456789", "10 bytes", "24 or 32"),
                ("a.vtp", "<VTKFile", "a.vtp:1: ", "not a VTK file"),
                ("a.csv", "1,0,0", "a.csv: unsupported format of nodes")]:
            with self.subTest(file=name):
                self.write(name, text)
                self.wrong(INPUT, "info", name, "--", *patterns)


if __name__ == "__main__":
    unittest.main()
