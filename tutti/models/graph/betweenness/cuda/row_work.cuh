// Rows as work for warps, in items of at most 256 arcs or so.
#pragma once

#include <vector>

#include "tutti/device/buffer.hpp"
#include "tutti/models/graph/betweenness/cuda/batch_state.cuh"
#include "tutti/models/graph/betweenness/one_source.hpp"

namespace tutti::graph {

constexpr Size item_arcs = 256;  ///< of whole vertices: as many as of a piece, or a warp works longer than others

struct RowWork {
  std::vector<gpu::Item> items;
  std::vector<gpu::Hub> hubs;
  std::int32_t pieces = 0;

  /// `out`: where it is known which vertices have no arcs out. Row v is that of vertex first + v.
  RowWork(const Csr<Vertex>& rows, const Csr<Vertex>& out, Vertex first = 0) {
    const auto offset = [&](Vertex v) { return rows.offsets[v]; };
    const auto last = [&](Vertex v) { return out.offsets[v] == out.offsets[v + 1]; };
    for (Vertex v = 0; v < rows.rows();) {
      const Size arcs = offset(v + 1) - offset(v);
      if (arcs > piece_arcs) {
        const auto count = static_cast<std::int32_t>(pieces_of(arcs)), hub = static_cast<std::int32_t>(hubs.size());
        for (std::int32_t k = 0; k < count; ++k)
          items.push_back({first + v, 1, pieces + k, hub, offset(v) + piece_begin(arcs, k),
                           static_cast<std::int32_t>(piece_begin(arcs, k + 1) - piece_begin(arcs, k)), last(v)});
        hubs.push_back({pieces, count});
        pieces += count;
        ++v;
        continue;
      }
      Vertex end = v + 1;
      while (end < rows.rows() && end - v < 32 && offset(end + 1) - offset(v) <= item_arcs) ++end;
      // Vertices without arcs have nothing to pull.
      if (offset(end) > offset(v)) {
        std::uint32_t lasts = 0;
        for (Vertex k = 0; k < end - v; ++k) lasts |= static_cast<std::uint32_t>(last(v + k)) << k;
        items.push_back(
            {first + v, end - v, -1, -1, offset(v), static_cast<std::int32_t>(offset(end) - offset(v)), lasts});
      }
      v = end;
    }
  }
};

/// The same on a device.
struct DeviceWork {
  Buffer<gpu::Item> items;
  Buffer<gpu::Hub> hubs;
  std::int32_t pieces = 0;

  DeviceWork() = default;
  DeviceWork(Stream& stream, const RowWork& work) {
    items = make_buffer(stream, std::span<const gpu::Item>(work.items), "work of a graph's rows");
    hubs = make_buffer(stream, std::span<const gpu::Hub>(work.hubs), "hubs of a graph");
    pieces = work.pieces;
  }
  /// `rows`: where they are on the device.
  gpu::Rows view(const RowsView& rows) const {
    return {rows.offsets, rows.columns, items.data(), hubs.data(), static_cast<std::int32_t>(items.size())};
  }
};

}  // namespace tutti::graph
