// Question: what makes steps on two GPUs so much slower from one batch to the next than within a batch?
//
// tutti captures sixteen steps over both GPUs as one CUDA graph. Within them a step takes as long as on one GPU, but
// over a whole run some 25 us longer (docs/performance.md, "Two H200"). This program makes a like step of simple
// kernels (per GPU an interior that streams memory, separators on a stream with priority, a copy of them to the
// neighbour's ghosts; two buffers in turn) and launches it in the ways that the table names. All must end with the same
// whole numbers as a sequential reference, which holds each step's dependencies to account.
//
// Columns: "step" us of the whole run a step, the best run, and "worst"; "inside" us from an interior's begin on GPU 0
// to the next one's of the same batch; "gap" us that the way from one batch to the next takes longer; "host" us a batch
// in the calls that launch (of the busiest thread). So step = inside + gap / batch. "nodes" of all graphs of a batch.
// - 1a is the bound. 3a is tutti as it is. If its gap is what is lost and host is about batch x step, the launch itself
//   is slow, or it waits for the launch before: the lines "launch" below the table tell which of the two. In 1a, too.
// - 4 well below 3: a graph cannot be launched while it runs. tutti then keeps two or four instances of each piece of
//   captured work and launches them in turn: a small change of CudaGraph and CudaStream::launch.
// - 3b below 3a: Step::gather_parts and join_parts cost it; only the first and last launch need them. 3c below 3b:
//   CudaGraph must be instantiated with node priorities. 3d or 3e below 3c: copy nodes are dear; the peer transport
//   gets a kernel that reads, or the separators' kernel writes ghosts itself.
// - 5 well below 3 and 4: dependencies between GPUs within a graph are dear. tutti then captures a graph a GPU, and the
//   exchange signals by flags: memory operations of the stream (5a), a kernel that waits (5b) or separator kernels that
//   wait (5c). 5d below 5c: a host thread a GPU launches. 6 below 5: separator kernels write ghosts over NVLink, too.
// - 7 below 6: launches still show; the loop over batches goes into a while node.
// - 2 as good as any: no graphs; the host is fast enough for plain calls (2d: two launches a GPU and step).
// A gap that stays the same with --mb 1360, where a batch takes ten times as long, is no work that the host could have
// done ahead: something waits for the end of the batch before.
//
// bench_graph_launch [--steps N] [--batch K] [--mb M | --us T] [--kb S] [--ahead B] [--repeats R] [--only ID,ID]: N
// steps, K a batch (even); an interior of M MB, or of as many as take T us on one GPU; S KB of separators; B batches
// ahead of the GPUs at most. Flags are waited for 2 s at most. Some 30 s as it is, by reckoning.
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <map>
#include <sstream>

#include "bench/launch_race.hpp"

namespace tutti::launch {
namespace {

struct Options {
  long steps = 4096, batch = 16;
  double megabytes = 136, microseconds = 0, kilobytes = 100;
  int ahead = 4, repeats = 3;
  std::vector<std::string> only;
};

using enum Exchange;
using enum Order;

// Memory operations have no time limit and come last: what was measured before is printed by then.
const std::vector<Variant> variants = {
    {.id = "1a", .text = "one GPU, interior only, graph: the bound", .way = {1, none, edges}},
    {.id = "1b", .text = "one GPU, copy to itself, graph", .way = {1, copy, edges}, .priority = true},
    {.id = "2a", .text = "streams and events", .way = {2, copy, edges}, .graph = false},
    {.id = "2b",
     .text = "streams and events, two threads",
     .way = {2, copy, edges},
     .graph = false,
     .alone = true,
     .threads = true},
    {.id = "2c", .text = "streams and events, pull kernel", .way = {2, pull, edges}, .graph = false},
    {.id = "2d", .text = "streams, stores and flags", .way = {2, store, in_kernel}, .graph = false},
    {.id = "2e",
     .text = "streams, stores and flags, two threads",
     .way = {2, store, in_kernel},
     .graph = false,
     .alone = true,
     .threads = true},
    {.id = "3a", .text = "one graph, joined streams: tutti now", .way = {2, copy, edges}, .joins = true},
    {.id = "3b", .text = "one graph", .way = {2, copy, edges}},
    {.id = "3c", .text = "one graph, node priorities", .way = {2, copy, edges}, .priority = true},
    {.id = "3d", .text = "one graph, pull kernel", .way = {2, pull, edges}, .priority = true},
    {.id = "3e", .text = "one graph, stores instead of copies", .way = {2, store, edges}, .priority = true},
    {.id = "4a", .text = "3a, two execs in turn", .way = {2, copy, edges}, .execs = 2, .joins = true},
    {.id = "4b", .text = "3a, four execs in turn", .way = {2, copy, edges}, .execs = 4, .joins = true},
    {.id = "4c", .text = "3c, four execs in turn", .way = {2, copy, edges}, .execs = 4, .priority = true},
    {.id = "4d", .text = "3e, four execs in turn", .way = {2, store, edges}, .execs = 4, .priority = true},
    {.id = "5b", .text = "a graph a GPU, wait kernel", .way = {2, copy, wait_kernel}, .alone = true, .priority = true},
    {.id = "5c",
     .text = "a graph a GPU, separators wait",
     .way = {2, copy, in_kernel},
     .alone = true,
     .priority = true},
    {.id = "5d",
     .text = "5c, two threads",
     .way = {2, copy, in_kernel},
     .alone = true,
     .threads = true,
     .priority = true},
    {.id = "5e",
     .text = "a graph a GPU, pull kernel waits",
     .way = {2, pull, in_kernel},
     .alone = true,
     .priority = true},
    {.id = "5f",
     .text = "5c, two execs a GPU in turn",
     .way = {2, copy, in_kernel},
     .alone = true,
     .execs = 2,
     .priority = true},
    {.id = "6a",
     .text = "a graph a GPU, stores and flags",
     .way = {2, store, in_kernel},
     .alone = true,
     .priority = true},
    {.id = "6b",
     .text = "6a, two threads",
     .way = {2, store, in_kernel},
     .alone = true,
     .threads = true,
     .priority = true},
    {.id = "6c",
     .text = "6a, two execs a GPU in turn",
     .way = {2, store, in_kernel},
     .alone = true,
     .execs = 2,
     .priority = true},
    {.id = "7",
     .text = "6a in a while node, one launch",
     .way = {2, store, in_kernel},
     .alone = true,
     .priority = true,
     .loop = true},
    {.id = "5a",
     .text = "a graph a GPU, memory operations",
     .way = {2, copy, memory_operation},
     .alone = true,
     .priority = true},
    {.id = "5g",
     .text = "5a, two threads",
     .way = {2, copy, memory_operation},
     .alone = true,
     .threads = true,
     .priority = true},
};

/// A memory operation that waits has no end of its own: the process has, and the driver clears up behind it.
void guard(unsigned seconds) {
  static const auto stop = [](int) {
    constexpr char text[] = "bench_graph_launch: a variant does not end; stopped\n";
    if (write(STDERR_FILENO, text, sizeof text - 1) < 0) std::_Exit(4);
    std::_Exit(3);
  };
  std::signal(SIGALRM, stop);
  alarm(seconds);
}

Times measure(Rig& rig, const Variant& variant, const Options& options, const std::vector<Expected>& expected,
              std::string& json) {
  guard(20 + static_cast<unsigned>(options.steps * options.repeats / 1000));
  Race race(rig, variant, options.ahead);
  race.run(std::min(options.steps, 8 * options.batch));
  Times best;
  double worst = 0;
  std::string wrong;
  for (int k = 0; k < options.repeats; ++k) {
    const Times times = race.run(options.steps);
    if (k == 0 || times.step < best.step) best = times;
    worst = std::max(worst, times.step);
    if (wrong.empty()) wrong = rig.compare(expected);
  }
  guard(0);
  std::printf("%-3s %-42s %8.2f %8.2f %8.2f %9.1f %9.1f %6zu  %s\n", variant.id, variant.text, 1e6 * best.step,
              1e6 * worst, 1e6 * best.inside, 1e6 * best.gap, 1e6 * best.host, race.nodes(),
              wrong.empty() ? "right" : wrong.c_str());
  char line[512];
  std::snprintf(line, sizeof line,
                R"({"variant": "%s", "text": "%s", "step_us": %.3f, "worst_us": %.3f, "inside_us": %.3f, )"
                R"("gap_us": %.2f, "host_us": %.2f, "nodes": %zu, "right": %s, "steps": %ld, "batch": %ld, )"
                R"("mb": %.1f, "kb": %.1f, "ahead": %d})",
                variant.id, variant.text, 1e6 * best.step, 1e6 * worst, 1e6 * best.inside, 1e6 * best.gap,
                1e6 * best.host, race.nodes(), wrong.empty() ? "true" : "false", options.steps, options.batch,
                24e-6 * static_cast<double>(rig.sizes.cells), 8e-3 * static_cast<double>(rig.sizes.separators),
                options.ahead);
  json += std::string(line) + "\n";
  return best;
}

/// us of calls for one captured batch; "end": to the end of what was launched.
struct LaunchTimes {
  std::size_t nodes = 0;
  double instantiate = 0, first = 0, first_end = 0;
  double upload = 0, uploaded = 0, uploaded_end = 0;  ///< of a second exec, whose first launch comes behind its upload
  double idle = 0, idle_end = 0;                      ///< again and again, each when the GPU is idle
  std::array<double, 3> busy{};                       ///< one behind the other, the first behind a kernel of some 5 ms
  std::array<double, 2> busy_other{};                 ///< and the other exec behind these
};

LaunchTimes time_launches(Rig& rig, const Way& way) {
  guard(20);
  Steps steps(rig, way);
  rig.reset(way.gpus, 0);
  LaunchTimes t;
  cudaGraph_t graph = steps.capture(0, way.gpus);
  LAUNCH_CHECK(cudaGraphGetNodes(graph, nullptr, &t.nodes));
  cudaStream_t stream = rig.gpu(0).compute;
  const auto timed = [](const auto& call) {
    const auto start = std::chrono::steady_clock::now();
    call();
    return 1e6 * seconds_since(start);
  };
  const auto launch = [&](cudaGraphExec_t exec) { return timed([&] { LAUNCH_CHECK(cudaGraphLaunch(exec, stream)); }); };
  const auto finish = [&] { return timed([&] { rig.synchronize(); }); };
  cudaGraphExec_t one = nullptr, other = nullptr;
  t.instantiate = timed([&] { one = instantiate(graph, false); });
  t.first = launch(one);
  t.first_end = t.first + finish();
  other = instantiate(graph, false);
  t.upload = timed([&] { LAUNCH_CHECK(cudaGraphUpload(other, stream)); }) + finish();
  t.uploaded = launch(other);
  t.uploaded_end = t.uploaded + finish();
  constexpr int times = 20;
  for (int k = 0; k < times; ++k) {
    const double call = launch(one);
    t.idle += call / times;
    t.idle_end += (call + finish()) / times;
  }
  LAUNCH_CHECK(cudaSetDevice(0));
  busy_kernel<<<1, 1, 0, stream>>>(10'000'000);
  for (double& call : t.busy) call = launch(one);
  for (double& call : t.busy_other) call = launch(other);
  finish();
  guard(0);
  for (cudaGraphExec_t exec : {one, other}) cudaGraphExecDestroy(exec);
  cudaGraphDestroy(graph);
  return t;
}

void print(const char* id, const LaunchTimes& t, std::string& json) {
  std::printf(
      "launch %s: %zu nodes; us: instantiate %.0f; first launch %.1f, to its end %.0f; upload %.1f, first launch "
      "behind "
      "it %.1f, to its end %.0f; idle GPU %.1f, to its end %.0f; behind a kernel of some 5 ms %.1f, the same exec "
      "again "
      "%.1f and %.1f, another exec %.1f and %.1f\n",
      id, t.nodes, t.instantiate, t.first, t.first_end, t.upload, t.uploaded, t.uploaded_end, t.idle, t.idle_end,
      t.busy[0], t.busy[1], t.busy[2], t.busy_other[0], t.busy_other[1]);
  char line[512];
  std::snprintf(line, sizeof line,
                R"({"launch": "%s", "nodes": %zu, "instantiate_us": %.1f, "first_us": %.1f, "first_end_us": %.1f, )"
                R"("upload_us": %.1f, "uploaded_us": %.1f, "uploaded_end_us": %.1f, "idle_us": %.2f, )"
                R"("idle_end_us": %.1f, "busy_us": [%.1f, %.1f, %.1f], "busy_other_us": [%.1f, %.1f]})",
                id, t.nodes, t.instantiate, t.first, t.first_end, t.upload, t.uploaded, t.uploaded_end, t.idle,
                t.idle_end, t.busy[0], t.busy[1], t.busy[2], t.busy_other[0], t.busy_other[1]);
  json += std::string(line) + "\n";
}

Sizes sizes_of(const Options& options, double megabytes) {
  const auto separators = static_cast<Word>(options.kilobytes * 125);
  const Word cells = std::max(static_cast<Word>(megabytes * 1e6 / 48) * 2, 2 * separators + 2);
  return {cells, separators, options.steps, options.batch};
}

/// MB of an interior that takes as long as is wished.
double wished_megabytes(const Options& options) {
  double megabytes = options.megabytes;
  for (int k = 0; k < 3 && options.microseconds > 0; ++k) {
    Rig rig(1, sizes_of(options, megabytes));
    Race race(rig, variants.front(), options.ahead);
    race.run(options.batch);
    megabytes *= 1e-6 * options.microseconds / race.run(16 * options.batch).step;
  }
  return megabytes;
}

Options parse(int argc, char** argv) {
  Options o;
  const std::map<std::string, std::function<void(const char*)>> known = {
      {"--steps", [&](const char* value) { o.steps = std::atol(value); }},
      {"--batch", [&](const char* value) { o.batch = std::atol(value); }},
      {"--mb", [&](const char* value) { o.megabytes = std::atof(value); }},
      {"--us", [&](const char* value) { o.microseconds = std::atof(value); }},
      {"--kb", [&](const char* value) { o.kilobytes = std::atof(value); }},
      {"--ahead", [&](const char* value) { o.ahead = std::atoi(value); }},
      {"--repeats", [&](const char* value) { o.repeats = std::atoi(value); }},
      {"--only",
       [&](const char* value) {
         std::istringstream list(value);
         for (std::string id; std::getline(list, id, ',');) o.only.push_back(id);
       }},
  };
  for (int k = 1; k < argc; k += 2) {
    const auto option = known.find(argv[k]);
    if (option == known.end() || k + 1 == argc)
      throw std::runtime_error(std::string(argv[k]) + ": unknown or without a value; see bench_graph_launch.cu");
    option->second(argv[k + 1]);
  }
  o.steps = std::min(o.steps, static_cast<long>(log_steps)) / std::max(o.batch, 1L) * o.batch;
  if (o.batch < 2 || o.batch % 2 != 0 || o.steps < o.batch || o.ahead < 1 || o.repeats < 1 || o.kilobytes <= 0)
    throw std::runtime_error("a batch is an even number of steps, from 2; the other numbers are above 0");
  return o;
}

/// Two GPUs that reach each other's memory, else one, else none.
int usable_gpus() {
  int gpus = 0;
  if (cudaGetDeviceCount(&gpus) != cudaSuccess) return 0;
  for (int g = 0; g < std::min(gpus, 2); ++g) {
    cudaDeviceProp p{};
    LAUNCH_CHECK(cudaGetDeviceProperties(&p, g));
    std::printf("GPU %d: %s, %d multiprocessors\n", g, p.name, p.multiProcessorCount);
  }
  if (gpus < 2) return gpus;
  int there = 0, back = 0;
  LAUNCH_CHECK(cudaDeviceCanAccessPeer(&there, 0, 1));
  LAUNCH_CHECK(cudaDeviceCanAccessPeer(&back, 1, 0));
  return there != 0 && back != 0 ? 2 : 1;
}

void run(const Options& options) {
  const int gpus = usable_gpus();
  if (gpus == 0) throw std::runtime_error("no GPU");
  if (gpus == 1) std::printf("SKIPPED: variants of two GPUs; there is one, or they cannot reach each other's memory\n");
  int driver = 0;
  LAUNCH_CHECK(cudaDriverGetVersion(&driver));
  const Sizes sizes = sizes_of(options, wished_megabytes(options));
  std::printf("CUDA %d, driver's %d; %ld steps, %ld a batch, %d batches ahead; interior %.1f MB, separators %.1f KB\n",
              CUDART_VERSION, driver, sizes.steps, sizes.batch, options.ahead, 24e-6 * static_cast<double>(sizes.cells),
              8e-3 * static_cast<double>(sizes.separators));
  Rig rig(gpus, sizes);
  const std::vector<Expected> lone = expected_state(sizes, 1, false), ring = expected_state(sizes, 1, true),
                              pair = gpus == 2 ? expected_state(sizes, 2, true) : lone;
  std::printf("%-3s %-42s %8s %8s %8s %9s %9s %6s\n", "", "us", "step", "worst", "inside", "gap", "host", "nodes");
  std::string json;
  for (const Variant& variant : variants) {
    if (variant.way.gpus > gpus) continue;
    if (!options.only.empty() && std::find(options.only.begin(), options.only.end(), variant.id) == options.only.end())
      continue;
    try {
      measure(rig, variant, options, variant.way.gpus == 2 ? pair : variant.way.exchange == none ? lone : ring, json);
    } catch (const std::exception& error) {
      std::printf("%-3s %-42s failed: %s\n", variant.id, variant.text, error.what());
      rig.synchronize();
    }
    std::fflush(stdout);
  }
  const auto launches = [&](const char* id, const Way& way) {
    try {
      if (way.gpus <= gpus) print(id, time_launches(rig, way), json);
    } catch (const std::exception& error) {
      std::printf("launch %s failed: %s\n", id, error.what());
    }
  };
  launches("1a", {1, none, edges});
  launches("1b", {1, copy, edges});
  launches("3b", {2, copy, edges});
  launches("3e", {2, store, edges});
  std::printf("%s", json.c_str());
}

}  // namespace
}  // namespace tutti::launch

int main(int argc, char** argv) try {
  // A kernel that is loaded at its first launch may wait for those that wait for it.
  setenv("CUDA_MODULE_LOADING", "EAGER", 0);
  tutti::launch::run(tutti::launch::parse(argc, argv));
} catch (const std::exception& error) {
  std::fprintf(stderr, "bench_graph_launch: %s\n", error.what());
  return 1;
}
