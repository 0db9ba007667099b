#!/usr/bin/env bash
# Builds the wheel, installs it into a clean virtual environment and runs a small case there, from the shell and from Python.
# usage: scripts/check_wheel.sh [options of pip wheel, e.g. --config-settings=cmake.define.TUTTI_PORTABLE=OFF]
# Needs PyPI (scikit-build-core, NumPy, matplotlib) or a mirror of it, and the libraries of scripts/install-dependencies.sh.
# TUTTI_CHECK_PYTHON names another interpreter than the system's python3.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
python=${TUTTI_CHECK_PYTHON:-/usr/bin/python3}
made=$(mktemp -d)
trap 'rm -rf "$made"' EXIT
export PIP_DISABLE_PIP_VERSION_CHECK=1
unset PYTHONPATH TUTTI TUTTI_PYTHON
"$python" -m venv "$made/build"
"$made/build/bin/pip" wheel . --no-deps -w "$made/wheels" "$@"
wheel=$(echo "$made"/wheels/tutti_sim-*.whl)
"$python" -m venv "$made/clean"
"$made/clean/bin/pip" install --quiet "$wheel"
cd "$made" # away from the sources
export PATH="$made/clean/bin:/usr/bin:/bin"
[ "$(command -v tutti)" = "$made/clean/bin/tutti" ]
tutti --version
if ldd "$made/clean/bin/tutti" | grep "not found"; then echo "check_wheel.sh: the program lacks libraries" >&2; exit 1; fi
cat > case.toml <<'CASE'
model = "diffusion"
[mesh]
generate = "box"
cubes = [6, 6, 6]
[physics]
K = 1
initial = "x"
[time]
steps = 5
CASE
tutti run case.toml -o results --devices cpu --threads 1
tutti plot results -o picture.png
python3 - <<'PYTHON'
import tutti
case = tutti.Case.load("case.toml")
case["physics.K"] = 0.2
run = case.run(devices="cpu", threads=1, ranks=2)
field = run.fields["u"]
assert field.shape == (2, 1296), field.shape
assert abs(field.values[0] - field.coords["x"]).max() < 1e-12
run.plot("python.png")
print(run)
PYTHON
ls -s picture.png python.png
echo "check_wheel.sh: $(basename "$wheel"), $(du -k "$wheel" | cut -f 1) KiB: installs and runs in a clean environment"
