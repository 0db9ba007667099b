#include "tutti/mesh/elements/generate_element_box.hpp"

#include <algorithm>
#include <cmath>
#include <new>
#include <stdexcept>
#include <vector>

#include "tutti/base/random.hpp"
#include "tutti/base/units.hpp"
#include "tutti/mesh/elements/element_checks.hpp"
#include "tutti/mesh/elements/element_faces.hpp"
#include "tutti/mesh/elements/element_tables.hpp"
#include "tutti/mesh/elements/quadratic.hpp"
#include "tutti/mesh/spec_error.hpp"

namespace tutti {
namespace {

/// Kuhn's six tetrahedra of a cube whose corners are bits (1: x, 2: y, 4: z), as in generate_box.
constexpr std::array<std::array<int, 4>, 6> kuhn = {
    {{0, 1, 3, 7}, {0, 3, 2, 7}, {0, 2, 6, 7}, {0, 6, 4, 7}, {0, 4, 5, 7}, {0, 5, 1, 7}}};
/// Two prisms along z; they cut the sides across z as Kuhn's tetrahedra do.
constexpr std::array<std::array<int, 6>, 2> two_prisms = {{{0, 1, 3, 4, 5, 7}, {0, 3, 2, 4, 7, 6}}};
/// A hexahedron's corners as bits.
constexpr std::array<int, 8> corner_bits = {0, 1, 3, 2, 4, 5, 7, 6};

/// What one layer of cubes, along x, is made of.
enum class Cut { hexahedron, prisms, tetrahedra, centre };

void check(const ElementBoxSpec& s) {
  double cubes = 1;
  for (int d = 0; d < 3; ++d) {
    const Gid n = s.cubes[d];
    if (n < 1) fail_spec("cubes", "box: {} cubes along {}; at least 1 is needed", n, "xyz"[d]);
    if (!(s.upper[d] > s.lower[d]) || !std::isfinite(s.upper[d] - s.lower[d]))
      fail_spec("upper", "box: the extent along {} is [{}, {}]; the upper end must be the larger", "xyz"[d], s.lower[d],
                s.upper[d]);
    cubes *= static_cast<double>(n);
  }
  if (cubes > 1e11) fail_spec("cubes", "box: {:.3g} cubes are more than tutti numbers (1e11); use fewer", cubes);
  if (!(s.jitter >= 0 && s.jitter < 0.5)) fail_spec("jitter", "box: jitter {} is not in [0, 0.5)", s.jitter);
  if (s.order != 1 && s.order != 2) fail_spec("order", "box: elements of order {}; 1 or 2 is expected", s.order);
  require_room(cubes, 300, "box", "cubes", "use fewer");
}

/// A layer beside tetrahedra has its sides cut, which hexahedra and prisms do not fit: it gets a centre.
std::vector<Cut> layers_of(const ElementBoxSpec& s) {
  const auto n = static_cast<std::size_t>(s.cubes[0]);
  constexpr std::array<Cut, 5> single = {Cut::hexahedron, Cut::tetrahedra, Cut::prisms, Cut::centre, Cut::centre};
  constexpr std::array<Cut, 5> mixture = {Cut::hexahedron, Cut::prisms, Cut::centre, Cut::tetrahedra, Cut::centre};
  std::vector<Cut> layers(n, single[static_cast<std::size_t>(s.elements)]);
  if (s.elements != BoxElements::mixed) return layers;
  for (std::size_t i = 0; i < n; ++i) layers[i] = mixture[i % 5];
  if (s.periodic[0] && layers.front() == Cut::hexahedron && layers.back() == Cut::tetrahedra)
    layers.front() = Cut::centre;
  return layers;
}

class BoxMaker {
 public:
  explicit BoxMaker(const ElementBoxSpec& spec) : s_(spec), n_(spec.cubes), layers_(layers_of(spec)) {}

  ElementMesh make(const ParallelFor& parallel) {
    make_points(parallel);
    for (Gid k = 0; k < n_[2]; ++k)
      for (Gid j = 0; j < n_[1]; ++j)
        for (Gid i = 0; i < n_[0]; ++i) make_cube(i, j, k);
    mesh_.region_names = {{1, "box"}};
    const char* names[] = {"x-min", "x-max", "y-min", "y-max", "z-min", "z-max"};
    for (std::int32_t tag = 1; tag <= 6; ++tag) mesh_.boundary_names[tag] = names[tag - 1];
    return std::move(mesh_);
  }

 private:
  Gid point(Gid i, Gid j, Gid k) const { return i + (n_[0] + 1) * (j + (n_[1] + 1) * k); }

  double line(std::size_t d, Gid i) const {
    const int axis = static_cast<int>(d);
    if (i == n_[d]) return s_.upper[axis];
    return s_.lower[axis] + static_cast<double>(i) / static_cast<double>(n_[d]) * (s_.upper[axis] - s_.lower[axis]);
  }

  void make_points(const ParallelFor& parallel) {
    const Gid nx = n_[0], ny = n_[1], nz = n_[2];
    mesh_.points.resize((nx + 1) * (ny + 1) * (nz + 1));
    for_ranges(parallel, (ny + 1) * (nz + 1), [&](Size begin, Size end) {
      for (Size row = begin; row < end; ++row) {
        const Gid j = row % (ny + 1), k = row / (ny + 1);
        for (Gid i = 0; i <= nx; ++i) {
          const auto v = static_cast<std::size_t>(point(i, j, k));
          Vec3 p{line(0, i), line(1, j), line(2, k)};
          const bool interior = i > 0 && i < nx && j > 0 && j < ny && k > 0 && k < nz;
          if (s_.jitter > 0 && interior)
            for (int d = 0; d < 3; ++d) {
              const double spacing = (s_.upper[d] - s_.lower[d]) / static_cast<double>(n_[d]);
              p[d] += s_.jitter * spacing * (2 * random_unit(s_.seed, 3 * v + static_cast<std::size_t>(d)) - 1);
            }
          mesh_.points[v] = p;
        }
      }
    });
  }

  /// Whether side `side` (as the faces of a hexahedron) of a cube of layer i is cut into two triangles.
  bool is_cut(Gid i, int side) const {
    const auto at = [&](Gid layer) { return layers_[layer]; };
    if (at(i) == Cut::tetrahedra || (at(i) == Cut::prisms && side >= 4)) return true;
    if (side > 1) return false;
    Gid other = side == 0 ? i - 1 : i + 1;
    if (other < 0 || other >= n_[0]) {
      if (!s_.periodic[0]) return false;
      other = other < 0 ? n_[0] - 1 : 0;
    }
    return at(other) == Cut::tetrahedra;
  }

  void make_cube(Gid i, Gid j, Gid k) {
    std::array<Gid, 8> corners{};  // by bits
    for (int b = 0; b < 8; ++b) corners[b] = point(i + (b & 1), j + (b >> 1 & 1), k + (b >> 2));
    const auto add = [&](ElementType type, const auto& bits) {
      std::array<Gid, 8> nodes{};
      for (std::size_t a = 0; a < bits.size(); ++a) nodes[a] = corners[bits[a]];
      mesh_.add_element(type, std::span<const Gid>(nodes.data(), bits.size()), 1);
    };
    switch (layers_[i]) {
      case Cut::hexahedron:
        add(ElementType::hexahedron, corner_bits);
        break;
      case Cut::tetrahedra:
        for (const auto& tet : kuhn) add(ElementType::tetrahedron, tet);
        break;
      case Cut::prisms:
        for (const auto& prism : two_prisms) add(ElementType::prism, prism);
        break;
      case Cut::centre:
        make_around_centre(i, corners);
        break;
    }
    const std::array<bool, 6> outside = {i == 0, i == n_[0] - 1, j == 0, j == n_[1] - 1, k == 0, k == n_[2] - 1};
    for (int side = 0; side < 6; ++side)
      if (outside[side]) make_side(i, side, corners);
  }

  /// Corners of side `side`, anticlockwise from outside; the first and the third end the diagonal that Kuhn's
  /// tetrahedra cut.
  static std::array<Gid, 4> side_corners(int side, const std::array<Gid, 8>& corners) {
    std::array<Gid, 4> result{};
    for (int a = 0; a < 4; ++a) {
      const auto local = static_cast<std::size_t>(face_corner(ElementType::hexahedron, side, a));
      result[a] = corners[corner_bits[local]];
    }
    return result;
  }

  void make_around_centre(Gid i, const std::array<Gid, 8>& corners) {
    Vec3 middle;
    for (const Gid c : corners) middle = middle + 0.125 * mesh_.points[c];
    const Gid top = mesh_.point_count();
    mesh_.points.push_back(middle);
    for (int side = 0; side < 6; ++side) {
      const auto q = side_corners(side, corners);
      if (is_cut(i, side)) {
        mesh_.add_element(ElementType::tetrahedron, std::array<Gid, 4>{q[0], q[2], q[1], top}, 1);
        mesh_.add_element(ElementType::tetrahedron, std::array<Gid, 4>{q[0], q[3], q[2], top}, 1);
      } else {
        mesh_.add_element(ElementType::pyramid, std::array<Gid, 5>{q[0], q[3], q[2], q[1], top}, 1);
      }
    }
  }

  void make_side(Gid i, int side, const std::array<Gid, 8>& corners) {
    const auto q = side_corners(side, corners);
    const auto add = [&](std::array<Gid, 4> face) {
      mesh_.boundary.push_back(face);
      mesh_.boundary_tags.push_back(side + 1);
    };
    if (is_cut(i, side)) {
      add({q[0], q[1], q[2], -1});
      add({q[0], q[2], q[3], -1});
    } else {
      add(q);
    }
  }

  const ElementBoxSpec& s_;
  std::array<Gid, 3> n_;
  std::vector<Cut> layers_;
  ElementMesh mesh_;
};

void check_volumes(const ElementBoxSpec& s, const ElementMesh& mesh, const ParallelFor& parallel) {
  const Gid bad = count_inverted(mesh, parallel);
  if (bad == 0) return;
  if (s.map)
    fail_spec("map", "box: {} of {} elements are inverted somewhere; check the map and lower the jitter ({})",
              format_count(bad), format_count(mesh.element_count()), s.jitter);
  fail_spec("jitter", "box: jitter {} inverts {} of {} elements; lower it (below 0.15 is always safe)", s.jitter,
            format_count(bad), format_count(mesh.element_count()));
}

void move_pairs(ElementMesh& mesh) {
  try {
    refresh_periodic(mesh);
  } catch (const Error& error) {
    fail_spec("map", "box: the map moves periodic sides apart ({}); it must move both alike", error.what());
  }
}

}  // namespace

BoxElements parse_box_elements(const std::string& word) {
  constexpr std::array<const char*, 5> words = {"hex", "tet", "prism", "pyramid", "mixed"};
  for (std::size_t i = 0; i < words.size(); ++i)
    if (word == words[i]) return static_cast<BoxElements>(i);
  fail_spec("element", "unknown element '{}'; choose one of hex, tet, prism, pyramid, mixed", word);
}

ElementMesh generate_element_box(const ElementBoxSpec& spec, const ParallelFor& parallel) {
  check(spec);
  try {
    ElementMesh mesh = BoxMaker(spec).make(parallel);
    for (int d = 0; d < 3; ++d) {
      if (!spec.periodic[d]) continue;
      Vec3 shift;
      shift[d] = spec.upper[d] - spec.lower[d];
      add_periodic(mesh, 2 * d + 1, 2 * d + 2, &shift);
    }
    if (spec.order == 2) mesh = make_quadratic(mesh);
    if (spec.map) {
      for (Vec3& p : mesh.points) p = spec.map(p);
      move_pairs(mesh);
    }
    check_volumes(spec, mesh, parallel);
    return mesh;
  } catch (const std::bad_alloc&) {
    fail(ErrorKind::resource, "box: no memory for {} x {} x {} cubes; about 0.3 kB per element are needed",
         spec.cubes[0], spec.cubes[1], spec.cubes[2]);
  } catch (const std::length_error&) {
    fail(ErrorKind::resource, "box: no memory for {} x {} x {} cubes; about 0.3 kB per element are needed",
         spec.cubes[0], spec.cubes[1], spec.cubes[2]);
  }
}

}  // namespace tutti
