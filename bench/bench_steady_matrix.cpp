// The equations of a steady solution as a file for PETSc (bench/peers/petsc.sh): fibres that turn, 9:1, source 1, u = 0
// on the boundary.
//   build/release/bench/bench_steady_matrix CUBES FILE
#include <algorithm>
#include <charconv>
#include <cmath>
#include <fstream>
#include <iostream>
#include <numbers>
#include <numeric>
#include <vector>

#include "tutti/base/error.hpp"
#include "tutti/mesh/generate.hpp"
#include "tutti/models/diffusion/scheme/scheme.hpp"

namespace tutti::diffusion {
namespace {

LocalTetMesh one_part(const TetMesh& mesh) {
  LocalTetMesh part;
  part.owned = static_cast<Lid>(mesh.cell_count());
  part.vertices = mesh.vertices;
  part.regions = mesh.regions;
  part.global.resize(mesh.cells.size());
  std::iota(part.global.begin(), part.global.end(), Gid{0});
  for (const auto& cell : mesh.cells) {
    std::array<Lid, 4> local;
    std::ranges::transform(cell, local.begin(), [](Gid v) { return static_cast<Lid>(v); });
    part.cells.push_back(local);
  }
  for (const auto& behind : find_face_neighbours(mesh)) {
    std::array<Lid, 4> local;
    std::ranges::transform(behind, local.begin(), [](Gid n) { return static_cast<Lid>(n); });
    part.neighbours.push_back(local);
  }
  return part;
}

/// PETSc's files are big-endian.
template <class T>
void put(std::ofstream& out, T value) {
  std::array<char, sizeof(T)> bytes;
  std::copy_n(reinterpret_cast<const char*>(&value), sizeof(T), bytes.begin());
  std::ranges::reverse(bytes);
  out.write(bytes.data(), sizeof(T));
}

struct Entry {
  std::int32_t column;
  double value;
};

/// -L times the volume: nearly symmetric.
std::vector<Entry> matrix_row(const DiffusionRows& rows, std::size_t i, double volume) {
  std::vector<Entry> row;
  double own = -rows.diagonal[i];
  for (std::size_t e = 0; e < rows.counts[i]; ++e) {
    row.push_back({rows.columns[i][e], -volume * rows.values[i][e]});
    own += rows.values[i][e];
  }
  row.push_back({static_cast<std::int32_t>(i), volume * own});
  std::ranges::sort(row, {}, &Entry::column);
  return row;
}

void write(Gid cubes, const char* file) {
  BoxSpec spec;
  spec.cubes = {cubes, cubes, cubes};
  spec.jitter = 0.2;
  const LocalTetMesh mesh = one_part(generate_box(spec));
  std::vector<Sym3> K;
  for (Lid c = 0; c < mesh.owned; ++c) {
    const double turned = 2 * std::numbers::pi * mesh.centroid(c).z;
    K.push_back({5 + 4 * std::cos(turned), 5 - 4 * std::cos(turned), 1, 4 * std::sin(turned), 0, 0});
  }
  const DiffusionRows rows = assemble_rows(mesh, K, [](std::int32_t) { return BoundaryKind::dirichlet; });
  const std::size_t n = rows.values.size();
  constexpr std::int32_t matrix_class = 1211216, vector_class = 1211214;
  std::vector<std::vector<Entry>> all;
  std::int32_t entries = 0;
  for (std::size_t i = 0; i < n; ++i) {
    all.push_back(matrix_row(rows, i, mesh.volume(static_cast<Lid>(i))));
    entries += static_cast<std::int32_t>(all.back().size());
  }
  std::ofstream out(file, std::ios::binary);
  for (const std::int32_t word : {matrix_class, static_cast<std::int32_t>(n), static_cast<std::int32_t>(n), entries})
    put(out, word);
  for (const auto& row : all) put(out, static_cast<std::int32_t>(row.size()));
  for (const auto& row : all)
    for (const Entry& e : row) put(out, e.column);
  for (const auto& row : all)
    for (const Entry& e : row) put(out, e.value);
  for (const std::int32_t word : {vector_class, static_cast<std::int32_t>(n)}) put(out, word);
  for (std::size_t i = 0; i < n; ++i) put(out, mesh.volume(static_cast<Lid>(i)));
  if (!out.flush()) fail(ErrorKind::io, "{}: cannot be written; is there room?", file);
}

}  // namespace
}  // namespace tutti::diffusion

int main(int argc, char** argv) {
  tutti::Gid cubes = 0;
  if (argc != 3 ||
      std::from_chars(argv[1], argv[1] + std::char_traits<char>::length(argv[1]), cubes).ec != std::errc{} ||
      cubes < 1) {
    std::cerr << "usage: bench_steady_matrix CUBES FILE\n";
    return 2;
  }
  try {
    tutti::diffusion::write(cubes, argv[2]);
  } catch (const tutti::Error& error) {
    std::cerr << "bench_steady_matrix: " << error.what() << "\n";
    return error.exit_code();
  }
  return 0;
}
