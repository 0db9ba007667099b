// Better meshes: nodes move until the energy of the cells stops falling.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "tutti/models/smoothing/mesh_parts.hpp"
#include "tutti/schedule/step.hpp"

namespace tutti::smoothing {

struct SmoothOptions {
  Energy energy = Energy::shape;
  Method method = Method::newton;
  /// All nodes move at once (Jacobi); else those of a colour after those of another (Gauss-Seidel).
  bool simultaneous = false;
  BoundaryRule boundary = BoundaryRule::slide;
  /// Derivatives and steps in float, of differences of coordinates in double: faster on GPUs, and as good. All else,
  /// and nodes of very bad cells, is in double. Energies: shape, and triangles in a plane.
  bool in_float = false;
  /// GPUs: kernels made for them instead of the portable ones; the same bits.
  bool tuned = true;
  double feature_angle = 30;  ///< degrees
  double damping = 1;         ///< times each step
  int iterations = 20;        ///< at most
  /// Smoothing ends when an iteration lowers the energy by less than this part of it; 0: it does not end so.
  double stop_energy = 1e-5;
  double stop_movement = 0;  ///< when no node has moved by more than this part of a cell's size; 0: never
  double stop_quality = 0;   ///< when the smallest mean ratio has reached this; 0: never
  int swaps = 0;             ///< rounds of swaps of cells, each followed by smoothing; of tetrahedra, by smooth_mesh()
  int untangling = 100;      ///< iterations that cells turned over are given; 0: such meshes are refused
};

/// After an iteration; the first one is the mesh as it came.
struct SmoothState {
  double energy = 0;
  double min_mean_ratio = 0;  ///< 0 where cells are inverted
  double movement = 0;        ///< of the node that moved most, in sizes of a cell
  Gid inverted = 0;
};

struct SmoothReport {
  std::vector<SmoothState> untangling;  ///< empty where no cell was inverted
  std::vector<SmoothState> smoothing;   ///< empty where cells are inverted still
  std::string why_stopped;
  int colours = 0;
  double seconds = 0;  ///< of the iterations
  Gid node_moves = 0;  ///< nodes times sweeps
  Gid swapped = 0;     ///< swaps of cells; the energies of all rounds stand one after the other
};

/// Smooths a mesh of tetrahedra, or of triangles if it has no others, on all parts. The result's bits depend on the
/// mesh and the options, not on parts or devices.
class Smoother {
 public:
  /// All ranks have the same mesh; `owner` is the part of every node. Collective. Errors: usage (the thesis' method
  /// wants the energy l2v and tetrahedra).
  Smoother(const Comm& comm, Threads& threads, const TetMesh& mesh, const NodeFreedom& freedom,
           const SmoothOptions& options, std::span<const std::int32_t> owner, std::span<const int> rank_of_part,
           std::span<PartStreams> streams, Overlap overlap = Overlap::full);
  ~Smoother();

  /// Untangles, then smooths. Collective. Error(input): inverted cells and no untangling.
  SmoothReport run();
  /// One sweep over all nodes. Collective.
  void sweep(double eps2 = 0);
  SmoothState state(double eps2 = 0);
  /// All nodes. Collective.
  std::vector<Vec3> points() const;
  const MeshParts& parts() const { return *parts_; }
  Energy energy() const;
  const Plane& plane() const { return plane_; }  ///< of plane triangles

 private:
  void build_step(Overlap overlap, int row_cost);
  SweepRows sweep_of(std::size_t level, std::size_t p) const;
  void exchange_moved(std::size_t level);
  void bind(std::size_t level, bool moved);
  void sweep_at_once();
  bool take_back_bad();
  struct Energies {
    double energy, worst_shape;  ///< of all cells, and the largest shape energy
  };
  Energies energies(double eps2, bool moved = false);
  bool energy_is_lower();
  void untangle(SmoothReport& report);
  double cell_size();
  CellView view_of(std::size_t p, bool moved) const;
  double sum(const std::function<ExactSum(std::size_t, Stream&, const CellView&)>& of);
  double max(const std::function<double(std::size_t, Stream&, const CellView&)>& of);

  const Comm& comm_;
  Threads& threads_;
  SmoothOptions options_;
  std::span<PartStreams> streams_;
  Gid nodes_ = 0, cells_ = 0, moving_ = 0;
  bool triangles_ = false;
  bool in_plane_ = false;  ///< all triangles lie in plane_
  Plane plane_;
  std::unique_ptr<MeshParts> parts_;
  std::unique_ptr<Step> step_;  ///< all moving levels, one after the other
  double eps2_ = 0;
  bool untangling_ = false;
  std::uint64_t work_ = 1;
};

}  // namespace tutti::smoothing
