// Nodes on the sphere as a file that read_nodes reads back, bit for bit.
#pragma once

#include <filesystem>

#include "tutti/mesh/sphere/node_cloud.hpp"

namespace tutti {

/// Error (usage) when the name's end is none that write_nodes knows, or, as .xyz.bin and .xyzw.bin, promises another
/// number of columns than nodes with or without weights have.
void check_node_file(const std::filesystem::path& path, bool weights);

/// Writes by the name's end. .xyz, .txt: a node a line, the shortest decimals that read back as the same bits; .bin,
/// .raw, .f64: little-endian doubles, x y z or x y z weight; .vtp, .vtu: points of VTK in zlib blocks, one cell of all
/// points for ParaView to show, the point data `weights`. The file appears whole or not at all. Errors:
/// check_node_file's; io.
void write_nodes(const NodeCloud& cloud, const std::filesystem::path& path, int threads = 1);

}  // namespace tutti
