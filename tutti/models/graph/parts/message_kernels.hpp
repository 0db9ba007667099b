// Loops over what parts tell each other of a level: portable ones, and for GPUs a warp for 32 rows.
#pragma once

#include "tutti/device/device.hpp"
#include "tutti/models/graph/betweenness/lane_batch.hpp"

namespace tutti::graph {

/// Two neighbours of the list of sources: pair k of a vertex has the lanes of bits k and k + 32.
struct alignas(16) LanePair {
  double first, second;
};
inline constexpr int lane_pairs = most_lanes / 2;

/// The rows of a link, in its order: which they are, and when the other part reads them.
struct SentRows {
  const Lid* rows;
  const std::uint8_t* readers;
  const Lanes* level;
  std::uint8_t way;  ///< bit 0: out, bit 1: back
  Lid count;
  TUTTI_HD Lanes lanes(Lid i) const { return (readers[i] & way) != 0 ? level[rows[i]] : Lanes{0}; }
};

/// A vertex of a packed message.
struct LevelEntry {
  Lanes lanes;
  Lid place;            ///< among the rows of the link
  std::uint32_t first;  ///< of its numbers, in order of their bits
};

/// Stores masks and numbers of the rows into the ghosts of another device, [row of the link] and [row][32]. Not for
/// GPUs, whose kernels do it themselves (LevelKernels).
void store_level(Stream& stream, const SentRows& sent, const LanePair* from, Lanes* masks, LanePair* numbers);
/// Adds to sums[0] the vertices that are sent, to sums[1] their numbers.
void count_level(Stream& stream, const SentRows& sent, std::int64_t* sums);
/// The same, and writes the entries, in any order.
void list_level(Stream& stream, const SentRows& sent, std::int64_t* sums, LevelEntry* entries);
/// The numbers of all entries, from the values [local][32] of their rows.
void gather_numbers(Stream& stream, const LevelEntry* entries, Size count, const Lid* rows, const LanePair* from,
                    double* numbers);
/// Entries to the ghosts of a link: masks [ghost], numbers [ghost][32].
void put_entries(Stream& stream, const LevelEntry* entries, Size count, const double* from, Lanes* masks,
                 LanePair* numbers);

#if defined(TUTTI_HAVE_CUDA)
namespace gpu {
// The same, on GPUs.
void count_level(Stream& stream, const SentRows& sent, std::int64_t* sums);
void list_level(Stream& stream, const SentRows& sent, std::int64_t* sums, LevelEntry* entries);
void gather_numbers(Stream& stream, const LevelEntry* entries, Size count, const Lid* rows, const LanePair* from,
                    double* numbers);
void put_entries(Stream& stream, const LevelEntry* entries, Size count, const double* from, Lanes* masks,
                 LanePair* numbers);
}  // namespace gpu
#endif

}  // namespace tutti::graph
