// Named ranges for NVIDIA's profilers (NVTX); they do nothing in a build without CUDA.
#pragma once

namespace tutti {

/// Opens a range on the calling thread. Ranges of a thread nest.
void begin_profiler_range(const char* name) noexcept;
void end_profiler_range() noexcept;

/// A range as long as this object lives, on one thread.
class ProfilerRange {
 public:
  explicit ProfilerRange(const char* name) noexcept { begin_profiler_range(name); }
  ~ProfilerRange() { end_profiler_range(); }
  ProfilerRange(const ProfilerRange&) = delete;
  ProfilerRange& operator=(const ProfilerRange&) = delete;
};

}  // namespace tutti
