"""Betweenness, closeness and components of graphs by the program `tutti`, on all cores or GPUs.

    import tutti
    values = tutti.betweenness(G)                              # a NetworkX or igraph graph: {node: value}
    values = tutti.betweenness(G, sources=1024, devices="cuda:0")
    vertices, values = tutti.betweenness((a, b), directed=True)  # arrays of the arcs' ends: arrays
"""

import tempfile
from pathlib import Path

import numpy as np

from tutti.program import run_program

MEASURES = ("betweenness", "closeness", "components")


def _ends(graph):
    """Ends of the arcs as numbers from 0, the nodes that they stand for (None: the numbers themselves), directed or not."""
    if hasattr(graph, "number_of_nodes"):  # NetworkX
        nodes = list(graph)
        number = {node: i for i, node in enumerate(nodes)}
        ends = np.array([(number[a], number[b]) for a, b in graph.edges()], dtype=np.int64).reshape(-1, 2)
        return ends, nodes, graph.is_directed()
    if hasattr(graph, "get_edgelist"):  # igraph
        ends = np.array(graph.get_edgelist(), dtype=np.int64).reshape(-1, 2)
        return ends, list(range(graph.vcount())), graph.is_directed()
    try:
        begin, end = (np.asarray(column) for column in graph)
    except (TypeError, ValueError):
        raise TypeError("expected a NetworkX graph, an igraph graph, or a pair of arrays (begin, end) of the arcs") from None
    if begin.ndim != 1 or begin.shape != end.shape or any(c.size and c.dtype.kind not in "iu" for c in (begin, end)):
        raise TypeError("a pair of arrays must be of whole numbers, of the same length, with one dimension")
    ends = np.stack([begin, end], axis=1).astype(np.int64)
    if ends.size and ends.min() < 0:
        raise ValueError("numbers of vertices must not be negative")
    return ends, None, False


def _write_sources(path, sources, nodes):
    if nodes is None:
        numbers = list(sources)
    else:
        number = {node: i for i, node in enumerate(nodes)}
        missing = [s for s in sources if s not in number]
        if missing:
            raise ValueError(f"source {missing[0]!r} is no node of the graph; expected some of its nodes")
        numbers = [number[s] for s in sources]
    path.write_text("".join(f"{int(n)}\n" for n in numbers))


def betweenness(graph, sources="all", measure="betweenness", directed=None, multi_edges="simple", seed=1, devices=None,
                program=None):
    """The measure of every node, as {node: value} of a NetworkX or igraph graph, or as arrays (vertices, values) of a pair
    of arrays. As the program has it, betweenness sums over ordered pairs and is not normalised: of an undirected graph it is
    twice that of networkx.betweenness_centrality(G, normalized=False).

    sources: "all", how many to draw, or a list of nodes. directed: None takes the graph's own (arrays: undirected).
    multi_edges: "simple" or "paths". Nodes that were not measured (closeness of a node that is no source) are NaN.
    Components are named by their first node. Errors of the program are tutti.Error with its line.
    """
    if measure not in MEASURES:
        raise ValueError(f"measure {measure!r}; expected one of {', '.join(MEASURES)}")
    ends, nodes, own = _ends(graph)
    directed = own if directed is None else directed
    command = ["-q", "graph", "betweenness", "graph.el", "-o", "values.npz", "--measure", measure,
               "--multi-edges", multi_edges, "--seed", str(seed)]
    command += ["--directed"] if directed else []
    command += ["--devices", devices] if devices else []
    with tempfile.TemporaryDirectory(prefix="tutti_graph_") as name:
        folder = Path(name)
        with open(folder / "graph.el", "w", encoding="ascii") as file:
            if nodes is not None:
                file.write(f"# vertices {len(nodes)}\n")
            np.savetxt(file, ends, fmt="%d")
        if isinstance(sources, str) or np.isscalar(sources):
            command += ["--sources", str(sources)]
        else:
            _write_sources(folder / "sources.txt", sources, nodes)
            command += ["--sources", "sources.txt"]
        run_program(command, program=program, cwd=folder)
        with np.load(folder / "values.npz") as file:
            vertices, values = file["vertex"], file["component" if measure == "components" else measure]
    if nodes is None:
        return vertices, values
    if measure == "components":
        return {nodes[v]: nodes[c] for v, c in zip(vertices.tolist(), values.tolist())}
    return dict(zip(nodes, values.tolist()))
