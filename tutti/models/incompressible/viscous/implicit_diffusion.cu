// The sweeps of implicit diffusion. Compiles as plain C++ without CUDA.
#include "tutti/models/incompressible/viscous/implicit_diffusion.hpp"

#include <algorithm>
#include <utility>

#include "tutti/device/zeros.hpp"
#include "tutti/exchange/for_each_cell.hpp"

namespace tutti::incompressible {
namespace {

/// Weights of the Laplacian of a field, by direction and stored cell.
template <class T>
struct DiffusionView {
  BoxArray array;
  const T *lower[3], *upper[3];
};

/// The cells of a line along x, from the first stored one on.
template <class T>
struct DiffusionRow {
  const T *lower, *upper;
  T below[2], above[2];
  Lid stride[2];

  TUTTI_HD DiffusionRow(const DiffusionView<T>& g, Lid j, Lid k)
      : lower(g.lower[0]), upper(g.upper[0]), stride{g.array.stride(1), g.array.stride(2)} {
    const Lid at[2] = {j - g.array.stored.lower[1], k - g.array.stored.lower[2]};
    for (int d = 0; d < 2; ++d) {
      below[d] = g.lower[d + 1][at[d]];
      above[d] = g.upper[d + 1][at[d]];
    }
  }
  /// lap q in cell i of the line, `q` its value. As differences, of which nothing is left where q is the same.
  TUTTI_HD T laplacian(const T* q, Lid i) const {
    return (upper[i] * (q[1] - q[0]) - lower[i] * (q[0] - q[-1])) +
           (above[0] * (q[stride[0]] - q[0]) - below[0] * (q[0] - q[-stride[0]])) +
           (above[1] * (q[stride[1]] - q[0]) - below[1] * (q[0] - q[-stride[1]]));
  }
};

/// b = (what is explicit) + a lap q.
template <class T>
struct AddDiffusion {
  DiffusionView<T> g;
  const T* q;
  T *b, a;
  TUTTI_HD void operator()(Lid i, Lid j, Lid k) const {
    const Lid n = g.array.at(i, j, k);
    b[n] += a * DiffusionRow<T>(g, j, k).laplacian(q + n, i - g.array.stored.lower[0]);
  }
  void line(Lid begin, Lid end, Lid j, Lid k) const {
    const DiffusionRow<T> row(g, j, k);
    const Lid n = g.array.at(begin, j, k), first = begin - g.array.stored.lower[0];
    const T* const at = q + n;
    T* const to = b + n;
#if defined(_OPENMP)
#pragma omp simd
#endif
    for (Lid i = 0; i < end - begin; ++i) to[i] += a * row.laplacian(at + i, first + i);
  }
};

/// Where the iteration begins: u + dt grad p of the step before, which of a steady flow is u* already.
template <class T>
struct AddGradient {
  GridView<T> g;
  const T* p;
  T *q, dt;
  int c;
  TUTTI_HD void operator()(Lid i, Lid j, Lid k) const {
    const Lid at[3] = {i, j, k};
    const Lid n = g.array.at(i, j, k);
    q[n] += dt * (p[n + g.stride(c)] - p[n]) * g.line[c].distance(at[c]);
  }
};

/// A sweep; `next` holds the q of the one before.
template <class T>
struct ChebyshevSweep {
  DiffusionView<T> g;
  const T *q, *b;
  T *next, a, carry, gain;
  TUTTI_HD T swept(const DiffusionRow<T>& row, const T* at, T right, T before, Lid i) const {
    return at[0] + (carry * (at[0] - before) + gain * ((right - at[0]) + a * row.laplacian(at, i)));
  }
  TUTTI_HD void operator()(Lid i, Lid j, Lid k) const {
    const Lid n = g.array.at(i, j, k);
    next[n] = swept(DiffusionRow<T>(g, j, k), q + n, b[n], next[n], i - g.array.stored.lower[0]);
  }
  void line(Lid begin, Lid end, Lid j, Lid k) const {
    const DiffusionRow<T> row(g, j, k);
    const Lid n = g.array.at(begin, j, k), first = begin - g.array.stored.lower[0];
    const T *const at = q + n, *const right = b + n;
    T* const to = next + n;
    const ChebyshevSweep own = *this;  // else the compiler must fear that what is written is a member: no vectors
#if defined(_OPENMP)
#pragma omp simd
#endif
    for (Lid i = 0; i < end - begin; ++i) to[i] = own.swept(row, at + i, right[i], to[i], first + i);
  }
};

template <class T>
struct PressureOfPotential {
  DiffusionView<T> g;
  const T* p;
  T *to, a;
  TUTTI_HD void operator()(Lid i, Lid j, Lid k) const {
    const Lid n = g.array.at(i, j, k);
    to[n] = p[n] - a * DiffusionRow<T>(g, j, k).laplacian(p + n, i - g.array.stored.lower[0]);
  }
};

template <class T>
DiffusionView<T> view_of(const BoxArray& array, const DiffusionLine<T> (&lines)[2][3], int component) {
  DiffusionView<T> view{array, {}, {}};
  for (int d = 0; d < 3; ++d) {
    const DiffusionLine<T>& line = lines[d == component ? 1 : 0][d];
    view.lower[d] = line.lower.data();
    view.upper[d] = line.upper.data();
  }
  return view;
}

}  // namespace

template <class T>
ImplicitDiffusion<T>::ImplicitDiffusion(const PressureProblem<T>& problem, std::vector<DiffusedField<T>> fields)
    : problem_(problem), fields_(std::move(fields)) {
  BoxDomain& domain = problem_.domain;
  for (const DiffusedField<T>& field : fields_) largest_.push_back(largest_eigenvalue(domain.grid, field.component));
  problem_.comm.together([&] {
    for (std::size_t p = 0; p < domain.mine(); ++p) add_part(p);
  });
  std::vector<std::vector<CellBox>> faces;
  for (const CellBox& box : domain.parts.boxes) faces.push_back(faces_around(box));
  halo_ = std::make_unique<BoxTransfer<T>>(problem_.comm, domain.parts, faces, domain.arrays, domain.arrays, true,
                                           domain.streams, static_cast<int>(fields_.size()), &domain.routing);
  const auto pass = [&](const char* name, std::vector<PassPart> parts, BoxTransfer<T>* halo) {
    auto made =
        std::make_unique<Pass>(name, problem_.threads, domain.streams, std::move(parts), halo, problem_.overlap);
    made->never_capture();  // the arrays of a sweep have changed places when it comes again
    return made;
  };
  local_ = pass("explicit part", box_pass_parts(domain.parts), nullptr);
  // The lower end is the first of both: what is filled of the other ends comes first, too.
  sweep_ =
      pass("diffusion", box_pass_parts(domain.parts, [this](std::size_t p, int d) { return through_[p].cells(d); }),
           halo_.get());
}

template <class T>
void ImplicitDiffusion<T>::add_part(std::size_t p) {
  Stream& stream = *problem_.domain.streams[p].compute;
  const BoxArray& array = problem_.domain.arrays[p];
  const CellBox& box = problem_.domain.box(p);
  Part& part = parts_.emplace_back();
  CellBox reach = box;
  for (std::size_t d = 0; d < 3; ++d)
    if (box.upper[d] == problem_.domain.grid.lines[d].cells() - 1) ++reach.upper[d];
  through_.emplace_back(stream, problem_.flow, box.empty() ? box : reach, array);
  for (std::size_t d = 0; d < 3; ++d)
    for (const bool at_faces : {false, true}) {
      std::vector<T> lower, upper;
      for (Lid i = array.stored.lower[d]; i < array.stored.upper[d]; ++i) {
        const bool owned = i >= box.lower[d] && i < box.upper[d];
        const LineWeights weights =
            owned ? diffusion_weights(problem_.domain.grid.lines[d], at_faces, i) : LineWeights{};
        lower.push_back(static_cast<T>(weights.lower));
        upper.push_back(static_cast<T>(weights.upper));
      }
      DiffusionLine<T>& line = part.line[at_faces ? 1 : 0][d];
      line.lower = make_buffer(stream, std::span<const T>(lower), "weights of diffusion");
      line.upper = make_buffer(stream, std::span<const T>(upper), "weights of diffusion");
    }
  for (std::size_t f = 0; f < fields_.size(); ++f)
    part.right.push_back(make_zeros<T>(stream, array.values(), "right side of diffusion"));
}

template <class T>
void ImplicitDiffusion<T>::solve(double time, double dt, const Explicit& explicit_part) {
  const int sweeps = diffusion_sweeps(problem_.flow, dt);
  add_diffusion(dt, explicit_part);
  begin(time, dt);
  std::vector<ChebyshevIteration> iterations;
  for (std::size_t f = 0; f < fields_.size(); ++f)
    iterations.emplace_back(fields_[f].diffusivity * dt / 2 * largest_[f]);
  for (int k = 0; k < sweeps; ++k) {
    std::vector<ChebyshevWeights> weights;
    for (ChebyshevIteration& iteration : iterations) weights.push_back(iteration.next());
    sweep(time, dt, weights, k + 1 == sweeps);
  }
  for (std::size_t p = 0; p < parts_.size(); ++p)
    for (std::size_t f = 0; f < fields_.size(); ++f) before(f, p).swap(result(f, p));
  values_ += diffusion_values(problem_.flow, dt);
}

/// The right sides.
template <class T>
void ImplicitDiffusion<T>::add_diffusion(double dt, const Explicit& explicit_part) {
  local_->run([&](std::size_t p, Kernels& to) {
    explicit_part(p, to);
    for (std::size_t f = 0; f < fields_.size(); ++f)
      to.add(on_cells<T>(AddDiffusion<T>{view_of(problem_.domain.arrays[p], parts_[p].line, fields_[f].component),
                                         before(f, p).data(), result(f, p).data(),
                                         static_cast<T>(fields_[f].diffusivity * dt / 2)}));
  });
  for (std::size_t p = 0; p < parts_.size(); ++p)
    for (std::size_t f = 0; f < fields_.size(); ++f) result(f, p).swap(parts_[p].right[f]);
}

template <class T>
void ImplicitDiffusion<T>::bind(Buffer<T>& (ImplicitDiffusion::*array)(std::size_t f, std::size_t p)) {
  for (std::size_t p = 0; p < parts_.size(); ++p) {
    std::vector<T*> to;
    for (std::size_t f = 0; f < fields_.size(); ++f) to.push_back((this->*array)(f, p).data());
    const std::vector<const T*> from(to.begin(), to.end());
    halo_->bind(p, from, to);
  }
}

/// Of each field what the sweeps begin with, and all that its ends will hold.
template <class T>
void ImplicitDiffusion<T>::begin(double time, double dt) {
  bind(&ImplicitDiffusion::before);
  sweep_->run(
      [&](std::size_t p, Kernels& to) {
        FlowPart<T>& part = problem_.parts[p];
        for (std::size_t f = 0; f < fields_.size(); ++f)
          if (fields_[f].component != at_centres)
            to.add(on_cells<T>(AddGradient<T>{part.grid.view(), part.p.data(), before(f, p).data(), static_cast<T>(dt),
                                              fields_[f].component}));
      },
      [&](std::size_t p, int d, Kernels& to) {
        for (std::size_t f = 0; f < fields_.size(); ++f) fill(to, f, p, d, before(f, p).data(), time, dt);
      });
}

/// From `before` to `result`, which change places then. What the ends hold is in the ghosts of the sweep before; the
/// last ghosts of scalars are those that a restart would find.
template <class T>
void ImplicitDiffusion<T>::sweep(double time, double dt, const std::vector<ChebyshevWeights>& weights, bool last) {
  bind(&ImplicitDiffusion::result);
  sweep_->run(
      [&](std::size_t p, Kernels& to) {
        for (std::size_t f = 0; f < fields_.size(); ++f)
          to.add(on_cells<T>(ChebyshevSweep<T>{view_of(problem_.domain.arrays[p], parts_[p].line, fields_[f].component),
                                               before(f, p).data(), parts_[p].right[f].data(), result(f, p).data(),
                                               static_cast<T>(fields_[f].diffusivity * dt / 2),
                                               static_cast<T>(weights[f].carry), static_cast<T>(weights[f].gain)}));
      },
      [&](std::size_t p, int d, Kernels& to) {
        carry(to, p, d, !last);
        for (std::size_t f = 0; f < fields_.size() && last; ++f)
          if (fields_[f].component == at_centres) fill(to, f, p, d, result(f, p).data(), time, dt);
      });
  for (std::size_t p = 0; p < parts_.size(); ++p)
    for (std::size_t f = 0; f < fields_.size(); ++f) before(f, p).swap(result(f, p));
}

template <class T>
void ImplicitDiffusion<T>::fill(Kernels& to, std::size_t f, std::size_t p, int d, T* q, double time, double dt) {
  const DiffusedField<T>& field = fields_[f];
  FlowPart<T>& part = problem_.parts[p];
  if (field.component == at_centres)
    fill_scalar(to, part, field.scalar, q, problem_.ends[p], d, time);
  else
    fill_unprojected(to, part, field.component, q, field.component == d ? through_[p] : problem_.ends[p], d, time,
                     static_cast<T>(dt));
}

/// What the ends hold, from one sweep to the next; in one pass for all fields, of which most of the time goes into
/// finding the cells.
template <class T>
void ImplicitDiffusion<T>::carry(Kernels& to, std::size_t p, int d, bool scalars) {
  CarriedFields<T> carried;
  const auto flush = [&] {
    if (carried.count > 0)
      carry_ends(to, problem_.domain.arrays[p], carried, through_[p], d, problem_.ends[p].view(d).count);
    carried.count = 0;
  };
  for (std::size_t f = 0; f < fields_.size(); ++f) {
    const int component = fields_[f].component;
    if (!scalars && component == at_centres) continue;
    if (carried.count == CarriedFields<T>::most) flush();
    carried.component[carried.count] = component;
    carried.scalar[carried.count] = fields_[f].scalar;
    carried.from[carried.count] = before(f, p).data();
    carried.to[carried.count++] = result(f, p).data();
  }
  flush();
}

template <class T>
ExchangeCounts ImplicitDiffusion<T>::exchanged() const {
  ExchangeCounts counts;
  add_counts(counts, halo_->counts_per_exchange(), sweep_->runs());
  return counts;
}

template <class T>
void ImplicitDiffusion<T>::pressure_of_potential(double dt) {
  for (std::size_t p = 0; p < parts_.size(); ++p) {
    FlowPart<T>& part = problem_.parts[p];
    for_each_cell<T>(*problem_.domain.streams[p].compute, part.box, {0, static_cast<Lid>(part.box.cells())},
                     PressureOfPotential<T>{view_of(part.grid.array, parts_[p].line, at_centres), part.p.data(),
                                            part.rhs.data(), static_cast<T>(problem_.flow.viscosity * dt / 2)});
  }
}

template class ImplicitDiffusion<double>;
template class ImplicitDiffusion<float>;

}  // namespace tutti::incompressible
