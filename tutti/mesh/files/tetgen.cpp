#include "tutti/mesh/files/tetgen.hpp"

#include <cmath>
#include <limits>
#include <new>
#include <optional>

#include "tutti/mesh/files/file_bytes.hpp"
#include "tutti/mesh/files/text_source.hpp"
#include "tutti/mesh/tet_checks.hpp"

namespace tutti {
namespace {

/// A line of numbers is a record; empty lines and what follows a # do not count.
class Records {
 public:
  Records(std::string_view bytes, const std::string& name) : in(bytes, name) {}

  /// Moves to the next record; false at the end of the file.
  bool next() {
    while (in.skip_blank()) {
      if (in.peek() != '#') return true;
      in.line();
    }
    return false;
  }
  /// True if the record has another number.
  bool more() {
    in.skip_blanks();
    const char c = in.peek();
    return !in.at_end() && c != '\n' && c != '\r' && c != '#';
  }
  void finish(const char* after) {
    if (more())
      in.error(in.position(), "found '{}' after {}; the end of the line was expected", in.excerpt(in.position()),
               after);
    in.line();
  }
  /// Begins the next record, of which `what` is the first number.
  const char* begin(const char* what) {
    if (!next()) in.fail_expected(in.position(), what);
    return in.position();
  }
  void expect_end(Size announced, const char* what) {
    if (next())
      in.error(in.position(), "found '{}' after the {} {} that the first line announces; the count is wrong",
               in.excerpt(in.position()), announced, what);
  }
  Size optional_integer(const char* what, Size otherwise) { return more() ? in.text_integer(what) : otherwise; }

  TextSource in;
};

/// A count of columns that belongs to every record.
Size check_columns(const TextSource& in, const char* at, Size n, const char* what) {
  if (n < 0 || n > in.remaining()) in.error(at, "{} {}; 0 to {} are possible here", n, what, in.remaining());
  return n;
}

class Reader {
 public:
  Reader(std::string_view node, std::string_view ele, const std::string& name, bool keep_inverted)
      : name_(name), node_(node, name + ".node"), ele_(ele, name + ".ele") {
    report_.keep_inverted = keep_inverted;
  }

  void read_nodes();
  void read_cells();
  void read_faces(std::string_view bytes);
  TetMesh finish(MeshReport* out) {
    finish_mesh(mesh_, ele_.in.name(), report_);
    if (out != nullptr) *out = report_;
    return std::move(mesh_);
  }

 private:
  Gid vertex(TextSource& in, const char* what) {
    in.skip_blanks();
    const char* at = in.position();
    const Size number = in.text_integer(what);
    if (number < first_ || number - first_ >= mesh_.vertex_count())
      in.error(at, "names node {}, but {}.node has only the nodes {} to {}", number, name_, first_,
               first_ + mesh_.vertex_count() - 1);
    return number - first_;
  }
  std::int32_t region(const char* at, Size number, double attribute);

  std::string name_;
  Records node_, ele_;
  TetMesh mesh_;
  MeshReport report_;
  Size first_ = 0;  ///< number of the first node
};

void Reader::read_nodes() {
  TextSource& in = node_.in;
  const char* at = node_.begin("the number of nodes");
  const Size n = in.text_integer("the number of nodes");
  const Size dimension = node_.optional_integer("the dimension", 3);
  const Size attributes =
      check_columns(in, at, node_.optional_integer("the number of attributes", 0), "attributes per node");
  const Size markers = node_.optional_integer("0 or 1, the number of markers", 0);
  if (dimension != 3) in.error(at, "the dimension is {}; 3 is expected", dimension);
  if (markers != 0 && markers != 1) in.error(at, "{} boundary markers per node; 0 or 1 is expected", markers);
  node_.finish("the first line's numbers");
  if (n < 1) in.error(at, "{} nodes; at least 4 are needed for a tetrahedron", n);
  in.check_room(at, n, 7 + 2 * attributes, "nodes");
  mesh_.vertices.reserve(n);
  for (Size i = 0; i < n; ++i) {
    const char* start = node_.begin("a node's number");
    const Size number = in.text_integer("a node's number");
    if (i == 0) {
      first_ = number;
      if (number != 0 && number != 1) in.error(start, "the first node has the number {}; 0 or 1 is expected", number);
    }
    if (number != first_ + i)
      in.error(start, "found node {}, but {} was expected; nodes are numbered one after the other", number, first_ + i);
    Vec3 position;
    for (int d = 0; d < 3; ++d) position[d] = in.text_real("a node's coordinate");
    for (Size k = 0; k < attributes; ++k) in.text_real("a node's attribute");
    if (markers == 1) in.text_integer("a node's marker");
    node_.finish("a node");
    if (!is_finite(position))
      in.error(start, "node {} has the coordinates {} {} {}; finite numbers are expected", number, position.x,
               position.y, position.z);
    mesh_.vertices.push_back(position);
  }
  node_.expect_end(n, "nodes");
}

std::int32_t Reader::region(const char* at, Size number, double attribute) {
  // The largest number stays free: a writer may need a number for cells without a region.
  if (!(attribute >= 0) || attribute >= std::numeric_limits<std::int32_t>::max() - 1 ||
      attribute != std::floor(attribute))
    ele_.in.error(at,
                  "tetrahedron {} has the region attribute {}; a whole number from 0 to 2147483645 is expected (change "
                  "the attributes of the regions in the .poly file)",
                  number, attribute);
  return static_cast<std::int32_t>(attribute);
}

void Reader::read_cells() {
  TextSource& in = ele_.in;
  const char* at = ele_.begin("the number of tetrahedra");
  const Size n = in.text_integer("the number of tetrahedra");
  const Size nodes = ele_.optional_integer("the number of nodes per tetrahedron", 4);
  const Size attributes =
      check_columns(in, at, ele_.optional_integer("the number of attributes", 0), "attributes per tetrahedron");
  ele_.finish("the first line's numbers");
  if (nodes == 10)
    in.error(at, "the tetrahedra are of second order (10 nodes); tutti needs 4 nodes: run tetgen without -o2");
  if (nodes != 4) in.error(at, "{} nodes per tetrahedron; 4 are expected", nodes);
  if (n < 1) in.error(at, "{} tetrahedra; at least one is needed", n);
  in.check_room(at, n, 9 + 2 * attributes, "tetrahedra");
  mesh_.cells.reserve(n);
  mesh_.regions.reserve(n);
  for (Size i = 0; i < n; ++i) {
    const char* start = ele_.begin("a tetrahedron's number");
    const Size number = in.text_integer("a tetrahedron's number");
    std::array<Gid, 4> cell;
    for (Gid& v : cell) v = vertex(in, "a tetrahedron's node");
    double attribute = 0;
    for (Size k = 0; k < attributes; ++k) attribute = in.text_real("a tetrahedron's attribute");
    ele_.finish("a tetrahedron");
    const auto [a, b, c, d] = cell;
    const TetDefect defect = orient_tet(mesh_.vertices, cell, report_);
    if (defect != TetDefect::none)
      in.error(start, "tetrahedron {} (nodes {} {} {} {}) {}", number, a + first_, b + first_, c + first_, d + first_,
               defect == TetDefect::flat ? "has no volume, its nodes lie in a plane; improve the mesh there"
                                         : "has a node twice; four different ones are expected");
    mesh_.cells.push_back(cell);
    mesh_.regions.push_back(region(start, number, attribute));
  }
  ele_.expect_end(n, "tetrahedra");
}

void Reader::read_faces(std::string_view bytes) {
  Records face(bytes, name_ + ".face");
  TextSource& in = face.in;
  const char* at = face.begin("the number of faces");
  const Size n = in.text_integer("the number of faces");
  const Size markers = face.optional_integer("0 or 1, the number of markers", 0);
  if (markers != 0 && markers != 1) in.error(at, "{} boundary markers per face; 0 or 1 is expected", markers);
  face.finish("the first line's numbers");
  in.check_room(at, n, 7, "faces");
  for (Size i = 0; i < n; ++i) {
    const char* start = face.begin("a face's number");
    const Size number = in.text_integer("a face's number");
    std::array<Gid, 3> triangle;
    for (Gid& v : triangle) v = vertex(in, "a face's node");
    const Size marker = markers == 1 ? in.text_integer("a face's marker") : 0;
    // With -nn the two neighbours follow.
    for (int k = 0; k < 2 && face.more(); ++k) in.text_integer("a face's neighbour");
    face.finish("a face");
    const auto [a, b, c] = triangle;
    if (a == b || a == c || b == c)
      in.error(start, "face {} has a node twice: {} {} {}; three different ones are expected", number, a + first_,
               b + first_, c + first_);
    if (marker >= std::numeric_limits<std::int32_t>::max())
      in.error(start, "face {} has the marker {}, which does not fit 32 bits; at most 2147483646 is expected", number,
               marker);
    if (marker < 0) ++report_.negative_markers;
    if (marker <= 0) continue;
    mesh_.boundary.push_back(triangle);
    mesh_.boundary_tags.push_back(static_cast<std::int32_t>(marker));
  }
  face.expect_end(n, "faces");
}

bool has_tetgen_extension(const std::filesystem::path& path) {
  const auto extension = path.extension();
  return extension == ".node" || extension == ".ele" || extension == ".face";
}

}  // namespace

bool is_tetgen(const std::filesystem::path& path) {
  std::error_code ignored;
  return has_tetgen_extension(path) || std::filesystem::is_regular_file(path.string() + ".ele", ignored);
}

TetMesh parse_tetgen(std::string_view node, std::string_view ele, std::string_view face, const std::string& name,
                     MeshReport* report) {
  try {
    Reader reader(node, ele, name, report != nullptr && report->keep_inverted);
    reader.read_nodes();
    reader.read_cells();
    if (face.data() != nullptr) reader.read_faces(face);
    return reader.finish(report);
  } catch (const std::bad_alloc&) {
    fail(ErrorKind::resource, "{}.ele: no memory for the mesh; about 100 bytes per tetrahedron are needed", name);
  }
}

TetMesh read_tetgen(const std::filesystem::path& path, MeshReport* report) {
  // "part.1" is a stem: only TetGen's own ends are cut off.
  const std::string stem =
      has_tetgen_extension(path) ? std::filesystem::path(path).replace_extension().string() : path.string();
  const FileBytes node(stem + ".node"), ele(stem + ".ele");
  std::optional<FileBytes> face;
  std::error_code ignored;
  if (std::filesystem::exists(stem + ".face", ignored)) face.emplace(stem + ".face");
  return parse_tetgen(node.view(), ele.view(), face ? face->view() : std::string_view(), stem, report);
}

}  // namespace tutti
