// Results on structured grids: parts anywhere, in any order, some without cells; a series that goes on.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>

#include "tests/support/box_fields.hpp"
#include "tests/support/checkpoint_state.hpp"
#include "tutti/domain/box_files.hpp"
#include "tutti/simulation/output/field_files.hpp"

namespace tutti {
namespace {

namespace fs = std::filesystem;
using test::BoxFields;
using test::even_faces;
using test::growing_faces;
using testing::HasSubstr;

const Comm& world() {
  static const Comm comm;
  return comm;
}

/// 2 x 3 boxes in x and z, part 4 without cells.
std::vector<CellBox> boxes_of(const BoxGridShape& grid) {
  const auto [nx, ny, nz] = grid.box().upper;
  const Lid x = nx / 2, z = nz / 3;
  return {{{0, 0, 0}, {x, ny, z}},      {{x, 0, 0}, {nx, ny, z}},     {{0, 0, z}, {x, ny, nz}},
          {{x, 0, z}, {nx, ny, z + 1}}, {{x, 0, z + 1}, {x, ny, nz}}, {{x, 0, z + 1}, {nx, ny, nz}}};
}

/// The last rank drives the higher parts; of several ranks, the root drives none.
std::vector<BoxPiece> pieces_of(const std::vector<CellBox>& boxes) {
  std::vector<BoxPiece> mine;
  for (std::size_t p = boxes.size(); p-- > 0;) {
    const int ranks = std::max(world().size() - 1, 1);
    const int rank = static_cast<int>(p) * ranks / static_cast<int>(boxes.size()) + (world().size() > 1 ? 1 : 0);
    if (rank == world().rank()) mine.push_back({mine.size(), static_cast<int>(p), boxes[p], boxes[p]});
  }
  return mine;
}

FieldFiles open(const BoxGridShape& grid, const std::vector<BoxPiece>& mine, std::vector<CellBox> all,
                const fs::path& folder, int level, int threads, std::span<const double> before = {}) {
  return FieldFiles(world(), std::make_unique<BoxPieces>(grid, mine, std::move(all)), folder, {level, threads, {}},
                    before);
}

void write(FieldFiles& results, const BoxGridShape& grid, double time) {
  std::vector<ModelField> fields;
  fields.push_back({.name = "cell", .output = true});
  fields.back().read = [&](std::size_t, const RowSet& rows, std::span<double> to) {
    std::ranges::copy(BoxFields(grid, rows.box, time).cell, to.begin());
  };
  fields.push_back({.name = "velocity <&>", .components = 3, .single = true, .output = true});
  fields.back().read = [&](std::size_t, const RowSet& rows, std::span<double> to) {
    std::ranges::copy(BoxFields(grid, rows.box, time).velocity, to.begin());
  };
  fields.push_back({.name = "not written"});
  results.write(time, fields);
}

void write_and_read(const std::string& name, const BoxGridShape& grid) {
  const test::SharedFolder own(world(), name);
  const fs::path& folder = own.path;
  const auto boxes = boxes_of(grid);
  const auto mine = pieces_of(boxes);
  const auto all = world().is_root() ? boxes : std::vector<CellBox>{};
  {
    FieldFiles results = open(grid, mine, all, folder, 1, 2);
    write(results, grid, 0.1);
    write(results, grid, 0.2);
  }
  const std::vector<double> before = {0.1, 0.2};
  FieldFiles results = open(grid, mine, all, folder, 0, 1, before);
  write(results, grid, 0.5);
  world().together([&] {
    if (!world().is_root()) return;
    EXPECT_EQ(
        test::read_boxes(std::string(TUTTI_TEST_DATA) + "/../python/read_boxes.py", folder, grid, {0.1, 0.2, 0.5}), 0);
    const auto files = std::distance(fs::directory_iterator(folder / "fields"), fs::directory_iterator());
    EXPECT_EQ(files, 3 * (5 + 1)) << "a part without cells has no file";
  });
}

TEST(BoxResults, even_cells) {
  write_and_read("boxes_even", BoxGridShape({even_faces(0, 0.1, 7), even_faces(0, 0.2, 4), even_faces(0, 0.3, 6)}));
}

TEST(BoxResults, stretched_cells) {
  write_and_read("boxes_stretched",
                 BoxGridShape({growing_faces(0, 0.1, 1.1, 7), even_faces(0, 0.2, 4), growing_faces(-3, 0.3, 0.8, 6)}));
}

TEST(BoxResults, parts_are_the_grid_without_overlap) {
  const BoxGridShape grid({even_faces(0, 1, 4), even_faces(0, 1, 4), even_faces(0, 1, 4)});
  const auto refused = [&](std::vector<CellBox> boxes, const std::string& why) {
    try {
      const BoxPieces pieces(grid, {}, std::move(boxes));
      ADD_FAILURE() << why;
    } catch (const std::logic_error& error) {
      EXPECT_THAT(error.what(), HasSubstr(why));
    }
  };
  refused({{{0, 0, 0}, {4, 4, 2}}, {{0, 0, 3}, {4, 4, 4}}}, "48 cells, the grid 64");
  refused({{{0, 0, 0}, {4, 4, 2}}, {{0, 0, 2}, {4, 2, 4}}, {{2, 0, 0}, {4, 2, 4}}}, "parts 0 and 2 overlap");
}

TEST(BoxResults, one_rank_that_cannot_write_ends_all) {
  const test::SharedFolder own(world(), "boxes_unwritable");
  const fs::path& folder = own.path;
  const BoxGridShape grid({even_faces(0, 1, 4), even_faces(0, 1, 4), even_faces(0, 1, 4)});
  const int last = world().size() - 1;
  std::vector<BoxPiece> mine;
  if (world().rank() == last) mine = {{0, 0, grid.box(), grid.box()}};
  FieldFiles results = open(grid, mine, {grid.box()}, folder, 1, 1);
  if (world().is_root()) fs::create_directories(folder / "fields" / "fields_000000_p0000.vti" / "in_the_way");
  world().barrier();
  try {
    write(results, grid, 0);
    ADD_FAILURE();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::io);
    EXPECT_THAT(error.what(), HasSubstr("fields_000000_p0000.vti"));
  }
  EXPECT_FALSE(fs::exists(folder / "results.pvd")) << "a time is in the series once all its files are there";
}

}  // namespace
}  // namespace tutti
