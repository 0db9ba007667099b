// What is told about a flow while it runs, and whether it is steady.
#include <algorithm>
#include <cmath>
#include <limits>

#include "tutti/base/mpi/over_ranks.hpp"
#include "tutti/models/incompressible/flow_model.hpp"
#include "tutti/models/incompressible/flow_sums.hpp"

namespace tutti::incompressible {
namespace {

WallEnds wall_ends(const FlowCase& flow) {
  WallEnds ends;
  for (std::size_t f = 0; f < 6; ++f)
    ends.wall[f / 2][f % 2] =
        flow.ends[f].velocity == VelocityEnd::no_slip || flow.ends[f].velocity == VelocityEnd::free_slip;
  for (std::size_t d = 0; d < 3; ++d) ends.cells[d] = flow.grid.lines[d].cells();
  return ends;
}

/// What a diagnostic is of a flow that is not finite: all flows have the same ones, for they are columns of a file.
constexpr double none = std::numeric_limits<double>::quiet_NaN();

}  // namespace

double temperature_fall(const FlowCase& flow, std::size_t d) {
  const auto& ends = flow.scalars[0].ends;
  const FlowScalarEnd &lower = ends[2 * d], &upper = ends[2 * d + 1];
  if (flow.grid.lines[d].periodic) return 0;
  for (const FlowScalarEnd* end : {&lower, &upper})
    if (end->kind != ScalarEnd::fixed || !end->value.is_constant()) return 0;
  return lower.value({0, 0, 0}) - upper.value({0, 0, 0});
}

/// max |div u| h / U.
template <class T>
double FlowModel<T>::divergence_left() {
  const double speed = std::max(over_parts(largest_velocity<T>), largest_);
  return speed > 0 ? over_parts(largest_divergence<T>) * domain_.grid.smallest_width() / speed : 0;
}

template <class T>
std::vector<Diagnostic> FlowModel<T>::diagnose() {
  const double largest = over_parts(largest_velocity<T>);
  std::vector<Diagnostic> all{{"max|u|", largest}};
  // Exact sums know no infinities.
  const bool finite = std::isfinite(largest);
  const auto sum = [&](const std::function<ExactSum(Stream&, FlowPart<T>&)>& of_part) {
    return finite ? sum_over_parts(of_part) : largest;
  };
  const WallEnds ends = wall_ends(flow_);
  all.push_back({"energy", 0.5 * sum(energy_sum<T>)});
  all.push_back({"dissipation", flow_.viscosity * sum([&](Stream& on, FlowPart<T>& part) {
                                  return squared_gradient_sum(on, part, ends);
                                })});
  all.push_back(
      {"enstrophy", 0.5 * sum([&](Stream& on, FlowPart<T>& part) { return squared_curl_sum(on, part, ends); })});
  all.push_back({"divergence", finite ? divergence_left() : largest});
  add_fastest(all, finite);
  if (flow_.bulk) all.push_back({fmt::format("force {}", "xyz"[flow_.bulk->direction]), bulk_force_});
  if (flow_.has_temperature) {
    all.push_back({"heat", finite ? amount(0) : largest});
    add_nusselt(all, finite);
  }
  add_scalars(all);
  return all;
}

/// The smallest and the largest value of scalar s; NaN where there is one.
template <class T>
std::array<double, 2> FlowModel<T>::range_of(std::size_t s) {
  std::array<double, 2> range;  // the largest, the smallest negated
  range.fill(-std::numeric_limits<double>::infinity());
  for (std::size_t p = 0; p < parts_.size(); ++p) {
    if (parts_[p].box.empty()) continue;
    const auto mine = scalar_range(stream(p), parts_[p], s);
    for (std::size_t k = 0; k < 2; ++k)
      if (!(mine[k] <= range[k]) && !std::isnan(range[k])) range[k] = mine[k];
  }
  return {0 - max_over_ranks(comm_, range[1]), max_over_ranks(comm_, range[0])};
}

/// Of each scalar but the temperature: how much there is, its smallest and its largest value.
template <class T>
void FlowModel<T>::add_scalars(std::vector<Diagnostic>& all) {
  for (std::size_t s = flow_.has_temperature ? 1 : 0; s < flow_.scalars.size(); ++s) {
    const std::string& name = flow_.scalars[s].name;
    const auto range = range_of(s);
    all.push_back({"amount of " + name, amount(s)});
    all.push_back({"smallest " + name, range[0]});
    all.push_back({"largest " + name, range[1]});
  }
}

/// The largest speed at a cell's centre, and where; of several such cells the one with the lowest number.
template <class T>
void FlowModel<T>::add_fastest(std::vector<Diagnostic>& all, bool finite) {
  if (!finite) {
    for (const char* name : {"speed", "speed at x", "speed at y", "speed at z"}) all.push_back({name, none});
    return;
  }
  const double square = over_parts(largest_square<T>);
  const auto cells = domain_.grid.cells();
  double first = -std::numeric_limits<double>::infinity();
  for (std::size_t p = 0; p < parts_.size(); ++p)
    if (!parts_[p].box.empty())
      first = std::max(first, first_cell_of(stream(p), parts_[p], square, cells[0], cells[1]));
  const auto number = static_cast<Gid>(-comm_.max(first));
  const auto nx = static_cast<Gid>(cells[0]), ny = static_cast<Gid>(cells[1]);
  const Vec3 at = domain_.grid.centre(static_cast<Lid>(number % nx), static_cast<Lid>(number / nx % ny),
                                      static_cast<Lid>(number / nx / ny));
  all.push_back({"speed", std::sqrt(square)});
  for (int d = 0; d < 3; ++d) all.push_back({fmt::format("speed at {}", "xyz"[d]), at[d]});
}

/// Mean heat flux over that of fluid at rest, for each direction with a wall of fixed temperature at either end:
/// through these, through the plane in the middle and everywhere.
template <class T>
void FlowModel<T>::add_nusselt(std::vector<Diagnostic>& all, bool finite) {
  const double diffusivity = flow_.scalars[0].diffusivity;
  for (std::size_t d = 0; d < 3; ++d) {
    const double fall = temperature_fall(flow_, d);
    if (fall == 0 || diffusivity == 0) continue;
    const GridLine& line = domain_.grid.lines[d];
    const Lid n = line.cells(), middle = (n - 1) / 2;
    double area = 1;
    for (std::size_t k = 1; k < 3; ++k) area *= domain_.grid.lines[(d + k) % 3].length();
    const double at_rest = diffusivity * fall / line.length();
    const auto add = [&](const char* where, const HeatFluxCells& cells, double size) {
      const auto of_part = [&](Stream& on, FlowPart<T>& part) { return heat_flux_sum(on, part, cells, diffusivity); };
      const double flux = finite ? sum_over_parts(of_part) : none;
      all.push_back({fmt::format("Nu {}{}", "xyz"[d], where), flux / (size * at_rest)});
    };
    const int along = static_cast<int>(d);
    add("-lower", {along, 0, 1, 1, 0, false}, area);
    add("-upper", {along, n - 1, n, 0, 1, false}, area);
    // With an odd number of cells no face is in the middle.
    const double lower = n % 2 == 0 ? 0 : 0.5;
    add(" middle", {along, middle, middle + 1, lower, 1 - lower, false}, area);
    add(" mean", {along, 0, n, 0.5, 0.5, true}, area * line.length());
  }
}

/// Velocity and scalars before a step, for rate_of_change.
template <class T>
void FlowModel<T>::keep_flow() {
  for (std::size_t p = 0; p < parts_.size(); ++p) {
    const auto keep = [&](const Buffer<T>& from, Buffer<T>& to) {
      if (!from.empty())
        stream(p).copy(to.data(), from.data(), static_cast<std::size_t>(from.size()) * sizeof(T), CopyDirection::local);
    };
    for (std::size_t c = 0; c < 3; ++c) keep(parts_[p].u[c], kept_[p][c]);
    for (std::size_t s = 0; s < flow_.scalars.size(); ++s) keep(parts_[p].scalars[s].now, kept_[p][3 + s]);
  }
}

/// What the last step of length dt has changed, a unit of time: of the velocity over its largest value, or of a scalar
/// over its spread, whichever is more.
template <class T>
double FlowModel<T>::rate_of_change(double dt) {
  // Of the velocity the change; then of each scalar the change, the largest value and the smallest, negated.
  std::vector<double> all(1 + 3 * flow_.scalars.size(), -std::numeric_limits<double>::infinity());
  for (std::size_t p = 0; p < parts_.size(); ++p) {
    FlowPart<T>& part = parts_[p];
    if (part.box.empty()) continue;
    for (std::size_t c = 0; c < 3; ++c)
      all[0] = std::max(all[0], largest_change(stream(p), part, part.u[c], kept_[p][c]));
    for (std::size_t s = 0; s < part.scalars.size(); ++s) {
      const auto range = scalar_range(stream(p), part, s);
      const double values[] = {largest_change(stream(p), part, part.scalars[s].now, kept_[p][3 + s]), range[0],
                               range[1]};
      for (std::size_t k = 0; k < 3; ++k) all[1 + 3 * s + k] = std::max(all[1 + 3 * s + k], values[k]);
    }
  }
  comm_.max(all);
  double rate = all[0] > 0 ? all[0] / over_parts(largest_velocity<T>) : 0;
  for (std::size_t s = 0; s < flow_.scalars.size(); ++s) {
    const double change = all[1 + 3 * s], spread = all[2 + 3 * s] + all[3 + 3 * s];
    if (change > 0) rate = std::max(rate, change / spread);
  }
  return rate / dt;
}

/// Of a field at the faces of a direction, or with component -1 at the centres of cells.
template <class T>
void FlowModel<T>::add_errors(const Buffer<T>& values, std::size_t p, int component, const Expression& exact,
                              double time, ErrorNorms& norms) {
  const CellBox& box = parts_[p].box;
  const auto computed = owned_values(p, values);
  std::size_t n = 0;
  for (Lid k = box.lower[2]; k < box.upper[2]; ++k)
    for (Lid j = box.lower[1]; j < box.upper[1]; ++j)
      for (Lid i = box.lower[0]; i < box.upper[0]; ++i, ++n) {
        Vec3 at = domain_.grid.centre(i, j, k);
        const std::array<Lid, 3> cell{i, j, k};
        if (component >= 0) {
          const auto c = static_cast<std::size_t>(component);
          at[component] += 0.5 * domain_.grid.lines[c].width(cell[c]);
        }
        norms.add(domain_.grid.volume(i, j, k), computed[n], exact(at, time));
      }
}

template <class T>
std::vector<std::string> FlowModel<T>::exact_fields() const {
  std::vector<std::string> names;
  if (flow_.exact) names.push_back("velocity");
  for (const FlowScalar& scalar : flow_.scalars)
    if (scalar.exact) names.push_back(scalar.name);
  return names;
}

template <class T>
std::vector<FieldError> FlowModel<T>::field_errors(double time) {
  ErrorNorms velocity;
  std::vector<ErrorNorms> scalars(flow_.scalars.size());
  comm_.together([&] {
    for (std::size_t p = 0; p < parts_.size(); ++p) {
      for (std::size_t c = 0; c < 3 && flow_.exact; ++c)
        add_errors(parts_[p].u[c], p, static_cast<int>(c), (*flow_.exact)[c], time, velocity);
      for (std::size_t s = 0; s < scalars.size(); ++s)
        if (flow_.scalars[s].exact)
          add_errors(parts_[p].scalars[s].now, p, -1, *flow_.scalars[s].exact, time, scalars[s]);
    }
  });
  std::vector<FieldError> errors;
  if (flow_.exact) {
    errors.push_back(velocity.over_ranks(comm_, "velocity"));
    errors.back().l2 *= std::sqrt(3.0);  // of the vector, whose components were added one by one
  }
  for (std::size_t s = 0; s < scalars.size(); ++s)
    if (flow_.scalars[s].exact) errors.push_back(scalars[s].over_ranks(comm_, flow_.scalars[s].name));
  return errors;
}

template class FlowModel<double>;
template class FlowModel<float>;

}  // namespace tutti::incompressible
