// What the mesh tests share.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <numeric>
#include <random>
#include <string>

#include "tutti/base/error.hpp"
#include "tutti/mesh/generate.hpp"
#include "tutti/mesh/tet_mesh.hpp"

namespace tutti::test {

/// A folder that is gone after the test.
class TemporaryFolder {
 public:
  TemporaryFolder() {
    static int count = 0;
    path_ = std::filesystem::temp_directory_path() /
            ("tutti_mesh_" + std::to_string(::getpid()) + "_" + std::to_string(count++));
    std::filesystem::create_directories(path_);
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  std::filesystem::path operator/(const std::string& name) const { return path_ / name; }

 private:
  std::filesystem::path path_;
};

inline void write_file(const std::filesystem::path& path, const std::string& content) {
  // A new file each time: some file systems write an overwritten one to the disk at once, which takes milliseconds.
  std::filesystem::remove(path);
  std::ofstream out(path, std::ios::binary);
  out.write(content.data(), static_cast<std::streamsize>(content.size()));
  ASSERT_TRUE(out.good());
}

inline std::string read_file(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

/// The message of the tutti::Error that `action` throws; its kind must be `kind`.
template <class Action>
std::string error_of(ErrorKind kind, Action&& action) {
  try {
    action();
  } catch (const Error& e) {
    EXPECT_EQ(e.kind(), kind) << e.what();
    EXPECT_EQ(std::string(e.what()).find('\n'), std::string::npos) << "one line: " << e.what();
    return e.what();
  }
  ADD_FAILURE() << "no error";
  return "";
}

inline void expect_same(const TetMesh& a, const TetMesh& b) {
  EXPECT_EQ(a.vertices, b.vertices);
  EXPECT_EQ(a.cells, b.cells);
  EXPECT_EQ(a.regions, b.regions);
  EXPECT_EQ(a.boundary, b.boundary);
  EXPECT_EQ(a.boundary_tags, b.boundary_tags);
  EXPECT_EQ(a.region_names, b.region_names);
  EXPECT_EQ(a.boundary_names, b.boundary_names);
  ASSERT_EQ(a.cell_data.size(), b.cell_data.size());
  for (std::size_t i = 0; i < a.cell_data.size(); ++i) {
    EXPECT_EQ(a.cell_data[i].name, b.cell_data[i].name);
    EXPECT_EQ(a.cell_data[i].components, b.cell_data[i].components);
    EXPECT_EQ(a.cell_data[i].values, b.cell_data[i].values);
  }
}

/// The same mesh with cells and vertices in random order.
inline TetMesh shuffled(const TetMesh& mesh, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<Gid> order(mesh.cells.size()), vertex(mesh.vertices.size());
  std::iota(order.begin(), order.end(), 0);
  std::iota(vertex.begin(), vertex.end(), 0);
  std::shuffle(order.begin(), order.end(), random);
  std::shuffle(vertex.begin(), vertex.end(), random);
  TetMesh result = mesh;
  for (std::size_t v = 0; v < vertex.size(); ++v) result.vertices[vertex[v]] = mesh.vertices[v];
  for (std::size_t c = 0; c < order.size(); ++c) {
    result.cells[c] = mesh.cells[order[c]];
    result.regions[c] = mesh.regions[order[c]];
    for (Gid& v : result.cells[c]) v = vertex[v];
  }
  for (auto& triangle : result.boundary)
    for (Gid& v : triangle) v = vertex[v];
  return result;
}

/// The unit cube in five tetrahedra: four corners with three boundary faces each around one without any.
inline TetMesh five_tets() {
  TetMesh m;
  for (int i = 0; i < 8; ++i)
    m.vertices.push_back({static_cast<double>(i & 1), static_cast<double>(i >> 1 & 1), static_cast<double>(i >> 2)});
  m.cells = {{0, 1, 2, 4}, {3, 2, 1, 7}, {5, 4, 7, 1}, {6, 7, 4, 2}, {1, 2, 4, 7}};
  for (auto& c : m.cells) {
    const auto at = [&](std::size_t i) { return m.vertices[c[i]]; };
    if (tet_volume(at(0), at(1), at(2), at(3)) < 0) std::swap(c[2], c[3]);
  }
  m.regions.assign(5, 1);
  return m;
}

/// `n` tetrahedra around one edge: a vertex with very many cells.
inline TetMesh fan(int n) {
  TetMesh m;
  m.vertices = {{0, 0, 0}, {0, 0, 1}};
  for (int i = 0; i < n; ++i) m.vertices.push_back({std::cos(6.283185307 * i / n), std::sin(6.283185307 * i / n), 0.5});
  for (int i = 0; i < n; ++i) m.cells.push_back({0, 2 + i, 2 + (i + 1) % n, 1});
  m.regions.assign(m.cells.size(), 1);
  return m;
}

}  // namespace tutti::test
