#include "tutti/partition/split_box.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>

#include "tutti/base/error.hpp"
#include "tutti/base/random.hpp"

namespace tutti {
namespace {

using Cells = std::array<Lid, 3>;
using testing::AllOf;
using testing::HasSubstr;

constexpr BoxCut all_cuts[] = {BoxCut::slabs, BoxCut::pencils, BoxCut::blocks};

/// How often each cell of the grid is in a box.
std::vector<int> coverage(const Cells& cells, const std::vector<CellBox>& boxes) {
  std::vector<int> count(static_cast<std::size_t>(cells[0]) * static_cast<std::size_t>(cells[1]) *
                         static_cast<std::size_t>(cells[2]));
  const BoxArray array{{{0, 0, 0}, cells}};
  for (const CellBox& box : boxes)
    for (Lid k = box.lower[2]; k < box.upper[2]; ++k)
      for (Lid j = box.lower[1]; j < box.upper[1]; ++j)
        for (Lid i = box.lower[0]; i < box.upper[0]; ++i) ++count.at(static_cast<std::size_t>(array.at(i, j, k)));
  return count;
}

/// Directions in which some box ends inside of the grid.
std::set<std::size_t> directions_cut(const Cells& cells, const std::vector<CellBox>& boxes) {
  std::set<std::size_t> directions;
  for (const CellBox& box : boxes)
    for (std::size_t d = 0; d < 3; ++d)
      if (!box.empty() && box.size(static_cast<int>(d)) < cells[d]) directions.insert(d);
  return directions;
}

/// Up to so many pieces in so many of the last directions that are thicker than a cell.
bool can_be_cut(const Cells& cells, int parts, int directions) {
  std::array<Lid, 3> most{1, 1, 1};
  for (std::size_t d = 3; d-- > 0 && directions > 0;)
    if (cells[d] > 1) most[d] = cells[d], --directions;
  for (Lid x = 1; x <= most[0]; ++x)
    for (Lid y = 1; y <= most[1]; ++y)
      for (Lid z = 1; z <= most[2]; ++z)
        if (x * y * z == parts) return true;
  return false;
}

TEST(SplitBox, EveryCellOnceWhateverTheSizesPartsAndWeights) {
  int cut = 0, refused = 0;
  for (const Cells& cells :
       {Cells{12, 10, 8}, {7, 5, 3}, {16, 12, 1}, {9, 1, 4}, {11, 1, 1}, {1, 1, 1}, {2, 3, 2}, {1, 6, 1}})
    for (std::size_t parts = 1; parts <= 13; ++parts)
      for (const BoxCut how : all_cuts)
        for (std::uint64_t kind = 0; kind < 4; ++kind) {
          std::vector<double> weights;
          for (std::size_t p = 0; p < parts; ++p) {
            const double random = random_unit(kind, 100 * parts + p);
            weights.push_back(kind == 0   ? 1
                              : kind == 1 ? random
                              : kind == 2 ? (random < 0.4 ? 0 : random)
                                          : std::pow(random, 8));
          }
          if (std::accumulate(weights.begin(), weights.end(), 0.0) == 0) weights.back() = 1;
          const auto used = static_cast<int>(parts) - static_cast<int>(std::count(weights.begin(), weights.end(), 0.0));
          SCOPED_TRACE(testing::PrintToString(cells) + " cut " + std::to_string(static_cast<int>(how)) + " for " +
                       testing::PrintToString(weights));
          if (!can_be_cut(cells, used, 1 + static_cast<int>(how))) {
            EXPECT_THROW(split_box(cells, weights, how), Error);
            ++refused;
            continue;
          }
          ++cut;
          const auto boxes = split_box(cells, weights, how);
          ASSERT_EQ(boxes.size(), parts);
          for (std::size_t p = 0; p < parts; ++p) EXPECT_EQ(boxes[p].empty(), weights[p] == 0) << "part " << p;
          EXPECT_THAT(coverage(cells, boxes), testing::Each(1));
          EXPECT_LE(directions_cut(cells, boxes).size(), 1 + static_cast<std::size_t>(how));
        }
  EXPECT_GT(cut, 300);
  EXPECT_GT(refused, 100);
}

TEST(SplitBox, SlabsHaveTheirShareWithinAPlane) {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    const auto planes = static_cast<Lid>(20 + random_bits(seed, 0) % 50);
    const std::size_t parts = 1 + random_bits(seed, 1) % 8;
    std::vector<double> weights;
    for (std::size_t p = 0; p < parts; ++p) weights.push_back(0.2 + random_unit(seed, 2 + p));  // a plane each at least
    const double sum = std::accumulate(weights.begin(), weights.end(), 0.0);
    const auto boxes = split_box({3, 2, planes}, weights, BoxCut::slabs);
    Lid next = 0;
    for (std::size_t p = 0; p < parts; ++p) {
      EXPECT_EQ(boxes[p].lower, (Cells{0, 0, next})) << "whole planes, in the order of the parts";
      EXPECT_EQ(boxes[p].upper[0], 3);
      EXPECT_EQ(boxes[p].upper[1], 2);
      EXPECT_NEAR(boxes[p].size(2), weights[p] / sum * planes, 1.0 + 1e-9) << "seed " << seed << ", part " << p;
      next = boxes[p].upper[2];
    }
    EXPECT_EQ(next, planes);
  }
}

TEST(SplitBox, PencilsAndBlocksHaveTheirShareWithinAPlaneOfEachDirection) {
  const std::vector<double> weights{1, 3, 2, 2, 1, 1, 4, 2};
  const double sum = 16;
  for (const BoxCut how : {BoxCut::pencils, BoxCut::blocks}) {
    const auto boxes = split_box({40, 40, 40}, weights, how);
    for (std::size_t p = 0; p < weights.size(); ++p) {
      const double share = static_cast<double>(boxes[p].cells()) / (40.0 * 40 * 40);
      EXPECT_NEAR(share, weights[p] / sum, 0.12 * weights[p] / sum) << p;
    }
  }
}

TEST(SplitBox, TheSmallestWeightGetsAPlane) {
  const auto boxes = split_box({4, 4, 5}, std::vector<double>{1e-9, 1, 1e-9, 1e-9}, BoxCut::slabs);
  for (const std::size_t p : {0, 2, 3}) EXPECT_EQ(boxes[p].size(2), 1);
  EXPECT_EQ(boxes[1].size(2), 2);
}

TEST(SplitBox, CutsTheLastThickDirectionsWithTheLeastSurface) {
  const auto equal = [](std::size_t parts) { return std::vector<double>(parts, 1.0); };
  EXPECT_EQ(directions_cut({8, 8, 8}, split_box({8, 8, 8}, equal(4), BoxCut::slabs)), (std::set<std::size_t>{2}));
  EXPECT_EQ(directions_cut({8, 8, 1}, split_box({8, 8, 1}, equal(4), BoxCut::slabs)), (std::set<std::size_t>{1}));
  EXPECT_EQ(directions_cut({8, 1, 1}, split_box({8, 1, 1}, equal(4), BoxCut::slabs)), (std::set<std::size_t>{0}));
  EXPECT_EQ(directions_cut({8, 8, 8}, split_box({8, 8, 8}, equal(4), BoxCut::pencils)), (std::set<std::size_t>{1, 2}));
  EXPECT_EQ(directions_cut({8, 8, 1}, split_box({8, 8, 1}, equal(4), BoxCut::pencils)), (std::set<std::size_t>{0, 1}));
  EXPECT_EQ(directions_cut({8, 8, 8}, split_box({8, 8, 8}, equal(8), BoxCut::blocks)),
            (std::set<std::size_t>{0, 1, 2}));
  // A flat box is not cut across its short side.
  EXPECT_EQ(directions_cut({64, 64, 4}, split_box({64, 64, 4}, equal(4), BoxCut::blocks)),
            (std::set<std::size_t>{0, 1}));
  // In another order.
  EXPECT_EQ(directions_cut({8, 8, 8}, split_box({8, 8, 8}, equal(4), BoxCut::slabs, y_first)),
            (std::set<std::size_t>{1}));
  EXPECT_EQ(directions_cut({8, 1, 8}, split_box({8, 1, 8}, equal(4), BoxCut::slabs, y_first)),
            (std::set<std::size_t>{2}));
  EXPECT_EQ(directions_cut({64, 4, 64}, split_box({64, 4, 64}, equal(4), BoxCut::blocks, y_first)),
            (std::set<std::size_t>{0, 2}));
  for (const CellBox& box : split_box({32, 32, 32}, equal(8), BoxCut::blocks)) EXPECT_EQ(box.cells(), 16 * 16 * 16);
}

std::string error_of(const Cells& cells, std::size_t parts, BoxCut how) {
  try {
    split_box(cells, std::vector<double>(parts, 1.0), how);
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::input);
    return error.what();
  }
  return "no error";
}

TEST(SplitBox, Errors) {
  EXPECT_THAT(error_of({6, 5, 4}, 5, BoxCut::slabs),
              AllOf(HasSubstr("6 x 5 x 4 cells"), HasSubstr("5 parts of whole planes"), HasSubstr("fewer devices")));
  EXPECT_THAT(error_of({6, 5, 4}, 7, BoxCut::pencils), HasSubstr("7 parts in two directions"));
  EXPECT_THAT(error_of({6, 5, 4}, 7, BoxCut::blocks), HasSubstr("7 parts in three directions"));
  EXPECT_THAT(error_of({6, 5, 4}, 121, BoxCut::blocks), HasSubstr("121 parts"));
  EXPECT_EQ(error_of({6, 5, 4}, 120, BoxCut::blocks), "no error");
  EXPECT_EQ(error_of({6, 5, 4}, 20, BoxCut::pencils), "no error");
  EXPECT_THROW(split_box({6, 5, 4}, std::vector<double>{0, 0}, BoxCut::slabs), std::logic_error);
  EXPECT_THROW(split_box({6, 5, 4}, std::vector<double>{}, BoxCut::slabs), std::logic_error);
}

TEST(SplitBox, NamesOfCuts) {
  EXPECT_EQ(parse_box_cut("slabs"), BoxCut::slabs);
  EXPECT_EQ(parse_box_cut("pencils"), BoxCut::pencils);
  EXPECT_EQ(parse_box_cut("blocks"), BoxCut::blocks);
  try {
    parse_box_cut("slab");
    ADD_FAILURE();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::usage);
    EXPECT_THAT(error.what(), AllOf(HasSubstr("'slab'"), HasSubstr("pencils")));
  }
}

TEST(CellBox, SizesAndSets) {
  const CellBox box{{1, 2, 3}, {4, 4, 4}}, none{{3, 3, 3}, {1, 5, 5}};
  EXPECT_EQ(box.cells(), 6);
  EXPECT_TRUE(none.empty());
  EXPECT_EQ(none.size(0), 0);
  EXPECT_EQ(grown(none, 2), none);
  EXPECT_EQ(grown(box, 1), (CellBox{{0, 1, 2}, {5, 5, 5}}));
  EXPECT_EQ(shifted(box, {-1, 0, 2}), (CellBox{{0, 2, 5}, {3, 4, 6}}));
  EXPECT_EQ(intersection(box, {{2, 0, 0}, {9, 3, 9}}), (CellBox{{2, 2, 3}, {4, 3, 4}}));
  EXPECT_TRUE(intersection(box, {{4, 0, 0}, {9, 9, 9}}).empty());
  EXPECT_TRUE(box.contains(1, 2, 3) && box.contains(3, 3, 3));
  EXPECT_FALSE(box.contains(4, 3, 3) || box.contains(1, 1, 3));
  const BoxArray array{grown(box, 1)};
  EXPECT_EQ(array.at(0, 1, 2), 0);
  EXPECT_EQ(array.at(1, 2, 3), 1 + array.row() + array.plane());
  EXPECT_EQ(array.at(4, 4, 4), array.values() - 1);
}

}  // namespace
}  // namespace tutti
