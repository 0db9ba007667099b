#!/usr/bin/env bash
# Builds the Debian package, installs it in a fresh Debian 12 or Ubuntu 24.04 and runs a small case there.
# usage: scripts/check_deb.sh [--suite bookworm|noble] [--unpack] [options of cmake, e.g. -DTUTTI_PORTABLE=OFF]
# Needs dpkg-dev and file, mmdebstrap (apt install mmdebstrap; no root needed where user namespaces are allowed) and the distribution's
# mirror, with packages of the suite that the build ran on. --unpack, or where there is no mmdebstrap: unpacked and run in place.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
suite=bookworm
unpack=0
options=()
while (($#)); do
  case "$1" in
    --suite)
      if (($# < 2)); then echo "check_deb.sh: --suite needs a value: bookworm or noble" >&2; exit 2; fi
      suite=$2
      shift 2
      ;;
    --unpack) unpack=1; shift ;;
    -D*) options+=("$1"); shift ;;
    *) sed -n '2,5s/^# //p' "$0"; exit 2 ;;
  esac
done
# cpack would miss them only after the build.
for tool in dpkg-shlibdeps file; do
  if ! command -v "$tool" > /dev/null; then echo "check_deb.sh: $tool is missing; apt install dpkg-dev file" >&2; exit 3; fi
done
cmake --preset portable -B build/deb -DTUTTI_TESTS=OFF -DTUTTI_BENCH=OFF "${options[@]}" > /dev/null
cmake --build build/deb -j "${CMAKE_BUILD_PARALLEL_LEVEL:-$(nproc)}" > /dev/null
rm -f build/deb/*.deb
(cd build/deb && cpack -G DEB > cpack.log) || { cat build/deb/cpack.log >&2; exit 1; }
package=$(echo "$PWD"/build/deb/tutti_*.deb)
dpkg-deb -f "$package"
made=$(mktemp -d)
trap 'rm -rf "$made"' EXIT
cat > "$made/try.sh" <<'TRY'
set -euo pipefail
cd "$(mktemp -d)"
printf 'model = "diffusion"\n[mesh]\ngenerate = "box"\ncubes = [6, 6, 6]\n[physics]\nK = 1\ninitial = "x"\n[time]\nsteps = 5\n' > case.toml
tutti --version
tutti run case.toml -o results --devices cpu --threads 1
tutti plot results -o picture.png
python3 -c 'import tutti; print(tutti.Case.load("case.toml").run(devices="cpu", threads=1).fields["u"].shape)'
OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 mpirun --oversubscribe --bind-to none -np 2 tutti run case.toml -o results2 --threads 1
[ -s "${ROOT:-}/usr/share/man/man1/tutti.1" ] && [ -s "${ROOT:-}/usr/share/bash-completion/completions/tutti" ]
TRY
if ((unpack)) || ! command -v mmdebstrap > /dev/null; then
  dpkg-deb -x "$package" "$made/tree"
  if ldd "$made/tree/usr/bin/tutti" | grep "not found"; then echo "check_deb.sh: the program lacks libraries" >&2; exit 1; fi
  PATH=$made/tree/usr/bin:/usr/bin:/bin PYTHONPATH=$made/tree/usr/lib/python3/dist-packages ROOT=$made/tree bash "$made/try.sh"
  where="unpacked"
else
  mmdebstrap --variant=apt --include="$package" --include=openmpi-bin,python3-numpy,python3-matplotlib --aptopt='APT::Install-Recommends "false"' \
    --hook-dir=/usr/share/mmdebstrap/hooks/file-mirror-automount \
    --customize-hook="copy-in $made/try.sh /opt" --customize-hook='chroot "$1" bash /opt/try.sh' "$suite" /dev/null
  where="a fresh $suite"
fi
echo "check_deb.sh: $(basename "$package"), $(du -k "$package" | cut -f 1) KiB: installs and runs ($where)"
