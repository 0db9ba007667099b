// Meshes made on the spot: a box by hand, curved or unstructured ones through the gmsh program.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>

#include "tutti/mesh/spec_error.hpp"
#include "tutti/mesh/tet_mesh.hpp"

namespace tutti {

/// Tags of the six sides of every generated box; their names are x-min, x-max, y-min, y-max, z-min, z-max.
struct BoxTags {
  static constexpr std::int32_t x_min = 1, x_max = 2, y_min = 3, y_max = 4, z_min = 5, z_max = 6;
};

struct BoxSpec {
  std::array<Gid, 3> cubes{1, 1, 1};       ///< cubes along x, y, z; each becomes six tetrahedra
  Vec3 lower{0, 0, 0}, upper{1, 1, 1};     ///< opposite corners
  std::array<double, 3> grading{1, 1, 1};  ///< grid lines at t^grading, t = i/n: > 1 is denser at the lower side
  double jitter = 0;                       ///< interior vertices move by up to this fraction of the local spacing
  std::uint64_t seed = 1;                  ///< of the jitter
  std::optional<double> split_x;           ///< cells with a centroid left of it: region 1 "left", others 2 "right"
  std::function<Vec3(Vec3)> map;           ///< applied to every vertex last, for any density or shape
};

/// The box of `spec` in Kuhn's (Freudenthal's) six tetrahedra a cube, conforming, cube by cube with x running fastest.
/// Region 1 "box", or two regions where split_x is given: if that plane is a grid plane, its vertices stay in it and
/// the cells conform to it. Errors (usage): counts < 1, empty extent, jitter outside [0, 0.5), cells turned over by
/// jitter or map; (resource): too large for the memory.
TetMesh generate_box(const BoxSpec& spec, const ParallelFor& parallel = {});

/// Boundary tags of generate_biventricle, named base, epicardium, endocardium-lv, endocardium-rv.
struct HeartTags {
  static constexpr std::int32_t base = 1, epicardium = 2, endocardium_lv = 3, endocardium_rv = 4;
};

/// The default heart, in mm: a left ventricle between the ellipsoids (30, 30, 75) and (19, 19, 65) and a right one
/// between (42, 30, 62) and (37.5, 25.5, 57.5), 18 further in x; cut off above z = 15. Edge length `h` (mm): 1 gives
/// about 0.6 M cells, 0.52 4.2 M. Region 1 "myocardium". All cells are connected through faces, and every boundary face
/// has a tag. Runs gmsh, whose files (heart*.geo, .msh, .log) are kept in `work_dir` (made if missing; nothing there is
/// read). With one thread the same gmsh gives the same mesh every time; more threads are faster, but their meshes
/// differ from run to run. Errors: usage (h, threads), resource (gmsh is not installed), io (work_dir), input (gmsh
/// failed: see its log).
TetMesh generate_biventricle(double h, const std::filesystem::path& work_dir, int threads = 1);

/// The unit cube in gmsh's unstructured tetrahedra of edge length `h`, tagged like generate_box. With split_x in (0, 1)
/// the mesh conforms to that plane: region 1 "left", 2 "right"; else region 1 "box". Files (box*), threads
/// and errors as above.
TetMesh generate_unstructured_box(double h, const std::filesystem::path& work_dir, std::optional<double> split_x = {},
                                  int threads = 1);

}  // namespace tutti
