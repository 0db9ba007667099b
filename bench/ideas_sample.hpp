// Rows to try kernels on: a box or a mesh file, as often as need be, along a Hilbert curve or in slabs.
#pragma once

#include <algorithm>
#include <array>
#include <filesystem>
#include <functional>
#include <numeric>
#include <thread>
#include <vector>

#include "tutti/base/random.hpp"
#include "tutti/mesh/generate.hpp"
#include "tutti/mesh/read_mesh.hpp"
#include "tutti/mesh/stencil.hpp"
#include "tutti/models/diffusion/scheme.hpp"
#include "tutti/partition/partition.hpp"

namespace tutti {

/// body(i) for i in [0, count) on all threads.
inline void for_all(Size count, const std::function<void(Size)>& body) {
  const Size threads = std::max(1U, std::thread::hardware_concurrency());
  std::vector<std::thread> team;
  for (Size t = 0; t < threads; ++t)
    team.emplace_back([=, &body] {
      for (Size i = count * t / threads; i < count * (t + 1) / threads; ++i) body(i);
    });
  for (std::thread& thread : team) thread.join();
}

struct IdeasSample {
  DiffusionRows rows;
  std::vector<std::array<Lid, 4>> faces;  ///< face neighbours in the rows' order; the row itself behind a boundary
};

/// One mesh with its curve; samples of any order are made from it.
struct IdeasMesh {
  Adjacency stencil;
  FaceNeighbours faces;
  std::vector<Lid> place;   ///< of a cell on the Hilbert curve
  std::vector<Lid> height;  ///< of a cell among all by z
  Size cells() const { return static_cast<Size>(faces.size()); }
};

inline IdeasMesh ideas_mesh(const TetMesh& mesh) {
  IdeasMesh result;
  result.faces = find_face_neighbours(mesh);
  result.stencil = tet_stencil(result.faces);
  const auto centroids = cell_centroids(mesh);
  const auto ranks = [](const std::vector<Lid>& order) {
    std::vector<Lid> rank(order.size());
    for (std::size_t k = 0; k < order.size(); ++k) rank[static_cast<std::size_t>(order[k])] = static_cast<Lid>(k);
    return rank;
  };
  result.place = ranks(order_rows(Ordering::hilbert, centroids, {}));
  std::vector<Lid> upwards(centroids.size());
  std::iota(upwards.begin(), upwards.end(), 0);
  std::stable_sort(upwards.begin(), upwards.end(), [&](Lid a, Lid b) {
    return centroids[static_cast<std::size_t>(a)].z < centroids[static_cast<std::size_t>(b)].z;
  });
  result.height = ranks(upwards);
  return result;
}

/// `copies` of the mesh behind each other. `slab_rows` > 0: slabs of so many rows by height, each along the curve, so
/// that a row's columns are in its own slab and the two beside it (if slabs are thick enough).
inline IdeasSample ideas_sample(const IdeasMesh& mesh, Size copies, Size slab_rows = 0) {
  const Size one = mesh.cells(), n = one * copies;
  std::vector<Lid> order(static_cast<std::size_t>(n)), now(order.size());  // of cell c of copy k: c + one k
  if (slab_rows == 0) slab_rows = n;
  std::vector<std::vector<std::pair<Lid, Lid>>> slabs(static_cast<std::size_t>((n + slab_rows - 1) / slab_rows));
  for (Size v = 0; v < n; ++v) {
    const auto cell = static_cast<std::size_t>(v % one);
    const Size height = slab_rows == n ? 0 : v / one * one + mesh.height[cell];
    slabs[static_cast<std::size_t>(height / slab_rows)].emplace_back(static_cast<Lid>(v / one * one + mesh.place[cell]),
                                                                     static_cast<Lid>(v));
  }
  for_all(static_cast<Size>(slabs.size()), [&](Size s) {
    auto& slab = slabs[static_cast<std::size_t>(s)];
    std::sort(slab.begin(), slab.end());
    for (std::size_t k = 0; k < slab.size(); ++k) order[static_cast<std::size_t>(s * slab_rows) + k] = slab[k].second;
  });
  for_all(n, [&](Size i) { now[static_cast<std::size_t>(order[static_cast<std::size_t>(i)])] = static_cast<Lid>(i); });
  IdeasSample sample;
  sample.rows.columns.resize(order.size());
  sample.rows.values.resize(order.size());
  sample.rows.counts.resize(order.size());
  sample.rows.diagonal.assign(order.size(), 0.0);
  sample.faces.resize(order.size());
  for_all(n, [&](Size k) {
    const auto i = static_cast<std::size_t>(k);
    const Size v = order[i], copy = v / one * one;
    const auto at = [&](Gid cell) { return now[static_cast<std::size_t>(cell + copy)]; };
    auto& columns = sample.rows.columns[i];
    auto& values = sample.rows.values[i];
    columns.fill(static_cast<Lid>(k));
    values.fill(0);
    std::size_t j = 0;
    for (const Gid g : mesh.stencil.row(v % one)) {
      values[j] = 1e-3 * (0.5 + random_unit(static_cast<std::uint64_t>(v % one), static_cast<std::uint64_t>(g)));
      columns[j++] = at(g);
    }
    sample.rows.counts[i] = static_cast<std::uint8_t>(j);
    for (std::size_t f = 0; f < 4; ++f) {
      const Gid g = mesh.faces[static_cast<std::size_t>(v % one)][f];
      sample.faces[i][f] = g < 0 ? static_cast<Lid>(k) : at(g);
    }
  });
  return sample;
}

}  // namespace tutti
