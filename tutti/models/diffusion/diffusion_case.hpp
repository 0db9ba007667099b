// What a diffusion case says: its keys, and the physics made of them.
#pragma once

#include <array>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "tutti/base/raw_vector.hpp"
#include "tutti/device/threads.hpp"
#include "tutti/io/case/case.hpp"
#include "tutti/mesh/local_tet_mesh.hpp"
#include "tutti/models/diffusion/rows/operator.hpp"
#include "tutti/models/diffusion/scheme/scheme.hpp"

namespace tutti::diffusion {

/// time.method.
enum class TimeMethod : std::uint8_t { euler, rkc2, backward_euler, crank_nicolson, bdf2, steady };
TimeMethod time_method(const Case& options);
/// Does a step solve equations?
inline bool is_implicit(TimeMethod method) {
  return method >= TimeMethod::backward_euler;
}

bool uses_multigrid(const Case& options);
/// Are implicit steps made of sub-steps, by an estimate of their error?
bool adapts(const Case& options);

/// Adds the keys [physics], [[boundary]], [numerics] and time.method to the core's.
void add_diffusion_keys(CaseSchema& schema);

/// One [[boundary]] table after its names were looked up.
struct BoundaryCondition {
  BoundaryKind kind = BoundaryKind::neumann;
  Expression value;
  Expression transfer;     ///< h of a Robin condition
  std::string where = {};  ///< of h
};

/// One [[interface]] table.
struct Interface {
  std::array<std::int32_t, 2> regions;  ///< ascending
  Expression resistance;
  std::string where;
};

/// The physics of a case. Names of regions and surfaces are resolved to the mesh's tags.
class DiffusionPhysics {
 public:
  /// `region_tags` and `boundary_tags` are those that cells and faces of the whole mesh have, named or not.
  /// Errors (input): a region or surface that the mesh does not have (the message lists those it has) or that has two
  /// tables; a K, fibre or initial value that depends on t.
  DiffusionPhysics(const Case& options, const std::map<std::int32_t, std::string>& region_names,
                   const std::map<std::int32_t, std::string>& boundary_names, const std::set<std::int32_t>& region_tags,
                   const std::set<std::int32_t>& boundary_tags);

  /// K of every local cell, at its centroid [length^2/time], where the solution is u: one a local cell, or empty if K
  /// does not name it. Error(input) where it is not symmetric positive definite.
  RawVector<Sym3> diffusivity(const LocalTetMesh& mesh, Threads& threads, std::span<const double> u = {}) const;
  /// The same for values of u between two: of some, the one with the largest trace.
  RawVector<Sym3> largest_diffusivity(const LocalTetMesh& mesh, Threads& threads, double low, double high) const;
  bool diffusivity_depends_on_solution() const;
  /// Are the rows of a case assembled anew while it runs: as K names u or h names t, as fluxes are monotone, or as an
  /// implicit step linearises a source of u? Error(input): as of the constructor, of K.
  static bool rows_change(const Case& options);
  BoundaryKind kind(std::int32_t tag) const { return condition(tag).kind; }
  const BoundaryCondition& condition(std::int32_t tag) const;
  const std::vector<Interface>& interfaces() const { return interfaces_; }
  /// What the fluxes need to know at `time`, which must not outlive this. Its functions are Error(input) where a
  /// coefficient is negative.
  SchemeOptions scheme_options(double time) const;
  const Expression& initial() const { return initial_; }
  const Expression& source() const { return source_; }
  const std::optional<Expression>& exact() const { return exact_; }
  bool source_changes() const { return source_.depends_on_time() || source_.depends_on_solution(); }
  /// True when a source or a boundary value has to be evaluated anew at every time.
  bool forcing_depends_on_time() const;
  bool has_forcing() const;
  /// Does a boundary condition say something of u itself?
  bool any_gives_u() const;

 private:
  /// K by one of three ways; an empty optional means "as [physics] says".
  struct Tensor {
    std::optional<TensorExpression> full;
    std::vector<Expression> fibre;  ///< three, a direction of any length
    std::string fibre_data;         ///< or the name of cell data with three components
    Expression longitudinal, transverse;
    std::string where;
  };
  static Tensor read_tensor(const Case& options, const std::string& table);
  static bool depends_on_solution(const Tensor& tensor);
  Sym3 evaluate(const Tensor& tensor, const LocalTetMesh& mesh, Lid cell, double u) const;

  Tensor everywhere_;
  std::map<std::int32_t, Tensor> regions_;
  std::map<std::int32_t, BoundaryCondition> conditions_;
  BoundaryCondition other_;
  std::vector<Interface> interfaces_;
  Expression initial_, source_;
  std::optional<Expression> exact_;
};

/// "rows" | "blocks" of format = "ellpack", or "sliced", as the device likes it when layout = "auto": rows on a CPU,
/// blocks on a GPU.
RowFormat row_format(const Case& options, bool on_host);
Precision row_precision(const Case& options);
ColumnBytes row_column_bytes(const Case& options);

}  // namespace tutti::diffusion
