#include "tutti/models/compressible/elements/tetrahedron_symmetry.hpp"

#include <algorithm>
#include <vector>

#include "tutti/base/error.hpp"

namespace tutti::compressible {

void make_symmetric_trace(const Basis& basis, int f, std::span<const Vec3> on_face_0, std::span<const Vec3> places,
                          double* to) {
  std::vector<Vec3> at;
  for (const Vec3 place : places) {
    const Vec3 there = half_turned(f, place);
    const auto near = std::find_if(on_face_0.begin(), on_face_0.end(), [&](Vec3 a) { return norm(a - there) < 1e-10; });
    require(near != on_face_0.end(), "the rule of a tetrahedron's faces is not symmetric");
    at.push_back(*near);
  }
  basis.values_by_function(at, to, static_cast<int>(places.size()));
  for (int l = 0; l < basis.size(); ++l)
    for (std::size_t q = 0; q < places.size(); ++q, ++to)
      if ((odd_under_half_turn(f) >> l & 1U) != 0) *to = -*to;
}

}  // namespace tutti::compressible
