"""tutti for Python: cases that are run (tutti.Case, tutti.sweep), results as arrays (tutti.Run), graphs (tutti.betweenness)
and meshes (tutti.smooth) by the program; pictures (tutti.plot, tutti.profile, tutti.history, tutti.convergence)."""

import importlib

__version__ = "0.2.0"

_HOMES = {"Case": "case", "Run": "runs", "sweep": "sweeps", "betweenness": "graphs", "smooth": "smoothing", "Error": "messages"}


def __getattr__(name):
    # On demand: the package is imported where numpy is not installed, too.
    if name in _HOMES:
        return getattr(importlib.import_module(f"tutti.{_HOMES[name]}"), name)
    raise AttributeError(f"module 'tutti' has no attribute {name!r}")


def __dir__():
    return [*globals(), *_HOMES]
