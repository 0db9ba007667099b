// Implicit steps of diffusion, and its steady solution.
#include <algorithm>
#include <cmath>

#include "tutti/models/diffusion/diffusion.hpp"
#include "tutti/models/diffusion/implicit/vectors.hpp"
#include "tutti/simulation/run/run_state.hpp"

namespace tutti::diffusion {

/// What a case with an implicit method must and must not say.
void Diffusion::check_implicit_case() {
  const std::string where = options_.where("time.method"), word = options_.text("time.method");
  if (!options_.flag("devices.exchange"))
    fail(ErrorKind::input, "{}: {} cannot do without exchange; use an explicit method, or exchange", where, word);
  if (method_ != TimeMethod::steady) {
    if (options_.is_word("time.dt", "auto"))
      fail(ErrorKind::input,
           "{}: {} is stable with any step, so that none can be chosen for its stability; give time.dt", where, word);
    dt_ = options_.number("time.dt");
    if (const double least = options_.number("solver.tolerance");
        adapts(options_) && options_.number("time.tolerance") < least)
      fail(ErrorKind::input, "{}: time.tolerance = {:g} is below solver.tolerance = {:g}; lower that, or raise this",
           options_.where("time.tolerance"), options_.number("time.tolerance"), least);
    if (ionic_ && adapts(options_))
      fail(ErrorKind::input,
           "{}: steps with [ionic] are as long as time.dt; leave time.tolerance out, and lower time.dt",
           options_.where("time.tolerance"));
    if (ionic_ && dt_ > ionic_->largest_step())
      fail(ErrorKind::numerical,
           "{}: time.dt = {:g} is above the stability limit {:.6g} of ionic.model = \"{}\"; lower it",
           options_.where("time.dt"), dt_, ionic_->largest_step(), options_.text("ionic.model"));
    (void)plan_steps(options_, dt_);
    return;
  }
  const auto refuse = [&](const std::string& path, const Expression& e) {
    if (e.depends_on_time())
      fail(ErrorKind::input, "{}: {} depends on t, but in a steady solution no time passes; leave t out",
           options_.where(path), path);
  };
  refuse("physics.source", physics_->source());
  if (physics_->exact()) refuse("physics.exact", *physics_->exact());
  for (int i = 0; i < options_.count("boundary"); ++i) {
    const std::string path = fmt::format("boundary[{}].value", i);
    refuse(path, options_.expression(path));
    if (options_.text(fmt::format("boundary[{}].type", i)) == "robin")
      refuse(fmt::format("boundary[{}].h", i), options_.expression(fmt::format("boundary[{}].h", i)));
  }
}

SolverProblem Diffusion::solver_problem() {
  SolverProblem problem{comm_, domain_, parts_, {}, {}, {}};
  problem.volumes = [this](std::size_t p) { return volumes(static_cast<int>(p)); };
  problem.run = [this](int copy, const std::function<void(std::size_t, Kernels&)>& add) {
    if (copy < 0)
      local_->run(add);
    else
      run_pass(static_cast<std::size_t>(copy), add);
  };
  problem.exchange = [this](std::size_t copy) { exchange_now(copy); };
  return problem;
}

void Diffusion::set_up_implicit() {
  local_ =
      std::make_unique<Pass>("local", threads(), domain_.streams, row_pass_parts(domain_.maps),
                             static_cast<Exchange<double>*>(nullptr), parse_overlap(options_.text("devices.overlap")));
  // Factors of an iteration do not come again.
  local_->never_capture();
  pass_->never_capture();
  if (options_.flag("numerics.check") && stability_.rho > 0) choose_flux();
  // A steady solution needs a boundary that gives u: without, a constant more is one as well.
  Size given = 0;
  for (const DiffusionPart& part : parts_)
    given += std::count_if(part.boundary_faces.begin(), part.boundary_faces.end(), [&](const BoundaryFaceRef& face) {
      const BoundaryCondition& c = physics_->condition(face.tag);
      // A film with h = 0 lets nothing through.
      return gives_u(c.kind) && (c.kind != BoundaryKind::robin || c.transfer(face.centroid, 0) > 0);
    });
  given = comm_.sum(given);
  comm_.together([&] {
    if (method_ == TimeMethod::steady && given == 0)
      fail(ErrorKind::input,
           "{}: no boundary gives u, so that a steady solution plus any constant is one, too; give a [[boundary]] of "
           "type \"dirichlet\" or \"robin\"",
           options_.where("time.method"));
    SolverOptions solver;
    solver.tolerance = options_.number("solver.tolerance");
    solver.iterations = options_.integer("solver.iterations");
    solver.multigrid = uses_multigrid(options_);
    solver_ = std::make_unique<ImplicitSolver>(solver_problem(), solver);
    if (is_monotone()) {
      std::vector<std::size_t> lengths;
      for (const IndexMap& map : domain_.maps) lengths.push_back(static_cast<std::size_t>(map.owned));
      acceleration_ = std::make_unique<Anderson>(comm_, lengths);
    }
    if (adapts(options_)) adaptive_ = AdaptiveStep{.tolerance = options_.number("time.tolerance")};
    for (std::size_t p = 0; p < parts_.size(); ++p) {
      const auto make = [&](Buffer<double>& buffer, const char* what) {
        buffer = Buffer<double>(domain_.device(p), domain_.maps[p].owned, what);
      };
      if (method_ == TimeMethod::bdf2 || adaptive_) make(parts_[p].before, "u, a step ago");
      if (adaptive_) make(parts_[p].start, "u, at the start");
      if (adaptive_ && method_ != TimeMethod::backward_euler) make(parts_[p].earlier, "u, two steps ago");
    }
    if (method_ != TimeMethod::steady && changes_)
      for (std::size_t p = 0; p < parts_.size(); ++p)
        parts_[p].known = Buffer<double>(domain_.device(p), domain_.maps[p].owned, "right-hand side, known part");
  });
  homogeneous_ = true;
  set_noise();
  solver_->set_up(domain_.region_tags, parallel_for(*devices_.threads));
  homogeneous_ = false;
}

/// The right-hand side of the step from `time`, without the forcing at its end where rows change; the result is sigma.
double Diffusion::fill_right(double time, double dt) {
  const double ratio = dt_before_ > 0 ? dt / dt_before_ : 0;
  // u_{n+1} stands with sigma, u_n and u_{n-1} with these.
  double sigma = 1 / dt, now = 1 / dt, before = 0;
  if (method_ == TimeMethod::crank_nicolson) {
    sigma = now = 2 / dt;
    update_forcing(0, time);
    local_->run([&](std::size_t p, Kernels& to) {
      double* const rates = changes_ ? parts_[p].known.data() : solver_->right(p);
      parts_[p].rows.add(to, parts_[p].u[0].data(), forcing(p), RateOnly{rates});
    });
  } else if (method_ == TimeMethod::bdf2 && ratio > 0) {
    sigma = (1 + 2 * ratio) / (1 + ratio) / dt;
    now = (1 + ratio) / dt;
    before = -ratio * ratio / (1 + ratio) / dt;
  } else if (method_ == TimeMethod::steady) {
    sigma = now = 0;
  }
  if (!changes_) update_forcing(0, time + dt);
  for (std::size_t p = 0; p < parts_.size(); ++p) {
    Stream& stream = *domain_.streams[p].compute;
    const Range rows = domain_.maps[p].owned_rows();
    double* const right = changes_ ? parts_[p].known.data() : solver_->right(p);
    const double* const u = parts_[p].u[0].data();
    const Term values = {now, u}, source = changes_ ? Term{} : Term{1, forcing(p)};
    if (method_ == TimeMethod::crank_nicolson)
      combine(stream, rows, right, {1, right}, values, source);
    else
      combine(stream, rows, right, values, source, before != 0 ? Term{before, parts_[p].before.data()} : Term{});
    if (method_ == TimeMethod::bdf2 && !adaptive_) combine(stream, rows, parts_[p].before.data(), {1, u});
  }
  dt_before_ = dt;
  return sigma;
}

bool Diffusion::finished() {
  if (method_ != TimeMethod::steady) return not_solved_ > 0;
  return changes_ ? solver_->solved() || linearisations_ >= most_linearisations() : solver_->done();
}

void Diffusion::implicit_step(double time, double dt) {
  adaptive_ ? adaptive_step(time, dt) : one_implicit_step(time, dt);
}

void Diffusion::one_implicit_step(double time, double dt) {
  if (changes_) return nonlinear_step(time, dt);
  if (method_ == TimeMethod::steady) {
    if (!solver_->begun() || !right_is_there_) fill_right(0, 0);
    right_is_there_ = true;
    if (!solver_->begun()) solver_->begin(0);
    solver_->iterate();
    iterations_ = solver_->iterations();
    return;
  }
  solver_->solve(fill_right(time, dt));
  iterations_ += solver_->iterations();
  if (!solver_->solved()) not_solved_ = time + dt;
}

std::vector<ModelField> Diffusion::fields() {
  std::vector<ModelField> all = TetModel::fields();
  add_gradient_fields(all);
  if (method_ == TimeMethod::steady)
    for (ModelField& field : solver_->fields()) all.push_back(std::move(field));
  if (method_ == TimeMethod::steady && acceleration_)
    for (ModelField& field : acceleration_->fields()) all.push_back(std::move(field));
  if (ionic_) add_ionic_fields(all);
  const auto add = [&](const char* name, Buffer<double> DiffusionPart::*buffer) {
    ModelField field{.name = name, .restart = true};
    field.read = [this, buffer](std::size_t p, const RowSet& rows, std::span<double> to) {
      download(domain_.stream(p), to, (parts_[p].*buffer).data() + rows.rows.begin);
    };
    field.write = [this, buffer](std::size_t p, std::span<const double> from) {
      upload(domain_.stream(p), parts_[p].*buffer, from);
    };
    all.push_back(std::move(field));
  };
  if (method_ == TimeMethod::bdf2 || adaptive_) add("u_before", &DiffusionPart::before);
  if (adaptive_ && method_ != TimeMethod::backward_euler) add("u_earlier", &DiffusionPart::earlier);
  return all;
}

std::vector<StateNumber> Diffusion::numbers() {
  std::vector<StateNumber> all = TetModel::numbers();
  if (!is_implicit(method_)) return all;
  for (StateNumber& number : solver_->numbers()) all.push_back(std::move(number));
  all.push_back({"dt_before", &dt_before_});
  all.push_back({"not_solved", &not_solved_});
  all.push_back({"iterations", &iterations_});
  if (adaptive_) {
    all.push_back({"next_substep", &adaptive_->next});
    all.push_back({"dt_earlier", &adaptive_->dt_earlier});
    all.push_back({"substeps", &adaptive_->accepted});
    all.push_back({"rejected", &adaptive_->rejected});
  }
  if (changes_) all.push_back({"linearisations", &linearisations_});
  if (method_ == TimeMethod::steady && acceleration_)
    for (StateNumber& number : acceleration_->numbers()) all.push_back(std::move(number));
  return all;
}

std::vector<Diagnostic> Diffusion::diagnose() {
  std::vector<Diagnostic> all = TetModel::diagnose();
  if (!is_implicit(method_)) return all;
  all.push_back({"iterations", iterations_});
  all.push_back({"residual", solver_->residual()});
  if (adaptive_) {
    all.push_back({"substep", dt_before_});
    all.push_back({"substeps", adaptive_->accepted});
    all.push_back({"rejected", adaptive_->rejected});
  }
  if (changes_) all.push_back({"linearisations", linearisations_});
  return all;
}

std::optional<Advance> Diffusion::advance() const {
  if (method_ != TimeMethod::steady) return {};
  if (changes_) return Advance{"linearisations", most_linearisations(), "linearisations", 1};
  return Advance{"iterations", static_cast<double>(solver_->options().iterations), "iterations", 1};
}

std::vector<const Step*> Diffusion::schedules() const {
  auto all = TetModel::schedules();
  for (const auto* pass : {&local_, &reaction_, &watch_})
    if (*pass) all.push_back(&(*pass)->step());
  return all;
}

void Diffusion::summarise_solver(Summary& summary) {
  if (!solver_->solved()) exchange_now(0);  // errors look at ghosts
  const SolverOptions& options = solver_->options();
  summary.solver = {static_cast<Size>(iterations_), static_cast<Size>(linearisations_), solver_->residual(),
                    options.tolerance, ""};
  if (!finished() || solver_->solved()) return;
  const std::string what =
      method_ == TimeMethod::steady ? "the steady solution" : fmt::format("the step to t = {:g}", not_solved_);
  if (changes_) {
    summary.solver->not_solved = fmt::format(
        "{}: {} has a residual of {:.3g} of the right-hand side after {:g} linearisations, not {:g}; raise "
        "solver.linearisations, begin nearer to the solution (physics.initial){}",
        options_.where("solver.linearisations"), what, solver_->residual(), linearisations_, options.tolerance,
        method_ == TimeMethod::steady ? "" : ", or lower time.dt");
    return;
  }
  summary.solver->not_solved =
      solver_->stalled()
          ? fmt::format("{}: the residual of {} stays at {:.3g} of the right-hand side; raise solver.tolerance ({:g})",
                        options_.where("solver.tolerance"), what, solver_->residual(), options.tolerance)
          : fmt::format(
                "{}: {} has a residual of {:.3g} of the right-hand side after {} iterations, not {:g}; raise "
                "solver.iterations",
                options_.where("solver.iterations"), what, solver_->residual(), options.iterations, options.tolerance);
}

}  // namespace tutti::diffusion
