// What one device holds of the problem.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <vector>

#include "tutti/device/buffer.hpp"
#include "tutti/domain/element_domain.hpp"
#include "tutti/domain/held_arrays.hpp"
#include "tutti/exchange/field.hpp"
#include "tutti/models/compressible/compressible_case.hpp"
#include "tutti/models/compressible/elements/flux_rows.hpp"
#include "tutti/models/compressible/kernels/launch.hpp"
#include "tutti/schedule/step.hpp"

namespace tutti::compressible {

/// How messages and the summary call what a memory policy keeps.
inline constexpr const char *element_tables = "tables of elements", *face_tables = "tables of faces";

class FlowPart {
 public:
  /// `conditions`: of tags. `arrays`: of states that the time method takes. `apart`: hold() says where the tables go
  /// that elements share with no others; until then nothing can be computed, and the mesh and the map must be there.
  FlowPart(Stream& stream, const CompressibleCase& flow, const LocalElementMesh& mesh, const IndexMap& map,
           const IndexMap& values, const std::map<std::int32_t, std::int32_t>& conditions, int arrays,
           const ParallelFor& parallel = {}, bool apart = false);
  /// Puts these tables where options.policy says, as the last of all arrays. `auto` times fluxes and stages of a
  /// uniform flow. In words, a line an array. Errors: as Residency.
  std::vector<std::string> hold(Stream& stream, const CompressibleCase& flow, const ResidencyOptions& options);
  bool waits_to_be_held() const { return apart_.element_width > 0; }
  /// The tables of elements, then those of faces. None: all tables are on the device.
  std::vector<const Residency*> held() const;
  /// Sets u[0] to the same state in all elements.
  void set_uniform(Stream& stream, const double (&state)[variables]);

  const PartView& view() const { return view_; }
  /// For the tasks of a stage.
  PartView stage_view() const {
    PartView view = view_;
    if (view.straight != nullptr && window_ > 0) view.straight = &reusing_;
    return view;
  }
  /// Instead of tuned ones, for which it was made. Fluxes at all faces are kept then. Error(resource): no room for
  /// them.
  void use_portable_kernels(Stream& stream);
  const BoundaryView& boundary() const { return boundary_; }
  /// Where elements compute the fluxes at their faces (StraightView::fused), only those at the boundary are kept.
  FaceArrays at_faces() { return {flux_.data(), jump_.data()}; }
  const double* projected() const { return projected_.data(); }
  Range all_faces() const { return {0, faces_count_}; }
  /// Faces as compute_fluxes() takes them. Those whose elements are both interior come first.
  Range interior_fluxes() const { return {0, fluxes_until(separator_inner, interior_faces_)}; }
  Range separator_fluxes() const { return {interior_fluxes().end, all_fluxes().end}; }
  Range all_fluxes() const { return {0, fluxes_until(separator_boundary + 1, faces_count_)}; }

  /// On a CPU with blocks (add_interior): fluxes are kept in rows that blocks to come use again (reuse_flux_rows), for
  /// a team of so many threads. Before add_interior().
  void reuse_fluxes(Stream& stream, int threads);
  using Kernel = std::function<void(Stream&, Range)>;
  /// Adds tasks for the faces and then the elements inside, which are `rows`, of part `p` of the step; returns those of
  /// elements. On a CPU straight elements go block by block: what is computed at faces is in the caches when their
  /// elements follow. An element changes after all of its faces, so that stages may write where they read,
  /// unless elements read their neighbours (StraightView::fused). The kernels take stage_view().
  std::vector<TaskId> add_interior(Step& step, int p, Range rows, const Kernel& fluxes, const Kernel& elements) const;
  BoundaryPlaces boundary_places() const { return {places_.data(), areas_.data()}; }
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
  void make_fluxes(Stream& stream, std::vector<FaceRecord>& faces, bool jumps);
  Buffer<ElementRecord> elements_;
  Buffer<FaceRecord> faces_;
  Buffer<std::int32_t> face_of_;
  Buffer<double> metric_, tables_, normals_, flux_, jump_, projected_, areas_, numbers_;
  Buffer<Vec3> places_;
  Buffer<std::int32_t> conditions_;
  Buffer<std::uint8_t> kinds_, broken_, turns_, monomials_;
  Buffer<double> values_;
  Buffer<BoundaryFormula> formulas_;
  Buffer<FormulaStep> steps_, source_steps_;
  Buffer<Vec3> source_places_;
  Buffer<Size> source_first_;
  Buffer<double> source_;
  SourceFormulas source_formulas_;
  Range rows_;
  TablesApart apart_;  ///< until they are held
  std::unique_ptr<Residency> held_elements_, held_faces_;
  PartView view_;
  BoundaryView boundary_;
  Buffer<double> element_fragments_, trace_fragments_, lift_scales_, face_scales_, product_factors_;
  Buffer<StraightFace> tile_faces_;
  Buffer<std::int32_t> tile_tables_, lift_sides_, beyond_;
  Buffer<ProductBlock> product_blocks_;
  Buffer<std::uint16_t> product_terms_;
  Buffer<SideProducts> side_products_;
  LaneProducts products_;
  StraightView straight_;
  std::vector<StraightBlock> blocks_;  ///< empty: all faces, then all elements
  Buffer<Lid> flux_rows_;
  Buffer<std::int32_t> side_rows_;
  Lid unused_rows_ = 0;     ///< of fluxes
  StraightView reusing_;    ///< straight_ with these
  std::size_t window_ = 0;  ///< of reuse_flux_rows(); 0: each face has a row of its own
  Lid interior_faces_ = 0, faces_count_ = 0;
  bool boundary_depends_on_time_ = false, source_depends_on_time_ = false;
};

}  // namespace tutti::compressible
