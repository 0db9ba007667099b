#!/usr/bin/env bash
# Makes a relocatable tree of the program, its GPU tests and the libraries they need, from a build made without a GPU:
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
du -sh "$bundle" | awk '{print "bundle: " $2 ", " $1}'
