#include "tutti/base/error.hpp"
#include "tutti/partition/graph_split.hpp"

#ifdef TUTTI_HAVE_SCOTCH
// scotch.h uses FILE without including it.
#include <cstdio>
// clang-format off
#include <scotch.h>
// clang-format on

#include <algorithm>
#include <cmath>
#include <limits>
#include <mutex>

#include "tutti/partition/library_index.hpp"

namespace tutti {
namespace {

// Scotch's random generator and its strategies' tables are one for the process.
std::mutex one_at_a_time;

/// Fails on a non-zero status. Scotch has written its own reason to stderr.
void check(int status, const char* step) {
  if (status != 0) {
    fail(ErrorKind::resource, "Scotch failed in {} (status {}); use \"metis\" or \"hilbert\"", step, status);
  }
}

/// A Scotch object: set up by `init`, released by `exit` once set up, also when a later step throws.
template <class Object, int (*Init)(Object*), void (*Exit)(Object*)>
struct Owned {
  Object object{};
  explicit Owned(const char* step) { check(Init(&object), step); }
  ~Owned() { Exit(&object); }
  Owned(const Owned&) = delete;
  Owned& operator=(const Owned&) = delete;
  Object* get() { return &object; }
};
using Graph = Owned<SCOTCH_Graph, SCOTCH_graphInit, SCOTCH_graphExit>;
using Architecture = Owned<SCOTCH_Arch, SCOTCH_archInit, SCOTCH_archExit>;
#if SCOTCH_VERSION >= 7
int init_context(SCOTCH_Context* context) {
  return SCOTCH_contextInit(context);
}
using Context = Owned<SCOTCH_Context, init_context, SCOTCH_contextExit>;
#endif
using Strategy = Owned<SCOTCH_Strat, SCOTCH_stratInit, SCOTCH_stratExit>;

/// The quotas as target weights. Scotch multiplies weights with row counts in its own integer: they are scaled down
/// until the largest product fits. What is lost is for rebalance().
std::vector<SCOTCH_Num> target_weights(std::span<const std::int32_t> quotas, std::int32_t rows) {
  const double limit = static_cast<double>(std::numeric_limits<SCOTCH_Num>::max()) / 2 / std::max(rows, 1);
  const double scale = std::min(1.0, limit / rows);
  std::vector<SCOTCH_Num> weights;
  for (const std::int32_t q : quotas) {
    weights.push_back(std::max(SCOTCH_Num{1}, static_cast<SCOTCH_Num>(std::lround(scale * q))));
  }
  return weights;
}

constexpr SCOTCH_Num seed = 1;

/// SCOTCH_graphMap with a random generator that starts anew and one thread: the same result at every call.
int map_graph(SCOTCH_Graph* graph, SCOTCH_Arch* target, SCOTCH_Strat* strategy, SCOTCH_Num* owner) {
#if SCOTCH_VERSION >= 7
  Context context("contextInit");
  check(SCOTCH_contextOptionSetNum(context.get(), SCOTCH_OPTIONNUMDETERMINISTIC, 1), "contextOptionSetNum");
  check(SCOTCH_contextRandomClone(context.get()), "contextRandomClone");
  SCOTCH_contextRandomSeed(context.get(), seed);
  SCOTCH_contextRandomReset(context.get());
  check(SCOTCH_contextThreadSpawn(context.get(), 1, nullptr), "contextThreadSpawn");
  Graph bound("graphInit");
  check(SCOTCH_contextBindGraph(context.get(), graph, bound.get()), "contextBindGraph");
  return SCOTCH_graphMap(bound.get(), target, strategy, owner);
#else
  SCOTCH_randomSeed(seed);
  SCOTCH_randomReset();
  return SCOTCH_graphMap(graph, target, strategy, owner);
#endif
}

}  // namespace

void scotch_split(const SymmetricGraph& graph, std::span<const std::int32_t> quotas, std::span<std::int32_t> part) {
  require(quotas.size() >= 2 && !graph.columns.empty(), "scotch_split: {} parts, {} edges", quotas.size(),
          graph.columns.size());
  const std::lock_guard lock(one_at_a_time);
  LibraryIndices<SCOTCH_Num> offsets(graph.offsets), columns(graph.columns);
  Graph scotch_graph("graphInit");
  check(SCOTCH_graphBuild(scotch_graph.get(), 0, graph.rows(), offsets.data(), nullptr, nullptr, nullptr,
                          static_cast<SCOTCH_Num>(graph.columns.size()), columns.data(), nullptr),
        "graphBuild");
  const std::vector<SCOTCH_Num> weights = target_weights(quotas, graph.rows());
  Architecture target("archInit");
  check(SCOTCH_archCmpltw(target.get(), static_cast<SCOTCH_Num>(weights.size()), weights.data()), "archCmpltw");
  Strategy strategy("stratInit");
  check(SCOTCH_stratGraphMapBuild(strategy.get(), SCOTCH_STRATQUALITY, static_cast<SCOTCH_Num>(weights.size()), 0.005),
        "stratGraphMapBuild");
  std::vector<SCOTCH_Num> owner(part.size(), 0);
  check(map_graph(scotch_graph.get(), target.get(), strategy.get(), owner.data()), "graphMap");
  for (std::size_t i = 0; i < part.size(); ++i) {
    part[i] = std::clamp(static_cast<std::int32_t>(owner[i]), 0, static_cast<std::int32_t>(quotas.size()) - 1);
  }
}

}  // namespace tutti

#else

namespace tutti {

void scotch_split(const SymmetricGraph&, std::span<const std::int32_t>, std::span<std::int32_t>) {
  fail(ErrorKind::resource, "this tutti was built without Scotch: use \"metis\", \"hilbert\" or \"slabs\"");
}

}  // namespace tutti

#endif
