#!/usr/bin/env bash
# Smoothing of tutti beside the optimisers of Gmsh (PyPI, GPL, run as a program) on the same meshes: cubes of Delaunay tetrahedra
# whose inner nodes were moved by chance, boundaries fixed, one core. Gmsh's default one swaps cells, too. Timed is the
# calculation alone: tutti's own figure, which has its energies in it, and the call of gmsh.model.mesh.optimize. All qualities are
# those of `tutti mesh quality`.
#
# usage: bench/peers/gmsh.sh [FOLDER]        # default: results/gmsh; keeps the library, gmsh.md and gmsh.json
# SIZES: edges of the tetrahedra, the cube's being 1 (default: 0.062 0.029, 23,000 and 194,000 cells); NOISE in these
# sizes (0.45). TUTTI names the program, PYTHON one of 3.11 or later, CORES the core (default: 0), ROUNDS how often all run, in turn
# (default: 3); the fastest counts.
set -euo pipefail

. "$(dirname "${BASH_SOURCE[0]}")/common.sh"
tutti=${TUTTI:-$root/build/release/bin/tutti} cores=${CORES:-0} rounds=${ROUNDS:-3}
sizes=${SIZES:-0.062 0.029} noise=${NOISE:-0.45}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

need_tutti
need_numbers NOISE
for size in $sizes; do SIZES=$size need_numbers SIZES; done
need_counts ROUNDS
need_cores "$cores"
results_folder "${1:-$root/results/gmsh}"
python_with gmsh==4.15.2 numpy
export PYTHONDONTWRITEBYTECODE=1
peer() { taskset -c "$cores" "$folder/venv/bin/python" "$root/bench/peers/gmsh_peer.py" "$@"; }
# smooth SWEEPS
smooth() {
  taskset -c "$cores" "$tutti" mesh smooth "$work/before.msh" -o "$work/tutti-$1.msh" --boundary fixed --iterations "$1" \
    --stop-energy 0 --devices cpu --threads 1 --json "$work/smooth.json" >"$work/log" 2>&1 || { cat "$work/log" >&2; exit 1; }
  python3 -c 'import json, sys; print(json.load(open(sys.argv[1]))["seconds"])' "$work/smooth.json" >>"$work/tutti-$1.seconds"
}

echo '[]' >"$folder/gmsh.json"
{
  echo '| program | cells | seconds | smallest mean ratio | mean | dihedral angles |'
  echo '| --- | --- | --- | --- | --- | --- |'
} | tee "$folder/gmsh.md"
for size in $sizes; do
  rm -f "$work"/*
  peer make "$size" "$noise" "$work/before.msh"
  for ((round = 0; round < rounds; ++round)); do # in turn, so that all meet the same load
    for method in default Relocate3D; do
      peer optimise "$method" "$work/before.msh" "$work/gmsh-$method.msh" >>"$work/gmsh-$method.seconds"
    done
    smooth 5
    smooth 50
  done
  for mesh in before gmsh-default gmsh-Relocate3D tutti-5 tutti-50; do
    "$tutti" -q mesh quality "$work/$mesh.msh" --json "$work/$mesh.json" >"$work/log" 2>&1 || { cat "$work/log" >&2; exit 1; }
  done
  peer rows "$work" "$folder/gmsh.json" | tee -a "$folder/gmsh.md"
done
