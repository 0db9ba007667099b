// The direct solver over parts. The grid is cut into whole planes for the transforms along two directions. The
// elimination along the third passes through the parts of the flow where these are whole planes (ColumnWaves): a row of
// each column travels. Else planes become whole columns: what travels is all of it, in pieces, each while the next is
// computed. Bits do not depend on the cuts.
#include <algorithm>

#include "tutti/models/incompressible/pressure/direct/direct_layout.hpp"
#include "tutti/models/incompressible/pressure/direct/direct_work.hpp"
#include "tutti/models/incompressible/pressure/pressure.hpp"

namespace tutti::incompressible {
namespace {

/// Units of work a plane, so that the pieces that a Step deals out, of 512 units or more, are worth it.
Lid units_of_plane(Size cells) {
  return static_cast<Lid>(std::clamp<Size>(cells / 16, 1, 512));
}

/// Rows of diffusion that take a CPU as long, about: by it work is dealt out to threads. Multiply-adds of transforms,
/// and a column of so many rows.
int cost_of(Size multiply_adds) {
  return static_cast<int>(std::max<Size>(1, multiply_adds / 128));
}
int cost_of_column(Lid rows) {
  return std::max(1, rows / 8);
}

template <class T>
class Direct final : public PressureSolver<T> {
 public:
  explicit Direct(const PressureProblem<T>& problem);
  void solve(double scale) override;
  bool divides() const override { return aligned_ && layout_.order[0] == 0 && x_to_modes_.is_fast(); }
  void solve_divided(T dt) override;
  std::string describe() const override { return "direct solver"; }
  std::vector<const Step*> steps() const override {
    std::vector<const Step*> all;
    for (const auto* pass : {gather_.get(), forward_.get(), columns_.get(), backward_.get()})
      if (pass != nullptr) all.push_back(&pass->step());
    all.push_back(&ends_.step());
    return all;
  }
  ExchangeCounts exchanged() const override {
    ExchangeCounts counts;
    const auto add = [&](const Transfer& one) {
      if (one != nullptr) add_counts(counts, one->counts_per_exchange(), solves_);
    };
    add(to_planes_);
    add(to_null_);
    for (const auto* pieces : {&to_columns_, &back_to_planes_, &behind_waves_})
      for (const Transfer& piece : *pieces) add(piece);
    add(to_pressure_);
    return counts;
  }

 private:
  using Boxes = std::vector<CellBox>;
  using Transfer = std::unique_ptr<BoxTransfer<T>>;
  Transfer transfer(const Boxes& from, const std::vector<Boxes>& wanted, const std::vector<BoxArray>& from_arrays,
                    const std::vector<BoxArray>& to_arrays);
  Transfer turned_transfer(const Boxes& from, const std::vector<Boxes>& wanted,
                           const std::vector<BoxArray>& from_arrays, const std::vector<BoxArray>& to_arrays,
                           PlanTurn turn);
  std::unique_ptr<Pass> pass(const std::string& name, std::vector<PassPart> parts, std::vector<BoxTransfer<T>*> behind,
                             int row_cost, PieceOrder order = PieceOrder::computed);
  template <class RangeOf>
  std::vector<PassPart> in_pieces(int pieces, const RangeOf& range_of) const;
  std::vector<PassPart> from_the_ends() const;
  Range units_of(std::size_t p, const CellBox& planes) const;
  int unit_cost() const { return cost_of((nx_ * y_to_modes_.work() + ny_ * x_to_modes_.work()) / plane_units_); }
  Range numbers_of(std::size_t p, const CellBox& columns) const;
  ColumnRows<T> column_rows(std::size_t p);
  void make_layouts();
  void make_null_columns();
  void make_passes();
  void make_transposes(std::vector<BoxTransfer<T>*>& behind_planes, std::vector<BoxTransfer<T>*>& behind_columns);
  void make_waves(std::vector<BoxTransfer<T>*>& behind_planes);
  void solve_modes();
  PlaneWork<T> plane_work(std::size_t p, const LineTransform<T>& x, const LineTransform<T>& y);
  std::size_t part(std::size_t p) const { return static_cast<std::size_t>(problem_.domain.parts.mine[p]); }
  /// In the solver's own order.
  CellBox own_planes(std::size_t p) const { return layout_.turned(plane_boxes_[part(p)]); }
  Lid planes(std::size_t p) const { return own_planes(p).size(2); }
  Size columns_of(std::size_t p) const {
    const CellBox& columns = column_arrays_[p].stored;
    return Size{columns.size(0)} * columns.size(1);
  }
  T* first_plane(std::size_t p) {
    const CellBox own = own_planes(p);
    return own.empty() ? nullptr
                       : plane_values_[p].data() + plane_arrays_[p].at(own.lower[0], own.lower[1], own.lower[2]);
  }

  PressureProblem<T> problem_;
  DirectLayout layout_;
  Lid nx_, ny_;  ///< of a plane
  Lid plane_units_;
  Boxes plane_boxes_, column_boxes_;
  std::vector<BoxArray> plane_arrays_, column_arrays_;  ///< of DirectLayout::turned
  bool aligned_ = false;                                ///< the parts of the flow are whole planes already
  bool one_part_ = false;                               ///< has all cells
  LineTransform<T> x_to_modes_, x_from_modes_, y_to_modes_, y_from_modes_;
  Tridiagonal<T> z_;
  ColumnModes<T> z_modes_;              ///< where they exist, nothing is eliminated
  std::vector<std::vector<T>> lambda_;  ///< one a column, a part that is on no GPU
  std::vector<Buffer<T>> plane_values_, column_values_;
  std::vector<Buffer<T>> gathered_;  ///< planes on their way, where `turned` is not the order in which they come
  std::vector<std::unique_ptr<DirectGpu<T>>> gpus_;  ///< null where a part is on no GPU
  Transfer to_planes_, to_null_, to_pressure_;
  std::vector<Transfer> to_columns_, back_to_planes_;  ///< one a piece
  std::vector<Transfer> behind_waves_;                 ///< of layout_.passes
  std::vector<std::vector<T>> lost_;                   ///< of LinePart
  std::vector<Buffer<T>> ratios_;                      ///< of parts that are on no GPU
  bool has_null_ = false;                              ///< the first column is solve_null_column's
  std::vector<std::unique_ptr<NullColumn<T>>> nulls_;  ///< of layout_.passes
  std::unique_ptr<Pass> gather_, forward_, columns_, backward_;
  PressureEnds<T> ends_;
  Size solves_ = 0;
};

LineModes modes(const FlowCase& flow, int d) {
  return line_modes(pressure_line(flow, flow.grid.lines[d], d));
}

LineOperator elimination_line(const FlowCase& flow, int axis) {
  return line_operator(pressure_line(flow, flow.grid.lines[axis], axis));
}

template <class T>
Direct<T>::Direct(const PressureProblem<T>& problem)
    : problem_(problem),
      layout_(direct_layout(problem.flow, problem.domain.parts.boxes, problem.domain.weights)),
      nx_(problem.flow.grid.lines[layout_.order[0]].cells()),
      ny_(problem.flow.grid.lines[layout_.order[1]].cells()),
      plane_units_(units_of_plane(Size{nx_} * ny_)),
      x_to_modes_(modes(problem.flow, layout_.order[0]), Transform::to_modes, LineAxis::x),
      x_from_modes_(modes(problem.flow, layout_.order[0]), Transform::from_modes, LineAxis::x),
      y_to_modes_(modes(problem.flow, layout_.order[1]), Transform::to_modes, LineAxis::y),
      y_from_modes_(modes(problem.flow, layout_.order[1]), Transform::from_modes, LineAxis::y),
      z_(elimination_line(problem.flow, layout_.axis())),
      z_modes_(pressure_line(problem.flow, problem.flow.grid.lines[layout_.axis()], layout_.axis())),
      ends_(problem) {
  make_layouts();
  make_passes();
}

template <class T>
void Direct<T>::make_layouts() {
  const BoxDomain& domain = problem_.domain;
  plane_boxes_ = layout_.planes;
  column_boxes_ = layout_.columns;
  aligned_ = layout_.aligned;
  one_part_ = layout_.aligned && layout_.parts == 1;
  const LineModes x = modes(problem_.flow, layout_.order[0]), y = modes(problem_.flow, layout_.order[1]);
  const LineOperator z = elimination_line(problem_.flow, layout_.axis());
  const LineModes along_z = z_modes_.exist() ? modes(problem_.flow, layout_.axis()) : LineModes{};
  has_null_ = z.singular && static_cast<T>(x.eigenvalues.front() + y.eigenvalues.front()) == 0;
  problem_.comm.together([&] {
    for (std::size_t p = 0; p < domain.mine(); ++p) {
      Device& device = *domain.streams[p].device;
      const CellBox columns = layout_.turned(column_boxes_[part(p)]);
      CellBox stored = own_planes(p);
      if (layout_.passes && !stored.empty()) {  // rows of columns of the parts below and above
        --stored.lower[2];
        ++stored.upper[2];
      }
      plane_arrays_.push_back({stored});
      column_arrays_.push_back({columns});
      plane_values_.emplace_back(device, stored.cells(), "pressure, planes");
      column_values_.emplace_back(device, one_part_ || layout_.passes ? 0 : columns.cells(), "pressure, columns");
      gathered_.emplace_back(device, !aligned_ && layout_.turns() ? plane_boxes_[part(p)].cells() : 0,
                             "pressure, planes on their way");
      const bool keeps_ratios =
          layout_.passes && device.kind() != DeviceKind::cuda && !layout_.waves(part(p)).is_last();
      ratios_.emplace_back(device, keeps_ratios ? columns.cells() : 0, "pressure, factors of columns");
      std::vector<T>& lambda = lambda_.emplace_back();
      for (Lid j = columns.lower[1]; j < columns.upper[1] && !columns.empty(); ++j)
        for (Lid i = columns.lower[0]; i < columns.upper[0]; ++i)
          lambda.push_back(static_cast<T>(x.eigenvalues[i] + y.eigenvalues[j]));
      lost_.push_back(layout_.passes && columns.lower[2] > 0 ? lost_behind(z_.view(), columns.lower[2], lambda)
                                                             : std::vector<T>{});
      gpus_.push_back(device.kind() == DeviceKind::cuda
                          ? std::make_unique<DirectGpu<T>>(*domain.streams[p].compute, x, y, z, lambda, planes(p),
                                                           Range{columns.lower[2], columns.upper[2]}, lost_.back(),
                                                           along_z)
                          : nullptr);
      if (gpus_.back() == nullptr) continue;  // it has its own
      lambda_.back() = {};
      lost_.back() = {};
    }
    if (layout_.passes && has_null_) make_null_columns();
  });
}

/// The constant mode is the first of all.
template <class T>
void Direct<T>::make_null_columns() {
  const BoxDomain& domain = problem_.domain;
  for (std::size_t p = 0; p < domain.mine(); ++p) {
    const CellBox own = own_planes(p);
    Buffer<T> values(*domain.streams[p].device, own.empty() ? 0 : z_.view().size, "pressure, constant column");
    nulls_.emplace_back(new NullColumn<T>{z_.view(), std::move(values), {own.lower[2], own.upper[2]}});
  }
}

template <class T>
typename Direct<T>::Transfer Direct<T>::transfer(const Boxes& from, const std::vector<Boxes>& wanted,
                                                 const std::vector<BoxArray>& from_arrays,
                                                 const std::vector<BoxArray>& to_arrays) {
  BoxDomain& domain = problem_.domain;
  BoxParts parts = domain.parts;
  parts.boxes = from;
  return std::make_unique<BoxTransfer<T>>(problem_.comm, parts, wanted, from_arrays, to_arrays, false, domain.streams,
                                          1, &domain.routing);
}

/// Between arrays of the solver's own, all boxes as they are there.
template <class T>
typename Direct<T>::Transfer Direct<T>::turned_transfer(const Boxes& from, const std::vector<Boxes>& wanted,
                                                        const std::vector<BoxArray>& from_arrays,
                                                        const std::vector<BoxArray>& to_arrays, PlanTurn turn) {
  BoxDomain& domain = problem_.domain;
  BoxParts parts = domain.parts;
  parts.boxes = from;
  parts.cells = layout_.turned({{}, parts.cells}).upper;
  parts.periodic = {};  // all that is wanted are cells of the grid
  return std::make_unique<BoxTransfer<T>>(problem_.comm, parts, wanted, from_arrays, to_arrays,
                                          &from_arrays == &to_arrays, domain.streams, 1, &domain.routing, turn);
}

template <class T>
std::unique_ptr<Pass> Direct<T>::pass(const std::string& name, std::vector<PassPart> parts,
                                      std::vector<BoxTransfer<T>*> behind, int row_cost, PieceOrder order) {
  return std::make_unique<Pass>(name, problem_.threads, problem_.domain.streams, std::move(parts), std::move(behind),
                                problem_.overlap, row_cost, order);
}

/// The work on some planes of a part.
template <class T>
Range Direct<T>::units_of(std::size_t p, const CellBox& planes) const {
  const Lid first = planes.lower[static_cast<std::size_t>(layout_.axis())] - own_planes(p).lower[2];
  return {first * plane_units_, (first + planes.size(layout_.axis())) * plane_units_};
}

/// Numbers of some columns of a part, x fastest.
template <class T>
Range Direct<T>::numbers_of(std::size_t p, const CellBox& columns) const {
  if (columns.empty()) return {};
  const CellBox &all = column_arrays_[p].stored, some = layout_.turned(columns);
  const Lid first = (some.lower[1] - all.lower[1]) * all.size(0) + some.lower[0] - all.lower[0];
  return {first, first + static_cast<Lid>(some.cells() / some.size(2))};
}

/// Where a part's columns have their rows: those in planes of its own stay there, unless a transform wants all of them.
template <class T>
ColumnRows<T> Direct<T>::column_rows(std::size_t p) {
  const Size columns = columns_of(p);
  if (one_part_ || layout_.passes) return {first_plane(p), columns};
  ColumnRows<T> rows{column_values_[p].data(), columns};
  if (z_modes_.exist()) return rows;
  const CellBox own = intersection(plane_arrays_[p].stored, column_arrays_[p].stored);
  if (own.empty()) return rows;
  rows.apart = {own.lower[2], own.upper[2]};
  rows.apart_values = plane_values_[p].data() + plane_arrays_[p].at(own.lower[0], own.lower[1], own.lower[2]);
  rows.apart_stride = plane_arrays_[p].stride(2);
  return rows;
}

/// The work on a part's pieces: range_of(p, n).
template <class T>
template <class RangeOf>
std::vector<PassPart> Direct<T>::in_pieces(int pieces, const RangeOf& range_of) const {
  std::vector<PassPart> parts(problem_.domain.mine());
  for (std::size_t p = 0; p < parts.size(); ++p) {
    parts[p].separators.push_back({range_of(p, 0), {}});
    for (int n = 1; n < pieces; ++n) parts[p].pieces.push_back({range_of(p, n), {}});
  }
  return parts;
}

/// The planes of a part; where its first or last one is a halo of others, it and some beside it come first.
template <class T>
std::vector<PassPart> Direct<T>::from_the_ends() const {
  std::vector<PassPart> parts;
  for (std::size_t p = 0; p < problem_.domain.mine(); ++p) {
    const CellBox own = own_planes(p);
    const Lid all = planes(p), end = std::max<Lid>(1, all / 8);
    const auto units = [&](Lid first, Lid last) { return PassRows{{first * plane_units_, last * plane_units_}, {}}; };
    PassPart& part = parts.emplace_back();
    if (one_part_ || !aligned_ || all <= 2 * end) {
      part.separators = {units(0, all)};
      continue;
    }
    const Lid first = z_.view().cyclic || own.lower[2] > 0 ? end : 0;
    const Lid last = z_.view().cyclic || own.upper[2] < z_.view().size ? all - end : all;
    if (first > 0) part.separators.push_back(units(0, first));
    if (last < all) part.separators.push_back(units(last, all));
    part.interior = units(first, last);
  }
  return parts;
}

template <class T>
void Direct<T>::make_passes() {
  BoxDomain& domain = problem_.domain;
  std::vector<Boxes> all_planes, all_pressure;
  for (const CellBox& box : plane_boxes_) all_planes.push_back({box});
  for (const CellBox& box : domain.parts.boxes) {
    all_pressure.push_back(faces_around(box));
    if (!aligned_) all_pressure.back().push_back(box);
  }
  std::vector<BoxArray> gathered_arrays;
  for (const int part : domain.parts.mine) gathered_arrays.push_back({plane_boxes_[static_cast<std::size_t>(part)]});
  if (!aligned_) to_planes_ = transfer(domain.parts.boxes, all_planes, domain.arrays, gathered_arrays);
  std::vector<BoxTransfer<T>*> behind_planes, behind_columns;
  if (layout_.passes)
    make_waves(behind_planes);
  else
    make_transposes(behind_planes, behind_columns);
  to_pressure_ = transfer(plane_boxes_, all_pressure, aligned_ ? domain.arrays : gathered_arrays, domain.arrays);
  if (!aligned_) gather_ = pass("to planes", whole_pass_parts(std::vector<Lid>(domain.mine())), {to_planes_.get()}, 1);
  const int plane_pieces = static_cast<int>(behind_planes.size());
  forward_ =
      pass("to modes",
           in_pieces(plane_pieces,
                     [&](std::size_t p, int n) {
                       return units_of(p, layout_.passes ? plane_boxes_[part(p)] : layout_.planes_of(n)[part(p)]);
                     }),
           behind_planes, unit_cost());
  if (problem_.dt_changes && divides()) forward_->never_capture();
  if (!layout_.passes)
    columns_ = pass(
        "columns",
        in_pieces(layout_.pieces, [&](std::size_t p, int n) { return numbers_of(p, layout_.columns_of(n)[part(p)]); }),
        behind_columns, z_modes_.exist() ? cost_of(z_modes_.work()) : cost_of_column(z_.view().size));
  backward_ = pass("from modes", from_the_ends(), {to_pressure_.get()}, unit_cost());
  // These arrays stay where they are.
  const auto bind = [](const Transfer& one, std::size_t p, const T* from, T* to) {
    if (one != nullptr) one->bind(p, std::span<const T* const>(&from, 1), std::span<T* const>(&to, 1));
  };
  for (std::size_t p = 0; p < domain.mine(); ++p) {
    T* const own = plane_values_[p].data();
    T* const planes = gathered_[p].empty() ? own : gathered_[p].data();
    bind(to_planes_, p, problem_.parts[p].rhs.data(), planes);
    for (const Transfer& piece : to_columns_) bind(piece, p, own, column_values_[p].data());
    for (const Transfer& piece : back_to_planes_) bind(piece, p, column_values_[p].data(), own);
    for (const Transfer& wave : behind_waves_) bind(wave, p, own, own);
    if (has_null_ && layout_.passes) bind(to_null_, p, own, nulls_[p]->values.data());
    T* const pressure = problem_.parts[p].p.data();
    bind(to_pressure_, p, aligned_ ? pressure : planes, pressure);
  }
}

/// What travels between planes and columns, in pieces: see column_rows().
template <class T>
void Direct<T>::make_transposes(std::vector<BoxTransfer<T>*>& behind_planes,
                                std::vector<BoxTransfer<T>*>& behind_columns) {
  const Boxes own_planes = layout_.turned(plane_boxes_), own_columns = layout_.turned(column_boxes_);
  const auto elsewhere = [&](const Boxes& boxes, const Boxes& others) {
    return boxes_without(boxes, z_modes_.exist() ? Boxes(boxes.size()) : others);
  };
  const std::vector<Boxes> other_columns = elsewhere(own_columns, own_planes),
                           other_planes = elsewhere(own_planes, own_columns);
  for (int n = 0; n < layout_.pieces; ++n) {
    const PlanTurn turn{.number = n, .of = layout_.pieces};
    behind_planes.push_back(nullptr);
    behind_columns.push_back(nullptr);
    if (one_part_) continue;
    const Boxes planes = layout_.turned(layout_.planes_of(n)), columns = layout_.turned(layout_.columns_of(n));
    to_columns_.push_back(turned_transfer(planes, other_columns, plane_arrays_, column_arrays_, turn));
    back_to_planes_.push_back(turned_transfer(columns, other_planes, column_arrays_, plane_arrays_, turn));
    behind_planes.back() = to_columns_.back().get();
    behind_columns.back() = back_to_planes_.back().get();
  }
}

/// What travels where elimination passes: the constant column at first, and rows of columns behind waves.
template <class T>
void Direct<T>::make_waves(std::vector<BoxTransfer<T>*>& behind_planes) {
  const BoxDomain& domain = problem_.domain;
  const std::size_t parts = plane_boxes_.size();
  const Boxes boxes = layout_.turned(plane_boxes_);
  const int waves = layout_.waves(0).waves();
  const CellBox null_box{{0, 0, 0}, {1, 1, z_.view().size}};
  if (has_null_) {
    std::vector<BoxArray> null_arrays(domain.mine());
    std::vector<Boxes> wanted(parts);
    for (std::size_t n = 0; n < parts; ++n)
      if (!boxes[n].empty()) wanted[n].push_back(null_box);
    for (std::size_t p = 0; p < domain.mine(); ++p)
      if (planes(p) > 0) null_arrays[p] = {null_box};
    to_null_ = turned_transfer(boxes, wanted, plane_arrays_, null_arrays, {.number = waves, .of = waves + 1});
  }
  behind_planes.push_back(nullptr);
  std::vector<BoxTransfer<T>*> behind{to_null_.get()};
  for (int w = 0; w < waves; ++w) {
    behind.push_back(nullptr);
    if (w + 1 == waves) break;
    std::vector<Boxes> wanted(parts);
    for (std::size_t n = 0; n < parts; ++n)
      for (const CellBox& box : layout_.turned(layout_.wanted_behind(w, n))) {
        const Boxes others = has_null_ ? boxes_without({box}, {null_box}).front() : Boxes{box};
        wanted[n].insert(wanted[n].end(), others.begin(), others.end());
      }
    behind_waves_.push_back(
        turned_transfer(boxes, wanted, plane_arrays_, plane_arrays_, {.number = w, .of = waves + 1}));
    behind.back() = behind_waves_.back().get();
  }
  const auto units_of_wave = [&](std::size_t p, int wave) {
    const ColumnWaves own = layout_.waves(part(p));
    const Lid units = own.units();
    const bool works = own.exists(own.piece_up(wave)) || own.exists(own.piece_down(wave));
    return works ? Range{wave * units, (wave + 1) * units} : Range{};
  };
  std::vector<PassPart> work(domain.mine());
  for (std::size_t p = 0; p < domain.mine(); ++p) {
    work[p].separators.emplace_back();
    for (int w = 0; w < waves; ++w) work[p].pieces.push_back({units_of_wave(p, w), {}});
    if (!has_null_ || planes(p) == 0) continue;
    const Lid behind_all = layout_.waves(part(p)).units() * waves;
    work[p].interior = PassRows{{behind_all, behind_all + 1}, {}};
  }
  columns_ = pass("columns", std::move(work), behind, cost_of_column(z_.view().size / static_cast<Lid>(parts)),
                  PieceOrder::arrived);
}

template <class T>
PlaneWork<T> Direct<T>::plane_work(std::size_t p, const LineTransform<T>& x, const LineTransform<T>& y) {
  const CellBox& planes = plane_boxes_[static_cast<std::size_t>(problem_.domain.parts.mine[p])];
  return {gpus_[p].get(),
          first_plane(p),
          x.view(),
          y.view(),
          plane_units_,
          layout_.order,
          nx_,
          ny_,
          aligned_ || !gathered_[p].empty(),
          aligned_ ? problem_.domain.arrays[p] : BoxArray{planes},
          planes};
}

template <class T>
void Direct<T>::solve(double) {
  if (gather_) gather_->run([](std::size_t, Kernels&) {});
  forward_->run([&](std::size_t p, Kernels& to) {
    const T* const from = gathered_[p].empty() ? problem_.parts[p].rhs.data() : gathered_[p].data();
    to.add(ToModes<T>{plane_work(p, x_to_modes_, y_to_modes_), from});
  });
  solve_modes();
}

template <class T>
void Direct<T>::solve_divided(T dt) {
  forward_->run([&](std::size_t p, Kernels& to) {
    FlowPart<T>& part = problem_.parts[p];
    const CellBox& planes = plane_boxes_[static_cast<std::size_t>(problem_.domain.parts.mine[p])];
    to.add(DivideToModes<T>{plane_work(p, x_to_modes_, y_to_modes_),
                            {divergence_pass(part, dt), planes, layout_.axis(), part.grid.equal_along_x}});
  });
  solve_modes();
}

template <class T>
void Direct<T>::solve_modes() {
  ++solves_;
  columns_->run([&](std::size_t p, Kernels& to) {
    if (z_modes_.exist())
      return to.add(DivideModes<T>{gpus_[p].get(), z_modes_.view(), lambda_[p].data(), column_rows(p).values,
                                   static_cast<Lid>(columns_of(p))});
    if (!layout_.passes) return to.add(Eliminate<T>{gpus_[p].get(), z_.view(), lambda_[p].data(), column_rows(p)});
    const ColumnWaves waves = layout_.waves(part(p));
    const CellBox own = own_planes(p);
    to.add(EliminateInWaves<T>{
        gpus_[p].get(),
        {some_rows(z_.view(), {own.lower[2], own.upper[2]}), waves.place == 0, waves.is_last(), lost_[p].data()},
        lambda_[p].data(),
        column_rows(p),
        ratios_[p].data(),
        columns_of(p),
        waves,
        has_null_ ? nulls_[p].get() : nullptr});
  });
  backward_->run([&](std::size_t p, Kernels& to) {
    T* const to_field = gathered_[p].empty() ? problem_.parts[p].p.data() : gathered_[p].data();
    to.add(FromModes<T>{plane_work(p, x_from_modes_, y_from_modes_), to_field});
  });
  ends_.fill();
}

}  // namespace

template <class T>
std::unique_ptr<PressureSolver<T>> make_direct(const PressureProblem<T>& problem) {
  return std::make_unique<Direct<T>>(problem);
}

template std::unique_ptr<PressureSolver<double>> make_direct(const PressureProblem<double>&);
template std::unique_ptr<PressureSolver<float>> make_direct(const PressureProblem<float>&);

}  // namespace tutti::incompressible
