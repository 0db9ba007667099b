#!/usr/bin/env bash
# clang-tidy with .clang-tidy over the library and the program. Needs a configured build (compile_commands.json).
# Without clang-tidy: skipped on a developer's machine, an error in CI.
set -euo pipefail

usage() {
  cat <<'TEXT'
usage: scripts/check_tidy.sh [--build DIR] [--changed REF] [--jobs N] [--seconds S] [FILE...]
  --build DIR    folder where preset portable is configured, which lists each source alone (default: build/portable)
  --changed REF  only the sources that differ from this git commit (a changed header or .clang-tidy means all)
  --jobs N       processes at a time (default: the cores of this machine)
  --seconds S    stop after this long and say how many files are left unread (default: 420)
  FILE...        only these sources
TEXT
}

cd "$(dirname "${BASH_SOURCE[0]}")/.."
build=build/portable
changed=
jobs=$(nproc)
seconds=420
files=()
while (($#)); do
  case "$1" in
    --build | --changed | --jobs | --seconds)
      if (($# < 2)); then echo "check_tidy.sh: $1 needs a value (see --help)" >&2; exit 2; fi
      declare "${1#--}=$2"
      shift 2
      ;;
    -h | --help) usage; exit 0 ;;
    -*) echo "check_tidy.sh: unknown option '$1' (see --help)" >&2; exit 2 ;;
    *) files+=("$1"); shift ;;
  esac
done

tool=$(command -v clang-tidy-14 || command -v clang-tidy || true)
if [[ -z $tool ]]; then
  echo "tidy: clang-tidy is not installed (scripts/install-dependencies.sh --dev)" >&2
  if [[ ${CI:-} == true ]]; then exit 3; fi
  exit 0
fi
if [[ ! -f $build/compile_commands.json ]]; then
  echo "tidy: $build/compile_commands.json is missing: configure first (cmake --preset portable)" >&2
  exit 1
fi

# Sources of C++, those changed last first: if time runs out, what is left unread was read before.
mapfile -t compiled < <(/usr/bin/env python3 - "$build/compile_commands.json" <<'PY'
import json, os, subprocess, sys
names = {os.path.relpath(e["file"]) for e in json.load(open(sys.argv[1]))}
log = subprocess.run(["git", "log", "-n", "200", "--format=", "--name-only"], capture_output=True, text=True).stdout.split("\n")
age = {}
for place, name in enumerate(log):
    age.setdefault(name, place)
names = [n for n in names if n.startswith(("tutti/", "app/")) and n.endswith(".cpp")]
print("\n".join(sorted(names, key=lambda n: (age.get(n, len(log)), n))))
PY
)
if [[ -n $changed ]]; then
  mapfile -t touched < <({ git diff --name-only "$changed" --; git ls-files --others --exclude-standard; } | sort -u)
  if ! printf '%s\n' "${touched[@]}" | grep -qE '\.(hpp|cuh)$|^\.clang-tidy$'; then
    mapfile -t compiled < <(printf '%s\n' "${compiled[@]}" | grep -Fx -f <(printf '%s\n' "${touched[@]}"))
  fi
fi
if ((${#files[@]} == 0)); then files=("${compiled[@]}"); fi
if ((${#files[@]} == 0)) || [[ -z ${files[0]} ]]; then
  echo "tidy: nothing to read"
  exit 0
fi

reports=$(mktemp -d)
trap 'rm -rf "$reports"' EXIT
# Without the precompiled headers of tests, which are GCC's.
python3 - "$build/compile_commands.json" "$reports/compile_commands.json" <<'PY'
import json, re, sys
entries = json.load(open(sys.argv[1]))
for entry in entries:
    entry["command"] = re.sub(r" -Winvalid-pch| -include \S*cmake_pch\.hxx", "", entry["command"])
json.dump(entries, open(sys.argv[2], "w"))
PY
export tool reports
deadline=$(($(date +%s) + seconds))
export deadline
# One process a file; a file that starts after the deadline is only counted.
read_one() {
  local report
  report=$reports/$(tr / _ <<<"$1")
  if (($(date +%s) >= deadline)); then
    echo "$1" >"$report.unread"
  elif ! "$tool" -p "$reports" --quiet --extra-arg=-Wno-unknown-warning-option "$1" >"$report.out" 2>"$report.err"; then
    mv "$report.out" "$report.failed"
  fi
}
export -f read_one
# shellcheck disable=SC2016  # expanded by the inner shell
printf '%s\0' "${files[@]}" | xargs -0 -P "$jobs" -I{} bash -c 'read_one "$1"' _ {}

unread=$(find "$reports" -name '*.unread' | wc -l)
for report in "$reports"/*.failed; do
  [[ -f $report ]] || continue
  # A header's finding shows up once for every file that includes it: printed once.
  cat "$report"
  [[ -s $report ]] || cat "${report%.failed}.err"
done | sed "s|$PWD/||g" | awk '/: (error|warning): /{keep = !seen[$0]++} keep'
failed=$(find "$reports" -name '*.failed' | wc -l)
echo "tidy: $((${#files[@]} - unread)) files read, $failed with findings, $unread unread for lack of time"
((failed == 0))
