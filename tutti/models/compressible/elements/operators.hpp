// The tables that kernels read, made for the elements and faces of a part.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "tutti/base/parallel.hpp"
#include "tutti/base/raw_vector.hpp"
#include "tutti/domain/element_domain.hpp"
#include "tutti/models/compressible/elements/element_basis.hpp"
#include "tutti/models/compressible/kernels/view.hpp"

namespace tutti::compressible {

/// Points of a face at the boundary, where the case's formulas are evaluated.
struct BoundaryPoints {
  std::vector<Vec3> places;        ///< padded as the face
  std::vector<std::int32_t> tags;  ///< of each point's face
};

/// All on the host.
struct Operators {
  std::vector<ElementRecord> elements;  ///< owned, then ghosts, which have no volume points of their own
  std::vector<double> metric;
  std::vector<FaceRecord> faces;
  std::vector<std::int32_t> face_of;
  std::span<double> tables;  ///< in own_tables, or where options.place said
  RawVector<double> own_tables;
  std::vector<double> normals;
  std::vector<std::uint8_t> turns;
  BoundaryPoints boundary;
  Size flux_values = 0;  ///< doubles of all faces' fluxes
  Size lines = -1;       ///< of tables: where those of a line begin; -1: no element is factored
  Size own_volumes = 0;  ///< owned elements whose volumes have tables that they share with none
};

struct OperatorOptions {
  int order = 1;
  bool stored = false;      ///< every element has tables of its own, as in the paper
  bool derivatives = true;  ///< make them
  /// Tables `values` and `projection` are left out: the kernels' offsets are those in rows of fill_volume_rows().
  bool apart = false;
};

/// Error(input) names an element that is turned over or folded. `place`: memory for so many doubles; empty: the
/// operators' own.
Operators make_operators(const LocalElementMesh& mesh, const IndexMap& map, const OperatorOptions& options,
                         const ParallelFor& parallel = {}, const std::function<double*(Size)>& place = {});

/// Doubles of a row that has the volume tables of any owned element.
int volume_row_width(const LocalElementMesh& mesh, const IndexMap& map, const OperatorOptions& options);
/// Writes the rows of some elements: values, then projection.
void fill_volume_rows(const LocalElementMesh& mesh, const OperatorOptions& options, Range elements,
                      std::span<double> rows, const ParallelFor& parallel);

}  // namespace tutti::compressible
