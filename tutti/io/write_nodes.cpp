#include "tutti/io/write_nodes.hpp"

#include <array>
#include <charconv>
#include <numeric>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tutti/base/error.hpp"
#include "tutti/base/system/atomic_file.hpp"
#include "tutti/io/vtk/vtk_file.hpp"

namespace tutti {
namespace {

constexpr int poly_vertex = 2;  ///< VTK's number of a cell of many points

bool is_text(const std::string& extension) {
  return extension == ".xyz" || extension == ".txt";
}
bool is_raw(const std::string& extension) {
  return extension == ".bin" || extension == ".raw" || extension == ".f64";
}
bool is_vtk(const std::string& extension) {
  return extension == ".vtp" || extension == ".vtu";
}

std::string_view text_of(std::span<const char> bytes) {
  return {bytes.data(), bytes.size()};
}

void write_text(const NodeCloud& cloud, const std::filesystem::path& path) {
  std::string text;
  text.reserve((cloud.weights.empty() ? 64 : 86) * cloud.points.size());
  std::array<char, 32> digits;
  const auto add = [&](double value, char after) {
    const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), value).ptr;
    text.append(digits.data(), static_cast<std::size_t>(end - digits.data()));
    text += after;
  };
  for (std::size_t i = 0; i < cloud.points.size(); ++i) {
    const Vec3 p = cloud.points[i];
    add(p.x, ' ');
    add(p.y, ' ');
    add(p.z, cloud.weights.empty() ? '\n' : ' ');
    if (!cloud.weights.empty()) add(cloud.weights[i], '\n');
  }
  write_file(path, text, Place::given);
}

void write_raw(const NodeCloud& cloud, const std::filesystem::path& path) {
  static_assert(sizeof(Vec3) == 3 * sizeof(double));
  if (cloud.weights.empty()) return write_file(path, text_of(bytes_of(cloud.points)), Place::given);
  std::vector<std::array<double, 4>> rows(cloud.points.size());
  for (std::size_t i = 0; i < rows.size(); ++i)
    rows[i] = {cloud.points[i].x, cloud.points[i].y, cloud.points[i].z, cloud.weights[i]};
  write_file(path, text_of(bytes_of(rows)), Place::given);
}

void write_vtk(const NodeCloud& cloud, const std::filesystem::path& path, int threads) {
  const bool grid = path.extension() == ".vtu";
  const VtkOptions options{.level = 1, .threads = threads, .time = {}};
  std::vector<std::int64_t> numbers(cloud.points.size());
  std::iota(numbers.begin(), numbers.end(), 0);
  const std::vector<std::int64_t> end = {cloud.size()};
  const std::vector<std::uint8_t> type = {poly_vertex};
  const auto points = pack_array("Points", "Float64", 3, bytes_of(cloud.points), options);
  const auto weights = pack_array("weights", "Float64", 1, bytes_of(cloud.weights), options);
  const auto connectivity = pack_array("connectivity", "Int64", 1, bytes_of(numbers), options);
  const auto offsets = pack_array("offsets", "Int64", 1, bytes_of(end), options);
  const auto types = pack_array("types", "UInt8", 1, bytes_of(type), options);
  const char* cells = grid ? "Cells" : "Verts";
  AppendedFile file(grid ? "UnstructuredGrid" : "PolyData", "", {});
  file.add(
      fmt::format("<Piece NumberOfPoints=\"{}\" {}=\"1\">\n", cloud.size(), grid ? "NumberOfCells" : "NumberOfVerts"));
  if (!cloud.weights.empty()) {
    file.add("<PointData Scalars=\"weights\">\n");
    file.add(weights);
    file.add("</PointData>\n");
  }
  file.add("<Points>\n");
  file.add(points);
  file.add(fmt::format("</Points>\n<{}>\n", cells));
  file.add(connectivity);
  file.add(offsets);
  if (grid) file.add(types);
  file.add(fmt::format("</{}>\n</Piece>\n", cells));
  file.write(path, Place::given);
}

}  // namespace

void check_node_file(const std::filesystem::path& path, bool weights) {
  const std::string extension = path.extension().string(), inner = path.stem().extension().string();
  if (!is_text(extension) && !is_raw(extension) && !is_vtk(extension))
    fail(ErrorKind::usage,
         "{}: the name must end in .xyz or .txt (text), .bin, .raw or .f64 (doubles), .vtp or .vtu (VTK)",
         path.string());
  if (is_raw(extension) && ((inner == ".xyz" && weights) || (inner == ".xyzw" && !weights)))
    fail(ErrorKind::usage, "{}: the nodes have {}; a name with {} is expected", path.string(),
         weights ? "weights" : "no weights", weights ? ".xyzw" : ".xyz");
}

void write_nodes(const NodeCloud& cloud, const std::filesystem::path& path, int threads) {
  check_node_file(path, !cloud.weights.empty());
  require(cloud.weights.empty() || cloud.weights.size() == cloud.points.size(), "{} weights for {} nodes",
          cloud.weights.size(), cloud.points.size());
  const std::string extension = path.extension().string();
  if (is_text(extension))
    write_text(cloud, path);
  else if (is_raw(extension))
    write_raw(cloud, path);
  else
    write_vtk(cloud, path, threads);
}

}  // namespace tutti
