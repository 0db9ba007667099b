// Up to 64 sources at once on one CPU thread: for graphs of few levels.
#pragma once

#include <span>

#include "tutti/models/graph/betweenness/delta_sum.hpp"
#include "tutti/models/graph/betweenness/ordered_graph.hpp"

namespace tutti::graph {

/// A bit for each source of a batch.
using Lanes = std::uint64_t;
inline constexpr int most_lanes = 64;

/// What a batch sweeps over: a graph, or a part of one, whose vertices [0, owned) have rows, and whose vertices [owned,
/// local) are ghosts, which others sweep.
struct LaneRows {
  const Csr<Vertex>& out;
  const Csr<Vertex>& in;
  Vertex owned, local;
  const Csr<Vertex>* from_ghosts = nullptr;  ///< of each ghost the owned vertices that its arcs lead to
  explicit LaneRows(const Graph& graph)
      : out(graph.out), in(graph.incoming()), owned(graph.vertices), local(graph.vertices) {}
  LaneRows(const Csr<Vertex>& o, const Csr<Vertex>& i, Vertex vertices, const Csr<Vertex>& ghosts)
      : out(o), in(i), owned(vertices), local(vertices + ghosts.rows()), from_ghosts(&ghosts) {}
};

/// The work arrays of one thread.
class LaneBatch {
 public:
  struct Entry {
    Vertex vertex;
    Lanes lanes;
  };

  /// `width`: sources at a time, a multiple of 8, 64 at most. What `rows` refers to outlives it.
  LaneBatch(const LaneRows& rows, int width);
  /// Bytes that a thread takes: what never grows, and what the levels of a common graph take.
  static Size bytes(Vertex local, int width);

  /// Adds the dependencies of sources.size() <= width sources to `sums`. False when path counts exceed 2^1000: then
  /// nothing was added. `reached`: arcs that begin at vertices reached, summed over the sources, are added to it.
  bool add(std::span<const Vertex> sources, std::span<DeltaSum> sums, Size& reached);

  // The same in steps, between which the owners of ghosts tell what became of these.

  /// Of each lane its source; no_lid: it is not here.
  void begin(std::span<const Vertex> sources);
  /// Vertices that depth + 1 reaches first, and their numbers of paths. True: there are some.
  bool step_out(std::size_t depth);
  bool too_many_paths() const { return too_many_paths_; }
  /// Puts (1 + delta) / sigma in the place of sigma of all vertices of a depth.
  void step_back(std::size_t depth, std::span<DeltaSum> sums);
  /// The vertices of a depth that were found, and their numbers: [lane].
  std::span<const Entry> level(std::size_t depth) const { return levels_[depth]; }
  const double* values(Vertex v) const { return values_.data() + place(v); }
  /// Before the next step a ghost is of the present level: `numbers` of its lanes, one after the other.
  void put_ghost(Entry ghost, const double* numbers);
  Size count_reached() const;

 private:
  struct Sum;
  void push(std::span<const Entry> level, const Csr<Vertex>& rows, Vertex first);
  void note_lines(const Csr<Vertex>& rows, Entry row);
  template <class Take, class Finish>
  void sum_rows(const Csr<Vertex>& rows, const Take& take, const Finish& finish);
  template <class Take>
  void pull_paths(const Take& take, std::vector<Entry>& next);
  void finish_back(const Entry& e, bool any, const Sum& below, std::span<DeltaSum> sums);
  void leave_frontier(std::span<const Entry> level);
  std::size_t place(Vertex v) const { return static_cast<std::size_t>(v) * static_cast<std::size_t>(width_); }
  double* row(Vertex v) { return values_.data() + place(v); }

  LaneRows rows_;
  int width_;
  Lanes all_ = 0;
  /// [vertex * width + lane]: the number of shortest paths, on the way back (1 + delta) / sigma. Lanes that have not
  /// reached the vertex hold anything.
  RawVector<double> values_;
  std::vector<Lanes> reached_, frontier_, found_;
  std::vector<Vertex> touched_;
  std::vector<std::vector<Entry>> levels_;
  std::vector<Entry> ghosts_;  ///< of the present level
  /// Sums that are to be made: the row and its lanes, those found, and how many of the pieces are done then.
  struct Waiting {
    Entry wanted;
    Lanes found;
    std::size_t pieces_end;
  };
  std::vector<Waiting> waiting_;
  std::vector<std::size_t> piece_ends_;  ///< among the lines
  RawVector<std::uint64_t> lines_;       ///< of eight lanes each, see line_of
  bool too_many_paths_ = false;
};

}  // namespace tutti::graph
