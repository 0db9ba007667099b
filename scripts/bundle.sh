#!/usr/bin/env bash
# Makes a relocatable tree of the program, its GPU tests and the libraries they need, from a build made without a GPU,
# and a mesh of a heart where gmsh is there:
#   cmake --preset cuda && cmake --build --preset cuda && scripts/bundle.sh build/cuda build/bundle
# MPI, the C and C++ runtimes and the CUDA driver come from the machine that runs it.
set -euo pipefail
cd "$(dirname "$0")/.."
build=${1:-build/cuda}
bundle=${2:-build/bundle}
rm -rf "$bundle"
mkdir -p "$bundle/bin" "$bundle/lib" "$bundle/examples"
for program in "$build/bin/tutti" "$build/tests/gpu/test_gpu" "$build/tests/test_device" "$build/bench/bench_diffusion_gpu"; do
  [ -x "$program" ] || { echo "bundle.sh: $program is missing; build the preset first" >&2; exit 3; }
  cp "$program" "$bundle/bin/"
done
strip "$bundle"/bin/*
own='libc\.so|libm\.so|libstdc\+\+|libgcc_s|libpthread|libdl|librt|ld-linux|libmpi|libopen-|libhwloc|libevent|libutil|libcuda\.so|libgomp|libudev|libcusparse|libnvJitLink'
ldd "$bundle"/bin/* | awk '$2 == "=>" && $3 ~ /^\// {print $3}' | sort -u | grep -Ev "$own" | xargs -r -I{} cp -L {} "$bundle/lib/"
cp -r examples/. "$bundle/examples/"
# A real unstructured mesh, small: 113,444 cells, with --refine 2 (or mesh.refine = 2) 7.3 million.
if command -v gmsh > /dev/null; then
  mkdir -p "$bundle/meshes"
  "$build/bin/tutti" -q mesh generate biventricle --size 1.8 -o "$bundle/meshes/heart.msh"
  rm -rf "$bundle/meshes/heart.msh.gmsh"
else
  echo "bundle.sh: gmsh is not there; the bundle has no meshes/heart.msh" >&2
fi
du -sh "$bundle" | awk '{print "bundle: " $2 ", " $1}'
