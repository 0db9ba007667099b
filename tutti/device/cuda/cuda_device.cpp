// A GPU through the CUDA runtime. Kernels are launched by for_each.hpp and reduce.hpp.
#include <cuda_runtime_api.h>

#include <algorithm>
#include <map>
#include <string_view>
#include <utility>
#include <vector>

#include "tutti/base/units.hpp"
#include "tutti/device/cuda/check.hpp"
#include "tutti/device/cuda/reduce_room.hpp"
#include "tutti/device/device.hpp"

namespace tutti {
namespace cuda {

void check(cudaError_t code, const char* call, const char* file, int line) {
  if (code == cudaSuccess) return;
  cudaGetLastError();  // else the next call would report this error again
  const bool missing = code == cudaErrorMemoryAllocation || code == cudaErrorNoDevice ||
                       code == cudaErrorInsufficientDriver || code == cudaErrorInvalidDevice ||
                       code == cudaErrorDevicesUnavailable || code == cudaErrorNoKernelImageForDevice ||
                       code == cudaErrorUnsupportedPtxVersion;
  std::string_view path(file);
  path.remove_prefix(path.rfind('/') + 1);
  fail(missing ? ErrorKind::resource : ErrorKind::peer, "CUDA: {} ({}) in {} at {}:{}; {}", cudaGetErrorString(code),
       cudaGetErrorName(code), call, path, line, missing ? "see tutti doctor" : "restart from a checkpoint");
}

CurrentDevice::CurrentDevice(int index) {
  TUTTI_CUDA_CHECK(cudaGetDevice(&before_));
  if (before_ == index) return;
  TUTTI_CUDA_CHECK(cudaSetDevice(index));
  changed_ = true;
}

CurrentDevice::~CurrentDevice() {
  if (changed_) cudaSetDevice(before_);
}

}  // namespace cuda

namespace {

class CudaEvent final : public Event {
 public:
  explicit CudaEvent(int index) {
    const cuda::CurrentDevice current(index);
    TUTTI_CUDA_CHECK(cudaEventCreateWithFlags(&event_, cudaEventDisableTiming));
  }
  ~CudaEvent() override { cudaEventDestroy(event_); }
  bool done() override {
    const cudaError_t code = cudaEventQuery(event_);
    if (code == cudaErrorNotReady) {
      cudaGetLastError();
      return false;
    }
    TUTTI_CUDA_CHECK(code);
    return true;
  }
  void wait() override { TUTTI_CUDA_CHECK(cudaEventSynchronize(event_)); }
  cudaEvent_t native() const { return event_; }

 private:
  cudaEvent_t event_ = nullptr;
};

void require_on_gpu(const void* pointer) {
  cudaPointerAttributes attributes{};
  TUTTI_CUDA_CHECK(cudaPointerGetAttributes(&attributes, pointer));
  require(attributes.type == cudaMemoryTypeDevice, "a peer copy with memory that is not a GPU's");
}

class CudaGraph final : public CapturedWork {
 public:
  explicit CudaGraph(cudaGraph_t graph) {
    // Else all of it has the priority of the stream that it is launched in, and separators lose theirs.
    const cudaError_t code = cudaGraphInstantiate(&graph_, graph, cudaGraphInstantiateFlagUseNodePriority);
    cudaGraphDestroy(graph);
    TUTTI_CUDA_CHECK(code);
  }
  ~CudaGraph() override { cudaGraphExecDestroy(graph_); }
  cudaGraphExec_t native() const { return graph_; }

 private:
  cudaGraphExec_t graph_ = nullptr;
};

class CudaStream final : public Stream {
 public:
  CudaStream(Device& device, const std::string& name, bool urgent) : Stream(device, name) {
    const cuda::CurrentDevice current(device.index());
    int least = 0, greatest = 0;
    TUTTI_CUDA_CHECK(cudaDeviceGetStreamPriorityRange(&least, &greatest));
    TUTTI_CUDA_CHECK(cudaStreamCreateWithPriority(&stream_, cudaStreamNonBlocking, urgent ? greatest : least));
  }
  ~CudaStream() override {
    cudaStreamSynchronize(stream_);
    cudaStreamDestroy(stream_);
    cudaFree(room_.on_device);
    cudaFreeHost(room_.pinned);
  }

  void copy(void* to, const void* from, std::size_t bytes, CopyDirection direction) override {
    if (bytes == 0) return;
    enqueue_other();
    const cuda::CurrentDevice current(device().index());
    CopyCounts& counts = device().counts();
    const Size size = static_cast<Size>(bytes);
    switch (direction) {
      case CopyDirection::to_device:
        TUTTI_CUDA_CHECK(cudaMemcpyAsync(to, from, bytes, cudaMemcpyHostToDevice, stream_));
        counts.to_device_bytes += size;
        break;
      case CopyDirection::to_host:
        TUTTI_CUDA_CHECK(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToHost, stream_));
        counts.to_host_bytes += size;
        break;
      case CopyDirection::peer:
        // By addresses: cudaMemcpyPeerAsync cannot be captured.
        require_on_gpu(to);
        require_on_gpu(from);
        TUTTI_CUDA_CHECK(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault, stream_));
        counts.peer_bytes += size;
        break;
      case CopyDirection::local:
        TUTTI_CUDA_CHECK(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToDevice, stream_));
        counts.local_bytes += size;
        break;
    }
    counts.copies += 1;
  }
  void reach(void*, std::size_t bytes) override { device().counts().peer_bytes += static_cast<Size>(bytes); }
  void loop(Range range, const std::function<void(Lid, Lid)>&) override {
    require(range.empty(), "{}: a host loop on a GPU's stream; the launch must be compiled by nvcc (a .cu file)",
            device().name());
  }
  void record(Event& event) override {
    before_use();
    if (kernel_capture_ == 0) ends_with_kernel_ = false;  // a graph has no node for an event
    auto* cuda_event = dynamic_cast<CudaEvent*>(&event);
    require(cuda_event != nullptr, "{}: an event of another kind of device cannot be recorded here", device().name());
    const cuda::CurrentDevice current(device().index());
    TUTTI_CUDA_CHECK(cudaEventRecord(cuda_event->native(), stream_));
  }
  void wait(Event& event) override {
    before_use();
    if (std::exchange(ends_with_kernel_, false)) kernel_before_ = capture().only_node();
    if (auto* cuda_event = dynamic_cast<CudaEvent*>(&event)) {
      const cuda::CurrentDevice current(device().index());
      TUTTI_CUDA_CHECK(cudaStreamWaitEvent(stream_, cuda_event->native(), 0));
    } else {
      event.wait();
    }
  }
  void synchronize() override {
    before_use();
    TUTTI_CUDA_CHECK(cudaStreamSynchronize(stream_));
  }
  void* native() override {
    enqueue_other();
    return stream_;
  }
  KernelQueue queue_for_kernel() override {
    before_use();
    Capture now = capture();
    const bool same = now.id == kernel_capture_;
    if (same && kernel_before_ != nullptr) come_early_behind(kernel_before_, now);
    kernel_before_ = nullptr;
    kernel_capture_ = now.id;
    return {stream_, std::exchange(ends_with_kernel_, true) && same};
  }

  bool begin_capture() override {
    enqueue_other();
    const cuda::CurrentDevice current(device().index());
    TUTTI_CUDA_CHECK(cudaStreamBeginCapture(stream_, cudaStreamCaptureModeRelaxed));
    return true;
  }
  std::unique_ptr<CapturedWork> end_capture() override {
    ends_with_kernel_ = false;
    kernel_before_ = nullptr;
    const cuda::CurrentDevice current(device().index());
    cudaGraph_t graph = nullptr;
    TUTTI_CUDA_CHECK(cudaStreamEndCapture(stream_, &graph));
    return std::make_unique<CudaGraph>(graph);
  }
  void launch(CapturedWork& work) override {
    enqueue_other();
    auto* cuda_graph = dynamic_cast<CudaGraph*>(&work);
    require(cuda_graph != nullptr, "{}: a graph of another kind of device", device().name());
    const cuda::CurrentDevice current(device().index());
    TUTTI_CUDA_CHECK(cudaGraphLaunch(cuda_graph->native(), stream_));
  }

  cuda::ReduceRoom reduce_room() {
    constexpr std::size_t bytes = cuda::ReduceRoom::words * sizeof(std::int64_t);
    const cuda::CurrentDevice current(device().index());
    if (room_.on_device == nullptr) TUTTI_CUDA_CHECK(cudaMalloc(reinterpret_cast<void**>(&room_.on_device), bytes));
    if (room_.pinned == nullptr)
      TUTTI_CUDA_CHECK(cudaHostAlloc(reinterpret_cast<void**>(&room_.pinned), bytes, cudaHostAllocPortable));
    if (arrived_ == nullptr) arrived_ = device().make_event();
    room_.arrived = arrived_.get();
    return room_;
  }

 private:
  /// Before all but kernels of queue_for_kernel() and events.
  void enqueue_other() {
    before_use();
    ends_with_kernel_ = false;
    kernel_before_ = nullptr;
  }
  /// What is being noted, and what the stream's next work comes behind in it.
  struct Capture {
    unsigned long long id = 0;           ///< 0: nothing is noted
    std::vector<cudaGraphNode_t> nodes;  ///< CUDA 13 on
#if CUDART_VERSION >= 13000
    std::vector<cudaGraphEdgeData> edges;  ///< to each of them
#endif
    cudaGraphNode_t only_node() const {
      return nodes.size() == 1 ? nodes[0] : nullptr;
    }
  };
  Capture capture() const {
    Capture now;
    cudaStreamCaptureStatus status{};
#if CUDART_VERSION >= 13000
    const cudaGraphNode_t* nodes = nullptr;
    const cudaGraphEdgeData* edges = nullptr;
    std::size_t count = 0;
    TUTTI_CUDA_CHECK(cudaStreamGetCaptureInfo(stream_, &status, &now.id, nullptr, &nodes, &edges, &count));
    if (status == cudaStreamCaptureStatusActive) {
      now.nodes.assign(nodes, nodes + count);
      now.edges.resize(count);
      if (edges != nullptr) now.edges.assign(edges, edges + count);
    }
#else
    TUTTI_CUDA_CHECK(cudaStreamGetCaptureInfo_v2(stream_, &status, &now.id));
#endif
    if (status != cudaStreamCaptureStatusActive) now.id = 0;
    return now;
  }
  /// The next kernel is noted with an edge to `kernel` that lets it come early, and plain ones to what else it follows.
  void come_early_behind([[maybe_unused]] cudaGraphNode_t kernel, [[maybe_unused]] Capture& now) {
#if CUDART_VERSION >= 13000
    for (std::size_t i = 0; i < now.nodes.size(); ++i) {
      if (now.nodes[i] != kernel) continue;
      now.edges[i].from_port = cudaGraphKernelNodePortProgrammatic;
      now.edges[i].type = cudaGraphDependencyTypeProgrammatic;
    }
    TUTTI_CUDA_CHECK(cudaStreamUpdateCaptureDependencies(stream_, now.nodes.data(), now.edges.data(), now.nodes.size(),
                                                         cudaStreamSetCaptureDependencies));
#endif
  }

  cudaStream_t stream_ = nullptr;
  bool ends_with_kernel_ = false;            ///< of queue_for_kernel()
  unsigned long long kernel_capture_ = 0;    ///< in which its last kernel was noted; 0: it was not
  cudaGraphNode_t kernel_before_ = nullptr;  ///< its node there, if only events were waited for since
  cuda::ReduceRoom room_{};
  std::unique_ptr<Event> arrived_;
};

/// Kept free of other allocations: the context's own growth, a display, a profiler.
constexpr Size memory_reserve = Size{512} << 20;

Size budget_of(int index, Size limit) {
  const cuda::CurrentDevice current(index);
  std::size_t free_bytes = 0, total = 0;
  TUTTI_CUDA_CHECK(cudaMemGetInfo(&free_bytes, &total));
  const Size capacity = std::max(Size{0}, static_cast<Size>(free_bytes) - memory_reserve);
  return limit > 0 ? std::min(limit, capacity) : capacity;
}

class CudaDevice final : public Device {
 public:
  CudaDevice(int index, Size memory_limit)
      : Device(DeviceKind::cuda, index, fmt::format("cuda:{}", index), budget_of(index, memory_limit)) {}

  std::string description() const override {
    cudaDeviceProp properties{};
    TUTTI_CUDA_CHECK(cudaGetDeviceProperties(&properties, index()));
    return fmt::format("{}, {}, {} multiprocessors, compute capability {}.{}", properties.name,
                       format_bytes(static_cast<double>(properties.totalGlobalMem)), properties.multiProcessorCount,
                       properties.major, properties.minor);
  }
  double peak_bandwidth() const override {
    int kilohertz = 0, bits = 0;
    TUTTI_CUDA_CHECK(cudaDeviceGetAttribute(&kilohertz, cudaDevAttrMemoryClockRate, index()));
    TUTTI_CUDA_CHECK(cudaDeviceGetAttribute(&bits, cudaDevAttrGlobalMemoryBusWidth, index()));
    return 2e3 * kilohertz * (bits / 8.0);  // two transfers a cycle
  }
  std::unique_ptr<Stream> make_stream(const std::string& stream_name, bool urgent) override {
    return std::make_unique<CudaStream>(*this, stream_name, urgent);
  }
  std::unique_ptr<Event> make_event() override { return std::make_unique<CudaEvent>(index()); }

  bool can_copy_from(const Device& other) const override {
    if (&other == this) return true;
    if (other.kind() != DeviceKind::cuda) return false;
    if (other.index() == index()) return true;
    std::lock_guard lock(peers_mutex_);
    const auto [peer, is_new] = peers_.try_emplace(other.index(), false);
    if (is_new) peer->second = enable_peer(other.index());
    return peer->second;
  }

  void* allocate(std::size_t bytes, Memory memory) override {
    const cuda::CurrentDevice current(index());
    void* pointer = nullptr;
    const cudaError_t code =
        memory == Memory::device ? cudaMalloc(&pointer, bytes) : cudaHostAlloc(&pointer, bytes, cudaHostAllocPortable);
    if (code == cudaErrorMemoryAllocation) {
      cudaGetLastError();
      fail(ErrorKind::resource, "{}: {} {} left; use more devices or a smaller mesh", name(),
           memory == Memory::device ? "the GPU has no" : "the system has no pinned memory of",
           format_bytes(static_cast<double>(bytes)));
    }
    TUTTI_CUDA_CHECK(code);
    return pointer;
  }
  void deallocate(void* pointer, std::size_t, Memory memory) noexcept override {
    if (memory == Memory::device)
      cudaFree(pointer);
    else
      cudaFreeHost(pointer);
  }

 private:
  bool enable_peer(int other) const {
    int possible = 0;
    TUTTI_CUDA_CHECK(cudaDeviceCanAccessPeer(&possible, index(), other));
    if (possible == 0) return false;
    const cuda::CurrentDevice current(index());
    const cudaError_t code = cudaDeviceEnablePeerAccess(other, 0);
    if (code == cudaErrorPeerAccessAlreadyEnabled)
      cudaGetLastError();
    else
      TUTTI_CUDA_CHECK(code);
    return true;
  }

  mutable std::mutex peers_mutex_;
  mutable std::map<int, bool> peers_;  ///< by index: reachable, and then enabled
};

}  // namespace

cuda::ReduceRoom cuda::reduce_room(Stream& stream) {
  return dynamic_cast<CudaStream&>(stream).reduce_room();
}

int cuda_device_count() {
  int count = 0;
  if (cudaGetDeviceCount(&count) == cudaSuccess) return count;
  cudaGetLastError();  // no driver, no GPU: not an error here
  return 0;
}

std::unique_ptr<Device> make_cuda_device(int index, Size memory_limit) {
  const int count = cuda_device_count();
  if (index < 0 || index >= count)
    fail(ErrorKind::resource, "there is no cuda:{}; this host has {} usable GPU{}", index, count,
         count == 1 ? "" : "s");
  return std::make_unique<CudaDevice>(index, memory_limit);
}

}  // namespace tutti
