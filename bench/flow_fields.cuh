// What the benchmarks of the flow's kernels share: fields of scattered values, their comparison, and the printed line.
#pragma once

#include <string>

#include "bench/gpu_timing.hpp"
#include "tutti/device/buffer.hpp"
#include "tutti/device/for_each.hpp"
#include "tutti/device/sums/reduce.hpp"
#include "tutti/mesh/box_grid.hpp"

namespace tutti::incompressible {

/// Prints a line of figures.
struct FigureLine {
  const char* type;
  Lid side;
  double triad;
  /// `values`: a cell, that must be read or written; flops: likewise.
  void operator()(const std::string& name, double seconds, int values, int value_bytes, double flops,
                  const std::string& more = "") const {
    const double cells = static_cast<double>(side) * side * side;
    fmt::print("{:<6} {:>4}^3  {:<58} {:>9.4f} ms {:>8.2f} G cells/s {:>6.3f} of the triad {:>8.1f} GFLOPS{}{}\n", type,
               side, name, 1e3 * seconds, cells / seconds * 1e-9, values * value_bytes * cells / seconds / triad,
               flops * cells / seconds * 1e-9, more.empty() ? "" : "  ", more);
    std::fflush(stdout);
  }
};

inline BoxGrid cube(Lid side, double stretch) {
  BoxGrid grid;
  for (GridLine& line : grid.lines) line = make_grid_line(side, 0, 1, stretch, false);
  return grid;
}

template <class T>
struct Scatter {
  T* values;
  std::uint64_t seed;
  TUTTI_HD void operator()(Lid i) const {
    values[i] =
        static_cast<T>((static_cast<std::uint64_t>(i) * 2654435761U + seed * 40503U) >> 8 & 0xffffU) / T(65536) -
        T(0.5);
  }
};

template <class T>
void scatter(Stream& stream, Buffer<T>& field, std::uint64_t seed) {
  for_each(stream, {0, static_cast<Lid>(field.size())}, Scatter<T>{field.data(), seed});
}
template <class T>
Buffer<T> scattered_field(Stream& stream, Size size, std::uint64_t seed) {
  Buffer<T> field(stream.device(), size, "scattered");
  scatter(stream, field, seed);
  return field;
}

/// The number of a value that differs in a bit, -1 where none does.
template <class T>
struct Differing {
  const T *a, *b;
  TUTTI_HD double operator()(Lid i) const {
    const auto* x = reinterpret_cast<const unsigned char*>(a + i);
    const auto* y = reinterpret_cast<const unsigned char*>(b + i);
    bool same = true;
    for (std::size_t k = 0; k < sizeof(T); ++k) same = same && x[k] == y[k];
    return same ? -1 : i;
  }
};

/// What the compiler made of a kernel.
template <class Kernel>
std::string resources(Kernel* kernel, int threads, std::size_t shared = 0) {
  cudaFuncAttributes a{};
  int blocks = 0;
  TUTTI_CUDA_CHECK(cudaFuncGetAttributes(&a, kernel));
  TUTTI_CUDA_CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel, threads, shared));
  return fmt::format("{} registers, {} B spilled, {} threads resident; ", a.numRegs, a.localSizeBytes,
                     blocks * threads);
}

}  // namespace tutti::incompressible
