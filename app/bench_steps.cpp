#include "app/bench_steps.hpp"

#include <algorithm>
#include <chrono>

#include "tutti/device/triad.hpp"

namespace tutti::app {

using Clock = std::chrono::steady_clock;

StepSeconds time_steps(const Comm& comm, Model& model, double budget, int count) {
  std::vector<double> seconds;
  const double dt = model.time_step();
  const auto schedules = model.schedules();
  const bool mine = std::ranges::all_of(schedules, [](const Step* schedule) { return schedule->runs_ahead(); });
  const bool ahead = comm.max(mine ? 1 : 0) > 0;
  const auto run = [&](int steps) {
    model.wait();
    comm.barrier();
    const auto begin = Clock::now();
    for (int i = 0; i < steps; ++i) model.step(0, dt);
    model.wait();
    return comm.max(std::chrono::duration<double>(Clock::now() - begin).count()) / steps;
  };
  run(2);
  const int together = ahead ? static_cast<int>(std::clamp(0.05 / run(3), 1.0, 256.0)) : 1;
  run(together);
  const auto start = Clock::now();
  const auto goes_on = [&](std::size_t done) {
    if (count > 0) return done < static_cast<std::size_t>(count);
    return done < 5 || (done < 1000 && comm.max(std::chrono::duration<double>(Clock::now() - start).count()) < budget);
  };
  while (goes_on(seconds.size())) seconds.push_back(run(together));
  std::sort(seconds.begin(), seconds.end());
  return {seconds.front(), seconds[seconds.size() / 2]};
}

double all_triads(const Comm& comm, DeviceSet& devices) {
  comm.barrier();
  std::vector<double> mine;
  for (auto& device : devices.devices)
    mine.push_back(device->is_host() ? measure_triad(*devices.threads) : measure_bandwidth(*device).triad);
  double triad = 0;
  for (const double t : comm.all_gather(std::span<const double>(mine))) triad += t;
  return triad;
}

}  // namespace tutti::app
