// One part's share of a batch of sources, level by level.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "tutti/device/buffer.hpp"
#include "tutti/models/graph/betweenness/device_sources.hpp"
#include "tutti/models/graph/parts/graph_part.hpp"

namespace tutti::graph {

/// What the vertices of one level that another part reads are sent as: where in the link they stand, the lanes that
/// have just reached them, and for each of these lanes the number: 12 bytes a vertex and 8 a number, or 12 with
/// exponents.
struct LevelMessage {
  std::vector<Lid> places;  ///< each once
  std::vector<Lanes> lanes;
  std::vector<double> mantissas;
  std::vector<std::int32_t> exponents;  ///< empty: of plain doubles
};

/// The same, still among the bytes that came.
struct LevelView {
  std::span<const Lid> places;
  std::span<const Lanes> lanes;
  std::span<const double> mantissas;
  std::span<const std::int32_t> exponents;
};

class PartSweep {
 public:
  virtual ~PartSweep() = default;
  /// Of each lane its source, as local row or no_lid. Nothing else is reached.
  virtual void begin(std::span<const Vertex> sources) = 0;
  /// Vertices that depth + 1 reaches first, and their numbers of paths. True: there are some.
  virtual bool step_out(std::int32_t depth) = 0;
  /// Since begin: more than plain doubles count.
  virtual bool too_many_paths() const { return false; }
  /// Adds the dependencies of the vertices of a depth to the sums, and puts (1 + delta) / sigma in the place of sigma.
  virtual void step_back(std::int32_t depth) = 0;
  /// Vertices of a depth that other parts read, on the way out or back: a message for each of the map's links, in
  /// order.
  virtual std::vector<LevelMessage> take(std::int32_t depth, bool back) = 0;
  /// The messages of all links, in order; ghosts in the lanes that they name are of this depth.
  virtual void put(std::int32_t depth, std::span<const LevelView> messages) = 0;
  /// Arcs that begin at vertices reached, over all lanes.
  virtual Size count_reached() = 0;
  /// Adds the sums of the part's vertices to `sums` (global numbers); they are zero afterwards.
  virtual void collect(std::span<DeltaSum> sums) = 0;
};

/// On one thread, with plain doubles, as devices with copies have them. The part outlives it. Error(resource): the
/// budget has no room for so many lanes.
std::unique_ptr<PartSweep> make_thread_sweep(const GraphPart& part, Budget& budget, int width);
Size bytes_of_thread_sweep(const GraphPart& part, int width);

/// On any device, with numbers that do not overflow.
std::unique_ptr<PartSweep> make_device_sweep(const GraphPart& part, Device& device, int width);
Size bytes_of_device_sweep(const GraphPart& part, int width);

}  // namespace tutti::graph
