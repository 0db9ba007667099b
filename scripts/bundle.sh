#!/usr/bin/env bash
# Makes a relocatable tree of under 96 MiB, all that scripts/gpu-test.sh needs and that script, from a build made without a
# GPU: the program, its GPU tests and benchmarks, the libraries they need, the examples, a mesh of a heart where gmsh is there.
#   cmake --preset cuda && cmake --build build/cuda --target tutti_app test_device test_gpu bench
#   scripts/bundle.sh build/cuda build/bundle
# From the machine that runs it come, each with all that it needs itself: MPI, the C and C++ runtimes, the CUDA driver,
# cuSPARSE, and libcurl and OpenSSL 3, which Debian's HDF5 wants and tutti never calls.
set -euo pipefail
cd "$(dirname "$0")/.."
build=${1:-build/cuda}
bundle=${2:-build/bundle}
rm -rf "$bundle"
mkdir -p "$bundle/bin" "$bundle/lib" "$bundle/examples"
for program in "$build/bin/tutti" "$build/tests/gpu/test_gpu" "$build/tests/test_device" "$build/bench/bench_diffusion_gpu" \
  "$build/bench/bench_flow_kernels" "$build/bench/bench_flow_pressure" "$build/bench/bench_residency" "$build/bench/bench_stencil_kernels" "$build/bench/bench_stencil_weights" "$build/bench/bench_betweenness" "$build/bench/bench_smoothing" "$build/bench/bench_voronoi"; do
  [ -x "$program" ] || { echo "bundle.sh: $program is missing; build the preset first" >&2; exit 3; }
  cp "$program" "$bundle/bin/"
done
strip "$bundle"/bin/*
own=' ld-linux-x86-64 libc libm libpthread libdl librt libgcc_s libstdc++ libgomp libmpi libmpich libcuda libcusparse libcurl libcrypto '
declare -A place=()
while read -r name file; do place[$name]=$file; done < <(ldd "$bundle"/bin/* | awk '$2 == "=>" && $3 ~ /^\// {print $1, $3}' | sort -u)
# Not all that ldd lists: what only the machine's own libraries need is not copied.
files=("$bundle"/bin/*)
while [ ${#files[@]} -gt 0 ]; do
  for name in $(objdump -p "${files[0]}" | awk '$1 == "NEEDED" {print $2}'); do
    if [[ $own == *" ${name%%.so*} "* || -e $bundle/lib/$name ]]; then continue; fi
    [ -n "${place[$name]:-}" ] || { echo "bundle.sh: $name is missing, which ${files[0]} needs" >&2; exit 3; }
    cp -L "${place[$name]}" "$bundle/lib/$name"
    files+=("$bundle/lib/$name")
  done
  files=("${files[@]:1}")
done
cp -r examples/. "$bundle/examples/"
cp scripts/gpu-test.sh scripts/gpu_report.py "$bundle/"
# A real unstructured mesh, small: 113,444 cells, with --refine 2 (or mesh.refine = 2) 7.3 million. As VTU it takes 2 MB, not
# 7; its surfaces then have numbers only, 1 is the base.
if command -v gmsh > /dev/null; then
  made=$(mktemp -d)
  trap 'rm -rf "$made"' EXIT
  mkdir "$bundle/meshes"
  "$build/bin/tutti" -q mesh generate biventricle --size 1.8 -o "$made/heart.msh"
  "$build/bin/tutti" -q mesh convert "$made/heart.msh" "$bundle/meshes/heart.vtu" 2> /dev/null
else
  echo "bundle.sh: gmsh is not there; the bundle has no meshes/heart.vtu" >&2
fi
bytes=$(du -sb "$bundle" | cut -f 1)
echo "bundle: $bundle, $((bytes / 1048576)) MiB"
if [ "$bytes" -ge $((96 * 1048576)) ]; then echo "bundle.sh: $bundle takes $bytes bytes, more than 96 MiB; leave something out" >&2; exit 1; fi
