#!/usr/bin/env bash
# Time steps of tutti beside OpenFOAM (Debian's 1912), a rank of OpenFOAM and a thread of tutti a core, in double:
#   diffusion  laplacianFoam and tutti on the same tetrahedra, backward Euler at the same dt, to a residual of 1e-6, from cos(pi x) in a
#              closed box; tutti's explicit Euler, at the dt it allows, too. OpenFOAM takes the part of a flux that is not along the
#              line between two centres from the step before, by least-squares gradients (by Gauss's the rate is 5 % off, on any mesh).
#   cavity     icoFoam (backward Euler, PISO with two solutions of the pressure) and tutti (Adams-Bashforth, one direct solution) on the
#              lid-driven cube at Re 400, on the same cells, at the same dt.
# Results are compared, too: the rate at which the cosine decays; the energy of the flow and its mean below the middle.
#
# usage: bench/peers/openfoam.sh [FOLDER]     # default: results/openfoam; keeps openfoam.json
# PARTS (default: diffusion cavity). CUBES, DT, STEPS: of diffusion (default: 44 cubes along an edge, of six tetrahedra each; 1e-3; 20).
# CELLS, CAVITY_DT, CAVITY_STEPS: of the cavity (default: 64 along an edge; 5e-3; 100). TUTTI names the program, CORES the cores
# (default: 0,1), ROUNDS how often all run, in turn (default: 3); the fastest counts. Times are wall time per step without set-up
# and files, of OpenFOAM all steps but the first and the last.
set -euo pipefail

. "$(dirname "${BASH_SOURCE[0]}")/common.sh"
tutti=${TUTTI:-$root/build/release/bin/tutti} cores=${CORES:-0,1} rounds=${ROUNDS:-3} parts=${PARTS:-diffusion cavity}
cubes=${CUBES:-44} dt=${DT:-1e-3} steps=${STEPS:-20} cells=${CELLS:-64} cavity_dt=${CAVITY_DT:-5e-3} cavity_steps=${CAVITY_STEPS:-100}
threads=$(tr ',' '\n' <<<"$cores" | wc -l)
read -ra mpirun <<<"${MPIRUN:-mpirun --oversubscribe --bind-to none$([[ $(id -u) -ne 0 ]] || echo " --allow-run-as-root")}"
for name in laplacianFoam icoFoam blockMesh gmshToFoam decomposePar reconstructPar; do
  need_program "$name" "apt-get install --no-install-recommends openfoam"
done
need_tutti
need_counts CUBES STEPS CELLS CAVITY_STEPS ROUNDS
need_numbers DT CAVITY_DT
need_cores "$cores"
for part in $parts; do
  [[ $part == diffusion || $part == cavity ]] || stop "PARTS has '$part'; diffusion or cavity"
done
export WM_PROJECT_DIR=${WM_PROJECT_DIR:-/usr/share/openfoam} OMP_NUM_THREADS=1
results_folder "${1:-$root/results/openfoam}"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
helper=("${PYTHON:-python3}" -B "$root/bench/peers/openfoam_case.py")

quietly() { "$@" >"$work/log" 2>&1 || { tail -n 30 "$work/log" >&2; exit 1; }; }

# dictionary NAME [CLASS] <ENTRIES: a file of OpenFOAM, with its header.
dictionary() {
  local name
  name=$(basename "$1")
  { echo "FoamFile { version 2.0; format ascii; class ${2:-dictionary}; object $name; }"; cat; } >"$1"
}

# foam_case CASE DT STEPS FLUX GRADIENT
foam_case() {
  mkdir -p "$1/system" "$1/constant" "$1/0"
  dictionary "$1/system/controlDict" <<END
startFrom startTime; startTime 0; stopAt endTime; deltaT $2; endTime $(awk -v dt="$2" -v n="$3" 'BEGIN { printf "%.12g", n * dt }');
writeControl timeStep; writeInterval $3; writeFormat ascii; writePrecision 12; timeFormat general; timePrecision 8;
runTimeModifiable false;
END
  dictionary "$1/system/decomposeParDict" <<<"numberOfSubdomains $threads; method simple; simpleCoeffs { n (1 1 $threads); delta 0.001; }"
  dictionary "$1/system/fvSchemes" <<END
ddtSchemes { default Euler; } gradSchemes { default $5; } divSchemes { default none; div(phi,U) Gauss linear; }
laplacianSchemes { default Gauss linear $4; } interpolationSchemes { default linear; } snGradSchemes { default $4; }
END
}

# foam_run CASE PROGRAM NAME: NAME-ROUND.json gets the times, last-NAME the last fields.
foam_run() {
  quietly "${helper[@]}" steps "$work/$3-$round.json" taskset -c "$cores" "${mpirun[@]}" -np "$threads" "$2" -parallel -case "$1"
  quietly reconstructPar -case "$1" -latestTime
  mkdir -p "$work/last-$3"
  cp -r "$1"/[0-9]* "$work/last-$3"
}

# tutti_run CASE NAME [OPTIONS...]
tutti_run() {
  taskset -c "$cores" "$tutti" -q run "$work/$1.toml" -o "$work/$2-$round" --overwrite --devices cpu --threads "$threads" "${@:3}"
}

few_outputs='[checkpoint]
at_end = false
minutes = 0
[output]
history_every = 1000000
[report]
every = 1000000'
pcg='solver PCG; preconditioner DIC;'
gamg='solver GAMG; smoother GaussSeidel;'

diffusion() {
  local case=$work/diffusion
  "$tutti" -q mesh generate box --cubes "$cubes" "$cubes" "$cubes" --jitter 0.1 --split 0.5 --format msh22-ascii -o "$work/box.msh"
  foam_case "$case" "$dt" "$steps" corrected leastSquares
  dictionary "$case/constant/transportProperties" <<<"DT DT [0 2 -1 0 0 0 0] 1;"
  quietly gmshToFoam -case "$case" "$work/box.msh"
  "${helper[@]}" initial "$work/box.msh" | dictionary "$case/0/T" volScalarField
  diffusion_solver "$pcg"
  quietly decomposePar -case "$case"
  cat >"$work/diffusion.toml" <<END
model = "diffusion"
[mesh]
file = "box.msh"
[physics]
K = 1
initial = "cos(pi*x)"
[time]
method = "backward-euler"
dt = $dt
steps = $steps
[solver]
tolerance = 1e-6
[[output.integral]]
name = "left"
of = "u"
kind = "mean"
region = "left"
$few_outputs
END
  for ((round = 0; round < rounds; ++round)); do
    diffusion_solver "$pcg"
    foam_run "$case" laplacianFoam diffusion-pcg
    diffusion_solver "$gamg"
    foam_run "$case" laplacianFoam diffusion-gamg
    tutti_run diffusion multigrid
    tutti_run diffusion chebyshev --set solver.preconditioner=chebyshev
    tutti_run diffusion explicit --set time.method=euler --set time.dt=auto --set time.steps=200 --set solver.tolerance=
  done
  "${helper[@]}" diffusion "$work" "$rounds" "$dt" "$steps" "$threads" "$folder/openfoam.json"
}

diffusion_solver() {
  dictionary "$work/diffusion/system/fvSolution" <<END
solvers { T { $1 tolerance 1e-6; relTol 0; } }
SIMPLE { nNonOrthogonalCorrectors 0; }
END
}

cavity() {
  local case=$work/cavity
  foam_case "$case" "$cavity_dt" "$cavity_steps" orthogonal "Gauss linear"
  dictionary "$case/constant/transportProperties" <<<"nu [0 2 -1 0 0 0 0] 0.0025;"
  dictionary "$case/system/blockMeshDict" <<END
vertices ((0 0 0) (1 0 0) (1 1 0) (0 1 0) (0 0 1) (1 0 1) (1 1 1) (0 1 1));
blocks (hex (0 1 2 3 4 5 6 7) ($cells $cells $cells) simpleGrading (1 1 1)); edges ();
boundary (
  lid { type wall; faces ((3 7 6 2)); }
  walls { type wall; faces ((0 4 7 3) (2 6 5 1) (1 5 4 0) (0 3 2 1) (4 5 6 7)); }
);
END
  dictionary "$case/0/U" volVectorField <<END
dimensions [0 1 -1 0 0 0 0]; internalField uniform (0 0 0);
boundaryField { lid { type fixedValue; value uniform (1 0 0); } walls { type noSlip; } }
END
  dictionary "$case/0/p" volScalarField <<END
dimensions [0 2 -2 0 0 0 0]; internalField uniform 0;
boundaryField { lid { type zeroGradient; } walls { type zeroGradient; } }
END
  cavity_solver "$pcg"
  quietly blockMesh -case "$case"
  quietly decomposePar -case "$case"
  cat >"$work/cavity.toml" <<END
model = "incompressible"
[grid]
cells = [$cells, $cells, $cells]
[fluid]
viscosity = 0.0025
[[boundary]]
face = "y-upper"
value = [1, 0, 0]
[time]
dt = $cavity_dt
steps = $cavity_steps
[[output.integral]]
name = "below"
of = "velocity[0]"
kind = "mean"
where = "y < 0.5"
$few_outputs
END
  for ((round = 0; round < rounds; ++round)); do
    cavity_solver "$pcg"
    foam_run "$case" icoFoam cavity-pcg
    cavity_solver "$gamg"
    foam_run "$case" icoFoam cavity-gamg
    tutti_run cavity cavity-tutti
  done
  "${helper[@]}" cavity "$work" "$rounds" "$cavity_dt" "$cavity_steps" "$threads" "$folder/openfoam.json"
}

# Tolerances of OpenFOAM's tutorial of the cavity.
cavity_solver() {
  dictionary "$work/cavity/system/fvSolution" <<END
solvers {
  p { $1 tolerance 1e-6; relTol 0.05; }
  pFinal { \$p; relTol 0; }
  U { solver smoothSolver; smoother symGaussSeidel; tolerance 1e-5; relTol 0; }
}
PISO { nCorrectors 2; nNonOrthogonalCorrectors 0; pRefCell 0; pRefValue 0; }
END
}

echo '[]' >"$folder/openfoam.json"
for part in $parts; do "$part"; done
