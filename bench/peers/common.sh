# shellcheck shell=bash
# What the scripts of this folder share; they source it. Wrong usage ends with one line and code 2.
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
self=$(basename "$0")

stop() { echo "$self: $1" >&2; exit 2; }

# need_program PROGRAM ADVICE
need_program() { [[ -n $(type -P "$1") ]] || stop "$1: no such program; $2"; }

need_tutti() { need_program "$tutti" "cmake --build build/release --target tutti_app, or TUTTI=PROGRAM"; }

# need_counts NAME...: variables of the environment. Where they are set, their words are whole numbers from 1 on.
need_counts() {
  local name word
  for name; do
    for word in ${!name:-}; do
      [[ $word =~ ^[1-9][0-9]*$ ]] || stop "$name has '$word'; expected whole numbers from 1 on"
    done
  done
}

# need_numbers NAME...: the same for numbers above 0.
need_numbers() {
  local name
  for name; do
    [[ -z ${!name:-} ]] || awk -v x="${!name}" 'BEGIN { exit !(x ~ /^[0-9]*[.]?[0-9]+([eE][-+]?[0-9]+)?$/ && x > 0) }' ||
      stop "$name is '${!name}'; expected a number above 0"
  done
}

# need_cores LIST
need_cores() {
  [[ $1 =~ ^[0-9]+(,[0-9]+)*$ ]] && taskset -c "$1" true 2>/dev/null || stop "CORES is '$1'; expected numbers of cores that are here, such as 0,1"
}

# results_folder FOLDER: made, and named by $folder.
results_folder() {
  { mkdir -p "$1" && folder=$(cd "$1" && pwd) && [[ -w $folder ]]; } 2>/dev/null || stop "$1: cannot write there; name another folder"
}

# python_with PACKAGE...: an environment in $folder/venv, made where it is not whole.
python_with() {
  local python=${PYTHON:-python3}
  [[ -f $folder/venv/installed ]] && return
  need_program "$python" "PYTHON names one of 3.11 or later"
  { rm -rf "$folder/venv" && "$python" -m venv "$folder/venv"; } >"$folder/venv.log" 2>&1 ||
    stop "$python cannot make $folder/venv; apt-get install python3-venv; all of it: $folder/venv.log"
  "$folder/venv/bin/pip" install -q --disable-pip-version-check "$@" >"$folder/venv.log" 2>&1 ||
    stop "pip cannot install $*: $(grep -i '^error' "$folder/venv.log" | tail -n 1); is there a network? all of it: $folder/venv.log"
  touch "$folder/venv/installed"
}
