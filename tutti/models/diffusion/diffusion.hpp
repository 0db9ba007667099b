// Anisotropic diffusion on tetrahedra, on every processor at once (Langguth et al., IEEE Micro 2015).
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tutti/models/diffusion/diffusion_case.hpp"
#include "tutti/models/diffusion/forcing.hpp"
#include "tutti/models/diffusion/implicit/anderson.hpp"
#include "tutti/models/diffusion/implicit/implicit_solver.hpp"
#include "tutti/models/diffusion/ionic/ionic_part.hpp"
#include "tutti/models/diffusion/rkc.hpp"
#include "tutti/models/diffusion/rows/operator.hpp"
#include "tutti/simulation/krylov.hpp"
#include "tutti/simulation/tet_model.hpp"

namespace tutti::diffusion {

/// A part's scheme with what it refers to, on the host: made when fluxes or gradients are asked for.
struct KeptScheme {
  Size run = 0;  ///< of the pass, of whose u K and what else changes are
  RawVector<Sym3> K;
  Scheme scheme;
};

/// What one device holds of the problem.
struct DiffusionPart {
  RowOperator rows;
  std::span<Field<double>> u;  ///< [0] is the solution; the others are work arrays of the time method
  Buffer<double> first_rate;   ///< F_0 of RKC2
  Buffer<double> jacobi;       ///< of implicit methods: what takes the diagonal's place
  Buffer<double> before;       ///< of bdf2 and of adaptive steps: u a step, or a sub-step, ago
  Buffer<double> start;        ///< of adaptive steps: u at the start of the sub-step
  Buffer<double> earlier;      ///< of those of second order: u two sub-steps ago
  Buffer<double> known;        ///< of implicit steps with rows that change: the right-hand side without the forcing
  std::vector<double> damped;  ///< of local cells, as SchemeOptions::damped
  DiffusionRows kept;          ///< on the host, until coarse levels are made of them
  Forcing forcing;             ///< source and boundary terms of each owned row; empty where there are none
  // On the host, kept for what is wrong with a forcing and for errors at the end.
  std::vector<BoundaryFaceRef> boundary_faces;
  std::vector<Vec3> centroids;  ///< of owned cells
  std::unique_ptr<KeptScheme> scheme;
  std::vector<Vec3> gradients;  ///< of owned cells, where they are written
};

/// Of implicit steps that are made of sub-steps, by an estimate of their error.
struct AdaptiveStep {
  double tolerance = 0;               ///< of a sub-step, relative to max|u|
  double next = 0;                    ///< length of the next sub-step, at most; 0: it is the first
  double dt_earlier = 0;              ///< of the sub-step before the last; 0: there was none
  double accepted = 0, rejected = 0;  ///< sub-steps
};

/// Largest over smallest eigenvalue of K (positive definite).
double anisotropy(const Sym3& K);

/// What was found of the assembled operator. Numbers have the same bits for every partition.
struct Stability {
  double rho = 0;          ///< spectral radius, estimated from below by power iteration plus 2 % [1/time]
  double max_outflow = 0;  ///< max |L_ii|
  int iterations = 0;
  double anisotropy = 1;  ///< largest ratio of K's eigenvalues
  RitzPair rightmost;     ///< eigenvalue [1/time]; with a residual where it was sought
  Gid cell = -1;          ///< where its mode is largest
  Vec3 place;
  Gid cut = 0;  ///< cells that carry less tangential flux
};

class Diffusion final : public TetModel {
 public:
  /// Sets up everything: mesh, partition (or a checkpoint's), rows, stability, time step. Collective.
  explicit Diffusion(const ModelSetup& setup);
  ~Diffusion() override;

  std::vector<std::string> describe() const override;
  std::vector<ModelField> fields() override;
  std::vector<StateNumber> numbers() override;
  std::vector<std::string> boundary_quantities() const override;
  BoundaryValues boundary_values(std::int32_t tag, double time) override;
  void before_output() override;
  std::vector<Diagnostic> diagnose() override;
  std::optional<Advance> advance() const override;
  bool finished() override;
  std::vector<const Step*> schedules() const override;
  void step(double time, double dt) override;
  std::optional<double> passed_bound(double time, double largest) override;
  Vec3 place_of(std::size_t part, Lid row) override { return parts_[part].centroids[row]; }
  void resume(double time) override;
  void summarise(Summary& summary, double time) override;
  void wait() override;

  std::vector<HeldArraySummary> held_arrays(std::size_t p) const override;
  Size bytes_moved(std::size_t p) const override;
  ExchangeCounts exchanged() const override;

  const Stability& stability() const { return stability_; }
  /// Rates a time step takes: 1 for Euler, stages times sub-steps for RKC2. Of implicit methods: an iteration.
  int stages() const { return solver_ ? solver_->rates() : stages_ * substeps_; }
  TimeMethod method() const { return method_; }
  /// Largest time step that is stable with the chosen method, which is explicit.
  double stability_limit() const;

 private:
  void assemble();
  Lid assemble_part(std::size_t p, std::span<const double> damped);
  SchemeOptions scheme_options(std::size_t p, double time) const;
  RawVector<Sym3> set_up_diffusivity(const LocalTetMesh& mesh) const;
  double damping_of_source() const;
  /// Of explicit steps, about: how far the eigenvalues of L and of a source of u reach to the left.
  double fastest_rate() const { return stability_.rho + source_rate_; }
  void find_data_range();
  void renew_rows(std::size_t from, double time, bool newton = false);
  void hold_coefficients();
  void estimate_spectral_radius();
  void choose_time_step_and_stages();
  bool noise_settles();
  void settle_time_step();
  KrylovVector krylov_vector();
  using Values = std::vector<std::vector<double>>;  ///< of owned rows, by part
  void find_rightmost(const Values& start = {});
  bool state_grows();
  bool grows() const;
  void choose_flux();
  bool damp_more();
  std::string unstable() const;
  void damp(bool all);
  void mark_mode();
  std::vector<std::vector<double>> with_ghosts(const std::vector<std::vector<double>>& owned);
  void filter(const FilterEllipse& ellipse, int degree);
  void look_at_data(double time);
  void set_noise();
  void choose_stages();

  /// Rates of field `from`, of all rows of all parts, for update(part); then field `target` gets its ghosts.
  template <class MakeUpdate>
  void apply(std::size_t from, std::size_t target, const MakeUpdate& update) {
    run_pass(target, [&](std::size_t p, Kernels& to) {
      parts_[p].rows.add(to, parts_[p].u[from].data(), forcing(p), update(parts_[p]));
    });
    // The set-up, which is homogeneous, finds the right time step in any case.
    if (homogeneous_ && exchange_->disabled()) exchange_now(target);
  }
  void diffuse(double time, double dt);
  void set_up_ionic();
  void split_step(double time, double dt);
  void forget_activation();
  void add_ionic_fields(std::vector<ModelField>& all);
  const KeptScheme& scheme(std::size_t p);
  std::vector<double> local_values(std::size_t p);
  void add_gradient_fields(std::vector<ModelField>& all);
  void set_up_implicit();
  void check_implicit_case();
  SolverProblem solver_problem();
  double fill_right(double time, double dt);
  void linearise(double sigma, double time, bool again);
  void solve_linear(double less);
  Values state();
  void set_state(const Values& values);
  double most_linearisations() const;
  void nonlinear_step(double time, double dt);
  void implicit_step(double time, double dt);
  void one_implicit_step(double time, double dt);
  void adaptive_step(double time, double dt);
  double first_substep(double time, double dt);
  double substep_error(double h);
  void summarise_solver(Summary& summary);
  Summary::Flows flows();
  void euler_step(double time, double dt);
  void rkc_step(double time, double dt);
  /// What the rate of this copy of u at `time` needs besides u. Collective where rows change.
  void update_forcing(std::size_t from, double time);
  void prepare_forcing(double time);
  void check_forcing();
  const double* forcing(std::size_t p) const { return homogeneous_ ? nullptr : parts_[p].forcing.data(); }
  ErrorSummary errors(double time) override;
  Size bytes_a_run(int part) const override;

  bool is_monotone() const { return options_.text("numerics.flux") == "monotone"; }

  std::optional<DiffusionPhysics> physics_;
  std::vector<DiffusionPart> parts_;
  Stability stability_;
  Size weak_fits_ = 0;  ///< cells of all ranks, of the least-squares flux
  TimeMethod method_ = TimeMethod::euler;
  bool rkc_ = false;
  bool changes_ = false;        ///< rows are assembled anew while it runs
  double low_ = 0, high_ = 0;   ///< u, by initial and boundary values
  double allowed_outflow_ = 0;  ///< of explicit steps with rows that change: that of the set-up times what dt leaves
  // Of implicit methods.
  std::unique_ptr<Pass> local_;  ///< behind which nothing travels
  std::unique_ptr<ImplicitSolver> solver_;
  std::unique_ptr<Anderson> acceleration_;  ///< of monotone fluxes
  std::optional<AdaptiveStep> adaptive_;
  bool right_is_there_ = false;  ///< of a steady solution
  double source_rate_ = 0;       ///< damping_of_source()
  double dt_before_ = 0;         ///< of the step before; 0: there was none
  double not_solved_ = 0;        ///< time of a step that has no solution
  double iterations_ = 0;        ///< of all steps
  double linearisations_ = 0;    ///< of this solution
  bool linearised_ = false;      ///< the rows are those of u
  // Of cells that react.
  std::optional<IonicCase> ionic_;
  std::vector<IonicPart> cells_;
  std::unique_ptr<Pass> reaction_, watch_;
  int stages_ = 1;
  int substeps_ = 1;                       ///< a long step of RKC2 is made of so many
  int rounds_ = 0;                         ///< of damping
  std::vector<std::vector<char>> strict_;  ///< owned cells that keep only the coercive share; empty: none is damped
  int finer_ = 1;                          ///< times more of them than its limit on the real axis asks for
  RkcCoefficients coefficients_;
  double time_ = 0;             ///< of u
  Size gradients_of_run_ = -1;  ///< after how many runs of the pass they were computed
  double forcing_time_ = 0;
  bool forcing_done_ = false;
  bool homogeneous_ = false;  ///< source and boundary data are left out, for the stability check
  double look_above_ = 0;     ///< max|u| at which it is looked for growth again
  double initial_level_ = 0, data_level_ = 0, data_rate_ = 0;  ///< of |u|, and of |du/dt| [1/time], by the data
};

}  // namespace tutti::diffusion
