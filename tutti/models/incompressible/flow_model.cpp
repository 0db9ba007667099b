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
  const bool looks = flow_.steady > 0 && std::fmod(steps_ + 1, steps_between_looks) == 0;
  if (looks) keep_flow();
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
  if (looks) steady_ = rate_of_change(dt) < flow_.steady;
}

/// From `time` to `time + dt`: u* = u + now R(u) + old R(u before), projected.
template <class T>
void FlowModel<T>::stage(double time, double dt, double now, double old) {
  update_forcing(time);
  if (diffusion_)
    predict_implicitly(time + dt, dt, now, old);
  else
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
  predict_->run([&](std::size_t p, Stream& stream, const CellBox& box,
                    Range range) { predict(stream, parts_[p], box, range, constants_, weights); },
                [&](std::size_t p, int d, Stream& stream, Range range) {
                  fill_predicted(stream, parts_[p], ends_[p].view(d), range, time, constants_.diffusivity);
                });
  if (flow_.has_temperature())
    for (FlowPart<T>& part : parts_) part.temperature.swap(part.new_temperature);
}

/// Convection, buoyancy and forces as above; friction and conduction from the mean of both ends of the step.
template <class T>
void FlowModel<T>::predict_implicitly(double time, double dt, double now, double old) {
  const StageWeights<T> weights{static_cast<T>(now), static_cast<T>(old)};
  FlowConstants<T> without_friction = constants_;
  without_friction.viscosity = without_friction.diffusivity = 0;
  diffusion_->solve(time, dt, [&](std::size_t p, Stream& stream, const CellBox& box, Range range) {
    predict(stream, parts_[p], box, range, without_friction, weights);
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
    // From rest it is u* that moves.
    const double speed = std::max(over_parts(largest_predicted<T>), largest_);
    scale = speed > 0 ? dt * domain_.grid.smallest_width() / speed : 0;
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
  ends_time_ = time;
  const T length = static_cast<T>(dt);
  correct_->run([&](std::size_t p, Stream& stream, const CellBox& box,
                    Range range) { correct(stream, parts_[p], box, range, length); },
                [&](std::size_t p, int d, Stream& stream, Range range) {
                  fill_velocity(stream, parts_[p], ends_[p].view(d), range, time, length);
                });
}

// Watching and finishing.

template <class T>
double FlowModel<T>::over_parts(const std::function<double(Stream&, FlowPart<T>&)>& of_part) {
  double largest = 0;
  for (std::size_t p = 0; p < parts_.size(); ++p) {
    if (parts_[p].box.empty()) continue;
    const double mine = of_part(stream(p), parts_[p]);
    largest =
        std::isnan(mine) || std::isnan(largest) ? std::numeric_limits<double>::quiet_NaN() : std::max(largest, mine);
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

template <class T>
std::vector<std::string> FlowModel<T>::describe() const {
  if (diffusion_)
    return {fmt::format("{}; implicit diffusion, {} sweeps a step", solver_->describe(), diffusion_sweeps(flow_, dt_))};
  return {fmt::format("{}; friction allows steps of {:.5g}", solver_->describe(), limit_)};
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
  // A case with the other kind of diffusion cannot go on from them.
  const char* const rate = diffusion_ ? "rate without diffusion of" : "rate of";
  for (std::size_t c = 0; c < 3; ++c) {
    add(std::string(1, "uvw"[c]), [this, c](std::size_t p) -> Buffer<T>& { return parts_[p].u[c]; });
    add(fmt::format("{} {}", rate, "uvw"[c]), [this, c](std::size_t p) -> Buffer<T>& { return parts_[p].rate[c]; });
  }
  add("p", [this](std::size_t p) -> Buffer<T>& { return parts_[p].p; });
  if (flow_.has_temperature()) {
    add("T", [this](std::size_t p) -> Buffer<T>& { return parts_[p].temperature; });
    add(fmt::format("{} T", rate), [this](std::size_t p) -> Buffer<T>& { return parts_[p].temperature_rate; });
  }
  state.numbers = {{"steps", &steps_},
                   {"last_dt", &last_dt_},
                   {"time of the ends", &ends_time_},
                   {"initial_heat", &initial_heat_},
                   {"heat_scale", &heat_scale_}};
  state.maps = domain_.maps;
  state.rank_of_part = domain_.parts.rank_of_part;
  state.rows = cells();
  state.mesh_checksum = domain_.grid.checksum();
  return state;
}

template <class T>
void FlowModel<T>::resume(double) {
  forcing_done_ = false;
  // Stages add up to a time that may differ from the loop's in its last bits.
  exchange_all(ends_time_);
}

template <class T>
void FlowModel<T>::open_results(const std::filesystem::path& folder, std::span<const double> before) {
  std::vector<BoxPiece> mine;
  for (std::size_t p = 0; p < parts_.size(); ++p) mine.push_back({domain_.parts.mine[p], parts_[p].box});
  const auto& lines = domain_.grid.lines;
  results_ = std::make_unique<BoxResults>(
      comm_, BoxGridShape({lines[0].faces, lines[1].faces, lines[2].faces}), mine, domain_.parts.boxes, folder,
      static_cast<int>(options_.integer("output.compress")), devices_.threads->count(), before);
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
    const Lid stride = array.stride(static_cast<int>(c));
    std::size_t to = c;
    for (Lid k = box.lower[2]; k < box.upper[2]; ++k)
      for (Lid j = box.lower[1]; j < box.upper[1]; ++j)
        for (Lid i = box.lower[0]; i < box.upper[0]; ++i, to += 3) {
          const auto n = static_cast<std::size_t>(array.at(i, j, k));
          values[to] =
              0.5 * (static_cast<double>(all[n]) + static_cast<double>(all[n - static_cast<std::size_t>(stride)]));
        }
  }
  return values;
}

template <class T>
void FlowModel<T>::write_results(double time) {
  const auto in_precision = [](const std::vector<double>& values) {
    return std::vector<T>(values.begin(), values.end());
  };
  if (diffusion_) diffusion_->pressure_of_potential(last_dt_);
  std::vector<std::vector<T>> velocity, pressure, temperature;
  for (std::size_t p = 0; p < parts_.size(); ++p) {
    velocity.push_back(in_precision(centred_velocity(p)));
    pressure.push_back(in_precision(owned_values(p, diffusion_ ? parts_[p].rhs : parts_[p].p)));
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
        const double mean = 0.5 * (value(u, n) + value(u, n - part.grid.array.stride(c)));
        square += mean * mean;
      }
      values[i] = std::sqrt(square);
    }
  }
  comm_.max(values);
  return values;
}

template <class T>
void FlowModel<T>::summarise(Summary& summary, double time) {
  summary.model = "incompressible";
  summary.cells = cells();
  summary.balance = domain_.balance;
  std::vector<PartSeconds> seconds(parts_.size());
  for (const BoxPass<T>* pass : {predict_.get(), divide_.get(), correct_.get()}) add_seconds_of(pass->step(), seconds);
  solver_->add_seconds(seconds);
  if (diffusion_) diffusion_->add_seconds(seconds);
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
    s.bytes = (stages_ * values + (diffusion_ ? diffusion_->values() : 0)) * s.cells * static_cast<Size>(sizeof(T));
    const double busy = seconds[p].separator + seconds[p].interior;
    s.gb_per_second = busy > 0 ? static_cast<double>(s.bytes) / busy * 1e-9 : 0;
    summary.parts.push_back(s);
    for (std::size_t c = 0; c < 3; ++c)
      checksum += (2 * c + 1) * checksum_of(domain_.maps[p], owned_values(p, parts_[p].u[c]));
    if (flow_.has_temperature()) checksum += 7 * checksum_of(domain_.maps[p], owned_values(p, parts_[p].temperature));
  }
  ExchangeCounts counts = solver_->exchanged();
  if (diffusion_) {
    const ExchangeCounts swept = diffusion_->exchanged();
    add_counts(counts, swept, 1);
  } else {
    add_counts(counts, predicted_halo_->exchange().counts_per_exchange(), stages_);
  }
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
