#include "tutti/models/incompressible/flow_model.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "tutti/models/incompressible/flow_sums.hpp"
#include "tutti/simulation/evaluate.hpp"
#include "tutti/simulation/tet_report.hpp"

namespace tutti {

// A step, as the paper's Listing 1 tells it: what the flow would become without pressure, the pressure that takes its
// divergence away, and the flow.

template <class T>
void FlowModel<T>::step(double time, double dt) {
  if (flow_.scheme == TimeScheme::ab2) {
    // Adams-Bashforth, for steps that may differ in length; the first is Euler's.
    const double ratio = last_dt_ > 0 ? dt / last_dt_ : 0;
    stage(time, dt, dt * (1 + ratio / 2), -dt * ratio / 2);
  } else {
    // Runge-Kutta 3 with two registers (Wray; Rai and Moin, J. Comput. Phys. 96, 1991).
    constexpr std::array<double, 3> now{8.0 / 15, 5.0 / 12, 3.0 / 4}, old{0, -17.0 / 60, -5.0 / 12};
    double reached = 0;
    for (std::size_t s = 0; s < now.size(); ++s) {
      const double part = now[s] + old[s];
      stage(time + reached * dt, part * dt, now[s] * dt, old[s] * dt);
      reached += part;
    }
  }
  last_dt_ = dt;
  ++steps_;
}

/// From `time` to `time + dt`: u* = u + now R(u) + old R(u before), projected.
template <class T>
void FlowModel<T>::stage(double time, double dt, double now, double old) {
  update_forcing(time);
  predict_velocity(time + dt, now, old);
  solve_pressure(dt);
  correct_velocity(time + dt, dt);
  ++stages_;
}

template <class T>
void FlowModel<T>::predict_velocity(double time, double now, double old) {
  const StageWeights<T> weights{static_cast<T>(now), static_cast<T>(old)};
  for (std::size_t p = 0; p < parts_.size(); ++p) {
    FlowPart<T>& part = parts_[p];
    const std::array<T*, 4> fields{part.predicted[0].data(), part.predicted[1].data(), part.predicted[2].data(),
                                   part.new_temperature.data()};
    const std::size_t count = flow_.has_temperature() ? 4 : 3;
    const std::array<const T*, 4> from{fields[0], fields[1], fields[2], fields[3]};
    predicted_halo_->bind(p, std::span(from).first(count), std::span(fields).first(count));
  }
  predict_->run(
      [&](std::size_t p, Stream& stream, const CellBox& box, Range range) {
        predict(stream, parts_[p], box, range, constants_, weights);
      },
      [&](std::size_t p, int d, Stream& stream, Range range) {
        fill_predicted(stream, parts_[p], ends_[p].view(d), range, time, constants_.diffusivity);
      });
  if (flow_.has_temperature())
    for (FlowPart<T>& part : parts_) part.temperature.swap(part.new_temperature);
}

template <class T>
void FlowModel<T>::solve_pressure(double dt) {
  divide_->run([&](std::size_t p, Stream& stream, const CellBox& box, Range range) {
    divide_divergence(stream, parts_[p], box, range, static_cast<T>(dt));
  });
  double scale = 0;
  if (flow_.tolerance > 0) {
    const double speed = over_parts(largest_velocity<T>);
    double width = std::numeric_limits<double>::infinity();
    for (int d = 0; d < 3; ++d) width = std::min(width, domain_.grid.smallest_width(d));
    scale = dt * width / std::max(speed, largest_);
  }
  solver_->solve(scale);
}

template <class T>
void FlowModel<T>::correct_velocity(double time, double dt) {
  for (std::size_t p = 0; p < parts_.size(); ++p) {
    FlowPart<T>& part = parts_[p];
    const std::array<T*, 3> fields{part.u[0].data(), part.u[1].data(), part.u[2].data()};
    const std::array<const T*, 3> from{fields[0], fields[1], fields[2]};
    velocity_halo_->bind(p, from, fields);
  }
  const T length = static_cast<T>(dt);
  correct_->run(
      [&](std::size_t p, Stream& stream, const CellBox& box, Range range) {
        correct(stream, parts_[p], box, range, length);
      },
      [&](std::size_t p, int d, Stream& stream, Range range) {
        fill_velocity(stream, parts_[p], ends_[p].view(d), range, time, length);
      });
}

// Set-up.

template <class T>
FlowModel<T>::FlowModel(const ModelSetup& setup)
    : comm_(setup.comm),
      devices_(setup.devices),
      options_(setup.options),
      flow_(read_flow_case(setup.options)),
      domain_(make_box_domain(setup, flow_.grid)) {
  setup.phases.begin("allocate");
  comm_.together([&] { allocate(); });
  make_passes();
  setup.phases.begin("pressure");
  solver_ = make_pressure_solver<T>({comm_, *devices_.threads, domain_, flow_, parts_, ends_,
                                     parse_overlap(options_.text("devices.overlap"))});
  setup.phases.begin("initial");
  set_initial();
  choose_time_step();
  setup.phases.end();
}

template <class T>
void FlowModel<T>::allocate() {
  constants_.viscosity = static_cast<T>(flow_.viscosity);
  constants_.diffusivity = static_cast<T>(flow_.diffusivity.value_or(0));
  constants_.reference = static_cast<T>(flow_.reference);
  bool forced = false;
  for (int c = 0; c < 3; ++c) {
    const Expression& force = flow_.force[static_cast<std::size_t>(c)];
    constants_.buoyancy[c] = static_cast<T>(flow_.buoyancy[c]);
    constants_.force[c] = static_cast<T>(force.is_constant() ? force({0, 0, 0}) : 0);
    forced = forced || !force.is_constant();
  }
  constants_.heat = static_cast<T>(flow_.heat_source.is_constant() ? flow_.heat_source({0, 0, 0}) : 0);
  for (std::size_t p = 0; p < domain_.mine(); ++p) {
    Stream& on = stream(p);
    const BoxArray& array = domain_.arrays[p];
    FlowPart<T>& part = parts_.emplace_back();
    part.grid = PartGrid<T>(on, domain_.grid, array);
    part.box = domain_.box(p);
    const std::vector<T> zeros(static_cast<std::size_t>(array.values()), T(0));
    const auto make = [&](const char* name) { return make_buffer(on, std::span<const T>(zeros), name); };
    for (std::size_t c = 0; c < 3; ++c) {
      part.u[c] = make("velocity");
      part.predicted[c] = make("velocity without pressure");
      part.rate[c] = make("rate of velocity");
      if (forced) part.force[c] = make("force");
    }
    part.p = make("pressure");
    part.rhs = make("divergence");
    if (flow_.has_temperature()) {
      part.temperature = make("temperature");
      part.new_temperature = make("temperature, next");
      part.temperature_rate = make("rate of temperature");
      if (!flow_.heat_source.is_constant()) part.heat = make("heat source");
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
                                            domain_.streams, fields, &domain_.transport);
  };
  velocity_halo_ = halo(rings, 3);
  predicted_halo_ = halo(faces, flow_.has_temperature() ? 4 : 3);
  scalar_halo_ = halo(faces, 1);
  const auto fill = [this](std::size_t p, int d) { return ends_[p].cells(d); };
  const auto pass = [&](BoxTransfer<T>* transfer, const typename BoxPass<T>::FillCells& cells) {
    return std::make_unique<BoxPass<T>>(*devices_.threads, domain_.streams, domain_.parts, transfer, overlap, cells);
  };
  predict_ = pass(predicted_halo_.get(), fill);
  divide_ = pass(nullptr, {});
  correct_ = pass(velocity_halo_.get(), fill);
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
      if (flow_.has_temperature())
        evaluate_field(stream(p), domain_.grid, domain_.arrays[p], part.box, flow_.initial_temperature, -1, 0.0,
                       part.temperature);
    }
  });
  exchange_all(0);
  largest_ = over_parts(largest_velocity<T>);
  // The divergence of what was given is taken away. With weights of 0 u* is u.
  predict_velocity(0, 0, 0);
  solve_pressure(1);
  correct_velocity(0, 1);
  comm_.together([&] {
    for (std::size_t p = 0; p < parts_.size(); ++p) {
      const std::vector<T> zeros(static_cast<std::size_t>(parts_[p].p.size()), T(0));
      upload(stream(p), parts_[p].p, std::span<const T>(zeros));
      for (auto& rate : parts_[p].rate) upload(stream(p), rate, std::span<const T>(zeros));
      if (flow_.has_temperature()) upload(stream(p), parts_[p].temperature_rate, std::span<const T>(zeros));
    }
  });
  if (flow_.has_temperature()) {
    initial_heat_ = sum_over_parts(temperature_sum<T>);
    heat_scale_ = std::abs(initial_heat_);
  }
  for (BoxPass<T>* pass : {predict_.get(), divide_.get(), correct_.get()}) pass->step().reset_seconds();
}

/// Ghosts of velocity, temperature and pressure from what is owned.
template <class T>
void FlowModel<T>::exchange_all(double time) {
  for (std::size_t p = 0; p < parts_.size(); ++p) {
    FlowPart<T>& part = parts_[p];
    const std::array<T*, 3> fields{part.u[0].data(), part.u[1].data(), part.u[2].data()};
    const std::array<const T*, 3> from{fields[0], fields[1], fields[2]};
    velocity_halo_->bind(p, from, fields);
  }
  velocity_halo_->run();
  const auto exchange_scalar = [&](Buffer<T> FlowPart<T>::* field) {
    for (std::size_t p = 0; p < parts_.size(); ++p) {
      T* const to = (parts_[p].*field).data();
      const T* const from = to;
      scalar_halo_->bind(p, std::span<const T* const>(&from, 1), std::span<T* const>(&to, 1));
    }
    scalar_halo_->run();
  };
  if (flow_.has_temperature()) exchange_scalar(&FlowPart<T>::temperature);
  exchange_scalar(&FlowPart<T>::p);
  for (std::size_t p = 0; p < parts_.size(); ++p)
    for (int d = 0; d < 3; ++d) {
      const Range all{0, ends_[p].cells(d)};
      fill_pressure(stream(p), domain_.arrays[p], parts_[p].p.data(), ends_[p].view(d), all);
      fill_velocity(stream(p), parts_[p], ends_[p].view(d), all, time, T(0));
      if (flow_.has_temperature())
        fill_temperature(stream(p), parts_[p], ends_[p].view(d), all, time, constants_.diffusivity);
      stream(p).synchronize();
    }
}

template <class T>
void FlowModel<T>::update_forcing(double time) {
  bool timely = false;
  for (const Expression& force : flow_.force) timely = timely || force.depends_on_time();
  timely = timely || flow_.heat_source.depends_on_time();
  if (forcing_done_ && !timely) return;
  for (std::size_t p = 0; p < parts_.size(); ++p) {
    FlowPart<T>& part = parts_[p];
    for (int c = 0; c < 3; ++c) {
      const auto i = static_cast<std::size_t>(c);
      if (!part.force[i].empty())
        evaluate_field(stream(p), domain_.grid, domain_.arrays[p], part.box, flow_.force[i], c, time, part.force[i]);
    }
    if (!part.heat.empty())
      evaluate_field(stream(p), domain_.grid, domain_.arrays[p], part.box, flow_.heat_source, -1, time, part.heat);
  }
  forcing_done_ = true;
}

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
  for (std::size_t f = 0; f < 6; ++f)
    if (flow.ends[f].temperature == ScalarEnd::fixed && flow.ends[f].temperature_value.is_constant()) {
      const double value = flow.ends[f].temperature_value({0, 0, 0});
      lowest = std::min(lowest, value);
      highest = std::max(highest, value);
    }
  for (const GridLine& line : flow.grid.lines) length = std::max(length, line.cells() > 1 ? line.length() : 0);
  return highest > lowest ? std::sqrt(norm(flow.buoyancy) * (highest - lowest) * length) : 0;
}

template <class T>
void FlowModel<T>::choose_time_step() {
  // Stability intervals: Adams-Bashforth reaches 1 on the negative axis, Runge-Kutta 2.5; along the imaginary axis
  // Runge-Kutta reaches 1.7 and Adams-Bashforth nothing, but what friction there is helps it.
  const bool ab2 = flow_.scheme == TimeScheme::ab2;
  const double viscous = ab2 ? 1 : 2.5, advective = ab2 ? 0.5 : 1.7;
  largest_ = std::max({largest_, largest_at_ends(flow_), buoyant_speed(flow_)});
  double friction = 0, transport = 0;
  for (int d = 0; d < 3; ++d) {
    if (domain_.grid.lines[static_cast<std::size_t>(d)].cells() == 1) continue;
    const double width = domain_.grid.smallest_width(d);
    friction += 4 * std::max(flow_.viscosity, flow_.diffusivity.value_or(0)) / (width * width);
    transport += largest_ / width;
  }
  const double rate = friction / viscous + transport / advective;
  limit_ = friction > 0 ? viscous / friction : std::numeric_limits<double>::infinity();
  comm_.together([&] {
    if (!options_.is_word("time.dt", "auto")) {
      dt_ = options_.number("time.dt");
      if (dt_ > limit_ * (1 + 1e-12))
        fail(ErrorKind::numerical,
             "{}: time.dt = {:g} is above {:.6g}, the stability limit of friction with {}; lower it",
             options_.where("time.dt"), dt_, limit_, options_.text("time.method"));
    } else {
      dt_ = rate > 0 ? options_.number("time.safety") / rate
                     : (options_.has("time.end") ? options_.number("time.end") : 1.0);
    }
  });
}

// Watching and finishing.

template <class T>
double FlowModel<T>::over_parts(const std::function<double(Stream&, FlowPart<T>&)>& of_part) {
  double largest = 0;
  for (std::size_t p = 0; p < parts_.size(); ++p) {
    if (parts_[p].box.empty()) continue;
    const double mine = of_part(stream(p), parts_[p]);
    largest = std::isnan(mine) || std::isnan(largest) ? std::numeric_limits<double>::quiet_NaN()
                                                      : std::max(largest, mine);
  }
  return max_over_ranks(comm_, largest);
}

template <class T>
double FlowModel<T>::sum_over_parts(const std::function<ExactSum(Stream&, FlowPart<T>&)>& of_part) {
  ExactSum sum;
  for (std::size_t p = 0; p < parts_.size(); ++p)
    if (!parts_[p].box.empty()) sum.merge(of_part(stream(p), parts_[p]));
  return sum_over_ranks(comm_, sum);
}

/// max |div u| h / U.
template <class T>
double FlowModel<T>::divergence_left() {
  double width = std::numeric_limits<double>::infinity();
  for (int d = 0; d < 3; ++d) width = std::min(width, domain_.grid.smallest_width(d));
  const double speed = std::max(over_parts(largest_velocity<T>), largest_);
  return speed > 0 ? over_parts(largest_divergence<T>) * width / speed : 0;
}

template <class T>
std::vector<std::string> FlowModel<T>::describe() const {
  return {fmt::format("{}; friction allows steps of {:.5g}", solver_->describe(), limit_)};
}

template <class T>
std::vector<Diagnostic> FlowModel<T>::diagnose() {
  const double speed = over_parts(largest_velocity<T>);
  std::vector<Diagnostic> all{{"max|u|", speed}};
  // Exact sums know no infinities.
  const bool finite = std::isfinite(speed);
  all.push_back({"energy", finite ? 0.5 * sum_over_parts(energy_sum<T>) : speed});
  all.push_back({"divergence", finite ? divergence_left() : speed});
  if (flow_.has_temperature()) all.push_back({"heat", finite ? sum_over_parts(temperature_sum<T>) : speed});
  return all;
}

template <class T>
std::vector<double> FlowModel<T>::owned_values(std::size_t p, const Buffer<T>& buffer) {
  std::vector<double> values(static_cast<std::size_t>(parts_[p].box.cells()));
  if (!values.empty()) take_owned(stream(p), buffer, domain_.arrays[p], parts_[p].box, values);
  return values;
}

template <class T>
ModelState FlowModel<T>::state() {
  ModelState state;
  const auto add = [&](const std::string& name, const std::function<Buffer<T>&(std::size_t)>& buffer) {
    state.fields.push_back({name, 1,
                            [this, buffer](std::size_t p, std::span<double> to) {
                              if (!to.empty()) take_owned(stream(p), buffer(p), domain_.arrays[p], parts_[p].box, to);
                            },
                            [this, buffer](std::size_t p, std::span<const double> from) {
                              if (!from.empty())
                                put_owned(stream(p), buffer(p), domain_.arrays[p], parts_[p].box, from);
                            }});
  };
  for (std::size_t c = 0; c < 3; ++c) {
    add(std::string(1, "uvw"[c]), [this, c](std::size_t p) -> Buffer<T>& { return parts_[p].u[c]; });
    add(fmt::format("rate of {}", "uvw"[c]), [this, c](std::size_t p) -> Buffer<T>& { return parts_[p].rate[c]; });
  }
  add("p", [this](std::size_t p) -> Buffer<T>& { return parts_[p].p; });
  if (flow_.has_temperature()) {
    add("T", [this](std::size_t p) -> Buffer<T>& { return parts_[p].temperature; });
    add("rate of T", [this](std::size_t p) -> Buffer<T>& { return parts_[p].temperature_rate; });
  }
  state.numbers = {{"last_dt", &last_dt_}, {"initial_heat", &initial_heat_}, {"heat_scale", &heat_scale_}};
  state.maps = domain_.maps;
  state.rank_of_part = domain_.parts.rank_of_part;
  state.rows = cells();
  state.mesh_checksum = domain_.grid.checksum();
  return state;
}

template <class T>
void FlowModel<T>::resume(double time) {
  forcing_done_ = false;
  exchange_all(time);
}

template <class T>
void FlowModel<T>::open_results(const std::filesystem::path& folder, std::span<const double> before) {
  std::vector<BoxPiece> mine;
  for (std::size_t p = 0; p < parts_.size(); ++p) mine.push_back({domain_.parts.mine[p], parts_[p].box});
  const auto& lines = domain_.grid.lines;
  results_ = std::make_unique<BoxResults>(comm_, BoxGridShape({lines[0].faces, lines[1].faces, lines[2].faces}), mine,
                                          domain_.parts.boxes, folder,
                                          static_cast<int>(options_.integer("output.compress")),
                                          devices_.threads->count(), before);
}

/// At the centres of the owned cells: means of the two faces, components together.
template <class T>
std::vector<double> FlowModel<T>::centred_velocity(std::size_t p) {
  const FlowPart<T>& part = parts_[p];
  const BoxArray& array = domain_.arrays[p];
  const CellBox& box = part.box;
  std::vector<double> values(static_cast<std::size_t>(3 * box.cells()));
  if (box.empty()) return values;
  for (std::size_t c = 0; c < 3; ++c) {
    std::vector<T> all(static_cast<std::size_t>(part.u[c].size()));
    download(stream(p), std::span<T>(all), part.u[c]);
    const Lid stride = c == 0 ? 1 : c == 1 ? array.row() : array.plane();
    std::size_t to = c;
    for (Lid k = box.lower[2]; k < box.upper[2]; ++k)
      for (Lid j = box.lower[1]; j < box.upper[1]; ++j)
        for (Lid i = box.lower[0]; i < box.upper[0]; ++i, to += 3) {
          const auto n = static_cast<std::size_t>(array.at(i, j, k));
          values[to] = 0.5 * (static_cast<double>(all[n]) + static_cast<double>(all[n - static_cast<std::size_t>(stride)]));
        }
  }
  return values;
}

template <class T>
void FlowModel<T>::write_results(double time) {
  const auto in_precision = [](const std::vector<double>& values) { return std::vector<T>(values.begin(), values.end()); };
  std::vector<std::vector<T>> velocity, pressure, temperature;
  for (std::size_t p = 0; p < parts_.size(); ++p) {
    velocity.push_back(in_precision(centred_velocity(p)));
    pressure.push_back(in_precision(owned_values(p, parts_[p].p)));
    if (flow_.has_temperature()) temperature.push_back(in_precision(owned_values(p, parts_[p].temperature)));
  }
  std::vector<BoxFieldValues> fields{{"velocity", 3, std::move(velocity)}, {"p", 1, std::move(pressure)}};
  if (flow_.has_temperature()) fields.push_back({"T", 1, std::move(temperature)});
  results_->write(time, fields);
}

template <class T>
void FlowModel<T>::set_probes(std::vector<Vec3> points) {
  const auto& lines = domain_.grid.lines;
  comm_.together([&] {
    for (std::size_t i = 0; i < points.size(); ++i)
      for (int d = 0; d < 3; ++d) {
        const GridLine& line = lines[static_cast<std::size_t>(d)];
        if (points[i][d] < line.faces.front() || points[i][d] > line.faces.back()) {
          const std::string table = fmt::format("output.probe[{}]", i);
          fail(ErrorKind::input, "{}: probe '{}' at ({:g}, {:g}, {:g}) is outside the box; move it into it",
               options_.where(table + ".point"), options_.text(table + ".name"), points[i].x, points[i].y, points[i].z);
        }
      }
  });
  probes_ = std::move(points);
}

/// The speed, or the temperature where there is one, in the cells of the probes.
template <class T>
std::vector<double> FlowModel<T>::sample() {
  std::vector<double> values(probes_.size(), -std::numeric_limits<double>::infinity());
  for (std::size_t i = 0; i < probes_.size(); ++i) {
    std::array<Lid, 3> cell{};
    for (std::size_t d = 0; d < 3; ++d) {
      const auto& faces = domain_.grid.lines[d].faces;
      const auto at = std::upper_bound(faces.begin(), faces.end(), probes_[i][static_cast<int>(d)]) - faces.begin() - 1;
      cell[d] = std::clamp(static_cast<Lid>(at), 0, domain_.grid.lines[d].cells() - 1);
    }
    for (std::size_t p = 0; p < parts_.size(); ++p) {
      FlowPart<T>& part = parts_[p];
      if (!part.box.contains(cell[0], cell[1], cell[2])) continue;
      const Lid n = domain_.arrays[p].at(cell[0], cell[1], cell[2]);
      const auto value = [&](const Buffer<T>& buffer, Lid at) {
        T one{};
        stream(p).copy(&one, buffer.data() + at, sizeof(T), CopyDirection::to_host);
        stream(p).synchronize();
        return static_cast<double>(one);
      };
      if (flow_.has_temperature()) {
        values[i] = value(part.temperature, n);
        continue;
      }
      double square = 0;
      for (int c = 0; c < 3; ++c) {
        const auto& u = part.u[static_cast<std::size_t>(c)];
        const double mean = 0.5 * (value(u, n) + value(u, n - part.grid.view().stride(c)));
        square += mean * mean;
      }
      values[i] = std::sqrt(square);
    }
  }
  comm_.max(values);
  return values;
}

template <class T>
ErrorSummary FlowModel<T>::errors(double time) {
  ExactSum square;
  double largest = 0, volume = 1;
  for (const GridLine& line : domain_.grid.lines) volume *= line.length();
  comm_.together([&] {
    for (std::size_t p = 0; p < parts_.size(); ++p) {
      const CellBox& box = parts_[p].box;
      for (std::size_t c = 0; c < 3; ++c) {
        const auto u = owned_values(p, parts_[p].u[c]);
        std::size_t n = 0;
        for (Lid k = box.lower[2]; k < box.upper[2]; ++k)
          for (Lid j = box.lower[1]; j < box.upper[1]; ++j)
            for (Lid i = box.lower[0]; i < box.upper[0]; ++i, ++n) {
              Vec3 at = domain_.grid.centre(i, j, k);
              const std::array<Lid, 3> cell{i, j, k};
              at[static_cast<int>(c)] += 0.5 * domain_.grid.lines[c].width(cell[c]);
              const double error = u[n] - (*flow_.exact)[c](at, time);
              square.add(domain_.grid.volume(i, j, k) * error * error);
              largest = std::max(largest, std::abs(error));
            }
      }
    }
  });
  return {std::sqrt(sum_over_ranks(comm_, square) / volume), comm_.max(largest),
          std::numeric_limits<double>::quiet_NaN()};
}

template <class T>
void FlowModel<T>::summarise(Summary& summary, double time) {
  summary.model = "incompressible";
  summary.cells = cells();
  summary.balance = domain_.balance;
  std::vector<PartSeconds> seconds(parts_.size());
  for (const BoxPass<T>* pass : {predict_.get(), divide_.get(), correct_.get()}) add_seconds_of(pass->step(), seconds);
  solver_->add_seconds(seconds);
  // Arrays that a stage reads or writes, each once: momentum 10, divergence 4, correction 7; the temperature 6; the
  // pressure 3 a sweep, or 8 directly.
  const Size values = 21 + (flow_.has_temperature() ? 6 : 0) + (solver_->sweeps() > 0 ? 3 * solver_->sweeps() : 8);
  std::uint64_t checksum = 0;
  for (std::size_t p = 0; p < parts_.size(); ++p) {
    PartSummary s;
    s.rank = comm_.rank();
    s.device = domain_.streams[p].device->name();
    s.cells = parts_[p].box.cells();
    s.ghosts = velocity_halo_->unpacked(p);
    s.weight = domain_.weights[static_cast<std::size_t>(domain_.parts.mine[p])];
    s.seconds = {seconds[p].separator, seconds[p].interior, seconds[p].exchange, seconds[p].idle};
    s.bytes = stages_ * values * s.cells * static_cast<Size>(sizeof(T));
    const double busy = seconds[p].separator + seconds[p].interior;
    s.gb_per_second = busy > 0 ? static_cast<double>(s.bytes) / busy * 1e-9 : 0;
    summary.parts.push_back(s);
    for (std::size_t c = 0; c < 3; ++c)
      checksum += (2 * c + 1) * checksum_of(domain_.maps[p], owned_values(p, parts_[p].u[c]));
    if (flow_.has_temperature()) checksum += 7 * checksum_of(domain_.maps[p], owned_values(p, parts_[p].temperature));
  }
  ExchangeCounts counts = solver_->exchanged();
  add_counts(counts, predicted_halo_->exchange().counts_per_exchange(), stages_);
  add_counts(counts, velocity_halo_->exchange().counts_per_exchange(), stages_);
  summary.exchange.bytes = comm_.sum(counts.bytes);
  summary.exchange.messages = comm_.sum(counts.messages);
  if (flow_.has_temperature()) {
    summary.mass.initial = initial_heat_;
    summary.mass.final = sum_over_parts(temperature_sum<T>);
    summary.mass.drift = heat_scale_ > 0 ? (summary.mass.final - initial_heat_) / heat_scale_ : 0;
  }
  if (flow_.exact) summary.errors = errors(time);
  summary.checksum = static_cast<std::uint64_t>(comm_.sum(static_cast<std::int64_t>(checksum)));
}

std::unique_ptr<Model> make_incompressible(const ModelSetup& setup) {
  if (setup.options.text("numerics.precision") == "float") return std::make_unique<FlowModel<float>>(setup);
  return std::make_unique<FlowModel<double>>(setup);
}

template class FlowModel<double>;
template class FlowModel<float>;

}  // namespace tutti
