// A model with one value a tetrahedron: everything around it that does not depend on what it computes.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "tutti/domain/tet_domain.hpp"
#include "tutti/exchange/exchange.hpp"
#include "tutti/schedule/pass.hpp"
#include "tutti/simulation/model.hpp"

namespace tutti {

/// Holds the mesh, cut into parts, and u in some copies: the values now, and those that a step writes. Knows how to
/// watch, sum and check u. A model that is derived from it brings its keys, its step and its time step.
/// Parts are those of this rank, numbered from 0. All members are collective but for those about one part.
class TetModel : public Model {
 public:
  const TetDomain& domain() const override { return domain_; }
  std::vector<ModelField> fields() override;
  std::vector<StateNumber> numbers() override;
  double time_step() const override { return dt_; }
  /// The limit of the time step.
  std::vector<std::string> describe() const override;
  /// max|u| and the mass (the integral of u).
  std::vector<Diagnostic> diagnose() override;
  void resume(double time) override;
  std::vector<double> measures(std::size_t p) override;
  Size bytes_moved(std::size_t p) const override { return runs_ * bytes_a_run(static_cast<int>(p)); }
  ExchangeCounts exchanged() const override;
  std::vector<std::string> exact_fields() const override;
  std::vector<FieldError> field_errors(double time) override;
  void summarise(Summary& summary, double time) override;
  std::vector<const Step*> schedules() const override { return {&pass_->step()}; }

  /// u in the owned cells of a part.
  std::vector<double> values(int part);

 protected:
  /// Reads and splits the mesh.
  TetModel(const ModelSetup& setup, const TetOptions& options, const Sharing& sharing = {});
  /// u in so many copies: the first is the solution, the others are work arrays of the time method. And the pass.
  void allocate(int copies = 2);

  const Comm& comm() const { return comm_; }
  Threads& threads() { return *devices_.threads; }
  const Case& options() const { return options_; }
  int parts() const { return static_cast<int>(domain_.mine()); }
  Device& device(int part) { return domain_.device(static_cast<std::size_t>(part)); }
  /// A stream for set-up and sums.
  Stream& stream(int part) { return domain_.stream(static_cast<std::size_t>(part)); }
  const LocalTetMesh& mesh(int part) const { return domain_.meshes[part]; }
  const IndexMap& map(int part) const { return domain_.maps[part]; }
  /// Of the owned cells.
  std::vector<Vec3> centroids(int part);
  /// Copies of u of a part, ghosts included; on its device.
  std::span<Field<double>> u(int part) { return u_[part]; }
  const double* now(int part) { return u(part)[0].data(); }
  double* next(int part) { return u(part)[1].data(); }

  /// Of the owned cells; on its device.
  const double* volumes(int part) const { return volumes_[part].data(); }

  /// What travels behind a pass is this copy of u.
  void bind_exchange(std::size_t copy) { exchange_->bind(views(copy)); }
  /// Runs the pass over the rows of all parts: add(p, kernels) adds what part p computes, and the ghosts of this copy
  /// of u follow while the interiors are computed.
  template <class Add>
  void run_pass(std::size_t copy, const Add& add) {
    bind_exchange(copy);
    pass_->run(add);
    ++runs_;
  }
  /// As run_pass for `next`, which is u afterwards.
  template <class Add>
  void advance(const Add& add) {
    run_pass(1, add);
    for (auto& u : u_) std::swap(u[0], u[1]);
  }
  /// Brings them up to date now.
  void exchange_now(std::size_t copy);
  /// dt is the key time.dt, or with "auto" time.safety times the limit, which may be infinite. Error(numerical) on all
  /// ranks when time.dt is above it: the message says what the limit is `of`, and what `or_else` can be done.
  void choose_time_step(double limit, const std::string& of = "", const std::string& or_else = "");
  /// The summary shall tell the errors against this formula.
  void compare_with(Expression exact) { exact_ = std::move(exact); }
  /// Sets u at the cells' centroids, its ghosts, and remembers the mass. Last in the set-up: times are reported from
  /// here on.
  void start(const Expression& initial);
  double global_max(std::size_t copy);
  double mass() { return sum_of(false); }
  /// L2 and the largest, none of the gradient (NaN).
  virtual ErrorSummary errors(double time);
  /// Bytes that the kernels of a part move in one run of the pass, for the bandwidth in reports.
  virtual Size bytes_a_run(int part) const = 0;

  const Comm& comm_;
  DeviceSet& devices_;
  Case options_;
  TetDomain domain_;
  std::optional<Expression> exact_;
  double dt_ = 0, limit_ = 0;
  std::unique_ptr<Exchange<double>> exchange_;
  std::unique_ptr<Pass> pass_;
  Size runs_ = 0;  ///< of the pass

 private:
  double sum_of(bool magnitudes);
  std::vector<FieldView<double>> views(std::size_t copy);

  Plan plan_;
  std::vector<std::vector<Field<double>>> u_;  ///< of each part
  std::vector<Buffer<double>> volumes_;        ///< of the owned cells
  double initial_mass_ = 0;
  double mass_scale_ = 1;  ///< integral of |u| at the start: a mass of 0 is no scale
};

}  // namespace tutti
