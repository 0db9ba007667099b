#!/usr/bin/env bash
# Configures a preset, for demo.sh and test.sh alike: what one has built the other does not build again. The preset release
# gets its GPU kernels, a third of the time to compile, where this machine has an NVIDIA GPU, or with TUTTI_CUDA=ON.
set -euo pipefail

if (($# != 1)); then
  echo "usage: scripts/configure.sh PRESET, e.g. release (cmake --list-presets names them)" >&2
  exit 2
fi
preset=$1
cd "$(dirname "${BASH_SOURCE[0]}")/.."
options=()
if [[ -n ${TUTTI_CUDA:-} ]]; then
  options=("-DTUTTI_CUDA=$TUTTI_CUDA")
elif [[ $preset == release ]]; then
  if nvidia-smi -L 2> /dev/null | grep GPU > /dev/null; then
    options=(-DTUTTI_CUDA=ON)
  elif [[ ! -e build/release/CMakeCache.txt ]]; then # without a GPU a build that is there stays as it is
    options=(-DTUTTI_CUDA=OFF)
    echo "no NVIDIA GPU here: built without GPU kernels (with them: TUTTI_CUDA=ON $0 release)"
  fi
fi
cmake --preset "$preset" "${options[@]}"
