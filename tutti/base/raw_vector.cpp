#include "tutti/base/raw_vector.hpp"

#include <sys/mman.h>

namespace tutti {

void* allocate_large(std::size_t bytes) noexcept {
  // Gathers over a large array miss the TLB on 4 KiB pages, and so many pages take long to get: ask for 2 MiB ones.
  constexpr std::size_t huge = std::size_t{2} << 20;
  const bool large = bytes >= 2 * huge;
  const std::size_t alignment = large ? huge : 64;
  const std::size_t rounded = (bytes + alignment - 1) / alignment * alignment;
  void* memory = std::aligned_alloc(alignment, rounded);
  if (large && memory != nullptr) madvise(memory, rounded, MADV_HUGEPAGE);
  return memory;
}

}  // namespace tutti
