// Damaged VTU and TetGen files: whatever the bytes, reading ends with an Error or a valid mesh.
#include <sys/resource.h>

#include <cmath>
#include <functional>
#include <memory>

#include "mesh_helpers.hpp"
#include "tutti/base/log.hpp"
#include "tutti/mesh/files/tetgen.hpp"
#include "tutti/mesh/files/vtu_read.hpp"
#include "vtu_helpers.hpp"

namespace tutti {
namespace {

using test::read_file;
using test::vtu_sample;
using test::vtu_samples;

/// Every promise of a reader.
void expect_sound(const TetMesh& m) {
  EXPECT_FALSE(m.cells.empty());
  EXPECT_EQ(m.regions.size(), m.cells.size());
  EXPECT_EQ(m.boundary_tags.size(), m.boundary.size());
  for (const Vec3& v : m.vertices) EXPECT_TRUE(std::isfinite(v.x) && std::isfinite(v.y) && std::isfinite(v.z));
  for (const auto& cell : m.cells) {
    for (const Gid v : cell) EXPECT_TRUE(v >= 0 && v < m.vertex_count());
    const auto at = [&](std::size_t i) { return m.vertices.at(static_cast<std::size_t>(cell[i])); };
    EXPECT_FALSE(tet_volume(at(0), at(1), at(2), at(3)) < 0);
  }
  for (const std::int32_t region : m.regions) EXPECT_GE(region, 0);
  for (const std::int32_t tag : m.boundary_tags) EXPECT_GT(tag, 0);
  for (const auto& triangle : m.boundary)
    for (const Gid v : triangle) EXPECT_TRUE(v >= 0 && v < m.vertex_count());
  for (const CellData& d : m.cell_data) {
    EXPECT_TRUE(d.components == 1 || d.components == 3 || d.components == 9);
    EXPECT_EQ(d.values.size(), m.cells.size() * static_cast<std::size_t>(d.components));
  }
}

/// A file to be damaged, and how it is read with its companions.
struct Sample {
  std::string name;
  std::function<TetMesh(std::string_view)> parse;
  std::string good;
};

std::vector<std::string> sample_names() {
  std::vector<std::string> names = vtu_samples();
  names.insert(names.end(), {"node", "ele", "face"});
  return names;
}

Sample make_sample(const std::string& name) {
  const std::filesystem::path folder = std::filesystem::path(TUTTI_TEST_DATA) / "tetgen";
  // Without TetGen's last line, a comment, in which a cut would do no harm.
  const auto records = [&](const char* file) {
    const std::string text = read_file(folder / file);
    return text.substr(0, text.rfind('#'));
  };
  const std::string node = records("two_boxes.1.node"), ele = records("two_boxes.1.ele"),
                    face = records("two_boxes.1.face");
  if (name == "node") return {name, [=](std::string_view b) { return parse_tetgen(b, ele, face, "m"); }, node};
  if (name == "ele") return {name, [=](std::string_view b) { return parse_tetgen(node, b, face, "m"); }, ele};
  if (name == "face") return {name, [=](std::string_view b) { return parse_tetgen(node, ele, b, "m"); }, face};
  return {name, [](std::string_view b) { return parse_vtu(b, "m.vtu"); }, read_file(vtu_sample(name))};
}

class ReaderFuzz : public ::testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    set_log(LogLevel::quiet, false);
    sample_ = make_sample(GetParam());
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
    // A huge allocation would fail, and a bad_alloc is an Error(resource), which the test refuses.
    ASSERT_EQ(::getrlimit(RLIMIT_AS, &before_), 0);
    const rlimit small{rlim_t{1} << 30, before_.rlim_max};
    ASSERT_EQ(::setrlimit(RLIMIT_AS, &small), 0);
#endif
  }
  void TearDown() override {
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
    ::setrlimit(RLIMIT_AS, &before_);
#endif
    set_log(LogLevel::normal, true);
  }
  /// True if the bytes are a mesh.
  bool sound(const std::string& bytes) {
    // Without the string's zero behind them: a byte too far is found by the address sanitizer.
    const auto exact = std::make_unique<char[]>(bytes.size());
    std::copy(bytes.begin(), bytes.end(), exact.get());
    try {
      expect_sound(sample_.parse({exact.get(), bytes.size()}));
    } catch (const Error& e) {
      EXPECT_EQ(e.kind(), ErrorKind::input) << e.what();
      EXPECT_EQ(std::string(e.what()).find("m."), 0u) << e.what();
      EXPECT_EQ(std::string(e.what()).find('\n'), std::string::npos) << e.what();
      return false;
    }
    return true;
  }
  Sample sample_;
  rlimit before_{};
};

TEST_P(ReaderFuzz, Truncations) {
  ASSERT_TRUE(sound(sample_.good));
  std::mt19937 random(1);
  int meshes = 0;
  for (int i = 0; i < 1000; ++i) meshes += sound(sample_.good.substr(0, random() % sample_.good.size()));
  // Only a cut in what follows the last number leaves a mesh.
  EXPECT_LT(meshes, 100);
}

TEST_P(ReaderFuzz, BitFlips) {
  std::mt19937 random(2);
  int meshes = 0;
  for (int i = 0; i < 1000; ++i) {
    std::string bad = sample_.good;
    const int flips = 1 + static_cast<int>(random() % 3);
    for (int k = 0; k < flips; ++k) bad[random() % bad.size()] ^= static_cast<char>(1 << random() % 8);
    meshes += sound(bad);
  }
  EXPECT_GT(meshes, 0);  // flips in coordinates, comments, point data
  EXPECT_LT(meshes, 1000);
}

TEST_P(ReaderFuzz, DeletedAndRepeatedPieces) {
  std::mt19937 random(3);
  for (int i = 0; i < 500; ++i) {
    std::string bad = sample_.good;
    const std::size_t at = random() % bad.size(), n = 1 + random() % 40;
    i % 2 ? bad.erase(at, n) : bad.insert(at, sample_.good.substr(random() % sample_.good.size(), n));
    sound(bad);
  }
}

INSTANTIATE_TEST_SUITE_P(AllFormats, ReaderFuzz, ::testing::ValuesIn(sample_names()),
                         [](const ::testing::TestParamInfo<std::string>& sample) { return sample.param; });

}  // namespace
}  // namespace tutti
