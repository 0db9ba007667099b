#include "tutti/models/incompressible/pressure/direct/direct_layout.hpp"

#include <algorithm>
#include <limits>

#include "tutti/models/incompressible/pressure/direct/column_modes.hpp"
#include "tutti/partition/split_box.hpp"

namespace tutti::incompressible {
namespace {

/// With a weight above 0 for so many parts at most.
std::vector<double> first_parts(std::vector<double> weights, Lid most) {
  for (double& w : weights)
    if (w > 0 && most-- <= 0) w = 0;
  return weights;
}

}  // namespace

std::vector<CellBox> DirectLayout::piece_of(std::vector<CellBox> boxes, int d, int n) const {
  const auto i = static_cast<std::size_t>(d);
  for (CellBox& box : boxes) {
    const Lid lower = box.lower[i], size = box.size(d);
    const auto cut = [&](int k) { return lower + static_cast<Lid>(Size{size} * k / pieces); };
    box.lower[i] = cut(n);
    box.upper[i] = cut(n + 1);
  }
  return boxes;
}

std::vector<std::vector<CellBox>> boxes_without(const std::vector<CellBox>& boxes, const std::vector<CellBox>& others) {
  std::vector<std::vector<CellBox>> all;
  for (std::size_t b = 0; b < boxes.size(); ++b) {
    std::vector<CellBox>& rest = all.emplace_back();
    CellBox left = boxes[b];
    const CellBox both = intersection(left, others[b]);
    for (std::size_t d = 0; d < 3 && !both.empty(); ++d) {
      CellBox lower = left, upper = left;
      lower.upper[d] = left.lower[d] = both.lower[d];
      upper.lower[d] = left.upper[d] = both.upper[d];
      for (const CellBox& box : {lower, upper})
        if (!box.empty()) rest.push_back(box);
    }
    if (both.empty() && !left.empty()) rest.push_back(left);
  }
  return all;
}

CellBox DirectLayout::turned(CellBox box) const {
  CellBox own;
  for (std::size_t d = 0; d < 3; ++d) {
    own.lower[d] = box.lower[static_cast<std::size_t>(order[d])];
    own.upper[d] = box.upper[static_cast<std::size_t>(order[d])];
  }
  return own;
}

std::vector<CellBox> DirectLayout::turned(std::vector<CellBox> boxes) const {
  for (CellBox& box : boxes) box = turned(box);
  return boxes;
}

std::array<int, 3> direct_order(const FlowCase& flow) {
  const auto cells = flow.grid.cells();
  const auto fast = [&](int d) { return has_fast_transform(pressure_line(flow, flow.grid.lines[d], d)); };
  const auto spared = [&](int d) { return cells[static_cast<std::size_t>(d)] == 1 || fast(d); };
  // Long rows first.
  if (!spared(0) && spared(1) && spared(2)) return cells[1] > 1 ? std::array{1, 2, 0} : std::array{2, 1, 0};
  if (cells[2] == 1 || (cells[1] > 1 && fast(2) && !fast(1))) return {0, 2, 1};
  return {0, 1, 2};
}

std::array<int, 3> cut_order(const FlowCase& flow) {
  return flow.pressure == PressureMethod::direct ? first_cut_along(direct_order(flow)[2]) : z_first;
}

DirectLayout direct_layout(const FlowCase& flow, std::span<const CellBox> boxes, const std::vector<double>& weights) {
  DirectLayout layout;
  const auto cells = flow.grid.cells();
  layout.order = direct_order(flow);
  const auto axis = static_cast<std::size_t>(layout.axis());
  // One cell thick in y and z, too: the line cannot be cut along x.
  const Lid planes = cells[axis] == 1 ? 1 : cells[axis];
  layout.planes = split_box(cells, first_parts(weights, planes), BoxCut::slabs, first_cut_along(layout.axis()));
  auto face = cells;
  face[axis] = 1;
  layout.column_cut = face[static_cast<std::size_t>(layout.order[1])] > 1 ? layout.order[1] : layout.order[0];
  layout.columns =
      split_box(face, first_parts(weights, face[static_cast<std::size_t>(layout.column_cut)]), BoxCut::slabs);
  for (CellBox& box : layout.columns)
    if (!box.empty()) box.upper[axis] = cells[axis];
  layout.aligned = std::equal(boxes.begin(), boxes.end(), layout.planes.begin(), layout.planes.end());
  const bool cycle = flow.grid.lines[axis].periodic && cells[axis] > 1;
  const auto parts = static_cast<int>(std::count_if(boxes.begin(), boxes.end(), [](auto& b) { return !b.empty(); }));
  layout.parts = parts;
  // Of many parts most would wait for the first and the last pieces.
  constexpr int most_parts = 16;
  layout.passes = layout.aligned && !cycle && parts > 1 && parts <= most_parts;
  // A piece should take longer than what it costs to send one.
  const Size share = flow.grid.cell_count() / static_cast<Size>(std::max<std::size_t>(1, boxes.size()));
  const auto pieces = [&](Size cells_of_a_piece, int most) {
    if (parts == 1) return 1;
    return flow.pieces > 0 ? flow.pieces : static_cast<int>(std::clamp<Size>(share / cells_of_a_piece, 1, most));
  };
  if (layout.passes) {
    layout.pieces = pieces(Size{32} << 10, 2 * (parts - 1));  // with more the first part would not wait less
    // Units of work are numbered: more pieces need fewer, and of planes that are too large elimination does not pass.
    const auto fits = [&] { return layout.waves(0).all_units() < std::numeric_limits<Lid>::max(); };
    const int most = layout.waves(0).cuts;
    while (!fits() && layout.pieces < most) layout.pieces = std::min(2 * layout.pieces, most);
    layout.passes = fits();
  }
  if (!layout.passes) layout.pieces = pieces(Size{4} << 20, 3);
  if (layout.passes) layout.columns = layout.planes;
  return layout;
}

ColumnWaves DirectLayout::waves(std::size_t part) const {
  ColumnWaves waves;
  waves.pieces = pieces;
  waves.parts = 0;
  for (std::size_t other = 0; other < planes.size(); ++other) {
    if (planes[other].empty()) continue;
    if (other == part) waves.place = waves.parts;
    ++waves.parts;
    const std::array<Lid, 2> sizes{planes[other].size(order[0]), planes[other].size(order[1])};
    const bool of_rows = column_cut == order[1];
    waves.cuts = of_rows ? sizes[1] : sizes[0];
    waves.each = of_rows ? sizes[0] : sizes[1];
  }
  return waves;
}

std::vector<CellBox> DirectLayout::wanted_behind(int wave, std::size_t part) const {
  std::vector<CellBox> wanted;
  const ColumnWaves own = waves(part);
  if (own.place < 0) return wanted;
  const auto d = static_cast<std::size_t>(axis()), cut = static_cast<std::size_t>(column_cut);
  const auto want = [&](const ColumnWaves& neighbour, int piece, Lid plane) {
    if (neighbour.place < 0 || neighbour.place >= neighbour.parts) return;
    const Range cuts = neighbour.cuts_of(piece);
    if (cuts.empty()) return;
    CellBox box = planes[part];
    box.lower[d] = plane;
    box.upper[d] = plane + 1;
    box.upper[cut] = box.lower[cut] + cuts.end;
    box.lower[cut] += cuts.begin;
    wanted.push_back(box);
  };
  const ColumnWaves below = own.at(own.place - 1), above = own.at(own.place + 1);
  want(below, below.piece_up(wave), planes[part].lower[d] - 1);
  want(above, above.piece_down(wave), planes[part].upper[d]);
  return wanted;
}

Line pressure_line(const FlowCase& flow, const GridLine& grid, int d) {
  Line line;
  for (Lid i = 0; i < grid.cells(); ++i) line.widths.push_back(grid.width(i));
  const auto end = [](VelocityEnd kind) {
    return kind == VelocityEnd::periodic  ? LineEnd::periodic
           : kind == VelocityEnd::outflow ? LineEnd::dirichlet
                                          : LineEnd::neumann;
  };
  line.low = end(flow.ends[2 * static_cast<std::size_t>(d)].velocity);
  line.high = end(flow.ends[2 * static_cast<std::size_t>(d) + 1].velocity);
  return line;
}

double transform_flops_a_cell(const FlowCase& flow) {
  double flops = 0;
  const std::array<int, 3> order = direct_order(flow);
  for (const int d : order) {
    const GridLine& line = flow.grid.lines[d];
    const Line ends = pressure_line(flow, line, d);
    if (line.cells() == 1 || (d == order[2] && !has_column_modes(ends))) continue;
    if (has_fast_transform(ends))
      flops += 4.0 * static_cast<double>(fast_work(line.cells())) / line.cells();
    else
      flops += 4.0 * line.cells() * (is_symmetric(ends) ? 0.5 : 1);
  }
  return flops;
}

}  // namespace tutti::incompressible
