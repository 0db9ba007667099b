#include "tutti/models/compressible/elements/samples.hpp"

#include <algorithm>

#include "tutti/mesh/elements/element_tables.hpp"

namespace tutti::compressible {

Samples::Samples(const LocalElementMesh& mesh, Range rows, int order, bool stored, bool exceed)
    : mesh_(mesh), rows_(rows), order_(order), stored_(stored), exceed_(exceed) {
  for (Lid e = rows.begin; e < rows.end; ++e) {
    const ElementType type = mesh.types[e];
    if (stored || shared_.contains(type)) continue;
    const ElementMap map(type, mesh.element_nodes(e));
    if (!map.affine()) continue;
    const ElementBasis basis(map, order, stored);
    shared_.emplace(type, table_of(basis, rule_of(basis)));
  }
}

Quadrature Samples::rule_of(const ElementBasis& basis) const {
  const int degree = 2 * order_ + 5;
  if (!basis.map().affine() && !exceed_) return basis.rule();
  switch (basis.map().type()) {
    case ElementType::tetrahedron:
      return tetrahedron_rule(degree);
    case ElementType::hexahedron:
      return hexahedron_rule(degree);
    case ElementType::prism:
      return prism_rule(degree, degree);
    case ElementType::pyramid:
      break;
  }
  return pyramid_rule(degree);
}

Samples::Table Samples::table_of(const ElementBasis& basis, const Quadrature& rule) {
  Table table;
  table.rule = rule;
  double volume = 0;
  std::vector<Vec3> places;
  for (std::size_t q = 0; q < rule.points.size(); ++q) {
    table.shares.push_back(rule.weights[q] * basis.map().jacobian(rule.points[q]).determinant());
    volume += table.shares.back();
    places.push_back(basis.place(rule.points[q]));
  }
  const auto n = static_cast<std::size_t>(basis.basis().size()),
             columns = static_cast<std::size_t>(padded(static_cast<int>(n)));
  table.basis.resize(places.size() * columns);
  basis.basis().values_by_point(places, std::vector<double>(places.size(), 1.0), table.basis.data());
  for (std::size_t q = 1; q < places.size(); ++q)
    std::copy_n(table.basis.begin() + static_cast<std::ptrdiff_t>(q * columns), n,
                table.basis.begin() + static_cast<std::ptrdiff_t>(q * n));
  table.basis.resize(places.size() * n);
  for (double& share : table.shares) share /= volume;
  if (basis.affine())  // the same bits for all elements of the type
    for (std::size_t q = 0; q < rule.points.size(); ++q)
      table.shares[q] = rule.weights[q] / reference_volume(basis.map().type());
  return table;
}

Samples::Sample Samples::sample(Lid row) const {
  const ElementType type = mesh_.types[row];
  const ElementMap map(type, mesh_.element_nodes(row));
  const bool affine = !stored_ && map.affine();
  Sample s;
  if (affine) {
    s.shared = &shared_.at(type);
    s.volume = map.jacobian(map.centre()).determinant() * reference_volume(type);
  } else {
    const ElementBasis basis(map, order_, stored_);
    s.own = table_of(basis, rule_of(basis));
    s.volume = basis.volume();
  }
  for (const Vec3& r : s.table().rule.points) s.places.push_back(map.point(r));
  return s;
}

void Samples::for_each(Threads& threads, const Use& use) const {
  threads.for_range(rows_.size(), [&](Size begin, Size end) {
    for (Size i = begin; i < end; ++i) {
      const Lid row = rows_.begin + static_cast<Lid>(i);
      const Sample s = sample(row);
      use(row, s.volume, s.places, s.table().shares, s.table().basis);
    }
  });
}

}  // namespace tutti::compressible
