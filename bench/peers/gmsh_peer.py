"""A noisy mesh of a cube, optimised by Gmsh, and the comparison with tutti's smoothing: the parts of gmsh.sh.

usage: gmsh_peer.py make SIZE NOISE MESH.msh     # Delaunay tetrahedra of edges of about SIZE; inner nodes moved by up to NOISE sizes
       gmsh_peer.py optimise METHOD MESH.msh OUT.msh   # default or Relocate3D; prints seconds
       gmsh_peer.py rows FOLDER FILE.json        # FOLDER has PROGRAM.json of tutti mesh quality, and PROGRAM.seconds
"""

import json
import pathlib
import sys
import time

import numpy as np

SPELT = {"before": "", "gmsh-default": "Gmsh, default", "gmsh-Relocate3D": "Gmsh, Relocate3D, 10 times",
         "tutti-5": "tutti, 5 sweeps", "tutti-50": "tutti, 50 sweeps"}


def started():
    import gmsh

    gmsh.initialize()
    gmsh.option.setNumber("General.Terminal", 0)
    gmsh.option.setNumber("General.NumThreads", 1)
    return gmsh


def volumes(places, cells):
    a = places[cells]
    return np.einsum("ij,ij->i", np.cross(a[:, 1] - a[:, 0], a[:, 2] - a[:, 0]), a[:, 3] - a[:, 0]) / 6


def noisy(places, cells, inner, largest):
    """Where a cell would lose nine tenths of its volume, its nodes move by less."""
    least = 0.1 * volumes(places, cells)
    move = largest * np.random.default_rng(1).uniform(-1, 1, places.shape)
    move[~inner] = 0
    while (bad := volumes(places + move, cells) < least).any():
        move[np.unique(cells[bad])] *= 0.8
    return places + move


def make(size, noise, path):
    gmsh = started()
    gmsh.model.occ.addBox(0, 0, 0, 1, 1, 1)
    gmsh.model.occ.synchronize()
    gmsh.option.setNumber("Mesh.MeshSizeMin", float(size))
    gmsh.option.setNumber("Mesh.MeshSizeMax", float(size))
    gmsh.option.setNumber("Mesh.Algorithm3D", 1)  # Delaunay
    gmsh.model.mesh.generate(3)
    gmsh.model.mesh.renumberNodes()
    tags, at, _ = gmsh.model.mesh.getNodes()
    places = np.empty((len(tags), 3))
    places[tags.astype(int) - 1] = np.asarray(at).reshape(-1, 3)
    cells = np.asarray(gmsh.model.mesh.getElementsByType(4)[1], dtype=int).reshape(-1, 4) - 1
    cells[volumes(places, cells) < 0] = cells[volumes(places, cells) < 0][:, [1, 0, 2, 3]]
    inner = np.all((places > 1e-9) & (places < 1 - 1e-9), axis=1)
    for tag, place in zip(range(1, len(places) + 1), noisy(places, cells, inner, float(noise) * float(size))):
        if inner[tag - 1]:
            gmsh.model.mesh.setNode(tag, place, [])
    gmsh.option.setNumber("Mesh.MshFileVersion", 4.1)
    gmsh.write(path)


def optimise(method, source, path):
    gmsh = started()
    gmsh.open(source)
    begin = time.perf_counter()
    if method == "default":
        gmsh.model.mesh.optimize("", force=True)
    else:
        gmsh.model.mesh.optimize(method, force=True, niter=10)
    print(time.perf_counter() - begin)
    gmsh.write(path)


def rows(folder, path):
    found = []
    for program, name in SPELT.items():
        quality = json.loads((pathlib.Path(folder) / f"{program}.json").read_text(encoding="utf-8"))
        seconds = pathlib.Path(folder) / f"{program}.seconds"
        times = [float(word) for word in seconds.read_text(encoding="ascii").split()] if seconds.exists() else []
        row = {"program": name or "before", "cells": quality["cells"], "seconds": min(times) if times else None,
               "mean_ratio": quality["mean_ratio"], "dihedral": quality["dihedral"]}
        found.append(row)
        print(f"| {row['program']} | {row['cells']:,} | {'' if not times else format(row['seconds'], '.3g')} | "
              f"{row['mean_ratio']['min']:.3f} | {row['mean_ratio']['mean']:.3f} | "
              f"{row['dihedral']['min']:.1f} to {row['dihedral']['max']:.1f} |")
    file = pathlib.Path(path)
    file.write_text(json.dumps(json.loads(file.read_text(encoding="utf-8")) + found, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    {"make": make, "optimise": optimise, "rows": rows}[sys.argv[1]](*sys.argv[2:])
