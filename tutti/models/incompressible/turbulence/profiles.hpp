// Means over time and over the planes across a direction, and energy spectra along the axes of such planes.
#pragma once

#include <array>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "tutti/base/exact_sum.hpp"
#include "tutti/domain/box_domain.hpp"
#include "tutti/io/checkpoint/checkpoint.hpp"
#include "tutti/models/incompressible/flow_part.hpp"
#include "tutti/models/incompressible/turbulence/line_spectrum.hpp"

namespace tutti::incompressible {

/// What profiles.csv says of a plane of cells, all at their centres: u, v, w (means of the two faces), the covariances
/// uu, vv, ww (of the squares at both faces) and uv, uw, vw (of the means), p, pp; nu_t of a subgrid model; of each
/// scalar s its mean and the covariances s s, u s, v s, w s.
template <class T>
class FlowProfiles {
 public:
  explicit FlowProfiles(const FlowCase& flow);  ///< with `profiles`
  /// After so many steps, at this time.
  bool due(double steps, double time) const;
  /// Adds a sample of the present flow, nu_t included. Sums over planes are exact before they are rounded, and spectra
  /// are those of gathered planes: the same bits however the grid is shared. Collective.
  void sample(const Comm& comm, BoxDomain& domain, std::vector<FlowPart<T>>& parts);
  /// The sums so far, for checkpoints.
  std::vector<StateNumber> numbers();
  /// profiles.csv and, where spectra were asked for, spectra.csv. Error(io).
  void write(const std::filesystem::path& folder) const;

 private:
  struct Column {
    std::string name, unit;
    int first = -1, second = -1;  ///< columns whose means' product is taken off: a covariance
  };
  struct Spectrum {
    Lid plane = 0;
    int axis = 0;
    std::vector<std::vector<double>> sums;  ///< [u, v, w, scalars][wave number]
  };
  std::vector<ExactSum> plane_sums(BoxDomain& domain, std::vector<FlowPart<T>>& parts) const;
  std::vector<double> gather_plane(const Comm& comm, BoxDomain& domain, std::vector<FlowPart<T>>& parts,
                                   const Spectrum& spectrum, std::size_t field) const;
  std::size_t at(Lid plane, std::size_t column) const {
    return static_cast<std::size_t>(plane) * columns_.size() + column;
  }

  ProfileKeys keys_;
  BoxGrid grid_;
  bool eddies_;
  std::vector<std::string> scalars_;
  std::vector<Column> columns_;
  double samples_ = 0;
  std::vector<double> sums_;  ///< [plane][column]
  std::array<std::optional<LineSpectrum>, 3> along_;
  std::vector<Spectrum> spectra_;
};

extern template class FlowProfiles<double>;
extern template class FlowProfiles<float>;

}  // namespace tutti::incompressible
