// Compiles as plain C++ without CUDA.
#include "tutti/partition/voronoi/device_refinement.hpp"

#include <chrono>

#include "tutti/device/buffer.hpp"
#include "tutti/device/for_each.hpp"
#include "tutti/partition/voronoi/boundary_refinement.hpp"

namespace tutti::voronoi {
namespace {

struct OnDevice {
  Stream& stream;
  RefinementCounts *found, *staged;

  template <class Kernel>
  void each(Lid count, const Kernel& kernel) const {
    for_each(stream, {0, count}, kernel);
  }
  RefinementCounts counts() const {
    stream.copy(staged, found, sizeof(RefinementCounts), CopyDirection::to_host);
    stream.synchronize();
    return *staged;
  }
  template <class T>
  void get(std::span<T> to, const T* from) const {
    download(stream, to, from);
  }
  template <class T>
  void put(T* to, std::span<const T> from) const {
    stream.copy(to, from.data(), from.size_bytes(), CopyDirection::to_device);
    stream.synchronize();
  }
};

double seconds_since(std::chrono::steady_clock::time_point begin) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

}  // namespace

std::vector<std::int32_t> refine_on_device(Stream& stream, const SymmetricGraph& graph,
                                           std::span<const std::int32_t> quotas, double imbalance,
                                           std::span<const std::int32_t> size, std::span<std::int32_t> part,
                                           RefineTimes& times) {
  auto begin = std::chrono::steady_clock::now();
  RefinementArrays arrays;
  arrays.rows = graph.rows();
  arrays.parts = static_cast<std::int32_t>(quotas.size());
  std::int32_t *offsets = nullptr, *columns = nullptr;
  const auto lay_out_all = [&](Carver& carver) {
    lay_out(carver, arrays);
    arrays.offsets = offsets = carver.take<std::int32_t>(static_cast<Size>(graph.offsets.size()));
    arrays.columns = columns = carver.take<std::int32_t>(static_cast<Size>(graph.columns.size()));
    arrays.part = carver.take<std::int32_t>(arrays.rows);
  };
  Carver counted, carver;
  lay_out_all(counted);
  Buffer<std::byte> memory(stream.device(), counted.bytes, "refinement of parts");
  Buffer<RefinementCounts> staged(stream.device(), 1, "counts of the refinement", Memory::pinned);
  carver.memory = memory.data();
  lay_out_all(carver);
  OnDevice device{stream, arrays.counts, staged.data()};

  times.allocation = seconds_since(begin);
  begin = std::chrono::steady_clock::now();
  device.put(offsets, std::span(graph.offsets));
  device.put(columns, std::span(graph.columns));
  device.put(arrays.part, std::span<const std::int32_t>(part));
  times.upload = seconds_since(begin);
  auto sizes = BoundaryRefinement(device, arrays, graph).run(quotas, imbalance, size);
  begin = std::chrono::steady_clock::now();
  device.get(part, arrays.part);
  times.result = seconds_since(begin);
  return sizes;
}

}  // namespace tutti::voronoi
