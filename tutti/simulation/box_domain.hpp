// A grid of cells, split over all devices of all ranks and ready for a model.
#pragma once

#include <cstdint>
#include <vector>

#include "tutti/exchange/box_transfer.hpp"
#include "tutti/mesh/box_grid.hpp"
#include "tutti/schedule/balance.hpp"
#include "tutti/simulation/model_kind.hpp"

namespace tutti {

/// What every model on a grid starts from. Vectors have one entry a part of this rank, unless said otherwise.
struct BoxDomain {
  BoxGrid grid;
  BoxParts parts;
  std::vector<double> weights;  ///< of all parts, sum 1
  BalanceSummary balance;
  std::vector<PartStreams> streams;
  std::vector<BoxArray> arrays;  ///< of fields: the owned cells and one layer around them
  std::vector<IndexMap> maps;    ///< of owned cells, x fastest, as they stand in checkpoints
  Transport transport;

  std::size_t mine() const { return streams.size(); }
  const CellBox& box(std::size_t p) const { return parts.box(p); }
};

/// Weighs and cuts the grid as the case says. `rate`: the model's kernel on a device. Collective. Error(input) where
/// the grid has fewer planes than it is to be cut into.
BoxDomain make_box_domain(const ModelSetup& setup, BoxGrid grid, const MeasureRate& rate = {});
/// The same without maps and transport, which take memory and time: to see what a run would need.
BoxDomain cut_box_domain(const ModelSetup& setup, BoxGrid grid, const MeasureRate& rate = {});

/// Values of the cells in a box, x fastest, from an array that holds them, as the owned ones, with a layer around them;
/// and back.
template <class T>
void take_owned(Stream& stream, const Buffer<T>& buffer, const BoxArray& array, const CellBox& box,
                std::span<double> values);
template <class T>
void put_owned(Stream& stream, Buffer<T>& buffer, const BoxArray& array, const CellBox& box,
               std::span<const double> values);

}  // namespace tutti
