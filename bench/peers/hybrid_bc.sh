#!/usr/bin/env bash
# Betweenness of tutti on a GPU beside that of hybrid_BC (https://github.com/Adam27X/hybrid_BC), which takes undirected
# graphs and adds in float: SSCA#2 graphs, undirected, without weights, loops and multi-edges, from as many sources. The time
# is all but reading and writing, for both; of tutti's, what the order of vertices takes is in "set-up".
#
# usage: bench/peers/hybrid_bc.sh HYBRID_BC_FOLDER [SCALES] [SOURCES]
#   HYBRID_BC_FOLDER  a checkout of hybrid_BC; it is copied and built elsewhere, by nvcc and with Boost's headers
#   SCALES            default "14 16 18"
#   SOURCES           default 1024
# TUTTI names the program (default: build/release/bin/tutti), BC a hybrid_BC that is built already, ROUNDS how often both run, one
# after the other (default: 3); the fastest counts.
set -euo pipefail

. "$(dirname "${BASH_SOURCE[0]}")/common.sh"
if (($# < 1)) || [[ ! -f $1/kernels.cuh ]]; then
  stop "${1:-HYBRID_BC_FOLDER}: no checkout of hybrid_BC (https://github.com/Adam27X/hybrid_BC); usage: bench/peers/hybrid_bc.sh HYBRID_BC_FOLDER [SCALES] [SOURCES]"
fi
source_folder=$1 scales=${2:-14 16 18} sources=${3:-1024}
tutti=${TUTTI:-$root/build/release/bin/tutti}
rounds=${ROUNDS:-3}
need_tutti
SCALES=$scales SOURCES=$sources
need_counts SCALES SOURCES ROUNDS
need_program nvidia-smi "this needs an NVIDIA GPU"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

bc=${BC:-$work/hybrid_BC/bc}
if [[ -z ${BC:-} ]]; then
  need_program nvcc "CUDA's bin folder belongs on PATH"
  cp -r "$source_folder" "$work/hybrid_BC"
  make -C "$work/hybrid_BC" CXXFLAGS="-O3 -std=c++14" NVFLAGS="-O3 -arch=native -std=c++17" >"$work/make.log" 2>&1 ||
    { tail "$work/make.log" >&2; exit 1; }
fi
need_program "$bc" "BC names the program of hybrid_BC"

printf '%5s  %10s  %10s  %12s  %10s  %10s  %6s  %18s\n' scale edges sources 'hybrid_BC s' 'tutti s' 'set-up s' ratio 'ratio of the sweeps'
for scale in $scales; do
  "$tutti" -q graph generate ssca2 --scale "$scale" -o "$work/all.el"
  awk '/^[0-9]/ && $1 != $2 { print ($1 < $2 ? $1 " " $2 : $2 " " $1) }' "$work/all.el" | sort -u >"$work/graph.txt"
  cp "$work/graph.txt" "$work/graph.el"
  rm -f "$work/all.el" "$work"/*.log
  for ((round = 0; round < rounds; ++round)); do  # in turn, so that both meet the same load
    "$bc" -i "$work/graph.txt" -k "$sources" >>"$work/peer.log"
    "$tutti" graph betweenness "$work/graph.el" --sources "$sources" --devices cuda:0 -o "$work/values.npy" >>"$work/tutti.log"
  done
  python3 - "$work" "$scale" "$sources" <<'END'
import re, sys
work, scale, sources = sys.argv[1:]
def times(name, pattern):
    return re.findall(pattern, open(f"{work}/{name}.log").read())
peer = min(float(t) for t in times("peer", r"Time for GPU Algorithm: *([0-9.e+-]+) s"))
ours, setup = min((float(t), float(s)) for t, s in times("tutti", r"vertices, *([0-9.e+-]+) s, *([0-9.e+-]+) s of it set-up"))
edges = sum(1 for _ in open(f"{work}/graph.txt"))
print(f"{scale:>5}  {edges:10,}  {sources:>10}  {peer:12.4f}  {ours:10.4f}  {setup:10.4f}  {peer / ours:6.2f}  {peer / (ours - setup):18.2f}")
END
done
