#include "tutti/mesh/elements/reference_rules.hpp"

#include <cmath>
#include <utility>

#include "tutti/base/error.hpp"

namespace tutti {
namespace {

/// Points and weights of Gauss's rule on [0, 1].
std::vector<std::pair<double, double>> gauss(int n) {
  const auto rule = [](const std::vector<std::pair<double, double>>& half) {
    std::vector<std::pair<double, double>> points;
    for (const auto& [x, w] : half) {
      points.emplace_back(0.5 - 0.5 * x, 0.5 * w);
      if (x > 0) points.emplace_back(0.5 + 0.5 * x, 0.5 * w);
    }
    return points;
  };
  if (n == 2) return rule({{1 / std::sqrt(3.0), 1}});
  if (n == 3) return rule({{0, 8.0 / 9}, {std::sqrt(0.6), 5.0 / 9}});
  require(n == 4, "Gauss's rule of {} points: 2 to 4 are known", n);
  const double root = 2 * std::sqrt(1.2) / 7, s = std::sqrt(30.0) / 36;
  return rule({{std::sqrt(3.0 / 7 - root), 0.5 + s}, {std::sqrt(3.0 / 7 + root), 0.5 - s}});
}

}  // namespace

std::vector<ReferencePoint> collapsed_gauss(ElementType type, int n) {
  const auto line = gauss(n);
  std::vector<ReferencePoint> points;
  for (const auto& [t, wt] : line)
    for (const auto& [b, wb] : line)
      for (const auto& [a, wa] : line) {
        const double w = wa * wb * wt, u = 1 - t;
        switch (type) {
          case ElementType::hexahedron:
            points.push_back({{a, b, t}, w});
            break;
          case ElementType::prism:
            points.push_back({{a * (1 - b), b, t}, w * (1 - b)});
            break;
          case ElementType::pyramid:
            points.push_back({{a * u, b * u, t}, w * u * u});
            break;
          case ElementType::tetrahedron:
            points.push_back({{a * (1 - b) * u, b * u, t}, w * (1 - b) * u * u});
            break;
        }
      }
  return points;
}

VolumeRule::VolumeRule() {
  for (std::size_t t = 0; t < 4; ++t)
    for (int order = 1; order <= 2; ++order) {
      const auto type = static_cast<ElementType>(t);
      Rule& rule = rules_[t][order - 1];
      std::vector<Vec3> points;
      for (const ReferencePoint& p : collapsed_gauss(type, order == 1 ? 3 : 4)) {
        points.push_back(p.r);
        rule.weights.push_back(p.weight);
      }
      rule.table = ShapeTable(type, order, points);
    }
}

double VolumeRule::volume(const ElementMesh& mesh, Gid element) const {
  const ElementPoints nodes = gather_points(mesh, element);
  const auto order = static_cast<std::size_t>(geometry_order(mesh.type(element), nodes.view().size()));
  const Rule& rule = rules_[static_cast<std::size_t>(mesh.type(element))][order - 1];
  double volume = 0;
  for (std::size_t k = 0; k < rule.weights.size(); ++k)
    volume += rule.weights[k] * rule.table.map(k, nodes.view()).determinant();
  return volume;
}

}  // namespace tutti
