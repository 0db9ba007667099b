// Random grids, cuts of them, and places of their parts: what the exchange of boxes must cope with.
#pragma once

#include <memory>
#include <vector>

#include "tests/support/random_parts.hpp"
#include "tests/support/shared_link.hpp"
#include "tutti/device/threads.hpp"
#include "tutti/exchange/box_transfer.hpp"

namespace tutti::test {

/// Halves a box again and again at any plane in any direction: one box a part, some empty, no planes in common.
inline void cut_anyhow(Dice& dice, const CellBox& box, std::size_t first, std::size_t last,
                       std::vector<CellBox>& boxes) {
  if (last - first == 1) {
    boxes[first] = box;
    return;
  }
  const auto middle = first + static_cast<std::size_t>(dice.roll(1, static_cast<std::int64_t>(last - first) - 1));
  const auto d = static_cast<std::size_t>(dice.roll(0, 2));
  CellBox lower = box, upper = box;
  lower.upper[d] = upper.lower[d] = static_cast<Lid>(dice.roll(box.lower[d], box.upper[d]));
  cut_anyhow(dice, lower, first, middle, boxes);
  cut_anyhow(dice, upper, middle, last, boxes);
}

inline std::vector<CellBox> any_cut(Dice& dice, const std::array<Lid, 3>& cells, std::size_t parts) {
  std::vector<CellBox> boxes(parts);
  cut_anyhow(dice, {{0, 0, 0}, cells}, 0, parts, boxes);
  return boxes;
}

/// A grid on devices of all ranks; every rank makes the same one from the seed.
struct BoxRank {
  BoxRank(const Comm& comm, std::uint64_t seed, int team = 1, bool open = false) : threads(team), dice(seed) {
    for (Lid& n : parts.cells) n = static_cast<Lid>(dice.chance(0.2) ? 1 : dice.roll(2, 9));
    for (bool& periodic : parts.periodic) periodic = dice.chance(0.5);
    for (int r = 0; r < comm.size(); ++r)
      for (auto k = dice.roll(0, 3); k > 0; --k) parts.rank_of_part.push_back(r);
    if (parts.rank_of_part.empty()) parts.rank_of_part.push_back(static_cast<int>(dice.roll(0, comm.size() - 1)));
    parts.boxes = any_cut(dice, parts.cells, parts.rank_of_part.size());
    for (std::size_t p = 0; p < parts.rank_of_part.size(); ++p)
      if (parts.rank_of_part[p] == comm.rank()) parts.mine.push_back(static_cast<std::int32_t>(p));
    open_devices(comm.rank(), seed, open);
    for (std::size_t p = 0; p < mine(); ++p) {
      IndexMap& map = maps.emplace_back();
      map.part = parts.mine[p];
      map.interior = map.owned = static_cast<Lid>(parts.box(p).cells());
    }
  }

  std::size_t mine() const { return parts.mine.size(); }
  std::size_t all() const { return parts.boxes.size(); }
  Gid cells() const { return Gid{parts.cells[0]} * parts.cells[1] * parts.cells[2]; }
  /// The cell itself, or what it is an image of; -1: it is in no grid.
  Gid number(std::array<Lid, 3> cell) const {
    for (std::size_t d = 0; d < 3; ++d) {
      if (parts.periodic[d]) cell[d] = (cell[d] + parts.cells[d]) % parts.cells[d];
      if (cell[d] < 0 || cell[d] >= parts.cells[d]) return -1;
    }
    return parts.number(cell);
  }

  Threads threads;
  Dice dice;
  BoxParts parts;
  std::vector<std::unique_ptr<Device>> devices;
  std::vector<PartStreams> streams;
  std::vector<IndexMap> maps;

 private:
  /// On the CPU or on a fake device of its own with random delays; devices may be peers or not.
  void open_devices(int rank, std::uint64_t seed, bool open) {
    Dice own(random_bits(seed, static_cast<std::uint64_t>(rank) + 1000));
    devices.push_back(make_host_device(threads, Size{1} << 30));
    Device* const cpu = devices.front().get();
    streams.reserve(mine());
    const bool peer = own.chance(0.5);
    for (std::size_t p = 0; p < mine(); ++p) {
      if (own.chance(0.5)) {
        streams.emplace_back(*cpu);
        continue;
      }
      FakeOptions options;
      options.seed = static_cast<std::uint64_t>(own.roll(1, 1 << 30));
      options.max_delay_us = static_cast<double>(own.roll(0, 60));
      options.peer = peer;
      options.open = open;
      devices.push_back(make_fake_device(static_cast<int>(p), options));
      streams.emplace_back(*devices.back());
    }
  }
};

/// f(i, j, k) for all cells of a box.
template <class F>
void each_cell(const CellBox& box, const F& f) {
  for (Lid k = box.lower[2]; k < box.upper[2]; ++k)
    for (Lid j = box.lower[1]; j < box.upper[1]; ++j)
      for (Lid i = box.lower[0]; i < box.upper[0]; ++i) f(i, j, k);
}

/// A field of a part. What a cell holds is said cell by cell.
template <class T>
class BoxField {
 public:
  BoxField(PartStreams& streams, const BoxArray& array)
      : streams_(&streams), array_(array), buffer_(*streams.device, array.values(), "field") {}
  T* data() { return buffer_.data(); }

  /// value(i, j, k) for all stored cells.
  template <class Value>
  void fill(const Value& value) {
    std::vector<T> all(array_.values());
    each_cell(array_.stored, [&](Lid i, Lid j, Lid k) { all[array_.at(i, j, k)] = value(i, j, k); });
    upload(*streams_->compute, buffer_, std::span<const T>(all));
  }
  /// Expects value(i, j, k) in all cells of `box`.
  template <class Value>
  void expect(const CellBox& box, const Value& value) {
    std::vector<T> all(array_.values());
    download(*streams_->compute, std::span<T>(all), buffer_);
    int wrong = 0;
    each_cell(box, [&](Lid i, Lid j, Lid k) {
      const T found = all[array_.at(i, j, k)], expected = value(i, j, k);
      if (found != expected && wrong++ < 3)
        ADD_FAILURE() << "on " << streams_->device->name() << ", cell " << i << ' ' << j << ' ' << k << ": " << found
                      << " instead of " << expected;
    });
    EXPECT_EQ(wrong, 0) << "wrong values in all";
  }
  template <class Value>
  void expect(const Value& value) {
    expect(array_.stored, value);
  }
  void swap(BoxField& other) { buffer_.swap(other.buffer_); }

 private:
  PartStreams* streams_;
  BoxArray array_;
  Buffer<T> buffer_;
};

}  // namespace tutti::test
