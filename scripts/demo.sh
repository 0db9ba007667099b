#!/usr/bin/env bash
# From a fresh clone to a picture: installs what is missing, builds, and runs the diffusion through a heart.
set -euo pipefail

usage() {
  cat <<'TEXT'
usage: scripts/demo.sh [--ranks N] [--devices LIST] [--mesh-size H] [--output DIR] [--no-install]
  --ranks N       run over N MPI ranks (default 1, no mpirun)
  --devices LIST  as in tutti run, e.g. cpu, cuda:0,cpu, fake:2,cpu (default: all)
  --mesh-size H   edge length of the tetrahedra in mm (default: the example's 1.2; 2 is quick, 0.52 makes 4.2 M cells)
  --output DIR    results folder (default: results/heart)
  --no-install    do not look for missing packages
TEXT
}

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
ranks=1
install=1
output=$root/results/heart
run_options=()

value() { # option, number of arguments left
  if (($2 < 2)); then
    echo "demo.sh: $1 needs a value (see --help)" >&2
    exit 2
  fi
}
while (($#)); do
  case "$1" in
    --ranks) value "$1" $#; ranks=$2; shift 2 ;;
    --devices) value "$1" $#; run_options+=(--devices "$2"); shift 2 ;;
    --mesh-size) value "$1" $#; run_options+=(--set "mesh.h=$2"); shift 2 ;;
    --output) value "$1" $#; output=$(realpath -m "$2"); shift 2 ;;
    --no-install) install=0; shift ;;
    -h | --help) usage; exit 0 ;;
    *) echo "demo.sh: unknown option '$1' (see --help)" >&2; exit 2 ;;
  esac
done
if ! [[ $ranks =~ ^[1-9][0-9]*$ ]]; then
  echo "demo.sh: --ranks wants a whole number of at least 1, not '$ranks'" >&2
  exit 2
fi

launch=()
if ((ranks > 1)); then
  # More ranks than cores is allowed here: the demo is about the answer, not about the speed.
  launch=(mpirun --oversubscribe --bind-to none -np "$ranks")
  if [[ $(id -u) == 0 ]]; then launch+=(--allow-run-as-root); fi
fi

cd "$root"
if ((install)); then scripts/install-dependencies.sh --quiet; fi
scripts/configure.sh release
cmake --build --preset release --target tutti_app
"${launch[@]}" build/release/bin/tutti run examples/heart/case.toml -o "$output" --overwrite "${run_options[@]}"
# Debian's own interpreter: a pyenv python3 does not see python3-vtk9.
PYTHONPATH=python /usr/bin/python3 -m tutti.plot "$output" -o "$output/heart.png"

paraview=$(find "$output" -maxdepth 1 -name '*.pvd' | sort | head -n 1)
echo
echo "picture:   $output/heart.png"
echo "ParaView:  ${paraview:-none was written}"
echo "summary:   $output/summary.json"
