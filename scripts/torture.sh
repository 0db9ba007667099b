#!/usr/bin/env bash
# Runs that are killed, whose disk breaks, whose files are damaged, whose power is cut, whose memory is short, that meet
# another run in their folder: each must survive (docs/reliability.md). All options: scripts/torture.sh --help.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
build=$root/build/release
arguments=("$@")
for ((k = 0; k < ${#arguments[@]}; ++k)); do
  case "${arguments[k]}" in
    --build) build=${arguments[k + 1]:-$build} ;;
    --build=*) build=${arguments[k]#--build=} ;;
    -h | --help | --table) exec /usr/bin/python3 "$root/tests/torture/torture.py" "$@" ;;
  esac
done

# What is missing is built; a build of another kind must have been configured.
if [[ ! -x $build/bin/tutti || ! -f $build/tests/libtutti_fail_write.so || ! -f $build/tests/libtutti_power_cut.so ]]; then
  if [[ ! -f $build/CMakeCache.txt && $build -ef $root/build/release || ! -e $build ]]; then
    (cd "$root" && cmake --preset release -B "$build")
  fi
  cmake --build "$build" -j 2 --target tutti_app tutti_fail_write tutti_power_cut
fi

# Open MPI refuses root and more ranks than cores unless told.
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
export OMPI_MCA_rmaps_base_oversubscribe=1 OMPI_MCA_hwloc_base_binding_policy=none
export PYTHONDONTWRITEBYTECODE=1
exec /usr/bin/python3 "$root/tests/torture/torture.py" "$@"
