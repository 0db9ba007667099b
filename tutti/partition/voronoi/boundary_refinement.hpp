// Refinement of the boundaries between parts: which kernels run, and when it ends. `Where` is the host or a device:
// each(count, kernel), counts(), get(to, from), put(to, from). Inside this room only.
#pragma once

#include <algorithm>
#include <cmath>
#include <span>
#include <vector>

#include "tutti/device/carver.hpp"
#include "tutti/partition/symmetric_graph.hpp"
#include "tutti/partition/voronoi/refinement_kernels.hpp"

namespace tutti::voronoi {

/// Sweeps in which rows may go either way without loss, which takes the steps out of boundaries. Measured on nodes of
/// Kuhn's tetrahedra, 16 parts: the cut over that of METIS is 1.015 after 16, .991 after 32, .974 after 64.
inline constexpr int free_sweeps = 32;
/// Then rows go only where they gain: at most so many sweeps, until few do.
inline constexpr int strict_sweeps = 12;

/// `Where` in memory of the host, but for its each().
struct HostMemory {
  const RefinementCounts* found = nullptr;
  RefinementCounts counts() const { return *found; }
  template <class T>
  void get(std::span<T> to, const T* from) const {
    std::copy_n(from, to.size(), to.data());
  }
  template <class T>
  void put(T* to, std::span<const T> from) const {
    std::copy(from.begin(), from.end(), to);
  }
};

/// All arrays but the graph and the rows' parts.
inline void lay_out(Carver& carver, RefinementArrays& s) {
  s.proposal = carver.take<Proposal>(s.rows);
  s.is_listed = carver.take<std::int32_t>(s.rows);
  s.list = carver.take<std::int32_t>(s.rows);
  s.grade = carver.take<std::int8_t>(s.rows);
  for (std::int32_t** a : {&s.size, &s.fewest, &s.most, &s.coming_below, &s.going_below})
    *a = carver.take<std::int32_t>(s.parts);
  for (std::int32_t** a : {&s.coming, &s.going}) *a = carver.take<std::int32_t>(static_cast<Size>(s.parts) * grades);
  s.parent = carver.take<std::int32_t>(s.rows);
  s.piece_size = carver.take<std::int32_t>(s.rows);
  s.largest = carver.take<std::uint64_t>(s.parts);
  s.strays = carver.take<std::uint64_t>(s.rows);
  s.counts = carver.take<RefinementCounts>(1);
}

/// Gives pieces, one after the other, to the part that most of their neighbours are in. `strays`: as ListStrays has
/// them. A piece of its own in the graph has no part around it and stays. False: all stay.
inline bool give_pieces(const SymmetricGraph& graph, std::vector<std::uint64_t>& strays, std::span<std::int32_t> part,
                        std::span<std::int32_t> size) {
  std::sort(strays.begin(), strays.end());
  const auto row_of = [](std::uint64_t stray) { return static_cast<std::int32_t>(stray & 0xffffffffu); };
  std::vector<std::int32_t> ties(size.size(), 0);
  bool given = false;
  for (std::size_t begin = 0, end = 0; begin < strays.size(); begin = end) {
    while (end < strays.size() && strays[end] >> 32 == strays[begin] >> 32) ++end;
    const std::span piece(strays.data() + begin, end - begin);
    const std::int32_t mine = part[static_cast<std::size_t>(row_of(piece[0]))];
    std::int32_t best = mine;
    for (const std::uint64_t stray : piece)
      for (const std::int32_t j : graph.row(row_of(stray))) {
        const std::int32_t p = part[static_cast<std::size_t>(j)];
        if (p == mine) continue;
        const auto at = static_cast<std::size_t>(p);
        if (++ties[at] > (best == mine ? 0 : ties[static_cast<std::size_t>(best)])) best = p;
      }
    for (const std::uint64_t stray : piece)
      for (const std::int32_t j : graph.row(row_of(stray)))
        ties[static_cast<std::size_t>(part[static_cast<std::size_t>(j)])] = 0;
    if (best == mine) continue;
    given = true;
    for (const std::uint64_t stray : piece) part[static_cast<std::size_t>(row_of(stray))] = best;
    size[static_cast<std::size_t>(mine)] -= static_cast<std::int32_t>(piece.size());
    size[static_cast<std::size_t>(best)] += static_cast<std::int32_t>(piece.size());
  }
  return given;
}

template <class Where>
class BoundaryRefinement {
 public:
  BoundaryRefinement(Where& where, const RefinementArrays& arrays, const SymmetricGraph& graph)
      : where_(where), s_(arrays), graph_(graph) {}

  /// `size`: rows of every part. Returns those afterwards.
  std::vector<std::int32_t> run(std::span<const std::int32_t> quotas, double imbalance,
                                std::span<const std::int32_t> size) {
    std::vector<std::int32_t> fewest, most;
    for (const std::int32_t quota : quotas) {
      const auto slack = static_cast<std::int32_t>(std::floor(imbalance * quota));
      fewest.push_back(std::max(1, quota - slack));
      most.push_back(quota + slack);
    }
    where_.put(s_.fewest, std::span<const std::int32_t>(fewest));
    where_.put(s_.most, std::span<const std::int32_t>(most));
    where_.put(s_.size, size);
    sweep(free_sweeps, 0, 0);
    sweep(strict_sweeps, 1, s_.rows / 20000);
    if (reconnect()) {
      sweep(strict_sweeps, 1, s_.rows / 20000);
      reconnect();
    }
    std::vector<std::int32_t> sizes(quotas.size());
    where_.get(std::span(sizes), s_.size);
    return sizes;
  }

 private:
  void list_boundary() {
    where_.each(s_.parts, ClearParts{s_});
    where_.each(s_.rows, ListBoundary{s_});
    listed_ = where_.counts().listed;
    is_listed_ = true;
  }

  /// Until so few rows move in a sweep.
  void sweep(int most, std::int32_t least_gain, std::int32_t few) {
    if (!is_listed_) list_boundary();
    for (int k = 0; k < most; ++k) {
      const std::uint64_t chance = mix64(static_cast<std::uint64_t>(++sweeps_));
      where_.each(listed_, Propose{s_, least_gain, chance});
      where_.each(listed_, WeighProposal{s_, least_gain, chance});
      where_.each(s_.parts, LimitMoves{s_});
      where_.each(listed_, Move{s_});
      const RefinementCounts counts = where_.counts();
      listed_ = counts.listed;
      if (counts.moved <= few) break;
    }
  }

  /// All but the largest piece of every part go to the parts around them. False: there are none, or they stay.
  bool reconnect() {
    where_.each(s_.parts, ClearParts{s_});
    where_.each(s_.rows, FirstParent{s_});
    where_.each(s_.rows, ShortenWay{s_});
    where_.each(s_.rows, JoinPieces{s_});
    where_.each(s_.rows, Flatten{s_});
    where_.each((s_.rows + run_rows - 1) / run_rows, CountPieces{s_});
    where_.each(s_.rows, FindLargest{s_});
    where_.each(s_.rows, ListStrays{s_});
    is_listed_ = false;
    std::vector<std::uint64_t> strays(static_cast<std::size_t>(where_.counts().strays));
    if (strays.empty()) return false;
    std::vector<std::int32_t> part(static_cast<std::size_t>(s_.rows)), size(static_cast<std::size_t>(s_.parts));
    where_.get(std::span(strays), s_.strays);
    where_.get(std::span(part), s_.part);
    where_.get(std::span(size), s_.size);
    if (!give_pieces(graph_, strays, part, size)) return false;
    where_.put(s_.part, std::span<const std::int32_t>(part));
    where_.put(s_.size, std::span<const std::int32_t>(size));
    return true;
  }

  Where& where_;
  RefinementArrays s_;
  const SymmetricGraph& graph_;
  std::int32_t listed_ = 0;
  bool is_listed_ = false;
  int sweeps_ = 0;
};

}  // namespace tutti::voronoi
