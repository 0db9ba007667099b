#include "tutti/io/vtk/vtk_blocks.hpp"

#include <sched.h>
#include <zlib.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <new>
#include <thread>
#include <vector>

#include "tutti/base/error.hpp"

namespace tutti {
namespace {

constexpr std::size_t block_size = std::size_t{1} << 18;

cpu_set_t read_mask() {
  cpu_set_t mask;
  if (sched_getaffinity(0, sizeof(mask), &mask) != 0) CPU_ZERO(&mask);
  return mask;
}

// Read before main() can pin its thread.
const cpu_set_t mask_at_start = read_mask();

/// A helper inherits the one core of a pinned thread that starts it: all would share that core.
void run_on_all_cores() {
  if (CPU_COUNT(&mask_at_start) > 0) sched_setaffinity(0, sizeof(mask_at_start), &mask_at_start);
}

/// One zlib stream; empty when zlib has no memory.
std::string deflate_block(std::span<const char> bytes, int level) {
  uLongf size = compressBound(bytes.size());
  std::string out(size, '\0');
  const int status = compress2(reinterpret_cast<Bytef*>(out.data()), &size,
                               reinterpret_cast<const Bytef*>(bytes.data()), bytes.size(), level);
  out.resize(status == Z_OK ? size : 0);
  out.shrink_to_fit();
  return out;
}

}  // namespace

std::string compress_blocks(std::span<const char> bytes, int level, int threads) {
  const std::size_t blocks = (bytes.size() + block_size - 1) / block_size;
  std::vector<std::string> packed(blocks);
  std::atomic<std::size_t> next{0};
  const auto work = [&]() noexcept {
    for (std::size_t b = next++; b < blocks; b = next++) try {
        packed[b] =
            deflate_block(bytes.subspan(b * block_size, std::min(block_size, bytes.size() - b * block_size)), level);
      } catch (const std::bad_alloc&) {  // a block that stays empty tells it
      }
  };
  std::vector<std::thread> helpers;
  const auto wanted =
      std::min<std::size_t>(static_cast<std::size_t>(std::max(threads, 1)), std::max<std::size_t>(blocks, 1));
  helpers.reserve(wanted);
  try {
    for (std::size_t i = 1; i < wanted; ++i)
      helpers.emplace_back([&] {
        run_on_all_cores();
        work();
      });
  } catch (const std::exception&) {
    // No more threads are to be had: those that are there do it.
  }
  work();
  for (auto& helper : helpers) helper.join();

  std::vector<std::uint64_t> header = {blocks, block_size, bytes.size() % block_size};
  std::size_t total = 0;
  for (const auto& block : packed) {
    if (block.empty())
      fail(ErrorKind::resource, "zlib has no memory to compress {} bytes; use more nodes or fewer ranks per node",
           bytes.size());
    header.push_back(block.size());
    total += block.size();
  }
  std::string out(header.size() * sizeof(std::uint64_t), '\0');
  out.reserve(out.size() + total);
  std::memcpy(out.data(), header.data(), out.size());
  for (auto& block : packed) {
    out += block;
    block = {};
  }
  return out;
}

}  // namespace tutti
