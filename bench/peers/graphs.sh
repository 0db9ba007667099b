#!/usr/bin/env bash
# Betweenness of tutti beside igraph, NetworKit and NetworkX (PyPI) and LAGraph on the same graphs, without weights, loops and
# multi-edges: SSCA#2 with all sources, directed (a small one for NetworkX, too); larger ones with drawn sources, which of the
# fast ones only igraph and LAGraph take; a torus, undirected. All values must agree to 1e-12. Timed is the calculation alone:
# tutti's own figure, which has its order of vertices and sources in it, and the call of a library; graphs are read and built before.
#
# usage: bench/peers/graphs.sh [FOLDER]      # default: results/graphs; keeps the libraries, graphs.md and graphs.json
# SMALL, EXACT, SAMPLED: scales of SSCA#2 (default: 10, "12 14", 16); SOURCES of the last (256); SIDE of the torus (100).
# LAGRAPH names a checkout of LAGraph 1.0 (https://github.com/GraphBLAS/LAGraph), which is copied and built elsewhere with the
# GraphBLAS that is here (Debian: libgraphblas-dev); without it LAGraph is left out. It runs on SSCA#2, with all sources up to
# scale 12, LAGRAPH_BATCH of them at once (16).
# TUTTI names the program, PYTHON one of 3.11 or later, CORES the cores (default: 0,1), ROUNDS how often all run, in turn
# (default: 3); the fastest counts. igraph and NetworkX have one thread. TEPS are sources x arcs / s, where an edge of the torus is
# two arcs; ratios are to tutti with as many threads, those above 1 say that tutti is faster.
set -euo pipefail

. "$(dirname "${BASH_SOURCE[0]}")/common.sh"
tutti=${TUTTI:-$root/build/release/bin/tutti} cores=${CORES:-0,1} rounds=${ROUNDS:-3}
small=${SMALL:-10} exact=${EXACT:-12 14} sampled=${SAMPLED:-16} sources=${SOURCES:-256} side=${SIDE:-100}
threads=$(tr ',' '\n' <<<"$cores" | wc -l)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

need_tutti
need_counts SMALL EXACT SAMPLED SOURCES SIDE ROUNDS LAGRAPH_BATCH
need_cores "$cores"
[[ -z ${LAGRAPH:-} || -f $LAGRAPH/src/algorithm/LAGr_Betweenness.c ]] || stop "LAGRAPH is '$LAGRAPH'; expected a checkout of LAGraph"
results_folder "${1:-$root/results/graphs}"
python_with igraph==1.0.0 networkit==11.3 networkx==3.6.1
export PYTHONDONTWRITEBYTECODE=1 LAGRAPH_PEER="$folder/lagraph.so" LAGRAPH_BATCH=${LAGRAPH_BATCH:-16}
if [[ -n ${LAGRAPH:-} ]]; then
  rm -rf "$folder/lagraph"
  cp -r "$LAGRAPH" "$folder/lagraph"
  {
    cmake -S "$folder/lagraph" -B "$folder/lagraph/build" -DCMAKE_BUILD_TYPE=Release &&
      cmake --build "$folder/lagraph/build" --target lagraph -j "$threads" &&
      cc -O2 -shared -fPIC "$root/bench/peers/lagraph.c" -I "$folder/lagraph/include" -L "$folder/lagraph/build" \
        -Wl,-rpath,"$folder/lagraph/build" -llagraph -lgraphblas -o "$LAGRAPH_PEER"
  } >"$folder/lagraph.log" 2>&1 || stop "LAGraph cannot be built; apt-get install cmake libgraphblas-dev; all of it: $folder/lagraph.log"
fi
peer() { "$folder/venv/bin/python" "$root/bench/peers/graphs_peer.py" "$@"; }

# timed PROGRAM THREADS: one run on as many cores; leaves values, and seconds of this round
timed() {
  local of=$work/$1-$2 on
  on=$(cut -d, -f "1-$2" <<<"$cores")
  if [[ $1 != tutti ]]; then
    OMP_NUM_THREADS=$2 taskset -c "$on" "$folder/venv/bin/python" "$root/bench/peers/graphs_peer.py" time "$1" "$2" \
      "$work/graph.npz" "$of.npy" >>"$of.seconds"
    return
  fi
  taskset -c "$on" "$tutti" graph betweenness "$work/graph.el" "${how[@]}" -o "$of.npy" --devices cpu --threads "$2" >"$work/log" 2>&1 ||
    { cat "$work/log" >&2; exit 1; }
  sed -n 's/.* vertices, \([0-9.e+-]*\) s$/\1/p' "$work/log" >>"$of.seconds"
}

echo '[]' >"$folder/graphs.json"
{
  echo '| graph | vertices | arcs | sources | program | threads | seconds | MTEPS | ratio |'
  echo '| --- | --- | --- | --- | --- | --- | --- | --- | --- |'
} | tee "$folder/graphs.md"
cases=("ssca2 $small all networkx igraph networkit lagraph")
for scale in $exact; do cases+=("ssca2 $scale all igraph networkit$( ((scale > 12)) || echo " lagraph")"); done
for scale in $sampled; do cases+=("ssca2 $scale $sources igraph lagraph"); done
cases+=("torus $side all igraph networkit")
for case in "${cases[@]}"; do
  read -r kind size from peers <<<"$case"
  [[ -n ${LAGRAPH:-} ]] || peers=${peers% lagraph}
  rm -f "$work"/*
  if [[ $kind == torus ]]; then
    name="torus, $size x $size" options=(--rows "$size" --columns "$size") how=()
  else
    name="SSCA#2, scale $size" options=(--scale "$size") how=(--directed)
  fi
  "$tutti" -q graph generate "$kind" "${options[@]}" -o "$work/graph.el"
  peer prepare "$work/graph.el" "$from" "$work/graph.npz" "$work/sources"
  how+=(--sources "$([[ $from == all ]] && echo all || echo "$work/sources")")
  for ((round = 0; round < rounds; ++round)); do # in turn, so that all meet the same load
    for program in tutti $peers; do
      [[ $program == networkit || $program == lagraph ]] || timed "$program" 1
      [[ $program == igraph || $program == networkx || $threads == 1 && $program == tutti ]] || timed "$program" "$threads"
    done
  done
  peer rows "$name" "$work" "$folder/graphs.json" | tee -a "$folder/graphs.md"
done
