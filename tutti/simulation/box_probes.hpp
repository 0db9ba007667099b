// Values at points of a grid that is cut into boxes.
#pragma once

#include <array>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "tutti/base/comm.hpp"
#include "tutti/base/vec3.hpp"
#include "tutti/simulation/box_domain.hpp"

namespace tutti {

/// The cells of points. Error(input) for a point outside the box, which begins with its label. A point on a plane
/// between cells belongs to the upper one.
std::vector<std::array<Lid, 3>> probe_cells(const BoxGrid& grid, std::span<const Vec3> points,
                                            std::span<const std::string> labels);

/// Points whose cells are looked up once and read often.
class BoxProbes {
 public:
  BoxProbes() = default;
  /// Error(input) on all ranks, as probe_cells.
  BoxProbes(const Comm& comm, const BoxDomain& domain, std::span<const Vec3> points,
            std::span<const std::string> labels);

  /// Puts the values of a cell of part p of this rank, `quantities` of them, into `values`.
  using Read = std::function<void(std::size_t p, const std::array<Lid, 3>& cell, std::span<double> values)>;
  /// What `read` finds in the cell of every probe, probe after probe, on all ranks. Collective.
  std::vector<double> sample(const Comm& comm, std::size_t quantities, const Read& read) const;

 private:
  struct Place {
    std::size_t probe, part;  ///< part of this rank
    std::array<Lid, 3> cell;
  };
  std::size_t probes_ = 0;     ///< of all ranks
  std::vector<Place> places_;  ///< in parts of this rank
};

}  // namespace tutti
