// Launches of stencils on every device. Compiles as plain C++ without CUDA.
#include "tutti/models/transport/stencils/sliced_stencils.hpp"

#include <algorithm>
#include <cstdint>
#include <utility>

#include "tutti/base/error.hpp"
#include "tutti/device/for_each.hpp"
#include "tutti/models/transport/stencils/stencil_rows_host.hpp"
#include "tutti/residency/residency.hpp"
#if defined(__CUDACC__)
#include "tutti/models/transport/stencils/stencil_rows_cuda.cuh"
#endif

namespace tutti::transport {
namespace {

#if defined(__CUDACC__)
/// By the number of tracers what bench_stencil_kernels found to be fastest on an H200, for stencils of 31 and of 101
/// nodes (docs/notebook/transport.md).
template <int operators, Joined joined, class Update>
void launch_by_threads(Stream& stream, const StencilView& view, int tracers, const double* u, const Update& update,
                       Range rows) {
  using namespace stencils_cuda;
  using Few = StencilTuning<32, 15>;
  using Four = StencilTuning<128, 2>;
  using More = StencilTuning<128, 4>;
  const bool pairs = tracers % 2 == 0 && view.values % 2 == 0;
  if (tracers == 1)
    launch_threads<operators, joined, 1, 1, false, Few>(stream, view, u, update, rows);
  else if (tracers == 2 && pairs)
    launch_threads<operators, joined, 1, 2, true, Few>(stream, view, u, update, rows);
  else if (tracers == 3)
    launch_threads<operators, joined, 1, 3, false, Few>(stream, view, u, update, rows);
  else if (tracers == 4 && pairs)
    launch_ahead<operators, joined, 2, 2, true, Four>(stream, view, u, update, rows, tracers);
  else if (pairs)
    launch_ahead<operators, joined, 4, 2, true, More>(stream, view, u, update, rows, tracers);
  else
    launch_ahead<operators, joined, 8, 1, false, More>(stream, view, u, update, rows, tracers);
}
#endif

/// Calls use with the number as a constant.
template <class Use>
void with_tracers(int tracers, const Use& use) {
  switch (tracers) {
    case 1:
      return use(std::integral_constant<int, 1>());
    case 2:
      return use(std::integral_constant<int, 2>());
    case 3:
      return use(std::integral_constant<int, 3>());
    case 4:
      return use(std::integral_constant<int, 4>());
    case 5:
      return use(std::integral_constant<int, 5>());
    case 6:
      return use(std::integral_constant<int, 6>());
    case 7:
      return use(std::integral_constant<int, 7>());
    default:
      require(tracers == 8, "{} tracers in one pass", tracers);
      return use(std::integral_constant<int, 8>());
  }
}

/// All tracers of some rows.
template <class Update>
struct ApplyStencils {
  StencilForm form;
  StencilView view;
  const double* u;
  Update update;

  void operator()(Stream& stream, Range rows) const {
    const int most = max_tracers_a_pass(form.kernel);
    for (int first = 0; first < view.values; first += most) {
      const int count = std::min(most, view.values - first);
      StencilView some = view;
      some.first = first;
      if (form.joined == Joined::velocity)
        launch<3, Joined::velocity>(stream, rows, some, count);
      else if (form.operators == 1)
        launch<1, Joined::summed>(stream, rows, some, count);
      else
        launch<2, Joined::summed>(stream, rows, some, count);
    }
  }
  template <int operators, Joined joined>
  void launch(Stream& stream, Range rows, const StencilView& some, int count) const {
    const bool by_warps = form.kernel == StencilKernel::warps;
#if defined(__CUDACC__)
    if (stream.kind() == DeviceKind::cuda) {
      if (by_warps)
        stencils_cuda::launch_warps<operators, joined>(stream, some, u, update, rows);
      else
        launch_by_threads<operators, joined>(stream, some, count, u, update, rows);
      return;
    }
#endif
    if (by_warps)
      return stream.loop(rows, [some, from = u, use = update](Lid begin, Lid end) {
        for (Lid row = begin; row < end; ++row) apply_stencil_by_lanes<operators, joined>(some, from, use, row);
      });
    if (stream.kind() == DeviceKind::host)
      return with_tracers(count, [&](auto number) {
        stream.loop(rows, [some, from = u, use = update](Lid begin, Lid end) {
          apply_stencils_on_host<operators, joined, decltype(number)::value>(some, from, use, {begin, end});
        });
      });
    // The plain loops, of fake devices: one tracer after the other.
    for (StencilView one = some; one.first < some.first + count; ++one.first)
      stream.loop(rows, [one, from = u, use = update](Lid begin, Lid end) {
        for (Lid row = begin; row < end; ++row) apply_stencil<operators, joined, 1>(one, from, use, row);
      });
  }
};

/// Four rows at a time, whose entries lie together: what a block of zfp has. Terms as apply_stencil takes them, for one
/// value of a node.
template <int operators, Joined joined, class Access, class Update>
struct FourStencils {
  StencilView view;
  Access weights;
  const double* u;
  Update update;
  Range rows;
  Lid all;

  TUTTI_HD void operator()(Lid four) const {
    const Lid first = 4 * four, lanes = 1 << view.shift, slice = first >> view.shift, lane = first & (lanes - 1);
    const auto unit = weights.row(first / held_nodes);
    const int begin = (first % held_nodes >> view.shift) * view.entries * operators * lanes + lane;
    double own[4], sums[4][operators] = {};
    for (int k = 0; k < 4; ++k)
      own[k] = first + k < all ? u[static_cast<Size>(first + k) * view.values + view.first] : 0;
    for (int j = 0; j < view.entries; ++j) {
      const Size at = ((static_cast<Size>(slice) * view.entries + j) << view.shift) + lane;
      double neighbour[4];
      for (int k = 0; k < 4; ++k) neighbour[k] = u[static_cast<Size>(view.columns[at + k]) * view.values + view.first];
      for (int d = 0; d < operators; ++d) {
        double weight[4];
        unit.load4(begin + (j * operators + d) * lanes, weight);
        for (int k = 0; k < 4; ++k) sums[k][d] = add_neighbour(weight[k], neighbour[k], own[k], sums[k][d]);
      }
    }
    for (int k = 0; k < 4; ++k) {
      const Lid row = first + k;
      if (row < rows.begin || row >= rows.end) continue;
      update(static_cast<Lid>(static_cast<Size>(row) * view.values + view.first), own[k],
             join_sums<operators, joined>(sums[k],
                                          view.along == nullptr ? nullptr : view.along + 2 * static_cast<Size>(row)));
    }
  }
};

/// Rows whose weights a policy keeps: 256 after 256, by the kernels that the others have, where they lie as doubles.
template <class Update>
struct ApplyHeldStencils {
  Residency* array;
  StencilForm form;
  StencilView view;
  const double* u;
  Update update;
  Lid all;

  void operator()(Stream& stream, Range range) const {
    if (range.empty()) return;
    for_each_chunk(
        *array, stream, {range.begin / held_nodes, held_units(range.end)}, [&](Range units, const auto& access) {
          apply(stream, {std::max(range.begin, units.begin * held_nodes), std::min(range.end, units.end * held_nodes)},
                access);
        });
  }
  template <class Access>
  void apply(Stream& stream, Range rows, const Access& access) const {
    if constexpr (Access::format == ValueFormat::doubles) {
      // The address that the first weight would have if they lay in one piece.
      const auto before = static_cast<std::uintptr_t>(access.first) *
                          static_cast<std::uintptr_t>(held_stencil_width(form)) * sizeof(double);
      StencilView here = view;
      here.weights = reinterpret_cast<const double*>(reinterpret_cast<std::uintptr_t>(access.data) - before);
      ApplyStencils<Update>{form, here, u, update}(stream, rows);
    } else if (form.joined == Joined::velocity) {
      apply_coded<3, Joined::velocity>(stream, rows, access);
    } else if (form.operators == 1) {
      apply_coded<1, Joined::summed>(stream, rows, access);
    } else {
      apply_coded<2, Joined::summed>(stream, rows, access);
    }
  }
  template <int operators, Joined joined, class Access>
  void apply_coded(Stream& stream, Range rows, const Access& access) const {
    for (int first = 0; first < view.values; ++first) {
      StencilView one = view;
      one.first = first;
      for_each(stream, {rows.begin / 4, (rows.end + 3) / 4},
               FourStencils<operators, joined, Access, Update>{one, access, u, update, rows, all});
    }
  }
};

}  // namespace

void SlicedStencils::store(Stream& stream, RawVector<double>& weights, std::span<const Lid> columns,
                           const HoldStencils* hold) {
  columns_ = make_buffer(stream, columns, "columns of stencils");
  if (hold == nullptr || rows_ == 0) {
    weights_ = make_buffer(stream, std::span<const double>(weights), "weights of stencils");
    return;
  }
  require(form_.kernel == StencilKernel::threads || is_exact(hold->options.format),
          "weights in fewer bits are for kernels of threads");
  const std::size_t there = weights.size();
  weights.resize(static_cast<std::size_t>(held_units(rows_)) * static_cast<std::size_t>(held_stencil_width(form_)));
  std::fill(weights.begin() + static_cast<std::ptrdiff_t>(there), weights.end(), 0.0);
  ResidencyOptions options = hold->options;
  options.group = held_stencil_group;
  Choice choice = make_residency(
      stream, row_source("weights of stencils", held_stencil_width(form_), weights), options, [&](Residency& array) {
        const StencilView view = {nullptr, columns_.data(), hold->along, form_.size - 1, shift_, hold->tracers, 0};
        ApplyHeldStencils<StoreRate>{&array, form_, view, hold->u, {hold->rates}, rows_}(stream, {0, rows_});
      });
  held_ = std::move(choice.residency);
  trials_ = std::move(choice.trials);
}

Size SlicedStencils::bytes_applied(int tracers) const {
  const int most = max_tracers_a_pass(form_.kernel), passes = (tracers + most - 1) / most;
  return Size{rows_} * ((form_.size - 1) * (8 * form_.operators + 4) * passes + 8 * tracers);
}

template <class Update>
void SlicedStencils::apply(Stream& stream, Range rows, int tracers, const double* u, const double* along,
                           const Update& update) const {
  Kernels kernels;
  add(kernels, tracers, u, along, update);
  kernels.enqueue(stream, {}, rows);
}

template <class Update>
void SlicedStencils::add(Kernels& to, int tracers, const double* u, const double* along, const Update& update) const {
  if (held_)
    return to.add(ApplyHeldStencils<Update>{
        held_.get(), form_, {nullptr, columns_.data(), along, form_.size - 1, shift_, tracers, 0}, u, update, rows_});
  to.add(ApplyStencils<Update>{
      form_, {weights_.data(), columns_.data(), along, form_.size - 1, shift_, tracers, 0}, u, update});
}

#define TUTTI_INSTANTIATE(Update)                                                                              \
  template void SlicedStencils::apply(Stream&, Range, int, const double*, const double*, const Update&) const; \
  template void SlicedStencils::add(Kernels&, int, const double*, const double*, const Update&) const;
TUTTI_INSTANTIATE(RungeKuttaFirst)
TUTTI_INSTANTIATE(RungeKuttaMiddle)
TUTTI_INSTANTIATE(RungeKuttaLast)
TUTTI_INSTANTIATE(SspRk3Stage)
TUTTI_INSTANTIATE(StoreRate)
#undef TUTTI_INSTANTIATE

}  // namespace tutti::transport
