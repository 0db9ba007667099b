#!/usr/bin/env bash
# Diffusion on tetrahedra by tutti (finite volumes, an unknown a cell) beside dolfinx 0.5 (finite elements: P1, an unknown a node; P2, one
# an edge, too) with PETSc, in double, a rank of dolfinx and a thread of tutti a core, on the same mesh, to the same residual:
#   steady  K = ((2, 1/2, 0), (1/2, 1, 0), (0, 0, 1)), u = sin(pi x) cos(pi y) + z, given on all of the boundary
#   heat    steps of backward Euler, K = 1, from cos(pi x) cos(pi y) cos(pi z) in a closed box
# There are six times as many cells as nodes, so P1 also runs on a mesh whose nodes are about as many as the other's cells. Errors are in
# L2, of the heat beside what backward Euler makes of the cosines. At the centres of the cells they favour finite volumes; at all points
# u of tutti is linear in each cell, by its fitted gradient. Timed are assembly, set-up of the solver and the solution, or, of the heat, a
# step; not the mesh and its numbering, the compilation of forms, and tutti's search for growing modes, which is switched off.
#
# usage: bench/peers/dolfinx.sh [FOLDER]      # default: results/dolfinx; keeps dolfinx.json and dolfinx.md
# PARTS (default: steady heat), CUBES, FINE: cubes along an edge, of six tetrahedra each (default: 44, and 80 for P1 again; FINE=0: without),
# ORDERS of dolfinx on the first mesh (default: 1 2), DT, STEPS of the heat (default: 1e-3, 10), TOLERANCE (default: 1e-8), SOLVERS of
# dolfinx: hypre, gamg or icc, with conjugate gradients (default: hypre gamg, and icc for the heat). TUTTI names the
# program, PYTHON the one that has dolfinx (default: /usr/bin/python3), CORES the cores (default: 0,1; all runs with one of them, too),
# ROUNDS how often all run, in turn (default: 3); the fastest counts.
set -euo pipefail

. "$(dirname "${BASH_SOURCE[0]}")/common.sh"
tutti=${TUTTI:-$root/build/release/bin/tutti} python=${PYTHON:-/usr/bin/python3} cores=${CORES:-0,1} rounds=${ROUNDS:-3}
parts=${PARTS:-steady heat} cubes=${CUBES:-44} fine=${FINE:-80} orders=${ORDERS:-1 2} dt=${DT:-1e-3} steps=${STEPS:-10}
tolerance=${TOLERANCE:-1e-8}
read -ra mpirun <<<"${MPIRUN:-mpirun --oversubscribe --bind-to none$([[ $(id -u) -ne 0 ]] || echo " --allow-run-as-root")}"
need_tutti
need_program "${mpirun[0]}" "apt-get install openmpi-bin, or MPIRUN=COMMAND"
need_program "$python" "PYTHON names the one that has dolfinx"
for solver in ${SOLVERS:-}; do
  [[ $solver == hypre || $solver == gamg || $solver == icc ]] || stop "SOLVERS has '$solver'; hypre, gamg or icc"
done
need_counts CUBES ORDERS STEPS ROUNDS
[[ $fine == 0 ]] || need_counts FINE
need_numbers DT TOLERANCE
need_cores "$cores"
for part in $parts; do
  [[ $part == steady || $part == heat ]] || stop "PARTS has '$part'; steady or heat"
done
export OMP_NUM_THREADS=1 PYTHONDONTWRITEBYTECODE=1
peer() { "$python" "$root/bench/peers/dolfinx_peer.py" "$@"; }
peer check
results_folder "${1:-$root/results/dolfinx}"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

for n in "$cubes" "$fine"; do
  ((n == 0)) && continue
  "$tutti" -q mesh generate box --cubes "$n" "$n" "$n" --jitter 0.1 --format msh22-ascii -o "$work/$n.msh"
  peer mesh "$work/$n.msh" "$work/$n.npz"
done
few_outputs='extra = ["gradient"]
history_every = 1000000
[numerics]
check = false
[report]
every = 1000000
[checkpoint]
at_end = false
minutes = 0'
cat >"$work/steady.toml" <<END
model = "diffusion"
[mesh]
file = "$cubes.msh"
[physics]
K = [[2, 0.5, 0], [0.5, 1, 0], [0, 0, 1]]
source = "3*pi^2*sin(pi*x)*cos(pi*y) + pi^2*cos(pi*x)*sin(pi*y)"
[[boundary]]
tag = "*"
type = "dirichlet"
value = "sin(pi*x)*cos(pi*y) + z"
[time]
method = "steady"
[solver]
tolerance = $tolerance
[output]
$few_outputs
END
cat >"$work/heat.toml" <<END
model = "diffusion"
[mesh]
file = "$cubes.msh"
[physics]
K = 1
initial = "cos(pi*x)*cos(pi*y)*cos(pi*z)"
[time]
method = "backward-euler"
dt = $dt
steps = $steps
[solver]
tolerance = $tolerance
[output]
$few_outputs
END

# quietly COMMAND...: what it prints counts if it fails.
quietly() { "$@" >"$work/log" 2>&1 || { tail -n 5 "$work/log" >&2; exit 1; }; }

# run_peer PROBLEM CUBES ORDER SOLVER COUNT
run_peer() {
  quietly taskset -c "$(cut -d, -f "1-$5" <<<"$cores")" "${mpirun[@]}" -np "$5" "$python" "$root/bench/peers/dolfinx_peer.py" solve \
    "$work/$1-$2-$3-$4-$5-$round.json" "$1" "$work/$2.npz" "$3" "$4" "$tolerance" "$dt" "$steps"
}

echo '[]' >"$folder/dolfinx.json"
: >"$folder/dolfinx.md"
all=$(tr ',' '\n' <<<"$cores" | wc -l)
for problem in $parts; do
  solvers=${SOLVERS:-$([[ $problem == steady ]] && echo "hypre gamg" || echo icc)}
  for ((round = 0; round < rounds; ++round)); do # in turn, so that all meet the same load
    for count in $(printf '1\n%s\n' "$all" | sort -un); do
      for solver in $solvers; do
        for order in $orders; do run_peer "$problem" "$cubes" "$order" "$solver" "$count"; done
        ((fine == 0)) || run_peer "$problem" "$fine" 1 "$solver" "$count"
      done
      quietly taskset -c "$(cut -d, -f "1-$count" <<<"$cores")" "$tutti" -q run "$work/$problem.toml" -o "$work/$problem-tutti-$count-$round" \
        --devices cpu --threads "$count"
    done
  done
  { echo "$problem"; peer rows "$problem" "$work" "$rounds" "$folder/dolfinx.json"; } | tee -a "$folder/dolfinx.md"
done
