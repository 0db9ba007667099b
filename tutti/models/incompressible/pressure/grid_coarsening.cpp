#include "tutti/models/incompressible/pressure/grid_coarsening.hpp"

#include <algorithm>
#include <cmath>

namespace tutti::incompressible {
namespace {

/// First cells of the groups, and the number of cells.
std::vector<Lid> merge_pairs(const GridLine& line, double widest, bool from_above) {
  const Lid n = line.cells();
  // From above the line is seen in a mirror.
  const auto width = [&](Lid i) { return line.width(from_above ? n - 1 - i : i); };
  std::vector<Lid> first;
  Lid i = 0;
  while (i < n) {
    first.push_back(i);
    i += i + 1 < n && width(i) + width(i + 1) <= widest ? 2 : 1;
  }
  first.push_back(n);
  if (from_above) {
    std::reverse(first.begin(), first.end());
    for (Lid& f : first) f = n - f;
  }
  return first;
}

GridLine merged(const GridLine& line, const std::vector<Lid>& first) {
  GridLine coarse;
  coarse.periodic = line.periodic;
  for (const Lid f : first) coarse.faces.push_back(line.faces[f]);
  const Lid each = first[1] - first[0];
  const bool alike =
      std::adjacent_find(first.begin(), first.end(), [&](Lid a, Lid b) { return b - a != each; }) == first.end();
  if (alike) coarse.equal_width = each * line.equal_width;
  return coarse;
}

/// Coarse cells whose first fine cells are in `box`; there may be none in some direction.
CellBox cells_begun(const CoarseGrid& coarse, const CellBox& box) {
  CellBox result;
  if (box.empty()) return result;
  for (std::size_t d = 0; d < 3; ++d) {
    const auto& first = coarse.first[d];
    const auto begin = first.begin(), end = first.end() - 1;
    result.lower[d] = static_cast<Lid>(std::lower_bound(begin, end, box.lower[d]) - begin);
    result.upper[d] = static_cast<Lid>(std::lower_bound(begin, end, box.upper[d]) - begin);
  }
  return result;
}

}  // namespace

std::optional<CoarseGrid> coarsen(const BoxGrid& fine, double& width, bool from_above) {
  if (fine.cell_count() == 1) return {};
  CoarseGrid coarse;
  do {
    width *= 2;
    for (std::size_t d = 0; d < 3; ++d) {
      // The bound is meant to hold for equal cells whatever their rounding.
      coarse.first[d] = merge_pairs(fine.lines[d], (1 + 1e-9) * std::sqrt(2.0) * width, from_above);
      coarse.grid.lines[d] = merged(fine.lines[d], coarse.first[d]);
    }
  } while (coarse.grid.cell_count() == fine.cell_count());
  return coarse;
}

CellBox coarse_box(const CoarseGrid& coarse, const CellBox& box) {
  const CellBox result = cells_begun(coarse, box);
  return result.empty() ? CellBox{} : result;
}

CellBox coarse_reach(const CoarseGrid& coarse, const CellBox& box) {
  CellBox result = cells_begun(coarse, box);
  if (box.empty()) return result;
  for (std::size_t d = 0; d < 3; ++d) {
    --result.lower[d];
    ++result.upper[d];
  }
  return result;
}

std::vector<CellBox> difference(const CellBox& all, const CellBox& box) {
  std::vector<CellBox> boxes;
  CellBox rest = all;
  const auto cut_off = [&](std::size_t d, Lid from, Lid to) {
    CellBox layer = rest;
    layer.lower[d] = std::max(rest.lower[d], from);
    layer.upper[d] = std::min(rest.upper[d], to);
    if (!layer.empty()) boxes.push_back(layer);
  };
  for (std::size_t d = 0; d < 3; ++d) {
    cut_off(d, rest.lower[d], box.lower[d]);
    cut_off(d, box.upper[d], rest.upper[d]);
    rest.lower[d] = std::max(rest.lower[d], box.lower[d]);
    rest.upper[d] = std::min(rest.upper[d], box.upper[d]);
  }
  return boxes;
}

LineInterpolation interpolate_line(const GridLine& fine, const GridLine& coarse, const std::vector<Lid>& first,
                                   LineEnd low, LineEnd high) {
  LineInterpolation result;
  const Lid cells = coarse.cells();
  for (Lid c = 0; c < cells; ++c)
    for (Lid i = first[c]; i < first[c + 1]; ++i) {
      const double offset = fine.centre(i) - coarse.centre(c);
      // A cell that was not merged keeps its value.
      const bool single = first[c + 1] - first[c] == 1;
      const bool upwards = offset > 0;
      const Lid neighbour = upwards ? c + 1 : c - 1;
      const bool beyond = !coarse.periodic && (neighbour < 0 || neighbour >= cells);
      double own = 1, other = 0;
      if (!single && !beyond) {
        other = std::abs(offset) / coarse.distance(upwards ? c : c - 1);
        own = 1 - other;
      } else if (!single && (upwards ? high : low) == LineEnd::dirichlet) {
        own = 1 - std::abs(offset) / (0.5 * coarse.width(c));
      }
      result.parent.push_back(c);
      result.neighbour.push_back(neighbour);
      result.parent_weight.push_back(own);
      result.neighbour_weight.push_back(other);
    }
  return result;
}

LineRestriction restrict_line(const GridLine& fine, const GridLine& coarse, const std::vector<Lid>& first,
                              const LineInterpolation& interpolation, bool linear) {
  LineRestriction result;
  const Lid cells = fine.cells();
  const auto inside = [&](Lid i) { return static_cast<std::size_t>(i < 0 ? i + cells : i < cells ? i : i - cells); };
  // Does fine cell i, of another coarse cell, reach for coarse cell c upwards (+1) or downwards (-1)?
  const auto reaches = [&](Lid i, Lid up) {
    if (!linear || ((i < 0 || i >= cells) && !fine.periodic)) return false;
    const std::size_t n = inside(i);
    return interpolation.neighbour[n] - interpolation.parent[n] == up && interpolation.neighbour_weight[n] > 0;
  };
  for (std::size_t c = 0; c + 1 < first.size(); ++c) {
    result.begin.push_back(reaches(first[c] - 1, 1) ? first[c] - 1 : first[c]);
    result.end.push_back(reaches(first[c + 1], -1) ? first[c + 1] + 1 : first[c + 1]);
    result.count = std::max(result.count, static_cast<int>(result.end[c] - result.begin[c]));
  }
  for (Lid n = 0; n < result.count; ++n)
    for (std::size_t c = 0; c + 1 < first.size(); ++c) {
      const Lid i = std::min(result.begin[c] + n, result.end[c] - 1);
      const bool own = i >= first[c] && i < first[c + 1];
      const double share = fine.width(i) / coarse.width(static_cast<Lid>(c));
      const double of_value = !linear ? 1
                              : own   ? interpolation.parent_weight[inside(i)]
                                      : interpolation.neighbour_weight[inside(i)];
      result.cell.push_back(i);
      result.weight.push_back(result.begin[c] + n < result.end[c] ? of_value * share : 0);
    }
  return result;
}

}  // namespace tutti::incompressible
