#include "tutti/base/raw_vector.hpp"

#include <sys/mman.h>

namespace tutti {

void* allocate_large(std::size_t bytes) noexcept {
  // Gathers over a large array miss the TLB on 4 KiB pages, and so many pages take long to get: ask for 2 MiB ones.
  // What is left of the last one stays in small pages, which are there only once they are touched.
  constexpr std::size_t huge = std::size_t{2} << 20;
  const std::size_t alignment = bytes >= huge ? huge : 64;
  void* memory = std::aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment);
  if (bytes >= huge && memory != nullptr) madvise(memory, bytes / huge * huge, MADV_HUGEPAGE);
  return memory;
}

}  // namespace tutti
