// What a case of transport on the sphere says.
#pragma once

#include <algorithm>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "tutti/io/case/case.hpp"
#include "tutti/models/transport/runge_kutta.hpp"
#include "tutti/models/transport/stencils/stencil_basis.hpp"
#include "tutti/models/transport/stencils/stencil_rows.hpp"
#include "tutti/residency/residency.hpp"

namespace tutti::transport {

/// Adds the keys [stencil], [hyperviscosity], [velocity], [[tracer]], time.method and [numerics] to the core's.
void add_transport_keys(CaseSchema& schema);

struct Tracer {
  std::string name;
  Expression initial;
  std::optional<Expression> exact;
};

/// By which hyperviscosity, gamma Delta^k, waves that stencils cannot carry are damped.
enum class Damping : std::uint8_t {
  spectral,  ///< gamma so large that dt times its spectral radius is `strength`
  paper,     ///< gamma = gamma_c N^-k [Bollig 2012, eq. 5]
  none,
};

/// Whether the gamma of spectral damping is one number, or at each node what its own stencil needs.
enum class GammaKind : std::uint8_t { automatic, uniform, local };

struct TransportCase {
  StencilBasis basis;  ///< but epsilon, which basis_for gives
  double c1 = 0, c2 = 0;
  std::optional<double> epsilon;
  std::optional<std::filesystem::path> cache;  ///< of the weights
  Damping damping = Damping::spectral;
  std::optional<double> strength;  ///< spectral: beta, or none; paper: gamma_c [1/s]
  GammaKind gamma = GammaKind::uniform;
  bool cartesian = false;
  std::vector<Expression> velocity;  ///< x, y, z components, of which the tangential part counts; or east and north
  std::vector<Tracer> tracers;
  RungeKutta method = RungeKutta::rk4;
  StencilKernel kernel = StencilKernel::threads;
  ResidencyOptions held;  ///< of the weights
  bool separate = false;  ///< operators of a steady velocity are not merged

  bool steady() const;
  /// That a step applies: 1 or 2 where the velocity is steady, else 3.
  int operators() const { return !steady() ? 3 : separate ? 2 : 1; }
  /// Of a node's row, as Step takes it: terms, of which diffusion's rows have 14.
  int row_cost() const {
    return std::max(1, (basis.size - 1) * std::max(operators(), static_cast<int>(tracers.size())) / 14);
  }
  /// The basis for so many nodes.
  StencilBasis basis_for(Gid nodes) const;
};

/// Error(input): what contradicts itself, with its place.
TransportCase read_transport_case(const Case& options);

}  // namespace tutti::transport
