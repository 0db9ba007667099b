#include "tutti/models/compressible/elements/samples.hpp"

#include <algorithm>

#include "tutti/mesh/elements/element_tables.hpp"

namespace tutti::compressible {

namespace {

Quadrature high_rule(ElementType type, int degree) {
  switch (type) {
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

}  // namespace

Samples::Samples(const LocalElementMesh& mesh, Range rows, int order, bool stored, bool exceed)
    : mesh_(mesh), rows_(rows), order_(order), stored_(stored), exceed_(exceed) {
  for (Lid e = rows.begin; e < rows.end; ++e) {
    const ElementType type = mesh.types[e];
    if (rules_.contains(type) && (stored || shared_.contains(type))) continue;
    const ElementMap map(type, mesh.element_nodes(e));
    if (!map.affine() && !exceed) continue;  // its own rule serves
    if (!rules_.contains(type)) rules_.emplace(type, ElementRule(type, high_rule(type, 2 * order + 5)));
    if (stored || !map.affine()) continue;
    const ElementRule& rule = rules_.at(type);
    Table table = table_of(ElementBasis(map, order, stored), rule, rule.rule.points);
    for (std::size_t q = 0; q < table.shares.size(); ++q)
      table.shares[q] = rule.rule.weights[q] / reference_volume(type);  // the same bits for all elements of the type
    shared_.emplace(type, std::move(table));
  }
}

/// Without shares. Places: where the basis is evaluated.
Samples::Table Samples::table_of(const ElementBasis& basis, const ElementRule& rule, std::span<const Vec3> places) {
  const auto n = static_cast<std::size_t>(basis.basis().size()),
             columns = static_cast<std::size_t>(padded(static_cast<int>(n))), count = places.size();
  Table table{&rule, std::vector<double>(count), std::vector<double>(count * columns)};
  basis.basis().values_by_point(places, std::vector<double>(count, 1.0), table.basis.data());
  for (std::size_t q = 1; q < count; ++q)
    std::copy_n(table.basis.begin() + static_cast<std::ptrdiff_t>(q * columns), n,
                table.basis.begin() + static_cast<std::ptrdiff_t>(q * n));
  table.basis.resize(count * n);
  return table;
}

Samples::Sample Samples::sample(Lid row) const {
  const ElementType type = mesh_.types[row];
  const ElementMap map(type, mesh_.element_nodes(row));
  Sample s;
  if (!stored_ && map.affine()) {
    s.shared = &shared_.at(type);
    s.volume = map.jacobian(map.centre()).determinant() * reference_volume(type);
    s.places = s.shared->rule->map(map).points();
    return s;
  }
  const ElementBasis basis(map, order_, stored_);
  const bool own_rule = !map.affine() && !exceed_;
  const ElementRule& rule = own_rule ? basis.element_rule() : rules_.at(type);
  const MappedRule mapped = own_rule ? basis.mapped() : rule.map(map);
  s.places = mapped.points();
  s.own = table_of(basis, rule, s.places);
  s.volume = basis.volume();
  double volume = 0;
  for (const double w : mapped.weights) volume += w;
  for (std::size_t q = 0; q < s.places.size(); ++q) s.own.shares[q] = mapped.weights[q] / volume;
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
