// How good the cells of a mesh are: extremes, means, histograms, the worst ones.
#pragma once

#include <string>
#include <vector>

#include "tutti/base/parallel.hpp"
#include "tutti/mesh/quality/tet_quality.hpp"
#include "tutti/mesh/tet_mesh.hpp"

namespace tutti {

/// Values sorted into bins: counts[i] lie in [edges[i], edges[i + 1]). What lies outside counts to the first or the
/// last.
struct Histogram {
  std::vector<double> edges;
  std::vector<Size> counts;
};

/// A measure over all cells.
struct Measure {
  double min = 0, mean = 0, max = 0;
  Histogram histogram;
};

struct WorstCell {
  Gid cell = 0;
  std::int32_t region = 0;
  Vec3 centroid;
  TetQuality quality;
};

struct MeshQuality {
  bool triangles = false;  ///< a mesh of triangles: areas for volumes, inner angles for dihedral ones
  Gid cells = 0;
  Gid inverted = 0;  ///< cells without a positive volume
  double total_volume = 0;
  Measure mean_ratio, radius_ratio;
  Measure aspect;    ///< inverted and flat cells with the size of their volume; infinity where flat
  Measure dihedral;  ///< all six angles of every cell, degrees
  Measure volume;
  std::vector<WorstCell> worst;  ///< by mean ratio, the worst first; equal ones by number
};

/// Of all cells, in their order as the mesh gives it: they may be inverted. `worst`: how many cells to name. An empty
/// mesh gives zeros. The same bits for any number of threads.
MeshQuality assess_quality(const TetMesh& mesh, std::size_t worst = 10, const ParallelFor& parallel = {});

/// The unit normal of a mesh of triangles that lie in a plane and turn alike but for those that are inverted: the side
/// that most of the area shows. Zero for other meshes.
Vec3 plane_normal(const TetMesh& mesh);

/// Several lines for people: extremes, bars of the histograms, the worst cells.
std::string describe(const MeshQuality& quality);

/// The mesh's own data and, behind them, `mean_ratio`, `radius_ratio`, `aspect_ratio`, `min_dihedral`, `volume` of the
/// cells; data of these names are replaced.
std::vector<CellData> quality_data(const TetMesh& mesh, const ParallelFor& parallel = {});

}  // namespace tutti
