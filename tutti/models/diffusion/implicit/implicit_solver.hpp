// Solves (sigma - L) u = right over all parts of all ranks, matrix-free: BiCGStab (van der Vorst, SIAM J. Sci. Stat.
// Comput. 13, 1992), preconditioned from the right. sigma is 0 for a steady solution, else some 1/dt.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "tutti/base/mpi/comm.hpp"
#include "tutti/device/buffer.hpp"
#include "tutti/domain/tet_domain.hpp"
#include "tutti/io/checkpoint/checkpoint.hpp"
#include "tutti/models/diffusion/rows/operator.hpp"
#include "tutti/simulation/model_field.hpp"

namespace tutti::diffusion {

struct DiffusionPart;

struct SolverOptions {
  double tolerance = 1e-10;  ///< of |right - (sigma - L) u|, relative to |right|; the norm is that of L2
  Size iterations = 1000;    ///< of one solution, at most
  int degree = 8;            ///< of Chebyshev's polynomial that is the preconditioner
};

/// What it works on.
struct SolverProblem {
  const Comm& comm;
  const TetDomain& domain;
  std::span<DiffusionPart> parts;
  std::function<const double*(std::size_t p)> volumes;  ///< of owned cells
  /// A pass over the rows of all parts; then the ghosts of this copy of u follow (copy < 0: none).
  std::function<void(int copy, const std::function<void(std::size_t p, Kernels&)>& add)> run;
  std::function<void(std::size_t copy)> exchange;  ///< the ghosts of a copy, now
};

/// The solution stands in copy 0 of u, with its ghosts; copies 1 and 2 are work space. Sums are exact, so all results
/// have the same bits for every split and device. All members are collective.
class ImplicitSolver {
 public:
  ImplicitSolver(SolverProblem problem, const SolverOptions& options);

  /// Finds how far the eigenvalues of D^-1 L reach, from the noise that stands in copy 0.
  void set_up();

  /// The right-hand side of a part, to be filled before begin().
  double* right(std::size_t p) { return parts_[p].right.data(); }
  /// Starts from what stands in copy 0. Its ghosts are up to date.
  void begin(double sigma);
  bool begun() const { return reference_ >= 0; }
  /// One iteration, unless all is done.
  void iterate();
  /// Until it is done.
  void solve(double sigma);

  bool solved() const { return begun() && norm_ <= options_.tolerance * reference_ && checked_ > 0; }
  /// There is no solution, and no iteration will help.
  bool stalled() const { return stalled_ > 0; }
  bool done() const { return solved() || stalled() || iterations_ >= static_cast<double>(options_.iterations); }
  const SolverOptions& options() const { return options_; }
  double residual() const { return reference_ > 0 ? norm_ / reference_ : 0; }
  double iterations() const { return iterations_; }  ///< of this solution

  /// With these and u put back, and the same right-hand side, the iteration goes on bit for bit.
  std::vector<ModelField> fields();
  std::vector<StateNumber> numbers();

 private:
  struct Part {
    Buffer<double> right, residual, shadow, direction, image, other;
  };
  using Vector = Buffer<double> Part::*;

  Stream& stream(std::size_t p) const { return *problem_.domain.streams[p].compute; }
  Range rows(std::size_t p) const { return problem_.domain.maps[p].owned_rows(); }
  double product(Vector a, Vector b);
  void apply(std::size_t copy, Vector to);
  std::size_t precondition(Vector right);
  void move(double factor, std::size_t copy, Vector image);
  void find_residual();
  void start_again();
  void break_down();

  SolverProblem problem_;
  SolverOptions options_;
  std::vector<Part> parts_;
  double largest_ = 2;  ///< eigenvalue of -D^-1 L
  double sigma_ = 0;
  // Numbers of the iteration.
  double rho_ = 0, norm_ = 0, reference_ = -1, iterations_ = 0;
  double before_ = 0;   ///< the residual's norm when the iteration was started last
  double checked_ = 0;  ///< 1: norm_ is that of the residual itself, not of the one that was carried along
  double stalled_ = 0;
};

}  // namespace tutti::diffusion
