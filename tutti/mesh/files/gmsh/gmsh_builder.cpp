#include "tutti/mesh/files/gmsh/gmsh_builder.hpp"

#include <algorithm>
#include <limits>

#include "tutti/mesh/tet_checks.hpp"

namespace tutti::gmsh {

void TagIndex::add(Size tag) {
  if (size_ == 0) first_ = tag;
  if (consecutive_ && tag != first_ + size_) {
    consecutive_ = false;
    tags_.resize(size_);
    for (Gid i = 0; i < size_; ++i) tags_[i] = first_ + i;
  }
  if (!consecutive_) tags_.push_back(tag);
  ++size_;
}

Size TagIndex::build() {
  if (consecutive_) return -1;
  const auto [low, high] = std::minmax_element(tags_.begin(), tags_.end());
  first_ = *low;
  Size twice = -1;
  if (*high - *low < 4 * size_ + 1024) {
    table_.assign(static_cast<std::size_t>(*high - *low) + 1, -1);
    for (Gid i = 0; i < size_; ++i) {
      Gid& entry = table_[tags_[i] - first_];
      if (entry >= 0 && twice < 0) twice = tags_[i];
      entry = i;
    }
  } else {
    sorted_.reserve(tags_.size());
    for (Gid i = 0; i < size_; ++i) sorted_.emplace_back(tags_[i], i);
    std::sort(sorted_.begin(), sorted_.end());
    for (std::size_t i = 1; i < sorted_.size() && twice < 0; ++i)
      if (sorted_[i].first == sorted_[i - 1].first) twice = sorted_[i].first;
  }
  tags_ = {};
  return twice;
}

Gid TagIndex::find_slow(Size tag) const {
  if (!table_.empty()) {
    const Size at = tag - first_;
    return at >= 0 && at < static_cast<Size>(table_.size()) ? table_[at] : -1;
  }
  const auto hit = std::lower_bound(sorted_.begin(), sorted_.end(), std::pair<Size, Gid>{tag, -1});
  return hit != sorted_.end() && hit->first == tag ? hit->second : -1;
}

namespace {

FileElement any_element_type(const Source& in, const char* at, Size type) {
  using Use = FileElement::Use;
  if (const FileElementKind* kind = gmsh_element_kind(type))
    return {kind->nodes, kind->corners == 0 ? Use::volume : Use::surface, kind};
  constexpr std::array<std::pair<Size, int>, 6> ignored = {{{1, 2}, {8, 3}, {15, 1}, {26, 4}, {27, 5}, {28, 6}}};
  for (const auto& [code, nodes] : ignored)
    if (code == type) return {nodes, Use::ignored};
  in.error(
      at,
      "element type {} is unknown or of higher order than 2; mesh with Mesh.ElementOrder = 1 or 2 (gmsh -order 2), "
      "or the file is damaged here",
      type);
}

FileElement tet_element_type(const Source& in, const char* at, Size type) {
  using Use = FileElement::Use;
  const auto refuse = [&](const char* name, const char* advice) {
    in.error(at, "element type {} ({}) is not supported: tutti needs tetrahedra of first order; {}", type, name,
             advice);
  };
  constexpr const char* first_order = "mesh with Mesh.ElementOrder = 1 (gmsh -order 1)";
  constexpr const char* tets = "mesh without recombination or extruded layers";
  switch (type) {
    case 1:
      return {2, Use::ignored};
    case 2:
      return {3, Use::triangle};
    case 4:
      return {4, Use::tetrahedron};
    case 8:
      return {3, Use::ignored};
    case 15:
      return {1, Use::ignored};
    case 26:
      return {4, Use::ignored};
    case 27:
      return {5, Use::ignored};
    case 28:
      return {6, Use::ignored};
    case 3:
    case 10:
    case 16:
      refuse("quadrangle", tets);
      break;
    case 5:
    case 12:
    case 17:
      refuse("hexahedron", tets);
      break;
    case 6:
    case 13:
    case 18:
      refuse("prism", tets);
      break;
    case 7:
    case 14:
    case 19:
      refuse("pyramid", tets);
      break;
    case 9:
    case 20:
    case 21:
    case 22:
    case 23:
    case 24:
    case 25:
      refuse("triangle of higher order", first_order);
      break;
    case 11:
    case 29:
    case 30:
    case 31:
      refuse("tetrahedron of higher order", first_order);
      break;
    default:
      refuse("unknown", "or the file is damaged here");
  }
  return {};
}

}  // namespace

FileElement Builder::element_type(const char* at, Size type) const {
  return elements ? any_element_type(in, at, type) : tet_element_type(in, at, type);
}

std::int32_t physical_tag(const Source& in, const char* at, Size tag) {
  const Size positive = tag < 0 ? -tag : tag;
  if (positive >= std::numeric_limits<std::int32_t>::max())
    in.error(at, "physical tag {} does not fit 32 bits; at most 2147483646 is expected", tag);
  return static_cast<std::int32_t>(positive);
}

void Builder::add_node(const char* at, Size tag, Vec3 position) {
  if (tag < 1) in.error(at, "node tag {} is not positive; at least 1 is expected", tag);
  if (!is_finite(position))
    in.error(at, "node {} has the coordinates {} {} {}; finite numbers are expected", tag, position.x, position.y,
             position.z);
  nodes.add(tag);
  mesh.vertices.push_back(position);
}

void Builder::finish_nodes(const char* at) {
  const Size twice = nodes.build();
  if (twice >= 0) in.error(at, "node {} is listed twice; every node needs its own tag", twice);
  have_nodes = true;
}

Gid Builder::vertex(const char* at, Size element, Size tag) const {
  const Gid v = nodes.find(tag);
  if (v < 0) in.error(at, "element {} names node {}, which is not in $Nodes", element, tag);
  return v;
}

void Builder::add_element(const char* at, const FileElement& type, Size tag, std::span<const Size> tags,
                          std::int32_t group) {
  if (elements) return add_any_element(at, type, tag, tags, group);
  if (type.use == FileElement::Use::tetrahedron) {
    std::array<Gid, 4> cell;
    for (std::size_t i = 0; i < 4; ++i) cell[i] = vertex(at, tag, tags[i]);
    const TetDefect defect = orient_tet(mesh.vertices, cell, report);
    if (defect == TetDefect::vertex_twice)
      in.error(at, "tetrahedron {} has a node twice: {} {} {} {}; four different ones are expected", tag, tags[0],
               tags[1], tags[2], tags[3]);
    if (defect == TetDefect::flat)
      in.error(at, "tetrahedron {} (nodes {} {} {} {}) has no volume, its nodes lie in a plane; improve the mesh there",
               tag, tags[0], tags[1], tags[2], tags[3]);
    mesh.cells.push_back(cell);
    mesh.regions.push_back(group);
    if (keep_tags) cell_tags.add(tag);
    return;
  }
  if (keep_tags) other_tags.add(tag);
  if (type.use != FileElement::Use::triangle) return;
  std::array<Gid, 3> triangle;
  for (std::size_t i = 0; i < 3; ++i) triangle[i] = vertex(at, tag, tags[i]);
  if (triangle[0] == triangle[1] || triangle[0] == triangle[2] || triangle[1] == triangle[2])
    in.error(at, "triangle {} has a node twice: {} {} {}; three different ones are expected", tag, tags[0], tags[1],
             tags[2]);
  if (group == 0 && !report.take_surface) return;
  mesh.boundary.push_back(triangle);
  mesh.boundary_tags.push_back(group);
}

void Builder::add_any_element(const char* at, const FileElement& type, Size tag, std::span<const Size> tags,
                              std::int32_t group) {
  if (type.kind == nullptr) return;
  std::array<Gid, max_file_nodes> points;
  const bool volume = type.use == FileElement::Use::volume;
  const std::size_t n = volume ? tags.size() : static_cast<std::size_t>(type.kind->corners);
  for (std::size_t i = 0; i < n; ++i) {
    const int node = volume ? gmsh_node(type.kind->type, static_cast<int>(i)) : static_cast<int>(i);
    points[i] = vertex(at, tag, tags[node]);
  }
  const std::span<const Gid> view(points.data(), n);
  volume ? elements->add_volume(*type.kind, view, group) : elements->add_surface(*type.kind, view, group);
}

void Builder::finish_elements(const char* at) {
  if (elements) {
    if (elements->mesh.types.empty())
      in.error(at,
               "there are no tetrahedra, hexahedra, prisms or pyramids; mesh in 3D (gmsh -3), and put the volume "
               "into a Physical Volume if the geometry has any physical group");
    have_elements = true;
    return;
  }
  if (mesh.cells.empty() && !(report.take_surface && !mesh.boundary.empty()))
    in.error(at,
             "there are no tetrahedra; mesh in 3D (gmsh -3), and put the volume into a Physical Volume if the geometry "
             "has any "
             "physical group");
  const Size twice = std::max(cell_tags.build(), other_tags.build());
  if (twice >= 0) in.error(at, "element {} is listed twice, and $ElementData needs distinct elements", twice);
  have_elements = true;
}

void Builder::add_name(const char* at, Size dimension, Size tag, const std::string& name) {
  if (dimension < 0 || dimension > 3) in.error(at, "a physical group of dimension {}; 0 to 3 are possible", dimension);
  if (dimension < 2) return;
  auto& names = dimension == 3 ? mesh.region_names : mesh.boundary_names;
  const std::int32_t group = physical_tag(in, at, tag);
  const auto [entry, added] = names.emplace(group, name);
  if (!added && entry->second != name)
    in.error(at, "physical group {} of dimension {} has two names, '{}' and '{}'; give it one", group, dimension,
             entry->second, name);
}

TetMesh Builder::finish(MeshReport* out) {
  if (!mesh.cells.empty()) drop_untagged(mesh);
  finish_mesh(mesh, in.name(), report);
  if (out != nullptr) *out = report;
  return std::move(mesh);
}

ElementMesh Builder::finish_elements(MeshReport* out) {
  elements->mesh.points = std::move(mesh.vertices);
  elements->mesh.region_names = std::move(mesh.region_names);
  elements->mesh.boundary_names = std::move(mesh.boundary_names);
  ElementMesh result = elements->finish(in.name(), report);
  if (out != nullptr) *out = report;
  return result;
}

}  // namespace tutti::gmsh
