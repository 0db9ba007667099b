// Compiles as plain C++ without CUDA.
#include "tutti/partition/voronoi/device_seams.hpp"

#include <chrono>

#include "tutti/device/buffer.hpp"
#include "tutti/device/for_each.hpp"
#include "tutti/partition/voronoi/seam_sweeps.hpp"

namespace tutti::voronoi {
namespace {

struct There {
  Stream& stream;
  SeamCounts *found, *staged;

  template <class Kernel>
  void each(Lid count, const Kernel& kernel) const {
    for_each(stream, {0, count}, kernel);
  }
  SeamCounts counts() const {
    stream.copy(staged, found, sizeof(SeamCounts), CopyDirection::to_host);
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

std::vector<std::int32_t> refine_there(Stream& stream, const SymmetricGraph& graph,
                                       std::span<const std::int32_t> quotas, double imbalance,
                                       std::span<const std::int32_t> size, std::span<std::int32_t> part,
                                       RefineTimes& times) {
  auto begin = std::chrono::steady_clock::now();
  Seams seams;
  seams.rows = graph.rows();
  seams.parts = static_cast<std::int32_t>(quotas.size());
  std::int32_t *offsets = nullptr, *columns = nullptr;
  const auto lay_out_all = [&](Carver& carver) {
    lay_out(carver, seams);
    seams.offsets = offsets = carver.take<std::int32_t>(static_cast<Size>(graph.offsets.size()));
    seams.columns = columns = carver.take<std::int32_t>(static_cast<Size>(graph.columns.size()));
    seams.part = carver.take<std::int32_t>(seams.rows);
  };
  Carver counted, carver;
  lay_out_all(counted);
  Buffer<std::byte> memory(stream.device(), counted.bytes, "seams of parts");
  Buffer<SeamCounts> staged(stream.device(), 1, "counts of seams", Memory::pinned);
  carver.memory = memory.data();
  lay_out_all(carver);
  There there{stream, seams.counts, staged.data()};

  times.room = seconds_since(begin);
  begin = std::chrono::steady_clock::now();
  there.put(offsets, std::span(graph.offsets));
  there.put(columns, std::span(graph.columns));
  there.put(seams.part, std::span<const std::int32_t>(part));
  times.upload = seconds_since(begin);
  auto sizes = SeamSweeps(there, seams, graph).run(quotas, imbalance, size);
  begin = std::chrono::steady_clock::now();
  there.get(part, seams.part);
  times.result = seconds_since(begin);
  return sizes;
}

}  // namespace tutti::voronoi
