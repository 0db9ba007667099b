// How the direct solver cuts the grid: into whole planes, and, unless elimination passes through these, whole columns.
#pragma once

#include <span>
#include <vector>

#include "tutti/models/incompressible/flow_case.hpp"
#include "tutti/models/incompressible/pressure/direct/line_operator.hpp"
#include "tutti/partition/cell_box.hpp"

namespace tutti::incompressible {

/// The directions of the transforms, first the one whose values lie side by side in the solver's own arrays, and that
/// of the elimination: x, y; z. Where that spares a product of matrices, as lines along x or y have no fast transform
/// and all others have one, these are eliminated; y, too, where the grid is one cell thick in z.
std::array<int, 3> direct_order(const FlowCase& flow);
/// Parts are best cut in this order: slabs across the direction of the elimination are whole planes of the transforms.
std::array<int, 3> cut_order(const FlowCase& flow);

/// Elimination that passes through the planes of all parts, up and down again, some columns at a time. While a part is
/// busy with some the next one has those before: in wave w part k eliminates piece w - k, and the pieces come back
/// after the last part. That part does both at once.
struct ColumnWaves {
  int parts = 1, place = -1;  ///< this part's, -1: it has no planes
  int pieces = 1;
  Lid cuts = 0, each = 0;  ///< columns: so many times `each`

  int waves() const { return pieces + 2 * (parts - 1); }
  bool is_last() const { return place == parts - 1; }
  int piece_up(int wave) const { return wave - place; }
  int piece_down(int wave) const { return wave - 2 * (parts - 1) + place; }
  bool exists(int piece) const { return place >= 0 && piece >= 0 && piece < pieces; }
  Range cuts_of(int piece) const {
    const auto at = [&](int n) { return static_cast<Lid>(Size{cuts} * n / pieces); };
    return exists(piece) ? Range{at(piece), at(piece + 1)} : Range{};
  }
  /// Numbers of a piece's columns.
  Range columns_of(int piece) const {
    const Range cut = cuts_of(piece);
    return {cut.begin * each, cut.end * each};
  }
  /// Columns of the largest piece.
  Lid room() const { return (cuts / pieces + 1) * each; }
  /// Units of work of a wave: columns up, and behind room for them columns down.
  Lid units() const { return 2 * room(); }
  Size all_units() const { return Size{2} * (cuts / pieces + 1) * each * waves(); }
  ColumnWaves at(int other_place) const {
    ColumnWaves other = *this;
    other.place = other_place;
    return other;
  }
};

struct DirectLayout {
  std::array<int, 3> order{0, 1, 2};     ///< direct_order
  std::vector<CellBox> planes, columns;  ///< of all parts; where elimination passes through planes, columns are these
  bool aligned = false;                  ///< the parts of the flow are whole planes already
  int parts = 1;                         ///< that have cells
  bool passes = false;                   ///< elimination passes through the parts' planes, nothing travels to columns
  int axis() const { return order[2]; }  ///< of the elimination
  int column_cut = 1;                    ///< direction in which columns are dealt out
  int pieces = 1;                        ///< of planes and columns on their way, or of columns that pass through
  /// Of part `part`, where elimination passes.
  ColumnWaves waves(std::size_t part) const;
  /// What part `part` wants of its neighbours behind wave `wave`: rows of columns below and above its planes.
  std::vector<CellBox> wanted_behind(int wave, std::size_t part) const;
  /// Planes of a field have another order of cells than the solver's.
  bool turns() const { return order != std::array{0, 1, 2}; }
  /// The n-th piece, of all parts.
  std::vector<CellBox> planes_of(int n) const { return piece_of(planes, axis(), n); }
  std::vector<CellBox> columns_of(int n) const { return piece_of(columns, column_cut, n); }
  std::vector<CellBox> piece_of(std::vector<CellBox> boxes, int d, int n) const;
  /// The solver's own arrays have the directions in its order.
  CellBox turned(CellBox box) const;
  std::vector<CellBox> turned(std::vector<CellBox> boxes) const;
};

/// What each of `boxes` has without the one of `others` with its number, in boxes that do not overlap.
std::vector<std::vector<CellBox>> boxes_without(const std::vector<CellBox>& boxes, const std::vector<CellBox>& others);

/// `boxes` and `weights`: of all parts of the flow. Parts get planes and columns by weight, the first ones where there
/// are fewer than parts.
DirectLayout direct_layout(const FlowCase& flow, std::span<const CellBox> boxes, const std::vector<double>& weights);

/// What the transforms of a solution compute of a cell, there and back, a multiply-add counted as two: of a line with a
/// fast transform as fast_work says, else n multiply-adds of n cells; half of them where both ends are alike.
double transform_flops_a_cell(const FlowCase& flow);

/// The line along direction d, with what holds for the pressure at its ends.
Line pressure_line(const FlowCase& flow, const GridLine& grid, int d);

}  // namespace tutti::incompressible
