// What one device holds of the problem.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <vector>

#include "tutti/device/buffer.hpp"
#include "tutti/domain/element_domain.hpp"
#include "tutti/exchange/field.hpp"
#include "tutti/models/compressible/compressible_case.hpp"
#include "tutti/models/compressible/elements/straight_tables.hpp"
#include "tutti/models/compressible/kernels/launch.hpp"
#include "tutti/residency/choose.hpp"
#include "tutti/schedule/step.hpp"

namespace tutti::compressible {

class FlowPart {
 public:
  /// `conditions`: of tags. `arrays`: of states that the time method takes. `apart`: hold() says where the tables of
  /// volumes go; until then nothing can be computed.
  FlowPart(Stream& stream, const CompressibleCase& flow, const LocalElementMesh& mesh, const IndexMap& map,
           const IndexMap& values, const std::map<std::int32_t, std::int32_t>& conditions, int arrays,
           const ParallelFor& parallel = {}, bool apart = false);
  /// Puts the tables of volumes where options.policy says, as the last of all arrays; `mesh` is the constructor's.
  /// `auto` times stages on a uniform flow. Errors: as Residency.
  std::vector<Trial> hold(Stream& stream, const CompressibleCase& flow, const LocalElementMesh& mesh,
                          const ResidencyOptions& options);
  bool waits_to_be_held() const { return apart_width_ > 0 && !held_; }
  /// Null: the tables of volumes are on the device, as all others.
  const Residency* held() const { return held_.get(); }
  /// Sets u[0] to the same state in all elements.
  void set_uniform(Stream& stream, const double (&state)[variables]);

  const PartView& view() const { return view_; }
  void use_portable_kernels() { view_.straight = nullptr; }
  const BoundaryView& boundary() const { return boundary_; }
  FaceArrays at_faces() { return {flux_.data(), jump_.data()}; }
  const double* projected() const { return projected_.data(); }
  Range all_faces() const { return {0, faces_count_}; }
  /// Faces as compute_fluxes() takes them. Those whose elements are both interior come first.
  Range interior_fluxes() const { return {0, fluxes_until(separator_inner, interior_faces_)}; }
  Range separator_fluxes() const { return {interior_fluxes().end, all_fluxes().end}; }
  Range all_fluxes() const { return {0, fluxes_until(separator_boundary + 1, faces_count_)}; }

  using Kernel = std::function<void(Stream&, Range)>;
  /// Adds tasks for the faces and then the elements inside, which are `rows`, of part `p` of the step; returns those of
  /// elements. On a CPU straight elements go block by block: what is computed at faces is in the caches when their
  /// elements follow. An element changes after all of its faces, so that stages may write where they read.
  std::vector<TaskId> add_interior(Step& step, int p, Range rows, const Kernel& fluxes, const Kernel& elements) const;
  const Vec3* boundary_places() const { return places_.data(); }
  bool boundary_depends_on_time() const { return boundary_depends_on_time_; }
  void update_boundary(Stream& stream, double time);
  bool source_depends_on_time() const { return source_depends_on_time_; }
  void update_source(Stream& stream, double time);
  const double* source() const { return source_.empty() ? nullptr : source_.data(); }
  /// Of owned elements: see watch().
  std::vector<std::uint8_t> broken(Stream& stream) const;
  /// Bytes that one evaluation of the right-hand side reads and writes at least.
  Size bytes() const;

  Buffer<double> rotation;       ///< of owned elements: vorticity and Q, where they are wanted
  std::vector<Field<double>> u;  ///< [0] is the solution; the others are work arrays of the time method

 private:
  Lid fluxes_until(int set, Lid faces) const {
    return view_.straight == nullptr ? faces : tile_rows * view_.straight->ends[set];
  }
  void make_boundary(Stream& stream, const CompressibleCase& flow, const Operators& made,
                     const std::map<std::int32_t, std::int32_t>& conditions);
  void make_source(Stream& stream, const CompressibleCase& flow, const LocalElementMesh& mesh, const Operators& made);
  void make_straight(Stream& stream, const StraightTables& made);
  void make_projected(Stream& stream, const Operators& made, const IndexMap& map);

  Buffer<ElementRecord> elements_;
  Buffer<FaceRecord> faces_;
  Buffer<std::int32_t> face_of_;
  Buffer<double> metric_, tables_, normals_, flux_, jump_, projected_;
  Buffer<Vec3> places_;
  Buffer<std::int32_t> conditions_;
  Buffer<std::uint8_t> kinds_, broken_, turns_;
  Buffer<double> values_;
  Buffer<BoundaryFormula> formulas_;
  Buffer<FormulaStep> steps_, source_steps_;
  Buffer<Vec3> source_places_;
  Buffer<Size> source_first_;
  Buffer<double> source_;
  SourceFormulas source_formulas_;
  Range rows_;
  int apart_width_ = 0;  ///< of a row with an element's tables
  std::unique_ptr<Residency> held_;
  PartView view_;
  BoundaryView boundary_;
  Buffer<double> element_fragments_, trace_fragments_, lift_scales_, face_scales_, product_factors_;
  Buffer<StraightFace> tile_faces_;
  Buffer<std::int32_t> tile_tables_, lift_sides_;
  Buffer<ProductBlock> product_blocks_;
  Buffer<std::uint16_t> product_terms_;
  Buffer<SideProducts> side_products_;
  LaneProducts products_;
  StraightView straight_;
  std::vector<StraightBlock> blocks_;  ///< empty: all faces, then all elements
  Lid interior_faces_ = 0, faces_count_ = 0;
  bool boundary_depends_on_time_ = false, source_depends_on_time_ = false;
};

}  // namespace tutti::compressible
