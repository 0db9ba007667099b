// The model's set-up: arrays, passes, the state at the start and the length of a step.
#include <algorithm>
#include <cmath>
#include <limits>
#include <type_traits>

#include "tutti/base/random.hpp"
#include "tutti/device/zeros.hpp"
#include "tutti/models/incompressible/flow_model.hpp"
#include "tutti/models/incompressible/flow_plan.hpp"
#include "tutti/models/incompressible/flow_sums.hpp"
#include "tutti/models/incompressible/pressure/direct/direct_layout.hpp"
#include "tutti/models/incompressible/turbulence/subgrid.hpp"

namespace tutti::incompressible {

namespace {

/// What the walls and what flows in make of the speed: the largest value at some points of each end.
double largest_at_ends(const FlowCase& flow) {
  constexpr Lid points = 16;
  double largest = 0;
  for (std::size_t f = 0; f < 6; ++f) {
    const std::size_t d = f / 2, a = (d + 1) % 3, b = (d + 2) % 3;
    const FlowEnd& end = flow.ends[f];
    if (end.velocity != VelocityEnd::no_slip && end.velocity != VelocityEnd::inflow) continue;
    for (Lid i = 0; i < points; ++i)
      for (Lid j = 0; j < points; ++j) {
        Vec3 at;
        const auto inside = [&](std::size_t k, Lid n) {
          const GridLine& line = flow.grid.lines[k];
          return line.faces.front() + (n + 0.5) / points * line.length();
        };
        at[static_cast<int>(d)] = f % 2 == 0 ? flow.grid.lines[d].faces.front() : flow.grid.lines[d].faces.back();
        at[static_cast<int>(a)] = inside(a, i);
        at[static_cast<int>(b)] = inside(b, j);
        for (const Expression& value : end.value) largest = std::max(largest, std::abs(value(at, 0)));
      }
  }
  return largest;
}

/// The speed that warm fluid reaches in the box: sqrt(buoyancy dT length).
double buoyant_speed(const FlowCase& flow) {
  double lowest = std::numeric_limits<double>::infinity(), highest = -lowest, length = 0;
  if (flow.has_temperature)
    for (const FlowScalarEnd& end : flow.scalars[0].ends)
      if (end.kind == ScalarEnd::fixed && end.value.is_constant()) {
        const double value = end.value({0, 0, 0});
        lowest = std::min(lowest, value);
        highest = std::max(highest, value);
      }
  for (const GridLine& line : flow.grid.lines) length = std::max(length, line.cells() > 1 ? line.length() : 0);
  return highest > lowest ? std::sqrt(norm(flow.buoyancy) * (highest - lowest) * length) : 0;
}

/// The speed that a force gives to fluid on its way through the box: sqrt(force length), the largest at some points.
double forced_speed(const FlowCase& flow) {
  constexpr Lid points = 8;
  double largest = 0, length = 0;
  for (const GridLine& line : flow.grid.lines) length = std::max(length, line.cells() > 1 ? line.length() : 0);
  for (Lid n = 0; n < points * points * points; ++n) {
    const std::array<Lid, 3> place{n % points, n / points % points, n / points / points};
    Vec3 at, force;
    for (std::size_t d = 0; d < 3; ++d) {
      const GridLine& line = flow.grid.lines[d];
      at[static_cast<int>(d)] = line.faces.front() + (place[d] + 0.5) / points * line.length();
    }
    for (std::size_t d = 0; d < 3; ++d) force[static_cast<int>(d)] = flow.force[d](at, 0);
    largest = std::max(largest, norm(force));
  }
  return std::sqrt(largest * length);
}

FlowCase read_together(const ModelSetup& setup) {
  FlowCase flow;
  setup.comm.together([&] { flow = read_flow_case(setup.options); });
  return flow;
}

}  // namespace

double driven_speed(const FlowCase& flow) {
  return std::max({largest_at_ends(flow), buoyant_speed(flow), flow.implicit_diffusion ? forced_speed(flow) : 0,
                   flow.bulk ? std::abs(flow.bulk->velocity) : 0});
}

template <class T>
FlowModel<T>::FlowModel(const ModelSetup& setup)
    : comm_(setup.comm),
      devices_(setup.devices),
      options_(setup.options),
      flow_(read_together(setup)),
      domain_(make_box_domain(setup, flow_.grid, flow_sharing(setup.options, flow_, *setup.devices.threads),
                              cut_order(flow_))) {
  setup.phases.begin("allocate");
  comm_.together([&] { allocate(); });
  make_passes();
  if (flow_.bulk) volume_ = sum_over_parts([](Stream& on, FlowPart<T>& part) { return volume_sum(on, part); });
  if (flow_.profiles) profiles_.emplace(flow_);
  setup.phases.begin("pressure");
  solver_ = make_pressure_solver<T>({comm_, *devices_.threads, domain_, flow_, parts_, ends_,
                                     parse_overlap(options_.text("devices.overlap")), adapts_every() > 0});
  make_diffusion();
  if (flow_.pressure != PressureMethod::jacobi && options_.flag("pressure.check")) {
    setup.phases.begin("check");
    check_solver();
  }
  setup.phases.begin("initial");
  set_initial();
  choose_time_step();
  setup.phases.end();
}

template <class T>
void FlowModel<T>::allocate() {
  constants_.viscosity = static_cast<T>(flow_.viscosity);
  constants_.reference = static_cast<T>(flow_.reference);
  const bool forced = flow_.is_forced() || flow_.subgrid != SubgridModel::none;
  for (int c = 0; c < 3; ++c) {
    const Expression& force = flow_.force[c];
    constants_.buoyancy[c] = static_cast<T>(flow_.buoyancy[c]);
    constants_.force[c] = static_cast<T>(force.is_constant() ? force({0, 0, 0}) : 0);
  }
  for (std::size_t f = 0; f < 6; ++f) {
    const auto time_dependent = [this](const Expression& e) {
      time_dependent_ends_ = time_dependent_ends_ || e.depends_on_time();
    };
    for (const Expression& e : flow_.ends[f].value) time_dependent(e);
    for (const FlowScalar& scalar : flow_.scalars) time_dependent(scalar.ends[f].value);
  }
  for (std::size_t p = 0; p < domain_.mine(); ++p) {
    Stream& on = stream(p);
    const BoxArray& array = domain_.arrays[p];
    FlowPart<T>& part = parts_.emplace_back();
    part.grid = PartGrid<T>(on, domain_.grid, array);
    part.box = domain_.box(p);
    const auto make = [&](const char* name) { return make_zeros<T>(on, array.values(), name); };
    for (std::size_t c = 0; c < 3; ++c) {
      part.u[c] = make("velocity");
      part.intermediate[c] = make("velocity without pressure");
      part.rate[c] = make("rate of velocity");
      if (forced) part.force[c] = make("force");
    }
    if (flow_.subgrid != SubgridModel::none) allocate_subgrid(on, flow_, part);
    part.p = make("pressure");
    part.rhs = make("divergence");
    part.warm = flow_.has_temperature;
    for (const FlowScalar& from : flow_.scalars) {
      PartScalar<T>& scalar = part.scalars.emplace_back();
      scalar.now = make("scalar");
      scalar.next = make("scalar, next");
      scalar.rate = make("rate of a scalar");
      if (from.source.is_constant())
        scalar.constant_source = static_cast<T>(from.source({0, 0, 0}));
      else
        scalar.source = make("source of a scalar");
      scalar.diffusivity = static_cast<T>(from.diffusivity);
    }
    if (flow_.steady > 0) {
      auto& kept = kept_.emplace_back();
      for (std::size_t f = 0; f < 3 + part.scalars.size(); ++f) kept.push_back(make("flow before a step"));
    }
    ends_.emplace_back(on, flow_, part.box, array);
  }
}

template <class T>
void FlowModel<T>::make_passes() {
  const Overlap overlap = parse_overlap(options_.text("devices.overlap"));
  std::vector<std::vector<CellBox>> rings, faces;
  for (const CellBox& box : domain_.parts.boxes) {
    rings.push_back(ring_around(box));
    faces.push_back(faces_around(box));
  }
  const auto halo = [&](const auto& wanted, int fields) {
    return std::make_unique<BoxTransfer<T>>(comm_, domain_.parts, wanted, domain_.arrays, domain_.arrays, true,
                                            domain_.streams, fields, &domain_.routing);
  };
  velocity_halo_ = halo(rings, 3);
  intermediate_halo_ = halo(faces, 3 + static_cast<int>(flow_.scalars.size()));
  scalar_halo_ = halo(faces, 1);
  if (flow_.subgrid != SubgridModel::none) eddy_halo_ = halo(rings, 1);
  const auto pass = [&](const char* name, BoxTransfer<T>* transfer) {
    // Most ends are filled all together, those of velocity and scalars direction after direction.
    const bool one_by_one =
        transfer == velocity_halo_.get() || (transfer == intermediate_halo_.get() && !flow_.scalars.empty());
    const auto cells = [&](std::size_t p, int d) {
      return d == 0 ? ends_[p].cells() : one_by_one ? ends_[p].cells(d) : 0;
    };
    auto made = std::make_unique<Pass>(
        name, *devices_.threads, domain_.streams,
        transfer != nullptr ? box_pass_parts(domain_.parts, cells) : whole_pass_parts(domain_.parts), transfer,
        overlap);
    // Where the length of the step changes every few steps, nothing comes often enough.
    if (time_dependent_ends_ || adapts_every() > 0) made->never_capture();
    return made;
  };
  if (eddy_halo_) eddies_ = pass("eddy viscosity", eddy_halo_.get());
  predict_ = pass("prediction", intermediate_halo_.get());
  divide_ = pass("divergence", nullptr);
  correct_ = pass("correction", velocity_halo_.get());
  if (flow_.bulk) correct_->never_capture();  // what it gains is another number each time
}

template <class T>
void FlowModel<T>::make_diffusion() {
  if (!flow_.implicit_diffusion) return;
  std::vector<DiffusedField<T>> fields;
  for (std::size_t c = 0; c < 3; ++c)
    fields.push_back({static_cast<int>(c), 0, flow_.viscosity,
                      [c](FlowPart<T>& part) -> Buffer<T>& { return part.u[c]; },
                      [c](FlowPart<T>& part) -> Buffer<T>& { return part.intermediate[c]; }});
  for (std::size_t s = 0; s < flow_.scalars.size(); ++s)
    fields.push_back({at_centres, s, flow_.scalars[s].diffusivity,
                      [s](FlowPart<T>& part) -> Buffer<T>& { return part.scalars[s].now; },
                      [s](FlowPart<T>& part) -> Buffer<T>& { return part.scalars[s].next; }});
  diffusion_ =
      std::make_unique<ImplicitDiffusion<T>>(PressureProblem<T>{comm_, *devices_.threads, domain_, flow_, parts_, ends_,
                                                                parse_overlap(options_.text("devices.overlap"))},
                                             std::move(fields));
}

template <class T>
void FlowModel<T>::set_initial() {
  comm_.together([&] {
    for (std::size_t p = 0; p < parts_.size(); ++p) {
      FlowPart<T>& part = parts_[p];
      for (int c = 0; c < 3; ++c) {
        const auto i = static_cast<std::size_t>(c);
        evaluate_field(stream(p), domain_.grid, domain_.arrays[p], part.box, flow_.initial_velocity[i], c, 0.0,
                       part.u[i]);
      }
      for (std::size_t s = 0; s < part.scalars.size(); ++s)
        evaluate_field(stream(p), domain_.grid, domain_.arrays[p], part.box, flow_.scalars[s].initial, -1, 0.0,
                       part.scalars[s].now);
    }
  });
  exchange_all(0);
  largest_ = over_parts(largest_velocity<T>);
  // The divergence of what was given is taken away. With weights of 0 u* is u.
  predict_velocity(0, 0, 0);
  solve_pressure(1);
  correct_velocity(0, 1, start_bulk_gain()());
  comm_.together([&] {
    for (std::size_t p = 0; p < parts_.size(); ++p) {
      set_zeros(stream(p), parts_[p].p);
      for (auto& rate : parts_[p].rate) set_zeros(stream(p), rate);
      for (auto& scalar : parts_[p].scalars) set_zeros(stream(p), scalar.rate);
    }
  });
  if (flow_.has_temperature) {
    initial_heat_ = amount(0);
    heat_scale_ = std::abs(initial_heat_);
  }
  for (Pass* pass : {eddies_.get(), predict_.get(), divide_.get(), correct_.get()})
    if (pass != nullptr) pass->step().reset_seconds();
}

/// Ghosts of velocity, scalars and pressure from what is owned.
template <class T>
void FlowModel<T>::exchange_all(double time) {
  for (std::size_t p = 0; p < parts_.size(); ++p) {
    FlowPart<T>& part = parts_[p];
    const std::array<T*, 3> fields{part.u[0].data(), part.u[1].data(), part.u[2].data()};
    const std::array<const T*, 3> from{fields[0], fields[1], fields[2]};
    velocity_halo_->bind(p, from, fields);
  }
  velocity_halo_->run();
  const auto exchange_scalar = [&](const auto& field) {
    for (std::size_t p = 0; p < parts_.size(); ++p) {
      T* const to = field(parts_[p]).data();
      const T* const from = to;
      scalar_halo_->bind(p, std::span<const T* const>(&from, 1), std::span<T* const>(&to, 1));
    }
    scalar_halo_->run();
  };
  for (std::size_t s = 0; s < flow_.scalars.size(); ++s)
    exchange_scalar([s](FlowPart<T>& part) -> Buffer<T>& { return part.scalars[s].now; });
  exchange_scalar([](FlowPart<T>& part) -> Buffer<T>& { return part.p; });
  for (std::size_t p = 0; p < parts_.size(); ++p) {
    Kernels fill;
    fill_pressure(fill, parts_[p], ends_[p]);
    fill.enqueue(stream(p), {}, {0, ends_[p].cells()});
    for (int d = 0; d < 3; ++d) {
      Kernels along;
      fill_velocity(along, parts_[p], ends_[p], d, time, T(0));
      fill_scalars(along, parts_[p], ends_[p], d, time, false);
      along.enqueue(stream(p), {}, {0, ends_[p].cells(d)});
    }
    stream(p).synchronize();
  }
}

template <class T>
void FlowModel<T>::update_forcing(double time) {
  bool time_dependent = false;
  for (const Expression& force : flow_.force) time_dependent = time_dependent || force.depends_on_time();
  for (const FlowScalar& scalar : flow_.scalars) time_dependent = time_dependent || scalar.source.depends_on_time();
  if (forcing_done_ && !time_dependent) return;
  for (std::size_t p = 0; p < parts_.size(); ++p) {
    FlowPart<T>& part = parts_[p];
    for (int c = 0; c < 3; ++c) {
      const auto i = static_cast<std::size_t>(c);
      Buffer<T>& force = eddies_ ? part.given_force[i] : part.force[i];
      if (!force.empty())
        evaluate_field(stream(p), domain_.grid, domain_.arrays[p], part.box, flow_.force[i], c, time, force);
    }
    for (std::size_t s = 0; s < part.scalars.size(); ++s)
      if (!part.scalars[s].source.empty())
        evaluate_field(stream(p), domain_.grid, domain_.arrays[p], part.box, flow_.scalars[s].source, -1, time,
                       part.scalars[s].source);
  }
  forcing_done_ = true;
}

double longest_step(const FlowCase& flow, double crossing, double temperature_deviation, double eddies) {
  const bool ab2 = flow.scheme == TimeScheme::ab2;
  double viscosity = eddies, width = std::numeric_limits<double>::infinity();
  for (int d = 0; d < 3; ++d) {
    if (flow.grid.lines[d].cells() == 1) continue;
    const double w = flow.grid.smallest_width(d);
    viscosity += 4 * flow.largest_diffusivity() / (w * w);
    width = std::min(width, w);
  }
  const double rate = viscosity / (flow.implicit_diffusion ? 100 : ab2 ? 1 : 2.5) + crossing / (ab2 ? 0.5 : 1.7);
  return 2 / (rate + std::sqrt(rate * rate + 4 * norm(flow.buoyancy) * temperature_deviation / width));
}

/// Largest |T - reference|.
template <class T>
double FlowModel<T>::temperature_deviation() {
  if (!flow_.has_temperature) return 0;
  return over_parts([&](Stream& on, FlowPart<T>& part) { return largest_warmth(on, part, flow_.reference); });
}

/// What bounds the step, of the eddy viscosity.
template <class T>
double FlowModel<T>::eddies() {
  if (!eddies_) return 0;
  return over_parts([&](Stream& on, FlowPart<T>& part) { return eddy_rate(on, part, flow_); });
}

template <class T>
void FlowModel<T>::choose_time_step() {
  const double driven = driven_speed(flow_);
  largest_ = std::max(largest_, driven);
  double crossing = over_parts(crossing_rate<T>), at_ends = 0;
  for (int d = 0; d < 3; ++d)
    if (domain_.grid.lines[d].cells() > 1) at_ends += driven / domain_.grid.smallest_width(d);
  update_eddy_viscosity();
  const double longest = longest_step(flow_, std::max(crossing, at_ends), temperature_deviation(), eddies());
  limit_ = longest_step(flow_, 0, 0);
  comm_.together([&] {
    if (!options_.is_word("time.dt", "auto")) {
      dt_ = options_.number("time.dt");
      if (!flow_.implicit_diffusion && dt_ > limit_ * (1 + 1e-12))
        fail(ErrorKind::numerical,
             "{}: time.dt = {:g} is above {:.6g}, the stability limit of viscosity and diffusion with {}; lower it",
             options_.where("time.dt"), dt_, limit_, options_.text("time.method"));
    } else {
      dt_ = !std::isinf(longest) ? options_.number("time.safety") * longest
                                 : (options_.has("time.end") ? options_.number("time.end") : 1.0);
    }
  });
}

template <class T>
Size FlowModel<T>::adapts_every() const {
  return options_.is_word("time.dt", "auto") ? options_.integer("time.adapt_every") : 0;
}

/// Steps get shorter at once and longer by degrees; small changes are not worth one.
template <class T>
double FlowModel<T>::adapted_step(double dt) {
  constexpr double growth = 1.2, worth = 1.05;
  const double crossing = over_parts(crossing_rate<T>);
  update_eddy_viscosity();
  const double longest =
      options_.number("time.safety") * longest_step(flow_, crossing, temperature_deviation(), eddies());
  // Of a field that is not finite the watch of the run says where.
  if (!std::isfinite(crossing) || !std::isfinite(longest) || (longest >= dt && longest < worth * dt)) return dt;
  return std::min(longest, growth * dt);
}

/// A solver that does not do what it should is found before it spoils a run: noise is projected.
template <class T>
void FlowModel<T>::check_solver() {
  // Of what the case is content with, ten times: noise is rougher than a flow.
  const double tolerance = std::max(10 * flow_.tolerance, std::is_same_v<T, float>                   ? 1e-3
                                                          : flow_.pressure == PressureMethod::direct ? 1e-10
                                                                                                     : 1e-6);
  comm_.together([&] {
    for (std::size_t p = 0; p < parts_.size(); ++p)
      for (std::size_t c = 0; c < 3; ++c) {
        std::vector<double> noise(parts_[p].box.cells());
        for_ranges(parallel_for(*devices_.threads), static_cast<Size>(noise.size()), [&](Size begin, Size end) {
          for (auto i = static_cast<std::size_t>(begin); i < static_cast<std::size_t>(end); ++i)
            noise[i] = random_unit(c, static_cast<std::uint64_t>(domain_.maps[p].global[i])) - 0.5;
        });
        if (!noise.empty()) put_owned(stream(p), parts_[p].u[c], domain_.arrays[p], parts_[p].box, noise);
      }
  });
  exchange_all(0);
  largest_ = 1;
  predict_velocity(0, 0, 0);
  solve_pressure(1);
  correct_velocity(0, 1, start_bulk_gain()());
  const double left = divergence_left();
  comm_.together([&] {
    if (!(left <= tolerance))
      fail(ErrorKind::numerical,
           "the pressure solver failed its test: a divergence of {:.3g} is left of noise, at most {:.3g} is allowed; "
           "choose another pressure.solver, or pressure.check = false",
           left, tolerance);
  });
  comm_.together([&] {
    for (std::size_t p = 0; p < parts_.size(); ++p) {
      set_zeros(stream(p), parts_[p].p);
      for (auto& rate : parts_[p].rate) set_zeros(stream(p), rate);
    }
  });
}

template class FlowModel<double>;
template class FlowModel<float>;

}  // namespace tutti::incompressible
