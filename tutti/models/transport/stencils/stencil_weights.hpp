// Weights of RBF-FD stencils on the unit sphere [Bollig 2012, section 2].
#pragma once

#include <span>
#include <string>
#include <vector>

#include "tutti/base/parallel.hpp"
#include "tutti/base/vec3.hpp"
#include "tutti/models/transport/stencils/stencil_basis.hpp"

namespace tutti::transport {

/// Scratch of one thread, for any number of stencils of any basis.
struct StencilWork {
  std::vector<double> matrix, solution;
  std::vector<Vec3> points;
  std::vector<int> pivots;
};

/// The weights of one stencil for all operators: out[op * size + j] for node j of `points`, whose first is the centre.
/// Units: 1/radius^(order of the operator). Returns an estimate of the condition number of the system, never above it:
/// ||A||_1 ||A^-1 x||_1 / ||x||_1, where x = A^-1 b for random signs b (inverse iteration). The bits depend on basis
/// and points alone. Error(numerical): the system is singular; the caller names the node. `basis` has been checked.
double stencil_weights(const StencilBasis& basis, std::span<const Vec3> points, std::span<double> out,
                       StencilWork& work);

/// The same, and -1 where the system is singular; out then holds anything.
double try_stencil_weights(const StencilBasis& basis, std::span<const Vec3> points, std::span<double> out,
                           StencilWork& work);

/// What is known of the systems of many stencils.
struct WeightReport {
  Size stencils = 0;
  double max_condition = 0;
  double mean_condition = 0;
  Gid worst = -1;  ///< the centre with the largest condition number, as messages call it

  void add(const WeightReport& other);
};

/// The weights of many stencils: out[(row * operators + op) * size + j]. Row's stencil is columns[row * size ...],
/// centre first, numbers of `nodes`. `numbers`: what the nodes are called in messages; empty: their own numbers.
/// Error(input): the basis (check_basis). Error(numerical): a system is singular; it names the centre, the first one in
/// the order of rows.
template <class Index>
WeightReport make_weights(const StencilBasis& basis, std::span<const Vec3> nodes, std::span<const Index> columns,
                          std::span<double> out, const ParallelFor& parallel = {}, std::span<const Gid> numbers = {});

extern template WeightReport make_weights(const StencilBasis&, std::span<const Vec3>, std::span<const Lid>,
                                          std::span<double>, const ParallelFor&, std::span<const Gid>);
extern template WeightReport make_weights(const StencilBasis&, std::span<const Vec3>, std::span<const Gid>,
                                          std::span<double>, const ParallelFor&, std::span<const Gid>);

/// The error of a stencil around `node` at `place` whose system is singular.
[[noreturn]] void fail_singular_stencil(const StencilBasis& basis, const std::string& node, Vec3 place);

/// From the condition numbers of stencils, one a row, and their centres; one below 0 is of a singular system. Blocks of
/// rows are summed in turn: the mean has the same bits for any number of threads.
template <class Index>
WeightReport report_conditions(const StencilBasis& basis, std::span<const Vec3> nodes, std::span<const Index> columns,
                               std::span<const double> conditions, std::span<const Gid> numbers = {});

/// Length of a node's row of Delta^k, n its stencil's nodes: a number times the spacing of the nodes to the power -2 k.
double hyper_length(const double* weights_of_node, std::size_t n);
/// What that row is multiplied by, but for gamma: a positive number, so that what damps still does. local: the length
/// becomes 1.
double damping_scale(const double* weights_of_node, std::size_t n, bool local);

}  // namespace tutti::transport
