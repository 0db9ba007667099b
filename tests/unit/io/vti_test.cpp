#include "tutti/io/vtk/vti.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <utility>

#include "tests/support/box_fields.hpp"
#include "tests/support/own_folder.hpp"
#include "tutti/base/error.hpp"
#include "tutti/io/case/case.hpp"

namespace tutti {
namespace {

namespace fs = std::filesystem;
using test::BoxFields;
using test::even_faces;
using test::growing_faces;
using testing::HasSubstr;
using testing::Not;

using test::fresh_folder;

/// Two outputs of a grid in `boxes`, with other compression and threads each; VTK's own readers must give all back.
void write_and_read(const std::string& name, const BoxGridShape& grid, const std::vector<CellBox>& boxes) {
  const auto folder = fresh_folder(name);
  const std::vector<double> times = {0.25, 1.0 / 3};
  PvdSeries series(folder / "results.pvd");
  for (Size output = 0; output < 2; ++output) {
    const double time = times[output];
    std::vector<BoxPieceFile> files;
    std::vector<VtkArray> arrays;
    for (std::size_t p = 0; p < boxes.size(); ++p) {
      const BoxFields fields(grid, boxes[p], time);
      const std::vector<std::int32_t> part(fields.cell.size(), static_cast<std::int32_t>(p));
      arrays = {{"cell", 1, std::span<const double>(fields.cell)},
                {"velocity <&>", 3, std::span<const float>(fields.velocity)},
                {"part", 1, std::span<const std::int32_t>(part)}};
      const auto file = piece_file_name("u", output, static_cast<int>(p), grid.suffix());
      write_box_piece(folder / "fields" / file, grid, boxes[p], arrays,
                      {.level = output == 0 ? 0 : 9, .threads = 1 + static_cast<int>(output), .time = time});
      files.push_back({boxes[p], file});
    }
    const auto joined = joined_file_name("fields/u", output, grid.suffix());
    write_joined_boxes(folder / joined, grid, files, arrays, time);
    series.add(time, joined);
  }
  EXPECT_EQ(test::read_boxes(std::string(TUTTI_TEST_DATA) + "/../python/read_boxes.py", folder, grid, times), 0);
}

/// Three pieces, one of them one cell thick, and an empty one.
std::vector<CellBox> pieces_of(const BoxGridShape& grid) {
  const auto [nx, ny, nz] = grid.box().upper;
  return {{{0, 0, 0}, {3, ny, nz}}, {{3, 0, 0}, {4, ny, nz}}, {{4, 0, 0}, {4, ny, nz}}, {{4, 0, 0}, {nx, ny, nz}}};
}

TEST(Vti, vtk_reads_a_uniform_grid) {
  const BoxGridShape grid({even_faces(-1, 0.1, 9), even_faces(0, 0.25, 7), even_faces(2, 1.0 / 3, 5)});
  EXPECT_TRUE(grid.uniform());
  EXPECT_STREQ(grid.suffix(), "vti");
  write_and_read("uniform", grid, pieces_of(grid));
}

TEST(Vti, vtk_reads_a_stretched_grid) {
  const BoxGridShape grid({even_faces(-1, 0.1, 9), growing_faces(0, 0.1, 1.2, 7), even_faces(2, 0.5, 5)});
  EXPECT_FALSE(grid.uniform());
  EXPECT_STREQ(grid.suffix(), "vtr");
  write_and_read("stretched", grid, pieces_of(grid));
}

TEST(Vti, vtk_reads_a_layer_of_cells_in_pieces_that_abut_in_two_directions) {
  const auto layer = [](const BoxGridShape& grid, const std::string& name) {
    const auto [nx, ny, nz] = grid.box().upper;
    write_and_read(
        name, grid,
        {{{0, 0, 0}, {2, 3, nz}}, {{2, 0, 0}, {nx, 3, nz}}, {{0, 3, 0}, {1, ny, nz}}, {{1, 3, 0}, {nx, ny, nz}}});
  };
  layer(BoxGridShape({even_faces(0, 0.125, 8), even_faces(0, 0.125, 8), even_faces(0, 1, 1)}), "layer");
  layer(BoxGridShape({growing_faces(0, 0.1, 0.9, 8), even_faces(0, 0.125, 8), even_faces(0, 1, 1)}), "stretched_layer");
}

TEST(Vti, more_than_one_block_of_data) {
  const BoxGridShape grid({even_faces(0, 1, 50), even_faces(0, 1, 40), even_faces(0, 1, 30)});
  write_and_read("large", grid, {grid.box()});
}

TEST(Vti, rounding_is_not_stretching) {
  const auto scaled = [](double length, int n) {
    std::vector<double> faces;
    for (int i = 0; i <= n; ++i) faces.push_back(length * i / n);
    return faces;
  };
  EXPECT_TRUE(BoxGridShape({scaled(0.7, 1000), scaled(1, 3), scaled(1e-6, 7)}).uniform());
  auto off = scaled(1, 10);
  off[5] += 1e-12;
  EXPECT_FALSE(BoxGridShape({scaled(1, 10), off, scaled(1, 10)}).uniform());
}

TEST(Vti, empty_pieces_are_no_planes) {
  const auto folder = fresh_folder("empty");
  const BoxGridShape grid({even_faces(0, 1, 4), even_faces(0, 1, 4), even_faces(0, 1, 4)});
  write_box_piece(folder / "p.vti", grid, {{2, 0, 0}, {2, 4, 4}}, {});
  EXPECT_THAT(read_text_file(folder / "p.vti"), HasSubstr("<Piece Extent=\"0 -1 0 -1 0 -1\">"));
  write_joined_boxes(folder / "p.pvti", grid, std::vector<BoxPieceFile>{{grid.box(), "a&b.vti"}, {{}, "c.vti"}}, {});
  const auto text = read_text_file(folder / "p.pvti");
  EXPECT_THAT(text, HasSubstr("<Piece Extent=\"0 4 0 4 0 4\" Source=\"a&amp;b.vti\"/>"));
  EXPECT_THAT(text, HasSubstr("Origin=\"0 0 0\" Spacing=\"1 1 1\""));
  EXPECT_THAT(text, Not(HasSubstr("c.vti")));
}

TEST(Vti, refuses_broken_grids_and_pieces) {
  const auto good = even_faces(0, 1, 4);
  const auto message = [&](std::vector<double> faces) {
    try {
      BoxGridShape({good, std::move(faces), good});
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::input);
      return std::string(error.what());
    }
    return std::string("accepted");
  };
  EXPECT_THAT(message({0}), HasSubstr("1 faces across y"));
  EXPECT_THAT(message({0, 1, 1}), HasSubstr("face 2 across y is at 1"));
  EXPECT_THAT(message({0, std::nan(""), 1}), HasSubstr("face 1 across y"));
  EXPECT_THAT(message({0, 1, std::numeric_limits<double>::infinity()}), HasSubstr("finite"));
  const BoxGridShape grid({good, good, good});
  const std::vector<double> wrong(5);
  const std::vector<VtkArray> arrays = {{"u", 1, std::span<const double>(wrong)}};
  EXPECT_THROW(write_box_piece("never.vti", grid, grid.box(), arrays), std::logic_error);
  EXPECT_THROW(write_box_piece("never.vti", grid, {{0, 0, 0}, {5, 1, 1}}, {}), std::logic_error);
  EXPECT_FALSE(fs::exists("never.vti"));
}

TEST(Vti, says_what_could_not_be_written) {
  const auto folder = fresh_folder("unwritable_box");
  std::ofstream(folder / "file") << "x";
  const BoxGridShape grid({even_faces(0, 1, 1), even_faces(0, 1, 1), even_faces(0, 1, 1)});
  try {
    write_box_piece(folder / "file" / "u.vti", grid, grid.box(), {});
    ADD_FAILURE();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::io);
    EXPECT_THAT(error.what(), HasSubstr((folder / "file").string()));
  }
}

}  // namespace
}  // namespace tutti
