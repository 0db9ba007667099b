#!/usr/bin/env bash
# Betweenness of tutti beside that of the GAP benchmark suite (https://github.com/sbeamer/gapbs), on the same graphs: the
# graph of kernel 4 of SSCA#2 v2.2 without multi-edges. GTEPS are 7 N sources / time for both.
#
# usage: bench/peers/gapbs.sh GAPBS_FOLDER [SCALES] [SOURCES]
#   GAPBS_FOLDER  a checkout of gapbs; it is copied and built elsewhere
#   SCALES        default "16 18 20"
#   SOURCES       default 256
# TUTTI names the program (default: build/release/bin/tutti), CORES the cores (default: 0,1), ROUNDS how often both run, one
# after the other (default: 3); the fastest counts.
set -euo pipefail

. "$(dirname "${BASH_SOURCE[0]}")/common.sh"
if (($# < 1)) || [[ ! -f $1/src/bc.cc ]]; then
  stop "${1:-GAPBS_FOLDER}: no checkout of gapbs (https://github.com/sbeamer/gapbs); usage: bench/peers/gapbs.sh GAPBS_FOLDER [SCALES] [SOURCES]"
fi
source_folder=$1 scales=${2:-16 18 20} sources=${3:-256}
tutti=${TUTTI:-$root/build/release/bin/tutti}
cores=${CORES:-0,1} rounds=${ROUNDS:-3}
threads=$(tr ',' '\n' <<<"$cores" | wc -l)
need_tutti
SCALES=$scales SOURCES=$sources
need_counts SCALES SOURCES ROUNDS
need_cores "$cores"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

cp -r "$source_folder" "$work/gapbs"
make -C "$work/gapbs" bc CXX_FLAGS="-std=c++11 -O3 -march=native -Wall" >"$work/make.log" 2>&1 ||
  { tail "$work/make.log" >&2; exit 1; }

printf '%5s  %10s  %12s  %12s  %6s\n' scale sources 'gapbs GTEPS' 'tutti GTEPS' ratio
for scale in $scales; do
  "$tutti" -q graph generate ssca2 --scale "$scale" -o "$work/graph.el"
  "$tutti" -q graph convert "$work/graph.el" "$work/graph.sg" --filter-eighths
  rm "$work/graph.el"
  rm -f "$work"/*.log "$work"/tutti-*.json
  for ((round = 0; round < rounds; ++round)); do  # in turn, so that both meet the same load
    OMP_NUM_THREADS=$threads taskset -c "$cores" "$work/gapbs/bc" -f "$work/graph.sg" -i "$sources" -n 1 >>"$work/gapbs.log"
    taskset -c "$cores" "$tutti" -q graph ssca2 --scale "$scale" --sources "$sources" --multi-edges simple --devices cpu \
      --json "$work/tutti-$round.json" >/dev/null
  done
  python3 - "$work" "$scale" "$sources" <<'END'
import glob, json, re, sys
work, scale, sources = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
seconds = min(float(t) for t in re.findall(r"^Trial Time: *([0-9.e+-]+)", open(f"{work}/gapbs.log").read(), re.M))
peer = 7 * 2**scale * sources / seconds * 1e-9
ours = max(json.load(open(name))["teps"] for name in glob.glob(f"{work}/tutti-*.json")) * 1e-9
print(f"{scale:5}  {sources:10}  {peer:12.4f}  {ours:12.4f}  {ours / peer:6.2f}")
END
done
