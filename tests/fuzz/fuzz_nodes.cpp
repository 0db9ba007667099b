// Files of nodes: unit vectors, each once, or an Error.
//
// The input: one character, then the file. 0 is text, 1 raw doubles, 2 VTK, 3 and 4 raw doubles whose name says xyz or
// xyzw.
#include <array>
#include <cmath>

#include "fuzz.hpp"
#include "tutti/mesh/sphere/node_cloud.hpp"

using namespace tutti;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  constexpr std::array<const char*, 5> names = {"a.xyz", "a.bin", "a.vtp", "a.xyz.f64", "a.xyzw.f64"};
  if (size == 0 || data[0] < '0' || data[0] > '4') return 0;
  const std::string_view bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  fuzz::accepts({ErrorKind::input}, [&] {
    const NodeCloud cloud = parse_nodes(bytes, names[data[0] - '0']);
    fuzz::check(!cloud.points.empty(), "no nodes");
    fuzz::check(cloud.weights.empty() || cloud.weights.size() == cloud.points.size(),
                "weights and nodes differ in number");
    for (const Vec3& p : cloud.points) fuzz::check(std::abs(dot(p, p) - 1) < 1e-14, "a node is no unit vector");
    double sum = 0;
    for (const double w : cloud.weights) sum += w;
    fuzz::check(cloud.weights.empty() || std::abs(sum - 12.566370614359172) < 0.01, "the weights' sum is not 4 pi");
    fuzz::check(!find_double_node(cloud.points), "two nodes are one");
  });
  return 0;
}
