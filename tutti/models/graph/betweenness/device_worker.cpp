#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "tutti/models/graph/betweenness/device_sources.hpp"
#include "tutti/models/graph/betweenness/source_worker.hpp"

namespace tutti::graph {
namespace {

class DeviceWorker final : public SourceWorker {
 public:
  DeviceWorker(const OrderedGraph& ordered, Device& device, Size sources, Sweep sweep, bool portable)
      : ordered_(ordered),
        device_(device),
        stream_(device.make_stream("betweenness")),
        graph_(*stream_, ordered.graph),
        host_sums_(device, ordered.graph.vertices, "sums of betweenness on their way", Memory::pinned),
        levels_(levels_for(ordered.depth, ordered.graph.directed)),
        sources_(sources),
        own_kernels_(device.kind() == DeviceKind::cuda && !portable) {
    if (sweep == Sweep::one_by_one || (sweep == Sweep::automatic && ordered.depth > most_batch_depth))
      make_one_by_one();
    else
      make_batches();
    most_ = (batches_ ? *batches_ : *one_by_one_).most();
    // A GPU loads kernels when they are first launched: before it counts.
    std::vector<Vertex> none;
    if (batches_ && own_kernels_) batches_->add(*stream_, graph_, {}, reached_, none);
  }

  Size most() const override { return most_; }
  double likely_rate() const override {
    // Without the kernels made for GPUs a device is as slow as a thread.
    const double arcs = own_kernels_ ? 5e10 : 1e8;
    return arcs / static_cast<double>(ordered_.graph.arcs() + ordered_.graph.vertices + 1);
  }

  void add(std::span<const Vertex> sources) override {
    used_ = true;
    std::vector<Vertex> left;
    const std::size_t asked = sources.size();
    if (batches_) {
      batches_->add(*stream_, graph_, sources, reached_, left);
      sources = left;
      if (left.empty()) return;
    }
    // Too many levels or paths for a batch: where that is so of most, it will be of the next ones, too. The memory may
    // be too small for both ways.
    const Size few = 64 * Size{48} * ordered_.graph.vertices;
    if (batches_ && (2 * left.size() > asked || (!one_by_one_ && room() < few))) batches_.reset();
    if (!one_by_one_) make_one_by_one();
    std::vector<Vertex> none;
    for (std::size_t first = 0; first < sources.size();) {
      const std::size_t count = std::min(sources.size() - first, static_cast<std::size_t>(one_by_one_->most()));
      one_by_one_->add(*stream_, graph_, sources.subspan(first, count), reached_, none);
      first += count;
    }
  }

  void fetch() override {
    if (!used_ || fetched_) return;
    stream_->copy(host_sums_.data(), graph_.sums.data(), static_cast<std::size_t>(graph_.sums.bytes()),
                  CopyDirection::to_host);
    clear_sums(*stream_, graph_);
    fetched_ = true;
  }
  std::span<DeltaSum> take_sums(Size& reached) override {
    fetch();
    if (!fetched_) return {};
    stream_->synchronize();
    reached += std::exchange(reached_, 0);
    used_ = fetched_ = false;
    return host_sums_.span();
  }

 private:
  Size room() const { return device_.budget().capacity() - device_.budget().used(); }
  void make_batches() {
#if defined(TUTTI_HAVE_CUDA)
    if (own_kernels_) {
      batches_ = make_gpu_batches(*stream_, ordered_.graph, levels_, sources_, room());
      return;
    }
#endif
    batches_ = make_portable_batches(*stream_, graph_, levels_, sources_, room());
  }
  void make_one_by_one() {
#if defined(TUTTI_HAVE_CUDA)
    if (own_kernels_) {
      one_by_one_ = make_gpu_one_by_one(*stream_, graph_, ordered_, sources_, room());
      return;
    }
#endif
    one_by_one_ = make_portable_one_by_one(*stream_, graph_, sources_, room());
  }

  const OrderedGraph& ordered_;
  Device& device_;
  std::unique_ptr<Stream> stream_;
  DeviceGraph graph_;
  Buffer<DeltaSum> host_sums_;  ///< pinned: it is copied at every checkpoint, and in the time of kernel 4
  Size levels_, sources_;
  bool own_kernels_;
  std::unique_ptr<DeviceSources> batches_, one_by_one_;
  Size most_ = 1, reached_ = 0;
  bool used_ = false;     ///< the sums may not be zero
  bool fetched_ = false;  ///< they are on their way to the host, and zero then
};

}  // namespace

std::unique_ptr<SourceWorker> make_device_worker(const OrderedGraph& graph, Device& device, Size sources, Sweep sweep,
                                                 bool portable) {
  return std::make_unique<DeviceWorker>(graph, device, sources, sweep, portable);
}

}  // namespace tutti::graph
