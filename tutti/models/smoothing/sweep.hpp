// Moving the nodes of some rows, once. What a GPU, a fake one and a CPU do with a part of a mesh.
#pragma once

#include "tutti/device/device.hpp"
#include "tutti/device/sums/sum_and_largest.hpp"
#include "tutti/models/smoothing/node_step.hpp"
#include "tutti/models/smoothing/star.hpp"

namespace tutti::smoothing {

/// The stars of a part's nodes, and how those of its boundary may move. Device pointers.
struct StarView {
  const Size* offsets = nullptr;  ///< one more than nodes: where the cells of each begin
  const StarCell* cells = nullptr;
  const Lid* slide_of = nullptr;  ///< a node: -1 free, else its slide; null: all are free
  const Slide* slides = nullptr;
  Surface surface;
  /// For groups of threads: every node's neighbours, once each, and its cells by their places among them, ten bits a
  /// corner. Null: there are none.
  const Size* neighbour_offsets = nullptr;
  const Lid* neighbours = nullptr;
  const std::uint32_t* corners = nullptr;
  /// Of triangles, for a thread per node: the ends of the edges from it, in turn, the first one again where the ring is
  /// closed: triangle k lies between the ends k and k + 1. Those of `ring_slice` nodes stand in turn, end for end,
  /// filled up with no_lid; a node whose triangles are no ring begins with no_ring. Null: there are none.
  const Size* ring_begins = nullptr;
  const Lid* rings = nullptr;
  static constexpr int ring_slice = 32;
  static constexpr Lid no_ring = no_lid - 1;

  TUTTI_HD const Slide* slide(Size node) const {
    return slide_of == nullptr || slide_of[node] < 0 ? nullptr : slides + slide_of[node];
  }
};

/// Nodes that may move at the same time: row r of a sweep is row first_row + r of the points and node first_star + r of
/// the stars.
struct SweepRows {
  StarView stars;
  Size first_star = 0;
  Size first_row = 0;
  const Point* from = nullptr;
  Point* to = nullptr;  ///< may be `from`, if no row of the sweep is in the star of another
  StepOptions options;
  Energy energy = Energy::shape;
  bool untangle = false;
  Plane plane = {};  ///< of plane triangles
  /// Derivatives and search in float, of differences in double; see takes_float().
  bool in_float = false;
};

/// Untangling and the other energies are in double always: their numbers say nothing of how far V is from 0.
constexpr bool takes_float(Energy energy, bool untangle) {
  return !untangle && (energy == Energy::shape || energy == Energy::plane_triangle);
}

/// Moves every row of the range: derivatives, direction, search, in one pass. Vectors on a CPU, and on a GPU kernels
/// made for it where the stars have what these need; the same bits.
void sweep_rows(Stream& stream, Range rows, const SweepRows& sweep);
/// The portable form everywhere.
void sweep_rows_plain(Stream& stream, Range rows, const SweepRows& sweep);
/// Rows [begin, end) on this thread, by vectors. Not of triangles in space.
void sweep_rows_lanes(const SweepRows& sweep, Lid begin, Lid end);

/// Of simultaneous moves: bad[first_star + r] = 1 where a cell of row r has V_to <= 0.1 V_from, else 0.
void mark_bad_rows(Stream& stream, Range rows, const SweepRows& sweep, std::uint8_t* bad);
/// Takes half of the move back where bad, or everywhere if bad is null; all of it with `back`.
void halve_moves(Stream& stream, Range rows, const SweepRows& sweep, const std::uint8_t* bad, bool back);
/// Is any bad?
bool any_bad(Stream& stream, Range rows, const SweepRows& sweep, const std::uint8_t* bad);

/// Four rows of points a cell.
struct CellRows {
  Lid v[4];
};

/// What is known of the cells of a part. Device pointers.
struct CellView {
  const CellRows* cells = nullptr;
  const Point* points = nullptr;
  Energy energy = Energy::shape;  ///< tells tetrahedra from triangles
  Plane plane = {};               ///< of plane triangles
};
/// The energy of all cells, V_eps for V with eps2 > 0, and the largest shape energy; infinity where a cell is inverted.
/// (largest)^(-2/3) is the smallest mean ratio; of triangles 1 / largest.
Pending<SumAndLargest> start_energies(Stream& stream, Range cells, const CellView& view, double eps2);
/// How many have no positive volume, or area.
ExactSum count_inverted(Stream& stream, Range cells, const CellView& view);
/// The largest of -6 V; -2 A of triangles.
double largest_negative_volume(Stream& stream, Range cells, const CellView& view);
/// The sum of |6 V|, |2 A|.
ExactSum total_volume6(Stream& stream, Range cells, const CellView& view);
/// The largest |a - b|^2 of rows.
double largest_move2(Stream& stream, Range rows, const Point* a, const Point* b);

}  // namespace tutti::smoothing
