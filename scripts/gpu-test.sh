#!/usr/bin/env bash
# Checks and measures tutti on a machine with GPUs, from a bundle (scripts/bundle.sh): no compiler is needed there.
#   scripts/gpu-test.sh [OUT] [--only SECTION,...]        # OUT: results/gpu
# Sections, in this order; each leaves its files in OUT/SECTION, and OUT/report.md and OUT/report.json tell of all there are:
#   unit       the unit tests on a GPU
#   sanitizer  compute-sanitizer (memcheck, racecheck, synccheck) on small cases
#   matrix     small cases on every list of devices against the CPU, bit for bit
#   bench      bandwidths, the kernels beside cuSPARSE, the model on a box and on a heart
#   monodomain cells that react on every list of devices, bit for bit; cell-steps a second by reaction
#   large      one GPU on 8 million cells: alone, with the CPU, and slowed down to the regime where a CPU matters
#   scaling    1, 2, 4 ... GPUs on 7 million cells, with and without the exchange
#   incompressible  the cavity on every list of devices, bit for bit; its steps by solvers and policies, sweeps and kernels
#   transport  tracers on a sphere on every list of devices, bit for bit; steps by stencils, kernels, weights
#   compressible  a wave by the discontinuous Galerkin method on every list of devices, bit for bit; its steps by order
#   graph      betweenness on one GPU and all of them, value for value; graphs and sources a second
#   smoothing  a mesh smoothed on every list of devices, file for file; cells a second
#   residency  the policies for arrays larger than the memory, and what each costs
#   orders     only by --only: the orders of the rows of the heart, each with its own five minutes
# Environment: BUNDLE, the bundle's folder (build/bundle, or this one where the script lies in a bundle); SCALE_LARGE=1:
# scaling on 30 million cells, too; MPIRUN; FAKE_GPUS=N: tries the script with N fake GPUs on tiny cases, no GPU is used.
# Exit code 1: something in OUT/report.md failed. 2: usage.
# shellcheck disable=SC2317  # sections are called by their names
set -uo pipefail
here=$(cd "$(dirname "$0")" && pwd)

usage() { echo "gpu-test.sh: $1; say scripts/gpu-test.sh [OUT] [--only SECTION,...]" >&2; exit 2; }
read -ra all_sections <<< "$(python3 "$here/gpu_report.py" --sections)"
[ ${#all_sections[@]} -gt 0 ] || usage "python3 is missing; install it"
out="" sections=("${all_sections[@]/orders/}")
while [ $# -gt 0 ]; do
  case $1 in
    --only) [ $# -ge 2 ] || usage "--only needs sections"; IFS=, read -ra sections <<< "$2"; shift ;;
    -*) usage "there is no option $1" ;;
    *) [ -z "$out" ] || usage "one folder is enough"; out=$1 ;;
  esac
  shift
done
read -ra sections <<< "${sections[*]}"
for section in "${sections[@]}"; do
  [[ " ${all_sections[*]} " == *" $section "* ]] || usage "there is no section $section (there are ${all_sections[*]})"
done
mkdir -p "${out:=results/gpu}" && out=$(cd "$out" && pwd) || exit 1

bundle=${BUNDLE:-$([ -d "$here/bin" ] && echo "$here" || echo "$here/../build/bundle")}
[ -x "$bundle/bin/tutti" ] || usage "$bundle/bin/tutti is missing; make it with scripts/bundle.sh, or set BUNDLE"
bundle=$(cd "$bundle" && pwd)
bin=$bundle/bin box=$bundle/examples/box/case.toml heart=$bundle/meshes/heart.vtu
# The last: cuSPARSE, for the benchmark beside it.
export LD_LIBRARY_PATH="$bundle/lib:${LD_LIBRARY_PATH:-}:${CUDA_HOME:-/usr/local/cuda}/lib64"
missing=$(ldd "$bin/tutti" 2> /dev/null | awk '/=> not found/ {print $1}' | paste -sd ' ')
[ -z "$missing" ] || usage "this machine lacks $missing; install them"
read -ra mpirun <<< "${MPIRUN:-mpirun --oversubscribe --bind-to none$([ "$(id -u)" -ne 0 ] || echo " --allow-run-as-root")}"

# Sizes: cubes along an edge, and steps.
if [ -n "${FAKE_GPUS:-}" ]; then
  small=3 large=6 slow_cubes=4 steps=4 long_steps=4 scale_cubes=(5) bench_cells=1000 refine=0 seconds=0.001 memory=(40k)
  cavity=8 flow_steps=2 flow_sweeps=2 flow_cells=(6) flow_time=(--steps 1 --seconds 0.001)
  wave=2 wave_orders=(1) waves=(3) graph_side=12 smooth_cubes=4
  tissue=4 tissue_cells=600 nodes=300 sphere_steps=3 stencil_sizes=12 sphere_time=(--steps 1 --seconds 0.001) bench_nodes=300 many_nodes=400 few_nodes=200
  # Measuring the bandwidth of fakes takes long, and their policies are other tests' business.
  shared=(--set 'balance.weights="equal"') measured=equal policies=full
else
  small=20 large=110 slow_cubes=80 steps=60 long_steps=3000 scale_cubes=(106 ${SCALE_LARGE:+172}) bench_cells=8000000 refine=2 seconds=0.5 memory=(1M 30M)
  cavity=64 flow_steps=20 flow_sweeps=20 flow_cells=(256 384 512) flow_time=(--seconds 0.5)
  wave=6 wave_orders=(1 2 3) waves=(40) graph_side=200 smooth_cubes=20
  tissue=20 tissue_cells=4000000 nodes=10242 sphere_steps=50 stencil_sizes=31,101 sphere_time=(--seconds 0.3) bench_nodes=2000000 many_nodes=4500000 few_nodes=27556
  # Measured weights would leave the CPU, and GPUs but one, out of small cases: here they take their parts.
  shared=(--set 'balance.weights="stream"') measured=measured policies="none messages full"
fi

# cubes N: the key of a box of N x N x N cubes, six cells each
cubes() { echo "mesh.cubes=[$1,$1,$1]"; }
# devices GPUS RANKS [,cpu]: the list for --devices; ranks share its GPUs, but each has all the fakes that it says
devices() {
  if [ -n "${FAKE_GPUS:-}" ]; then echo "fake:$(($2 > 1 ? 1 : $1))${3:-}"; else echo "$(seq -s, -f cuda:%g 0 $(($1 - 1)))${3:-}"; fi
}
# note passed|failed|left-out NAME [DETAIL]: a line of the section's checks
note() {
  printf '%s\t%s\t%s\n' "$1" "$2" "${3:-}" >> "$to/checks.tsv"
  echo "$1  $2${3:+: $3}"
}
# file NAME: where results of that name go
file() { echo "$to/${1//[^a-zA-Z0-9.]/-}"; }
# step NAME COMMAND...: passes when the command does, within five minutes
step() {
  local name=$1 log code=0; shift
  log=$(file "$name").log
  timeout -k 5 300 "$@" > "$log" 2>&1 || code=$?
  if [ "$code" -eq 0 ]; then note passed "$name"; else note failed "$name" "exit code $code"; tail -n 15 "$log"; fi
}
# simulate NAME RANKS ARGUMENTS...: a run of the box, or of what case_file names, ended when it hangs; without mpirun where
# RANKS is 1
case_file=$box
simulate() {
  local folder ranks=$2 start=(); folder=$(file "$1"); shift 2
  [ "$ranks" -eq 1 ] || start=("${mpirun[@]}" -np "$ranks")
  timeout -k 5 150 "${start[@]}" "$bin/tutti" run --overwrite "$case_file" "$@" -o "$folder" > "$folder.log" 2>&1
}
checksum() { sed -n 's/.*"checksum": "\([0-9a-f]*\)".*/\1/p' "$(file "$1")/summary.json" 2> /dev/null; }
# judge NAME CODE WANT: the run ended with exit code 0 and the checksum WANT
judge() {
  local got; got=$(checksum "$1")
  if [ "$2" -eq 0 ] && [ -n "$3" ] && [ "$got" = "$3" ]; then note passed "$1" "$got"; return; fi
  note failed "$1" "exit code $2, checksum ${got:-missing}, expected ${3:-missing}"
  tail -n 5 "$(file "$1").log"
}
# compare NAME WANT RANKS ARGUMENTS...: a run with the checksum WANT
compare() {
  local name=$1 want=$2 code=0; shift 2
  simulate "$name" "$@" || code=$?
  judge "$name" "$code" "$want"
}
# reference NAME ARGUMENTS...: sets want to the checksum on the CPU
reference() {
  local name="$1, cpu"; shift
  simulate "$name" 1 "$@" --devices cpu -q || tail -n 5 "$(file "$name").log"
  want=$(checksum "$name")
}

unit() {
  if [ -z "${FAKE_GPUS:-}" ]; then
    step test_gpu "$bin/test_gpu"
    # shellcheck disable=SC2016  # $1 is the shell's that step starts
    step "test_gpu found a GPU" sh -c '! grep "no GPU on this machine" "$1"' sh "$(file test_gpu).log"
  else
    note left-out test_gpu "there is no GPU"
  fi
  step test_device "$bin/test_device"
}

# sanitize TOOL NAME CASE ARGUMENTS...
sanitize() {
  local tool=$1 name=$2; shift 2
  step "$tool $name" compute-sanitizer --tool "$tool" --error-exitcode 9 "$bin/tutti" run "$@" -q -o "$(file "$tool $name")"
}
sanitizer() {
  [ -z "${FAKE_GPUS:-}" ] || { note left-out compute-sanitizer "there is no GPU"; return; }
  command -v compute-sanitizer > /dev/null || { note left-out compute-sanitizer "it is not installed"; return; }
  local tool case kernels
  # On one GPU alone steps run ahead; columns in ten bits have barriers of their own.
  local -A cases=([shared]="--devices $(devices 1 1 ,cpu) ${shared[*]}" [ahead]="--devices $(devices 1 1)"
    [int10]="--devices $(devices 1 1) --set numerics.columns=\"int10\" --set numerics.precision=\"compact\"")
  [ "${counts[-1]}" -eq 1 ] || cases[two]="--devices $(devices 2 1)"
  local flow_gpus
  for tool in memcheck synccheck racecheck; do
    flow_gpus=${counts[-1]}
    # Racecheck (CUDA 13.0) ends with an internal error where graphs span GPUs; the kernels are those of one GPU.
    [ "$tool" != racecheck ] || { unset "cases[two]"; flow_gpus=1; }
    for case in "${!cases[@]}"; do
      # shellcheck disable=SC2086  # words
      sanitize "$tool" "$case" "$box" --set "$(cubes 10)" --set time.steps=20 ${cases[$case]}
    done
    # Its halos, ends, sums and sweeps; two parts in any case.
    write_cavity 12
    sanitize "$tool" flow "$to/cavity.toml" --set time.steps=3 --set pressure.sweeps=4 --set fluid.diffusivity=0.01 \
      "${shared[@]}" --devices "$(devices "$flow_gpus" 1 ,cpu)"
    # Its weights, and kernels of a velocity that changes.
    write_sphere 642
    sanitize "$tool" transport "$to/sphere.toml" --set time.steps=3 --set stencil.size=17 --set stencil.degree=2 \
      --set hyperviscosity.k=1 --set numerics.check=false "${shared[@]}" --devices "$(devices "$flow_gpus" 1 ,cpu)"
    # Its faces and elements, viscous, in several blocks.
    write_wave 3
    for kernels in portable tuned; do
      sanitize "$tool" "compressible $kernels" "$to/wave.toml" --set time.steps=2 --set physics.viscosity=0.01 \
        --set "numerics.kernels=\"$kernels\"" "${shared[@]}" --devices "$(devices "$flow_gpus" 1 ,cpu)"
    done
    sanitize "$tool" "compressible, fused" "$to/wave.toml" --set time.steps=2 --set numerics.order=2 --set 'numerics.kernels="tuned"' \
      "${shared[@]}" --devices "$(devices "$flow_gpus" 1 ,cpu)"
    write_tissue 4
    sanitize "$tool" monodomain "$to/tissue.toml" --set time.steps=3 --set 'ionic.model="ten-tusscher-panfilov"' \
      "${shared[@]}" --devices "$(devices "$flow_gpus" 1 ,cpu)"
    # Passes that march, on boxes where the model would not.
    step "$tool passes of a flow" compute-sanitizer --tool "$tool" --error-exitcode 9 "$bin/test_gpu" \
      --gtest_filter='FlowPassesGpu*'
  done
}

# write_cavity N: the lid-driven cavity of Jacobsen 2010 in about N^3 cells, as $to/cavity.toml; sides differ, so that an
# exchange of directions would show
write_cavity() {
  cat > "$to/cavity.toml" << END
model = "incompressible"
[grid]
cells = [$1, $(($1 - 2)), $(($1 + 4))]
[fluid]
viscosity = 0.001
[[boundary]]
face = "y-upper"
value = [1, 0, 0]
[pressure]
solver = "jacobi"
sweeps = $flow_sweeps
[time]
steps = $flow_steps
[output]
every = 0
[checkpoint]
minutes = 0
END
}

# write_sphere N: two tracers on N relaxed nodes by a velocity that changes, as $to/sphere.toml
write_sphere() {
  cat > "$to/sphere.toml" << END
model = "transport"
[nodes]
generate = "relaxed"
count = $1
[velocity]
east = "cos(lat)*(2 + cos(t)) + sin(lat)*cos(lon)"
north = "-sin(lon)"
[[tracer]]
name = "first"
initial = "exp(-4*(x-1)^2 - 4*z^2)"
[[tracer]]
name = "second"
initial = "x*y"
[time]
steps = $sphere_steps
[output]
every = 0
[checkpoint]
minutes = 0
END
}

# same NAME ARGUMENTS...: one GPU and all of them, with the CPU and without, have the checksum of the CPU; of fakes, all with
# the CPU
same() {
  local name=$1 count want; shift
  reference "$name" "$@"
  if [ -n "${FAKE_GPUS:-}" ]; then
    compare "$name, $FAKE_GPUS GPU + cpu" "$want" 1 "$@" "${shared[@]}" --devices "$(devices "$FAKE_GPUS" 1 ,cpu)" -q
    return
  fi
  for count in $(printf '%s\n' 1 "${counts[-1]}" | uniq); do
    compare "$name, $count GPU" "$want" 1 "$@" "${shared[@]}" --devices "$(devices "$count" 1)" -q
    compare "$name, $count GPU + cpu" "$want" 1 "$@" "${shared[@]}" --devices "$(devices "$count" 1 ,cpu)" -q
    # As measured weights leave it: GPUs without cells.
    [ "$count" -eq 1 ] || compare "$name, one of $count GPU" "$want" 1 "$@" --set "balance.weights=[$(printf '0,%.0s' $(seq 2 "$count"))1]" \
      --devices "$(devices "$count" 1)" -q
  done
}
# ways NAME "POLICY..." ARGUMENTS...: every number of GPUs, with and without the CPU, in one rank and in one a GPU, over
# every transport and by these overlap policies; between one GPU and all of them by the policy full alone
ways() {
  local name=$1 policies=$2 want count with policy way ranks transport some; shift 2
  reference "$name" "$@"
  for count in "${counts[@]}"; do
    some=$policies
    if [ "$count" -gt 1 ] && [ "$count" -lt "${counts[-1]}" ]; then some=full; fi
    for with in "" ,cpu; do
      for policy in $some; do
        for way in 1/auto $([ "$count" -eq 1 ] || echo "1/staged $count/staged ${nccl:+$count/nccl}"); do
          ranks=${way%/*} transport=${way#*/}
          compare "$name, $count GPU${with:+ + cpu}, $ranks ranks, $transport, overlap $policy" "$want" "$ranks" "$@" "${shared[@]}" -q \
            --devices "$(devices "$count" "$ranks" "$with")" --set "devices.overlap=\"$policy\"" --set "devices.transport=\"$transport\""
        done
      done
    done
  done
}
# restarted NAME ARGUMENTS...: stopped half-way on one list of devices and continued on another, the case has one checksum
restarted() {
  local name=$1 want pair from to_list label code gpu gpus_cpu; shift
  reference "$name" "$@" --set time.steps=$((2 * steps))
  gpu=$(devices 1 1) gpus_cpu=$(devices "${counts[-1]}" 1 ,cpu)
  for pair in "$gpu cpu" "cpu $gpu" "$gpu $gpus_cpu" "$gpus_cpu $gpu"; do
    read -r from to_list <<< "$pair"
    label="$name, $from then $to_list" code=0
    simulate "$label" 1 "$@" --set "time.steps=$steps" --set "checkpoint.every=$steps" "${shared[@]}" --devices "$from" -q &&
      "$bin/tutti" run --restart "$(file "$label")" \
        --set time.steps=$((2 * steps)) "${shared[@]}" --devices "$to_list" -q >> "$(file "$label").log" 2>&1 || code=$?
    judge "$label" "$code" "$want"
  done
}
# alike NAME FILE FILE: two files are the same
alike() {
  if cmp -s "$2" "$3"; then note passed "$1"; else note failed "$1" "$(basename "$2") and $(basename "$3") differ"; fi
}
# full: of a GPU with little memory the CPU, which measured weights would leave out, takes what does not fit
full() {
  local want bytes name option base=(--set "$(cubes $((2 * small)))" --set "time.steps=$steps")
  reference full "${base[@]}"
  for bytes in "${memory[@]}"; do
    name="full, GPU of $bytes"
    option=(--set "devices.gpu_memory=\"$bytes\""); [ -z "${FAKE_GPUS:-}" ] || option=(--fake-memory "$bytes" "${shared[@]}")
    compare "$name" "$want" 1 "${base[@]}" "${option[@]}" --devices "$(devices 1 1 ,cpu)"
    step "$name: said so" grep "is full" "$(file "$name").log"
  done
}
matrix() {
  local base=(--set "$(cubes "$small")" --set "time.steps=$steps")
  local timely=("${base[@]}" --set 'physics.source="sin(x+t)*exp(-y*t)"'
    --set 'boundary=[{tag="x-max",type="dirichlet",value="1+y*t"},{tag="y-min",value="cos(9*t)*erf(x)"}]')
  same int16-random "${base[@]}" --set 'numerics.columns="int16"' --set 'partition.order="random"'
  same int32 "${base[@]}" --set 'numerics.columns="int32"'
  same int10 "${base[@]}" --set 'numerics.columns="int10"'
  same int10-compact "${base[@]}" --set 'numerics.columns="int10"' --set 'numerics.precision="compact"'
  same int10-random "${base[@]}" --set 'numerics.columns="int10"' --set 'partition.order="random"'
  same blocks "${base[@]}" --set 'numerics.format="ellpack"'
  same rows "${base[@]}" --set 'numerics.format="ellpack"' --set 'numerics.layout="rows"'
  same forced "${base[@]}" --set 'physics.source="sin(x+t)"'
  same forced-euler "${timely[@]}" --set 'time.method="euler"'
  same forced-rkc2 "${timely[@]}" --set 'time.method="rkc2"' --set time.stages=6
  [ -n "$nccl" ] || note left-out nccl "fake GPUs have none"
  ways euler "$policies" "${base[@]}" --set 'time.method="euler"'
  ways rkc2 full "${base[@]}"
  restarted restart-rkc2 "${base[@]}"
  restarted restart-euler "${base[@]}" --set 'time.method="euler"'
  full
}

bench() {
  step devices "$bin/tutti" devices --measure --devices "$(devices 1 1 ,cpu)"
  step rates "$bin/tutti" devices --model diffusion "$box" --set "$(cubes "$large")" --devices "$(devices 1 1 ,cpu)" --json "$to/rates.json"
  if [ -z "${FAKE_GPUS:-}" ]; then step kernels "$bin/bench_diffusion_gpu"; else note left-out kernels "there is no GPU"; fi
  step box "$bin/tutti" bench diffusion --cells "$bench_cells" --seconds "$seconds" --devices "$(devices 1 1)" --json "$to/box.json"
  on_heart heart
}
# write_tissue N: cells that react in a block of N^3 cubes, two stimuli, as $to/tissue.toml
write_tissue() {
  cat > "$to/tissue.toml" << END
model = "diffusion"
[mesh]
generate = "box"
cubes = [$1, $1, $1]
upper = [$(($1 / 2)), $(($1 / 2)), $(($1 / 2))]
jitter = 0.1
[physics]
K = [0.2, 0.1, 0.1]
[[ionic.stimulus]]
where = "x < 1"
duration = 1.5
strength = 52
[[ionic.stimulus]]
where = "y > 1.5"
start = 1.01
duration = 2
period = 5
strength = 52
[time]
method = "rkc2"
dt = 0.05
steps = $steps
[output]
every = 0
[checkpoint]
minutes = 0
END
}
monodomain() {
  write_tissue "$tissue"
  local case_file=$to/tissue.toml
  same "ten Tusscher-Panfilov" --set 'ionic.model="ten-tusscher-panfilov"'
  same "the same, Strang" --set 'ionic.model="ten-tusscher-panfilov"' --set 'ionic.splitting="strang"'
  same Mitchell-Schaeffer --set 'ionic.model="mitchell-schaeffer"' --set ionic.activation=0.5 --set 'ionic.stimulus=[{where="x<1",duration=1.5,strength=0.5}]'
  same FitzHugh-Nagumo --set 'ionic.model="fitzhugh-nagumo"' --set ionic.activation=0.5 --set 'ionic.stimulus=[{where="x<1",duration=1.5,strength=0.5}]'
  bench_model reactions 1 --cells "$tissue_cells" --seconds "$seconds"
}
# on_heart NAME [OPTION]: the formats on a refined unstructured mesh, cold at its base (surface 1)
on_heart() {
  local name=$1; shift
  [ -f "$heart" ] || { note left-out "$name" "the bundle has no meshes/heart.vtu"; return; }
  step "$name" "$bin/tutti" bench diffusion --mesh "$heart" --refine "$refine" --dirichlet 1 --seconds "$seconds" --devices "$(devices 1 1)" \
    --json "$to/$name.json" "$@"
}
# METIS blocks have 64 rows on a GPU. Each order is a step of its own: on the host some take minutes.
orders() { local order; for order in $(python3 "$here/gpu_report.py" --orders); do on_heart "$order" --orders "$order"; done; }

# timed NAME RANKS DEVICES CUBES STEPS WEIGHTS ARGUMENTS...: a run whose speed counts; all of a mesh, steps and method
# that exchange have one checksum
declare -A first_checksum=()
timed() {
  local name=$1 ranks=$2 list=$3 n=$4 count=$5 weights=$6 code=0 got; shift 6
  simulate "$name" "$ranks" --set "$(cubes "$n")" --set 'time.method="euler"' --set "time.steps=$count" --set output.every=0 \
    --set output.probe_every=1000000 --set checkpoint.minutes=0 --set "balance.weights=\"$weights\"" --devices "$list" "$@" || code=$?
  if [[ " $* " == *" --no-exchange "* ]]; then
    if [ "$code" -eq 0 ]; then note passed "$name"; else note failed "$name" "exit code $code"; tail -n 5 "$(file "$name").log"; fi
    return
  fi
  got=$(checksum "$name")
  : "${first_checksum[$n/$count]:=$got}"
  judge "$name" "$code" "${first_checksum[$n/$count]}"
}
large() {
  local gpu both slow
  gpu=$(devices 1 1) both=$(devices 1 1 ,cpu)
  local curve=(--set 'partition.method="hilbert"')
  timed "GPU" 1 "$gpu" "$large" "$long_steps" "$measured" "${curve[@]}"
  timed "GPU + cpu, measured" 1 "$both" "$large" "$long_steps" "$measured" "${curve[@]}"
  timed "GPU + cpu, stream" 1 "$both" "$large" "$long_steps" "$([ -n "${FAKE_GPUS:-}" ] && echo equal || echo stream)" "${curve[@]}"
  # As if the GPU had so few multiprocessors, about 3 ms a step on an H200: the paper's regime. The monitor mends the shares.
  curve+=(--set mesh.jitter=0.15)  # more would turn a cell of this mesh over
  slow=(--set "devices.limit_blocks=32" "${curve[@]}")
  timed "CPU" 1 cpu "$slow_cubes" $((long_steps / 10 + 1)) "$measured" "${curve[@]}"
  timed "GPU of 32 blocks" 1 "$gpu" "$slow_cubes" $((long_steps / 5 + 1)) "$measured" "${slow[@]}"
  timed "GPU of 32 blocks + cpu" 1 "$both" "$slow_cubes" "$long_steps" "$measured" "${slow[@]}" --set 'balance.rebalance="always"'
}
scaling() {
  local n count method way exchange ranks transport others many=$long_steps
  for n in "${scale_cubes[@]}"; do
    for count in "${counts[@]}"; do
      others=$([ "$count" -eq 1 ] || [ "$n" -ne "${scale_cubes[0]}" ] || echo "metis/1/auto slabs/$count/staged ${nccl:+slabs/$count/nccl}")
      for way in slabs/1/auto $others; do
        IFS=/ read -r method ranks transport <<< "$way"
        for exchange in "" --no-exchange; do
          timed "$n cubes, $count GPU, $method, $ranks ranks, $transport${exchange:+, no exchange}" "$ranks" "$(devices "$count" "$ranks")" "$n" \
            "$many" equal --set "partition.method=\"$method\"" --set "devices.transport=\"$transport\"" ${exchange:+"$exchange"}
        done
      done
    done
    many=$((long_steps / 3 + 1))
  done
}
# bench_model NAME GPUS ARGUMENTS...: of the model whose section this is
bench_model() {
  local name=$1 count=$2; shift 2
  step "bench $name" "$bin/tutti" bench "$section" "$@" --devices "$(devices "$count" 1)" --json "$to/bench $name.json"
}
# incompressible: 20 runs of a second and, on one GPU, a minute of benchmarks
incompressible() {
  write_cavity "$cavity"
  local case_file=$to/cavity.toml want count policy all=${counts[-1]} cells
  reference cavity
  for policy in $policies; do
    for count in $(printf '%s\n' 1 "$all" | uniq); do
      compare "cavity, $count GPU, overlap $policy" "$want" 1 "${shared[@]}" --devices "$(devices "$count" 1)" --set "devices.overlap=\"$policy\"" -q
      compare "cavity, $count GPU + cpu, overlap $policy" "$want" 1 "${shared[@]}" --devices "$(devices "$count" 1 ,cpu)" \
        --set "devices.overlap=\"$policy\"" -q
    done
    [ "$all" -eq 1 ] || compare "cavity, $all GPU, $all ranks, overlap $policy" "$want" "$all" "${shared[@]}" --devices "$(devices "$all" "$all")" \
      --set 'devices.transport="staged"' --set "devices.overlap=\"$policy\"" -q
  done
  [ -z "$nccl" ] || [ "$all" -eq 1 ] || compare "cavity, $all GPU, $all ranks, nccl" "$want" "$all" "${shared[@]}" --devices "$(devices "$all" "$all")" \
    --set 'devices.transport="nccl"' -q
  local z_periodic='boundary=[{face="y-upper",value=[1,0,0]},{face="z-lower",velocity="periodic"},{face="z-upper",velocity="periodic"}]'
  same "direct, periodic" --set 'pressure.solver="direct"' --set "$z_periodic"
  # Fakes have the CPU's kernels, which other tests know.
  if [ -z "${FAKE_GPUS:-}" ]; then
    same direct --set 'pressure.solver="direct"'
    same "direct, blocks" --set 'pressure.solver="direct"' --set 'partition.cut="blocks"' --set 'grid.stretch=[0,2,0]'
    same multigrid --set 'pressure.solver="multigrid"'
    same relaxation --set 'pressure.solver="red_black"' --set pressure.sweeps=5000 --set time.steps=3
  fi
  local ends="" face label averages
  for face in x-lower x-upper z-lower z-upper; do ends+=",{face=\"$face\",velocity=\"periodic\"}"; done
  same turbulent --set "boundary=[{face=\"y-upper\",value=[1,0,0]}$ends]" --set 'fluid.subgrid="wale"' --set fluid.bulk_velocity=1 \
    --set 'profiles={direction="y",every=1,spectra=[0.5]}'
  label="turbulent, $all GPU + cpu"
  for averages in profiles spectra; do
    alike "$label: $averages" "$(file "turbulent, cpu")/$averages.csv" "$(file "$label")/$averages.csv"
  done
  printf '[[scalar]]\nname = "dye"\ndiffusivity = 0.002\ninitial = "z*z"\n' >> "$case_file"
  same heated --set fluid.diffusivity=0.001 --set 'fluid.buoyancy=[0,1,0]' --set 'initial.temperature="sin(x)*y"' \
    --set 'time.method="rk3"' --set 'partition.cut="blocks"'
  same "heated, implicit" --set fluid.diffusivity=0.1 --set 'fluid.buoyancy=[0,1,0]' --set 'initial.temperature="sin(x)*y"' \
    --set 'time.diffusion="implicit"' --set 'partition.cut="blocks"'
  local steps_of=(--precision float --sweeps "$flow_sweeps" "${flow_time[@]}")
  for cells in "${flow_cells[@]}"; do
    bench_model "$cells, 1 GPU" 1 --cells "$cells" "${steps_of[@]}" --solver jacobi,direct,multigrid
    for count in "${counts[@]:1}"; do
      bench_model "$cells, $count GPU" "$count" --cells "$cells" "${steps_of[@]}" --solver jacobi --overlap none,messages,full
      bench_model "$cells, $count GPU, direct" "$count" --cells "$cells" "${steps_of[@]}" --solver direct
    done
  done
  for count in "${counts[@]:1}"; do
    bench_model "weak, $count GPU" "$count" --cells "$cells,$cells,$((cells * count))" "${steps_of[@]}" --solver jacobi --overlap none,messages,full
  done
  [ -n "${FAKE_GPUS:-}" ] || step kernels "$bin/bench_flow_kernels" 0.1 "${flow_cells[0]}"
  [ -n "${FAKE_GPUS:-}" ] || step pressure "$bin/bench_flow_pressure" 0.1 "${flow_cells[0]}"
}

transport() {
  write_sphere "$nodes"
  local case_file=$to/sphere.toml want count all=${counts[-1]} name
  local small=(); [ -z "${FAKE_GPUS:-}" ] || small=(--set stencil.size=17 --set stencil.degree=2 --set hyperviscosity.k=1)
  local steady=('velocity.east="cos(lat)"' 'velocity.north=0')
  same changing "${small[@]}"
  same steady "${small[@]}" --set "${steady[0]}" --set "${steady[1]}"
  same separate "${small[@]}" --set "${steady[0]}" --set "${steady[1]}" --set 'numerics.operators="separate"'
  same ssp-rk3 "${small[@]}" --set 'time.method="ssp-rk3"' --set 'partition.method="latitude"'
  name=", one per rank"
  if [ "$all" -gt 1 ]; then
    reference changing "${small[@]}"
    compare "changing, $all GPU$name, staged" "$want" "$all" "${small[@]}" "${shared[@]}" --devices "$(devices "$all" "$all")" --set 'devices.transport="staged"' -q
    [ -z "$nccl" ] || compare "changing, $all GPU$name, nccl" "$want" "$all" "${small[@]}" "${shared[@]}" --devices "$(devices "$all" "$all")" --set 'devices.transport="nccl"' -q
  fi
  bench_model operators 1 --nodes "$bench_nodes" --size "$stencil_sizes" "${sphere_time[@]}" --operators 1,2,3
  bench_model tracers 1 --nodes "$bench_nodes" --size "${stencil_sizes%,*}" "${sphere_time[@]}" --tracers 2,4,8
  bench_model "few nodes" 1 --nodes "$few_nodes" --size "$stencil_sizes" "${sphere_time[@]}" --operators 1,2 --kernel auto,warp
  for count in "${counts[@]}"; do bench_model "$count GPU" "$count" --nodes "$many_nodes" --size "$stencil_sizes" "${sphere_time[@]}"; done
  if [ -n "${FAKE_GPUS:-}" ]; then note left-out kernels "there is no GPU"; return; fi
  step kernels "$bin/bench_stencil_kernels"
  step weights "$bin/bench_stencil_weights" 16 1000000 1000000
}

# write_wave N: a density wave through a periodic box of N x N x N cubes, as $to/wave.toml
write_wave() {
  cat > "$to/wave.toml" << END
model = "compressible"
[mesh]
generate = "box"
element = "tet"
cubes = [$1, $1, $1]
jitter = 0.15
periodic = true
[physics.initial]
rho = "1 + 0.2*sin(2*pi*x)*sin(2*pi*y)*sin(2*pi*z)"
velocity = [0.5, 0.5, 0.5]
p = 1
[numerics]
order = 2
kernels = "portable"
[time]
steps = 5
[output]
every = 0
[checkpoint]
minutes = 0
END
}
compressible() {
  write_wave "$wave"
  local case_file=$to/wave.toml order cubes count
  for order in "${wave_orders[@]}"; do
    same "order $order" --set "numerics.order=$order"
    same "order $order, viscous" --set "numerics.order=$order" --set physics.viscosity=0.01
    # Fakes have the CPU's kernels.
    if [ -z "${FAKE_GPUS:-}" ]; then
      same "order $order, tuned" --set "numerics.order=$order" --set 'numerics.kernels="tuned"'
      same "order $order, tuned, low storage" --set "numerics.order=$order" --set 'numerics.kernels="tuned"' --set 'numerics.flux="llf"' \
        --set 'numerics.limiter="positivity"' --set 'time.method="low-storage"'
      same "order $order, viscous, tuned" --set "numerics.order=$order" --set physics.viscosity=0.01 --set 'numerics.kernels="tuned"'
    fi
  done
  same "hexahedra" --set 'mesh.element="hex"'
  for cubes in "${waves[@]}"; do
    for order in "${wave_orders[@]}"; do
      for count in "${counts[@]}"; do
        step "$cubes cubes, order $order, $count GPU" "$bin/tutti" run --overwrite "$case_file" --set "mesh.cubes=[$cubes,$cubes,$cubes]" \
          --set "numerics.order=$order" --set "numerics.kernels=\"auto\"" --set time.steps=40 --devices "$(devices "$count" 1)" -o "$(file "$cubes cubes, order $order, $count GPU")"
      done
    done
  done
}

graph() {
  local made=$to/torus.el count with name
  step "generate" "$bin/tutti" graph generate torus --rows "$graph_side" --columns $((graph_side + 3)) -o "$made"
  step "cpu" "$bin/tutti" graph betweenness "$made" --sources 64 --devices cpu -o "$to/cpu.csv"
  for count in $(printf '%s\n' 1 "${counts[-1]}" | uniq); do
    for with in "" ,cpu; do
      name="$count GPU${with:+ + cpu}"
      step "$name" "$bin/tutti" graph betweenness "$made" --sources 64 --devices "$(devices "$count" 1 "$with")" -o "$to/$name.csv"
      alike "$name: the values of the CPU" "$to/cpu.csv" "$to/$name.csv"
    done
  done
  [ -z "${FAKE_GPUS:-}" ] || { note left-out rates "there is no GPU"; return; }
  for name in ssca2:16 ssca2:18 ssca2:20 kronecker:20 grid:1024; do step "rate $name" "$bin/bench_betweenness" "$name" 1024 cuda; done
  step "ssca2" "$bin/tutti" graph ssca2 --scale 20 --devices "$(devices 1 1)" --json "$to/ssca2.json"
}

smoothing() {
  local made=$to/box.msh count with name
  step "generate" "$bin/tutti" mesh generate box --cubes "$smooth_cubes" "$smooth_cubes" "$smooth_cubes" --jitter 0.15 -o "$made"
  step "cpu" "$bin/tutti" mesh smooth "$made" --iterations 3 --devices cpu -o "$to/cpu.msh"
  for count in $(printf '%s\n' 1 "${counts[-1]}" | uniq); do
    for with in "" ,cpu; do
      name="$count GPU${with:+ + cpu}"
      step "$name" "$bin/tutti" mesh smooth "$made" --iterations 3 --devices "$(devices "$count" 1 "$with")" -o "$to/$name.msh"
      alike "$name: the mesh of the CPU" "$to/cpu.msh" "$to/$name.msh"
    done
  done
  if [ -n "${FAKE_GPUS:-}" ]; then note left-out rate "there is no GPU"; return; fi
  step rate "$bin/bench_smoothing" 110 "$(devices 1 1)"
  step "voronoi parts" "$bin/bench_voronoi" 1400000 16 "$(devices 1 1)" "$(nproc)"
}

residency() {
  if [ -n "${FAKE_GPUS:-}" ]; then note left-out policies "there is no GPU"; return; fi
  step policies "$bin/bench_residency" cuda 1000 0.2 "$to/residency.json"
}

if [ -n "${FAKE_GPUS:-}" ]; then
  gpus=$FAKE_GPUS nccl=
  echo "$gpus fake GPUs: a trial of this script" > "$out/gpus.txt"
else
  nvidia-smi --query-gpu=name,memory.total,driver_version --format=csv,noheader > "$out/gpus.txt" || usage "nvidia-smi finds no GPU"
  gpus=$(wc -l < "$out/gpus.txt") nccl=yes
fi
counts=()
for count in 1 2 4 8; do [ "$count" -gt "$gpus" ] || counts+=("$count"); done

for section in "${sections[@]}"; do
  to=$out/$section began=$SECONDS
  rm -rf "$to" && mkdir "$to" && : > "$to/checks.tsv"
  echo "== $section"
  "$section"
  echo $((SECONDS - began)) > "$to/seconds"
  echo "== $section took $((SECONDS - began)) s"
  python3 "$here/gpu_report.py" "$out" > "$out/report.txt"  # also after each section: a machine's time may end
  code=$?
done
cat "$out/report.txt"
exit "$code"
