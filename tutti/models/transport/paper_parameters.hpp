// The parameters that the paper found for its nodes [Bollig 2012, Tables 2 and 3].
//
// They hold for maximum-determinant nodes from N = 4,096 or so on, and for no others: on Fibonacci nodes they are
// unstable, on icosahedral ones for n >= 50 in the second test.
#pragma once

#include <array>
#include <cmath>

#include "tutti/base/types.hpp"

namespace tutti::transport {

struct PaperParameters {
  int size;        ///< n
  double c1, c2;   ///< eps = c1 sqrt(N) - c2
  int k;           ///< order of the hyperviscosity
  double gamma_c;  ///< its size; text and tables of the paper give it opposite signs

  /// Shape parameter for N nodes.
  double epsilon(Gid nodes) const { return c1 * std::sqrt(static_cast<double>(nodes)) - c2; }
  /// What Delta^k is multiplied by in du/dt: (-1)^(k+1) gamma_c N^-k, so that it damps.
  double hyper_factor(Gid nodes) const {
    return (k % 2 == 0 ? -1 : 1) * gamma_c * std::pow(static_cast<double>(nodes), -k);
  }
};

/// Table 2: vortex roll-up, time without a unit.
inline constexpr std::array<PaperParameters, 4> vortex_parameters{
    {{17, 0.026, 0.08, 2, 8}, {31, 0.035, 0.1, 4, 800}, {50, 0.044, 0.14, 4, 145}, {101, 0.058, 0.16, 4, 40}}};
/// Table 3: cosine bell. gamma_c is in 1/s: with time in units of 1/u_0 it is to be multiplied by bell_time_unit.
inline constexpr std::array<PaperParameters, 4> bell_parameters{
    {{17, 0.026, 0.08, 2, 8e-4}, {31, 0.035, 0.1, 4, 5e-2}, {50, 0.044, 0.14, 6, 5e-1}, {101, 0.058, 0.16, 8, 5e-2}}};
/// 1/u_0 [s], u_0 = 2 pi / (12 days): 165,012 s.
inline constexpr double bell_time_unit = 1036800 / 6.283185307179586;

/// A table as cases name it, and what its gamma_c is multiplied by for the case's unit of time.
struct PaperTable {
  const char* name;
  const std::array<PaperParameters, 4>& entries;
  double factor;
};
inline constexpr std::array<PaperTable, 3> paper_tables{{{"vortex", vortex_parameters, 1},
                                                         {"bell", bell_parameters, bell_time_unit},
                                                         {"bell-seconds", bell_parameters, 1}}};

/// The entry for stencils of `size` nodes; null: the table has none.
inline const PaperParameters* find_parameters(const std::array<PaperParameters, 4>& table, int size) {
  for (const PaperParameters& entry : table)
    if (entry.size == size) return &entry;
  return nullptr;
}

}  // namespace tutti::transport
