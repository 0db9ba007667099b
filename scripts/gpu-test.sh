#!/usr/bin/env bash
# Checks and measures tutti on a machine with a GPU, from a bundle (scripts/bundle.sh): no compiler is needed there.
#   BUNDLE=build/bundle scripts/gpu-test.sh [OUTPUT-FOLDER]
# Unit tests on the device, compute-sanitizer on small cases, GPU runs against the CPU bit for bit, then the bandwidths.
set -uo pipefail
cd "$(dirname "$0")/.."
bundle=${BUNDLE:-build/bundle}
out=${1:-results/gpu}
mkdir -p "$out"
export LD_LIBRARY_PATH="$PWD/$bundle/lib:${LD_LIBRARY_PATH:-}:${CUDA_HOME:-/usr/local/cuda}/lib64"  # the last: cuSPARSE, for the benchmark beside it
bin=$PWD/$bundle/bin
failed=0
step() { # name, command...
  local name=$1; shift
  if "$@" > "$out/$name.log" 2>&1; then echo "passed  $name"; else echo "FAILED  $name ($?)"; tail -n 15 "$out/$name.log"; failed=$((failed + 1)); fi
}
checksum() { sed -n 's/.*"checksum": "\([0-9a-f]*\)".*/\1/p' "$1/summary.json"; }
# Measured weights would leave the CPU out of small cases: here it takes its part.
shared=(--set balance.weights='"stream"')
# same NAME CASE-ARGUMENTS...: the case on the CPU and on each device list below has one checksum
same() {
  local name=$1; shift
  "$bin/tutti" run --overwrite "$@" --devices cpu -q -o "$out/$name-cpu" > "$out/$name-cpu.log" 2>&1
  local want; want=$(checksum "$out/$name-cpu")
  for devices in cuda:0 cuda:0,cpu $( [ "$gpus" -ge 2 ] && echo cuda:0,cuda:1 cuda:0,cuda:1,cpu ); do
    local to="$out/$name-${devices//[:,]/-}" got
    "$bin/tutti" run --overwrite "$@" "${shared[@]}" --devices "$devices" -q -o "$to" > "$to.log" 2>&1
    got=$(checksum "$to")
    if [ -n "$want" ] && [ "$got" = "$want" ]; then echo "passed  $name on $devices: $got"; else echo "FAILED  $name on $devices: ${got:-no result}, cpu has ${want:-no result}"; tail -n 5 "$to.log"; failed=$((failed + 1)); fi
  done
}
# restarted NAME CASE-ARGUMENTS...: stopped half-way on one device list and continued on another, the case has one checksum
restarted() {
  local name=$1 want got from to folder; shift
  "$bin/tutti" run --overwrite "$@" --set time.steps=100 --devices cpu -q -o "$out/$name-whole" > "$out/$name-whole.log" 2>&1
  want=$(checksum "$out/$name-whole")
  for pair in cuda:0/cpu cpu/cuda:0 cuda:0/cuda:0,cpu $( [ "$gpus" -ge 2 ] && echo cuda:0,cuda:1/cuda:0 cuda:0/cuda:1,cuda:0,cpu ); do
    from=${pair%/*} to=${pair#*/}
    folder="$out/$name-${pair//[:,\/]/-}"
    { "$bin/tutti" run --overwrite "$@" --set time.steps=50 --set checkpoint.every=20 "${shared[@]}" --devices "$from" -q -o "$folder" &&
      "$bin/tutti" run --restart "$folder" --set time.steps=100 "${shared[@]}" --devices "$to" -q; } > "$folder.log" 2>&1
    got=$(checksum "$folder")
    if [ -n "$want" ] && [ "$got" = "$want" ]; then echo "passed  $name, $from then $to: $got"; else echo "FAILED  $name, $from then $to: ${got:-no result}, in one go ${want:-no result}"; tail -n 5 "$folder.log"; failed=$((failed + 1)); fi
  done
}

nvidia-smi --query-gpu=name,memory.total,driver_version --format=csv,noheader | tee "$out/gpus.txt"
gpus=$(wc -l < "$out/gpus.txt")
step test_gpu "$bin/test_gpu"
step test_device "$bin/test_device"
case=$bundle/examples/box/case.toml
small=("$case" --set mesh.cubes=[10,10,10] --set time.steps=20)
for tool in memcheck racecheck synccheck; do
  command -v compute-sanitizer > /dev/null || { echo "left out  compute-sanitizer is not here"; break; }
  step "$tool" compute-sanitizer --tool $tool --error-exitcode 9 "$bin/tutti" run --overwrite "${small[@]}" "${shared[@]}" --devices cuda:0,cpu -q -o "$out/sanitizer"
  step "$tool-ahead" compute-sanitizer --tool $tool --error-exitcode 9 "$bin/tutti" run --overwrite "${small[@]}" --devices cuda:0 -q -o "$out/sanitizer"
done
same euler "$case" --set time.method='"euler"'
same compact-columns "$case" --set numerics.columns='"int16"' --set partition.order='"random"'
same int32 "$case" --set numerics.columns='"int32"'
same int10 "$case" --set numerics.columns='"int10"' --set numerics.precision='"compact"'
same int10-random "$case" --set numerics.columns='"int10"' --set partition.order='"random"'
same blocks "$case" --set numerics.format='"ellpack"'
same rows "$case" --set numerics.format='"ellpack"' --set numerics.layout='"rows"'
same rkc2 "$case" --set time.method='"rkc2"' --set time.steps=20
same forced "$case" --set time.steps=50 --set physics.source='"sin(x+t)"'
for overlap in none messages; do same "overlap-$overlap" "$case" --set devices.overlap="\"$overlap\"" --set time.steps=50; done
restarted restart "$case"
restarted restart-euler "$case" --set time.method='"euler"'
"$bin/tutti" devices --measure | tee "$out/devices.txt"
"$bin/bench_diffusion_gpu" | tee "$out/kernels.txt" || failed=$((failed + 1))
# A large run by the GPU alone, with the CPU as far as measured weights let it, and with its share of the bandwidth.
for choice in cuda:0/measured cuda:0,cpu/measured cuda:0,cpu/stream cuda:0/measured cuda:0,cpu/measured; do
  devices=${choice%/*} to="$out/large-${choice//[:,\/]/-}"
  "$bin/tutti" run --overwrite "$case" --set mesh.cubes=[110,110,110] --set time.method='"euler"' --set time.steps=4000 --set output.every=0 \
    --set checkpoint.minutes=0 --set balance.weights="\"${choice#*/}\"" --devices "$devices" -o "$to" > "$to.log" 2>&1 || failed=$((failed + 1))
  grep -h "the CPU gets" "$to.log"
  sed -n "s/.*\"cell_steps_per_second\": \([0-9]*\).*/\1 cell-steps a second by $devices, weights ${choice#*/}/p" "$to/summary.json" | tee -a "$out/large.txt"
done
"$bin/tutti" bench diffusion --cells 8000000 --devices cuda:0 --json "$out/bench.json" | tee "$out/bench.txt" || failed=$((failed + 1))
[ "$failed" -eq 0 ] && echo "all GPU checks passed" || { echo "$failed GPU checks failed"; exit 1; }
