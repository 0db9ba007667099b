// One rank's share of a RandomParts problem: devices of mixed kinds, numbering, plan, and fields with room around them.
#pragma once

#include <cmath>
#include <limits>
#include <memory>
#include <vector>

#include "tests/support/random_parts.hpp"
#include "tutti/device/threads.hpp"
#include "tutti/exchange/exchange.hpp"

namespace tutti::test {

struct RankParts {
  /// Each part is on the CPU or on a fake device of its own, with random delays; devices may be peers or not.
  /// Open ones let MPI use their memory.
  RankParts(const Comm& comm, const RandomParts& problem, std::uint64_t seed, int team = 1, double fake_share = 0.6,
            bool open = false)
      : threads(team) {
    Dice dice(random_bits(seed, static_cast<std::uint64_t>(comm.rank()) + 1000));
    devices.push_back(make_host_device(threads, Size{1} << 30));
    Device* const cpu = devices.front().get();
    rows = problem.parts_of(comm.rank());
    maps = number_parts(comm, rows, problem.rank_of_part);
    plan = make_plan(maps, comm.rank());
    streams.reserve(maps.size());
    const bool peer = dice.chance(0.5);
    for (std::size_t p = 0; p < maps.size(); ++p) {
      if (!dice.chance(fake_share)) {
        streams.emplace_back(*cpu);
        continue;
      }
      FakeOptions options;
      options.seed = static_cast<std::uint64_t>(dice.roll(1, 1 << 30));
      options.max_delay_us = static_cast<double>(dice.roll(0, 100));
      options.peer = peer;
      options.open = open;
      devices.push_back(make_fake_device(static_cast<int>(p), options));
      streams.emplace_back(*devices.back());
    }
  }
  Device& device(std::size_t part) { return *streams[part].device; }

  Threads threads;
  std::vector<std::unique_ptr<Device>> devices;
  std::vector<PartRows> rows;
  std::vector<IndexMap> maps;
  std::vector<PartStreams> streams;
  Plan plan;
};

/// What a test puts into row `row` of component c in round `round`: a whole number that float holds, too.
template <class T>
T value_of(Gid row, int component, int round) {
  const std::uint64_t bits =
      random_bits(static_cast<std::uint64_t>(16 * round + component), static_cast<std::uint64_t>(row));
  return static_cast<T>(bits % (1u << 20));
}

/// A field of one part whose components lie further apart than they must; what lies between must stay as it is.
template <class T>
class PaddedField {
 public:
  static constexpr T untouched = T(-12345);

  PaddedField(PartStreams& streams, const IndexMap& map, int components, Lid padding)
      : streams_(&streams),
        local_(map.local()),
        stride_(map.local() + padding),
        components_(components),
        buffer_(*streams.device, static_cast<Size>(stride_) * components, "field") {}

  FieldView<T> view() { return {buffer_.data(), stride_, components_}; }
  T* data() { return buffer_.data(); }
  Lid stride() const { return stride_; }

  /// Owned rows from value(global, component), ghosts NaN, the rest `untouched`.
  template <class Value>
  void fill(const IndexMap& map, const Value& value) {
    std::vector<T> all(static_cast<std::size_t>(stride_) * static_cast<std::size_t>(components_), untouched);
    for (int c = 0; c < components_; ++c)
      for (Lid i = 0; i < local_; ++i)
        all[at(c, i)] = i < map.owned ? value(map.global[i], c) : std::numeric_limits<T>::quiet_NaN();
    upload(*streams_->compute, buffer_, std::span<const T>(all));
  }
  /// Expects value(global, component) in every owned row and, with `ghosts`, in every ghost; nothing in between.
  template <class Value>
  void expect(const IndexMap& map, const Value& value, bool ghosts = true) {
    std::vector<T> all(buffer_.size());
    download(*streams_->compute, std::span<T>(all), buffer_);
    int wrong = 0;
    for (int c = 0; c < components_; ++c)
      for (Lid i = 0; i < stride_; ++i) {
        const T found = all[at(c, i)];
        if (i < local_ && i >= map.owned && !ghosts) continue;
        const T expected = i < local_ ? value(map.global[i], c) : untouched;
        if (found != expected && wrong++ < 3)
          ADD_FAILURE() << "part " << map.part << " on " << streams_->device->name() << ", component " << c
                        << ", local row " << i
                        << (i >= local_      ? " (padding)"
                            : i >= map.owned ? " (ghost)"
                                             : " (own)")
                        << ": " << found << " instead of " << expected;
      }
    EXPECT_EQ(wrong, 0) << "wrong values in all";
  }

 private:
  std::size_t at(int component, Lid row) const {
    return static_cast<std::size_t>(component) * static_cast<std::size_t>(stride_) + static_cast<std::size_t>(row);
  }
  PartStreams* streams_;
  Lid local_, stride_;
  int components_;
  Buffer<T> buffer_;
};

/// One padded field a part of this rank.
template <class T>
std::vector<PaddedField<T>> make_fields(RankParts& rank, int components, Lid padding) {
  std::vector<PaddedField<T>> fields;
  for (std::size_t p = 0; p < rank.maps.size(); ++p)
    fields.emplace_back(rank.streams[p], rank.maps[p], components, padding);
  return fields;
}
template <class T>
std::vector<FieldView<T>> views_of(std::vector<PaddedField<T>>& fields) {
  std::vector<FieldView<T>> views;
  for (auto& field : fields) views.push_back(field.view());
  return views;
}

}  // namespace tutti::test
