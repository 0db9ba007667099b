"""tutti graph: what a user meets, and NetworkX, igraph and NetworKit beside it where they are installed."""

import csv
import importlib
import json
import math
import random
import struct
import unittest

from program import ROOT, SystemTest, tutti



def optional(name):
    try:
        return importlib.import_module(name)
    except ImportError:
        return None


networkx, igraph, networkit = optional("networkx"), optional("igraph"), optional("networkit")
pyarrow = optional("pyarrow.parquet")


def thrift(data, at=0):
    """A struct of Thrift's compact protocol: its fields by their numbers, and where it ends."""
    def varint():
        nonlocal at
        value = shift = 0
        while True:
            byte = data[at]
            at += 1
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value

    def value_of(kind):
        nonlocal at
        if kind in (5, 6):
            number = varint()
            return number >> 1 ^ -(number & 1)
        if kind == 8:
            length = varint()
            at += length
            return data[at - length:at].decode()
        if kind == 9:
            head = data[at]
            at += 1
            count = head >> 4 if head >> 4 < 15 else varint()
            return [value_of(head & 15) for _ in range(count)]
        fields, at = thrift(data, at)
        return fields

    fields, field = {}, 0
    while data[at] != 0:
        field, kind = field + (data[at] >> 4), data[at] & 15
        at += 1
        fields[field] = value_of(kind)
    return fields, at + 1


def parquet(data):
    """The columns of a file of plain values, by their names."""
    assert data[:4] == data[-4:] == b"PAR1"
    meta, end = thrift(data[-8 - struct.unpack("<I", data[-8:-4])[0]:-8])
    kinds = {element[4]: "q" if element[1] == 2 else "d" for element in meta[2][1:]}
    columns = {name: [] for name in kinds}
    for group in meta[4]:
        for (name, kind), chunk in zip(kinds.items(), group[1]):
            about = chunk[3]
            page, begin = thrift(data, about[9])
            assert (about[3], about[5], page[5][1], page[3]) == ([name], group[3], group[3], 8 * group[3])
            assert begin + page[3] == about[9] + about[7]
            columns[name] += struct.unpack(f"<{group[3]}{kind}", data[begin:begin + page[3]])
    assert all(len(column) == meta[3] for column in columns.values())
    return columns


class Graph(SystemTest):
    def graph(self, *arguments, ranks=None, code=0):
        result = tutti("graph", *arguments, ranks=ranks, cwd=self.folder)
        self.assertEqual(result.code, code, result.err)
        return result

    def values(self, name="out.csv"):
        with open(self.folder / name, newline="") as file:
            rows = list(csv.reader(file))
        return rows[0], {int(row[0]): float(row[1]) for row in rows[1:]}

    def betweenness(self, *arguments, ranks=None):
        self.graph("betweenness", *arguments, "-o", "out.csv", ranks=ranks)
        head, values = self.values()
        self.assertEqual(head, ["vertex", "betweenness"])
        self.assertEqual(list(values), sorted(values))
        return values

    def test_torus(self):
        for rows, columns in [(8, 8), (16, 8)]:
            self.graph("generate", "torus", "--rows", rows, "--columns", columns, "-o", "torus.el")
            scale = int(math.log2(rows * columns))
            n = 2**scale
            expected = (0.5 * 2 ** (1.5 * scale) if scale % 2 == 0 else 0.75 * 2 ** ((3 * scale - 1) / 2)) - n + 1
            for options in ([], ["--directed"], ["--devices", "fake:2,cpu"]):
                values = self.betweenness("torus.el", *options)
                self.assertEqual(sorted(values), list(range(n)))
                for value in values.values():
                    self.assertAlmostEqual(value / expected, 1, delta=1e-12)

    def test_the_same_file_from_any_ranks(self):
        self.graph("generate", "ssca2", "--scale", 7, "--seed", 5, "-o", "graph.el.gz")
        texts = set()
        for ranks, devices in [(None, "cpu"), (2, "cpu"), (3, "fake:1,cpu"), (1, "fake:2")]:
            self.graph("betweenness", "graph.el.gz", "--directed", "--sources", 40, "--filter-eighths", "--devices", devices,
                       "-o", "out.csv", ranks=ranks)
            texts.add((self.folder / "out.csv").read_text())
        self.assertEqual(len(texts), 1)

    def test_formats(self):
        self.graph("generate", "rmat", "--scale", 6, "-o", "graph.el")
        out = self.graph("info", "graph.el").out
        self.assertIn("512", out)
        first = self.betweenness("graph.el", "--directed")
        for name, shift in [("graph.mtx", 1), ("graph.sg", 0), ("graph.el.gz", 0)]:
            self.graph("convert", "graph.el", name)
            self.assertEqual(self.betweenness(name, "--directed"), {v + shift: x for v, x in first.items()})

    def test_example(self):
        values = self.betweenness(ROOT / "examples/graph/two-villages.el")
        self.assertEqual(values, {v: 40 if v in (4, 5) else 0 for v in range(10)})
        text = (ROOT / "examples/graph/README.md").read_text()
        self.assertIn(f"{round(0.5 * 4096 ** 1.5 - 4096 + 1):,} each", text)

    def test_filter(self):
        self.graph("generate", "ssca2", "--scale", 6, "-o", "graph.el")
        self.graph("convert", "graph.el", "filtered.sg", "--filter-eighths")
        self.assertEqual(self.betweenness("filtered.sg", "--directed"),
                         self.betweenness("graph.el", "--directed", "--filter-eighths"))

    def test_sources_and_top(self):
        self.write("path.el", "1 2\n2 3\n3 4\n")
        self.write("sources.txt", "# two ends\n1\n4\n")
        self.assertEqual(self.betweenness("path.el", "--sources", "sources.txt"), {1: 0, 2: 3, 3: 3, 4: 0})
        self.assertEqual(self.betweenness("path.el", "--directed"), {1: 0, 2: 2, 3: 2, 4: 0})
        result = self.graph("betweenness", "path.el", "-o", "out.csv", "--top", 2)
        self.assertEqual([line.split() for line in result.out.strip().split("\n")[-2:]], [["2", "4"], ["3", "4"]])
        self.graph("betweenness", "path.el", "--measure", "components", "-o", "out.csv")
        self.assertEqual(self.values(), (["vertex", "component"], {1: 1, 2: 1, 3: 1, 4: 1}))

    def test_parquet(self):
        self.write("large.el", "# vertices 1100000\n3 4\n")  # more than one group of rows
        self.write("path.el", "5 9000000000000000000\n7 5\n")
        self.write("source.txt", "5\n")
        self.write("empty.el", "# vertices 0\n")
        for name, options in [("path.el", []), ("path.el", ["--measure", "components"]), ("empty.el", []),
                              ("path.el", ["--measure", "closeness", "--sources", "source.txt"]),
                              ("large.el", ["--measure", "components"])]:
            with self.subTest(name=name, options=options):
                self.graph("betweenness", name, *options, "-o", "out.parquet")
                self.graph("betweenness", name, *options, "-o", "out.csv")
                with open(self.folder / "out.csv", newline="") as file:
                    head, *rows = csv.reader(file)
                kind = int if "components" in options else float
                data = (self.folder / "out.parquet").read_bytes()
                columns = parquet(data)
                self.assertEqual(list(columns), head)
                self.assertEqual(columns["vertex"], [int(row[0]) for row in rows])
                values = [kind(row[1]) if row[1] else None for row in rows]
                self.assertEqual([None if x != x else x for x in columns[head[1]]], values)
                if pyarrow is not None:
                    table = pyarrow.read_table(self.folder / "out.parquet")
                    self.assertEqual(table.column_names, head)
                    self.assertEqual(table["vertex"].to_pylist(), columns["vertex"])
                    self.assertEqual([None if x != x else x for x in table[head[1]].to_pylist()], values)

    def test_pieces_of_files(self):
        """With vertices in parts each rank reads a piece of the file: the bits are those of the whole graph on one rank."""
        random.seed(8)
        ids = [random.randrange(2**62) for _ in range(90)]
        lines = [f"{random.choice(ids)}, {random.choice(ids)} {random.randrange(1, 30)}\n" for _ in range(900)]
        self.write("sparse.el", "# a comment\n" * 200 + "".join(lines))
        self.write("sources.txt", "".join(f"{i}\n" for i in sorted({int(line.split(",")[0]) for line in lines})[:70]))
        self.graph("convert", "sparse.el", "directed.sg", "--filter-eighths")
        self.graph("generate", "grid", "--rows", 9, "--columns", 13, "-o", "grid.el")
        self.graph("convert", "grid.el", "grid.sg")
        self.write("few.el", "# vertices 9\n8 3")
        for name, ranks, options in [
                ("sparse.el", 2, ["--directed", "--sources", "sources.txt"]), ("sparse.el", 7, ["--multi-edges", "paths"]),
                ("sparse.el", 3, ["--directed", "--filter-eighths", "--devices", "fake:2"]),
                ("directed.sg", 4, ["--directed", "--sources", 30, "--seed", 3]), ("directed.sg", 7, ["--devices", "fake:1,cpu"]),
                ("grid.el", 3, []), ("grid.sg", 2, ["--sources", 80]), ("few.el", 4, [])]:
            with self.subTest(name=name, ranks=ranks, options=options):
                self.graph("betweenness", name, *options, "--threads", 1, "--placement", "parts", "-o", "parts.csv", ranks=ranks)
                options = options[:options.index("--devices")] if "--devices" in options else options
                self.graph("betweenness", name, *options, "--threads", 1, "-o", "whole.csv")
                self.assertEqual((self.folder / "parts.csv").read_text(), (self.folder / "whole.csv").read_text())
        # What is wrong in a piece is told with the line of the file, once.
        self.write("word.el", "".join(lines[:700]) + "5 x\n" + "".join(lines[700:]))
        self.write("weight.el", "".join(lines) + "5 6\n")
        damaged = bytearray((self.folder / "directed.sg").read_bytes())
        damaged[17 + 8 * 60] ^= 0xff
        (self.folder / "damaged.sg").write_bytes(damaged)
        for name, words in [("word.el", "word.el:701: "), ("weight.el", "weight.el:901: "), ("damaged.sg", "damaged.sg: byte 4")]:
            result = self.graph("betweenness", name, "--placement", "parts", "-o", "parts.csv", ranks=3, code=4)
            self.assertEqual(len(result.error_lines()), 1, result.err)
            self.assertIn(words, result.err)

    def test_no_room_is_refused(self):
        """Arrays that the system would promise and not have: nobody is killed."""
        with open("/proc/meminfo", encoding="utf-8") as file:
            if next(int(line.split()[1]) for line in file if line.startswith("MemAvailable:")) > 100 << 20:
                self.skipTest("this machine has more than 100 GiB")
        self.write("many.el", "# vertices 2147483646\n0 1\n")
        for arguments, ranks in [(["info", "many.el"], None), (["betweenness", "many.el", "-o", "out.csv"], None),
                                 (["betweenness", "many.el", "--placement", "parts", "-o", "out.csv"], 3),
                                 (["generate", "ssca2", "--scale", 30, "-o", "out.el"], None),
                                 (["ssca2", "--scale", 30], 2), (["ssca2", "--scale", 30, "--placement", "copies"], None)]:
            with self.subTest(arguments=arguments):
                result = self.graph(*arguments, ranks=ranks, code=3)
                self.assertEqual(len(result.error_lines()), 1, result.err)
                self.assertIn("of memory", result.err)

    def test_benchmark(self):
        result = self.graph("ssca2", "--scale", 8, "--sources", 20, "--devices", "cpu", "--json", "out.json")
        figures = json.loads((self.folder / "out.json").read_text())
        self.assertEqual(figures["sources"], 20)
        self.assertAlmostEqual(figures["teps"] * figures["seconds"] / (7 * 256 * 20), 1)
        self.assertAlmostEqual(figures["edges_sources_per_second"] * figures["seconds"] / (figures["kernel4"]["arcs"] * 20), 1)
        for kernel in "1234":
            self.assertIn(f"kernel {kernel} ", result.out)

    def test_the_same_graph_on_devices(self):
        figures = []
        for devices in ["cpu", "fake:1", "fake:1,cpu"]:
            self.graph("ssca2", "--scale", 9, "--sources", 100, "--devices", devices, "--json", "out.json")
            result = json.loads((self.folder / "out.json").read_text())
            self.assertEqual(result["generated_on"], devices.split(",")[0].replace("fake:1", "fake:0"))
            for kernel in "1234":
                for unsteady in ["seconds", "exchange_seconds"]:
                    result[f"kernel{kernel}"].pop(unsteady, None)
            figures.append([result[key] for key in ["vertices", "tuples", "self_loops", "kernel1", "kernel2", "kernel3", "kernel4"]])
            for kind in ["ssca2", "rmat"]:
                self.graph("generate", kind, "--scale", 9, "--devices", devices, "-o", f"{kind}-{devices[:4]}.el")
        self.assertEqual(figures[0], figures[1])
        self.assertEqual(figures[0], figures[2])
        for kind in ["ssca2", "rmat"]:
            self.assertEqual((self.folder / f"{kind}-cpu.el").read_text(), (self.folder / f"{kind}-fake.el").read_text())

    def test_wrong_input_is_one_line(self):
        self.write("bad.el", "1 2\n2 x\n")
        self.write("good.el", "1 2\n2 3\n")
        self.write("sources.txt", "1\n7\n")
        for arguments, code, words in [
                (["info", "bad.el"], 4, "bad.el:2: "),
                (["info", "none.el"], 5, "none.el"),
                (["betweenness", "bad.el", "-o", "out.csv"], 4, "bad.el:2: "),
                (["betweenness", "good.el", "-o", "out.csv", "--sources", "sources.txt"], 4, "sources.txt:2: vertex 7"),
                (["betweenness", "good.el", "-o", "out.csv", "--sources", "-3"], 2, "--sources"),
                (["betweenness", "good.el", "-o", "out.csv", "--filter-eighths"], 2, "weights"),
                (["betweenness", "good.el", "-o", "out.csv", "--devices", "fake:1", "--fake-memory", "100"], 3, "fake:0"),
                (["generate", "torus", "--rows", "0", "--columns", "5", "-o", "out.el"], 2, "0 rows"),
                (["generate", "ssca2", "--scale", "3", "-o", "out.graph"], 2, "out.graph"),
                (["convert", "good.el", "good.el"], 2, "good.el"),
                (["betweenness", "good.el", "-o", "./good.el"], 2, "good.el"),
                (["betweenness", "good.el", "-o", "sources.txt", "--sources", "sources.txt"], 2, "sources.txt"),
                (["betweenness", "good.el", "-o", "out.csv", "--seed", "-1"], 2, "--seed"),
        ]:
            with self.subTest(arguments=arguments):
                for ranks in [None, 2]:
                    result = self.graph(*arguments, ranks=ranks, code=code)
                    self.assertEqual(len(result.error_lines()), 1, result.err)
                    self.assertIn(words, result.err)

    def test_networkx(self):
        if networkx is None:
            self.skipTest("NetworkX is not installed (python3-networkx)")
        random.seed(3)
        for directed in [True, False]:
            for copies in [1, 3]:
                make = networkx.MultiDiGraph if directed else networkx.MultiGraph
                multi = make([(random.randrange(60), random.randrange(60)) for _ in range(150)])
                edges = [(a, b) for a, b in multi.edges() for _ in range(copies if (a + b) % 3 == 0 else 1)]
                self.write("graph.el", "".join(f"{a} {b}\n" for a, b in edges))
                simple = (networkx.DiGraph if directed else networkx.Graph)(multi)
                options = ["--directed"] if directed else []
                pairs = 1 if directed else 2
                expected = networkx.betweenness_centrality(simple, normalized=False)
                self.near(self.betweenness("graph.el", *options), expected, pairs)
                sources = sorted(simple)[:10]
                self.write("sources.txt", "".join(f"{s}\n" for s in sources))
                expected = networkx.betweenness_centrality_subset(simple, sources, list(simple))
                self.near(self.betweenness("graph.el", *options, "--sources", "sources.txt"), expected, pairs)
                self.graph("betweenness", "graph.el", *options, "--measure", "closeness", "-o", "out.csv")
                self.near(self.values()[1], networkx.closeness_centrality(simple), 1)

    def test_networkx_multi_edges_as_paths(self):
        """A multi-edge of k is a simple graph's edge cut by k vertices of its own, all edges in two."""
        if networkx is None:
            self.skipTest("NetworkX is not installed (python3-networkx)")
        random.seed(4)
        edges = [(random.randrange(30), random.randrange(30)) for _ in range(160)]
        edges = [(a, b) for a, b in edges if a != b]
        self.write("graph.el", "".join(f"{a} {b}\n" for a, b in edges))
        cut = networkx.DiGraph()
        for k, (a, b) in enumerate(edges):
            cut.add_edge(a, (k, "cut"))
            cut.add_edge((k, "cut"), b)
        vertices = sorted({v for edge in edges for v in edge})
        expected = networkx.betweenness_centrality_subset(cut, vertices, vertices)
        self.near(self.betweenness("graph.el", "--directed", "--multi-edges", "paths"), {v: expected[v] for v in vertices}, 1)

    def ssca2_graph(self):
        """Vertices and the different arcs of a graph of the benchmark, without self-loops."""
        self.graph("generate", "ssca2", "--scale", 9, "--seed", 3, "-o", "graph.el")
        lines = [line.split() for line in (self.folder / "graph.el").read_text().splitlines() if line[0] != "#"]
        return 2**9, sorted({(int(a), int(b)) for a, b, *_ in lines if a != b})

    def test_igraph(self):
        if igraph is None:
            self.skipTest("igraph is not installed (python3-igraph)")
        n, arcs = self.ssca2_graph()
        for directed in [True, False]:
            graph = igraph.Graph(n, arcs, directed=directed).simplify()
            options, pairs = (["--directed"], 1) if directed else ([], 2)
            self.near(self.betweenness("graph.el", *options), dict(enumerate(graph.betweenness())), pairs)

    def test_networkit(self):
        if networkit is None:
            self.skipTest("NetworKit is not installed (pip: networkit)")
        n, arcs = self.ssca2_graph()
        for directed in [True, False]:
            graph = networkit.Graph(n, directed=directed)
            for a, b in arcs if directed else sorted({(min(arc), max(arc)) for arc in arcs}):
                graph.addEdge(a, b)
            scores = networkit.centrality.Betweenness(graph).run().scores()  # over ordered pairs, as ours
            self.near(self.betweenness("graph.el", *(["--directed"] if directed else [])), dict(enumerate(scores)), 1)

    def near(self, values, expected, factor):
        self.assertEqual(sorted(values), sorted(expected))
        for v, value in values.items():
            self.assertAlmostEqual(value, factor * expected[v], delta=1e-12 * max(1, abs(value)))


if __name__ == "__main__":
    unittest.main()
