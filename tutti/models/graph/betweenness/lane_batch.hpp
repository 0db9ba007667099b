// Up to 64 sources at once on one CPU thread: for graphs of few levels.
#pragma once

#include <span>

#include "tutti/models/graph/betweenness/delta_sum.hpp"
#include "tutti/models/graph/betweenness/ordered_graph.hpp"

namespace tutti::graph {

/// A bit for each source of a batch.
using Lanes = std::uint64_t;
inline constexpr int most_lanes = 64;

/// The work arrays of one thread.
class LaneBatch {
 public:
  /// `width`: sources at a time, a multiple of 8, 64 at most.
  LaneBatch(const Graph& graph, int width);
  /// Bytes that a thread takes: what never grows, and what the levels of a common graph take.
  static Size bytes(const Graph& graph, int width);

  /// Adds the dependencies of sources.size() <= width sources to `sums`. False when path counts exceed 1e300: then
  /// nothing was added. `reached`: arcs that begin at vertices reached, summed over the sources, are added to it.
  bool add(std::span<const Vertex> sources, std::span<DeltaSum> sums, Size& reached);

 private:
  struct Entry {
    Vertex vertex;
    Lanes lanes;
  };
  struct Sum;
  bool sweep_out(std::span<const Vertex> sources);
  void sweep_back(std::span<DeltaSum> sums);
  void push(const std::vector<Entry>& level);
  void note_lines(const Csr<Vertex>& rows, Entry row);
  template <class Take, class Finish>
  void sum_rows(const Csr<Vertex>& rows, const Take& take, const Finish& finish);
  template <class Take>
  void pull_paths(const Take& take, std::vector<Entry>& next);
  void finish_back(const Entry& e, bool any, const Sum& below, std::span<DeltaSum> sums);
  double* row(Vertex v) { return values_.data() + static_cast<std::size_t>(v) * static_cast<std::size_t>(width_); }

  const Graph& graph_;
  int width_;
  /// [vertex * width + lane]: the number of shortest paths, on the way back (1 + delta) / sigma. Lanes that have not
  /// reached the vertex hold anything.
  RawVector<double> values_;
  std::vector<Lanes> reached_, frontier_, found_;
  std::vector<Vertex> touched_;
  std::vector<std::vector<Entry>> levels_;
  /// Rows that are to be added: what is asked for, what of it there is, and how many of the pieces are done then.
  struct Row {
    Entry wanted;
    Lanes found;
    std::size_t pieces_end;
  };
  std::vector<Row> rows_;
  std::vector<std::size_t> piece_ends_;  ///< among the lines
  RawVector<std::uint64_t> lines_;       ///< of eight lanes each, see line_of
  std::size_t level_count_ = 0;
  bool too_many_paths_ = false;
};

}  // namespace tutti::graph
