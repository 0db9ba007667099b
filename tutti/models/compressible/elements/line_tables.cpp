#include "tutti/models/compressible/elements/line_tables.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "tutti/mesh/elements/element_tables.hpp"
#include "tutti/models/compressible/elements/quadrature.hpp"

namespace tutti::compressible {
namespace {

/// sqrt(2 k + 1) P_k(2 x - 1) and their derivatives.
struct Legendre {
  std::array<double, hexahedra::line> value{1}, slope{};
  Legendre(int order, double x) {
    const double z = 2 * x - 1;
    std::array<double, hexahedra::line> p{1, z}, d{0, 2};
    for (std::size_t k = 1; k < static_cast<std::size_t>(order); ++k) {
      const auto n = static_cast<double>(k);
      p[k + 1] = ((2 * n + 1) * z * p[k] - n * p[k - 1]) / (n + 1);
      d[k + 1] = d[k - 1] + 2 * (2 * n + 1) * p[k];
    }
    for (std::size_t k = 0; k <= static_cast<std::size_t>(order); ++k) {
      const double scale = std::sqrt(2 * static_cast<double>(k) + 1);
      value[k] = scale * p[k];
      slope[k] = scale * d[k];
    }
  }
};

}  // namespace

void make_line_tables(int order, double* to) {
  constexpr int line = hexahedra::line;
  std::fill(to, to + hexahedra::Lines::size, 0.0);
  const Quadrature rule = gauss_jacobi(hexahedra::points_of(order), 0);
  double *weighed = to + 2 * line * line, *ends = to + 4 * line * line;
  for (int q = 0; q < rule.size(); ++q) {
    const Legendre at(order, rule.points[q].x);
    for (int k = 0; k <= order; ++k) {
      to[k * line + q] = at.value[k];
      to[(line + k) * line + q] = at.slope[k];
      weighed[q * line + k] = rule.weights[q] * at.value[k];
      weighed[(line + q) * line + k] = rule.weights[q] * at.slope[k];
    }
  }
  for (const int end : {0, 1}) {
    const Legendre at(order, end);
    for (int k = 0; k <= order; ++k) {
      ends[end * line + k] = at.value[k];
      ends[(2 + end) * line + k] = at.slope[k];
    }
  }
}

std::int32_t plane_of(int face) {
  const Vec3 middle = face_reference(ElementType::hexahedron, face, 0.5, 0.5);
  int d = 0;
  while (middle[d] == 0.5) ++d;
  return 2 * d + static_cast<std::int32_t>(middle[d]);
}

std::vector<std::uint8_t> places_in_plane(int order, int face, std::span<const Vec3> points) {
  const int m = hexahedra::points_of(order), normal = plane_of(face) / 2;
  const Quadrature rule = gauss_jacobi(m, 0);
  const auto place = [&](double x) {
    int nearest = 0;
    for (int q = 1; q < m; ++q)
      if (std::fabs(rule.points[q].x - x) < std::fabs(rule.points[nearest].x - x)) nearest = q;
    return nearest;
  };
  std::vector<std::uint8_t> places(max_face_points, 0);
  for (std::size_t q = 0; q < points.size(); ++q)
    places[q] =
        static_cast<std::uint8_t>(m * place(points[q][normal == 0 ? 1 : 0]) + place(points[q][normal == 2 ? 1 : 2]));
  return places;
}

}  // namespace tutti::compressible
