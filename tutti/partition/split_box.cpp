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

/// Groups in the directions `order` whose product is `parts`, with the least surface between them; empty where none
/// fits. Cut are the first directions that are thicker than a cell, so many as asked for.
std::vector<int> best_groups(const std::array<Lid, 3>& cells, int parts, int directions,
                             const std::array<int, 3>& order) {
  const auto size = [&](std::size_t place) { return cells[static_cast<std::size_t>(order[place])]; };
  std::array<Lid, 3> most{1, 1, 1};
  for (std::size_t place = 0; place < 3 && directions > 0; ++place)
    if (size(place) > 1) {
      most[place] = size(place);
      --directions;
    }
  std::vector<int> best;
  double least = 0;
  for (int a = 1; a <= parts; ++a)
    for (int b = 1; b <= parts / a; ++b) {
      const int c = parts / a / b;
      if (a * b * c != parts || a > most[0] || b > most[1] || c > most[2]) continue;
      const double surface =
          (a - 1.0) * size(1) * size(2) + (b - 1.0) * size(0) * size(2) + (c - 1.0) * size(0) * size(1);
      if (best.empty() || surface < least) {
        best = {a, b, c};
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

std::vector<CellBox> split_box(const std::array<Lid, 3>& cells, std::span<const double> weights, BoxCut how,
                               const std::array<int, 3>& order) {
  std::vector<CellBox> boxes(weights.size());
  std::vector<std::size_t> parts;
  for (std::size_t p = 0; p < weights.size(); ++p)
    if (weights[p] > 0) parts.push_back(p);
  require(!parts.empty(), "no part has a weight above 0");
  const int directions = how == BoxCut::slabs ? 1 : how == BoxCut::pencils ? 2 : 3;
  const auto groups = best_groups(cells, static_cast<int>(parts.size()), directions, order);
  if (groups.empty())
    fail(ErrorKind::input, "box: {} x {} x {} cells cannot be cut into {} parts {}; use fewer devices or ranks{}",
         cells[0], cells[1], cells[2], parts.size(),
         directions == 1   ? "of whole planes"
         : directions == 2 ? "in two directions"
                           : "in three directions",
         directions == 1   ? ", or partition.cut = \"pencils\" or \"blocks\""
         : directions == 2 ? ", or partition.cut = \"blocks\""
                           : "");
  cut({{0, 0, 0}, cells}, parts, weights, order, groups, boxes);
  return boxes;
}

}  // namespace tutti
