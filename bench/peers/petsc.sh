#!/usr/bin/env bash
# A steady solution by tutti beside PETSc on the same matrix: rotating fibres 9:1, source 1, u = 0 on the boundary of a box
# of CUBES^3 cubes, six tetrahedra each, to a residual of 1e-8 of the right-hand side. Needs PETSc (Debian: petsc-dev) and
# the program bench_steady_matrix (cmake --build build/release --target bench).
#
# usage: bench/peers/petsc.sh [CUBES...]     # default: 35 70
# TUTTI names the program, MATRIX bench_steady_matrix (default: those of build/release), CORES how many cores (default: 2),
# ROUNDS how often each runs, in turn (default: 3); the fastest counts. PKG_CONFIG_PATH: where PETSc.pc lies.
set -euo pipefail

cubes=("$@")
(($#)) || cubes=(35 70)
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"
tutti=${TUTTI:-$root/build/release/bin/tutti} matrix=${MATRIX:-$root/build/release/bench/bench_steady_matrix}
cores=${CORES:-2} rounds=${ROUNDS:-3}
read -ra mpirun <<<"${MPIRUN:-mpirun --oversubscribe --bind-to none$([[ $(id -u) -ne 0 ]] || echo " --allow-run-as-root")}"
need_tutti
need_program "$matrix" "cmake --build build/release --target bench, or MATRIX=PROGRAM"
CUBES=${cubes[*]}
need_counts CUBES CORES ROUNDS
pkg-config --exists PETSc 2>/dev/null || stop "PETSc is missing; apt-get install petsc-dev"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
read -ra flags <<<"$(pkg-config --cflags --libs PETSc)"
mpicc -O2 "$root/bench/peers/petsc.c" -o "$work/petsc" "${flags[@]}" -lm

cat >"$work/case.toml" <<'END'
model = "diffusion"
[mesh]
generate = "box"
jitter = 0.2
[physics]
K = [["5 + 4*cos(2*pi*z)", "4*sin(2*pi*z)", 0], ["4*sin(2*pi*z)", "5 - 4*cos(2*pi*z)", 0], [0, 0, 1]]
source = 1
[[boundary]]
tag = "*"
type = "dirichlet"
[time]
method = "steady"
[solver]
tolerance = 1e-8
[numerics]
check = false
[checkpoint]
at_end = false
[output]
every = 0
history_every = 0
END
declare -A options=(
  ["PETSc, BiCGStab + GAMG"]="-ksp_type bcgs -pc_type gamg"
  ["PETSc, BiCGStab + BoomerAMG"]="-ksp_type bcgs -pc_type hypre -pc_hypre_boomeramg_strong_threshold 0.5"
  ["PETSc, CG + GAMG"]="-ksp_type cg -pc_type gamg"
)
printf '| cells | solver | set-up [s] | solution [s] | iterations | residual |\n| --- | --- | --- | --- | --- | --- |\n'
for n in "${cubes[@]}"; do
  "$matrix" "$n" "$work/matrix"
  for ((round = 0; round < rounds; ++round)); do
    for name in "${!options[@]}"; do
      read -ra words <<<"${options[$name]}"
      # Residuals of the equations themselves: from the right, or in their own norm.
      side=(-ksp_pc_side right)
      [[ $name != *" CG "* ]] || side=(-ksp_norm_type unpreconditioned)
      "${mpirun[@]}" -np "$cores" "$work/petsc" "$work/matrix" "${words[@]}" "${side[@]}" -ksp_rtol 1e-8 -ksp_max_it 100 \
        >>"$work/$n $name"
    done
    "$tutti" run "$work/case.toml" -o "$work/results" --overwrite -q --devices cpu --threads "$cores" --set "mesh.cubes=[$n,$n,$n]"
    python3 - "$work/results/summary.json" >>"$work/$n tutti" <<'END'
import json, sys
s = json.load(open(sys.argv[1]))
print(f"{s['setup_seconds']['stability']:.3f} {s['wall_seconds']:.3f} {s['solver']['iterations']} {s['solver']['residual']:.2e}")
END
  done
  for file in "$work/$n "*; do
    name=${file#"$work/$n "}
    sort -g -k2 "$file" | head -n 1 | awk -v cells=$((6 * n * n * n)) -v name="$name" \
      '{printf "| %d | %s | %s | %s | %s | %s |\n", cells, name, $1, $2, $3, $4}'
  done
done
