// What a case says about a flow in a box: keys and their meaning.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "tutti/io/case/case.hpp"
#include "tutti/mesh/box_grid.hpp"

namespace tutti::incompressible {

/// An end of the box: 2 * direction + (0 lower, 1 upper).
using BoxFace = int;
inline constexpr std::array<const char*, 6> box_face_names = {"x-lower", "x-upper", "y-lower",
                                                              "y-upper", "z-lower", "z-upper"};

enum class VelocityEnd : std::uint8_t { no_slip, free_slip, periodic, inflow, outflow };
enum class ScalarEnd : std::uint8_t { no_flux, fixed, flux };

/// What holds for the velocity at one face of the box.
struct FlowEnd {
  VelocityEnd velocity = VelocityEnd::no_slip;
  std::array<Expression, 3> value{};  ///< of a moving wall, or of what flows in
};

/// What holds for a scalar at one face of the box; of a periodic one it counts for nothing.
struct FlowScalarEnd {
  ScalarEnd kind = ScalarEnd::no_flux;
  Expression value;  ///< the scalar, or what flows in: diffusivity times the gradient along the inward normal, negated
};

/// What the flow carries, at the centres of cells: ds/dt + div(u s) = diffusivity lap s + source.
struct FlowScalar {
  std::string name;  ///< of its field
  double diffusivity = 0;
  Expression source, initial;
  std::array<FlowScalarEnd, 6> ends;
  std::optional<Expression> exact = {};
};

enum class TimeScheme : std::uint8_t { ab2, rk3 };
/// What stands for the turbulence that the grid does not resolve: div(2 nu_t S) with an eddy viscosity nu_t.
enum class SubgridModel : std::uint8_t { none, smagorinsky, wale };

/// The mean velocity over the box in a periodic direction, which a force, the same everywhere, keeps.
struct BulkFlow {
  int direction = 0;
  double velocity = 0;
};

/// Means over the planes across a direction, and over time.
struct ProfileKeys {
  int direction = 0;
  Size every = 1;                 ///< steps
  double start = 0, end = 0;      ///< times between which samples are taken
  std::vector<double> positions;  ///< where spectra are taken
};

enum class PressureMethod : std::uint8_t { jacobi, red_black, multigrid, direct };

struct FlowCase {
  BoxGrid grid;
  std::array<FlowEnd, 6> ends;
  double viscosity = 0;
  std::vector<FlowScalar> scalars;  ///< the temperature first, where there is any; the others do not act on the flow
  bool has_temperature = false;
  Vec3 buoyancy;  ///< acceleration a unit of temperature above the reference
  double reference = 0;
  std::array<Expression, 3> force{};
  std::optional<BulkFlow> bulk;
  SubgridModel subgrid = SubgridModel::none;
  double subgrid_constant = 0;
  std::optional<ProfileKeys> profiles;
  std::array<Expression, 3> initial_velocity{};
  std::optional<std::array<Expression, 3>> exact;  ///< velocity
  TimeScheme scheme = TimeScheme::ab2;
  bool implicit_diffusion = false;  ///< viscosity and conduction by Crank-Nicolson
  double diffusion_tolerance = 0;   ///< part of the error that its sweeps may leave
  PressureMethod pressure = PressureMethod::direct;
  int sweeps = 0;        ///< jacobi: so many; red_black: at most; multigrid: cycles at most
  int pieces = 0;        ///< direct: in which planes and columns travel; 0: as many as suit the grid
  double omega = 1;      ///< of red_black
  double steady = 0;     ///< relative change a unit of time below which the run ends; 0: it does not
  double tolerance = 0;  ///< of red_black and multigrid: largest divergence that is left, times a cell's width over the
                         ///< largest velocity; 0: of another solver

  /// The largest of viscosity and the scalars' diffusivities.
  double largest_diffusivity() const;
  /// The two directions of the plane in which the flow lies, where its stream function is wanted.
  std::optional<std::array<std::size_t, 2>> plane;
  bool is_forced() const;  ///< by a formula
  /// The pressure is fixed by an outflow; else only up to a constant.
  bool has_outflow() const;
};

/// Reads and checks them. Error(input): a face or a scalar named twice, one end of a direction periodic and the other
/// not, flow through a wall, an inflow that nothing lets out, a scalar held at a periodic face, a flux of what does not
/// diffuse, formulas that depend on time where they are evaluated once; a slice or a probe outside the box; a mass flow
/// or planes of profiles along what is not periodic; a mass flow or a subgrid model with what they do not go with.
FlowCase read_flow_case(const Case& options);

}  // namespace tutti::incompressible
