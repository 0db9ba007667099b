// Unified memory by the CUDA runtime.
#include <cuda_runtime_api.h>

#include "tutti/base/units.hpp"
#include "tutti/device/cuda/check.hpp"
#include "tutti/residency/managed_memory.hpp"

namespace tutti {
namespace {

class CudaManagedMemory final : public ManagedMemory {
 public:
  CudaManagedMemory(Device& device, Size bytes) : device_(device) {
    const cuda::CurrentDevice current(device.index());
    TUTTI_CUDA_CHECK(cudaMallocManaged(&data_, static_cast<std::size_t>(bytes), cudaMemAttachGlobal));
    try {
      // Pages wait on the host. A kernel that meets one there reads it over the bus, and moves nothing.
      advise(bytes, cudaMemAdviseSetPreferredLocation, false);
      advise(bytes, cudaMemAdviseSetAccessedBy, true);
    } catch (...) {
      cudaFree(data_);
      throw;
    }
  }
  ~CudaManagedMemory() override {
    const cudaError_t ignored = cudaFree(data_);
    static_cast<void>(ignored);
  }
  std::byte* data() override { return static_cast<std::byte*>(data_); }

  void prefetch(Stream& stream, Size begin, Size count, bool to_device) override {
    const cuda::CurrentDevice current(device_.index());
    const auto bytes = static_cast<std::size_t>(count);
    auto* native = static_cast<cudaStream_t>(stream.native());
#if CUDART_VERSION >= 13000
    TUTTI_CUDA_CHECK(cudaMemPrefetchAsync(data() + begin, bytes, location(to_device), 0, native));
#else
    TUTTI_CUDA_CHECK(cudaMemPrefetchAsync(data() + begin, bytes, location(to_device), native));
#endif
    CopyCounts& counts = device_.counts();
    (to_device ? counts.to_device_bytes : counts.to_host_bytes) += count;
    counts.copies += 1;
  }

 private:
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
  void advise(Size bytes, cudaMemoryAdvise advice, bool on_device) {
    TUTTI_CUDA_CHECK(cudaMemAdvise(data_, static_cast<std::size_t>(bytes), advice, location(on_device)));
  }

  Device& device_;
  void* data_ = nullptr;
};

}  // namespace

std::unique_ptr<ManagedMemory> make_managed_memory(Device& device, Size bytes) {
  if (device.kind() != DeviceKind::cuda) return nullptr;
  const cuda::CurrentDevice current(device.index());
  int concurrent = 0;
  TUTTI_CUDA_CHECK(cudaDeviceGetAttribute(&concurrent, cudaDevAttrConcurrentManagedAccess, device.index()));
  if (concurrent == 0)
    fail(ErrorKind::resource,
         "{}: this GPU cannot move pages of unified memory by itself; set residency.policy to "
         "\"streamed\"",
         device.name());
  std::size_t free_bytes = 0, total = 0;
  TUTTI_CUDA_CHECK(cudaMemGetInfo(&free_bytes, &total));
  if (bytes > static_cast<Size>(free_bytes))
    fail(ErrorKind::resource, "{}: {} of unified memory do not fit, {} are free; set residency.policy to \"streamed\"",
         device.name(), format_bytes(static_cast<double>(bytes)), format_bytes(static_cast<double>(free_bytes)));
  return std::make_unique<CudaManagedMemory>(device, bytes);
}

}  // namespace tutti
