// Writing MSH 4.1 and 2.2. Elements: first the tagged triangles, then the cells, tags from 1 in this order.
#include <algorithm>
#include <limits>
#include <set>

#include "tutti/base/error.hpp"
#include "tutti/mesh/files/gmsh/gmsh.hpp"
#include "tutti/mesh/files/gmsh/gmsh_output.hpp"
#include "tutti/mesh/files/write_check.hpp"

namespace tutti {
namespace {

using gmsh::Output;

struct Writer {
  const TetMesh& mesh;
  Output& out;
  bool binary;

  // A record is a line of numbers in text and the bare numbers in binary.
  void integer(Size v) { binary ? out.raw(static_cast<std::int32_t>(v)) : spaced(v); }
  void count(Size v) { binary ? out.raw(static_cast<std::uint64_t>(v)) : spaced(v); }
  void real(double v) { binary ? out.raw(v) : spaced(v); }
  void end_record() {
    if (!binary) out.text("\n");
  }
  template <class T>
  void spaced(T v) {
    out.number(v);
    out.text(" ");
  }
  void text_line(Size v) {
    out.number(v);
    out.text("\n");
  }
  void end_section(const char* mark) {
    if (binary) out.text("\n");
    out.text(mark);
    out.text("\n");
  }
};

void check(const TetMesh& mesh, const std::filesystem::path& path, bool short_tags) {
  const auto refuse = [&](const std::string& why) {
    fail(ErrorKind::input, "{}: the mesh cannot be written: {}", path.string(), why);
  };
  check_writable(mesh, path);
  const auto check_name = [&](const std::string& name) {
    if (name.find_first_of("\"\n\r") == std::string::npos) return;
    refuse(fmt::format("the name '{}' has a quote or a line break; rename it",
                       name.substr(0, name.find_first_of("\n\r"))));
  };
  for (const auto* names : {&mesh.region_names, &mesh.boundary_names})
    for (const auto& [tag, name] : *names) check_name(name);
  for (const CellData& d : mesh.cell_data) check_name(d.name);
  const std::size_t largest = std::max(mesh.vertices.size(), mesh.cells.size() + mesh.boundary.size());
  const bool element_tags_are_short = short_tags || !mesh.cell_data.empty();
  if (element_tags_are_short && largest > static_cast<std::size_t>(std::numeric_limits<std::int32_t>::max()))
    refuse(fmt::format("{} nodes or elements do not fit the 32-bit tags of {}", largest,
                       short_tags ? "format 2.2; use 4.1" : "$ElementData; write .vtu instead"));
}

void write_head(Writer& w, const char* version) {
  w.out.text(fmt::format("$MeshFormat\n{} {} 8\n", version, w.binary ? 1 : 0));
  if (w.binary) w.out.raw(std::int32_t{1});
  w.end_section("$EndMeshFormat");
  const auto& mesh = w.mesh;
  if (mesh.region_names.empty() && mesh.boundary_names.empty()) return;
  w.out.text(fmt::format("$PhysicalNames\n{}\n", mesh.region_names.size() + mesh.boundary_names.size()));
  for (const auto& [tag, name] : mesh.boundary_names) w.out.text(fmt::format("2 {} \"{}\"\n", tag, name));
  for (const auto& [tag, name] : mesh.region_names) w.out.text(fmt::format("3 {} \"{}\"\n", tag, name));
  w.out.text("$EndPhysicalNames\n");
}

void write_data(Writer& w) {
  for (const CellData& d : w.mesh.cell_data) {
    w.out.text(fmt::format("$ElementData\n1\n\"{}\"\n1\n0\n3\n0\n{}\n{}\n", d.name, d.components, w.mesh.cells.size()));
    const auto width = static_cast<std::size_t>(d.components);
    for (std::size_t c = 0; c < w.mesh.cells.size(); ++c) {
      w.integer(static_cast<Size>(w.mesh.boundary.size() + c + 1));
      for (std::size_t k = 0; k < width; ++k) w.real(d.values[c * width + k]);
      w.end_record();
    }
    w.end_section("$EndElementData");
  }
}

// ---- 4.1 ----

/// A run of consecutive elements of one group becomes one block, so that the order of the cells is kept.
struct Run {
  std::size_t begin, end;
  std::int32_t tag;
};

std::vector<Run> runs_of(const std::vector<std::int32_t>& tags) {
  std::vector<Run> runs;
  for (std::size_t i = 0; i < tags.size(); ++i) {
    if (runs.empty() || runs.back().tag != tags[i]) runs.push_back({i, i, tags[i]});
    runs.back().end = i + 1;
  }
  return runs;
}

/// Group g is entity g; 0 (no group) is the entity behind the largest group.
Size entity_of(std::int32_t group, std::int32_t without_group) {
  return group == 0 ? without_group : group;
}

std::int32_t behind_largest(const std::vector<std::int32_t>& groups) {
  return groups.empty() ? 1 : *std::max_element(groups.begin(), groups.end()) + 1;
}

void write_entities(Writer& w) {
  const std::int32_t no_surface = behind_largest(w.mesh.boundary_tags), no_volume = behind_largest(w.mesh.regions);
  const std::set<std::int32_t> surfaces(w.mesh.boundary_tags.begin(), w.mesh.boundary_tags.end());
  const std::set<std::int32_t> volumes(w.mesh.regions.begin(), w.mesh.regions.end());
  Vec3 low = w.mesh.vertices.empty() ? Vec3{} : w.mesh.vertices.front(), high = low;
  for (const Vec3& v : w.mesh.vertices)
    for (int d = 0; d < 3; ++d) {
      low[d] = std::min(low[d], v[d]);
      high[d] = std::max(high[d], v[d]);
    }
  w.out.text("$Entities\n");
  for (const std::size_t n : {std::size_t{0}, std::size_t{0}, surfaces.size(), volumes.size()})
    w.count(static_cast<Size>(n));
  w.end_record();
  const auto entity = [&](Size tag, std::int32_t group) {
    w.integer(tag);
    for (const Vec3& corner : {low, high})
      for (int d = 0; d < 3; ++d) w.real(corner[d]);
    w.count(group == 0 ? 0 : 1);
    if (group != 0) w.integer(group);
    w.count(0);
    w.end_record();
  };
  for (const std::int32_t tag : surfaces) entity(entity_of(tag, no_surface), tag);
  for (const std::int32_t region : volumes) entity(entity_of(region, no_volume), region);
  w.end_section("$EndEntities");
}

void write_v41(Writer& w) {
  const TetMesh& mesh = w.mesh;
  const std::int32_t no_surface = behind_largest(mesh.boundary_tags), no_volume = behind_largest(mesh.regions);
  write_entities(w);
  const auto n = static_cast<Size>(mesh.vertices.size());
  w.out.text("$Nodes\n");
  for (const Size v : {Size{1}, n, Size{1}, n}) w.count(v);
  w.end_record();
  if (mesh.is_surface())
    w.integer(2), w.integer(entity_of(mesh.boundary_tags.front(), no_surface));
  else
    w.integer(3), w.integer(mesh.regions.empty() ? 1 : entity_of(mesh.regions.front(), no_volume));
  w.integer(0), w.count(n);
  w.end_record();
  for (Size i = 0; i < n; ++i) {
    w.count(i + 1);
    w.end_record();
  }
  for (const Vec3& v : mesh.vertices) {
    w.real(v.x), w.real(v.y), w.real(v.z);
    w.end_record();
  }
  w.end_section("$EndNodes");

  const auto triangle_runs = runs_of(mesh.boundary_tags), cell_runs = runs_of(mesh.regions);
  const auto elements = static_cast<Size>(mesh.boundary.size() + mesh.cells.size());
  w.out.text("$Elements\n");
  for (const Size v : {static_cast<Size>(triangle_runs.size() + cell_runs.size()), elements, Size{1}, elements})
    w.count(v);
  w.end_record();
  const auto write_runs = [&](const std::vector<Run>& runs, const auto& list, int dimension, int type,
                              std::size_t first) {
    for (const Run& run : runs) {
      w.integer(dimension);
      w.integer(entity_of(run.tag, dimension == 3 ? no_volume : no_surface));
      w.integer(type), w.count(static_cast<Size>(run.end - run.begin));
      w.end_record();
      for (std::size_t i = run.begin; i < run.end; ++i) {
        w.count(static_cast<Size>(first + i));
        for (const Gid v : list[i]) w.count(v + 1);
        w.end_record();
      }
    }
  };
  write_runs(triangle_runs, mesh.boundary, 2, 2, 1);
  write_runs(cell_runs, mesh.cells, 3, 4, mesh.boundary.size() + 1);
  w.end_section("$EndElements");
}

// ---- 2.2 ----

void write_v22(Writer& w) {
  const TetMesh& mesh = w.mesh;
  w.out.text("$Nodes\n");
  w.text_line(static_cast<Size>(mesh.vertices.size()));
  for (std::size_t i = 0; i < mesh.vertices.size(); ++i) {
    w.integer(static_cast<Size>(i) + 1);
    w.real(mesh.vertices[i].x), w.real(mesh.vertices[i].y), w.real(mesh.vertices[i].z);
    w.end_record();
  }
  w.end_section("$EndNodes");
  w.out.text("$Elements\n");
  w.text_line(static_cast<Size>(mesh.boundary.size() + mesh.cells.size()));
  Size tag = 0;
  const auto write_list = [&](const auto& list, const std::vector<std::int32_t>& groups, int type) {
    if (w.binary && !list.empty()) w.integer(type), w.integer(static_cast<Size>(list.size())), w.integer(2);
    for (std::size_t i = 0; i < list.size(); ++i) {
      w.integer(++tag);
      if (!w.binary) w.integer(type), w.integer(2);
      // The group and the entity; an entity's number is positive.
      w.integer(groups[i]), w.integer(std::max(groups[i], 1));
      for (const Gid v : list[i]) w.integer(v + 1);
      w.end_record();
    }
  };
  write_list(mesh.boundary, mesh.boundary_tags, 2);
  write_list(mesh.cells, mesh.regions, 4);
  w.end_section("$EndElements");
}

}  // namespace

void write_gmsh(const TetMesh& mesh, const std::filesystem::path& path, GmshFormat format) {
  const bool v41 = format == GmshFormat::v41_binary || format == GmshFormat::v41_ascii;
  const bool binary = format == GmshFormat::v41_binary || format == GmshFormat::v22_binary;
  check(mesh, path, !v41);
  Output out(path);
  Writer w{mesh, out, binary};
  write_head(w, v41 ? "4.1" : "2.2");
  v41 ? write_v41(w) : write_v22(w);
  write_data(w);
  out.commit();
}

}  // namespace tutti
