// Launches of direct_kernels.cuh. Compiles as plain C++ without CUDA, where it is never called.
#include "tutti/models/incompressible/pressure/direct/direct_gpu.hpp"

#include <algorithm>

#include "tutti/models/incompressible/pressure/direct/column_modes.hpp"
#include "tutti/models/incompressible/pressure/direct/fast_group.hpp"
#if defined(__CUDACC__)
#include "tutti/device/cuda/shared_memory.hpp"
#include "tutti/models/incompressible/pressure/direct/columns_cuda.cuh"
#include "tutti/models/incompressible/pressure/direct/direct_kernels.cuh"
#include "tutti/models/incompressible/pressure/direct/fast_power_cuda.cuh"
#endif

namespace tutti::incompressible {
namespace {

constexpr Lid panel_rows = 64;  // of a tile

std::size_t panels_size(Lid size) {
  return static_cast<std::size_t>((size + panel_rows - 1) / panel_rows * panel_rows) * static_cast<std::size_t>(size);
}

/// [panel][column][row of the panel], 0 where there is no row.
template <class T>
Buffer<T> upload_panels(Stream& stream, const std::vector<double>& matrix, Lid size) {
  std::vector<T> values(panels_size(size), T(0));
  for (Lid row = 0; row < size; ++row)
    for (Lid j = 0; j < size; ++j)
      values[(static_cast<std::size_t>(row / panel_rows) * size + j) * panel_rows + row % panel_rows] =
          static_cast<T>(matrix[static_cast<std::size_t>(row) * size + j]);
  return make_buffer(stream, std::span<const T>(values), "matrices of the direct solver");
}

/// Columns that are eliminated together: a row of them is a line of memory.
template <class T>
constexpr int group_columns = 128 / static_cast<int>(sizeof(T));
/// Groups whose factors are kept, at most: more are no tail behind the others. `groups` of all columns.
Size most_known_groups(Size groups) {
  return std::max<Size>(groups / 10, 16);
}

template <class T, class U>
Buffer<T> upload_as(Stream& stream, const std::vector<U>& values) {
  const std::vector<T> rounded(values.begin(), values.end());
  return make_buffer(stream, std::span<const T>(rounded), "the direct solver's columns");
}

#if defined(__CUDACC__)
static_assert(panel_rows == direct::tile_rows);
static_assert(group_columns<float> == direct::ColumnCut<float>::columns &&
              group_columns<double> == direct::ColumnCut<double>::columns);

template <LineAxis axis, direct::Halves halves, class T>
void launch_transform(Stream& stream, const direct::Panels<T>& panels, const direct::Lines<const T>& in,
                      const direct::Lines<T>& out, Lid lines) {
  if (lines == 0) return;
  const auto tiles = [](Lid count, int of) { return (count + of - 1) / of; };
  const Lid row_tiles = tiles(panels.even, direct::tile_rows);
  cuda::launch(stream, direct::transform_kernel<T, axis, halves>, row_tiles * tiles(lines, direct::tile_lines),
               direct::block_threads, 0, panels, in, out, lines, row_tiles);
}

/// False: nothing was done, for the GPU has not the shared memory. In: ArrayLines or, along x, DivergenceLines.
template <int exponent, LineAxis axis, class T, class In>
bool launch_power(Stream& stream, const FastLineView<T>& fast, const In& in, const direct::Lines<T>& out, Lid lines) {
  if constexpr (axis == LineAxis::x) {
    using Cut = direct::RowsOfPower<T, exponent>;
    constexpr int a_block = Cut::teams * Cut::team_lines;
    cuda::launch(stream, direct::power_rows_kernel<T, exponent, In>, (lines + a_block - 1) / a_block, Cut::threads, 0,
                 fast, in, out, lines);
  } else {
    using Cut = direct::ColumnsOfPower<T, exponent>;
    if (Cut::bytes > cuda::most_shared_memory(stream.device().index())) return false;
    const auto kernel = direct::power_columns_kernel<T, exponent>;
    cuda::allow_shared_memory(kernel, Cut::bytes);
    cuda::launch(stream, kernel, (lines + Cut::lines - 1) / Cut::lines, Cut::threads, Cut::bytes, fast, in.in, out,
                 lines);
  }
  return true;
}
/// For lines of 2^exponent points, 2^(exponent + 1) and so on; false: nothing was done, for the line is none of them or
/// the GPU has not the shared memory.
template <LineAxis axis, int exponent = direct::least_power, class T, class In>
bool launch_as_power(Stream& stream, const FastLineView<T>& fast, const In& in, const direct::Lines<T>& out,
                     Lid lines) {
  if constexpr (exponent > direct::most_power) {
    return false;
  } else {
    if (!direct::PowerPlan<exponent>::is_plan_of(fast))
      return launch_as_power<axis, exponent + 1>(stream, fast, in, out, lines);
    return launch_power<exponent, axis>(stream, fast, in, out, lines);
  }
}

/// Both transforms of columns and the division between them; false: nothing was done, as above.
template <int exponent = direct::least_power, class T>
bool launch_column_modes(Stream& stream, const FastLineView<T>& to, const FastLineView<T>& from, const T* along,
                         const T* lambda, const direct::Lines<T>& columns, Lid count) {
  if constexpr (exponent > direct::most_power) {
    return false;
  } else {
    if (!direct::PowerPlan<exponent>::is_plan_of(to))
      return launch_column_modes<exponent + 1>(stream, to, from, along, lambda, columns, count);
    using Cut = direct::ColumnsOfPower<T, exponent>;
    if (Cut::bytes > cuda::most_shared_memory(stream.device().index())) return false;
    const auto kernel = direct::power_modes_kernel<T, exponent>;
    cuda::allow_shared_memory(kernel, Cut::bytes);
    cuda::launch(stream, kernel, (count + Cut::lines - 1) / Cut::lines, Cut::threads, Cut::bytes, to, from, along,
                 lambda, columns, count);
    return true;
  }
}

/// `points`: those of the plan, or 0.
template <LineAxis axis, Lid points, class T, class In>
bool launch_group(Stream& stream, const FastLineView<T>& fast, const In& in, const direct::Lines<T>& out, Lid lines) {
  if (points > 0 && points != fast.points) return false;
  const int exponent = fast_lines_exponent<T>(fast.points), group = 1 << exponent;
  cuda::launch(stream, direct::fast_transform_kernel<T, axis, points, In>, (lines + group - 1) / group,
               direct::block_threads, fast_values(fast.points, group) * sizeof(T), fast, in, out, lines, exponent);
  return true;
}
template <LineAxis axis, Lid... points, class T, class In>
void launch_group_of(std::integer_sequence<Lid, points...>, Stream& stream, const FastLineView<T>& fast, const In& in,
                     const direct::Lines<T>& out, Lid lines) {
  if (!(launch_group<axis, points>(stream, fast, in, out, lines) || ...))
    launch_group<axis, 0>(stream, fast, in, out, lines);
}

template <LineAxis axis, class T, class In>
void launch_fast(Stream& stream, const FastLineView<T>& fast, const In& in, const direct::Lines<T>& out, Lid lines) {
  if (lines == 0) return;
  const cuda::CurrentDevice current(stream.device().index());
  if (!launch_as_power<axis>(stream, fast, in, out, lines))
    launch_group_of<axis>(direct::FrequentPoints(), stream, fast, in, out, lines);
}

template <LineAxis axis, class T>
void launch(Stream& stream, const FastLineView<T>& fast, Transform transform, bool split,
            const direct::Panels<T>& panels, const direct::Lines<const T>& in, const direct::Lines<T>& out, Lid lines) {
  using direct::Halves;
  if (fast.points > 0)
    launch_fast<axis>(stream, fast, direct::ArrayLines<T>{in}, out, lines);
  else if (!split)
    launch_transform<axis, Halves::none>(stream, panels, in, out, lines);
  else if (transform == Transform::to_modes)
    launch_transform<axis, Halves::fold>(stream, panels, in, out, lines);
  else
    launch_transform<axis, Halves::unfold>(stream, panels, in, out, lines);
}

/// The rows of planes `range`, as lines along x.
template <class T>
direct::Lines<T> rows(const PlanesOfRows<T>& planes, Lid ny, Range range) {
  return {planes.first + range.begin * planes.plane, planes.plane, planes.row, 1, ny};
}
template <class T>
void launch_turn(Stream& stream, const direct::Turn<T>& turn) {
  const auto tiles = [](Lid count) { return (count + direct::turn_tile - 1) / direct::turn_tile; };
  const Lid along_i = tiles(turn.sizes[0]), along_k = tiles(turn.sizes[2]);
  const Size blocks = Size{along_i} * along_k * turn.sizes[1];
  if (blocks == 0) return;
  cuda::launch(stream, direct::turn_kernel<T>, static_cast<unsigned>(blocks),
               dim3(direct::turn_tile, direct::turn_rows), 0, turn, along_i, along_k);
}

/// The columns of planes `range`, as lines along y.
template <class T>
direct::Lines<T> columns(T* values, Lid nx, Lid ny, Range range) {
  const Size plane = Size{nx} * ny;
  return {values + range.begin * plane, plane, 1, nx, nx};
}
#endif

}  // namespace

template <class T>
typename DirectGpu<T>::Fast DirectGpu<T>::upload_fast(Stream& stream, const FastLine& line) {
  const RoundedFastLine<T> rounded(line);
  std::vector<FastMix<T>> mixes = rounded.before;
  mixes.insert(mixes.end(), rounded.after.begin(), rounded.after.end());
  std::vector<Lid> places = rounded.in;
  places.insert(places.end(), rounded.out.begin(), rounded.out.end());
  Fast fast{rounded.view(), make_buffer(stream, std::span<const T>(rounded.twiddles), "factors of fast transforms"),
            make_buffer(stream, std::span<const FastMix<T>>(mixes), "factors of fast transforms"),
            make_buffer(stream, std::span<const Lid>(places), "places of fast transforms")};
  fast.view.twiddles = fast.twiddles.data();
  if (fast.view.before != nullptr) fast.view.before = fast.mixes.data();
  if (fast.view.after != nullptr) fast.view.after = fast.mixes.data() + rounded.before.size();
  fast.view.in = fast.places.data();
  fast.view.out = fast.places.data() + rounded.in.size();
  return fast;
}

template <class T>
typename DirectGpu<T>::LineOnGpu DirectGpu<T>::upload_line(Stream& stream, const LineModes& modes) {
  LineOnGpu line;
  line.even = modes.even_size();
  line.odd = modes.odd_size();
  line.split = modes.split;
  if (modes.fast.size > 0) {
    line.fast_to = upload_fast(stream, modes.fast);
    line.fast_from = upload_fast(stream, transposed(modes.fast));
    return line;
  }
  const auto matrix = [&](const LineMatrix& of) {
    return Matrix{upload_panels<T>(stream, of.even, line.even), upload_panels<T>(stream, of.odd, line.odd)};
  };
  line.to_modes = matrix(modes.to_modes);
  line.from_modes = matrix(modes.from_modes);
  return line;
}

template <class T>
DirectGpu<T>::DirectGpu(Stream& stream, const LineModes& x, const LineModes& y, const LineOperator& z,
                        std::span<const T> lambda, Lid planes, Range rows, std::span<const T> lost,
                        const LineModes& along_z)
    : x_(upload_line(stream, x)),
      y_(upload_line(stream, y)),
      z_(along_z.size > 0 ? upload_line(stream, along_z) : LineOnGpu{}),
      along_z_(upload_as<T>(stream, along_z.eigenvalues)),
      cyclic_(z.cyclic),
      singular_(z.singular),
      nz_(z.size()),
      rows_(rows.empty() ? Range{0, z.size()} : rows),
      equal_(equal_rows(z, rows_)),
      widths_(upload_as<T>(stream, z.widths)),
      conductance_(upload_as<T>(stream, z.conductance)),
      lambda_(make_buffer(stream, lambda, "the direct solver's columns")),
      exact_widths_(upload_as<double>(stream, z.widths)) {
  require(stream.kind() == DeviceKind::cuda, "{} is no GPU", stream.device().name());
  std::vector<double> distances;
  for (const double g : z.conductance) distances.push_back(g > 0 ? 1 / g : 0);
  distances_ = upload_as<double>(stream, distances);
  if (singular_) {
    const auto null = std::find(lambda.begin(), lambda.end(), T(0));
    if (null != lambda.end()) null_column_ = static_cast<Lid>(null - lambda.begin());
    require(std::count(lambda.begin(), lambda.end(), T(0)) <= 1, "two constant modes");
  }
  const auto columns = static_cast<Size>(lambda.size());
  const Size ratios = z_.size() > 0 ? 0 : columns * rows_.size();
  scratch_ =
      Buffer<T>(stream.device(), std::max(Size{x.size} * y.size * planes, ratios), "the direct solver's scratch");
  if (!is_whole()) {
    require(!cyclic_ && (rows_.begin == 0 || lost.size() == lambda.size()),
            "a part of a cyclic line, or no lost of the rows before");
    lost_ = make_buffer(stream, lost, "the direct solver's columns");
  }
  if (rows_.end < nz_) {
    even_ = Buffer<T>(stream.device(), columns, "the direct solver's columns");
    odd_ = Buffer<T>(stream.device(), columns, "the direct solver's columns");
    settled_ = Buffer<std::int32_t>(stream.device(), columns, "the direct solver's columns");
  }
#if defined(__CUDACC__)
  columns_fit_ =
      !cyclic_ && direct::ColumnCut<T>::bytes(rows_.size()) <= cuda::most_shared_memory(stream.device().index());
  if (columns_fit_) find_factors(stream);
#endif
  if (cyclic_ && z_.size() == 0) slacks_ = Buffer<T>(stream.device(), columns * nz_, "the direct solver's slacks");
}

template <class T>
Range DirectGpu<T>::equal_rows(const LineOperator& z, Range part) {
  const auto same = [](double a, double b) { return static_cast<T>(a) == static_cast<T>(b); };
  const auto as_before = [&](Lid k) {
    const auto i = static_cast<std::size_t>(k);
    return same(z.widths[i], z.widths[i - 1]) && same(z.conductance[i], z.conductance[i - 1]) &&
           same(z.conductance[i + 1], z.conductance[i]);
  };
  Range rows{1, 1};
  while (rows.begin < z.size() && !as_before(rows.begin)) ++rows.begin;
  for (rows.end = rows.begin; rows.end < z.size() && as_before(rows.end);) ++rows.end;
  rows = {std::max(rows.begin - part.begin, Lid{1}), std::min(rows.end - part.begin, part.size())};
  return rows.begin < rows.end ? rows : Range{1, 1};
}

template <class T>
void DirectGpu<T>::copy_planes(Stream& stream, const T* from, T* to, Range range) const {
  const Size plane = Size{x_.size()} * y_.size();
  stream.copy(to + range.begin * plane, from + range.begin * plane,
              static_cast<std::size_t>(range.size() * plane) * sizeof(T), CopyDirection::local);
}

template <class T>
TridiagonalView<T> DirectGpu<T>::whole_line() const {
  return {nz_, cyclic_, singular_, widths_.data(), conductance_.data(), exact_widths_.data(), distances_.data()};
}

#if defined(__CUDACC__)
/// Of groups of columns whose factors need long to settle, where these are few; of all groups where lengths differ.
template <class T>
void DirectGpu<T>::find_factors(Stream& stream) {
  const Lid columns = static_cast<Lid>(lambda_.size()), slow_rows = std::max<Lid>(32, rows_.size() / 4);
  const int width = group_columns<T>;
  const auto groups = static_cast<std::size_t>((columns + width - 1) / width);
  if (groups == 0) return;
  const T* const lost = rows_.begin > 0 ? lost_.data() : nullptr;
  std::vector<std::int32_t> slots(groups, -1), slow;
  known_groups_ = make_buffer(stream, std::span<const std::int32_t>(slots), "groups of columns");
  const bool settle = 2 * equal_.size() >= rows_.size();
  std::vector<std::int32_t> settled(groups, rows_.size());
  if (settle) {
    cuda::launch(stream, direct::settling_kernel<T>, static_cast<unsigned>(groups), width, 0, line(), equal_,
                 lambda_.data(), lost, columns, null_column_, known_groups_.data());
    download(stream, std::span<std::int32_t>(settled), known_groups_);
  }
  for (std::size_t g = 0; g < groups; ++g)
    if (settled[g] > slow_rows || !settle) slow.push_back(static_cast<std::int32_t>(g));
  const auto count = static_cast<Size>(slow.size());
  if (count > 0 && (!settle || count <= most_known_groups(static_cast<Size>(groups)))) {
    for (std::size_t slot = 0; slot < slow.size(); ++slot)
      slots[static_cast<std::size_t>(slow[slot])] = static_cast<std::int32_t>(slot);
    known_ =
        Buffer<T>(stream.device(), count * rows_.size() * direct::KnownFactors<T>::row, "the direct solver's factors");
    const Buffer<std::int32_t> numbers = make_buffer(stream, std::span<const std::int32_t>(slow), "groups of columns");
    cuda::launch(stream, direct::known_factors_kernel<T>, static_cast<unsigned>(count), width, 0, line(),
                 lambda_.data(), lost, columns, numbers.data(), known_.data());
    stream.synchronize();
  }
  upload(stream, known_groups_, std::span<const std::int32_t>(slots));
}

template <class T>
void DirectGpu<T>::to_modes(Stream& stream, const PlanesOfRows<const T>& from, T* values, Range range) {
  if (range.empty()) return;
  const Lid nx = x_.size(), ny = y_.size();
  const PlanesOfRows<T> between{scratch_.data(), nx, Size{nx} * ny};
  launch<LineAxis::x, T>(stream, x_.fast_to.view, Transform::to_modes, x_.split,
                         {x_.to_modes.even.data(), x_.to_modes.odd.data(), x_.even, x_.odd}, rows(from, ny, range),
                         rows(between, ny, range), range.size() * ny);
  to_modes_along_y(stream, values, range);
}

template <class T>
void DirectGpu<T>::divide_to_modes(Stream& stream, const DivergenceRows<T>& from, T* values, Range range) {
  if (range.empty()) return;
  const Lid nx = x_.size(), ny = y_.size();
  const PlanesOfRows<T> between{scratch_.data(), nx, Size{nx} * ny};
  launch_fast<LineAxis::x>(stream, x_.fast_to.view, direct::DivergenceLines<T>{from, ny, range.begin},
                           rows(between, ny, range), range.size() * ny);
  to_modes_along_y(stream, values, range);
}

/// From the scratch.
template <class T>
void DirectGpu<T>::to_modes_along_y(Stream& stream, T* values, Range range) {
  const Lid nx = x_.size(), ny = y_.size();
  if (ny == 1) return copy_planes(stream, scratch_.data(), values, range);
  launch<LineAxis::y, T>(stream, y_.fast_to.view, Transform::to_modes, y_.split,
                         {y_.to_modes.even.data(), y_.to_modes.odd.data(), y_.even, y_.odd},
                         columns<const T>(scratch_.data(), nx, ny, range), columns(values, nx, ny, range),
                         range.size() * nx);
}

template <class T>
void DirectGpu<T>::from_modes(Stream& stream, T* values, const PlanesOfRows<T>& to, Range range) {
  if (range.empty()) return;
  const Lid nx = x_.size(), ny = y_.size();
  if (ny == 1)
    copy_planes(stream, values, scratch_.data(), range);
  else
    launch<LineAxis::y, T>(stream, y_.fast_from.view, Transform::from_modes, y_.split,
                           {y_.from_modes.even.data(), y_.from_modes.odd.data(), y_.even, y_.odd},
                           columns<const T>(values, nx, ny, range), columns(scratch_.data(), nx, ny, range),
                           range.size() * nx);
  const PlanesOfRows<const T> between{scratch_.data(), nx, Size{nx} * ny};
  launch<LineAxis::x, T>(stream, x_.fast_from.view, Transform::from_modes, x_.split,
                         {x_.from_modes.even.data(), x_.from_modes.odd.data(), x_.even, x_.odd},
                         rows(between, ny, range), rows(to, ny, range), range.size() * ny);
}

template <class T>
void DirectGpu<T>::turn_from(Stream& stream, const TurnedPlanes<const T>& from, T* values, Range range) {
  const Size nx = x_.size(), plane = nx * y_.size();
  launch_turn<T>(stream, {from.first + range.begin,
                          from.row,
                          from.step,
                          values + range.begin * plane,
                          nx,
                          plane,
                          {range.size(), y_.size(), x_.size()}});
}

template <class T>
void DirectGpu<T>::turn_to(Stream& stream, const T* values, const TurnedPlanes<T>& to, Range range) {
  const Size nx = x_.size(), plane = nx * y_.size();
  launch_turn<T>(stream, {values + range.begin * plane,
                          nx,
                          plane,
                          to.first + range.begin,
                          to.row,
                          to.step,
                          {x_.size(), y_.size(), range.size()}});
}

template <class T>
struct DirectGpu<T>::Elimination {
  DirectGpu& of;
  template <direct::Sweep sweep, class Rows>
  void run(Stream& stream, const Rows& rows, Range range) const;
};

template <class T>
template <direct::Sweep sweep, class Rows>
void DirectGpu<T>::Elimination::run(Stream& stream, const Rows& rows, Range range) const {
  if (range.empty()) return;
  constexpr bool apart = Rows::some_apart;
  const TridiagonalView<T> view = of.line();
  const direct::PartColumns<T> part{of.rows_.begin == 0, of.rows_.end == of.nz_, of.lost_.data(),
                                    of.settled_.data(),  of.even_.data(),        of.odd_.data()};
  const Size stride = of.lambda_.size();
  const Lid null = of.null_column_;
  const cuda::CurrentDevice current(stream.device().index());
  const bool with_null = of.is_whole() && null >= range.begin && null < range.end;
  if (of.columns_fit_) {
    using Cut = direct::ColumnCut<T>;
    const auto kernel = direct::columns_kernel<T, apart, sweep>;
    const std::size_t bytes = Cut::bytes(view.size);
    cuda::allow_shared_memory(kernel, bytes);
    const Lid groups = (range.end - 1) / Cut::columns - range.begin / Cut::columns + 1;
    const direct::KnownFactors<T> known{of.known_groups_.data(), of.known_.data()};
    cuda::launch(stream, kernel, groups + (with_null ? 1 : 0), Cut::threads, bytes, view, part, of.equal_,
                 of.lambda_.data(), known, rows, of.scratch_.data(), stride, range, null, rows.aligned());
    return;
  }
  constexpr int block = 128;
  const int blocks = (range.size() + block - 1) / block;
  const auto go = [&](auto kernel) {
    cuda::launch(stream, kernel, blocks, block, 0, view, part, of.lambda_.data(), rows, of.scratch_.data(),
                 of.cyclic_ ? of.slacks_.data() : nullptr, stride, range, null);
  };
  if (sweep != direct::Sweep::both || !of.cyclic_)
    go(direct::eliminate_kernel<T, false, apart, sweep>);
  else
    go(direct::eliminate_kernel<T, true, apart, direct::Sweep::both>);
  if (with_null) of.launch_null(stream, rows, null, rows, null);
}

/// The constant column, which is column `null` of `rows`, to column `there` of `to`.
template <class T>
template <class Rows>
void DirectGpu<T>::launch_null(Stream& stream, const Rows& rows, Lid null, const Rows& to, Lid there) {
  constexpr std::size_t room = 48 << 10;
  const std::size_t bytes = static_cast<std::size_t>(direct::null_column_room(nz_)) * sizeof(double);
  const bool fits = bytes <= room;
  cuda::launch(stream, direct::null_column_kernel<T, Rows::some_apart>, 1, 128, fits ? bytes : 0, whole_line(), rows,
               null, fits, to, there, rows_);
}

template <class T>
void DirectGpu<T>::eliminate(Stream& stream, const ColumnRows<T>& rows, Range range) {
  require(z_.size() == 0, "columns with modes are not eliminated");
  const Elimination elimination{*this};
  if (rows.apart.empty())
    elimination.template run<direct::Sweep::both>(stream, direct::GpuRows<T, false>(rows), range);
  else
    elimination.template run<direct::Sweep::both>(stream, direct::GpuRows<T, true>(rows), range);
}
template <class T>
void DirectGpu<T>::solve_by_modes(Stream& stream, T* values, Range range) {
  require(z_.size() > 0, "no modes of columns");
  if (range.empty()) return;
  const auto all = static_cast<Lid>(lambda_.size()), count = range.size();
  const cuda::CurrentDevice current(stream.device().index());
  const direct::Lines<T> lines{values + range.begin, 0, 1, all, count};
  const T* const lambda = lambda_.data() + range.begin;
  if (launch_column_modes(stream, z_.fast_to.view, z_.fast_from.view, along_z_.data(), lambda, lines, count)) return;
  const direct::Lines<const T> same{lines.first, lines.plane, lines.line, lines.step, lines.per_plane};
  launch_fast<LineAxis::y>(stream, z_.fast_to.view, direct::ArrayLines<T>{same}, lines, count);
  constexpr int block = 256;
  const Size cells = Size{count} * nz_;
  cuda::launch(stream, direct::divide_modes_kernel<T>, static_cast<unsigned>((cells + block - 1) / block), block, 0,
               lines, along_z_.data(), lambda, count, nz_);
  launch_fast<LineAxis::y>(stream, z_.fast_from.view, direct::ArrayLines<T>{same}, lines, count);
}
template <class T>
void DirectGpu<T>::eliminate_up(Stream& stream, const ColumnRows<T>& rows, Range range) {
  Elimination{*this}.template run<direct::Sweep::up>(stream, direct::GpuRows<T, false>(rows), range);
}
template <class T>
void DirectGpu<T>::substitute_down(Stream& stream, const ColumnRows<T>& rows, Range range) {
  Elimination{*this}.template run<direct::Sweep::down>(stream, direct::GpuRows<T, false>(rows), range);
}
template <class T>
void DirectGpu<T>::solve_null(Stream& stream, T* column, const ColumnRows<T>& rows) {
  const cuda::CurrentDevice current(stream.device().index());
  launch_null(stream, direct::GpuRows<T, false>(ColumnRows<T>{column, 1}), 0, direct::GpuRows<T, false>(rows),
              null_column_);
}
#else
template <class T>
void DirectGpu<T>::to_modes(Stream&, const PlanesOfRows<const T>&, T*, Range) {}
template <class T>
void DirectGpu<T>::divide_to_modes(Stream&, const DivergenceRows<T>&, T*, Range) {}
template <class T>
void DirectGpu<T>::from_modes(Stream&, T*, const PlanesOfRows<T>&, Range) {}
template <class T>
void DirectGpu<T>::turn_from(Stream&, const TurnedPlanes<const T>&, T*, Range) {}
template <class T>
void DirectGpu<T>::turn_to(Stream&, const T*, const TurnedPlanes<T>&, Range) {}
template <class T>
void DirectGpu<T>::eliminate(Stream&, const ColumnRows<T>&, Range) {}
template <class T>
void DirectGpu<T>::solve_by_modes(Stream&, T*, Range) {}
template <class T>
void DirectGpu<T>::eliminate_up(Stream&, const ColumnRows<T>&, Range) {}
template <class T>
void DirectGpu<T>::substitute_down(Stream&, const ColumnRows<T>&, Range) {}
template <class T>
void DirectGpu<T>::solve_null(Stream&, T*, const ColumnRows<T>&) {}
#endif

Size direct_gpu_values(const Line& x, const Line& y, const Line& z, Size columns, Lid planes, Lid rows) {
  const auto matrices = [](const Line& line) {
    if (has_fast_transform(line)) return Size{2} * 7 * line.size();  // factors and places there and back, at most
    const Lid even = is_symmetric(line) && line.size() > 1 ? line.size() - line.size() / 2 : line.size();
    return static_cast<Size>(2 * (panels_size(even) + panels_size(line.size() - even)));
  };
  const bool by_modes = has_column_modes(z), cyclic = z.periodic() && z.size() > 1;
  constexpr Size group = group_columns<float>;
  const Size whole_groups = (columns + group - 1) / group,
             known_groups =
                 is_uniform(z) && rows > 3 ? std::min(whole_groups, most_known_groups(whole_groups)) : whole_groups;
  const Size known = cyclic ? 0 : rows * group * known_groups, kept = rows < z.size() ? 4 * columns : 0;
  const Size scratch = Size{x.size()} * y.size() * planes;
  if (by_modes) return matrices(x) + matrices(y) + matrices(z) + z.size() + columns + scratch;
  return known + kept + matrices(x) + matrices(y) + columns + std::max(scratch, columns * rows) +
         (cyclic ? columns * rows : 0);
}

template class DirectGpu<double>;
template class DirectGpu<float>;

}  // namespace tutti::incompressible
