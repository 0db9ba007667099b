// A box in hexahedra, tetrahedra, prisms, pyramids or all of them.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <string>

#include "tutti/base/parallel.hpp"
#include "tutti/mesh/elements/element_mesh.hpp"

namespace tutti {

/// What a box is made of. A cube becomes one hexahedron, six of Kuhn's tetrahedra (as in generate_box), two prisms
/// along z, or six pyramids around its centre. `mixed`: layers of cubes along x in turn hexahedra, prisms, pyramids and
/// tetrahedra, tetrahedra, and again the layer between; from three layers on it has hexahedra or prisms and pyramids,
/// from four on tetrahedra, too.
enum class BoxElements { hexahedra, tetrahedra, prisms, pyramids, mixed };

/// "hex", "tet", "prism", "pyramid" or "mixed". Error(usage) (SpecError "element"): another word.
BoxElements parse_box_elements(const std::string& word);

struct ElementBoxSpec {
  BoxElements elements = BoxElements::hexahedra;
  std::array<Gid, 3> cubes{1, 1, 1};  ///< along x, y, z
  Vec3 lower{0, 0, 0}, upper{1, 1, 1};
  double jitter = 0;       ///< interior grid points move by up to this fraction of the spacing, as in generate_box
  std::uint64_t seed = 1;  ///< of the jitter
  std::array<bool, 3> periodic{false, false, false};
  int order = 1;                  ///< of the geometry: 1 or 2
  std::function<Vec3(Vec3)> map;  ///< applied to every point last; with order 2, faces become curved
};

/// The box of `spec`, cube by cube with x running fastest. Region 1 "box"; sides tagged as BoxTags, also where they are
/// periodic (their faces are pairs then). Errors (usage, SpecError): counts < 1, empty extent, jitter outside [0, 0.5),
/// an order other than 1 and 2, elements turned over by jitter or map, a map that does not keep periodic sides alike;
/// (resource): too large for the memory.
ElementMesh generate_element_box(const ElementBoxSpec& spec, const ParallelFor& parallel = {});

}  // namespace tutti
