// What stands for unified memory in a build without CUDA.
#if !defined(TUTTI_HAVE_CUDA)

#include "tutti/residency/managed_memory.hpp"

namespace tutti {

std::unique_ptr<ManagedMemory> make_managed_memory(Device&, Size, Size, const std::string&) {
  return nullptr;
}

}  // namespace tutti

#endif
