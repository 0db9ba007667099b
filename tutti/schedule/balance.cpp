#include "tutti/schedule/balance.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <map>
#include <numeric>

#include "tutti/base/log.hpp"
#include "tutti/device/buffer.hpp"
#include "tutti/device/triad.hpp"
#include "tutti/schedule/step.hpp"

namespace tutti {

double quick_triad(Device& device, Threads& threads) {
  MeasureLimits limits = MeasureLimits::quick();
  if (!device.is_host()) return measure_bandwidth(device, limits).triad;
  // A host with huge caches asks for huge arrays; all three together take an eighth of this rank's memory at most.
  limits.array_bytes = std::min(limits.array_bytes, (device.budget().capacity() - device.budget().used()) / 24);
  return measure_triad(threads, limits);
}

PartPlaces place_parts(const Comm& comm, const DeviceSet& devices) {
  // A host is known by the lowest rank on it.
  MPI_Comm host = MPI_COMM_NULL;
  check_mpi(MPI_Comm_split_type(comm.handle(), MPI_COMM_TYPE_SHARED, comm.rank(), MPI_INFO_NULL, &host),
            "MPI_Comm_split_type");
  int first = comm.rank();
  check_mpi(MPI_Bcast(&first, 1, MPI_INT, 0, host), "MPI_Bcast");
  MPI_Comm_free(&host);
  const std::array<int, 2> mine{first, static_cast<int>(devices.devices.size())};
  const auto all = comm.all_gather(std::span<const int>(mine));
  PartPlaces places;
  std::map<int, std::vector<int>> nodes;
  int part = 0;
  for (std::size_t r = 0; r < all.size() / 2; ++r)
    for (int d = 0; d < all[2 * r + 1]; ++d) {
      places.rank_of_part.push_back(static_cast<int>(r));
      nodes[all[2 * r]].push_back(part++);
    }
  for (auto& [_, parts] : nodes) places.parts_of_node.push_back(std::move(parts));
  return places;
}

Share choose_share(const ShareInput& in) {
  // Less is lost again: rows are dealt out to threads in chunks, and copies wait for each other. On an H200, whose 16
  // cores could shorten a step by 2.4 %, a step with them took 7 % longer.
  constexpr double worth_it = 0.05;
  Share best;
  best.seconds = best.seconds_without = in.rows / in.accelerators;
  const auto consider = [&](double host_rows, double host_rate, bool in_cache) {
    const double seconds =
        std::max((in.rows - host_rows) / in.accelerators, host_rows / host_rate) + in.seconds_to_meet;
    if (seconds < best.seconds && seconds < (1 - worth_it) * best.seconds_without)
      best = {host_rows, seconds, best.seconds_without, in_cache};
  };
  if (in.hosts > 0) consider(in.rows * in.hosts / (in.hosts + in.accelerators), in.hosts, false);
  if (in.hosts_in_cache > 0)
    consider(std::min(in.rows_in_caches, in.rows * in.hosts_in_cache / (in.hosts_in_cache + in.accelerators)),
             in.hosts_in_cache, true);
  return best;
}

namespace {

constexpr Gid sample_rows = 1'000'000;         // 150 to 216 MB: more than the caches of most devices hold
constexpr Gid sample_rows_a_thread = 200'000;  // 40 MB: many ranks of a host have their samples at the same time
constexpr Gid sample_rows_of_fake = 20'000;    // slow on purpose
constexpr double cached_row_bytes = 200;       // of the storage of a row with its values
constexpr double cache_share = 0.5;            // the rest is for what else a step touches

/// What a step takes longer when the CPU takes part: it is waited for, and its threads must be woken. A step of a row
/// a device and a small copy, the median of many.
double seconds_to_meet(const DeviceSet& devices) {
  std::vector<PartStreams> parts;
  for (const auto& device : devices.devices) parts.emplace_back(*device);
  std::vector<Buffer<double>> on_device, on_host;
  Step step(*devices.threads, parts);
  for (std::size_t p = 0; p < parts.size(); ++p) {
    Device& device = *parts[p].device;
    on_device.emplace_back(device, 1, "a row");
    on_host.emplace_back(device, 1, "a row's copy", Memory::pinned);
    on_host.back().span()[0] = 0;
    if (device.is_host())
      step.compute("a row", static_cast<int>(p), Step::Role::interior, {0, 1}, [](Stream&, Range) {});
    else
      step.upload("a row", static_cast<int>(p),
                  [to = on_device.back().data(), from = on_host.back().data()](Stream& s) {
                    s.copy(to, from, sizeof(double), CopyDirection::to_device);
                  });
  }
  step.finish(Overlap::full);
  std::vector<double> seconds;
  for (int k = 0; k < 51; ++k) {
    const auto start = std::chrono::steady_clock::now();
    step.run();
    seconds.push_back(std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
  }
  std::nth_element(seconds.begin(), seconds.begin() + 25, seconds.end());
  return seconds[25];
}

/// A device's rows a second, timed on so many. One that has no room for them is weighed by its bandwidth, in units of
/// the others (216 B a row, Langguth 2015, eq. 3).
double rate_of(Device& device, Threads& threads, Gid rows, const MeasureRate& rate) {
  try {
    return rate(device, rows);
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::resource) throw;
    return quick_triad(device, threads) / 216;
  }
}

std::vector<double> measured_weights(const Comm& comm, const DeviceSet& devices, Gid rows, const MeasureRate& rate) {
  struct Record {
    double rate = 0, in_cache = 0, cached_rows = 0, meet = 0;
    int host = 0;  ///< threads of a CPU team; 0: another device
  };
  std::vector<Record> mine;
  comm.barrier();  // memory is shared: all are timed at the same time
  const bool mixed =
      comm.max(std::any_of(devices.devices.begin(), devices.devices.end(), [](const auto& d) { return !d->is_host(); })
                   ? 1
                   : 0) > 0;
  comm.together([&] {
    for (const auto& device : devices.devices) {
      Record r;
      r.host = device->is_host() ? devices.threads->count() : 0;
      const Gid most = device->kind() == DeviceKind::fake ? sample_rows_of_fake
                       : device->is_host() ? std::min(sample_rows, sample_rows_a_thread * devices.threads->count())
                                           : sample_rows;
      r.rate = rate_of(*device, *devices.threads, std::clamp<Gid>(rows, 1, most), rate);
      if (device->is_host() && mixed) {
        r.cached_rows = cache_share * static_cast<double>(last_level_cache_bytes()) / cached_row_bytes;
        // Ranks of a host share its caches as they share its cores.
        r.cached_rows *= static_cast<double>(devices.threads->count()) / static_cast<double>(allowed_cores().size());
        r.cached_rows = std::min(r.cached_rows, static_cast<double>(sample_rows));
        r.in_cache = rate_of(*device, *devices.threads,
                             std::clamp<Gid>(static_cast<Gid>(r.cached_rows), 1, std::max<Gid>(rows, 1)), rate);
        r.meet = seconds_to_meet(devices);
      }
      mine.push_back(r);
    }
  });
  auto all = comm.all_gather(std::span<const Record>(mine));
  // Teams of one host with as many threads are alike; what differs is what else ran when they were timed.
  for (const auto& parts_here : place_parts(comm, devices).parts_of_node) {
    std::map<int, std::pair<double, int>> of_threads;
    for (const int p : parts_here) {
      auto& [sum, count] = of_threads[all[static_cast<std::size_t>(p)].host];
      sum += all[static_cast<std::size_t>(p)].rate;
      ++count;
    }
    for (const int p : parts_here)
      if (Record& r = all[static_cast<std::size_t>(p)]; r.host != 0)
        r.rate = of_threads[r.host].first / of_threads[r.host].second;
  }
  ShareInput input;
  input.rows = static_cast<double>(rows);
  for (const Record& r : all) {
    (r.host != 0 ? input.hosts : input.accelerators) += r.rate;
    input.hosts_in_cache += r.in_cache;
    input.rows_in_caches += r.cached_rows;
    input.seconds_to_meet = std::max(input.seconds_to_meet, r.meet);
  }
  std::vector<double> weights;
  for (const Record& r : all) weights.push_back(r.rate);
  if (input.accelerators == 0 || input.hosts == 0) return weights;
  const Share share = choose_share(input);
  if (share.host_rows == 0)
    info("the CPU gets no cells: a step would take {:.3g} ms with it, {:.3g} ms without",
         1e3 * (input.rows / (input.hosts + input.accelerators) + input.seconds_to_meet), 1e3 * share.seconds);
  else
    verbose("the CPU gets {:.2f} % of the cells{}: a step shall take {:.3g} ms with it, {:.3g} ms without",
            100 * share.host_rows / input.rows, share.in_cache ? ", which fit in its caches" : "", 1e3 * share.seconds,
            1e3 * share.seconds_without);
  for (std::size_t p = 0; p < all.size(); ++p) {
    const Record& r = all[p];
    weights[p] = r.host != 0 ? share.host_rows * r.rate / input.hosts
                             : (input.rows - share.host_rows) * r.rate / input.accelerators;
  }
  return weights;
}

}  // namespace

std::vector<double> part_weights(const Comm& comm, const DeviceSet& devices, const Case& options, int parts, Gid rows,
                                 const MeasureRate& rate) {
  const auto n = static_cast<std::size_t>(parts);
  std::vector<double> weights(n, 1.0);
  const bool measured = options.is_word("balance.weights", "measured");
  if (measured && rate) {
    if (parts > 1) weights = measured_weights(comm, devices, rows, rate);
  } else if (measured || options.is_word("balance.weights", "stream")) {
    if (parts > 1) {
      std::vector<double> mine;
      comm.together([&] {
        for (const auto& device : devices.devices) mine.push_back(quick_triad(*device, *devices.threads));
      });
      weights = comm.all_gather(std::span<const double>(mine));
    }
  } else if (!options.is_word("balance.weights", "equal")) {
    weights = options.numbers("balance.weights");
  }
  const double sum = std::accumulate(weights.begin(), weights.end(), 0.0);
  comm.together([&] {
    const std::string where = options.where("balance.weights");
    if (weights.size() != n)
      fail(ErrorKind::input, "{}: balance.weights has {} entries for {} devices in all ranks; give one a device", where,
           weights.size(), parts);
    if (!(sum > 0)) fail(ErrorKind::input, "{}: balance.weights are all 0; at least one must be above 0", where);
  });
  for (double& w : weights) w /= sum;
  return weights;
}

}  // namespace tutti
