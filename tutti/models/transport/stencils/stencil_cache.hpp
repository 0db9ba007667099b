// Stencils and their weights on disk, so that a second run need not make them again.
//
// A header, a table of checksums (64-bit XXH3), one a block of rows, and the blocks: columns int64[rows][size], then
// weights float64[rows][operators][size]; all little-endian. A reader that wants some rows reads their blocks alone.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "tutti/base/system/atomic_file.hpp"
#include "tutti/base/system/input_file.hpp"
#include "tutti/models/transport/stencils/stencil_weights.hpp"

namespace tutti::transport {

inline constexpr std::uint64_t stencil_cache_format = 1;
inline constexpr Size stencil_cache_header_bytes = 96;
inline constexpr Size stencil_cache_block_rows = 4096;  ///< the last block has fewer

/// A number that everything goes into that determines stencils and weights: coordinates of all nodes and their order,
/// the basis (only what its kind uses), the version of the arithmetic.
std::uint64_t stencil_key(const StencilBasis& basis, std::span<const Vec3> nodes);

struct StencilCacheHeader {
  std::uint64_t key = 0;
  Size nodes = 0;  ///< rows
  int size = 0;    ///< nodes of a stencil
  WeightReport report;
  std::uint64_t table_hash = 0;

  Size blocks() const { return (nodes + stencil_cache_block_rows - 1) / stencil_cache_block_rows; }
  Size block_begin(Size block) const { return block * stencil_cache_block_rows; }  ///< its first row
  Size block_rows(Size block) const;
  Size block_offset(Size block) const;  ///< its first byte in the file
  Size block_bytes(Size block) const;
  Size file_bytes() const { return block_offset(blocks()); }
};

/// The header as it is written.
std::array<char, stencil_cache_header_bytes> format_stencil_header(const StencilCacheHeader& header);
/// Reads a header; `bytes` are the first of a file of `file_bytes`, `name` its name for messages. Error(input): no
/// cache of stencils, another format, damaged, or cut off.
StencilCacheHeader parse_stencil_header(std::span<const char> bytes, Size file_bytes, const std::string& name);
/// Checks a block's bytes against its checksum and its columns against the number of nodes. Error(input).
void check_stencil_block(const StencilCacheHeader& header, Size block, std::span<const char> bytes, std::uint64_t hash,
                         const std::string& name);

/// A cache that is written block by block, in any order: nobody needs to hold all of it.
class StencilCacheWriter {
 public:
  /// Stencils of `size` of so many nodes. Error(io).
  StencilCacheWriter(const std::filesystem::path& path, std::uint64_t key, Size nodes, int size);
  const StencilCacheHeader& header() const { return header_; }
  /// Of the block's rows, in the order of their nodes: columns[row * size ...], centre first, and weights as
  /// make_weights gives them. Error(io).
  void write(Size block, std::span<const Gid> columns, std::span<const double> weights);
  /// The file appears whole or not at all: once all blocks are written. Error(io).
  void finish(const WeightReport& report);

 private:
  StencilCacheHeader header_;
  AtomicFile file_;
  std::vector<std::uint64_t> hashes_;
};

/// An open cache whose header and table of checksums are right.
class StencilCache {
 public:
  /// Error(io): it cannot be opened or read. Error(input): no cache, damaged, or of another key.
  StencilCache(const std::filesystem::path& path, std::uint64_t key);

  const StencilCacheHeader& header() const { return header_; }
  /// The stencils of nodes `rows`, in that order: columns[rows][size], weights[rows][operators][size]. Every block that
  /// holds one of them is read and checked. Error(io), Error(input): damaged.
  void read(std::span<const Gid> rows, std::span<Gid> columns, std::span<double> weights,
            const ParallelFor& parallel = {}) const;

 private:
  std::vector<char> read_bytes(Size offset, Size bytes) const;
  std::string name_;
  InputFile file_;
  StencilCacheHeader header_;
  std::vector<std::uint64_t> hashes_;
};

/// What is done with a cache that is damaged, or was made of something else.
enum class BadCache : std::uint8_t { make_anew, refuse };

/// StencilCache::read of a file that may be missing. False: it is not there; or it is of no use, which a warning tells,
/// and `bad` is make_anew: what was read is of no use then. Else as StencilCache.
bool read_stencil_cache(const std::filesystem::path& path, std::uint64_t key, std::span<const Gid> rows,
                        std::span<Gid> columns, std::span<double> weights, WeightReport& report, BadCache bad,
                        const ParallelFor& parallel = {});

}  // namespace tutti::transport
