// Unified memory by the CUDA runtime.
#include <cuda_runtime_api.h>
#include <unistd.h>

#include "tutti/device/cuda/check.hpp"
#include "tutti/residency/managed_memory.hpp"

namespace tutti {
namespace {

class CudaManagedMemory final : public ManagedMemory {
 public:
  CudaManagedMemory(Device& device, Size bytes, Size at_once, const std::string& name)
      : device_(device), at_once_(at_once) {
    const cuda::CurrentDevice current(device.index());
    device.budget().reserve(name, at_once_);
    try {
      TUTTI_CUDA_CHECK(cudaMallocManaged(&data_, static_cast<std::size_t>(bytes), cudaMemAttachGlobal));
      // In large pages: where the host touches them first, they are small, and slow to write and to move.
      prefetch(0, bytes, false, cudaStreamPerThread);
      TUTTI_CUDA_CHECK(cudaStreamSynchronize(cudaStreamPerThread));
      advise(0, bytes, cudaMemAdviseSetReadMostly);
    } catch (...) {
      free();
      throw;
    }
  }
  ~CudaManagedMemory() override { free(); }
  std::byte* data() override { return static_cast<std::byte*>(data_); }

  void bring(Stream& stream, Size begin, Size count) override {
    const cuda::CurrentDevice current(device_.index());
    prefetch(begin, count, true, static_cast<cudaStream_t>(stream.native()));
    CopyCounts& counts = device_.counts();
    counts.to_device_bytes += count;
    counts.copies += 1;
  }

  /// Pages that are no longer to have several copies lose all but one. Sending them back would copy what the host has;
  /// with the host as their preferred place it takes twenty times as long. Pages shared with a neighbouring chunk stay.
  void drop(Size begin, Size count) override {
    const Size page = sysconf(_SC_PAGESIZE);
    const Size first = (begin + page - 1) / page * page, end = (begin + count) / page * page;
    if (end <= first) return;
    const cuda::CurrentDevice current(device_.index());
    advise(first, end - first, cudaMemAdviseUnsetReadMostly);
    advise(first, end - first, cudaMemAdviseSetReadMostly);
  }

 private:
  void free() noexcept {
    const cudaError_t ignored = cudaFree(data_);
    static_cast<void>(ignored);
    device_.budget().release(at_once_);
  }
#if CUDART_VERSION >= 13000
  cudaMemLocation location(bool on_device) const {
    cudaMemLocation place{};
    place.type = on_device ? cudaMemLocationTypeDevice : cudaMemLocationTypeHost;
    place.id = on_device ? device_.index() : 0;
    return place;
  }
#else
  int location(bool on_device) const {
    return on_device ? device_.index() : cudaCpuDeviceId;
  }
#endif
  void prefetch(Size begin, Size count, bool to_device, cudaStream_t stream) {
    const auto bytes = static_cast<std::size_t>(count);
#if CUDART_VERSION >= 13000
    TUTTI_CUDA_CHECK(cudaMemPrefetchAsync(data() + begin, bytes, location(to_device), 0, stream));
#else
    TUTTI_CUDA_CHECK(cudaMemPrefetchAsync(data() + begin, bytes, location(to_device), stream));
#endif
  }
  void advise(Size begin, Size count, cudaMemoryAdvise advice) {
    TUTTI_CUDA_CHECK(cudaMemAdvise(data() + begin, static_cast<std::size_t>(count), advice, location(true)));
  }

  Device& device_;
  Size at_once_;
  void* data_ = nullptr;
};

}  // namespace

std::unique_ptr<ManagedMemory> make_managed_memory(Device& device, Size bytes, Size at_once, const std::string& name) {
  if (device.kind() != DeviceKind::cuda) return nullptr;
  const cuda::CurrentDevice current(device.index());
  int concurrent = 0;
  TUTTI_CUDA_CHECK(cudaDeviceGetAttribute(&concurrent, cudaDevAttrConcurrentManagedAccess, device.index()));
  if (concurrent == 0)
    fail(ErrorKind::resource,
         "{}: this GPU cannot move pages of unified memory by itself; set residency.policy to "
         "\"streamed\"",
         device.name());
  return std::make_unique<CudaManagedMemory>(device, bytes, at_once, name);
}

}  // namespace tutti
