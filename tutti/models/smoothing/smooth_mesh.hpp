// From a mesh to a better one, on all devices of all ranks.
#pragma once

#include "tutti/device/device_list.hpp"
#include "tutti/models/smoothing/smoother.hpp"
#include "tutti/partition/partition.hpp"

namespace tutti::smoothing {

/// How nodes are split over parts. It changes no result.
struct Sharing {
  Partitioner method = Partitioner::hilbert;
  std::vector<double> weights;  ///< of all parts; empty: by the bandwidth of their devices
};

/// Smooths the root's mesh: its vertices move, and all else stays. Cells may be inverted: they are untangled first.
/// Collective; every rank has the mesh afterwards. Errors: usage (another number of weights than parts), and as
/// Smoother.
SmoothReport smooth_mesh(const Comm& comm, DeviceSet& devices, TetMesh& mesh, const SmoothOptions& options,
                         const Sharing& sharing = {});

}  // namespace tutti::smoothing
