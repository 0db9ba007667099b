#include "tutti/models/graph/parts/message_kernels.hpp"

#include <algorithm>
#include <bit>

#include "tutti/device/atomics.hpp"
#include "tutti/device/for_each.hpp"

namespace tutti::graph {
namespace {

constexpr Lid block = 64;                ///< rows that take their places together
constexpr Lid most_rows = Lid{1} << 25;  ///< of a launch of an index a pair of lanes

bool has_first(Lanes lanes, int pair) {
  return (lanes >> pair & 1) != 0;
}
bool has_second(Lanes lanes, int pair) {
  return (lanes >> (pair + 32) & 1) != 0;
}
void take(LanePair& to, const LanePair& from, Lanes lanes, int pair) {
  if (has_first(lanes, pair)) to.first = from.first;
  if (has_second(lanes, pair)) to.second = from.second;
}
/// Which of an entry's numbers is that of a bit.
Size place_of(const LevelEntry& entry, int bit) {
  return static_cast<Size>(entry.first) + std::popcount(entry.lanes & ((Lanes{1} << bit) - 1));
}

/// body(first row, range of pairs).
template <class Body>
void for_pairs(Size count, const Body& body) {
  for (Size first = 0; first < count; first += most_rows)
    body(first, Range{0, static_cast<Lid>(std::min<Size>(most_rows, count - first) * lane_pairs)});
}

/// The rows of block b: entries and numbers.
struct Count {
  std::int64_t entries = 0, numbers = 0;
  Count(const SentRows& sent, Lid b) {
    for (Lid i = b * block; i < end(sent, b); ++i) {
      entries += sent.lanes(i) != 0 ? 1 : 0;
      numbers += std::popcount(sent.lanes(i));
    }
  }
  static Lid end(const SentRows& sent, Lid b) { return sent.count - b * block < block ? sent.count : (b + 1) * block; }
};
Range blocks_of(const SentRows& sent) {
  return {0, (sent.count + block - 1) / block};
}

#if defined(TUTTI_HAVE_CUDA)
bool on_gpu(const Stream& stream) {
  return stream.kind() == DeviceKind::cuda;
}
#endif

}  // namespace

void store_level(Stream& stream, const SentRows& sent, const LanePair* from, Lanes* masks, LanePair* numbers) {
  const auto rows = static_cast<std::size_t>(sent.count);
  const auto mask = [sent, masks](Lid i) {
    if (sent.lanes(i) != 0) masks[i] = sent.lanes(i);
  };
  for_each_reaching(stream, {0, sent.count}, mask, masks, rows * sizeof(Lanes));
  for_pairs(sent.count, [&](Size first, Range range) {
    const auto store = [=](Lid j) {
      const auto i = static_cast<Lid>(first + j / lane_pairs);
      take(numbers[static_cast<Size>(i) * lane_pairs + j % lane_pairs],
           from[static_cast<Size>(sent.rows[i]) * lane_pairs + j % lane_pairs], sent.lanes(i), j % lane_pairs);
    };
    for_each_reaching(stream, range, store, numbers, rows * lane_pairs * sizeof(LanePair));
  });
}

void count_level(Stream& stream, const SentRows& sent, std::int64_t* sums) {
#if defined(TUTTI_HAVE_CUDA)
  if (on_gpu(stream)) return gpu::count_level(stream, sent, sums);
#endif
  for_each(stream, blocks_of(sent), [=](Lid b) {
    const Count count(sent, b);
    add_atomic(sums[0], count.entries);
    add_atomic(sums[1], count.numbers);
  });
}

void list_level(Stream& stream, const SentRows& sent, std::int64_t* sums, LevelEntry* entries) {
#if defined(TUTTI_HAVE_CUDA)
  if (on_gpu(stream)) return gpu::list_level(stream, sent, sums, entries);
#endif
  for_each(stream, blocks_of(sent), [=](Lid b) {
    const Count count(sent, b);
    LevelEntry* next = entries + add_atomic(sums[0], count.entries);
    auto first = static_cast<std::uint32_t>(add_atomic(sums[1], count.numbers));
    for (Lid i = b * block; i < Count::end(sent, b); ++i) {
      const Lanes lanes = sent.lanes(i);
      if (lanes == 0) continue;
      *next++ = {lanes, i, first};
      first += static_cast<std::uint32_t>(std::popcount(lanes));
    }
  });
}

void gather_numbers(Stream& stream, const LevelEntry* entries, Size count, const Lid* rows, const LanePair* from,
                    double* numbers) {
#if defined(TUTTI_HAVE_CUDA)
  if (on_gpu(stream)) return gpu::gather_numbers(stream, entries, count, rows, from, numbers);
#endif
  for_pairs(count, [&](Size first, Range range) {
    for_each(stream, range, [=](Lid j) {
      const LevelEntry& entry = entries[first + j / lane_pairs];
      const int pair = j % lane_pairs;
      const LanePair& mine = from[static_cast<Size>(rows[entry.place]) * lane_pairs + pair];
      if (has_first(entry.lanes, pair)) numbers[place_of(entry, pair)] = mine.first;
      if (has_second(entry.lanes, pair)) numbers[place_of(entry, pair + 32)] = mine.second;
    });
  });
}

void put_entries(Stream& stream, const LevelEntry* entries, Size count, const double* from, Lanes* masks,
                 LanePair* numbers) {
#if defined(TUTTI_HAVE_CUDA)
  if (on_gpu(stream)) return gpu::put_entries(stream, entries, count, from, masks, numbers);
#endif
  for_pairs(count, [&](Size first, Range range) {
    for_each(stream, range, [=](Lid j) {
      const LevelEntry& entry = entries[first + j / lane_pairs];
      const int pair = j % lane_pairs;
      if (pair == 0) masks[entry.place] = entry.lanes;
      LanePair& ghost = numbers[static_cast<Size>(entry.place) * lane_pairs + pair];
      if (has_first(entry.lanes, pair)) ghost.first = from[place_of(entry, pair)];
      if (has_second(entry.lanes, pair)) ghost.second = from[place_of(entry, pair + 32)];
    });
  });
}

}  // namespace tutti::graph
