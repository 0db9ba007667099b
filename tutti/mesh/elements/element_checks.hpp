// Whether a mesh of elements can be computed on.
#pragma once

#include <string>
#include <vector>

#include "tutti/base/parallel.hpp"
#include "tutti/mesh/elements/element_faces.hpp"
#include "tutti/mesh/elements/element_mesh.hpp"

namespace tutti {

/// Where Jacobians are looked at, in reference coordinates: Gauss points (2 a direction for elements of first order, 4
/// for those of second) and the corners, a pyramid's apex but for 1e-6.
std::vector<Vec3> check_points(ElementType type, int order);

/// The smallest Jacobian determinant at check_points() over the mean of their absolute values: 1 for parallelepipeds
/// and straight tetrahedra, 0 or less where the element is turned over or flat; NaN where it has no volume, or one too
/// small for doubles (determinants below 1e-292).
double jacobian_quality(const ElementMesh& mesh, Gid element);

/// How many elements are turned over somewhere: jacobian_quality() not above 1e-10.
Gid count_inverted(const ElementMesh& mesh, const ParallelFor& parallel = {});

/// Checks numbers of nodes, finite points and Jacobians. Errors (input): one line with `name` (the file), the first
/// element that is wrong, and the place.
void check_elements(const ElementMesh& mesh, const std::string& name, const ParallelFor& parallel = {});

/// match_faces(), and what only shows between elements: second-order faces that do not have the same points on both
/// sides, and hanging nodes (a corner of one element in the middle of an edge or face of another, as local refinement
/// leaves them). Errors (input): one line that begins with `name`.
std::vector<ElementFace> match_faces_checked(const ElementMesh& mesh, const std::string& name,
                                             const ParallelFor& parallel = {});

/// Centroids of the corners, and volumes by a quadrature that is exact for elements of either order, for partitioners.
struct ElementMeasures {
  std::vector<Vec3> centroids;
  std::vector<double> volumes;
};
ElementMeasures element_measures(const ElementMesh& mesh, const ParallelFor& parallel = {});

}  // namespace tutti
