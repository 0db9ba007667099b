// The tables that kernels read, made for the elements and faces of a part.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <span>
#include <tuple>
#include <vector>

#include "tutti/base/parallel.hpp"
#include "tutti/domain/element_domain.hpp"
#include "tutti/models/compressible/elements/basis.hpp"
#include "tutti/models/compressible/kernels/view.hpp"

namespace tutti::compressible {

/// The basis of one element. Of affine elements it is that of the reference element: all of a type share it.
class ElementBasis {
 public:
  /// `stored`: affine elements have bases of their own, too.
  ElementBasis(const ElementMap& map, int order, bool stored);
  const ElementMap& map() const { return map_; }
  bool affine() const { return affine_; }
  const Quadrature& rule() const { return *rule_; }
  double volume() const { return volume_; }
  /// At reference coordinates.
  std::vector<double> values(Vec3 reference) const;
  /// In physical space; in reference space where it is affine.
  std::vector<Vec3> gradients(Vec3 reference) const;

 private:
  ElementMap map_;
  bool affine_;
  std::shared_ptr<const Quadrature> rule_;
  std::shared_ptr<const Basis> basis_;
  double volume_ = 0;
};

/// Points of a face at the boundary, where the case's formulas are evaluated.
struct BoundaryPoints {
  std::vector<Vec3> places;        ///< padded as the face
  std::vector<std::int32_t> tags;  ///< of each point's face
};

/// All on the host.
struct Operators {
  std::vector<ElementRecord> elements;  ///< owned, then ghosts
  std::vector<double> metric;
  std::vector<FaceRecord> faces;
  std::vector<std::int32_t> face_of;
  std::vector<double> tables;
  std::vector<double> normals;
  std::vector<std::uint8_t> turns;
  BoundaryPoints boundary;
  Size flux_values = 0;  ///< doubles of all faces' fluxes
};

struct OperatorOptions {
  int order = 1;
  bool stored = false;      ///< every element has tables of its own, as in the paper
  bool derivatives = true;  ///< make them
};

/// Error(input) names an element that is turned over or folded.
Operators make_operators(const LocalElementMesh& mesh, const IndexMap& map, const OperatorOptions& options);

}  // namespace tutti::compressible
