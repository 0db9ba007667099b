#include "tutti/partition/split_box.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "tutti/base/error.hpp"

namespace tutti {
namespace {

/// Ends of groups of planes: near to their shares, at least one plane each.
std::vector<Lid> cut_planes(Lid planes, std::span<const double> shares) {
  const double total = std::accumulate(shares.begin(), shares.end(), 0.0);
  std::vector<Lid> ends;
  double sum = 0;
  Lid last = 0;
  for (std::size_t g = 0; g < shares.size(); ++g) {
    sum += shares[g];
    const auto left = static_cast<Lid>(shares.size() - 1 - g);
    const auto wanted = static_cast<Lid>(std::lround(sum / total * planes));
    last = std::clamp(wanted, last + 1, planes - left);
    ends.push_back(g + 1 == shares.size() ? planes : last);
  }
  return ends;
}

/// Cuts `box` for parts[0, n) in the directions `order` into so many groups each; the parts are dealt out in turn.
void cut(const CellBox& box, std::span<const std::size_t> parts, std::span<const double> weights,
         std::span<const int> order, std::span<const int> groups, std::vector<CellBox>& boxes) {
  if (order.empty()) {
    boxes[parts[0]] = box;
    return;
  }
  const auto d = static_cast<std::size_t>(order[0]);
  const auto count = static_cast<std::size_t>(groups[0]);
  const std::size_t each = parts.size() / count;
  std::vector<double> shares(count, 0.0);
  for (std::size_t g = 0; g < count; ++g)
    for (std::size_t p = 0; p < each; ++p) shares[g] += weights[parts[g * each + p]];
  const auto ends = cut_planes(box.size(static_cast<int>(d)), shares);
  Lid begin = 0;
  for (std::size_t g = 0; g < count; ++g) {
    CellBox piece = box;
    piece.lower[d] = box.lower[d] + begin;
    piece.upper[d] = box.lower[d] + ends[g];
    begin = ends[g];
    cut(piece, parts.subspan(g * each, each), weights, order.subspan(1), groups.subspan(1), boxes);
  }
}

/// Groups along z, y, x whose product is `parts`, with the least surface between them; empty where none fits. Cut are
/// the last directions that are thicker than a cell, so many as asked for.
std::vector<int> best_groups(const std::array<Lid, 3>& cells, int parts, int directions) {
  std::array<Lid, 3> most{1, 1, 1};
  for (std::size_t d = 3; d-- > 0 && directions > 0;)
    if (cells[d] > 1) {
      most[d] = cells[d];
      --directions;
    }
  std::vector<int> best;
  double least = 0;
  for (int z = 1; z <= parts; ++z)
    for (int y = 1; y <= parts / z; ++y) {
      const int x = parts / z / y;
      if (x * y * z != parts || z > most[2] || y > most[1] || x > most[0]) continue;
      const double surface =
          (z - 1.0) * cells[0] * cells[1] + (y - 1.0) * cells[0] * cells[2] + (x - 1.0) * cells[1] * cells[2];
      if (best.empty() || surface < least) {
        best = {z, y, x};
        least = surface;
      }
    }
  return best;
}

}  // namespace

BoxCut parse_box_cut(const std::string& name) {
  if (name == "slabs") return BoxCut::slabs;
  if (name == "pencils") return BoxCut::pencils;
  if (name == "blocks") return BoxCut::blocks;
  fail(ErrorKind::usage, "cut '{}' is unknown; choose slabs, pencils or blocks", name);
}

std::vector<CellBox> split_box(const std::array<Lid, 3>& cells, std::span<const double> weights, BoxCut how) {
  std::vector<CellBox> boxes(weights.size());
  std::vector<std::size_t> parts;
  for (std::size_t p = 0; p < weights.size(); ++p)
    if (weights[p] > 0) parts.push_back(p);
  require(!parts.empty(), "no part has a weight above 0");
  const int directions = how == BoxCut::slabs ? 1 : how == BoxCut::pencils ? 2 : 3;
  const auto groups = best_groups(cells, static_cast<int>(parts.size()), directions);
  if (groups.empty())
    fail(ErrorKind::input, "box: {} x {} x {} cells cannot be cut into {} parts {}; use fewer devices or ranks{}",
         cells[0], cells[1], cells[2], parts.size(),
         directions == 1   ? "of whole planes"
         : directions == 2 ? "in two directions"
                           : "in three directions",
         directions == 1   ? ", or partition.cut = \"pencils\" or \"blocks\""
         : directions == 2 ? ", or partition.cut = \"blocks\""
                           : "");
  constexpr std::array<int, 3> order{2, 1, 0};
  cut({{0, 0, 0}, cells}, parts, weights, order, groups, boxes);
  return boxes;
}

}  // namespace tutti
