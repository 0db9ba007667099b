// Compiles as plain C++ without CUDA: the same stencils on the CPU.
#include <algorithm>
#include <vector>

#include "tutti/models/transport/stencils/device_weights.hpp"

#if defined(__CUDACC__)
#include "tutti/models/transport/stencils/stencil_weights.cuh"
#endif

namespace tutti::transport {
namespace {

#if defined(__CUDACC__)
void launch(Stream& stream, const StencilBasis& basis, const Vec3* nodes, const Lid* columns, Lid rows, double* out,
            double* conditions) {
  // A thread owns a row of the system.
  const int threads = (unknown_count(basis) + 31) / 32 * 32;
  const std::size_t bytes = weights::shared_bytes(basis);
  const cuda::CurrentDevice current(stream.device().index());
  // More than 48 KiB must be asked for.
  TUTTI_CUDA_CHECK(cudaFuncSetAttribute(weights::weights_kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                        static_cast<int>(bytes)));
  weights::weights_kernel<<<rows, threads, bytes, static_cast<cudaStream_t>(stream.native())>>>(basis, nodes, columns,
                                                                                                out, conditions);
  TUTTI_CUDA_CHECK(cudaGetLastError());
  stream.device().counts().launches += 1;
}
#endif

}  // namespace

void enqueue_weights(Stream& stream, const StencilBasis& basis, const Vec3* nodes, const Lid* columns, Lid rows,
                     double* out, double* conditions) {
  if (rows == 0) return;
#if defined(__CUDACC__)
  if (stream.kind() == DeviceKind::cuda) return launch(stream, basis, nodes, columns, rows, out, conditions);
#endif
  stream.loop({0, rows}, [=](Lid begin, Lid end) {
    StencilWork work;
    const auto size = static_cast<std::size_t>(basis.size);
    std::vector<Vec3> points(size);
    for (Lid row = begin; row < end; ++row) {
      const Size first = Size{row} * basis.size;
      for (std::size_t j = 0; j < size; ++j) points[j] = nodes[columns[first + static_cast<Size>(j)]];
      conditions[row] = try_stencil_weights(basis, points, std::span(out + first * operators, size * operators), work);
    }
  });
}

WeightReport make_weights(Stream& stream, const StencilBasis& basis, std::span<const Vec3> nodes,
                          std::span<const Lid> columns, std::span<double> out, std::span<const Gid> numbers,
                          Lid piece) {
  check_basis(basis);
  const auto size = static_cast<std::size_t>(basis.size), rows = columns.size() / size;
  require(columns.size() == rows * size && out.size() >= columns.size() * operators && piece > 0,
          "{} columns of stencils of {} nodes, {} places for weights", columns.size(), size, out.size());
  Device& device = stream.device();
  const Buffer<Vec3> nodes_there = make_buffer(stream, nodes, "nodes");
  const Size row_bytes = basis.size * static_cast<Size>(sizeof(Lid) + operators * sizeof(double)) + 8,
             room = (device.budget().capacity() - device.budget().used()) / row_bytes;
  const auto at_once =
      static_cast<Lid>(std::min(static_cast<Size>(rows), std::max(Size{1}, std::min(Size{piece}, room))));
  const Size entries = Size{at_once} * basis.size;
  Buffer<Lid> columns_there(device, entries, "stencils");
  Buffer<double> weights_there(device, entries * operators, "weights"), conditions_there(device, at_once, "conditions");
  std::vector<double> conditions(rows);
  for (std::size_t first = 0; first < rows; first += static_cast<std::size_t>(at_once)) {
    const std::size_t now = std::min(rows - first, static_cast<std::size_t>(at_once));
    upload(stream, columns_there, columns.subspan(first * size, now * size));
    enqueue_weights(stream, basis, nodes_there.data(), columns_there.data(), static_cast<Lid>(now),
                    weights_there.data(), conditions_there.data());
    download(stream, out.subspan(first * size * operators, now * size * operators), weights_there);
    download(stream, std::span(conditions).subspan(first, now), conditions_there);
  }
  return report_conditions(basis, nodes, columns, std::span<const double>(conditions), numbers);
}

}  // namespace tutti::transport
