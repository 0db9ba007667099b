#!/usr/bin/env bash
# Builds tutti over MPICH instead of Open MPI and runs the tests that meet MPI. CI builds over Open MPI; this is the other.
set -euo pipefail

usage() {
  cat <<'TEXT'
usage: scripts/test-mpich.sh [--label REGEX] [--jobs N] [--no-install]
  --label REGEX  only the tests with such a label (default: unit|mpi|system)
  --jobs N       build jobs (default: the cores of this machine)
  --no-install   do not look for missing packages
MPICH is installed beside Open MPI; mpicxx and mpirun stay those of Open MPI. The build is in build/mpich.
TEXT
}

label='unit|mpi|system'
jobs=$(nproc)
install=1
while (($#)); do
  case "$1" in
    --label | --jobs)
      if (($# < 2)); then echo "test-mpich.sh: $1 needs a value (see --help)" >&2; exit 2; fi
      declare "${1#--}=$2"
      shift 2
      ;;
    --no-install) install=0; shift ;;
    -h | --help) usage; exit 0 ;;
    *) echo "test-mpich.sh: unknown option '$1' (see --help)" >&2; exit 2 ;;
  esac
done

cd "$(dirname "${BASH_SOURCE[0]}")/.."
if ((install)); then scripts/install-dependencies.sh --quiet --mpich; fi
cmake --preset mpich
cmake --build build/mpich -j "$jobs"
# MPICH's ranks poll without a pause, so tests of several ranks run one at a time.
ctest --test-dir build/mpich --output-on-failure --no-tests=error -L "$label" </dev/null
