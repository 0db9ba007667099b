#!/usr/bin/env bash
# Steps of incompressible flow by tutti beside CaNS (https://github.com/CaNS-World/CaNS): a lid-driven cube of N^3 equal cells in
# double precision, explicit in time, with a direct solver of the pressure. A step of CaNS has three stages of Runge-Kutta with a
# solution of the pressure each, one of tutti's benchmark has one: what is compared are a stage and a step.
#
# usage: bench/peers/cans.sh CANS_FOLDER [CELLS]
#   CANS_FOLDER  a checkout of CaNS with its submodule dependencies/2decomp-fft; it is copied and built elsewhere. Debian:
#                apt-get install gfortran libopenmpi-dev libfftw3-dev
#   CELLS        along an edge, default "64 128"
# TUTTI names the program (default: build/release/bin/tutti), CORES the cores (default: 0,1), ROUNDS how often both run, one
# after the other (default: 5), EACH for how many seconds about (default: 2); the fastest round of each counts, and of a round the
# median of its steps.
set -euo pipefail

. "$(dirname "${BASH_SOURCE[0]}")/common.sh"
if (($# < 1)) || [[ ! -f $1/src/main.f90 || ! -d $1/dependencies/2decomp-fft/src ]]; then
  stop "${1:-CANS_FOLDER}: no checkout of CaNS with its submodules; usage: bench/peers/cans.sh CANS_FOLDER [CELLS]"
fi
source_folder=$1 CELLS=${2:-64 128}
tutti=${TUTTI:-$root/build/release/bin/tutti} cores=${CORES:-0,1} rounds=${ROUNDS:-5} each=${EACH:-2}
ranks=$(tr ',' '\n' <<<"$cores" | wc -l)
need_tutti
need_program mpifort "apt-get install gfortran libopenmpi-dev"
need_program mpirun "apt-get install openmpi-bin"
need_counts CELLS ROUNDS
need_numbers EACH
need_cores "$cores"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

cp -r "$source_folder" "$work/cans"
{ make -C "$work/cans" libs && make -C "$work/cans" FFLAGS=-march=native; } >"$work/make.log" 2>&1 ||
  { tail "$work/make.log" >&2; stop "CaNS cannot be built; is libfftw3-dev there?"; }

# input CELLS STEPS: the cube, without files or checks between its steps
input() {
  cat <<END
&dns
ng(1:3) = $1, $1, $1
l(1:3) = 1., 1., 1.
gtype = 1, gr = 0.
cfl = 0.95, dtmax = 1.e5, dt_f = 1.e-4
visci = 100.
inivel = 'zer'
is_wallturb = F
nstep = $2, time_max = 100., tw_max = 1.
stop_type(1:3) = T, F, F
restart = F, is_overwrite_save = T, nsaves_max = 0
icheck = 1000000, iout0d = 1000000, iout1d = 1000000, iout2d = 1000000, iout3d = 1000000, isave = 1000000
cbcvel(0:1,1:3,1) = 'D','D',  'D','D',  'D','D'
cbcvel(0:1,1:3,2) = 'D','D',  'D','D',  'D','D'
cbcvel(0:1,1:3,3) = 'D','D',  'D','D',  'D','D'
cbcpre(0:1,1:3)   = 'N','N',  'N','N',  'N','N'
bcvel(0:1,1:3,1) =  0.,0.,   0.,0.,   0.,1.
bcvel(0:1,1:3,2) =  0.,0.,   0.,0.,   0.,0.
bcvel(0:1,1:3,3) =  0.,0.,   0.,0.,   0.,0.
bcpre(0:1,1:3)   =  0.,0.,   0.,0.,   0.,0.
bforce(1:3) = 0., 0., 0.
is_forced(1:3) = F, F, F
velf(1:3) = 0., 0., 0.
dims(1:2) = 0, 0, ipencil_axis = 1
/
&numerics
is_impdiff = F, is_impdiff_1d = F
/
&other_options
is_debug = F, is_timing = T
/
END
}

# run_cans CELLS STEPS: the median of its steps, in ms
run_cans() {
  rm -rf "$work/run"
  mkdir -p "$work/run/data"
  input "$1" "$2" >"$work/run/input.nml"
  (cd "$work/run" && OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 taskset -c "$cores" \
    mpirun --bind-to none -n "$ranks" "$work/cans/build/cans" >out.txt 2>&1) || { tail "$work/run/out.txt" >&2; exit 1; }
  awk 'told { print 1000 * $1; told = 0 } /elapsed time/ { told = 1 }' "$work/run/out.txt" | sort -g >"$work/steps"
  [[ -s $work/steps ]] || { tail "$work/run/out.txt" >&2; stop "CaNS told no times of $1^3 cells"; }
  awk '{ x[NR] = $1 } END { print x[int((NR + 1) / 2)] }' "$work/steps"
}

echo '| cells | CaNS, ms a stage | tutti, ms a step | ratio | tutti, of the triad |'
echo '| --- | --- | --- | --- | --- |'
for n in $CELLS; do
  first=$(run_cans "$n" 4)
  steps=$(awk -v ms="$first" -v each="$each" 'BEGIN { n = int(1000 * each / ms) + 2; print n < 4 ? 4 : n }')
  rm -f "$work"/*.txt "$work"/tutti-*.json
  for ((round = 0; round < rounds; ++round)); do  # in turn, so that both meet the same load
    run_cans "$n" "$steps" >>"$work/cans.txt"
    taskset -c "$cores" "$tutti" -q bench incompressible --cells "$n" --solver direct --devices cpu --threads "$ranks" \
      --seconds "$each" --json "$work/tutti-$round.json" >/dev/null
  done
  python3 - "$n" "$work" <<'END'
import json, pathlib, sys
cells, work = sys.argv[1], pathlib.Path(sys.argv[2])
cans = min(float(line) for line in (work / "cans.txt").read_text().split()) / 3
results = [json.loads(f.read_text())["results"][0] for f in work.glob("tutti-*.json")]
best = min(results, key=lambda result: result["seconds_median"])
tutti = 1000 * best["seconds_median"]
print(f"| {cells}^3 | {cans:.3g} | {tutti:.3g} | {cans / tutti:.2f} | {best['fraction_of_triad']:.2f} |")
END
done
