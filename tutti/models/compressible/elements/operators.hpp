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
  std::vector<double> areas;       ///< of each point; of padding 0
  std::vector<std::int32_t> tags;  ///< of each point's face
};

/// Tables that are left out of Operators: those of elements that share them with no others, for rows in the layout of
/// kernels/view.hpp. The mesh and the map must be there as long as this.
struct TablesApart {
  int element_width = 0, face_width = 0;  ///< doubles of a row; 0: nothing is apart
  std::function<void(Range elements, std::span<double> rows)> fill_elements;
  std::function<void(Range faces, std::span<double> rows)> fill_faces;
};

/// All on the host.
struct Operators {
  std::vector<ElementRecord> elements;  ///< owned, then ghosts, which have no volume points of their own
  std::vector<double> metric;
  std::vector<FaceRecord> faces;  ///< but for FaceRecord::at
  std::vector<std::int32_t> face_of;
  std::span<double> tables;  ///< in own_tables, or where options.place said
  RawVector<double> own_tables;
  std::vector<double> normals;
  std::vector<double> projected;  ///< three an owned element: half the sum of its faces' areas along x, y and z
  std::vector<std::uint8_t> turns;
  std::vector<std::uint8_t> monomials;  ///< of kernels; empty: no element is recomputed
  BoundaryPoints boundary;
  Size lines = -1;       ///< of tables: where those of a line begin; -1: no element is factored
  Size own_volumes = 0;  ///< owned elements whose volumes have tables that they share with none
  TablesApart apart;
};

struct OperatorOptions {
  int order = 1;
  bool stored = false;      ///< every element has tables of its own, as in the paper
  bool derivatives = true;  ///< make them
  bool apart = false;       ///< leave out what TablesApart has: the kernels' offsets are those in its rows
  bool limited = false;     ///< the limiter wants traces in the rows of elements, too
  bool recomputed = false;  ///< matrices of their bases instead of tables that elements would share with no others
};

/// Doubles of the row of a face with so many points, padded.
int face_row_width(const OperatorOptions& options, int points);

/// Error(input) names an element that is turned over or folded. `place`: memory for so many doubles; empty: the
/// operators' own.
Operators make_operators(const LocalElementMesh& mesh, const IndexMap& map, const OperatorOptions& options,
                         const ParallelFor& parallel = {}, const std::function<double*(Size)>& place = {});

}  // namespace tutti::compressible
