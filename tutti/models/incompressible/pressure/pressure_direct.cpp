// The direct solver over parts. The grid is cut into whole planes for the transforms along x and y, and then into whole
// columns for the elimination along z; what travels between the two is all of it. Bits do not depend on the cuts.
#include <algorithm>

#include "tutti/base/denormals.hpp"
#include "tutti/models/incompressible/pressure/direct/direct_gpu.hpp"
#include "tutti/models/incompressible/pressure/direct/direct_layout.hpp"
#include "tutti/models/incompressible/pressure/direct/direct_solver.hpp"
#include "tutti/models/incompressible/pressure/pressure.hpp"

namespace tutti::incompressible {
namespace {

/// Units of work a plane, so that the pieces that a Step deals out, of 512 units or more, are worth it.
Lid units_of_plane(Size cells) {
  return static_cast<Lid>(std::clamp<Size>(cells / 16, 1, 512));
}

/// What both directions of the transforms have to know of a part's planes.
template <class T>
struct PlaneWork {
  DirectGpu<T>* gpu;  ///< null where the part is on none
  T* values;
  LineTransformView<T> x, y;
  Lid units;  ///< of work a plane
  int axis;   ///< of the elimination
  Lid nx, ny;
  bool aligned;  ///< the part of the flow is whole planes: they come from its field and go there, else to `values`
  BoxArray field;
  CellBox planes;

  Range planes_of(Range work) const { return {(work.begin + units - 1) / units, (work.end + units - 1) / units}; }
  template <class V>
  PlanesOfRows<V> rows_of(V* in, V* own) const {
    if (!aligned) return {own, nx, Size{nx} * ny};
    return {in + field.at(planes.lower[0], planes.lower[1], planes.lower[2]), field.stride(3 - axis),
            field.stride(axis)};
  }
  /// use(row of the field, row of `values`) for planes [first, last).
  template <class V, class Use>
  void for_rows(V* in, Lid first, Lid last, const Use& use) const {
    const PlanesOfRows<V> rows = rows_of<V>(in, values);
    T* own = values + first * (Size{nx} * ny);
    for (Lid plane = first; plane < last; ++plane)
      for (Lid row = 0; row < ny; ++row, own += nx) use(rows.first + plane * rows.plane + row * rows.row, own);
  }
  /// use(first, last) for a few planes at a time: they stay in the cache from one direction to the next.
  template <class Use>
  void for_planes(Stream& stream, Range work, const Use& use) const {
    stream.loop(planes_of(work), [ny = ny, use](Lid begin, Lid end) {
      const FlushDenormals<T> flush;
      const Lid at_once = std::max<Lid>(1, 64 / ny);
      for (Lid k = begin; k < end; k += at_once) use(k, std::min(end, k + at_once));
    });
  }
};

template <class T>
struct ToModes {
  PlaneWork<T> w;
  const T* rhs;
  void operator()(Stream& stream, Range work) const {
    if (w.gpu != nullptr)
      return w.gpu->to_modes(stream, w.template rows_of<const T>(rhs, w.values), w.values, w.planes_of(work));
    w.for_planes(stream, work, [w = w, rhs = rhs](Lid first, Lid last) {
      if (w.aligned) w.for_rows(rhs, first, last, [&](const T* from, T* to) { std::copy_n(from, w.nx, to); });
      transform_x(w.x, w.values, w.values, {first * w.ny, last * w.ny});
      if (w.ny > 1) transform_y(w.y, w.values, w.values, w.nx, {first * w.nx, last * w.nx});
    });
  }
};

template <class T>
struct FromModes {
  PlaneWork<T> w;
  T* p;
  void operator()(Stream& stream, Range work) const {
    if (w.gpu != nullptr)
      return w.gpu->from_modes(stream, w.values, w.template rows_of<T>(p, w.values), w.planes_of(work));
    w.for_planes(stream, work, [w = w, p = p](Lid first, Lid last) {
      if (w.ny > 1) transform_y(w.y, w.values, w.values, w.nx, {first * w.nx, last * w.nx});
      transform_x(w.x, w.values, w.values, {first * w.ny, last * w.ny});
      if (w.aligned) w.for_rows(p, first, last, [&](T* to, const T* from) { std::copy_n(from, w.nx, to); });
    });
  }
};

template <class T>
struct Eliminate {
  DirectGpu<T>* gpu;
  TridiagonalView<T> line;
  const T* lambda;  ///< of the part's columns
  T* values;
  Size columns;
  void operator()(Stream& stream, Range range) const {
    if (gpu != nullptr) return gpu->eliminate(stream, values, range);
    stream.loop(range, [own = *this](Lid begin, Lid end) {
      const FlushDenormals<T> flush;
      solve_columns(own.line, own.lambda, own.values, own.values, own.columns, {begin, end});
    });
  }
};

template <class T>
class Direct final : public PressureSolver<T> {
 public:
  explicit Direct(const PressureProblem<T>& problem);
  void solve(double scale) override;
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
    for (const auto* transfer : {to_planes_.get(), to_columns_.get(), back_to_planes_.get(), to_pressure_.get()})
      if (transfer != nullptr) add_counts(counts, transfer->counts_per_exchange(), solves_);
    return counts;
  }

 private:
  using Boxes = std::vector<CellBox>;
  std::unique_ptr<BoxTransfer<T>> transfer(const Boxes& from, const std::vector<Boxes>& wanted,
                                           const std::vector<BoxArray>& from_arrays,
                                           const std::vector<BoxArray>& to_arrays);
  std::unique_ptr<Pass> pass(const std::string& name, const std::function<Lid(std::size_t)>& units,
                             BoxTransfer<T>* behind);
  void make_layouts();
  void make_passes();
  PlaneWork<T> plane_work(std::size_t p, const LineTransform<T>& x, const LineTransform<T>& y);
  Lid planes(std::size_t p) const { return plane_arrays_[p].stored.size(axis_); }

  PressureProblem<T> problem_;
  DirectLayout layout_;
  int axis_;     ///< of the elimination: z, or y where the grid is one cell thick
  Lid nx_, ny_;  ///< of a plane
  Lid plane_units_;
  Boxes plane_boxes_, column_boxes_;
  std::vector<BoxArray> plane_arrays_, column_arrays_;
  bool aligned_ = false;  ///< the parts of the flow are whole planes already
  bool one_part_ = false;
  LineTransform<T> x_to_modes_, x_from_modes_, y_to_modes_, y_from_modes_;
  Tridiagonal<T> z_;
  std::vector<std::vector<T>> lambda_;  ///< one a column, a part
  std::vector<Buffer<T>> plane_values_, column_values_;
  std::vector<std::unique_ptr<DirectGpu<T>>> gpus_;  ///< null where a part is on no GPU
  std::unique_ptr<BoxTransfer<T>> to_planes_, to_columns_, back_to_planes_, to_pressure_;
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
      layout_(direct_layout(problem.flow.grid, problem.domain.parts.boxes, problem.domain.weights)),
      axis_(layout_.axis),
      nx_(problem.flow.grid.cells()[0]),
      ny_(problem.flow.grid.cells()[3 - axis_]),
      plane_units_(units_of_plane(Size{nx_} * ny_)),
      x_to_modes_(modes(problem.flow, 0), Transform::to_modes, LineAxis::x),
      x_from_modes_(modes(problem.flow, 0), Transform::from_modes, LineAxis::x),
      y_to_modes_(modes(problem.flow, 3 - axis_), Transform::to_modes, LineAxis::y),
      y_from_modes_(modes(problem.flow, 3 - axis_), Transform::from_modes, LineAxis::y),
      z_(elimination_line(problem.flow, axis_)),
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
  one_part_ = domain.parts.boxes.size() == 1;
  const LineModes x = modes(problem_.flow, 0), y = modes(problem_.flow, 3 - axis_);
  const LineOperator z = elimination_line(problem_.flow, axis_);
  const auto other = static_cast<std::size_t>(3 - axis_);
  problem_.comm.together([&] {
    for (std::size_t p = 0; p < domain.mine(); ++p) {
      const auto part = static_cast<std::size_t>(domain.parts.mine[p]);
      Device& device = *domain.streams[p].device;
      const CellBox& columns = column_boxes_[part];
      plane_arrays_.push_back({plane_boxes_[part]});
      column_arrays_.push_back({columns});
      plane_values_.emplace_back(device, plane_boxes_[part].cells(), "pressure, planes");
      column_values_.emplace_back(device, one_part_ ? 0 : columns.cells(), "pressure, columns");
      std::vector<T>& lambda = lambda_.emplace_back();
      for (Lid j = columns.lower[other]; j < columns.upper[other] && !columns.empty(); ++j)
        for (Lid i = columns.lower[0]; i < columns.upper[0]; ++i)
          lambda.push_back(static_cast<T>(x.eigenvalues[i] + y.eigenvalues[j]));
      gpus_.push_back(device.kind() == DeviceKind::cuda
                          ? std::make_unique<DirectGpu<T>>(*domain.streams[p].compute, x, y, z, lambda, planes(p))
                          : nullptr);
    }
  });
}

template <class T>
std::unique_ptr<BoxTransfer<T>> Direct<T>::transfer(const Boxes& from, const std::vector<Boxes>& wanted,
                                                    const std::vector<BoxArray>& from_arrays,
                                                    const std::vector<BoxArray>& to_arrays) {
  BoxDomain& domain = problem_.domain;
  BoxParts parts = domain.parts;
  parts.boxes = from;
  return std::make_unique<BoxTransfer<T>>(problem_.comm, parts, wanted, from_arrays, to_arrays, false, domain.streams,
                                          1, &domain.routing);
}

template <class T>
std::unique_ptr<Pass> Direct<T>::pass(const std::string& name, const std::function<Lid(std::size_t)>& units,
                                      BoxTransfer<T>* behind) {
  std::vector<Lid> all;
  for (std::size_t p = 0; p < problem_.domain.mine(); ++p) all.push_back(units(p));
  return std::make_unique<Pass>(name, problem_.threads, problem_.domain.streams, whole_pass_parts(all), behind,
                                problem_.overlap);
}

template <class T>
void Direct<T>::make_passes() {
  BoxDomain& domain = problem_.domain;
  std::vector<Boxes> all_planes, all_columns, all_pressure;
  for (const CellBox& box : plane_boxes_) all_planes.push_back({box});
  for (const CellBox& box : column_boxes_) all_columns.push_back({box});
  for (const CellBox& box : domain.parts.boxes) {
    all_pressure.push_back(faces_around(box));
    if (!aligned_) all_pressure.back().push_back(box);
  }
  if (!aligned_) to_planes_ = transfer(domain.parts.boxes, all_planes, domain.arrays, plane_arrays_);
  if (!one_part_) {
    to_columns_ = transfer(plane_boxes_, all_columns, plane_arrays_, column_arrays_);
    back_to_planes_ = transfer(column_boxes_, all_planes, column_arrays_, plane_arrays_);
  }
  to_pressure_ = transfer(plane_boxes_, all_pressure, aligned_ ? domain.arrays : plane_arrays_, domain.arrays);
  if (!aligned_)
    gather_ = pass(
        "to planes", [](std::size_t) { return 0; }, to_planes_.get());
  const auto plane_work = [this](std::size_t p) { return planes(p) * plane_units_; };
  forward_ = pass("to modes", plane_work, to_columns_.get());
  columns_ = pass(
      "columns", [this](std::size_t p) { return static_cast<Lid>(lambda_[p].size()); }, back_to_planes_.get());
  backward_ = pass("from modes", plane_work, to_pressure_.get());
  // These arrays stay where they are.
  const auto bind = [](BoxTransfer<T>* one, std::size_t p, const T* from, T* to) {
    if (one != nullptr) one->bind(p, std::span<const T* const>(&from, 1), std::span<T* const>(&to, 1));
  };
  for (std::size_t p = 0; p < domain.mine(); ++p) {
    bind(to_planes_.get(), p, problem_.parts[p].rhs.data(), plane_values_[p].data());
    bind(to_columns_.get(), p, plane_values_[p].data(), column_values_[p].data());
    bind(back_to_planes_.get(), p, column_values_[p].data(), plane_values_[p].data());
    T* const pressure = problem_.parts[p].p.data();
    bind(to_pressure_.get(), p, aligned_ ? pressure : plane_values_[p].data(), pressure);
  }
}

template <class T>
PlaneWork<T> Direct<T>::plane_work(std::size_t p, const LineTransform<T>& x, const LineTransform<T>& y) {
  return {gpus_[p].get(),
          plane_values_[p].data(),
          x.view(),
          y.view(),
          plane_units_,
          axis_,
          nx_,
          ny_,
          aligned_,
          problem_.domain.arrays[p],
          plane_arrays_[p].stored};
}

template <class T>
void Direct<T>::solve(double) {
  ++solves_;
  if (gather_) gather_->run([](std::size_t, Kernels&) {});
  forward_->run([&](std::size_t p, Kernels& to) {
    to.add(ToModes<T>{plane_work(p, x_to_modes_, y_to_modes_), problem_.parts[p].rhs.data()});
  });
  columns_->run([&](std::size_t p, Kernels& to) {
    to.add(Eliminate<T>{gpus_[p].get(), z_.view(), lambda_[p].data(),
                        one_part_ ? plane_values_[p].data() : column_values_[p].data(),
                        static_cast<Size>(lambda_[p].size())});
  });
  backward_->run([&](std::size_t p, Kernels& to) {
    to.add(FromModes<T>{plane_work(p, x_from_modes_, y_from_modes_), problem_.parts[p].p.data()});
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
