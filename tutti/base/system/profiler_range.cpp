#include "tutti/base/system/profiler_range.hpp"

#if defined(TUTTI_HAVE_CUDA)
#include <nvtx3/nvToolsExt.h>
#endif

namespace tutti {

#if defined(TUTTI_HAVE_CUDA)
void begin_profiler_range(const char* name) noexcept {
  nvtxRangePushA(name);
}
void end_profiler_range() noexcept {
  nvtxRangePop();
}
#else
void begin_profiler_range(const char* /*name*/) noexcept {}
void end_profiler_range() noexcept {}
#endif

}  // namespace tutti
