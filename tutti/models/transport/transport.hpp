// Transport of tracers over a sphere by RBF-FD, on every processor at once (Bollig, Flyer and Erlebacher 2012).
#pragma once

#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tutti/domain/node_domain.hpp"
#include "tutti/exchange/exchange.hpp"
#include "tutti/models/transport/stencils/sliced_stencils.hpp"
#include "tutti/models/transport/stencils/stencil_weights.hpp"
#include "tutti/models/transport/transport_case.hpp"
#include "tutti/models/transport/velocity.hpp"
#include "tutti/schedule/pass.hpp"
#include "tutti/simulation/model.hpp"

namespace tutti::transport {

/// What one device holds of the problem. Values of all tracers at a node lie together.
struct TransportPart {
  SlicedStencils rows;  ///< of the steps: merged, or joined by velocity
  PartVelocity velocity;
  std::vector<Field<double>> q;  ///< [0] is the solution; the others are work arrays of the time method
  Buffer<double> areas;          ///< quadrature weights of the owned nodes
};

/// What was found of the operators.
struct TransportSpectrum {
  double advection = 0;  ///< spectral radius, estimated from below by power iteration plus 5 % [1/s]
  double hyper = 0;      ///< of Delta^k
  double gamma = 0;      ///< what Delta^k is multiplied by, but for its sign
  double beta = 0;       ///< of spectral damping
  bool local = false;    ///< each row of Delta^k was divided by the length of its weights before
};

class SphereTransport final : public Model {
 public:
  /// Sets up everything: nodes, partition (or a checkpoint's), stencils, weights, damping, time step. Collective.
  explicit SphereTransport(const ModelSetup& setup);

  const NodeDomain& domain() const override { return domain_; }
  std::vector<ModelField> fields() override;
  std::vector<StateNumber> numbers() override;
  double time_step() const override { return dt_; }
  std::vector<std::string> describe() const override;
  void step(double time, double dt) override;
  std::vector<Diagnostic> diagnose() override;
  std::optional<double> passed_bound(double time, double largest) override;
  Vec3 place_of(std::size_t part, Lid row) override;
  std::vector<double> measures(std::size_t p) override;
  void resume(double time) override;
  Size bytes_moved(std::size_t p) const override;
  ExchangeCounts exchanged() const override;
  std::vector<std::string> exact_fields() const override;
  std::vector<FieldError> field_errors(double time) override;
  void summarise(Summary& summary, double time) override;
  std::vector<const Step*> schedules() const override { return {&pass_->step()}; }

  std::vector<HeldArraySummary> held_arrays(std::size_t p) const override;

  const TransportSpectrum& spectrum() const { return spectrum_; }
  /// Values in the owned nodes of one of this rank's parts: node after node, all tracers of a node together.
  std::vector<double> values(std::size_t p);

 private:
  /// Weights of a part on the host, while the operators are made: those of operator op for node j of row at
  /// [(row * operators + op) * size + j].
  using Weights = std::vector<RawVector<double>>;

  int tracers() const { return static_cast<int>(transport_.tracers.size()); }
  StencilForm form(int operators, Joined joined = Joined::summed) const {
    return {basis_.size, operators, joined, transport_.kernel};
  }
  Stream& stream(std::size_t p) { return *domain_.streams[p].compute; }
  template <class Weight>
  SlicedStencils stencils_of(std::size_t p, int operators, const Weight& weight, Joined joined = Joined::summed,
                             bool of_steps = false);
  void say_where_weights_are();
  Weights make_weights();
  Weights compute_weights();
  std::vector<Gid> global_stencils(std::size_t p) const;
  bool read_weights(std::uint64_t key, Weights& all);
  void write_weights(std::uint64_t key, const Weights& all);
  std::vector<Vec3> velocities(std::size_t p, double time);
  double advection_weight(const RawVector<double>& weights, std::size_t row, std::size_t j, Vec3 velocity) const;
  void make_advection(const Weights& weights, double time);
  bool damps_locally(const Weights& weights) const;
  std::vector<double> damping_scales(const RawVector<double>& weights) const;
  void make_hyper(const Weights& weights);
  void make_operators(const Weights& weights);
  void allocate();
  void make_pass(Overlap overlap);
  double expected_end(double now);
  double fastest_speed(double time);
  double fastest_time(double end);
  void find_spectral_radii(const Weights& weights);
  void damp(const Weights& weights);
  double step_limit(double strength) const;
  void choose_time_step(double strength);
  double error_of_step();
  void shorten_to_tolerance(const Weights& weights, double strength);
  double spectral_radius();
  void set_noise();
  double growing_eigenvalue();
  void put_initial();
  void set_initial();

  /// Rates of field `from`, of all nodes of all parts, for update(q) where q(i) is field i of a part; then field
  /// `target` gets its ghosts.
  template <class MakeUpdate>
  void apply(std::size_t from, std::size_t target, const MakeUpdate& update) {
    exchange_->bind(views(target));
    pass_->run([&](std::size_t p, Kernels& to) {
      TransportPart& part = parts_[p];
      const auto q = [&part](std::size_t field) { return part.q[field].data(); };
      part.rows.add(to, tracers(), q(from), part.velocity.along(), update(q));
    });
    // The set-up finds the right time step in any case.
    if (setting_up_ && exchange_->disabled()) exchange_now(target);
    ++applications_;
  }
  std::vector<FieldView<double>> views(std::size_t field);
  void update_velocity(double time);
  void runge_kutta_step(double time, double dt);
  void ssp_rk3_step(double time, double dt);
  void exchange_now(std::size_t field);
  double largest();
  double mass(int tracer, bool of_magnitudes = false);
  std::vector<TracerSummary> tracer_summaries(double time);

  const Comm& comm_;
  DeviceSet& devices_;
  Case options_;
  TransportCase transport_;
  StencilBasis basis_;
  NodeDomain domain_;
  std::vector<IndexMap> value_maps_;  ///< of values, all tracers of a node together
  WeightReport report_;
  TransportSpectrum spectrum_;
  std::vector<TransportPart> parts_;
  Plan plan_;
  std::unique_ptr<Exchange<double>> exchange_;
  std::unique_ptr<Pass> pass_;
  double dt_ = 0;
  double accurate_dt_ = std::numeric_limits<double>::infinity();  ///< the longest that time.tolerance allows
  double speed_ = 0;                                              ///< the largest of the flow [1/s]
  bool setting_up_ = true;
  std::vector<double> initial_mass_, mass_scale_;  ///< of tracers; scale: of their magnitudes
  double initial_level_ = 0;                       ///< of |q|
  Size applications_ = 0;
};

}  // namespace tutti::transport
