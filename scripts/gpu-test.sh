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
timely=("$case" --set time.steps=40 --set physics.source='"sin(x+t)*exp(-y*t)"' --set 'boundary=[{tag="x-max",type="dirichlet",value="1+y*t"},{tag="y-min",value="cos(9*t)*erf(x)"}]')
same forced-euler "${timely[@]}" --set time.method='"euler"'
same forced-rkc2 "${timely[@]}" --set time.method='"rkc2"' --set time.stages=6
for overlap in none messages; do same "overlap-$overlap" "$case" --set devices.overlap="\"$overlap\"" --set time.steps=50; done
# between NAME RANKS TRANSPORT DEVICES CASE-ARGUMENTS...: ranks with GPUs of their own have the checksum of the CPU
between() {
  local name=$1 ranks=$2 transport=$3 devices=$4 want got to; shift 4
  to="$out/$name-$ranks-$transport-${devices//[:,]/-}"
  want=$(checksum "$out/$name-cpu")
  mpirun --allow-run-as-root --oversubscribe --bind-to none -np "$ranks" "$bin/tutti" run --overwrite "$@" "${shared[@]}" --set devices.transport="\"$transport\"" \
    --devices "$devices" -q -o "$to" > "$to.log" 2>&1
  got=$(checksum "$to")
  if [ -n "$want" ] && [ "$got" = "$want" ]; then echo "passed  $name, $ranks ranks on $devices, $transport: $got"; else echo "FAILED  $name, $ranks ranks on $devices, $transport: ${got:-no result}, cpu has ${want:-no result}"; tail -n 5 "$to.log"; failed=$((failed + 1)); fi
}
if [ "$gpus" -ge 2 ]; then
  for transport in staged nccl; do
    between euler 2 $transport cuda:0,cuda:1 "$case" --set time.method='"euler"'
    between rkc2 2 $transport cuda:0,cuda:1 "$case" --set time.method='"rkc2"' --set time.steps=20
    between euler 2 $transport cuda:0,cuda:1,cpu "$case" --set time.method='"euler"'
  done
  between euler 1 staged cuda:0,cuda:1 "$case" --set time.method='"euler"'
fi
restarted restart "$case"
restarted restart-euler "$case" --set time.method='"euler"'
# A GPU with little memory: the CPU, which measured weights would leave out, takes what does not fit.
large=("$case" --set mesh.cubes=[40,40,40] --set time.steps=50)
"$bin/tutti" run --overwrite "${large[@]}" --devices cpu -q -o "$out/full-cpu" > "$out/full-cpu.log" 2>&1
want=$(checksum "$out/full-cpu")
for memory in 1M 30M; do
  "$bin/tutti" run --overwrite "${large[@]}" --set devices.gpu_memory="\"$memory\"" --devices cuda:0,cpu -o "$out/full" > "$out/full.log" 2>&1
  got=$(checksum "$out/full")
  if [ -n "$want" ] && [ "$got" = "$want" ] && grep "cuda:0 is full" "$out/full.log"; then echo "passed  GPU of $memory: $got"; else echo "FAILED  GPU of $memory: ${got:-no result}, cpu has ${want:-no result}"; tail -n 5 "$out/full.log"; failed=$((failed + 1)); fi
done
"$bin/tutti" devices --model diffusion "$case" --set mesh.cubes=[110,110,110] --devices cuda:0,cpu --json "$out/rates.json" | tee "$out/rates.txt" || failed=$((failed + 1))
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
# The same by two GPUs: of one rank, and of two ranks by each transport.
if [ "$gpus" -ge 2 ]; then
  for choice in 1/auto 1/staged 2/staged 2/nccl; do
    ranks=${choice%/*} transport=${choice#*/} to="$out/two-${choice/\//-}"
    mpirun --allow-run-as-root --oversubscribe --bind-to none -np "$ranks" "$bin/tutti" run --overwrite "$case" --set mesh.cubes=[110,110,110] --set time.method='"euler"' \
      --set time.steps=4000 --set output.every=0 --set checkpoint.minutes=0 --set devices.transport="\"$transport\"" --devices cuda:0,cuda:1 -o "$to" > "$to.log" 2>&1 || failed=$((failed + 1))
    sed -n "s/.*\"cell_steps_per_second\": \([0-9]*\).*/\1 cell-steps a second by two GPUs, $ranks ranks, transport $transport/p" "$to/summary.json" | tee -a "$out/large.txt"
  done
fi
"$bin/tutti" bench diffusion --cells 8000000 --devices cuda:0 --json "$out/bench.json" | tee "$out/bench.txt" || failed=$((failed + 1))
[ "$failed" -eq 0 ] && echo "all GPU checks passed" || { echo "$failed GPU checks failed"; exit 1; }
