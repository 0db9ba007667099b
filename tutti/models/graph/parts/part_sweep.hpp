// One part's share of a batch of sources, level by level, on its device.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "tutti/device/buffer.hpp"
#include "tutti/models/graph/betweenness/device_sources.hpp"
#include "tutti/models/graph/parts/graph_part.hpp"

namespace tutti::graph {

/// What the vertices of one level that another part reads are sent as: for each row of the link the lanes that have
/// just reached it, then for each of these lanes the number. 8 bytes a row and 12 a number.
struct LevelMessage {
  std::vector<Lanes> lanes;
  std::vector<double> mantissas;
  std::vector<std::int32_t> exponents;
};

/// Arrays of a part, of all its vertices and ghosts: a PathRecord a lane.
class PartSweep {
 public:
  /// The part outlives it. Error(resource): no room for so many lanes.
  PartSweep(const GraphPart& part, Device& device, int width);
  /// Waits for its work: an error may have come between a launch and its end.
  ~PartSweep();
  PartSweep(PartSweep&&) noexcept = default;
  PartSweep& operator=(PartSweep&&) = delete;
  /// Bytes that the part takes of a device with so many lanes.
  static Size bytes(const GraphPart& part, int width);

  /// Of each lane its source, as local row or no_lid. Nothing else is reached.
  void begin(std::span<const Vertex> sources);
  /// Vertices that depth + 1 reaches first, and their numbers of paths. True: there are some.
  bool step_out(std::int32_t depth);
  /// Adds the dependencies of the vertices of a depth to the sums, and puts (1 + delta) / sigma in the place of sigma.
  void step_back(std::int32_t depth);
  /// Vertices of a depth that other parts read: a message for each of the map's links, in order.
  std::vector<LevelMessage> take(std::int32_t depth);
  /// The messages of all links, in order; ghosts in the lanes that they name are of this depth.
  void put(std::int32_t depth, const std::vector<LevelMessage>& messages);
  /// Arcs that begin at vertices reached, over all lanes.
  Size count_reached();
  /// Adds the sums of the part's vertices to `sums` (global numbers); they are zero afterwards.
  void collect(std::span<DeltaSum> sums);

 private:
  RowsView outgoing() const { return out_.view(); }
  RowsView incoming() const { return in_.offsets.empty() ? out_.view() : in_.view(); }

  const GraphPart& part_;
  int width_;
  Lanes all_ = 0;
  std::unique_ptr<Stream> stream_;
  DeviceRows out_, in_;
  Buffer<PathRecord> records_;            ///< [local * width + lane]; depth -1: not reached
  Buffer<Lanes> frontier_;                ///< [local]
  Buffer<Lanes> next_, reached_;          ///< [owned]
  Buffer<DeltaSum> sums_;                 ///< [owned]
  Buffer<std::int32_t> report_;           ///< a block of vertices
  Buffer<Size> counts_;                   ///< a block of vertices
  Buffer<Vertex> sources_;                ///< [width]
  Buffer<Lid> send_rows_;                 ///< of all links
  Buffer<Lanes> send_lanes_, got_lanes_;  ///< of all rows sent; of all ghosts
  Buffer<Size> send_places_, got_places_;
  Buffer<double> send_mantissas_, got_mantissas_;
  Buffer<std::int32_t> send_exponents_, got_exponents_;
};

}  // namespace tutti::graph
