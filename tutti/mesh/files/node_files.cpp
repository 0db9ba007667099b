#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <new>
#include <numbers>

#include "tutti/mesh/files/file_bytes.hpp"
#include "tutti/mesh/files/text_source.hpp"
#include "tutti/mesh/files/vtu_file_internal.hpp"
#include "tutti/mesh/sphere/node_cloud.hpp"
#include "tutti/mesh/tet_checks.hpp"

namespace tutti {
namespace {

static_assert(std::endian::native == std::endian::little, "files of raw doubles are read without swapping");

constexpr double length_tolerance = 1e-5, sum_tolerance = 1e-4;

bool is_unit(Vec3 p) {
  return std::abs(norm(p) - 1) <= length_tolerance;  // not where a coordinate is not finite
}

/// Brings a node to length 1. One that is within rounding of it keeps its bits: what was written is read back.
Vec3 normalised(Vec3 p) {
  const double square = dot(p, p);
  return std::abs(square - 1) <= 8 * std::numeric_limits<double>::epsilon() ? p : (1 / std::sqrt(square)) * p;
}

/// Nodes of a file as they come; fails at the first one that is none.
class Collector {
 public:
  explicit Collector(const TextSource& in) : in_(in) {}

  void reserve(Size nodes, bool weights) {
    cloud_.points.reserve(nodes);
    if (weights) cloud_.weights.reserve(nodes);
  }
  void add(const char* at, Vec3 p) {
    if (!is_finite(p))
      in_.error(at, "node {} has the coordinates {} {} {}; finite numbers are expected", cloud_.size(), p.x, p.y, p.z);
    if (!is_unit(p))
      in_.error(at, "node {} lies {:.8g} from the origin; nodes on the unit sphere are expected: divide x y z by it",
                cloud_.size(), norm(p));
    cloud_.points.push_back(normalised(p));
  }
  void add_weight(const char* at, double w) {
    if (!std::isfinite(w))
      in_.error(at, "node {} has the weight {}; finite numbers are expected", cloud_.weights.size(), w);
    cloud_.weights.push_back(w);
  }
  Gid size() const { return cloud_.size(); }

  /// What holds for all nodes together.
  NodeCloud finish() {
    const std::string& name = in_.name();
    if (cloud_.points.empty()) fail(ErrorKind::input, "{}: there are no nodes; at least one is expected", name);
    if (const DoubleNode twice = find_double_node(cloud_.points))
      fail(ErrorKind::input, "{}: the nodes {} and {} (numbered from 0) are at the same place; remove one of them",
           name, twice.first, twice.second);
    if (cloud_.weights.empty()) return std::move(cloud_);
    double sum = 0;
    for (const double w : cloud_.weights) sum += w;
    if (!(std::abs(sum - sphere) <= sum_tolerance * sphere))
      fail(ErrorKind::input,
           "{}: the sum of the weights is {:.8g}; the sphere's area, 4 pi = {:.8g}, is expected: scale them or leave "
           "them out",
           name, sum, sphere);
    return std::move(cloud_);
  }

 private:
  static constexpr double sphere = 4 * std::numbers::pi;
  const TextSource& in_;
  NodeCloud cloud_;
};

NodeCloud parse_text(std::string_view bytes, const std::string& name) {
  TextSource in(bytes, name);
  Collector nodes(in);
  const auto more = [&] {
    in.skip_blanks();
    return !in.at_end() && in.peek() != '\n' && in.peek() != '\r' && in.peek() != '#';
  };
  bool weights = false;
  while (in.skip_blank()) {
    if (in.peek() == '#') {
      in.line();
      continue;
    }
    const char* start = in.position();
    Vec3 p;
    for (int d = 0; d < 3; ++d) p[d] = in.text_real("a node's coordinate (x y z, or x y z weight)");
    nodes.add(start, p);
    const bool has_weight = more();
    if (nodes.size() == 1) weights = has_weight;
    if (has_weight != weights)
      in.error(start, "node {} has {} weight, the first one has {}; all or none must have one", nodes.size() - 1,
               has_weight ? "a" : "no", weights ? "one" : "none");
    if (has_weight) nodes.add_weight(start, in.text_real("a node's weight"));
    if (more())
      in.error(in.position(), "found '{}' after a node's numbers; x y z or x y z weight is expected",
               in.excerpt(in.position()));
    in.line();
  }
  return nodes.finish();
}

double raw_double(std::string_view bytes, std::size_t i) {
  double value = 0;
  std::memcpy(&value, bytes.data() + i * sizeof(double), sizeof(double));
  return value;
}

Vec3 raw_point(std::string_view bytes, std::size_t first) {
  return {raw_double(bytes, first), raw_double(bytes, first + 1), raw_double(bytes, first + 2)};
}

/// Doubles a node: 3 or 4; as the name says, else what fits.
std::size_t raw_width(std::string_view bytes, const std::string& name) {
  const std::size_t doubles = bytes.size() / sizeof(double);
  const std::string inner = std::filesystem::path(name).stem().extension().string();
  const bool whole = bytes.size() % sizeof(double) == 0;
  for (const auto& [ending, width] : {std::pair{".xyz", 3}, std::pair{".xyzw", 4}}) {
    if (inner != ending) continue;
    if (!whole || doubles % static_cast<std::size_t>(width) != 0)
      fail(ErrorKind::input, "{}: the file has {} bytes, no multiple of {}, as its name '{}' needs: it is truncated",
           name, bytes.size(), 8 * width, ending);
    return static_cast<std::size_t>(width);
  }
  const auto fits = [&](std::size_t width) {
    if (!whole || doubles % width != 0) return false;
    for (std::size_t i = 0; i < doubles; i += width)
      if (!is_unit(raw_point(bytes, i))) return false;
    return true;
  };
  const bool three = whole && doubles % 3 == 0, four = whole && doubles % 4 == 0;
  if (!three && !four)
    fail(ErrorKind::input,
         "{}: the file has {} bytes; three or four doubles per node, a multiple of 24 or 32, are expected", name,
         bytes.size());
  if (three && four) return fits(3) || !fits(4) ? 3 : 4;
  return three ? 3 : 4;
}

NodeCloud parse_raw(std::string_view bytes, const std::string& name) {
  TextSource in(bytes, name);
  in.binary = true;
  const std::size_t width = raw_width(bytes, name), doubles = bytes.size() / sizeof(double);
  Collector nodes(in);
  nodes.reserve(static_cast<Size>(doubles / width), width == 4);
  for (std::size_t i = 0; i < doubles; i += width) {
    const char* at = bytes.data() + i * sizeof(double);
    nodes.add(at, raw_point(bytes, i));
    if (width == 4) nodes.add_weight(at, raw_double(bytes, i + 3));
  }
  return nodes.finish();
}

void read_piece(vtu::File& file, pugi::xml_node piece, Collector& nodes, bool& weights) {
  const Size count = file.count(piece, "NumberOfPoints");
  if (count == 0) return;
  const vtu::Array array = file.find(file.child(piece, "Points"), nullptr);
  if (array.components != 3) file.error(array, "points of {} components; 3 are expected", array.components);
  const std::vector<double> values = file.reals(array, count);
  const bool first_piece = nodes.size() == 0;
  const char* at = file.place_of(array.node);
  for (std::size_t i = 0; i + 3 <= values.size(); i += 3) nodes.add(at, {values[i], values[i + 1], values[i + 2]});
  bool found = false;
  for (const pugi::xml_node node : piece.child("PointData").children("DataArray")) {
    const vtu::Array data = file.describe(node);
    if ((data.name != "weight" && data.name != "weights") || found) continue;
    if (data.components != 1) file.error(data, "weights of {} components; 1 is expected", data.components);
    for (const double w : file.reals(data, count)) nodes.add_weight(file.place_of(node), w);
    found = true;
  }
  if (!first_piece && found != weights)
    file.error(piece, "the piece has {} weights, another one has {}; all or none must have them", found ? "" : "no",
               weights ? "some" : "none");
  weights = found;
}

NodeCloud parse_vtk(std::string_view bytes, const std::string& name) {
  vtu::File file(bytes, name, vtu::Wanted::points);
  Collector nodes(file.source());
  bool weights = false;
  for (const pugi::xml_node piece : file.grid().children("Piece")) read_piece(file, piece, nodes, weights);
  return nodes.finish();
}

}  // namespace

NodeCloud parse_nodes(std::string_view bytes, const std::string& name) {
  const std::string extension = std::filesystem::path(name).extension().string();
  try {
    if (extension == ".xyz" || extension == ".txt") return parse_text(bytes, name);
    if (extension == ".bin" || extension == ".raw" || extension == ".f64") return parse_raw(bytes, name);
    if (extension == ".vtp" || extension == ".vtu") return parse_vtk(bytes, name);
  } catch (const std::bad_alloc&) {
    fail(ErrorKind::resource, "{}: no memory for the nodes; about 50 bytes per node are needed", name);
  }
  fail(ErrorKind::input, "{}: unsupported format of nodes; known are {}", name, node_formats);
}

NodeCloud read_nodes(const std::filesystem::path& path) {
  const FileBytes file(path, "file of nodes");
  return parse_nodes(file.view(), path.string());
}

DoubleNode find_double_node(std::span<const Vec3> points) {
  // Along a direction of no lattice, only a few other nodes are as near as double ones.
  const Vec3 direction{0.43182417902384, 0.62301734517281, 0.65217398165132};
  struct Along {
    double t = 0;
    Gid number = 0;
    bool operator<(const Along& other) const { return t < other.t || (t == other.t && number < other.number); }
  };
  std::vector<Along> order(points.size());
  for (std::size_t i = 0; i < points.size(); ++i) order[i] = {dot(direction, points[i]), static_cast<Gid>(i)};
  std::sort(order.begin(), order.end());
  DoubleNode best;
  for (std::size_t i = 0; i < order.size(); ++i)
    for (std::size_t j = i + 1; j < order.size() && order[j].t - order[i].t <= 2 * double_node_distance; ++j) {
      const Gid a = std::min(order[i].number, order[j].number), b = std::max(order[i].number, order[j].number);
      const Vec3 d = points[a] - points[b];
      if (dot(d, d) > double_node_distance * double_node_distance) continue;
      if (!best || b < best.second) best = {a, b};
      break;  // of many nodes at one place, each needs to meet the next one only
    }
  return best;
}

}  // namespace tutti
