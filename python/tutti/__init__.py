"""Results of tutti for Python: reading (tutti.results) and plotting (tutti.plot, tutti.profile, tutti.history,
tutti.convergence); betweenness of graphs by the program (tutti.betweenness)."""

__version__ = "0.1.0"


def __getattr__(name):
    # On demand: the package is imported where numpy is not installed, too.
    if name == "betweenness":
        from tutti.graphs import betweenness
        return betweenness
    raise AttributeError(f"module 'tutti' has no attribute {name!r}")
