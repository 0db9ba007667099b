// Which elements share a face, and how.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tutti/base/csr.hpp"
#include "tutti/base/parallel.hpp"
#include "tutti/mesh/elements/element_mesh.hpp"

namespace tutti {

/// A face between two elements, or between one and the outside.
struct ElementFace {
  Gid left = 0, right = -1;            ///< elements; left <= right; right is -1 at the boundary
  int left_face = 0, right_face = -1;  ///< local numbers
  int orientation = 0;                 ///< corner k of the left's face is corner (orientation - k) mod n of the right's
  std::int32_t tag = 0;                ///< of a boundary face; 0: it has none, or the face is not at the boundary
  Vec3 shift;                          ///< a point x of the left's face is the point x + shift of the right's
};

/// All faces, ordered by their left element and its local face. Of periodic pairs one face is made. O(n) with the
/// number of elements. Errors (input): a face of three elements, an element twice, an element that names no point, a
/// boundary face that is none of any element or has two tags, a triangle against a quadrangle, a periodic pair whose
/// faces are not at the boundary or do not fit each other. They begin with "mesh: "; file_of_errors() puts a file
/// before them.
std::vector<ElementFace> match_faces(const ElementMesh& mesh, const ParallelFor& parallel = {});

/// Face coordinates of the right's face at the coordinates u, v of the left's face of `corners` corners.
struct FacePoint {
  double u = 0, v = 0;
};
TUTTI_HD inline FacePoint right_face_point(int corners, int orientation, double u, double v) {
  if (corners == 3) {
    // Barycentric coordinates of the left's corners 0, 1, 2 go to the right's corners o, o - 1, o - 2.
    const double w = 1 - u - v;
    if (orientation == 0) return {v, u};
    if (orientation == 1) return {w, v};
    return {u, w};
  }
  switch (orientation) {
    case 0:
      return {v, u};
    case 1:
      return {1 - u, v};
    case 2:
      return {1 - v, 1 - u};
    default:
      return {u, 1 - v};
  }
}

/// Pairs the boundary faces of tag `a` with those of tag `b` by the translation that lays one set onto the other: the
/// difference of the sets' centroids, or `shift` where it is given (points of `a` + shift are points of `b`). Corners
/// may differ by `tolerance` times the face's size. Errors (input): faces without a partner, named with element and
/// place.
void add_periodic(ElementMesh& mesh, std::int32_t a, std::int32_t b, const Vec3* shift = nullptr,
                  double tolerance = 1e-6);

/// Takes the translation of every periodic pair anew from its faces' corners, after points have moved. Errors (input):
/// a pair whose faces are no longer translations of each other (to 1e-6 of their size).
void refresh_periodic(ElementMesh& mesh);

/// Elements that share a face, periodic ones too; each row ascending, without the element itself.
Adjacency element_adjacency(Gid elements, const std::vector<ElementFace>& faces);

}  // namespace tutti
