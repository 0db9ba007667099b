// A cache of stencils: its header, and a block's columns.
//
// The input: a byte that says which checksums are made right (random bytes would never fit one), then the file.
#include <cstring>
#include <span>
#include <vector>

#include "fuzz.hpp"
#include "tutti/base/hash.hpp"
#include "tutti/models/transport/stencils/stencil_cache.hpp"

using namespace tutti;

namespace {

constexpr auto header_size = static_cast<std::size_t>(stencil_cache_header_bytes);

/// Puts the checksum of the numbers before it into the last 8 bytes of the header.
void mend_header(std::vector<char>& file) {
  if (file.size() < header_size) return;
  const std::uint64_t hash = hash_bytes(std::span(file).first(header_size - sizeof(std::uint64_t)));
  std::memcpy(file.data() + header_size - sizeof hash, &hash, sizeof hash);
}

std::uint64_t number_at(std::span<const char> file, Size at) {
  std::uint64_t number = 0;
  std::memcpy(&number, file.data() + at, sizeof number);
  return number;
}

void read_blocks(const StencilCacheHeader& header, std::span<const char> file, bool mend) {
  Size end = stencil_cache_header_bytes + 8 * header.blocks();
  for (Size block = 0; block < header.blocks(); ++block) {
    fuzz::check(header.block_offset(block) == end && header.block_bytes(block) > 0, "a gap between blocks");
    end += header.block_bytes(block);
    const auto bytes = file.subspan(header.block_offset(block), header.block_bytes(block));
    const std::uint64_t hash = mend ? hash_bytes(bytes) : number_at(file, stencil_cache_header_bytes + block * 8);
    check_stencil_block(header, block, bytes, hash, "stencils.bin");
    for (Size i = 0; i < header.block_rows(block) * header.size; ++i)
      fuzz::check(number_at(bytes, 8 * i) < static_cast<std::uint64_t>(header.nodes), "a column beyond the nodes");
  }
  fuzz::check(end == header.file_bytes(), "blocks that do not cover the file");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const auto* begin = reinterpret_cast<const char*>(data) + 1;
  std::vector<char> file(begin, begin + (size - 1));
  if ((data[0] & 1) != 0) mend_header(file);
  fuzz::accepts({ErrorKind::input}, [&] {
    const auto head = std::span<const char>(file).first(std::min(file.size(), header_size));
    const StencilCacheHeader header = parse_stencil_header(head, static_cast<Size>(file.size()), "stencils.bin");
    fuzz::check(header.nodes >= 0 && header.size >= 1, "a header that contradicts");
    fuzz::check(header.file_bytes() == static_cast<Size>(file.size()), "a file of another size");
    read_blocks(header, file, (data[0] & 2) != 0);
  });
  return 0;
}
