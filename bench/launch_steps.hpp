// The ways in which bench_graph_launch enqueues a step, on streams or into a graph.
#pragma once

#include <cuda.h>
#include <cuda_runtime.h>

#include <atomic>

#include "bench/launch_rig.hpp"

namespace tutti::launch {

/// How separators come to the neighbour: not at all, by a copy, by a kernel there that reads them, by the kernel that
/// makes them.
enum class Exchange { none, copy, pull, store };

/// What a step waits for the neighbour with: events (edges of a graph over both GPUs), or a flag in its own memory,
/// which is waited for by a memory operation of the stream, by a kernel of one thread, or by the kernel that reads
/// ghosts.
enum class Order { edges, memory_operation, wait_kernel, in_kernel };

struct Way {
  int gpus = 2;
  Exchange exchange = Exchange::copy;
  Order order = Order::edges;
};

using BatchMemoryOperation = CUresult(CUDAAPI*)(CUstream, unsigned, CUstreamBatchMemOpParams*, unsigned);

/// By name from the driver, so that the program starts where there is none.
inline BatchMemoryOperation batch_memory_operation() {
  void* found = nullptr;
  cudaDriverEntryPointQueryResult result{};
  LAUNCH_CHECK(cudaGetDriverEntryPointByVersion("cuStreamBatchMemOp", &found, 12000, cudaEnableDefault, &result));
  if (found == nullptr) throw std::runtime_error("the driver has no cuStreamBatchMemOp");
  return reinterpret_cast<BatchMemoryOperation>(found);
}

class Steps {
 public:
  Steps(Rig& rig, const Way& way) : rig_(rig), way_(way) {
    if (way.order == Order::memory_operation) batch_ = batch_memory_operation();
  }

  int neighbour(int g) const { return way_.gpus - 1 - g; }

  /// Step `step` of the GPUs [first, last), ordered by events. `linked`: a step came before. The neighbour's host
  /// thread, if it is another one, has recorded what is waited for: see `wait_for_host`.
  void enqueue_ordered(int first, int last, long step, bool linked) {
    for (int g = first; g < last && linked; ++g) {
      Gpu& own = rig_.gpu(g);
      if (way_.exchange == Exchange::none) break;
      LAUNCH_CHECK(cudaSetDevice(own.index));
      wait(own.separators, own.interior_done);
      wait(own.compute, own.separators_done);
      if (way_.exchange == Exchange::copy) {
        if (last - first < way_.gpus) wait_for_host(neighbour(g), step);
        wait(own.separators, sent(neighbour(g), step - 1));
      } else {
        wait(own.separators,
             way_.exchange == Exchange::pull ? sent(g, step - 1) : rig_.gpu(neighbour(g)).separators_done);
      }
    }
    for (int g = first; g < last; ++g) {
      enqueue_kernels(g, step);
      if (way_.exchange == Exchange::copy) {
        Gpu& own = rig_.gpu(g);
        wait(own.copies, own.separators_done);
        copy(g, step, own.copies);
        record(sent(g, step), own.copies);
        recorded_[static_cast<std::size_t>(g)].store(step + 1, std::memory_order_release);
      }
    }
    for (int g = first; g < last && way_.exchange == Exchange::pull; ++g) {
      Gpu& own = rig_.gpu(g);
      LAUNCH_CHECK(cudaSetDevice(own.index));
      wait(own.copies, rig_.gpu(neighbour(g)).separators_done);
      pull_kernel<false><<<separator_blocks(), block_threads, 0, own.copies>>>(view(g, step));
      record(sent(g, step), own.copies);
    }
  }

  /// Step `step` of GPU g alone, ordered by flags. All but the interior is on one stream, so that nothing that the
  /// neighbour waits for can come behind a wait for the neighbour.
  void enqueue_flagged(int g, long step, bool linked) {
    Gpu& own = rig_.gpu(g);
    LAUNCH_CHECK(cudaSetDevice(own.index));
    if (linked) {
      wait(own.separators, own.interior_done);
      wait(own.compute, own.separators_done);
    }
    if (way_.order == Order::memory_operation) wait_for_slot(g, step - 1);
    if (way_.order == Order::wait_kernel) wait_kernel<<<1, 1, 0, own.separators>>>(view(g, step));
    enqueue_kernels(g, step);
    if (way_.exchange == Exchange::copy) {
      copy(g, step, own.separators);
      if (way_.order == Order::memory_operation)
        write_slot(g, step);
      else
        signal_kernel<<<1, 1, 0, own.separators>>>(view(g, step));
    } else if (way_.exchange == Exchange::pull) {
      pull_kernel<true><<<separator_blocks(), block_threads, 0, own.separators>>>(view(g, step));
    }
    LAUNCH_CHECK(cudaGetLastError());
  }

  void enqueue(int first, int last, long step, bool linked) {
    if (way_.order == Order::edges) return enqueue_ordered(first, last, step, linked);
    for (int g = first; g < last; ++g) enqueue_flagged(g, step, linked);
  }

  /// One batch of the GPUs [first, last), captured: a graph, or the body of the while node that `more` belongs to.
  cudaGraph_t capture(int first, int last, cudaGraph_t body = nullptr, cudaGraphConditionalHandle more = {}) {
    Gpu& main = rig_.gpu(first);
    LAUNCH_CHECK(cudaSetDevice(main.index));
    if (body != nullptr)
      LAUNCH_CHECK(
          cudaStreamBeginCaptureToGraph(main.compute, body, nullptr, nullptr, 0, cudaStreamCaptureModeRelaxed));
    else
      LAUNCH_CHECK(cudaStreamBeginCapture(main.compute, cudaStreamCaptureModeRelaxed));
    cudaGraph_t graph = nullptr;
    try {
      record(main.forked, main.compute);
      for_others(first, last, [&](cudaStream_t stream, Gpu&) { wait(stream, main.forked); });
      for (long step = 0; step < rig_.sizes.batch; ++step) enqueue(first, last, step, step > 0);
      for_others(first, last, [&](cudaStream_t stream, Gpu& own) {
        LAUNCH_CHECK(cudaSetDevice(own.index));
        record(own.finished, stream);
        wait(main.compute, own.finished);
      });
      LAUNCH_CHECK(cudaSetDevice(main.index));
      if (body != nullptr) loop_kernel<<<1, 1, 0, main.compute>>>(main.control, more);
      LAUNCH_CHECK(cudaGetLastError());
    } catch (...) {
      if (cudaStreamEndCapture(main.compute, &graph) == cudaSuccess && body == nullptr) cudaGraphDestroy(graph);
      cudaGetLastError();
      throw;
    }
    LAUNCH_CHECK(cudaStreamEndCapture(main.compute, &graph));
    return graph;
  }

  /// A graph of GPU g that makes `loops` batches (Control::loops_left) in one launch.
  cudaGraph_t capture_loop(int g) {
    LAUNCH_CHECK(cudaSetDevice(g));
    cudaGraph_t graph = nullptr;
    LAUNCH_CHECK(cudaGraphCreate(&graph, 0));
    cudaGraphConditionalHandle more{};
    LAUNCH_CHECK(cudaGraphConditionalHandleCreate(&more, graph, 1, cudaGraphCondAssignDefault));
    cudaGraphNodeParams node{};
    node.type = cudaGraphNodeTypeConditional;
    node.conditional.handle = more;
    node.conditional.type = cudaGraphCondTypeWhile;
    node.conditional.size = 1;
    cudaGraphNode_t made = nullptr;
#if CUDART_VERSION >= 13000
    LAUNCH_CHECK(cudaGraphAddNode(&made, graph, nullptr, nullptr, 0, &node));
#else
    LAUNCH_CHECK(cudaGraphAddNode(&made, graph, nullptr, 0, &node));
#endif
    capture(g, g + 1, node.conditional.phGraph_out[0], more);
    return graph;
  }

  /// Before a run: no step is recorded.
  void begin() {
    for (auto& steps : recorded_) steps.store(0);
  }

 private:
  StepView view(int g, long step) {
    return rig_.view(g, neighbour(g), step);
  }
  unsigned separator_blocks() const {
    return static_cast<unsigned>((rig_.sizes.separators + block_threads - 1) / block_threads);
  }
  static void wait(cudaStream_t stream, cudaEvent_t event) {
    LAUNCH_CHECK(cudaStreamWaitEvent(stream, event, 0));
  }
  static void record(cudaEvent_t event, cudaStream_t stream) {
    LAUNCH_CHECK(cudaEventRecord(event, stream));
  }
  cudaEvent_t sent(int g, long step) {
    return rig_.gpu(g).sent[static_cast<std::size_t>(step % 4)];
  }

  /// Until the neighbour's host thread has recorded the step before `step`: a later record must not be missed.
  void wait_for_host(int g, long step) const {
    while (recorded_[static_cast<std::size_t>(g)].load(std::memory_order_acquire) < step) {
    }
  }

  template <class F>
  void for_others(int first, int last, const F& body) {
    for (int g = first; g < last; ++g) {
      Gpu& own = rig_.gpu(g);
      for (cudaStream_t stream : {own.compute, own.separators, own.copies})
        if (stream != rig_.gpu(first).compute) body(stream, own);
    }
  }

  void enqueue_kernels(int g, long step) {
    Gpu& own = rig_.gpu(g);
    LAUNCH_CHECK(cudaSetDevice(own.index));
    const StepView v = view(g, step);
    const bool in_kernel = way_.order == Order::in_kernel, stores = way_.exchange == Exchange::store;
    if (way_.exchange != Exchange::none) {
      const auto kernel = in_kernel && stores                            ? separator_kernel<true, true, true>
                          : in_kernel && way_.exchange == Exchange::pull ? separator_kernel<false, false, true>
                          : in_kernel                                    ? separator_kernel<true, false, false>
                          : stores                                       ? separator_kernel<false, true, false>
                                                                         : separator_kernel<false, false, false>;
      kernel<<<separator_blocks(), block_threads, 0, own.separators>>>(v);
      record(own.separators_done, own.separators);
    }
    const Word pairs = rig_.sizes.cells / 2;
    interior_kernel<<<static_cast<unsigned>((pairs + block_threads - 1) / block_threads), block_threads, 0,
                      own.compute>>>(v);
    record(own.interior_done, own.compute);
    LAUNCH_CHECK(cudaGetLastError());
  }

  void copy(int g, long step, cudaStream_t stream) {
    const StepView v = view(g, step);
    // By addresses: cudaMemcpyPeerAsync cannot be captured.
    LAUNCH_CHECK(cudaMemcpyAsync(v.neighbour_ghost, v.next_separator, rig_.sizes.separators * sizeof(Word),
                                 cudaMemcpyDefault, stream));
  }

  CUdeviceptr slot(int g, long step) {
    const long batch = rig_.sizes.batch;
    return reinterpret_cast<CUdeviceptr>(rig_.gpu(g).slots + (step + batch) % batch);
  }
  void batch(int g, unsigned count, CUstreamBatchMemOpParams* operations) {
    if (batch_(rig_.gpu(g).separators, count, operations, 0) != CUDA_SUCCESS)
      throw std::runtime_error("cuStreamBatchMemOp failed");
  }
  /// A graph's values are the same in each launch: the slot is written 1 there, waited for and written 0 here. The
  /// neighbour writes it again a batch later, which follows from what it has waited for since.
  void wait_for_slot(int g, long step) {
    CUstreamBatchMemOpParams operations[2] = {};
    operations[0].waitValue.operation = CU_STREAM_MEM_OP_WAIT_VALUE_64;
    operations[0].waitValue.address = slot(g, step);
    operations[0].waitValue.value64 = 1;
    operations[0].waitValue.flags = CU_STREAM_WAIT_VALUE_EQ;
    operations[1].writeValue.operation = CU_STREAM_MEM_OP_WRITE_VALUE_64;
    operations[1].writeValue.address = slot(g, step);
    operations[1].writeValue.value64 = 0;
    batch(g, 2, operations);
  }
  void write_slot(int g, long step) {
    CUstreamBatchMemOpParams operation{};
    operation.writeValue.operation = CU_STREAM_MEM_OP_WRITE_VALUE_64;
    operation.writeValue.address = slot(neighbour(g), step);
    operation.writeValue.value64 = 1;
    operation.writeValue.flags = CU_STREAM_WRITE_VALUE_DEFAULT;  // behind what was written before
    batch(g, 1, &operation);
  }

  Rig& rig_;
  Way way_;
  BatchMemoryOperation batch_ = nullptr;
  std::array<std::atomic<long>, 2> recorded_{};
};

}  // namespace tutti::launch
