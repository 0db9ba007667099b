// VTK's compressed blocks: the payload of one array in an appended section.
#pragma once

#include <span>
#include <string>

#include "tutti/base/types.hpp"

namespace tutti {

/// `bytes` as vtkZLibDataCompressor writes them: 64-bit counts [blocks, block size, size of a last partial block,
/// compressed size of each block], then the blocks. The result does not depend on `threads`; these run on all
/// cores that the process started with, wherever the caller is pinned. Error(resource): no memory.
std::string compress_blocks(std::span<const char> bytes, int level, int threads);

}  // namespace tutti
