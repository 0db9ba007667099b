// One variant of bench_graph_launch: its graphs, and runs of it that are timed.
#pragma once

#include <algorithm>
#include <chrono>
#include <exception>
#include <memory>
#include <thread>

#include "bench/launch_steps.hpp"

namespace tutti::launch {

struct Variant {
  const char* id;
  const char* text;
  Way way;
  bool graph = true;
  bool alone = false;     ///< a graph, or a sequence of calls, a GPU; else one for all
  bool threads = false;   ///< a host thread a GPU
  int execs = 1;          ///< executable graphs that are launched in turn
  bool joins = false;     ///< around each launch the GPUs' streams wait for each other, as in tutti
  bool priority = false;  ///< cudaGraphInstantiateFlagUseNodePriority
  bool loop = false;      ///< a while node: all batches in one launch
};

inline double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

inline cudaGraphExec_t instantiate(cudaGraph_t graph, bool priority) {
  cudaGraphExec_t exec = nullptr;
  LAUNCH_CHECK(cudaGraphInstantiate(&exec, graph, priority ? cudaGraphInstantiateFlagUseNodePriority : 0));
  return exec;
}

struct Times {
  double step = 0;    ///< s, of the whole run
  double inside = 0;  ///< s, from one interior's begin to the next of the same batch on GPU 0
  double gap = 0;     ///< s that the way from a batch to the next takes longer
  double host = 0;    ///< s a batch in the calls that launch, of the busiest thread
};

class Race {
 public:
  Race(Rig& rig, const Variant& variant, int ahead) : rig_(rig), variant_(variant), steps_(rig, variant.way) {
    const int gpus = variant.way.gpus, each = variant.alone ? 1 : gpus;
    for (int g = 0; g < gpus; g += each) {
      LAUNCH_CHECK(cudaSetDevice(g));
      Lane& lane = *lanes_.emplace_back(std::make_unique<Lane>());
      lane.first = g;
      lane.last = g + each;
      lane.stream = rig.gpu(g).compute;
      lane.marks.resize(static_cast<std::size_t>(ahead));
      for (cudaEvent_t& mark : lane.marks) LAUNCH_CHECK(cudaEventCreateWithFlags(&mark, cudaEventDisableTiming));
      if (variant.graph) make_graphs(lane);
    }
    rig.synchronize();
  }
  ~Race() {
    for (const auto& lane : lanes_) {
      for (cudaGraphExec_t exec : lane->execs) cudaGraphExecDestroy(exec);
      for (cudaEvent_t mark : lane->marks) cudaEventDestroy(mark);
    }
  }
  Race(const Race&) = delete;
  Race& operator=(const Race&) = delete;

  std::size_t nodes() const { return nodes_; }

  /// `steps` steps, a multiple of a batch, from the start values.
  Times run(long steps) {
    const long batches = steps / rig_.sizes.batch, launches = variant_.loop ? 1 : batches;
    rig_.reset(variant_.way.gpus, static_cast<unsigned>(batches));
    steps_.begin();
    for (const auto& lane : lanes_) lane->host = 0;
    const auto start = std::chrono::steady_clock::now();
    if (variant_.threads) {
      run_threads(launches);
    } else {
      for (long b = 0; b < launches; ++b)
        for (const auto& lane : lanes_) launch(*lane, b);
    }
    rig_.synchronize();
    Times times;
    times.step = seconds_since(start) / static_cast<double>(steps);
    for (const auto& lane : lanes_)
      times.host = variant_.threads ? std::max(times.host, lane->host) : times.host + lane->host;
    times.host /= static_cast<double>(batches);
    read_begins(steps, times);
    return times;
  }

 private:
  struct Lane {
    int first = 0, last = 0;
    cudaStream_t stream = nullptr;
    std::vector<cudaGraphExec_t> execs;
    std::vector<cudaEvent_t> marks;  ///< ends of the last batches
    double host = 0;
    std::exception_ptr error;
  };

  void make_graphs(Lane& lane) {
    cudaGraph_t graph = variant_.loop ? steps_.capture_loop(lane.first) : steps_.capture(lane.first, lane.last);
    std::size_t nodes = 0;
    LAUNCH_CHECK(cudaGraphGetNodes(graph, nullptr, &nodes));
    nodes_ += nodes;
    LAUNCH_CHECK(cudaSetDevice(lane.first));
    for (int k = 0; k < variant_.execs; ++k) {
      lane.execs.push_back(instantiate(graph, variant_.priority));
      LAUNCH_CHECK(cudaGraphUpload(lane.execs.back(), lane.stream));
    }
    cudaGraphDestroy(graph);
  }

  /// A batch. Not more than so many are ahead of the GPUs: a full queue would make the calls wait.
  void launch(Lane& lane, long b) {
    const auto turn = static_cast<std::size_t>(b);
    cudaEvent_t mark = lane.marks[turn % lane.marks.size()];
    if (turn >= lane.marks.size()) LAUNCH_CHECK(cudaEventSynchronize(mark));
    const auto start = std::chrono::steady_clock::now();
    LAUNCH_CHECK(cudaSetDevice(lane.first));
    if (variant_.graph) {
      if (variant_.joins) join(lane.last - 1, lane.first);
      LAUNCH_CHECK(cudaGraphLaunch(lane.execs[turn % lane.execs.size()], lane.stream));
      if (variant_.joins) join(lane.first, lane.last - 1);
    } else {
      const long batch = rig_.sizes.batch;
      for (long step = b * batch; step < (b + 1) * batch; ++step) steps_.enqueue(lane.first, lane.last, step, step > 0);
      LAUNCH_CHECK(cudaSetDevice(lane.first));
    }
    lane.host += seconds_since(start);
    LAUNCH_CHECK(cudaEventRecord(mark, lane.stream));
  }

  /// What comes later on `to` waits for what `from` has to do now.
  void join(int from, int to) {
    Gpu& earlier = rig_.gpu(from);
    LAUNCH_CHECK(cudaSetDevice(from));
    LAUNCH_CHECK(cudaEventRecord(earlier.finished, earlier.compute));
    LAUNCH_CHECK(cudaSetDevice(to));
    LAUNCH_CHECK(cudaStreamWaitEvent(rig_.gpu(to).compute, earlier.finished, 0));
    LAUNCH_CHECK(cudaSetDevice(0));
  }

  void run_threads(long launches) {
    std::vector<std::thread> team;
    for (const auto& lane : lanes_)
      team.emplace_back([this, launches, &own = *lane] {
        try {
          for (long b = 0; b < launches; ++b) launch(own, b);
        } catch (...) {
          own.error = std::current_exception();
        }
      });
    for (std::thread& thread : team) thread.join();
    for (const auto& lane : lanes_)
      if (lane->error) std::rethrow_exception(lane->error);
  }

  void read_begins(long steps, Times& times) {
    std::vector<Word> begun(static_cast<std::size_t>(steps));
    LAUNCH_CHECK(cudaMemcpy(begun.data(), rig_.gpu(0).begun_at, begun.size() * sizeof(Word), cudaMemcpyDeviceToHost));
    double inside = 0, between = 0, insides = 0, betweens = 0;
    for (std::size_t k = 1; k < begun.size(); ++k) {
      const double took = 1e-9 * static_cast<double>(begun[k] - begun[k - 1]);
      const bool within = static_cast<long>(k) % rig_.sizes.batch != 0;
      (within ? inside : between) += took;
      (within ? insides : betweens) += 1;
    }
    times.inside = inside / std::max(insides, 1.0);
    times.gap = betweens > 0 ? between / betweens - times.inside : 0;
  }

  Rig& rig_;
  const Variant& variant_;
  Steps steps_;
  std::vector<std::unique_ptr<Lane>> lanes_;
  std::size_t nodes_ = 0;
};

}  // namespace tutti::launch
