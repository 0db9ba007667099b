#!/usr/bin/env bash
# Builds everything of a preset and runs its tests.
set -euo pipefail

usage() {
  cat <<'TEXT'
usage: scripts/test.sh [--preset NAME] [--label REGEX] [--exclude REGEX] [--tests REGEX] [--skip REGEX] [--target T]... [--jobs N] [--no-install]
  --preset NAME    configure preset (default: release; also debug, asan, tsan, tsan-omp, mpich, cuda, portable)
  --label REGEX    only the tests with such a label, e.g. unit
  --exclude REGEX  all tests but those with such a label
  --tests REGEX    only the tests with such a name
  --skip REGEX     all tests but those with such a name
  --target T       build only this target (default: all)
  --jobs N         build jobs (default: the cores of this machine, at most 1 a 1.5 GB of memory); tests at a time: twice as
                   many, as half of a test's time is waiting for files and the start of MPI
  --no-install     do not look for missing packages
Environment: TMPDIR, the folder for files of tests (default: one in /dev/shm where it has room, else /tmp)
TEXT
}

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
preset=release
install=1
jobs=
select=()
targets=()

value() { # option, number of arguments left
  if (($2 < 2)); then
    echo "test.sh: $1 needs a value (see --help)" >&2
    exit 2
  fi
}
while (($#)); do
  case "$1" in
    --preset) value "$1" $#; preset=$2; shift 2 ;;
    --label) value "$1" $#; select+=(-L "$2"); shift 2 ;;
    --exclude) value "$1" $#; select+=(-LE "$2"); shift 2 ;;
    --tests) value "$1" $#; select+=(-R "$2"); shift 2 ;;
    --skip) value "$1" $#; select+=(-E "$2"); shift 2 ;;
    --target) value "$1" $#; targets+=(--target "$2"); shift 2 ;;
    --jobs) value "$1" $#; jobs=$2; shift 2 ;;
    --no-install) install=0; shift ;;
    -h | --help) usage; exit 0 ;;
    *) echo "test.sh: unknown option '$1' (see --help)" >&2; exit 2 ;;
  esac
done

default_jobs() {
  local cores by_memory
  cores=$(nproc)
  by_memory=$(awk '/^MemAvailable:/ {print int($2 / 1.5e6)}' /proc/meminfo)
  if ((by_memory < 1)); then by_memory=1; fi
  echo $((cores < by_memory ? cores : by_memory))
}
if [[ -z $jobs ]]; then jobs=$(default_jobs); fi

cd "$root"
if ((install)); then scripts/install-dependencies.sh --quiet; fi
scripts/configure.sh "$preset"
cmake --build "build/$preset" -j "$jobs" "${targets[@]}"

# Open MPI refuses root and more ranks than cores unless told; tests use both on purpose.
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
export OMPI_MCA_rmaps_base_oversubscribe=1
# Several tests at a time must not all be bound to the first cores.
export OMPI_MCA_hwloc_base_binding_policy=none

# Tests write thousands of small files, many of them through to the disk. In memory, where it has 4 GB to spare and
# programs may run (a container's may be small, or noexec), that saves a fifth of their processor time and a third of the rest.
# TMPDIR, where it is set, goes first.
if [[ -z ${TMPDIR:-} ]] && files=$(mktemp -d /dev/shm/tutti-tests-XXXXXX 2>/dev/null); then
  trap 'rm -rf "$files"' EXIT
  printf '#!/bin/sh\n' > "$files/runs" && chmod +x "$files/runs"
  spare=$(df --output=avail -k /dev/shm | tail -n 1)
  if "$files/runs" 2>/dev/null && ((spare > 4000000)) && (($(awk '/^MemAvailable:/ {print $2}' /proc/meminfo) > 8000000)); then
    export TMPDIR=$files
  fi
fi
ctest --test-dir "build/$preset" --output-on-failure --no-tests=error -j $((2 * jobs)) "${select[@]}" </dev/null
