// Solves (sigma - L) u = right over all parts of all ranks, matrix-free: BiCGStab (van der Vorst, SIAM J. Sci. Stat.
// Comput. 13, 1992), preconditioned from the right. sigma is 0 for a steady solution, else some 1/dt.
#pragma once

#include <memory>
#include <vector>

#include "tutti/device/buffer.hpp"
#include "tutti/io/checkpoint/checkpoint.hpp"
#include "tutti/models/diffusion/implicit/coarse_correction.hpp"
#include "tutti/simulation/model_field.hpp"

namespace tutti::diffusion {

struct SolverOptions {
  double tolerance = 1e-10;         ///< of |right - (sigma - L) u|, relative to |right|; the norm is that of L2
  Size iterations = 1000;           ///< of one solution, at most
  bool multigrid = true;            ///< preconditioner: Chebyshev's polynomial behind coarse levels; else it alone
  static constexpr int degree = 4;  ///< of the polynomial
};

/// The solution stands in copy 0 of u, with its ghosts; copies 1 and 2 are work space. Sums are exact, so all results
/// have the same bits for every split and device. All members are collective.
class ImplicitSolver {
 public:
  ImplicitSolver(SolverProblem problem, const SolverOptions& options);

  /// Finds how far the eigenvalues of D^-1 L reach, from the noise that stands in copy 0, and makes coarse levels.
  void set_up(const std::set<std::int32_t>& regions, const ParallelFor& parallel);
  std::size_t coarse_unknowns() const { return coarse_ ? coarse_->size() : 0; }

  /// The right-hand side of a part, to be filled before begin().
  double* right(std::size_t p) { return parts_[p].right.data(); }
  /// Coarse levels anew, of the parts' rows.
  void renew(const std::set<std::int32_t>& regions, const ParallelFor& parallel);
  /// Starts from what stands in copy 0. Its ghosts are up to date. `again`: after other equations for the same
  /// solution, whose size counts where the right-hand side is 0.
  void begin(double sigma, bool again = false);
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
  /// Applications of L, those to be solved for and those of the preconditioner, in an iteration.
  int rates() const { return 2 * (SolverOptions::degree + (options_.multigrid ? 1 : 0)); }
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

  Stream& stream(std::size_t p) const { return problem_.stream(p); }
  Range rows(std::size_t p) const { return problem_.rows(p); }
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
  std::unique_ptr<CoarseCorrection> coarse_;
  double largest_ = 2;  ///< eigenvalue of -D^-1 L
  double sigma_ = 0;
  // Numbers of the iteration.
  double rho_ = 0, norm_ = 0, reference_ = -1, iterations_ = 0;
  double before_ = 0;   ///< the residual's norm when the iteration was started last
  double checked_ = 0;  ///< 1: norm_ is that of the residual itself, not of the one that was carried along
  double stalled_ = 0;
};

}  // namespace tutti::diffusion
