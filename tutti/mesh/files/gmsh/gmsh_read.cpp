// The sections of an MSH file in turn; what both versions share.
#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include "tutti/base/log.hpp"
#include "tutti/mesh/files/file_bytes.hpp"
#include "tutti/mesh/files/gmsh/gmsh_builder.hpp"

namespace tutti::gmsh {

namespace {

enum class Version { v22, v41 };

Version read_format(Source& in) {
  const char* start = in.position();
  if (!in.skip_blank() || in.line() != "$MeshFormat")
    in.error(start, "the file does not begin with $MeshFormat; a Gmsh file of format 4.1 or 2.2 is expected");
  in.open_section("MeshFormat");
  const char* at = in.position();
  const double number = in.text_real("the format's version");
  if (number != 2.2 && number != 4.1)
    in.error(at, "format {} is not supported; save as 4.1 or 2.2 (gmsh -format msh41)", number);
  const Version version = number == 2.2 ? Version::v22 : Version::v41;
  const Size type = in.text_integer("0 (ASCII) or 1 (binary)");
  if (type != 0 && type != 1) in.error(at, "file type {}; 0 (ASCII) or 1 (binary) is expected", type);
  const Size width = in.text_integer("the data size");
  if (width != 8) in.error(at, "data size {}; 8 is expected (a file written by a 64-bit Gmsh)", width);
  in.end_of_line("the data size");
  if (type == 1) {
    in.binary = true;
    const char* one = in.position();
    const Size value = in.integer("the number one in binary");
    if (value == 0x01000000)
      in.error(one,
               "the file was written with the other byte order; save it as ASCII there, or on a little-endian machine");
    if (value != 1) in.error(one, "found {}, but a binary 1 was expected; the file is damaged", value);
  }
  in.end_section();
  return version;
}

void read_names(Builder& b) {
  Source& in = b.in;
  const char* start = in.position();
  const Size n = in.text_integer("the number of physical names");
  in.end_of_line("the number of physical names");
  in.check_room(start, n, 7, "names");
  for (Size i = 0; i < n; ++i) {
    const char* at = in.position();
    const Size dimension = in.text_integer("a group's dimension");
    const Size tag = in.text_integer("a group's tag");
    const std::string name = in.quoted("a group's name in quotes");
    in.end_of_line("a group's name");
    b.add_name(at, dimension, tag, name);
  }
}

struct DataHeader {
  std::string name;
  int components = 1;
  Size entries = 0;
};

DataHeader read_data_header(Source& in) {
  const auto read_count = [&](const char* what) {
    const char* at = in.position();
    const Size n = in.text_integer(what);
    in.end_of_line(what);
    in.check_room(at, n, 2, what);
    return n;
  };
  DataHeader h;
  const Size strings = read_count("the number of string tags");
  for (Size i = 0; i < strings; ++i) {
    std::string text = in.quoted("a string tag in quotes");
    in.end_of_line("a string tag");
    if (i == 0) h.name = std::move(text);
  }
  const Size reals = read_count("the number of real tags");
  for (Size i = 0; i < reals; ++i) {
    in.text_real("a real tag");
    in.end_of_line("a real tag");
  }
  const char* start = in.position();
  const Size integers = read_count("the number of integer tags");
  if (integers < 3) in.error(start, "{} integer tags; 3 are expected: time step, components, entries", integers);
  for (Size i = 0; i < integers; ++i) {
    const char* at = in.position();
    const Size value = in.text_integer("an integer tag");
    in.end_of_line("an integer tag");
    if (i == 1) {
      if (value != 1 && value != 3 && value != 9)
        in.error(at, "{} components per value; 1, 3 or 9 are expected", value);
      h.components = static_cast<int>(value);
    }
    if (i == 2) {
      in.check_room(at, value, in.binary ? 4 + 8 * h.components : 2 + 2 * h.components, "values");
      h.entries = value;
    }
  }
  return h;
}

}  // namespace

void read_element_data(Builder& b) {
  Source& in = b.in;
  const char* start = in.position();
  const DataHeader header = read_data_header(in);
  const auto width = static_cast<std::size_t>(header.components);
  CellData data{header.name, header.components, {}};
  std::vector<std::uint8_t> known;
  Gid cells = 0;
  std::array<double, 9> value;
  for (Size i = 0; i < header.entries; ++i) {
    const char* at = in.position();
    const Size tag = in.integer("an element's tag");
    for (std::size_t c = 0; c < width; ++c) value[c] = in.real("a value");
    in.end_record("a value");
    const Gid cell = b.cell_tags.find(tag);
    if (cell < 0) {
      if (b.other_tags.find(tag) < 0) in.error(at, "element {} is not in $Elements", tag);
      continue;
    }
    if (known.empty()) {
      known.assign(b.mesh.cells.size(), 0);
      data.values.assign(b.mesh.cells.size() * width, 0.0);
    }
    const auto c = static_cast<std::size_t>(cell);
    if (known[c]) in.error(at, "element {} has two values; one is expected", tag);
    known[c] = 1;
    ++cells;
    for (std::size_t k = 0; k < width; ++k) {
      if (!std::isfinite(value[k]))
        in.error(at, "the value {} of element {} is not a finite number; finite numbers are expected", value[k], tag);
      data.values[c * width + k] = value[k];
    }
  }
  if (cells == 0) {
    b.report.skipped_data.push_back(header.name);
    return;
  }
  if (cells != b.mesh.cell_count())
    in.error(start, "'{}' has values for {} of {} tetrahedra; all are needed", header.name, cells, b.mesh.cell_count());
  for (CellData& other : b.mesh.cell_data)
    if (other.name == data.name) {
      warn("{}: element data '{}' is given more than once; the last one counts", in.name(), data.name);
      other = std::move(data);
      return;
    }
  b.mesh.cell_data.push_back(std::move(data));
}

namespace {

/// Reads the opening line "$Name" into in.section; returns its place.
const char* open_section(Source& in) {
  const char* at = in.position();
  const std::string_view mark = in.line();
  const bool letters = std::all_of(mark.begin() + (mark.empty() ? 0 : 1), mark.end(),
                                   [](char c) { return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z'); });
  if (mark.size() < 2 || mark[0] != '$' || !letters || mark.substr(0, 4) == "$End") {
    std::string shown(mark.substr(0, 24));
    for (char& c : shown)
      if (c < 32 || c == 127) c = '?';
    in.error(at, "found '{}', but the beginning of a section such as $Nodes was expected", shown);
  }
  in.open_section(mark.substr(1, 64));
  return at;
}

void read_section(Builder& b, Version version, Entities& entities, bool& have_entities) {
  Source& in = b.in;
  const char* at = open_section(in);
  const bool v41 = version == Version::v41;
  const std::string& name = in.section;
  if (name == "PhysicalNames") {
    read_names(b);
  } else if (name == "Entities" && v41) {
    if (b.have_elements || have_entities) in.error(at, "comes twice or after $Elements; it belongs before $Nodes");
    read_entities_v41(b, entities);
    have_entities = true;
  } else if (name == "PartitionedEntities") {
    in.error(at, "the mesh is partitioned; save it unpartitioned, tutti partitions by itself");
  } else if (name == "Nodes") {
    if (b.have_nodes) in.error(at, "there is a second $Nodes section; one is expected");
    v41 ? read_nodes_v41(b) : read_nodes_v22(b);
  } else if (name == "Elements") {
    if (b.have_elements) in.error(at, "there is a second $Elements section; one is expected");
    if (!b.have_nodes) in.error(at, "comes before $Nodes; the nodes must come first");
    v41 ? read_elements_v41(b, have_entities ? &entities : nullptr) : read_elements_v22(b);
  } else if (name == "Periodic" && b.elements) {
    if (!b.have_nodes) in.error(at, "comes before $Nodes; the nodes must come first");
    v41 ? read_periodic_v41(b) : read_periodic_v22(b);
  } else if (name == "ElementData" && !b.elements) {
    if (!b.have_elements) in.error(at, "comes before $Elements; the elements must come first");
    read_element_data(b);
  } else if (name == "MeshFormat") {
    in.error(at, "there is a second $MeshFormat section; is this two files in one?");
  } else {
    in.skip_section();
    return;
  }
  in.end_section();
}

}  // namespace
}  // namespace tutti::gmsh

namespace tutti {

TetMesh read_gmsh(const std::filesystem::path& path, MeshReport* report) {
  const FileBytes file(path);
  return parse_gmsh(file.view(), path.string(), report);
}

namespace {

/// All sections of a file.
gmsh::Builder read_sections(gmsh::Source& in, bool any_element, const MeshReport* report = nullptr) {
  const gmsh::Version version = gmsh::read_format(in);
  gmsh::Builder builder(in, any_element);
  builder.report.keep_inverted = report != nullptr && report->keep_inverted;
  builder.report.take_surface = report != nullptr && report->take_surface;
  gmsh::Entities entities;
  bool have_entities = false;
  while (in.skip_blank()) gmsh::read_section(builder, version, entities, have_entities);
  if (!builder.have_nodes) in.error(in.position(), "there is no $Nodes section; the file is truncated");
  if (!builder.have_elements) in.error(in.position(), "there is no $Elements section; the file is truncated");
  return builder;
}

}  // namespace

TetMesh parse_gmsh(std::string_view bytes, const std::string& name, MeshReport* report) {
  gmsh::Source in(bytes, name);
  try {
    return read_sections(in, false, report).finish(report);
  } catch (const std::bad_alloc&) {
    fail(ErrorKind::resource, "{}: no memory for the mesh; about 100 bytes per tetrahedron are needed", name);
  }
}

ElementMesh parse_gmsh_elements(std::string_view bytes, const std::string& name, MeshReport* report) {
  gmsh::Source in(bytes, name);
  try {
    return read_sections(in, true).finish_elements(report);
  } catch (const std::bad_alloc&) {
    fail(ErrorKind::resource, "{}: no memory for the mesh; about 300 bytes per element are needed", name);
  }
}

}  // namespace tutti
