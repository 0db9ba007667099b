// Passes over the cells of a flow. Compiles as plain C++ without CUDA.
#include "tutti/models/incompressible/flow_part.hpp"

#include <algorithm>
#include <functional>
#include <vector>

#include "tutti/exchange/for_each_cell.hpp"
#include "tutti/models/incompressible/passes/flow_passes.hpp"

#if defined(__CUDACC__)
#include "tutti/models/incompressible/passes/momentum_cuda.cuh"
#include "tutti/models/incompressible/passes/projection_cuda.cuh"
#endif

namespace tutti::incompressible {
namespace {

/// A pass as each device is fastest with it.
template <class T, class Cells>
struct MakePass {
  Cells cells;
  bool equal_x;
  void operator()(Stream& stream, const CellBox& box, Range range) const {
#if defined(__CUDACC__)
    if (stream.kind() == DeviceKind::cuda && march_on_gpu(stream, box, cells, equal_x)) return;
#endif
    for_each_cell<T>(stream, box, range, cells);
  }
};
template <class T, class Cells>
void add_pass(Kernels& to, const FlowPart<T>& part, const Cells& cells) {
  to.add(MakePass<T, Cells>{cells, part.grid.equal_along_x});
}

}  // namespace

template <class T>
PartGrid<T>::PartGrid(Stream& stream, const BoxGrid& whole, const BoxArray& layout) : array(layout) {
  for (std::size_t d = 0; d < 3; ++d) {
    const GridLine& line = whole.lines[d];
    std::vector<T> inverse, distances, lower_shares;
    std::vector<double> unrounded;
    for (Lid i = array.stored.lower[d]; i < array.stored.upper[d]; ++i) {
      unrounded.push_back(line.width(i));
      inverse.push_back(static_cast<T>(1 / line.width(i)));
      distances.push_back(static_cast<T>(1 / (i < line.cells() ? line.distance(i) : line.width(i))));
      lower_shares.push_back(static_cast<T>(i < line.cells() ? 0.5 * line.width(i) / line.distance(i) : 0.5));
    }
    widths[d] = make_buffer(stream, std::span<const double>(unrounded), "cell widths");
    inverse_widths[d] = make_buffer(stream, std::span<const T>(inverse), "cell widths");
    inverse_distances[d] = make_buffer(stream, std::span<const T>(distances), "distances of cells");
    shares[d] = make_buffer(stream, std::span<const T>(lower_shares), "shares of cells");
    if (d > 0) continue;
    const auto equal = [](const std::vector<T>& values) {
      return std::adjacent_find(values.begin(), values.end(), std::not_equal_to<>()) == values.end();
    };
    equal_along_x = equal(inverse) && equal(distances) && equal(lower_shares);
  }
}

template <class T>
GridView<T> PartGrid<T>::view() const {
  GridView<T> view{array, {}};
  for (std::size_t d = 0; d < 3; ++d)
    view.line[d] = {inverse_widths[d].data(), inverse_distances[d].data(), shares[d].data(), array.stored.lower[d]};
  return view;
}

template <class T>
CellWidths PartGrid<T>::cell_widths() const {
  CellWidths view;
  for (std::size_t d = 0; d < 3; ++d) {
    view.width[d] = widths[d].data();
    view.first[d] = array.stored.lower[d];
  }
  return view;
}

template <class T>
void predict(Kernels& to, FlowPart<T>& part, const FlowConstants<T>& constants, const StageWeights<T>& weights,
             const RowEnds<T>& ends) {
  const bool forced = !part.force[0].empty();
  const auto add = [&]<bool w, bool f>() { add_pass(to, part, predict_pass<w, f>(part, constants, weights, ends)); };
  if (part.warm)
    forced ? add.template operator()<true, true>() : add.template operator()<true, false>();
  else
    forced ? add.template operator()<false, true>() : add.template operator()<false, false>();
  for (std::size_t s = most_scalars_together; s < part.scalars.size(); s += most_scalars_together)
    add_pass(to, part,
             StepScalars<T>{part.grid.view(), part.velocity(), scalars_from(part, s, constants.diffuses), weights});
}

template <class T>
void pressure_right_hand_side(Kernels& to, FlowPart<T>& part, T dt) {
  add_pass(to, part, divergence_pass(part, dt));
}

template <class T>
void correct(Kernels& to, FlowPart<T>& part, T dt, const Gain<T>& gain, const RowEnds<T>& ends) {
  add_pass(to, part, correction_pass(part, dt, gain, ends));
}

#define TUTTI_INSTANTIATE(T)                                                                                         \
  template struct PartGrid<T>;                                                                                       \
  template void predict(Kernels&, FlowPart<T>&, const FlowConstants<T>&, const StageWeights<T>&, const RowEnds<T>&); \
  template void pressure_right_hand_side(Kernels&, FlowPart<T>&, T);                                                 \
  template void correct(Kernels&, FlowPart<T>&, T, const Gain<T>&, const RowEnds<T>&);
TUTTI_INSTANTIATE(double)
TUTTI_INSTANTIATE(float)
#undef TUTTI_INSTANTIATE

}  // namespace tutti::incompressible
