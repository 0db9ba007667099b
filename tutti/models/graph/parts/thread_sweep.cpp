// A part's share of a batch on one thread.
#include <bit>

#include "tutti/models/graph/betweenness/source_worker.hpp"
#include "tutti/models/graph/parts/part_sweep.hpp"

namespace tutti::graph {
namespace {

/// Where a row is read: a link, and the row's place in it; see GraphPart::readers.
struct Reader {
  std::int32_t link;
  Lid place;
  std::uint8_t when;
};

class ThreadSweep final : public PartSweep {
 public:
  ThreadSweep(const GraphPart& part, Budget& budget, int width)
      : part_(part),
        charge_(budget, "path counts of a batch", bytes_of_thread_sweep(part, width)),
        batch_({part.out, part.incoming(), part.map.owned, part.from_ghosts}, width),
        sums_(static_cast<std::size_t>(part.map.owned)) {
    first_reader_.assign(static_cast<std::size_t>(part.map.owned) + 1, 0);
    const auto for_readers = [&](const auto& body) {
      for (std::size_t k = 0; k < part.map.links.size(); ++k)
        for (std::size_t i = 0; i < part.map.links[k].send_rows.size(); ++i)
          body(static_cast<std::size_t>(part.map.links[k].send_rows[i]),
               Reader{static_cast<std::int32_t>(k), static_cast<Lid>(i), part.readers[k][i]});
    };
    for_readers([&](std::size_t row, Reader) { ++first_reader_[row + 1]; });
    for (std::size_t v = 1; v < first_reader_.size(); ++v) first_reader_[v] += first_reader_[v - 1];
    readers_.resize(static_cast<std::size_t>(first_reader_.back()));
    std::vector<Size> next(first_reader_.begin(), first_reader_.end() - 1);
    for_readers([&](std::size_t row, Reader reader) { readers_[static_cast<std::size_t>(next[row]++)] = reader; });
  }

  void begin(std::span<const Vertex> sources) override { batch_.begin(sources); }
  bool step_out(std::int32_t depth) override { return batch_.step_out(static_cast<std::size_t>(depth)); }
  bool too_many_paths() const override { return batch_.too_many_paths(); }
  void step_back(std::int32_t depth) override { batch_.step_back(static_cast<std::size_t>(depth), sums_); }

  std::vector<LevelMessage> take(std::int32_t depth, bool back) override {
    std::vector<LevelMessage> messages(part_.map.links.size());
    for (const LaneBatch::Entry& e : batch_.level(static_cast<std::size_t>(depth))) {
      const double* numbers = batch_.values(e.vertex);
      const auto v = static_cast<std::size_t>(e.vertex);
      for (Size r = first_reader_[v]; r < first_reader_[v + 1]; ++r) {
        const Reader& reader = readers_[static_cast<std::size_t>(r)];
        if ((reader.when & (back ? 2 : 1)) == 0) continue;
        LevelMessage& to = messages[static_cast<std::size_t>(reader.link)];
        to.places.push_back(reader.place);
        to.lanes.push_back(e.lanes);
        for (Lanes lanes = e.lanes; lanes != 0; lanes &= lanes - 1)
          to.mantissas.push_back(numbers[std::countr_zero(lanes)]);
      }
    }
    return messages;
  }

  void put(std::int32_t, std::span<const LevelView> messages) override {
    for (std::size_t k = 0; k < messages.size(); ++k) {
      const double* numbers = messages[k].mantissas.data();
      for (std::size_t i = 0; i < messages[k].places.size(); ++i) {
        const Lanes lanes = messages[k].lanes[i];
        batch_.put_ghost({part_.map.links[k].ghosts.begin + messages[k].places[i], lanes}, numbers);
        numbers += std::popcount(lanes);
      }
    }
  }

  Size count_reached() override { return batch_.count_reached(); }
  void collect(std::span<DeltaSum> sums) override {
    for (std::size_t i = 0; i < sums_.size(); ++i) {
      sums[static_cast<std::size_t>(part_.map.global[i])].add(sums_[i]);
      sums_[i] = {};
    }
  }

 private:
  const GraphPart& part_;
  Charge charge_;
  LaneBatch batch_;
  std::vector<DeltaSum> sums_;      ///< [owned]
  std::vector<Size> first_reader_;  ///< of each owned row; one more
  std::vector<Reader> readers_;
};

}  // namespace

Size bytes_of_thread_sweep(const GraphPart& part, int width) {
  Size readers = 0;
  for (const Link& link : part.map.links) readers += static_cast<Size>(link.send_rows.size());
  // Messages of the largest level, theirs and ours: about half of the border.
  return LaneBatch::bytes(part.map.local(), width) +
         static_cast<Size>(part.map.owned) * static_cast<Size>(sizeof(DeltaSum) + sizeof(Size)) +
         readers * static_cast<Size>(sizeof(Reader)) + (readers + part.map.ghosts()) * (6 + 4 * width);
}

std::unique_ptr<PartSweep> make_thread_sweep(const GraphPart& part, Budget& budget, int width) {
  return std::make_unique<ThreadSweep>(part, budget, width);
}

}  // namespace tutti::graph
