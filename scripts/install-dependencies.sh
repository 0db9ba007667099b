#!/usr/bin/env bash
# Installs the Debian/Ubuntu packages that tutti is built with. Does nothing when all are there. CUDA is never installed.
set -euo pipefail

usage() {
  cat <<'TEXT'
usage: scripts/install-dependencies.sh [--quiet] [--dev] [--mpich] [--list]
  --quiet  say nothing when there is nothing to install
  --dev    also clang-format, clang-tidy, clang with its sanitizers for scripts/fuzz.sh, doxygen, libzfp for a test, and
           what packages are made with
  --mpich  also MPICH beside Open MPI, for scripts/test-mpich.sh
  --list   print the package names and stop
Debian 12 and Ubuntu 24.04 have everything; Ubuntu 22.04 needs a newer CMake (3.25) from elsewhere.
TEXT
}

packages=(
  cmake ninja-build g++ pkg-config
  libopenmpi-dev openmpi-bin
  libmetis-dev libscotch-dev
  libfmt-dev libcli11-dev libtomlplusplus-dev nlohmann-json3-dev libeigen3-dev libnanoflann-dev
  zlib1g-dev libpugixml-dev libhdf5-dev libxxhash-dev
  libgtest-dev libgmock-dev libbenchmark-dev
  gmsh python3-vtk9 python3-h5py python3-matplotlib python3-numpy
)
quiet=0
for argument in "$@"; do
  case "$argument" in
    --quiet) quiet=1 ;;
    --dev) packages+=(clang-format clang-tidy clang libclang-rt-dev libomp-dev python3-venv python3-pip python3-setuptools python3-wheel zsh fish libzfp-dev doxygen dpkg-dev file) ;;
    --mpich) packages+=(libmpich-dev mpich) ;;
    --list) list=1 ;;
    -h | --help) usage; exit 0 ;;
    *) echo "install-dependencies.sh: unknown option '$argument' (see --help)" >&2; exit 2 ;;
  esac
done
if [[ ${list:-0} == 1 ]]; then
  printf '%s\n' "${packages[@]}"
  exit 0
fi

say() { if [[ $quiet == 0 ]]; then echo "$@"; fi; }

# CMakeLists.txt asks for 3.25; an older one would end with a message about the policy version only.
check_cmake() {
  local version
  version=$(cmake --version 2>/dev/null | sed -n '1s/[^0-9]*\([0-9.]*\).*/\1/p') || true
  if [[ -n $version && $(printf '%s\n3.25\n' "$version" | sort -V | head -n 1) != 3.25 ]]; then
    echo "CMake $version is too old: tutti needs 3.25 or newer (for example: python3 -m pip install 'cmake>=3.25')" >&2
    exit 3
  fi
}

report_cuda() {
  local nvcc
  nvcc=$(command -v nvcc || ls /usr/local/cuda/bin/nvcc 2>/dev/null || true)
  if [[ -n $nvcc ]]; then say "CUDA: $nvcc"; else say "CUDA: not found, tutti is built without it"; fi
}

if ! command -v dpkg >/dev/null || ! command -v apt-get >/dev/null; then
  echo "This is no Debian or Ubuntu. Install the counterparts of: ${packages[*]}" >&2
  exit 3
fi

missing=()
for package in "${packages[@]}"; do
  # "install ok installed" only: a removed package with leftover configuration is not there.
  dpkg -s "$package" 2>/dev/null | grep -q '^Status: install ok installed' || missing+=("$package")
done

if [[ ${#missing[@]} == 0 ]]; then
  say "All ${#packages[@]} packages are there."
  check_cmake
  report_cuda
  exit 0
fi

as_root=()
by_hand="apt-get update && apt-get install -y --no-install-recommends ${missing[*]}"
if [[ $(id -u) != 0 ]]; then
  by_hand="sudo apt-get update && sudo apt-get install -y --no-install-recommends ${missing[*]}"
  # Ask for a password only where someone can type it.
  if command -v sudo >/dev/null && { sudo -n true 2>/dev/null || [[ -t 0 ]]; }; then
    as_root=(sudo)
  else
    printf 'Packages are missing and this user cannot install them. As root:\n  %s\n' "${by_hand//sudo /}" >&2
    exit 3
  fi
fi

echo "Installing ${#missing[@]} packages: ${missing[*]}"
log=$(mktemp)
trap 'rm -f "$log"' EXIT
apt() { "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -o DPkg::Lock::Timeout=120 "$@" >"$log" 2>&1 </dev/null; }
# An update that fails is no error by itself: the packages may be known from an earlier one.
apt update || echo "apt-get update failed; going on with the lists that are there" >&2
if ! apt install -y --no-install-recommends "${missing[@]}"; then
  tail -n 15 "$log" >&2
  printf 'The installation failed (no network?). By hand:\n  %s\n' "$by_hand" >&2
  exit 3
fi
check_cmake
report_cuda
