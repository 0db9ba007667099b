// From a Gmsh file's nodes and elements to a TetMesh. Inside the mesh floor only.
#pragma once

#include <array>
#include <map>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "tutti/mesh/elements/element_collector.hpp"
#include "tutti/mesh/files/gmsh/gmsh.hpp"
#include "tutti/mesh/files/gmsh/gmsh_source.hpp"
#include "tutti/mesh/tet_mesh.hpp"

namespace tutti::gmsh {

/// Tag -> position for tags in any order, with any gaps. Consecutive tags cost nothing, others a table or a search.
class TagIndex {
 public:
  void add(Size tag);
  /// Call once after the last add(). Returns a tag that was added twice, or -1.
  Size build();
  /// Position of the tag, or -1.
  Gid find(Size tag) const {
    if (consecutive_) return tag >= first_ && tag < first_ + size_ ? tag - first_ : -1;
    return find_slow(tag);
  }
  Gid size() const { return size_; }

 private:
  Gid find_slow(Size tag) const;

  bool consecutive_ = true;
  Size first_ = 0;
  Gid size_ = 0;
  std::vector<Size> tags_;                    ///< in order of arrival, empty while consecutive
  std::vector<Gid> table_;                    ///< by tag - first_, where tags are dense enough
  std::vector<std::pair<Size, Gid>> sorted_;  ///< else
};

/// The element types tutti meets; `nodes` is 0 for types it does not read. Volumes and surfaces are those of meshes of
/// any element, `kind` says which; tetrahedra and triangles those of tetrahedral meshes.
struct FileElement {
  enum class Use { tetrahedron, triangle, volume, surface, ignored, refused };
  int nodes = 0;
  Use use = Use::refused;
  const FileElementKind* kind = nullptr;

  /// Of the entities that such elements lie in; -1 where it is of no matter.
  int dimension() const {
    if (use == Use::tetrahedron || use == Use::volume) return 3;
    return use == Use::triangle || use == Use::surface ? 2 : -1;
  }
};

/// The most nodes of an element that is read.
inline constexpr int max_file_nodes = 27;

struct Builder {
  /// `any_element`: an ElementMesh is made, else a TetMesh.
  explicit Builder(Source& source, bool any_element = false)
      : in(source), keep_tags(!any_element && source.contains("$ElementData")) {
    if (any_element) elements = std::make_unique<ElementCollector>();
  }

  /// Looks the type up; a type tutti cannot use is an input error at `at` that names it.
  FileElement element_type(const char* at, Size type) const;

  void add_node(const char* at, Size tag, Vec3 position);
  void finish_nodes(const char* at);
  /// `tags` are those of its nodes.
  void add_element(const char* at, const FileElement& type, Size tag, std::span<const Size> tags, std::int32_t group);
  void finish_elements(const char* at);
  void add_name(const char* at, Size dimension, Size tag, const std::string& name);
  /// Compacts vertices; warns about what was changed.
  TetMesh finish(MeshReport* out);
  ElementMesh finish_elements(MeshReport* out);

  Source& in;
  bool keep_tags;  ///< there is $ElementData: the elements' tags are needed
  TetMesh mesh;
  std::unique_ptr<ElementCollector> elements;  ///< for meshes of any element; `mesh` then has vertices and names only
  MeshReport report;
  TagIndex nodes, cell_tags, other_tags;
  bool have_nodes = false, have_elements = false;

 private:
  Gid vertex(const char* at, Size element, Size tag) const;
  void add_any_element(const char* at, const FileElement& type, Size tag, std::span<const Size> tags,
                       std::int32_t group);
};

/// Physical group tags fit 32 bits; Gmsh gives the reversed orientation a minus sign, which is dropped.
std::int32_t physical_tag(const Source& in, const char* at, Size tag);

// The sections. Each is called behind the section's opening line and stops before "$End...".
void read_nodes_v22(Builder& b);
void read_elements_v22(Builder& b);
/// Physical tags of the entities, by (dimension, entity tag).
using Entities = std::map<std::pair<int, Size>, std::int32_t>;
void read_entities_v41(Builder& b, Entities& entities);
void read_nodes_v41(Builder& b);
void read_elements_v41(Builder& b, const Entities* entities);
void read_element_data(Builder& b);
/// Of meshes of any element; others leave it out.
void read_periodic_v22(Builder& b);
void read_periodic_v41(Builder& b);

}  // namespace tutti::gmsh
