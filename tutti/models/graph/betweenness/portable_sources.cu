// Compiles as plain C++ without CUDA.
#include <algorithm>
#include <vector>

#include "tutti/device/for_each.hpp"
#include "tutti/models/graph/betweenness/device_sources.hpp"

namespace tutti::graph {
namespace {

constexpr double most_paths = 0x1p1000;
constexpr Lid block = count_block;  ///< vertices that report together

/// The value of one lane of a column whose frontier has it.
struct OfLane {
  const Lanes* frontier;
  const double* values;
  int width, lane;
  TUTTI_HD void operator()(Vertex u, double& sum) const {
    if ((frontier[u] >> lane & 1) != 0) sum += values[static_cast<Size>(u) * width + lane];
  }
};

struct Clear {
  Lanes* level;
  Lanes* reached;
  TUTTI_HD void operator()(Lid v) const {
    level[v] = 0;
    reached[v] = 0;
  }
};

/// One thread sets all: a vertex may be a source more than once.
struct SetSources {
  const Vertex* sources;
  int count, width;
  Lanes *level, *reached;
  double* values;
  TUTTI_HD void operator()(Lid) const {
    for (int lane = 0; lane < count; ++lane) {
      const Vertex s = sources[lane];
      level[s] |= Lanes{1} << lane;
      reached[s] |= Lanes{1} << lane;
      values[static_cast<Size>(s) * width + lane] = 1;
    }
  }
};

struct StepOut {
  RowsView in;
  const Lanes* frontier;
  const Lanes* reached;
  Lanes* next;
  double* values;
  Lanes all;
  int width;
  TUTTI_HD void operator()(Lid v) const {
    Lanes found = 0;
    for (Size e = in.offsets[v]; e < in.offsets[v + 1]; ++e) found |= frontier[in.columns[e]];
    found &= all & ~reached[v];
    next[v] = found;
    for (int lane = 0; lane < width; ++lane)
      if ((found >> lane & 1) != 0)
        values[static_cast<Size>(v) * width + lane] =
            sum_over_row<double>(in, v, OfLane{frontier, values, width, lane});
  }
};

/// Blocks of vertices: what is reached now, and for the host 1: something is, 2: too many paths.
struct TakeStep {
  const Lanes* next;
  Lanes* reached;
  const double* values;
  std::int32_t* report;
  Lid vertices;
  int width;
  TUTTI_HD void operator()(Lid b) const {
    std::int32_t what = 0;
    const Lid end = vertices - b * block < block ? vertices : (b + 1) * block;
    for (Lid v = b * block; v < end; ++v) {
      if (next[v] == 0) continue;
      reached[v] |= next[v];
      what |= 1;
      for (int lane = 0; lane < width; ++lane)
        if ((next[v] >> lane & 1) != 0 && values[static_cast<Size>(v) * width + lane] > most_paths) what |= 2;
    }
    report[b] = what;
  }
};

struct StepBack {
  RowsView out;
  const Lanes* below;  ///< lanes that reach a vertex one level further out
  const Lanes* level;
  double* values;
  DeltaSum* sums;
  int width;
  TUTTI_HD void operator()(Lid v) const {
    for (int lane = 0; lane < width; ++lane) {
      if ((level[v] >> lane & 1) == 0) continue;
      double& value = values[static_cast<Size>(v) * width + lane];
      const double sum = sum_over_row<double>(out, v, OfLane{below, values, width, lane});
      if (sum != 0) sums[v].add(split_delta(value * sum));
      value = 1 / value + sum;
    }
  }
};

class PortableBatches final : public DeviceSources {
 public:
  PortableBatches(Stream& stream, const DeviceGraph& graph, Size levels, Size sources, Size room)
      : width_(static_cast<int>(std::clamp<Size>((sources + 7) / 8 * 8, 8, most_lanes))),
        levels_of_batch_(levels),
        n_(graph.vertices) {
    const Size fixed = (levels + 1) * static_cast<Size>(sizeof(Lanes));
    while (width_ > 8 && n_ * (8 * width_ + fixed) > room) width_ -= 8;
    Device& device = stream.device();
    const Size blocks = n_ / block + 1;
    values_ = Buffer<double>(device, n_ * width_, "path counts of a batch");
    levels_ = Buffer<Lanes>(device, n_ * levels, "levels of a batch");
    reached_ = Buffer<Lanes>(device, n_, "vertices reached");
    report_ = Buffer<std::int32_t>(device, blocks, "reports of a level");
    counts_ = Buffer<Size>(device, blocks, "arcs reached");
    sources_ = Buffer<Vertex>(device, most_lanes, "sources");
  }
  Size most() const override { return width_; }

  void add(Stream& stream, DeviceGraph& graph, std::span<const Vertex> sources, Size& reached,
           std::vector<Vertex>& left) override {
    const auto count = static_cast<int>(sources.size());
    const Lanes all = count == most_lanes ? ~Lanes{0} : (Lanes{1} << count) - 1;
    const auto level = [&](Size depth) { return levels_.data() + depth * n_; };
    const auto lid = static_cast<Lid>(n_);
    upload(stream, sources_, sources);
    for_each(stream, {0, lid}, Clear{level(0), reached_.data()});
    for_each(stream, {0, 1}, SetSources{sources_.data(), count, width_, level(0), reached_.data(), values_.data()});
    Size depth = 0;
    for (;; ++depth) {
      if (depth + 1 == levels_of_batch_) {
        left.insert(left.end(), sources.begin(), sources.end());
        return;
      }
      for_each(stream, {0, lid},
               StepOut{graph.incoming(), level(depth), reached_.data(), level(depth + 1), values_.data(), all, width_});
      for_each(stream, {0, blocks()},
               TakeStep{level(depth + 1), reached_.data(), values_.data(), report_.data(), lid, width_});
      std::vector<std::int32_t> report(blocks());
      download(stream, std::span(report), report_);
      std::int32_t what = 0;
      for (const std::int32_t r : report) what |= r;
      if ((what & 2) != 0) {
        left.insert(left.end(), sources.begin(), sources.end());
        return;
      }
      if (what == 0) break;
    }
    for (Size d = depth; d > 0; --d)
      for_each(stream, {0, lid},
               StepBack{graph.outgoing(), level(d + 1), level(d), values_.data(), graph.sums.data(), width_});
    for_each(stream, {0, blocks()}, CountReached{graph.outgoing(), reached_.data(), counts_.data(), lid});
    std::vector<Size> counts(blocks());
    download(stream, std::span(counts), counts_);
    for (const Size c : counts) reached += c;
  }

 private:
  Lid blocks() const { return static_cast<Lid>((n_ + block - 1) / block); }
  int width_;
  Size levels_of_batch_, n_;
  Buffer<double> values_;
  Buffer<Lanes> levels_, reached_;
  Buffer<std::int32_t> report_;
  Buffer<Size> counts_;
  Buffer<Vertex> sources_;
};

struct ResetDepths {
  PathRecord* records;
  Size stride;
  Lid slots;
  TUTTI_HD void operator()(Lid v) const {
    for (Lid s = 0; s < slots; ++s) records[s * stride + v].depth = 0;
  }
};

/// One source a slot, each with arrays and sums of its own.
struct Search {
  RowsView out, in;
  PathRecord* records;
  Vertex* queues;
  DeltaSum* sums;
  std::int32_t* bases;
  Size* counts;
  const Vertex* sources;
  Size stride;
  TUTTI_HD void operator()(Lid slot) const {
    DeltaSum* mine = sums + slot * stride;
    Size reached = 0;
    bases[slot] = search_from(out, in, {records + slot * stride, queues + slot * stride}, sources[slot], bases[slot],
                              reached, [mine](Vertex v, double delta) { mine[v].add(split_delta(delta)); });
    counts[slot] = reached;
  }
};

struct ClearSums {
  DeltaSum* sums;
  Size stride;
  Lid slots;
  TUTTI_HD void operator()(Lid v) const {
    for (Lid s = 0; s < slots; ++s) sums[s * stride + v] = DeltaSum{};
  }
};

struct MergeSums {
  const DeltaSum* from;
  DeltaSum* to;
  Size stride;
  Lid slots;
  TUTTI_HD void operator()(Lid v) const {
    for (Lid s = 0; s < slots; ++s) to[v].add(from[s * stride + v]);
  }
};

class PortableOneByOne final : public DeviceSources {
 public:
  PortableOneByOne(Stream& stream, const DeviceGraph& graph, Size sources, Size room) : n_(graph.vertices) {
    constexpr Size each = sizeof(PathRecord) + sizeof(Vertex) + sizeof(DeltaSum);
    slots_ = std::clamp<Size>(room / (each * std::max<Size>(n_, 1)), 1, std::clamp<Size>(sources, 1, 64));
    Device& device = stream.device();
    records_ = Buffer<PathRecord>(device, n_ * slots_, "path counts of sources");
    queues_ = Buffer<Vertex>(device, n_ * slots_, "queues of sources");
    sums_ = Buffer<DeltaSum>(device, n_ * slots_, "sums of sources");
    bases_ = Buffer<std::int32_t>(device, slots_, "depths of sources");
    counts_ = Buffer<Size>(device, slots_, "arcs reached");
    sources_ = Buffer<Vertex>(device, slots_, "sources");
    reset(stream);
  }
  Size most() const override { return slots_; }

  void add(Stream& stream, DeviceGraph& graph, std::span<const Vertex> sources, Size& reached,
           std::vector<Vertex>&) override {
    const auto lid = static_cast<Lid>(n_), count = static_cast<Lid>(sources.size());
    std::vector<std::int32_t> bases(slots_);
    download(stream, std::span(bases), bases_);
    if (*std::max_element(bases.begin(), bases.end()) > last_base) reset(stream);
    upload(stream, sources_, sources);
    for_each(stream, {0, lid}, ClearSums{sums_.data(), n_, count});
    for_each(stream, {0, count},
             Search{graph.outgoing(), graph.incoming(), records_.data(), queues_.data(), sums_.data(), bases_.data(),
                    counts_.data(), sources_.data(), n_});
    for_each(stream, {0, lid}, MergeSums{sums_.data(), graph.sums.data(), n_, count});
    std::vector<Size> counts(count);
    download(stream, std::span(counts), counts_);
    for (const Size c : counts) reached += c;
  }

 private:
  void reset(Stream& stream) {
    for_each(stream, {0, static_cast<Lid>(n_)}, ResetDepths{records_.data(), n_, static_cast<Lid>(slots_)});
    const std::vector<std::int32_t> ones(slots_, 1);
    upload(stream, bases_, std::span<const std::int32_t>(ones));
  }
  Size n_, slots_;
  Buffer<PathRecord> records_;
  Buffer<Vertex> queues_;
  Buffer<DeltaSum> sums_;
  Buffer<std::int32_t> bases_;
  Buffer<Size> counts_;
  Buffer<Vertex> sources_;
};

}  // namespace

DeviceRows::DeviceRows(Stream& stream, const Csr<Vertex>& rows, const char* name)
    : offsets(make_buffer(stream, std::span<const Size>(rows.offsets), name)),
      columns(make_buffer(stream, std::span<const Vertex>(rows.columns), name)) {}

DeviceGraph::DeviceGraph(Stream& stream, const Graph& graph)
    : vertices(graph.vertices),
      arcs(graph.arcs()),
      out(stream, graph.out, "arcs"),
      sums(stream.device(), graph.vertices, "sums of betweenness") {
  if (graph.directed) in = DeviceRows(stream, graph.in, "arcs against their direction");
  clear_sums(stream, *this);
  stream.synchronize();  // what follows may fail, and then the sums go
}

void clear_sums(Stream& stream, DeviceGraph& graph) {
  for_each(stream, {0, graph.vertices}, ClearSums{graph.sums.data(), graph.vertices, 1});
}

std::unique_ptr<DeviceSources> make_portable_batches(Stream& stream, const DeviceGraph& graph, Size levels,
                                                     Size sources, Size room) {
  return std::make_unique<PortableBatches>(stream, graph, levels, sources, room);
}

std::unique_ptr<DeviceSources> make_portable_one_by_one(Stream& stream, const DeviceGraph& graph, Size sources,
                                                        Size room) {
  return std::make_unique<PortableOneByOne>(stream, graph, sources, room);
}

}  // namespace tutti::graph
