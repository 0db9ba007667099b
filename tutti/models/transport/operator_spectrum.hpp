// All eigenvalues of what a step applies, for few nodes [Bollig 2012, Figures 8 and 11].
#pragma once

#include <complex>
#include <span>
#include <vector>

#include "tutti/base/vec3.hpp"
#include "tutti/device/threads.hpp"
#include "tutti/models/transport/transport_case.hpp"

namespace tutti::transport {

/// The operator at one moment, in global numbers: entry j of row i at [i * size + j], the node itself first. As in the
/// steps, the weight of the node itself is minus the sum of its neighbours': a constant has no rate.
struct OperatorRows {
  int size = 0;
  std::vector<Gid> columns;
  std::vector<double> advection;  ///< -v . grad [1/s]
  std::vector<double> damping;    ///< gamma Delta^k with the sign that damps [1/s]

  std::vector<double> sum() const;
};

/// The rows of all nodes, made anew from the case. `gamma`: what Delta^k is multiplied by, without its sign; `local`:
/// each row of Delta^k is divided by its length first. Errors as make_weights.
OperatorRows operator_rows(const TransportCase& transport, std::span<const Vec3> nodes, double time, double gamma,
                           bool local, Threads& threads);

/// All eigenvalues of a square matrix of rows as in OperatorRows, in no order; a column may come several times in a
/// row. O(N^3) on this thread, in dense_bytes(N). Error(numerical): the iteration does not end.
std::vector<std::complex<double>> dense_eigenvalues(int size, std::span<const Gid> columns,
                                                    std::span<const double> weights);

/// Nodes whose eigenvalues can be waited for, and what N of them take [bytes].
inline constexpr Gid max_dense_nodes = 5'000;
constexpr double dense_bytes(Gid nodes) {
  return 6.0 * 8 * static_cast<double>(nodes) * static_cast<double>(nodes);
}

/// What eigenvalues mean for a run.
struct SpectrumReport {
  double largest_real = 0;   ///< [1/s]: by what the worst grows in time, however short the steps are
  double radius = 0;         ///< largest modulus [1/s]
  Gid growing = 0;           ///< right of the imaginary axis, by more than on_axis times the radius
  double amplification = 0;  ///< what a step of the method multiplies the worst by
  double dt_limit = 0;  ///< largest dt whose steps let none grow that the operator does not [s]; infinite: all are 0
  static constexpr double on_axis = 1e-6;
};

SpectrumReport assess_spectrum(std::span<const std::complex<double>> eigenvalues, RungeKutta method, double dt);

}  // namespace tutti::transport
