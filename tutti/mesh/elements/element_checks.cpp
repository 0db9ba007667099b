#include "tutti/mesh/elements/element_checks.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>
#include <mutex>
#include <optional>

#include "tutti/base/error.hpp"
#include "tutti/mesh/elements/element_geometry.hpp"
#include "tutti/mesh/elements/reference_rules.hpp"

namespace tutti {
namespace {

constexpr double least_quality = 1e-10;
/// Smaller determinants have lost digits, and times the weights of a quadrature they may be 0.
constexpr double least_determinant = std::numeric_limits<double>::min() / std::numeric_limits<double>::epsilon();

/// check_points() of every type and order, made once for a loop over elements.
class Quality {
 public:
  Quality() {
    for (std::size_t t = 0; t < 4; ++t)
      for (int order = 1; order <= 2; ++order) {
        const auto type = static_cast<ElementType>(t);
        tables_[t][order - 1] = ShapeTable(type, order, check_points(type, order));
      }
  }

  /// Also the place of the smallest determinant.
  std::pair<double, Vec3> of(const ElementMesh& mesh, Gid e) const {
    const ElementType type = mesh.type(e);
    const ElementPoints nodes = gather_points(mesh, e);
    const int order = geometry_order(type, nodes.view().size());
    const ShapeTable& table = tables_[static_cast<std::size_t>(type)][order - 1];
    double least = std::numeric_limits<double>::infinity(), sum = 0;
    Vec3 place;
    for (std::size_t k = 0; k < table.points(); ++k) {
      const MappedPoint p = table.map(k, nodes.view());
      const double determinant = p.determinant();
      sum += std::abs(determinant);
      if (!(determinant < least)) continue;
      least = determinant;
      place = p.x;
    }
    const double mean = sum / static_cast<double>(table.points());
    return {mean >= least_determinant ? least / mean : std::numeric_limits<double>::quiet_NaN(), place};
  }

 private:
  std::array<std::array<ShapeTable, 2>, 4> tables_;
};

bool is_sound(double quality) {
  return quality > least_quality;
}

/// The smallest element for which `is_bad`, if there is one.
template <class IsBad>
std::optional<Gid> first_bad(Gid elements, const ParallelFor& parallel, const IsBad& is_bad) {
  std::mutex mutex;
  std::optional<Gid> first;
  for_ranges(parallel, elements, [&](Size begin, Size end) {
    for (Gid e = begin; e < end; ++e) {
      if (!is_bad(e)) continue;
      const std::lock_guard lock(mutex);
      if (!first || e < *first) first = e;
      return;
    }
  });
  return first;
}

void check_nodes(const ElementMesh& mesh, const std::string& name, Gid e) {
  const ElementType type = mesh.type(e);
  const auto nodes = mesh.element_nodes(e);
  if (geometry_order(type, nodes.size()) == 0)
    fail(ErrorKind::input, "{}: element {} ({}) has {} nodes; {} or {} are expected", name, e, element_name(type),
         nodes.size(), corner_count(type), quadratic_node_count(type));
  for (const Gid v : nodes)
    if (v < 0 || v >= mesh.point_count())
      fail(ErrorKind::input, "{}: element {} ({}) names point {}, but there are {} points, numbered from 0", name, e,
           element_name(type), v, mesh.point_count());
}

}  // namespace

std::vector<Vec3> check_points(ElementType type, int order) {
  std::vector<Vec3> points;
  for (int n = 0; n < corner_count(type); ++n) {
    Vec3 r = node_reference(type, n);
    if (type == ElementType::pyramid && n == 4) r = {0.5e-6, 0.5e-6, 1 - 1e-6};
    points.push_back(r);
  }
  for (const ReferencePoint& p : collapsed_gauss(type, order == 1 ? 2 : 4)) points.push_back(p.r);
  return points;
}

double jacobian_quality(const ElementMesh& mesh, Gid element) {
  return Quality().of(mesh, element).first;
}

Gid count_inverted(const ElementMesh& mesh, const ParallelFor& parallel) {
  const Quality quality;
  std::atomic<Gid> all{0};
  for_ranges(parallel, mesh.element_count(), [&](Size begin, Size end) {
    Gid bad = 0;
    for (Gid e = begin; e < end; ++e) bad += !is_sound(quality.of(mesh, e).first);
    all += bad;
  });
  return all;
}

void check_elements(const ElementMesh& mesh, const std::string& name, const ParallelFor& parallel) {
  if (mesh.types.empty())
    fail(ErrorKind::input, "{}: there are no tetrahedra, hexahedra, prisms or pyramids; a mesh in 3D is expected",
         name);
  for (Gid e = 0; e < mesh.element_count(); ++e) check_nodes(mesh, name, e);
  for (std::size_t p = 0; p < mesh.points.size(); ++p)
    if (const Vec3 x = mesh.points[p]; !std::isfinite(x.x) || !std::isfinite(x.y) || !std::isfinite(x.z))
      fail(ErrorKind::input, "{}: point {} has the coordinates {} {} {}; finite numbers are expected", name, p, x.x,
           x.y, x.z);
  const Quality quality;
  const auto bad =
      first_bad(mesh.element_count(), parallel, [&](Gid e) { return !is_sound(quality.of(mesh, e).first); });
  if (!bad) return;
  const auto [value, place] = quality.of(mesh, *bad);
  const char* type = element_name(mesh.type(*bad));
  if (std::isnan(value))
    fail(ErrorKind::input, "{}: element {} ({}) at ({:.6g}, {:.6g}, {:.6g}) has no volume; improve the mesh there",
         name, *bad, type, place.x, place.y, place.z);
  fail(ErrorKind::input,
       "{}: element {} ({}) is inverted at ({:.6g}, {:.6g}, {:.6g}): its Jacobian determinant is {:.3g} of its mean; "
       "improve the mesh there (gmsh: Mesh.HighOrderOptimize, or finer elements where the surface bends)",
       name, *bad, type, place.x, place.y, place.z, value);
}

ElementMeasures element_measures(const ElementMesh& mesh, const ParallelFor& parallel) {
  ElementMeasures m;
  m.centroids.resize(mesh.types.size());
  m.volumes.resize(mesh.types.size());
  const VolumeRule rule;
  for_ranges(parallel, mesh.element_count(), [&](Size begin, Size end) {
    for (Gid e = begin; e < end; ++e) {
      const int corners = corner_count(mesh.type(e));
      const auto nodes = mesh.element_nodes(e);
      Vec3 centre;
      for (std::size_t n = 0; n < static_cast<std::size_t>(corners); ++n)
        centre = centre + (1.0 / corners) * mesh.points[nodes[n]];
      m.centroids[e] = centre;
      m.volumes[e] = rule.volume(mesh, e);
    }
  });
  return m;
}

}  // namespace tutti
