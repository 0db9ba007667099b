// Fields of output.extra: velocities on the faces, and the stream function of a flow in a plane.
#include <algorithm>

#include "tutti/models/incompressible/flow_model.hpp"

namespace tutti::incompressible {
namespace {

bool wants(const Case& options, const char* name) {
  if (!options.has("output.extra")) return false;
  return std::ranges::count(options.texts("output.extra"), name) > 0;
}

}  // namespace

template <class T>
void FlowModel<T>::add_extra_fields(std::vector<ModelField>& all) {
  if (wants(options_, "face_velocity")) {
    ModelField field{.name = "face_velocity", .components = 3, .single = sizeof(T) == sizeof(float), .output = true};
    field.read = [this](std::size_t p, const RowSet& rows, std::span<double> to) {
      std::vector<double> one(to.size() / 3);
      for (std::size_t c = 0; c < 3; ++c) {
        take_owned(stream(p), parts_[p].u[c], domain_.arrays[p], rows.box, one);
        for (std::size_t i = 0; i < one.size(); ++i) to[3 * i + c] = one[i];
      }
    };
    all.push_back(std::move(field));
  }
  if (!flow_.plane) return;
  ModelField field{.name = "stream_function", .output = true, .probes = {"stream_function"}};
  field.read = [this](std::size_t, const RowSet& rows, std::span<double> to) {
    const auto [a, b] = *flow_.plane;
    const Lid n = flow_.grid.lines[a].cells();
    auto value = to.begin();
    const CellBox& box = rows.box;
    for (Lid k = box.lower[2]; k < box.upper[2]; ++k)
      for (Lid j = box.lower[1]; j < box.upper[1]; ++j)
        for (Lid i = box.lower[0]; i < box.upper[0]; ++i) {
          const std::array<Lid, 3> cell{i, j, k};
          *value++ = stream_function_.empty() ? 0 : stream_function_[cell[b] * n + cell[a]];
        }
  };
  all.push_back(std::move(field));
}

/// psi with u_a = dpsi/db and u_b = -dpsi/da in the plane of a and b, 0 at the lower corner: exact at the cells'
/// corners, for what flows through faces has no divergence; of a cell, the mean of its corners. Every rank adds up all
/// of it, in the same order.
template <class T>
void FlowModel<T>::find_stream_function() {
  if (!flow_.plane) return;
  const std::size_t a = (*flow_.plane)[0], b = (*flow_.plane)[1];
  const GridLine &along = flow_.grid.lines[a], &up = flow_.grid.lines[b];
  const Lid na = along.cells(), nb = up.cells();
  struct Value {
    Lid i, j;  ///< j = -1: of u_b through the lower end
    double value;
  };
  std::vector<Value> mine;
  comm_.together([&] {
    for (std::size_t p = 0; p < parts_.size(); ++p) {
      const CellBox& box = parts_[p].box;
      if (box.empty()) continue;
      const auto take = [&](std::size_t c, bool lower_end_only) {
        CellBox cells = box;
        if (cells.lower[c] == 0) --cells.lower[c];  // what flows through the lower end
        if (lower_end_only) cells.upper[c] = std::min(cells.upper[c], Lid{0});
        if (cells.lower[c] >= cells.upper[c]) return;
        std::vector<double> values(cells.cells());
        take_owned(stream(p), parts_[p].u[c], domain_.arrays[p], cells, values);
        auto value = values.begin();
        for (Lid z = cells.lower[2]; z < cells.upper[2]; ++z)
          for (Lid y = cells.lower[1]; y < cells.upper[1]; ++y)
            for (Lid x = cells.lower[0]; x < cells.upper[0]; ++x) {
              const std::array<Lid, 3> cell{x, y, z};
              mine.push_back({cell[a], cell[b], *value++});
            }
      };
      take(a, false);
      take(b, true);
    }
  });
  // At corners: of row j + 1 and column i + 1, the upper corner of cell i, j.
  const auto corner = [na](Lid i, Lid j) {
    return static_cast<std::size_t>(j + 1) * static_cast<std::size_t>(na + 1) + static_cast<std::size_t>(i + 1);
  };
  std::vector<double> through(static_cast<std::size_t>(na + 1) * static_cast<std::size_t>(nb + 1));
  for (const Value& v : comm_.all_gather(std::span<const Value>(mine))) through[corner(v.i, v.j)] = v.value;
  std::vector<double> psi(through.size());
  for (Lid i = 0; i < na; ++i) psi[corner(i, -1)] = psi[corner(i - 1, -1)] - through[corner(i, -1)] * along.width(i);
  for (Lid j = 0; j < nb; ++j)
    for (Lid i = -1; i < na; ++i) psi[corner(i, j)] = psi[corner(i, j - 1)] + through[corner(i, j)] * up.width(j);
  stream_function_.clear();
  for (Lid j = 0; j < nb; ++j)
    for (Lid i = 0; i < na; ++i)
      stream_function_.push_back(
          0.25 * ((psi[corner(i - 1, j - 1)] + psi[corner(i, j - 1)]) + (psi[corner(i - 1, j)] + psi[corner(i, j)])));
}

template class FlowModel<double>;
template class FlowModel<float>;

}  // namespace tutti::incompressible
