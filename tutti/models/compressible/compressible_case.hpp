// What a case says of compressible flow.
#pragma once

#include <array>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "tutti/base/mpi/comm.hpp"
#include "tutti/device/device_list.hpp"
#include "tutti/io/case/case.hpp"
#include "tutti/models/compressible/elements/basis.hpp"
#include "tutti/models/compressible/flux/boundary.hpp"
#include "tutti/models/compressible/force_coefficients.hpp"
#include "tutti/models/compressible/kernels/view.hpp"
#include "tutti/residency/residency.hpp"

namespace tutti::compressible {

enum class TimeMethod : std::uint8_t { ssp_rk3, ssp_rk54, low_storage };

/// Of GPUs. Automatic: tuned where all devices of the run are GPUs and all parts have tuned ones. Portable: of CPUs,
/// too, one element at a time.
enum class KernelChoice : std::uint8_t { automatic, portable, tuned };
/// How runs and plans say that GPUs have tuned ones.
inline constexpr const char* tuned_line =
    "kernels: tuned for the tensor cores of GPUs, with the same bits on any number of GPUs; those of CPUs may differ "
    "in "
    "the last digits";

/// What holds on a physical surface.
struct BoundaryCondition {
  std::string name;
  BoundaryKind kind = BoundaryKind::slip;
  /// rho, u, v, w, p, temperature, as far as the kind wants them.
  std::array<std::optional<Expression>, boundary_values> values;
};

struct CompressibleCase {
  int order = 3;
  bool stored = false;      ///< every element has tables of its own
  bool recomputed = false;  ///< those that would have tables of their own keep a matrix instead
  KernelChoice kernels = KernelChoice::automatic;
  bool tuned = false;     ///< on GPUs, the kernels of straight_cuda.cuh where they fit: see choose_kernels()
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
  /// Straight elements have kernels of their own on such a device; on CPUs with the bits of the portable ones.
  bool has_straight_kernels(DeviceKind device) const {
    return !sensor.on() && (device == DeviceKind::cuda ? tuned : kernels != KernelChoice::portable);
  }
  int bases() const { return basis_size(order); }
};

/// Adds the model's keys to the core's.
void add_compressible_keys(CaseSchema& schema);
/// All but the boundary, and `tuned` where that is left to choose_kernels(). Error(input).
CompressibleCase read_compressible_case(const Case& options);

/// Settles `tuned` for the devices of a run: tuned kernels may add in another order than CPUs do, so that a run on both
/// has the portable ones. Collective.
void choose_kernels(CompressibleCase& flow, const Comm& comm, const DeviceSet& devices);

/// The tag of a surface by its name, or else its number. Error(input) at `where`: the mesh has none.
std::int32_t tag_of_surface(const std::string& where, const std::string& name,
                            const std::map<std::int32_t, std::string>& names, const std::set<std::int32_t>& tags);

/// The condition of each tag in use. Error(input): a surface that the mesh has not, or that has no table.
std::map<std::int32_t, std::int32_t> conditions_of_tags(const Case& options, const CompressibleCase& flow,
                                                        const std::map<std::int32_t, std::string>& names,
                                                        const std::set<std::int32_t>& tags);

}  // namespace tutti::compressible
