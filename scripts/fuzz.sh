#!/usr/bin/env bash
# Builds the fuzz targets (tests/fuzz) with clang's sanitizers and lets each run for a while. Ends with one line a target.
set -euo pipefail

usage() {
  cat <<'TEXT'
usage: scripts/fuzz.sh [--seconds N] [--jobs N] [--seed N] [--no-install] [--list] [TARGET...]
  --seconds N   time for each target (default: 30)
  --jobs N      targets at a time, and build jobs (default: 2)
  --seed N      libFuzzer's seed, to try the same inputs again (default: another one each time)
  --no-install  do not look for missing packages
  --list        print the targets and stop
  TARGET...     e.g. gmsh case (default: all)
Inputs found on the way stay in build/fuzz/corpus/TARGET and are used by the next run. What breaks a target is left in
build/fuzz/findings; run it again by build/fuzz/tests/fuzz/fuzz_TARGET FILE. Exit code 1 when there is any finding.
TEXT
}

cd "$(dirname "${BASH_SOURCE[0]}")/.."
seconds=30
jobs=2
seed=0
install=1
all=()
for source in tests/fuzz/fuzz_*.cpp; do
  source=${source##*/fuzz_}
  all+=("${source%.cpp}")
done
targets=()
while (($#)); do
  case "$1" in
    --seconds | --jobs | --seed)
      if (($# < 2)) || [[ ! $2 =~ ^[1-9][0-9]*$ ]]; then echo "fuzz.sh: $1 needs a number (see --help)" >&2; exit 2; fi
      declare "${1#--}=$2"
      shift 2
      ;;
    --no-install) install=0; shift ;;
    --list) printf '%s\n' "${all[@]}"; exit 0 ;;
    -h | --help) usage; exit 0 ;;
    -*) echo "fuzz.sh: unknown option '$1' (see --help)" >&2; exit 2 ;;
    *)
      if [[ ! -f tests/fuzz/fuzz_$1.cpp ]]; then echo "fuzz.sh: no target '$1'; there are: ${all[*]}" >&2; exit 2; fi
      targets+=("$1")
      shift
      ;;
  esac
done
if ((${#targets[@]} == 0)); then targets=("${all[@]}"); fi

if ((install)); then scripts/install-dependencies.sh --quiet --dev; fi
cmake --preset fuzz
cmake --build build/fuzz -j "$jobs" "${targets[@]/#/--target=fuzz_}"

# Names in stack traces: LLVM's tool, else the one of binutils.
symbolizer=$(command -v llvm-symbolizer llvm-symbolizer-14 addr2line | head -n 1 || true)
export ASAN_SYMBOLIZER_PATH=${ASAN_SYMBOLIZER_PATH:-$symbolizer}
export UBSAN_OPTIONS=${UBSAN_OPTIONS:-print_stacktrace=1}
export seconds seed

# Runs one target; its last line goes to build/fuzz/results/TARGET.
fuzz_one() {
  local target=$1 base=build/fuzz seeds words=() length=32768 code left input quick end=$((SECONDS + seconds)) log
  local program=$base/tests/fuzz/fuzz_$target work=$base/corpus/$target findings=$base/findings/$target
  log=$base/logs/$target
  mkdir -p "$work" "$findings" "$base/logs" "$base/results"
  # What an earlier run found is tried first.
  find "$findings" -type f -exec mv -t "$work" {} +
  mapfile -t seeds <"$base/seeds/$target"
  if [[ -f tests/fuzz/dictionaries/$target.dict ]]; then words=(-dict="tests/fuzz/dictionaries/$target.dict"); fi
  # Formulas are short, and longer ones only cost time.
  if [[ $target == expression ]]; then length=1024; fi
  # MPI keeps memory, and its edits are few.
  if [[ $target == whole_restart ]]; then
    length=600
    words+=(-detect_leaks=0)
  fi
  : >"$log"
  while left=$((end - SECONDS)) && ((left > 0)); do
    code=0
    "$program" -seed="$seed" -max_total_time="$left" -max_len=$length -timeout=10 -rss_limit_mb=2048 \
      -malloc_limit_mb=256 -print_final_stats=1 -artifact_prefix="$findings/" "${words[@]}" "$work" "${seeds[@]}" \
      >>"$log" 2>&1 </dev/null || code=$?
    if ((code == 0)); then break; fi
    # libFuzzer's 10 s are those of the clock. On a busy machine an innocent input can take them; one that needs less
    # than 10 s of a core is no hang, and the run goes on.
    quick=0
    while IFS= read -r -d '' input; do
      if (ulimit -c 0 -t 10 && exec "$program" -timeout=1000 "$input") >>"$log" 2>&1 </dev/null; then
        mv -t "$work" "$input"
        quick=1
      fi
    done < <(find "$findings" -type f -name 'timeout-*' -print0)
    if ((!quick)) || [[ -n $(find "$findings" -type f -print -quit) ]]; then break; fi
    code=0
  done
  awk -v target="$target" -v code=$code -v found="$(find "$findings" -type f | wc -l)" '
    match($0, /cov: [0-9]+/) {coverage = substr($0, RSTART + 5, RLENGTH - 5)}
    /^stat::number_of_executed_units:/ {runs += $2}
    /^stat::peak_rss_mb:/ {if ($2 > memory) memory = $2}
    END {
      if (code != 0 && found == 0) found = 1  # it ended without leaving an input: the log tells
      printf "%-12s %9d executions, coverage %5d, %4d MiB, %d findings\n", target, runs, coverage, memory, found
    }' "$log" >"$base/results/$target"
  if ((code != 0)); then
    echo "--- $target ended with code $code; the end of $log:"
    tail -n 40 "$log"
  fi
}
export -f fuzz_one

rm -rf build/fuzz/results
started=$SECONDS
# shellcheck disable=SC2016  # expanded by the inner shell
printf '%s\0' "${targets[@]}" | xargs -0 -P "$jobs" -I{} bash -c 'set -euo pipefail; fuzz_one "$1"' _ {}
echo "fuzz: ${#targets[@]} targets, $seconds s each, $((SECONDS - started)) s in all"
cat "${targets[@]/#/build/fuzz/results/}"
if grep -qv ' 0 findings$' "${targets[@]/#/build/fuzz/results/}"; then
  echo "fuzz: the inputs are in build/fuzz/findings"
  exit 1
fi
