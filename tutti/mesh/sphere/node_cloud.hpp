// Nodes on the unit sphere: without cells, as RBF-FD stencils take them.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tutti/base/parallel.hpp"
#include "tutti/base/types.hpp"
#include "tutti/base/vec3.hpp"

namespace tutti {

struct NodeCloud {
  std::vector<Vec3> points;     ///< unit vectors; a node's number is its place
  std::vector<double> weights;  ///< of quadrature, their sum is 4 pi; empty: none given
  Gid size() const { return static_cast<Gid>(points.size()); }
};

/// What `count` nodes of one spacing would have: h = sqrt(4 pi / count), in radians. Separations are told in it.
double node_spacing(Gid count);

// Generators. The nodes are the same bits for any `parallel`. Errors (SpecError): a count below 1 or above max_nodes.

/// More are refused: their numbers fill 32 bits.
inline constexpr Gid max_nodes = 2'000'000'000;

/// 10 m^2 + 2: the corners of an icosahedron with two of them at the poles, then its edges, cut at equal angles, then
/// its faces, where the point of the barycentric coordinates (a, b, c) / m lies along
/// sin(a t/m) A + sin(b t/m) B + sin(c t/m) C, t the angle of an edge: on edges this is the interpolation by angle.
NodeCloud icosahedral_nodes(int m, const ParallelFor& parallel = {});
/// The m of `count` nodes. SpecError("count"), with the nearest counts that there are.
int icosahedral_parts(Gid count);
/// The spiral of Fibonacci's lattice (Gonzalez 2010): z = 1 - (2 i + 1) / count, the longitude i turns / golden ratio.
NodeCloud fibonacci_nodes(Gid count, const ParallelFor& parallel = {});
/// Icosahedral nodes if there are such of this count, else Fibonacci's, moved down the gradient of the Riesz energy of
/// each node's nearest neighbours, all nodes at a time. Icosahedral ones end nearly even; Fibonacci's keep their
/// spirals' defects. Needs about 150 bytes a node.
NodeCloud relaxed_nodes(Gid count, int sweeps = 100, const ParallelFor& parallel = {});
/// A stress case: uniformly random nodes, drawn one after the other; one nearer than separation * h to another is
/// drawn anew. separation: 0 to 0.7, as the sphere is full near 0.83. Few nodes need not be farther apart than a radian
/// (two or three: half of one).
NodeCloud random_nodes(Gid count, std::uint64_t seed, double separation = 0.5);

// Files.

/// What read_nodes reads, for help texts.
inline constexpr const char* node_formats =
    "text (.xyz, .txt), raw doubles (.bin, .raw, .f64), points of VTK (.vtp, .vtu)";

/// Reads nodes by their file's extension, with weights where it has them.
/// .xyz, .txt: a node a line, `x y z` or `x y z weight`; empty lines and what follows a # do not count.
/// .bin, .raw, .f64: little-endian doubles, three or four a node: as a name like nodes.xyzw.bin says, else whichever
/// fits the size and gives unit vectors, three first. .vtp, .vtu: the points, with the point data `weight` or
/// `weights`. Lengths may be off by 1e-5, as of short decimals; nodes are then brought to length 1. Errors: io; input,
/// with file and line or byte: numbers that are not finite, other lengths, two nodes at one place (see
/// find_double_node), weights whose sum is not 4 pi within 1e-4.
NodeCloud read_nodes(const std::filesystem::path& path);
/// The same from a file's bytes; the name's extension tells the format, and the name stands in messages.
NodeCloud parse_nodes(std::string_view bytes, const std::string& name);

/// Two nodes nearer than this are one node.
inline constexpr double double_node_distance = 1e-9;

struct DoubleNode {
  Gid first = -1, second = -1;  ///< first < second; -1: there is none
  explicit operator bool() const { return second >= 0; }
};
/// Of all such pairs the one with the lowest second number (of nodes that are near each other without being equal, some
/// pair, always the same one).
DoubleNode find_double_node(std::span<const Vec3> points);

}  // namespace tutti
