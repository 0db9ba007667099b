// Damaged files: whatever the bytes, reading ends with an Error or a valid mesh.
#include <sys/resource.h>

#include "mesh_helpers.hpp"
#include "tutti/base/log.hpp"
#include "tutti/mesh/files/gmsh/gmsh.hpp"

namespace tutti {
namespace {

using namespace test;

std::string sample(const TemporaryFolder& folder, GmshFormat format) {
  BoxSpec s;
  s.cubes = {2, 1, 1};
  s.split_x = 0.5;
  TetMesh m = generate_box(s);
  m.cell_data = {{"fibre", 3, std::vector<double>(3 * m.cells.size(), 0.25)}};
  write_gmsh(m, folder / "good.msh", format);
  return read_file(folder / "good.msh");
}

/// True if it is a mesh. Every promise of the reader is checked.
bool read_is_sound(const std::filesystem::path& path) {
  TetMesh m;
  try {
    m = read_gmsh(path);
  } catch (const Error& e) {
    EXPECT_TRUE(e.kind() == ErrorKind::input || e.kind() == ErrorKind::io) << e.what();
    EXPECT_EQ(std::string(e.what()).find(path.string()), 0u) << e.what();
    return false;
  }
  EXPECT_FALSE(m.cells.empty());
  EXPECT_EQ(m.regions.size(), m.cells.size());
  EXPECT_EQ(m.boundary_tags.size(), m.boundary.size());
  for (const auto& cell : m.cells) {
    for (const Gid v : cell) EXPECT_TRUE(v >= 0 && v < m.vertex_count());
    const auto at = [&](std::size_t i) { return m.vertices.at(static_cast<std::size_t>(cell[i])); };
    EXPECT_FALSE(tet_volume(at(0), at(1), at(2), at(3)) < 0);
  }
  for (const auto& triangle : m.boundary)
    for (const Gid v : triangle) EXPECT_TRUE(v >= 0 && v < m.vertex_count());
  for (const CellData& d : m.cell_data)
    EXPECT_EQ(d.values.size(), m.cells.size() * static_cast<std::size_t>(d.components));
  return true;
}

class GmshFuzz : public ::testing::TestWithParam<GmshFormat> {
 protected:
  void SetUp() override {
    set_log(LogLevel::quiet, false);
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
    // A huge allocation would fail, and a bad_alloc is an Error(resource), which the test refuses.
    ASSERT_EQ(::getrlimit(RLIMIT_AS, &before_), 0);
    const rlimit small{rlim_t{1} << 30, before_.rlim_max};
    ASSERT_EQ(::setrlimit(RLIMIT_AS, &small), 0);
#endif
    good_ = sample(folder_, GetParam());
  }
  void TearDown() override {
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
    ::setrlimit(RLIMIT_AS, &before_);
#endif
    set_log(LogLevel::normal, true);
  }
  bool sound(const std::string& bytes) {
    write_file(folder_ / "m.msh", bytes);
    return read_is_sound(folder_ / "m.msh");
  }
  TemporaryFolder folder_;
  std::string good_;
  rlimit before_{};
};

TEST_P(GmshFuzz, Truncations) {
  ASSERT_TRUE(sound(good_));
  std::mt19937 random(1);
  int meshes = 0;
  for (int i = 0; i < 1000; ++i) meshes += sound(good_.substr(0, random() % good_.size()));
  // Only a cut behind $EndElements leaves a mesh: where the data begin, or in the last line's end.
  EXPECT_LT(meshes, 10);
}

TEST_P(GmshFuzz, BitFlips) {
  std::mt19937 random(2);
  int meshes = 0;
  for (int i = 0; i < 1000; ++i) {
    std::string bad = good_;
    const int flips = 1 + static_cast<int>(random() % 3);
    for (int k = 0; k < flips; ++k) bad[random() % bad.size()] ^= static_cast<char>(1 << random() % 8);
    meshes += sound(bad);
  }
  EXPECT_GT(meshes, 0);  // flips in coordinates
  EXPECT_LT(meshes, 1000);
}

TEST_P(GmshFuzz, DeletedAndRepeatedPieces) {
  std::mt19937 random(3);
  for (int i = 0; i < 500; ++i) {
    std::string bad = good_;
    const std::size_t at = random() % bad.size(), n = 1 + random() % 40;
    i % 2 ? bad.erase(at, n) : bad.insert(at, good_.substr(random() % good_.size(), n));
    sound(bad);
  }
}

std::string format_name(const ::testing::TestParamInfo<GmshFormat>& format) {
  const std::array<const char*, 4> names = {"v41_binary", "v41_ascii", "v22_binary", "v22_ascii"};
  return names[static_cast<std::size_t>(format.param)];
}

INSTANTIATE_TEST_SUITE_P(AllFormats, GmshFuzz,
                         ::testing::Values(GmshFormat::v41_binary, GmshFormat::v41_ascii, GmshFormat::v22_binary,
                                           GmshFormat::v22_ascii),
                         format_name);

}  // namespace
}  // namespace tutti
