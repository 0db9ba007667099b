"""tutti run with model = "graph": batches of sources, checkpoints, restarts on other ranks and devices, outputs."""

import csv
import json
import re
import shutil
import signal
import sys
import unittest

from program import ROOT, SystemTest, tutti
from running import Running, wait_until

sys.path.insert(0, str(ROOT / "python"))
try:
    import numpy
except ImportError:
    numpy = None
try:
    import networkx
except ImportError:
    networkx = None

CASE = """
model = "graph"
[graph]
generate = "ssca2"
scale = 8
directed = true
filter_eighths = true
[measure]
sources = 100
[steps]
sources = 10
[checkpoint]
every = 2
keep = 9
"""


class GraphRun(SystemTest):
    def setUp(self):
        super().setUp()
        self.case = self.write("case.toml", CASE)

    def go(self, *arguments, ranks=None, code=0):
        result = tutti("run", *arguments, ranks=ranks, cwd=self.folder)
        self.assertEqual(result.code, code, result.err + result.out)
        return result

    def values(self, name):
        return (self.folder / name / "betweenness.csv").read_text()

    def test_restarts_have_the_same_bits(self):
        self.go(self.case, "-o", "whole", "--devices", "cpu")
        whole = self.values("whole")
        checkpoints = self.folder / "whole" / "checkpoints"
        self.assertEqual([path.name for path in sorted(checkpoints.iterdir())],
                         [f"step-{step:012}.h5" for step in (2, 4, 6, 8, 10)])
        summary = json.loads((self.folder / "whole" / "summary.json").read_text())
        self.assertEqual((summary["model"], summary["time"], summary["advance"]["unit"]), ("graph", 100, "sources"))
        for step, ranks, devices in [(2, 3, "cpu"), (6, None, "fake:2,cpu"), (4, 2, "fake:1"), (10, None, "cpu")]:
            with self.subTest(step=step):
                self.go("--restart", checkpoints / f"step-{step:012}.h5", "-o", f"from{step}", "--devices", devices, ranks=ranks)
                self.assertEqual(self.values(f"from{step}"), whole)
                after = json.loads((self.folder / f"from{step}" / "summary.json").read_text())
                self.assertEqual((after["checksum"], after["diagnostics"]), (summary["checksum"], summary["diagnostics"]))
        # Other steps, and vertices in parts.
        self.go("--restart", checkpoints / "step-000000000004.h5", "-o", "parts", "--set", 'devices.placement="parts"', "--set",
                "steps.sources=7", ranks=2)
        self.assertEqual(self.values("parts"), whole)
        # The command is the short form of the case.
        tutti("graph", "generate", "ssca2", "--scale", 8, "-o", "graph.el", cwd=self.folder)
        tutti("graph", "betweenness", "graph.el", "--directed", "--filter-eighths", "--sources", 100, "-o", "short.csv",
              cwd=self.folder)
        self.assertEqual((self.folder / "short.csv").read_text(), whole)

    def test_parts_of_files(self):
        """No rank has the whole graph: the bits of copies, and checkpoints that either continues."""
        for kind, options in [("ssca2", ["--scale", 8]), ("grid", ["--rows", 2, "--columns", 70])]:
            name = f"{kind}.el"
            tutti("graph", "generate", kind, *options, "-o", name, cwd=self.folder)
            directed = "true" if kind == "ssca2" else "false"
            case = self.write(f"{kind}.toml", f'''model = "graph"
[graph]
file = "{name}"
directed = {directed}
[measure]
sources = 100
[steps]
sources = 30
[checkpoint]
every = 1
keep = 9
''')
            parts = ["--set", 'devices.placement="parts"']
            self.go(case, "-o", f"{kind}-copies", "--devices", "cpu")
            whole = self.values(f"{kind}-copies")
            first = "checkpoints/step-000000000001.h5"
            for ranks, devices in [(None, "fake:2"), (2, "cpu"), (3, "fake:2"), (4, "cpu"), (7, "cpu")]:
                with self.subTest(kind=kind, ranks=ranks, devices=devices):
                    if ranks in (2, 4):  # the others go on from a checkpoint of copies
                        self.go(case, "-o", f"{kind}-{ranks}", "--devices", devices, *parts, ranks=ranks)
                        self.assertEqual(self.values(f"{kind}-{ranks}"), whole)
                        self.go("--restart", self.folder / f"{kind}-{ranks}" / first, "-o", f"{kind}-{ranks}-then-copies", "--set",
                                'devices.placement="copies"', "--devices", "cpu")
                        self.assertEqual(self.values(f"{kind}-{ranks}-then-copies"), whole)
                    else:
                        self.go("--restart", self.folder / f"{kind}-copies" / first, "-o", f"{kind}-copies-then-{ranks}", *parts,
                                "--devices", devices, ranks=ranks)
                        self.assertEqual(self.values(f"{kind}-copies-then-{ranks}"), whole)

    def test_no_room_is_refused(self):
        with open("/proc/meminfo", encoding="utf-8") as file:
            if next(int(line.split()[1]) for line in file if line.startswith("MemAvailable:")) > 100 << 20:
                self.skipTest("this machine has more than 100 GiB")
        self.write("many.el", "# vertices 2147483646\n0 1\n")
        case = self.write("many.toml", 'model = "graph"\n[graph]\nfile = "many.el"\n')
        for placement, ranks in [("auto", None), ("parts", 2)]:
            with self.subTest(placement=placement):
                result = self.go(case, "-o", "many", "--set", f'devices.placement="{placement}"', ranks=ranks, code=3)
                self.assertEqual(len(result.error_lines()), 1, result.err)
                self.assertIn("memory", result.err)

    def test_a_lost_device_is_told(self):
        """Whenever it is lost, in parts with several batches under way: the values of all sources, or an error."""
        self.go(self.case, "-o", "whole", "--devices", "cpu")
        options = ["--devices", "fake:2", "--set", 'devices.placement="parts"', "--overwrite"]
        codes = set()
        for launches in [5, *range(50, 2000, 150), 100000]:
            with self.subTest(launches=launches):
                result = tutti("run", self.case, "-o", "lost", *options, "--set", f"devices.fake_lose_after={launches}",
                               cwd=self.folder)
                codes.add(result.code)
                if result.code == 0:
                    self.assertEqual(self.values("lost"), self.values("whole"))
                    break
                self.assertEqual(result.code, 7, result.err)
                self.assertRegex(result.err, r"fake:\d: the device was lost")
        self.assertEqual(codes, {0, 7})

    def test_killed(self):
        self.go(self.case, "-o", "whole", "--devices", "cpu")
        for ranks in (None, 2):
            folder = self.folder / f"killed{ranks}"
            with Running(self.folder, "-q", "run", self.case, "-o", folder, "--devices", "fake:1", "--set",
                         "steps.sources=1", "--set", "checkpoint.every=1", ranks=ranks) as running:
                wait_until(lambda: list((folder / "checkpoints").glob("step-*.h5")), "a checkpoint")
                for pid in running.ranks():
                    running.signal(signal.SIGKILL, pid)
                wait_until(lambda: not running.ranks(), "all ranks are gone")
            self.assertFalse((folder / "betweenness.csv").exists())
            (folder / "checkpoints" / "step-000000009999.h5.tmp").write_bytes(b"half")
            self.go("--restart", folder, "--devices", "cpu")
            self.assertEqual(self.values(folder.name), self.values("whole"))

    def test_stop_and_progress(self):
        (self.folder / "stopped").mkdir()
        with Running(self.folder, "run", self.case, "-o", self.folder / "stopped", "--devices", "fake:1", "--set",
                     "steps.sources=1", "--set", "report.every=1") as running:
            wait_until(lambda: (self.folder / "stopped" / "metrics.jsonl").exists(), "a start")
            (self.folder / "stopped" / "stop").touch()
            result = running.wait()
        self.assertEqual(result.code, 0, result.err)
        self.assertRegex(result.out, r"\d+ of 100 sources +\d+\.\d M edges x sources/s")
        if "stopped after" in result.out:
            self.assertRegex(result.out, r"stopped after \d+ of 100 sources; continue with: tutti run --restart")
            self.assertFalse((self.folder / "stopped" / "betweenness.csv").exists())
        self.go("--restart", "stopped", "--devices", "cpu")
        self.go(self.case, "-o", "whole", "--devices", "cpu")
        self.assertEqual(self.values("stopped"), self.values("whole"))

    def test_damage(self):
        self.go(self.case, "-o", "out", "--devices", "cpu")
        whole = self.values("out")
        newest = self.folder / "out" / "checkpoints" / "step-000000000010.h5"
        content = bytearray(newest.read_bytes())
        content[len(content) // 2] ^= 1
        newest.write_bytes(content)
        result = self.go("--restart", "out", code=4)
        self.assertEqual(len(result.error_lines()), 1)
        self.assertIn("damaged", result.err)
        self.go("--restart", "out", "--fallback", "--devices", "cpu")
        self.assertEqual(self.values("out"), whole)

    def test_another_graph_or_list_is_refused(self):
        self.write("a.el", "1 2\n2 3\n3 4\n")
        self.write("b.el", "1 2\n2 3\n3 5\n")
        self.write("s.txt", "1\n3\n")
        case = self.write("file.toml", 'model = "graph"\n[graph]\nfile = "a.el"\n[measure]\nsource_file = "s.txt"\n')
        self.go(case, "-o", "out")
        self.assertEqual(self.values("out"), "vertex,betweenness\n1,0\n2,3\n3,1\n4,0\n")
        shutil.copy(self.folder / "a.el", self.folder / "moved.el")
        self.go("--restart", "out", "-o", "again", "--set", f'graph.file="{self.folder}/moved.el"')
        self.assertEqual(self.values("again"), self.values("out"))
        for ranks in (None, 2):
            result = self.go("--restart", "out", "-o", "other", "--set", f'graph.file="{self.folder}/b.el"', ranks=ranks, code=4)
            self.assertEqual(len(result.error_lines()), 1, result.err)
            self.assertIn("the graph has changed: 4 vertices", result.err)
            result = self.go("--restart", "out", "-o", "other", "--set", "graph.directed=true", ranks=ranks, code=4)
            self.assertIn("graph.directed is now true, but the checkpoint", result.err)
        self.write("s.txt", "1\n2\n")
        result = self.go("--restart", "out", "-o", "other", code=4)
        self.assertIn("the sources differ", result.err)

    def test_wrong_cases_are_one_line(self):
        self.write("plain.el", "1 2\n")
        for k, (text, words) in enumerate([
                ("", "graph.file"),
                ('[graph]\nfile = "none.el"\n', "none.el"),
                ('[graph]\ngenerate = "torus"\nrows = 3\n', "graph.columns"),
                ('[graph]\ngenerate = "torus"\nrows = 3\ncolumns = 3000000000\n', "at most"),
                ('[graph]\nfile = "plain.el"\nfilter_eighths = true\n', "weights"),
                ('[graph]\nfile = "plain.el"\n[measure]\nof = "components"\nsources = 1\n', "components"),
                ('[graph]\nfile = "plain.el"\n[time]\nend = 1\n', "all sources are done"),
                ('[graph]\nfile = "plain.el"\n[mesh]\nfile = "x.msh"\n', "no geometry"),
                ('[graph]\nfile = "plain.el"\n[output]\nformats = ["arrow"]\n', "parquet"),
        ]):
            with self.subTest(text=text):
                case = self.write("wrong.toml", 'model = "graph"\n' + text)
                result = tutti("run", case, "-o", "wrong", ranks=[None, 2][k % 2], cwd=self.folder)
                self.assertIn(result.code, (4, 5), result.err)
                self.assertEqual(len(result.error_lines()), 1, result.err)
                self.assertIn(words, result.err)
        result = tutti("run", self.case, "-o", "wrong", "--devices", "fake:1", "--set", 'devices.fake_memory="8KiB"', cwd=self.folder)
        self.assertEqual((result.code, len(result.error_lines())), (3, 1), result.err)
        self.assertIn("fake:0", result.err)

    def test_plan(self):
        for ranks, options, parts in [(None, ["--devices", "cpu"], 1), (2, ["--devices", "fake:1,cpu"], 4),
                                      (2, ["--devices", "cpu", "--set", 'devices.placement="parts"'], 2)]:
            with self.subTest(ranks=ranks, options=options):
                result = tutti("plan", self.case, *options, ranks=ranks, cwd=self.folder)
                self.assertEqual((result.code, result.err), (0, ""))
                self.assertRegex(result.out, rf"vertices, {parts} part")
                self.assertEqual(len(re.findall(r"^part \d on .*: [\d.]+ \w+ of [\d.]+ \w+$", result.out, re.M)), parts, result.out)
                self.assertRegex(result.out, r"measured: [\d,]+ edges x sources/s, .* for [\d,]+ sources\n")
        self.assertEqual(sorted(path.name for path in self.folder.iterdir()), ["case.toml"], "nothing is left")
        for name, text, said in [("none.toml", "# vertices 0\n", "0 vertices"), ("one.toml", "# vertices 1\n", "for 1 sources")]:
            self.write("small.el", text)
            result = tutti("plan", self.write(name, 'model = "graph"\n[graph]\nfile = "small.el"\n'), cwd=self.folder)
            self.assertEqual((result.code, result.err), (0, ""))
            self.assertIn(said, result.out)
        nodes = tutti("plan", self.case, "--nodes", "1,4", cwd=self.folder)
        self.assertEqual((nodes.code, len(nodes.error_lines())), (2, 1), nodes.err)
        self.assertIn("remove --nodes", nodes.err)
        small = tutti("plan", self.case, "--devices", "fake:1", "--set", 'devices.fake_memory="8KiB"', cwd=self.folder)
        self.assertEqual((small.code, len(small.error_lines())), (3, 1), small.err)

    def test_small_graphs(self):
        for k, (text, expected) in enumerate([
                ("# vertices 0\n", ""),
                ("# vertices 1\n", "0,0\n"),
                ("# vertices 3\n", "0,0\n1,0\n2,0\n"),
                ("5 5\n", "5,0\n"),
                ("0 1\n0 2\n0 3\n", "0,6\n1,0\n2,0\n3,0\n"),
                ("# vertices 7\n0 1\n1 2\n4 5\n5 6\n", "0,0\n1,2\n2,0\n3,0\n4,0\n5,2\n6,0\n")]):
            self.write("small.el", text)
            case = self.write("small.toml", 'model = "graph"\n[graph]\nfile = "small.el"\n')
            for ranks, options in [(None, []), (2, ["--set", 'devices.placement="parts"'] if k % 2 == 0 else [])]:
                with self.subTest(text=text, ranks=ranks):
                    self.go(case, "-o", "small", "--overwrite", *options, ranks=ranks)
                    self.assertEqual(self.values("small"), "vertex,betweenness\n" + expected)

    def test_long_path(self):
        n = 1000000
        self.write("s.txt", "0\n")
        case = self.write("path.toml", f'model = "graph"\n[graph]\ngenerate = "grid"\nrows = 1\ncolumns = {n}\n[measure]\nsource_file = "s.txt"\n')
        self.go(case, "-o", "out", "--devices", "cpu")
        lines = self.values("out").split()
        self.assertEqual(lines[1], "0,0")
        for v in (1, 2, 499999, n - 2, n - 1):
            self.assertEqual(lines[1 + v], f"{v},{n - 1 - v}")

    def test_other_measures(self):
        self.write("path.el", "1 2\n2 3\n8 9\n")
        for measure, lines in [("components", ["1,1", "2,1", "3,1", "8,8", "9,8"]), ("closeness", None)]:
            case = self.write("case.toml", f'model = "graph"\n[graph]\nfile = "path.el"\n[measure]\nof = "{measure}"\n[steps]\nsources = 2\n'
                              '[checkpoint]\nevery = 1\nkeep = 9\n')
            self.go(case, "-o", measure, "--devices", "cpu", ranks=2)
            tutti("graph", "betweenness", "path.el", "--measure", measure, "-o", "short.csv", cwd=self.folder)
            expected = (self.folder / "short.csv").read_text()
            self.assertEqual((self.folder / measure / f"{measure}.csv").read_text(), expected)
            if lines:
                self.assertEqual(expected.split()[1:], lines)
            self.go("--restart", self.folder / measure / "checkpoints" / "step-000000000001.h5", "-o", measure + "2", ranks=3)
            self.assertEqual((self.folder / (measure + "2") / f"{measure}.csv").read_text(), expected)


class Files(SystemTest):
    """What is written, as NumPy reads it."""

    def setUp(self):
        super().setUp()
        if numpy is None:
            self.skipTest("NumPy is not installed")

    def test_numpy(self):
        self.write("graph.el", "10 20\n20 30\n30 40\n")
        case = self.write("case.toml", 'model = "graph"\n[graph]\nfile = "graph.el"\n[output]\nformats = ["csv", "npy", "npz"]\ntop = 2\n')
        result = tutti("run", case, "-o", "out", cwd=self.folder)
        self.assertEqual(result.code, 0, result.err)
        self.assertRegex(result.out, r"20  4\n +30  4")
        table = numpy.load(self.folder / "out" / "betweenness.npy")
        self.assertEqual(table["vertex"].tolist(), [10, 20, 30, 40])
        self.assertEqual(table["betweenness"].tolist(), [0, 4, 4, 0])
        with numpy.load(self.folder / "out" / "betweenness.npz") as file:
            self.assertEqual(sorted(file), ["betweenness", "vertex"])
            self.assertEqual(file["vertex"].tolist(), [10, 20, 30, 40])
            self.assertEqual(file["betweenness"].tolist(), [0, 4, 4, 0])
        with open(self.folder / "out" / "betweenness.csv", newline="") as file:
            self.assertEqual([row["betweenness"] for row in csv.DictReader(file)], ["0", "4", "4", "0"])
        for name in ("labels.npy", "labels.npz"):
            tutti("graph", "betweenness", "graph.el", "--measure", "components", "-o", name, cwd=self.folder)
        self.assertEqual(numpy.load(self.folder / "labels.npy")["component"].tolist(), [10] * 4)
        self.assertEqual(numpy.load(self.folder / "labels.npz")["component"].tolist(), [10] * 4)
        self.write("empty.el", "# vertices 0\n")
        tutti("graph", "betweenness", "empty.el", "-o", "empty.npz", cwd=self.folder)
        self.assertEqual(numpy.load(self.folder / "empty.npz")["betweenness"].tolist(), [])


class Python(SystemTest):
    """tutti.betweenness beside NetworkX."""

    def setUp(self):
        super().setUp()
        if numpy is None or networkx is None:
            self.skipTest("NumPy or NetworkX is not installed")
        from program import PROGRAM
        from tutti import graphs
        self.program = {"program": PROGRAM}
        self.graphs = graphs

    def near(self, values, expected, factor=1):
        self.assertEqual(list(values), list(expected))
        for node, value in values.items():
            self.assertAlmostEqual(value, factor * expected[node], delta=1e-12 * max(1, abs(value)))

    def test_networkx(self):
        for graph, factor in [(networkx.gnp_random_graph(40, 0.1, seed=2, directed=True), 1), (networkx.karate_club_graph(), 2),
                              (networkx.relabel_nodes(networkx.path_graph(5), "abcde".__getitem__), 2), (networkx.Graph(), 2)]:
            self.near(self.graphs.betweenness(graph, **self.program), networkx.betweenness_centrality(graph, normalized=False), factor)
            some = list(graph)[1::3]
            expected = networkx.betweenness_centrality_subset(graph, some, list(graph))
            self.near(self.graphs.betweenness(graph, sources=some, **self.program), expected, factor)
            self.near(self.graphs.betweenness(graph, measure="closeness", **self.program), networkx.closeness_centrality(graph))
        multi = networkx.MultiDiGraph([(0, 1), (0, 1), (1, 2), (0, 3), (3, 2)])
        paths = self.graphs.betweenness(multi, multi_edges="paths", **self.program)
        self.assertAlmostEqual(paths[1], 2 / 3, delta=1e-15)
        self.assertEqual(self.graphs.betweenness(multi, **self.program)[1], 0.5)
        import tutti as package
        self.assertIs(package.betweenness, self.graphs.betweenness)

    def test_arrays_igraph_and_errors(self):
        vertices, values = self.graphs.betweenness(([5, 6, 7], [6, 7, 9]), directed=True, **self.program)
        self.assertEqual((vertices.tolist(), values.tolist()), ([5, 6, 7, 9], [0, 2, 2, 0]))
        components = self.graphs.betweenness(networkx.Graph([("a", "b"), ("c", "d")]), measure="components", **self.program)
        self.assertEqual(components, {"a": "a", "b": "a", "c": "c", "d": "c"})
        for call, kind, words in [
                (lambda: self.graphs.betweenness(3, **self.program), TypeError, "NetworkX"),
                (lambda: self.graphs.betweenness(([1], [2, 3]), **self.program), TypeError, "same length"),
                (lambda: self.graphs.betweenness(([1], [-2]), **self.program), ValueError, "negative"),
                (lambda: self.graphs.betweenness(networkx.path_graph(3), sources=[7], **self.program), ValueError, "7"),
                (lambda: self.graphs.betweenness(networkx.path_graph(3), measure="size", **self.program), ValueError, "size"),
                (lambda: self.graphs.betweenness(networkx.path_graph(3), devices="cuda:77", **self.program), RuntimeError, "cuda:77"),
                (lambda: self.graphs.betweenness(networkx.path_graph(3), program="no-such-program"), FileNotFoundError, "no-such")]:
            with self.assertRaisesRegex(kind, words):
                call()

    def test_igraph(self):
        try:
            import igraph
        except ImportError:
            self.skipTest("igraph is not installed (python3-igraph)")
        graph = igraph.Graph.Erdos_Renyi(n=30, m=80, directed=True)
        expected = graph.betweenness()
        values = self.graphs.betweenness(graph, **self.program)
        for v, value in values.items():
            self.assertAlmostEqual(value, expected[v], delta=1e-12 * max(1, abs(value)))


if __name__ == "__main__":
    unittest.main()
