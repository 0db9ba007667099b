// What bench_graph_launch runs on: one or two GPUs with streams and arrays, their start values, and what must come out.
#pragma once

#include <cuda_runtime.h>

#include <array>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "bench/launch_kernels.cuh"

namespace tutti::launch {

inline void check(cudaError_t code, const char* call) {
  if (code == cudaSuccess) return;
  cudaGetLastError();  // else the next call would report this error again
  throw std::runtime_error(std::string(call) + ": " + cudaGetErrorString(code));
}
#define LAUNCH_CHECK(call) ::tutti::launch::check((call), #call)

/// Steps go from arrays [0] to arrays [1] and back in turn.
struct Gpu {
  int index = 0;
  cudaStream_t compute = nullptr, separators = nullptr, copies = nullptr;  ///< the latter two with priority
  std::array<Word*, 2> interior{}, separator{}, ghost{};
  Word *coefficient = nullptr, *begun_at = nullptr, *sum = nullptr;
  Word* slots = nullptr;  ///< a step of a batch: 1 when the neighbour's values are there (memory operations)
  Control* control = nullptr;
  cudaEvent_t separators_done = nullptr, interior_done = nullptr, forked = nullptr, finished = nullptr;
  std::array<cudaEvent_t, 4> sent{};  ///< of the last steps: a neighbour's thread may be one step behind
};

struct Sizes {
  Word cells = 0, separators = 0;
  long steps = 0, batch = 0;
};

/// The state after all steps: all separators, the interior's first cells (as many), and the sum of the others.
struct Expected {
  std::vector<Word> separator, front;
  Word rest = 0;
};

class Rig {
 public:
  Rig(int gpus, const Sizes& wanted) : sizes(wanted), all_(static_cast<std::size_t>(gpus)) {
    for (int g = 0; g < gpus; ++g) make(all_[static_cast<std::size_t>(g)], g);
    for (int g = 0; g < gpus; ++g)
      if (gpus == 2) {
        LAUNCH_CHECK(cudaSetDevice(g));
        LAUNCH_CHECK(cudaDeviceEnablePeerAccess(1 - g, 0));
      }
  }
  ~Rig() {
    for (Gpu& gpu : all_) {
      cudaSetDevice(gpu.index);
      for (Word* p : {gpu.interior[0], gpu.interior[1], gpu.separator[0], gpu.separator[1], gpu.ghost[0], gpu.ghost[1],
                      gpu.coefficient, gpu.begun_at, gpu.sum, gpu.slots})
        cudaFree(p);
      cudaFree(gpu.control);
      for (cudaStream_t s : {gpu.compute, gpu.separators, gpu.copies}) cudaStreamDestroy(s);
      for (cudaEvent_t e : {gpu.separators_done, gpu.interior_done, gpu.forked, gpu.finished}) cudaEventDestroy(e);
      for (cudaEvent_t e : gpu.sent) cudaEventDestroy(e);
    }
    if (all_.size() == 2)
      for (int g = 0; g < 2; ++g) {
        cudaSetDevice(g);
        cudaDeviceDisablePeerAccess(1 - g);
      }
  }
  Rig(const Rig&) = delete;
  Rig& operator=(const Rig&) = delete;

  Gpu& gpu(int g) { return all_[static_cast<std::size_t>(g)]; }
  int count() const { return static_cast<int>(all_.size()); }

  /// Step `step` of GPU g, whose neighbour is GPU `neighbour` (g itself where one GPU is alone).
  StepView view(int g, int neighbour, long step) {
    const std::size_t from = static_cast<std::size_t>(step % 2), to = 1 - from;
    Gpu &own = gpu(g), &other = gpu(neighbour);
    return {own.interior[from],      own.coefficient, own.separator[from], own.ghost[from],     own.interior[to],
            own.separator[to],       own.ghost[to],   other.ghost[to],     other.separator[to], own.control,
            &other.control->arrived, own.begun_at,    sizes.cells,         sizes.separators};
  }

  void synchronize() {
    for (Gpu& g : all_) {
      LAUNCH_CHECK(cudaSetDevice(g.index));
      LAUNCH_CHECK(cudaDeviceSynchronize());
    }
  }

  /// Start values; counters at zero; `loops` for a while node. The ghosts of step 0 are there.
  void reset(int gpus, unsigned loops) {
    for (int g = 0; g < gpus; ++g) {
      Gpu& own = gpu(g);
      LAUNCH_CHECK(cudaSetDevice(own.index));
      const Word base = 8 * static_cast<Word>(g), other = 8 * static_cast<Word>(gpus - 1 - g);
      fill(own.interior[0], sizes.cells, base);
      fill(own.coefficient, sizes.cells, base + 1);
      for (std::size_t k = 0; k < 2; ++k) fill(own.separator[k], sizes.separators, base + 2);
      fill(own.ghost[0], sizes.separators, other + 2);
      fill(own.ghost[1], sizes.separators, base + 3);
      Control control{};
      control.loops_left = loops;
      LAUNCH_CHECK(cudaMemcpy(own.control, &control, sizeof control, cudaMemcpyHostToDevice));
      std::vector<Word> slots(static_cast<std::size_t>(sizes.batch), 0);
      slots.back() = 1;
      LAUNCH_CHECK(cudaMemcpy(own.slots, slots.data(), slots.size() * sizeof(Word), cudaMemcpyHostToDevice));
    }
    synchronize();
  }

  /// Empty: all as expected. Else what is wrong.
  std::string compare(const std::vector<Expected>& expected) {
    std::string wrong;
    for (std::size_t g = 0; g < expected.size(); ++g) {
      Gpu& own = all_[g];
      LAUNCH_CHECK(cudaSetDevice(own.index));
      LAUNCH_CHECK(cudaMemset(own.sum, 0, sizeof(Word)));
      const Word front = sizes.separators;
      sum_kernel<<<1024, block_threads>>>(own.interior[0] + front, sizes.cells - front, own.sum);
      Word rest = 0;
      LAUNCH_CHECK(cudaMemcpy(&rest, own.sum, sizeof rest, cudaMemcpyDeviceToHost));
      Control control{};
      LAUNCH_CHECK(cudaMemcpy(&control, own.control, sizeof control, cudaMemcpyDeviceToHost));
      const auto differ = [&](const Word* values, const std::vector<Word>& right) {
        std::vector<Word> got(right.size());
        LAUNCH_CHECK(cudaMemcpy(got.data(), values, got.size() * sizeof(Word), cudaMemcpyDeviceToHost));
        std::size_t count = 0;
        for (std::size_t i = 0; i < got.size(); ++i) count += got[i] != right[i] ? 1 : 0;
        return count;
      };
      const std::size_t separators = differ(own.separator[0], expected[g].separator);
      const std::size_t cells = differ(own.interior[0], expected[g].front);
      if (control.timed_out != 0) wrong += " gpu" + std::to_string(g) + ": TIMED OUT";
      if (separators + cells > 0 || rest != expected[g].rest)
        wrong += " gpu" + std::to_string(g) + ": WRONG " + std::to_string(separators) + " separators, " +
                 std::to_string(cells) + " cells, sum of the others " + (rest == expected[g].rest ? "right" : "wrong");
    }
    return wrong;
  }

  Sizes sizes;

 private:
  void make(Gpu& own, int index) const {
    own.index = index;
    LAUNCH_CHECK(cudaSetDevice(index));
    int least = 0, greatest = 0;
    LAUNCH_CHECK(cudaDeviceGetStreamPriorityRange(&least, &greatest));
    LAUNCH_CHECK(cudaStreamCreateWithPriority(&own.compute, cudaStreamNonBlocking, least));
    LAUNCH_CHECK(cudaStreamCreateWithPriority(&own.separators, cudaStreamNonBlocking, greatest));
    LAUNCH_CHECK(cudaStreamCreateWithPriority(&own.copies, cudaStreamNonBlocking, greatest));
    const auto words = [](Word*& p, Word count) { LAUNCH_CHECK(cudaMalloc(&p, count * sizeof(Word))); };
    for (std::size_t k = 0; k < 2; ++k) {
      words(own.interior[k], sizes.cells);
      words(own.separator[k], sizes.separators);
      words(own.ghost[k], sizes.separators);
    }
    words(own.coefficient, sizes.cells);
    words(own.begun_at, log_steps);
    words(own.sum, 1);
    words(own.slots, static_cast<Word>(sizes.batch));
    LAUNCH_CHECK(cudaMalloc(&own.control, sizeof(Control)));
    for (cudaEvent_t* e : {&own.separators_done, &own.interior_done, &own.forked, &own.finished})
      LAUNCH_CHECK(cudaEventCreateWithFlags(e, cudaEventDisableTiming));
    for (cudaEvent_t& e : own.sent) LAUNCH_CHECK(cudaEventCreateWithFlags(&e, cudaEventDisableTiming));
  }
  static void fill(Word* values, Word count, Word array) {
    fill_kernel<<<static_cast<unsigned>((count + block_threads - 1) / block_threads), block_threads>>>(values, count,
                                                                                                       array);
    LAUNCH_CHECK(cudaGetLastError());
  }

  std::vector<Gpu> all_;
};

/// The same steps on the host, one value after the other. Without an exchange separators stay as they are.
inline std::vector<Expected> expected_state(const Sizes& sizes, int gpus, bool exchange) {
  const auto m = static_cast<std::size_t>(sizes.separators), parts = static_cast<std::size_t>(gpus);
  std::vector<Expected> now(parts);
  std::vector<std::vector<Word>> coefficient(parts), separator(parts), ghost(parts);
  std::vector<Word> rest(parts, 0);
  for (std::size_t g = 0; g < parts; ++g) {
    const auto values = [&](Word array) {
      std::vector<Word> result(m);
      for (std::size_t i = 0; i < m; ++i) result[i] = start_value(8 * g + array, i);
      return result;
    };
    now[g].front = values(0);
    coefficient[g] = values(1);
    now[g].separator = values(2);
    for (Word i = m; i < sizes.cells; ++i) {
      now[g].rest += start_value(8 * g, i);
      rest[g] += start_value(8 * g + 1, i);
    }
  }
  for (long step = 0; step < sizes.steps; ++step) {
    for (std::size_t g = 0; g < parts; ++g) separator[g] = now[g].separator;
    for (std::size_t g = 0; g < parts; ++g) {
      Expected& part = now[g];
      const std::vector<Word>& other = separator[parts - 1 - g];
      for (std::size_t i = 0; i < m && exchange; ++i)
        part.separator[i] = 3 * part.separator[i] + other[i] + part.front[i];
      for (std::size_t i = 0; i < m; ++i) part.front[i] = 3 * part.front[i] + coefficient[g][i] + separator[g][i];
      part.rest = 3 * part.rest + rest[g];
    }
  }
  return now;
}

}  // namespace tutti::launch
