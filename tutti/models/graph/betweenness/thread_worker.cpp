#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "tutti/models/graph/betweenness/lane_batch.hpp"
#include "tutti/models/graph/betweenness/one_source.hpp"
#include "tutti/models/graph/betweenness/source_worker.hpp"

namespace tutti::graph {
namespace {

class ThreadWorker final : public SourceWorker {
 public:
  ThreadWorker(const OrderedGraph& ordered, Budget& budget, Size sources, Sweep sweep)
      : graph_(ordered.graph), budget_(budget) {
    const auto vertices = static_cast<std::size_t>(graph_.vertices);
    sums_charge_.emplace(budget, "sums of betweenness", graph_.vertices * static_cast<Size>(sizeof(DeltaSum)));
    sums_.resize(vertices);
    if (sweep == Sweep::one_by_one || (sweep == Sweep::automatic && ordered.depth > most_batch_depth)) {
      make_records();
      return;
    }
    int width = static_cast<int>(std::clamp<Size>((sources + 7) / 8 * 8, 8, most_lanes));
    while (width > 8 && LaneBatch::bytes(graph_.vertices, width) > budget.capacity() - budget.used()) width -= 8;
    batch_charge_.emplace(budget, "path counts of a batch", LaneBatch::bytes(graph_.vertices, width));
    batch_.emplace(LaneRows(graph_), width);
    width_ = width;
  }

  Size most() const override { return width_; }
  double likely_rate() const override { return 1e8 / static_cast<double>(graph_.arcs() + graph_.vertices + 1); }

  void add(std::span<const Vertex> sources) override {
    used_ = true;
    if (batch_ && batch_->add(sources, sums_, reached_)) return;
    if (records_.empty()) make_records();
    for (const Vertex source : sources) {
      if (base_ > last_base) reset_depths();
      base_ = search_from(RowsView(graph_.out), RowsView(graph_.incoming()), {records_.data(), queue_.data()}, source,
                          base_, reached_, [&](Vertex v, double delta) { sums_[v].add(split_delta(delta)); });
    }
  }

  std::span<DeltaSum> take_sums(Size& reached) override {
    if (!used_) return {};
    reached += std::exchange(reached_, 0);
    used_ = false;
    return sums_;
  }

 private:
  void make_records() {
    const auto vertices = static_cast<std::size_t>(graph_.vertices);
    records_charge_.emplace(budget_, "path counts of a source",
                            graph_.vertices * static_cast<Size>(sizeof(PathRecord) + sizeof(Vertex)));
    records_.resize(vertices);
    queue_.resize(vertices);
    reset_depths();
  }
  void reset_depths() {
    for (PathRecord& r : records_) r.depth = 0;
    base_ = 1;
  }

  const Graph& graph_;
  Budget& budget_;
  std::optional<Charge> sums_charge_, batch_charge_, records_charge_;
  Size width_ = 1;
  std::optional<LaneBatch> batch_;
  std::vector<PathRecord> records_;
  std::vector<Vertex> queue_;
  std::int32_t base_ = 1;
  std::vector<DeltaSum> sums_;
  Size reached_ = 0;
  bool used_ = false;  ///< the sums may not be zero
};

}  // namespace

std::unique_ptr<SourceWorker> make_thread_worker(const OrderedGraph& graph, Budget& budget, Size sources, Sweep sweep) {
  return std::make_unique<ThreadWorker>(graph, budget, sources, sweep);
}

}  // namespace tutti::graph
