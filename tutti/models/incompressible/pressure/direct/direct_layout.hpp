// How the direct solver cuts the grid: into whole planes, and into whole columns.
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

struct DirectLayout {
  std::array<int, 3> order{0, 1, 2};     ///< direct_order
  std::vector<CellBox> planes, columns;  ///< of all parts
  bool aligned = false;                  ///< the parts of the flow are whole planes already
  int axis() const { return order[2]; }  ///< of the elimination
  int column_cut = 1;                    ///< direction in which columns are dealt out
  int pieces = 1;                        ///< in which planes travel to columns, and columns to planes
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
