// A mesh of tetrahedra, hexahedra, prisms and pyramids, split over all devices of all ranks, numbered and ready for a
// model.
#pragma once

#include <map>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "tutti/domain/domain.hpp"
#include "tutti/mesh/elements/element_faces.hpp"
#include "tutti/mesh/elements/element_mesh.hpp"

namespace tutti {

/// A face of a part: one of its elements at least is owned. Both are local rows; right is -1 at the boundary.
struct LocalElementFace {
  Gid number = 0;  ///< in the whole mesh
  Lid left = 0, right = -1;
  std::int8_t left_face = 0, right_face = -1;
  std::int8_t orientation = 0;  ///< as ElementFace
  std::int32_t tag = 0;
};

/// What a part knows of the mesh: its elements and their face neighbours, rows of its map.
struct LocalElementMesh {
  std::vector<ElementType> types;
  std::vector<std::int32_t> regions;
  std::vector<Size> node_offsets{0};
  std::vector<Vec3> nodes;  ///< places of each element's nodes, in the order of its type
  /// Those between interior elements come first, by left row; the rest touch separators.
  std::vector<LocalElementFace> faces;
  Lid interior_faces = 0;

  std::span<const Vec3> element_nodes(Lid row) const {
    const auto begin = node_offsets[row], end = node_offsets[row + 1];
    return {nodes.data() + begin, static_cast<std::size_t>(end - begin)};
  }
  Vec3 centre(Lid row) const;  ///< mean of the corners
};

/// Elements and faces of a part in the numbers of its map.
LocalElementMesh local_elements(const IndexMap& map, const ElementMesh& mesh, std::span<const ElementFace> faces);

/// Elements are the rows. They read their face neighbours.
class ElementDomain final : public Domain {
 public:
  std::map<std::int32_t, std::string> region_names, boundary_names;
  std::set<std::int32_t> region_tags;    ///< in use
  std::set<std::int32_t> boundary_tags;  ///< in use; 0: faces without a tag
  std::vector<LocalElementMesh> meshes;  ///< mine

  RowWords words() const override { return {"elements", "a smaller mesh"}; }
  void load(const ModelSetup& setup) override;
  void cut(const ModelSetup& setup, const PartPlaces& places, const StoredPartition* stored) override;
  WholeRows take_whole(const ModelSetup& setup) override;
  /// A point on a face belongs to the element with the lower global number.
  std::vector<RowPlace> locate(const Comm& comm, std::span<const Vec3> points,
                               std::span<const std::string> labels) const override;
  std::vector<Vec3> middles(std::size_t p) const override;
  Groups regions() const override { return {region_names, region_tags}; }
  Groups boundaries() const override { return {boundary_names, boundary_tags}; }
  std::vector<std::int32_t> region_of_rows(std::size_t p) const override;
  std::unique_ptr<Pieces> pieces(const VtkOptions& options) const override;

 private:
  friend ElementDomain make_element_domain(const ModelSetup& setup, const Sharing& sharing);
  ElementMesh mesh_;                ///< all elements, on every rank, until parts are made
  std::vector<ElementFace> faces_;  ///< likewise
};

/// The mesh of [mesh]: a file, or a generator.
ElementMesh load_element_mesh(const Case& options, const ParallelFor& parallel = {});

/// As make_domain.
ElementDomain make_element_domain(const ModelSetup& setup, const Sharing& sharing = {});

}  // namespace tutti
