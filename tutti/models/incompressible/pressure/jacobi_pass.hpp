// A Jacobi sweep over a box of cells, launched as it is fastest there. Compiles as plain C++ without CUDA.
#pragma once

#include "tutti/exchange/for_each_cell.hpp"
#include "tutti/models/incompressible/pressure/jacobi_kernel.hpp"

#if defined(__CUDACC__)
#include "tutti/models/incompressible/pressure/jacobi_cuda.cuh"
#endif

namespace tutti::incompressible {

template <class T, template <class> class Stencil>
struct JacobiPass {
  JacobiSweep<T, Stencil> sweep;
  void operator()(Stream& stream, const CellBox& box, Range range) const {
#if defined(__CUDACC__)
    if (stream.kind() == DeviceKind::cuda && march_on_gpu(stream, box, sweep)) return;
#endif
    for_each_cell<T>(stream, box, range, sweep);
  }
};

}  // namespace tutti::incompressible
