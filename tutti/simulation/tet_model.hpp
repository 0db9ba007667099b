// A model with one value a tetrahedron: everything around it that does not depend on what it computes.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "tutti/domain/tet_domain.hpp"
#include "tutti/exchange/exchange.hpp"
#include "tutti/simulation/model.hpp"

namespace tutti {

/// Holds the mesh, cut into parts, and u in two copies: the values now, and those that a step writes. Knows how to
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
  Size bytes_moved(std::size_t p) const override { return steps_ * bytes_a_step(static_cast<int>(p)); }
  ExchangeCounts exchanged() const override;
  void summarise(Summary& summary, double time) override;

  /// u in the owned cells of a part.
  std::vector<double> values(int part);

 protected:
  /// Reads and splits the mesh, allocates u.
  TetModel(const ModelSetup& setup, const TetOptions& options, const Sharing& sharing = {});

  const Comm& comm() const { return comm_; }
  Threads& threads() { return *devices_.threads; }
  const Case& options() const { return options_; }
  std::span<PartStreams> streams() { return domain_.streams; }
  int parts() const { return static_cast<int>(u_.size()); }
  Device& device(int part) { return *domain_.streams[static_cast<std::size_t>(part)].device; }
  /// A stream for set-up and sums.
  Stream& stream(int part) { return *domain_.streams[static_cast<std::size_t>(part)].compute; }
  const LocalTetMesh& mesh(int part) const { return domain_.meshes[static_cast<std::size_t>(part)]; }
  const IndexMap& map(int part) const { return domain_.maps[static_cast<std::size_t>(part)]; }
  /// u of a part, ghosts included; on its device.
  const double* now(int part) const { return u_[static_cast<std::size_t>(part)].data(); }
  double* next(int part) { return next_[static_cast<std::size_t>(part)].data(); }
  /// Brings the ghosts of `next` up to date: to be put into the model's Step.
  const Exchange<double>& exchange() const { return *exchange_; }

  /// dt is the key time.dt, or with "auto" time.safety times the largest stable step, which is 1 over the largest
  /// `rate` of all ranks [1/time]; a rate of 0 has no limit. Error(numerical) on all ranks when time.dt is above the
  /// limit.
  void choose_time_step(double rate);
  /// The summary shall tell the errors against this formula: L2 and the largest, none of the gradient (NaN).
  void compare_with(Expression exact) { exact_ = std::move(exact); }
  /// Sets u at the cells' centroids, its ghosts, and remembers the mass. Last in the set-up: times are reported from
  /// here on.
  void start(const Expression& initial, Step& step);
  /// Runs the step's graph once; what it has left in `next` is now u.
  void advance(Step& step);
  /// Bytes that the kernels of a part move in one step, for the bandwidth in reports.
  virtual Size bytes_a_step(int part) const = 0;

 private:
  void exchange_now();
  double sum_of(bool magnitudes);
  ErrorSummary errors(double time);

  const Comm& comm_;
  DeviceSet& devices_;
  Case options_;
  TetDomain domain_;
  Plan plan_;
  std::vector<Field<double>> u_, next_;
  std::vector<Buffer<double>> volumes_;  ///< of the owned cells
  std::unique_ptr<Exchange<double>> exchange_;
  std::optional<Expression> exact_;
  double dt_ = 0, limit_ = 0;
  Size steps_ = 0;
  double initial_mass_ = 0;
  double mass_scale_ = 0;  ///< integral of |u| at the start
};

}  // namespace tutti
