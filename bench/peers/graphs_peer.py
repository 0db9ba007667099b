"""Betweenness by igraph, NetworKit, NetworkX or LAGraph, timed, and the comparison with tutti's: the parts of graphs.sh.

usage: graphs_peer.py prepare GRAPH.el all|SOURCES GRAPH.npz SOURCES_FILE   # without loops and multi-edges; draws sources
       graphs_peer.py time igraph|networkit|networkx|lagraph THREADS GRAPH.npz VALUES.npy   # prints seconds
       graphs_peer.py rows NAME FOLDER FILE.json   # FOLDER has graph.npz, PROGRAM-THREADS.npy and .seconds
"""

import ctypes
import json
import os
import pathlib
import sys
import time

import numpy as np

TOLERANCE = 1e-12  # of each value


def prepare(edges, count, path, sources_file):
    comments, rows = [], []
    with open(edges, encoding="ascii") as file:
        for line in file:
            (comments if line.startswith("#") else rows).append(line)
    vertices = int(next(c.split()[2] for c in comments if c.startswith("# vertices")))
    directed = not any(c.startswith("# symmetric") for c in comments)
    arcs = np.array([row.split()[:2] for row in rows], dtype=np.int64)
    arcs = np.unique(arcs[arcs[:, 0] != arcs[:, 1]], axis=0)
    sources = np.arange(vertices)
    if count != "all":
        sources = np.sort(np.random.default_rng(1).choice(np.unique(arcs[:, 0]), int(count), replace=False))
        np.savetxt(sources_file, sources, fmt="%d")
    np.savez(path, vertices=vertices, directed=directed, arcs=arcs, sources=sources)


def igraph_run(graph, ends, _):
    import igraph

    made = igraph.Graph(n=int(graph["vertices"]), edges=ends.tolist(), directed=bool(graph["directed"]))
    if len(graph["sources"]) == graph["vertices"]:
        return made.betweenness
    return lambda: made.betweenness(sources=graph["sources"].tolist())


def networkit_run(graph, ends, threads):
    import networkit

    networkit.setNumberOfThreads(threads)
    made = networkit.Graph(int(graph["vertices"]), weighted=False, directed=bool(graph["directed"]))
    for a, b in ends.tolist():
        made.addEdge(a, b)
    run = networkit.centrality.Betweenness(made, normalized=False)
    return lambda: run.run().scores()


def networkx_run(graph, ends, _):
    import networkx

    made = (networkx.DiGraph if graph["directed"] else networkx.Graph)()
    made.add_nodes_from(range(int(graph["vertices"])))
    made.add_edges_from(ends.tolist())
    return lambda: list(networkx.betweenness_centrality(made, normalized=False).values())


def lagraph_run(graph, _, threads):
    library = ctypes.CDLL(os.environ["LAGRAPH_PEER"])  # made of lagraph.c; OMP_NUM_THREADS says how many threads
    ids = np.ctypeslib.ndpointer(np.uint64, flags="C")
    count = ctypes.c_uint64
    library.graph_new.argtypes = [count, ctypes.c_int, count, ids, ids]
    library.graph_betweenness.argtypes = [count, ids, count, np.ctypeslib.ndpointer(np.float64, flags="C")]
    arcs = graph["arcs"].astype(np.uint64)
    library.graph_new(int(graph["vertices"]), bool(graph["directed"]), len(arcs), arcs[:, 0].copy(), arcs[:, 1].copy())
    sources = graph["sources"].astype(np.uint64)
    sums = np.zeros(int(graph["vertices"]))

    def run():
        library.graph_betweenness(len(sources), sources, int(os.environ["LAGRAPH_BATCH"]), sums)
        return sums

    return run


RUNS = {"igraph": igraph_run, "networkit": networkit_run, "networkx": networkx_run, "lagraph": lagraph_run}
SPELT = {"igraph": "igraph", "networkit": "NetworKit", "networkx": "NetworkX", "lagraph": "LAGraph", "tutti": "tutti"}


def time_peer(program, threads, path, values):
    graph = np.load(path)
    arcs = graph["arcs"]
    run = RUNS[program](graph, arcs if graph["directed"] else arcs[arcs[:, 0] < arcs[:, 1]], int(threads))
    begin = time.perf_counter()
    result = run()
    print(time.perf_counter() - begin)
    # igraph and NetworkX halve the sum over ordered pairs of an undirected graph; the others have it whole
    halved = not graph["directed"] and program in ("igraph", "networkx")
    np.save(values, np.array(result) * (2 if halved else 1))


def rows(name, folder, path):
    folder, path = pathlib.Path(folder), pathlib.Path(path)
    graph = np.load(folder / "graph.npz")
    work = len(graph["sources"]) * len(graph["arcs"])
    best = {}
    for file in sorted(folder.glob("*-*.seconds")):
        program, threads = file.stem.split("-")
        best[program, int(threads)] = [float(line) for line in file.read_text().split()]
    table = json.loads(path.read_text())
    right = np.load(folder / "tutti-1.npy")["betweenness"]
    for (program, threads), seconds in best.items():
        values = np.load(folder / f"{program}-{threads}.npy")
        values = values["betweenness"] if program == "tutti" else values
        differ = np.max(np.abs(values - right) / np.where(right == 0, 1, np.abs(right)))
        if not differ <= TOLERANCE:
            sys.exit(f"graphs.sh: {name}: {SPELT[program]} and tutti differ by {differ:.1e}")
        least = min(seconds)
        ratio = least / min(best["tutti", threads])
        print(f"| {name} | {graph['vertices']:,} | {len(graph['arcs']):,} | {len(graph['sources']):,} | {SPELT[program]} | {threads} "
              f"| {least:.3g} | {work / least * 1e-6:.3g} | {'' if program == 'tutti' else f'{ratio:.3g}'} |", flush=True)  # fmt: skip
        table.append({
            "graph": name, "directed": bool(graph["directed"]), "vertices": int(graph["vertices"]), "arcs": len(graph["arcs"]),
            "sources": len(graph["sources"]), "program": program, "threads": threads, "seconds": least, "seconds_all": seconds,
            "teps": work / least, "ratio_to_tutti": ratio, "largest_relative_difference": float(differ),
        })  # fmt: skip
    path.write_text(json.dumps(table, indent=1) + "\n")


if __name__ == "__main__":
    {"prepare": prepare, "time": time_peer, "rows": rows}[sys.argv[1]](*sys.argv[2:])
