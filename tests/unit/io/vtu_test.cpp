#include "tutti/io/vtk/vtu.hpp"
#include "tests/support/own_folder.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/resource.h>
#include <unistd.h>
#include <zlib.h>

#include <atomic>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <set>
#include <string>
#include <thread>

#include "tutti/base/error.hpp"
#include "tutti/base/random.hpp"
#include "tutti/io/case/case.hpp"
#include "tutti/io/vtk/vtk_blocks.hpp"

namespace tutti {
namespace {

using testing::HasSubstr;
namespace fs = std::filesystem;

using test::fresh_folder;

/// A unit cube, n^3 small cubes of six tetrahedra each.
struct Cube {
  std::vector<Vec3> points;
  std::vector<std::array<Lid, 4>> tets;

  explicit Cube(Lid n) {
    const auto id = [n](Lid i, Lid j, Lid k) { return i + (n + 1) * (j + (n + 1) * k); };
    const double h = 1.0 / n;
    for (Lid k = 0; k <= n; ++k)
      for (Lid j = 0; j <= n; ++j)
        for (Lid i = 0; i <= n; ++i) points.push_back({i * h, j * h, k * h});
    static constexpr int orders[6][3] = {{0, 1, 2}, {1, 2, 0}, {2, 0, 1}, {0, 2, 1}, {1, 0, 2}, {2, 1, 0}};
    for (Lid k = 0; k < n; ++k)
      for (Lid j = 0; j < n; ++j)
        for (Lid i = 0; i < n; ++i)
          for (int o = 0; o < 6; ++o) {
            std::array<Lid, 3> at = {i, j, k};
            std::array<Lid, 4> tet{};
            tet[0] = id(at[0], at[1], at[2]);
            for (std::size_t s = 0; s < 3; ++s) {
              ++at[orders[o][s]];
              tet[s + 1] = id(at[0], at[1], at[2]);
            }
            if (o >= 3) std::swap(tet[1], tet[2]);  // odd permutations are turned over
            tets.push_back(tet);
          }
  }
};

Vec3 centroid(const Cube& cube, const std::array<Lid, 4>& tet) {
  Vec3 sum;
  for (const Lid v : tet) sum = sum + cube.points[v];
  return 0.25 * sum;
}

std::string undo_blocks(const std::string& packed) {
  std::uint64_t head[3];
  std::memcpy(head, packed.data(), sizeof head);
  std::string out;
  std::size_t at = (3 + head[0]) * 8;
  for (std::uint64_t b = 0; b < head[0]; ++b) {
    std::uint64_t size;
    std::memcpy(&size, packed.data() + (3 + b) * 8, 8);
    uLongf expected = b + 1 == head[0] && head[2] != 0 ? head[2] : head[1];
    std::string block(expected, '\0');
    EXPECT_EQ(uncompress(reinterpret_cast<Bytef*>(block.data()), &expected,
                         reinterpret_cast<const Bytef*>(packed.data() + at), size),
              Z_OK);
    out += block;
    at += size;
  }
  EXPECT_EQ(at, packed.size());
  return out;
}

TEST(VtkBlocks, come_back_for_any_size_and_thread_count) {
  for (const std::size_t size : {0u, 1u, 1000u, 262143u, 262144u, 262145u, 1000000u, 524288u}) {
    std::string bytes(size, '\0');
    for (std::size_t i = 0; i < size; ++i) bytes[i] = static_cast<char>(random_bits(1, i) & 15);
    const auto one = compress_blocks(bytes, 1, 1);
    EXPECT_EQ(undo_blocks(one), bytes);
    EXPECT_EQ(compress_blocks(bytes, 1, 4), one);
    EXPECT_EQ(undo_blocks(compress_blocks(bytes, 0, 2)), bytes);
  }
}

std::set<pid_t> threads_of_process() {
  std::set<pid_t> threads;
  for (const auto& task : std::filesystem::directory_iterator("/proc/self/task"))
    threads.insert(std::stoi(task.path().filename().string()));
  return threads;
}

TEST(VtkBlocks, helpers_leave_the_core_of_a_pinned_caller) {
  cpu_set_t all;
  ASSERT_EQ(sched_getaffinity(0, sizeof(all), &all), 0);
  if (CPU_COUNT(&all) < 2) GTEST_SKIP() << "one core";
  std::string bytes(std::size_t{4} << 20, '\0');
  for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<char>(random_bits(1, i) & 63);
  const auto before = threads_of_process();
  std::atomic<pid_t> caller{0};
  std::atomic<bool> done{false};
  std::thread pinned([&] {
    int core = 0;
    while (!CPU_ISSET(static_cast<unsigned>(core), &all)) ++core;
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(static_cast<unsigned>(core), &one);
    EXPECT_EQ(sched_setaffinity(0, sizeof(one), &one), 0);
    caller = gettid();
    compress_blocks(bytes, 9, 3);
    done = true;
  });
  std::set<pid_t> free;
  while (!done) {
    for (const pid_t thread : threads_of_process()) {
      cpu_set_t mask;
      if (caller != 0 && thread != caller && !before.contains(thread) &&
          sched_getaffinity(thread, sizeof(mask), &mask) == 0 && CPU_EQUAL(&mask, &all))
        free.insert(thread);
    }
  }
  pinned.join();
  EXPECT_EQ(free.size(), 2u);
}

TEST(Vtu, names_sort_in_time) {
  EXPECT_EQ(piece_file_name("fields/u", 50, 3, "vtu"), "fields/u_000050_p0003.vtu");
  EXPECT_EQ(joined_file_name("u", 1000000, "vtu"), "u_1000000.pvtu");
}

TEST(Vtu, unused_points_are_left_out) {
  const std::vector<Vec3> points = {{0, 0, 0}, {9, 9, 9}, {1, 0, 0}, {0, 1, 0}, {8, 8, 8}, {0, 0, 1}};
  const std::vector<std::array<Lid, 4>> tets = {{5, 0, 2, 3}};
  const auto compact = compact_tets(points, tets);
  EXPECT_EQ(compact.old_point, (std::vector<Lid>{0, 2, 3, 5}));
  EXPECT_EQ(compact.tets[0], (std::array<Lid, 4>{3, 0, 1, 2}));
  EXPECT_EQ(compact.points[3], (Vec3{0, 0, 1}));
  EXPECT_TRUE(compact_tets(points, {}).points.empty());
}

TEST(Vtu, refuses_broken_pieces) {
  const std::vector<Vec3> points(3);
  const std::vector<std::array<Lid, 4>> tets = {{0, 1, 2, 3}};
  EXPECT_THROW(VtuGrid(points, tets), Error);
  const Cube cube(1);
  const std::vector<double> wrong(5);
  EXPECT_THROW(write_vtu("never.vtu", {cube.points, cube.tets, {{"u", 1, std::span<const double>(wrong)}}}),
               std::logic_error);
  EXPECT_FALSE(fs::exists("never.vtu"));
}

TEST(Vtu, says_what_could_not_be_written) {
  const Cube cube(1);
  const auto folder = fresh_folder("unwritable");
  std::ofstream(folder / "file") << "x";
  try {
    write_vtu(folder / "file" / "u.vtu", {cube.points, cube.tets, {}});
    ADD_FAILURE();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::io);
    EXPECT_THAT(error.what(), HasSubstr((folder / "file").string()));
  }
}

TEST(Vtu, a_full_disk_leaves_the_old_file) {
  const auto folder = fresh_folder("full");
  const Cube small(1), large(12);
  write_vtu(folder / "u.vtu", {small.points, small.tets, {}});
  const auto before = read_text_file(folder / "u.vtu");
  // A limit on the size of files stands in for a full disk: write() fails half-way.
  rlimit old{};
  getrlimit(RLIMIT_FSIZE, &old);
  const auto old_handler = std::signal(SIGXFSZ, SIG_IGN);
  const rlimit tight = {4096, old.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &tight), 0);
  std::string message;
  try {
    write_vtu(folder / "u.vtu", {large.points, large.tets, {}});
  } catch (const Error& error) {
    message = error.what();
    EXPECT_EQ(error.kind(), ErrorKind::io);
  }
  setrlimit(RLIMIT_FSIZE, &old);
  std::signal(SIGXFSZ, old_handler);
  EXPECT_THAT(message, HasSubstr((folder / "u.vtu").string() + ": 4096 of "));
  EXPECT_THAT(message, HasSubstr("File too large"));
  EXPECT_EQ(read_text_file(folder / "u.vtu"), before);
  EXPECT_EQ(std::distance(fs::directory_iterator(folder), fs::directory_iterator()), 1) << "no temporary file stays";
}

TEST(Vtu, a_series_is_valid_after_every_output) {
  const auto folder = fresh_folder("series");
  PvdSeries series(folder / "results.pvd");
  series.add(0, "a.pvtu");
  EXPECT_THAT(read_text_file(series.path()), testing::EndsWith("</Collection>\n</VTKFile>\n"));
  series.add(0.1, "b&c.pvtu");
  const auto text = read_text_file(series.path());
  EXPECT_THAT(text, HasSubstr("timestep=\"0.10000000000000001\""));
  EXPECT_THAT(text, HasSubstr("file=\"b&amp;c.pvtu\""));
  EXPECT_THAT(text, testing::EndsWith("</Collection>\n</VTKFile>\n"));
}

/// Three outputs of a cube in three pieces, one of them empty; VTK's own readers must give everything back.
TEST(Vtu, vtk_reads_what_was_written) {
  const auto folder = fresh_folder("vtk");
  const Cube cube(9);
  const std::string script = std::string(TUTTI_TEST_DATA) + "/../python/read_results.py";
  PvdSeries series(folder / "results.pvd");
  for (int output = 0; output < 3; ++output) {
    const double time = 0.1 * output;
    std::vector<std::string> files;
    std::vector<VtkArray> arrays;
    for (int part = 0; part < 3; ++part) {
      std::vector<std::array<Lid, 4>> own;
      std::vector<double> u, direction;
      std::vector<std::int64_t> global;
      std::vector<std::int32_t> parts;
      for (std::size_t c = 0; c < cube.tets.size(); ++c) {
        const Vec3 p = centroid(cube, cube.tets[c]);
        if ((p.x < 1.0 / 3 ? 0 : 2) != part) continue;  // part 1 is empty
        own.push_back(cube.tets[c]);
        u.push_back(p.x + 10 * p.y + 100 * p.z + time);
        for (int i = 0; i < 3; ++i) direction.push_back(p[i]);
        global.push_back((std::int64_t{1} << 40) + static_cast<std::int64_t>(c));
        parts.push_back(part);
      }
      const auto compact = compact_tets(cube.points, own);
      arrays = {{"u", 1, std::span<const double>(u)},
                {"direction", 3, std::span<const double>(direction)},
                {"global <&\">", 1, std::span<const std::int64_t>(global)},
                {"part", 1, std::span<const std::int32_t>(parts)}};
      files.push_back(piece_file_name("u", output, part, "vtu"));
      write_vtu(folder / files.back(), {compact.points, compact.tets, arrays},
                {.level = output * 4, .threads = 1 + output, .time = time});
    }
    write_pvtu(folder / joined_file_name("u", output, "vtu"), files, arrays, time);
    series.add(time, joined_file_name("u", output, "vtu"));
  }
  const char* python = std::getenv("TUTTI_PYTHON");
  const std::string command =
      std::string(python != nullptr ? python : "/usr/bin/python3") + " '" + script + "' '" + folder.string() + "'";
  EXPECT_EQ(std::system(command.c_str()), 0) << command;
}

}  // namespace
}  // namespace tutti
