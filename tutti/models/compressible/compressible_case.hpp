// What a case says of compressible flow.
#pragma once

#include <array>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "tutti/io/case/case.hpp"
#include "tutti/models/compressible/elements/basis.hpp"
#include "tutti/models/compressible/flux/boundary.hpp"
#include "tutti/models/compressible/force_coefficients.hpp"
#include "tutti/models/compressible/kernels/view.hpp"
#include "tutti/residency/residency.hpp"

namespace tutti::compressible {

enum class TimeMethod : std::uint8_t { ssp_rk3, ssp_rk54, low_storage };

/// What holds on a physical surface.
struct BoundaryCondition {
  std::string name;
  BoundaryKind kind = BoundaryKind::slip;
  /// rho, u, v, w, p, temperature, as far as the kind wants them.
  std::array<std::optional<Expression>, boundary_values> values;
};

struct CompressibleCase {
  int order = 3;
  bool stored = false;    ///< every element has tables of its own
  bool tuned = false;     ///< on GPUs, the kernels of tet_cuda.cuh where they fit
  ResidencyOptions held;  ///< of the tables of volumes
  double eta = 2;         ///< of BR2
  Gas gas;
  FluxKind flux = FluxKind::hllc;
  TimeMethod method = TimeMethod::ssp_rk3;
  std::array<Expression, variables> initial;  ///< rho, u, v, w, p
  std::vector<Expression> source;             ///< of the five conserved variables; empty: none
  std::optional<Expression> exact_rho;
  std::vector<BoundaryCondition> conditions;
  ForceOptions forces;

  bool limited = false;  ///< density and pressure are kept above 0
  ShockSensor sensor;

  bool diffuses() const { return gas.viscous() || sensor.on(); }
  int bases() const { return basis_size(order); }
};

/// Adds the model's keys to the core's.
void add_compressible_keys(CaseSchema& schema);
/// All but the boundary. Error(input).
CompressibleCase read_compressible_case(const Case& options);

/// The tag of a surface by its name, or else its number. Error(input) at `where`: the mesh has none.
std::int32_t tag_of_surface(const std::string& where, const std::string& name,
                            const std::map<std::int32_t, std::string>& names, const std::set<std::int32_t>& tags);

/// The condition of each tag in use. Error(input): a surface that the mesh has not, or that has no table.
std::map<std::int32_t, std::int32_t> conditions_of_tags(const Case& options, const CompressibleCase& flow,
                                                        const std::map<std::int32_t, std::string>& names,
                                                        const std::set<std::int32_t>& tags);

}  // namespace tutti::compressible
