#!/usr/bin/env bash
# Steps of compressible flow by tutti beside PyFR 3.1: Euler and Navier-Stokes on the same periodic boxes of straight tetrahedra
# and hexahedra, in double precision, by SSP-RK3. Both have Lax-Friedrichs fluxes; tutti has BR2, PyFR LDG. PyFR runs plain,
# and with its flux anti-aliased by quadrature: in tetrahedra of degree 2p, as tutti's, in hexahedra with p + 2 points per direction. Degrees of freedom are elements x points x 5 for PyFR, elements x
# basis functions x 5 for tutti: in hexahedra PyFR has (p+1)^3 points, tutti (p+1)(p+2)(p+3)/6 functions.
#
# usage: bench/peers/pyfr.sh [FOLDER]       # default: results/pyfr; keeps PyFR, libxsmm, meshes and pyfr.json
# BACKEND: openmp or cuda (default: openmp). LIBXSMM, for openmp: a checkout of https://github.com/libxsmm/libxsmm (2.0), which is
# copied and built, or its libxsmm.so. CUDA_HOME, for cuda: where nvrtc and cuBLAS are (default: /usr/local/cuda).
# TET, HEX: cubes along an edge (default: 12 and 20, on a GPU 32 and 40); ORDERS (default: 1 2 3). TUTTI names the program,
# PYTHON one of 3.11 or later, CORES the cores (default: 0,1), ROUNDS how often all run, in turn (default: 3), EACH for how
# many seconds (default: 2); the fastest counts. Times are those of a right-hand side, a degree of freedom (ns) and an element (us);
# ratios above 1 say that tutti is faster.
set -euo pipefail

. "$(dirname "${BASH_SOURCE[0]}")/common.sh"
tutti=${TUTTI:-$root/build/release/bin/tutti} backend=${BACKEND:-openmp} cores=${CORES:-0,1} rounds=${ROUNDS:-3} each=${EACH:-2}
read -ra orders <<<"${ORDERS:-1 2 3}"
threads=$(tr ',' '\n' <<<"$cores" | wc -l)
need_tutti
need_counts TET HEX ORDERS ROUNDS
need_numbers EACH
need_cores "$cores"
results_folder "${1:-$root/results/pyfr}"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

case $backend in
  openmp)
    tet=${TET:-12} hex=${HEX:-20} devices=cpu batch=1
    if [[ -f ${LIBXSMM:-} ]]; then
      cp -L "$LIBXSMM" "$folder/libxsmm.so"
    elif [[ ! -f $folder/libxsmm.so ]]; then
      [[ -f ${LIBXSMM:-}/Makefile ]] || stop "libxsmm is missing; set LIBXSMM to a checkout or to libxsmm.so"
      cp -r "$LIBXSMM" "$work/libxsmm"
      make -C "$work/libxsmm" -j "$threads" lib STATIC=0 BLAS=0 FORTRAN=0 >"$work/make.log" 2>&1 || { tail "$work/make.log" >&2; exit 1; }
      cp -L "$work/libxsmm/lib/libxsmm.so" "$folder/libxsmm.so"
    fi
    export PYFR_XSMM_LIBRARY_PATH=$folder/libxsmm.so
    ;;
  cuda)
    tet=${TET:-32} hex=${HEX:-40} devices=cuda:0 batch=10
    export PYFR_LIBRARY_PATH=${CUDA_HOME:-/usr/local/cuda}/lib64 PYFR_CUDA_LIBRARY_PATH=libcuda.so.1
    ;;
  *) stop "BACKEND is '$backend'; openmp or cuda" ;;
esac
python_with pyfr==3.1
export OMP_NUM_THREADS=$threads PYTHONDONTWRITEBYTECODE=1 MPI4PY_RC_INITIALIZE=no

echo '[]' >"$folder/pyfr.json"
echo '| elements | equations | p | PyFR | PyFR, ns | tutti, ns | ratio | PyFR, us | tutti, us | ratio |'
echo '| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |'
for box in "tet $tet 6" "hex $hex 1"; do
  read -r element n per_cube <<<"$box"
  mesh=$folder/$element-$n.pyfrm
  if [[ ! -f $mesh ]]; then
    "$folder/venv/bin/python" "$root/bench/peers/pyfr_box.py" "$element" "$n" "$work/box.msh"
    "$folder/venv/bin/pyfr" import "$work/box.msh" "$mesh"
  fi
  for equations in euler navier-stokes; do
    for p in "${orders[@]}"; do
      degrees=$((per_cube * n ** 3 * 5 * (p + 1) * (p + 2) * (p + 3) / 6))
      for ((round = 0; round < rounds; ++round)); do
        taskset -c "$cores" "$tutti" -q bench compressible --element "$element" --equations "$equations" --order "$p" \
          --degrees "$degrees" --jitter 0 --flux llf --kernels auto --devices "$devices" --threads "$threads" \
          --seconds "$each" --json "$work/tutti-$round" >/dev/null
        for kind in plain anti-aliased; do
          taskset -c "$cores" "$folder/venv/bin/python" "$root/bench/peers/pyfr_steps.py" "$mesh" "$backend" "$equations" \
            "$p" "$kind" "$each" "$batch" >"$work/$kind-$round"
        done
      done
      "$folder/venv/bin/python" "$root/bench/peers/pyfr_row.py" "$work" "$rounds" "$folder/pyfr.json"
    done
  done
done
