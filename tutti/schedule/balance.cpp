#include "tutti/schedule/balance.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <map>
#include <numeric>

#include "tutti/base/log.hpp"
#include "tutti/device/buffer.hpp"
#include "tutti/device/triad.hpp"
#include "tutti/schedule/exchange_seconds.hpp"
#include "tutti/schedule/step.hpp"

namespace tutti {

double quick_triad(Device& device, Threads& threads) {
  MeasureLimits limits = MeasureLimits::quick();
  if (!device.is_host()) return measure_triad(device, limits);
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
  best.seconds_with = in.rows / (in.hosts + in.accelerators) + in.seconds_to_meet;
  const auto consider = [&](double host_rows, double host_rate, bool in_cache) {
    const double seconds =
        std::max((in.rows - host_rows) / in.accelerators, host_rows / host_rate) + in.seconds_to_meet;
    if (seconds < best.seconds && seconds < (1 - worth_it) * best.seconds_without)
      best = {host_rows, seconds, best.seconds_without, seconds, in_cache};
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
constexpr Gid max_sample_rows = 4'000'000;     // where a host's caches are huge
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

}  // namespace

double sample_seconds(Step& step) {
  const auto time_of = [&](int runs) {
    const auto start = std::chrono::steady_clock::now();
    for (int k = 0; k < runs; ++k) step.run_ahead(1);
    step.wait();
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count() / runs;
  };
  double best = std::min(time_of(3), time_of(3));
  const int runs = std::clamp(static_cast<int>(0.015 / best), 1, 200);
  for (int k = 0; k < 3; ++k) best = std::min(best, time_of(runs));
  return best;
}

std::vector<PartRate> measure_parts(const Comm& comm, const DeviceSet& devices, Gid rows, const MeasureRate& rate,
                                    const std::optional<PassExchanges>& exchanges) {
  std::vector<PartRate> mine;
  const auto devices_of = [&](DeviceKind kind) {
    return comm.sum(std::int64_t{std::count_if(devices.devices.begin(), devices.devices.end(),
                                               [kind](const auto& d) { return d->kind() == kind; })});
  };
  // The times of fake devices are made up.
  const Gid gpus = exchanges ? devices_of(DeviceKind::cuda) : 0;
  const bool several = gpus > 1 && devices_of(DeviceKind::fake) == 0;
  comm.barrier();  // memory is shared: all are timed at the same time
  const bool mixed =
      comm.max(std::any_of(devices.devices.begin(), devices.devices.end(), [](const auto& d) { return !d->is_host(); })
                   ? 1
                   : 0) > 0;
  comm.together([&] {
    for (const auto& device : devices.devices) {
      PartRate r;
      r.threads = device->is_host() ? devices.threads->count() : 0;
      // Ranks of a host share its caches as they share its cores.
      const double cached_rows = static_cast<double>(last_level_cache_bytes()) / cached_row_bytes *
                                 static_cast<double>(devices.threads->count()) /
                                 static_cast<double>(allowed_cores().size());
      const Gid most =
          device->kind() == DeviceKind::fake ? sample_rows_of_fake
          : device->is_host()
              ? std::clamp(static_cast<Gid>(2 * cached_rows),
                           std::min(sample_rows, sample_rows_a_thread * devices.threads->count()), max_sample_rows)
              : sample_rows;
      r.rate = rate_of(*device, *devices.threads, std::clamp<Gid>(rows, 1, most), rate);
      if (device->is_host() && mixed) {
        r.cached_rows = std::min(cache_share * cached_rows, static_cast<double>(sample_rows));
        r.in_cache = rate_of(*device, *devices.threads,
                             std::clamp<Gid>(static_cast<Gid>(r.cached_rows), 1, std::max<Gid>(rows, 1)), rate);
        r.meet = seconds_to_meet(devices);
      }
      mine.push_back(r);
    }
  });
  if (several) {
    const Gid share = rows / gpus;
    comm.together([&] {
      for (std::size_t p = 0; p < mine.size(); ++p)
        if (Device& device = *devices.devices[p]; !device.is_host())
          mine[p].of_share = share >= sample_rows ? mine[p].rate  // of as many
                                                  : rate_of(device, *devices.threads, std::max<Gid>(share, 1), rate);
    });
    const double exchange = exchanges->count * exchange_seconds(comm, devices, exchanges->routing);
    for (PartRate& r : mine)
      if (r.threads == 0) r.exchange = exchange;
  }
  auto all = comm.all_gather(std::span<const PartRate>(mine));
  // Teams of one host with as many threads are alike; what differs is what else ran when they were timed.
  for (const auto& parts_here : place_parts(comm, devices).parts_of_node) {
    std::map<int, std::pair<double, int>> of_threads;
    for (const int p : parts_here) {
      auto& [sum, count] = of_threads[all[p].threads];
      sum += all[p].rate;
      ++count;
    }
    for (const int p : parts_here)
      if (PartRate& r = all[p]; r.threads != 0) r.rate = of_threads[r.threads].first / of_threads[r.threads].second;
  }
  return all;
}

std::optional<Share> share_between(const std::vector<PartRate>& rates, Gid rows) {
  ShareInput input;
  input.rows = static_cast<double>(rows);
  for (const PartRate& r : rates) {
    (r.threads != 0 ? input.hosts : input.accelerators) += r.rate;
    input.hosts_in_cache += r.in_cache;
    input.rows_in_caches += r.cached_rows;
    input.seconds_to_meet = std::max(input.seconds_to_meet, r.meet);
  }
  if (input.accelerators == 0 || input.hosts == 0) return {};
  return choose_share(input);
}

bool OneGpu::taken() const {
  // A prediction is not exact, and a GPU that is left out is free for others.
  constexpr double worth_it = 0.1;
  return (1 - worth_it) * seconds < seconds_together;
}

std::optional<OneGpu> compare_one_gpu(const std::vector<PartRate>& rates, Gid rows) {
  OneGpu one;
  double together = 0, exchange = 0;
  for (std::size_t p = 0; p < rates.size(); ++p) {
    const PartRate& r = rates[p];
    if (r.exchange == 0) continue;
    together += r.of_share;
    exchange = r.exchange;
    if (one.part < 0 || r.rate > rates[one.part].rate) one.part = static_cast<int>(p);
  }
  if (one.part < 0) return {};
  one.seconds = static_cast<double>(rows) / rates[one.part].rate;
  one.seconds_together = static_cast<double>(rows) / together + exchange;
  return one;
}

std::string describe(const OneGpu& one) {
  return fmt::format(
      "the other GPUs get no cells: a pass should take {:.3g} ms on one GPU, {:.3g} ms on all with their exchange, "
      "which is not 10 % less; balance.weights = \"equal\" takes all",
      1e3 * one.seconds, 1e3 * one.seconds_together);
}

std::string describe(const Share& share, Gid rows) {
  if (share.host_rows == 0)
    return fmt::format("the CPU gets no cells: a pass over them would take {:.3g} ms with it, {:.3g} ms without",
                       1e3 * share.seconds_with, 1e3 * share.seconds_without);
  return fmt::format(
      "the CPU gets {:.2f} % of the cells{}: a pass over them should take {:.3g} ms with it, {:.3g} ms without ({:.1f} "
      "% gained)",
      100 * share.host_rows / static_cast<double>(rows), share.in_cache ? ", which fit in its caches" : "",
      1e3 * share.seconds, 1e3 * share.seconds_without, 100 * (1 - share.seconds / share.seconds_without));
}

std::vector<double> peak_bandwidths(const Comm& comm, const DeviceSet& devices, const Case& options, int parts) {
  std::vector<double> mine;
  for (const auto& device : devices.devices) mine.push_back(device->peak_bandwidth());
  auto peaks = comm.all_gather(std::span<const double>(mine));
  if (!options.has("devices.peak_gb_per_second")) return peaks;
  const auto given = options.numbers("devices.peak_gb_per_second");
  comm.together([&] {
    if (given.size() != static_cast<std::size_t>(parts))
      fail(ErrorKind::input,
           "{}: devices.peak_gb_per_second has {} entries for {} devices in all ranks; give one per device, 0 to have "
           "it found out",
           options.where("devices.peak_gb_per_second"), given.size(), parts);
  });
  for (std::size_t p = 0; p < peaks.size(); ++p)
    if (given[p] > 0) peaks[p] = 1e9 * given[p];
  return peaks;
}

namespace {

/// Measures the triads of all parts whose bandwidth is not `known` (0).
std::vector<double> with_triads(const Comm& comm, const DeviceSet& devices, std::span<const double> known) {
  const auto ranks = place_parts(comm, devices).rank_of_part;
  const auto first = std::lower_bound(ranks.begin(), ranks.end(), comm.rank()) - ranks.begin();
  std::vector<double> mine;
  comm.together([&] {
    for (std::size_t p = 0; p < devices.devices.size(); ++p) {
      const double there = known[static_cast<std::size_t>(first) + p];
      mine.push_back(there > 0 ? there : quick_triad(*devices.devices[p], *devices.threads));
    }
  });
  return comm.all_gather(std::span<const double>(mine));
}

std::vector<double> peak_weights(const Comm& comm, const DeviceSet& devices, const Case& options, int parts) {
  auto peaks = peak_bandwidths(comm, devices, options, parts);
  const auto unknown = std::count(peaks.begin(), peaks.end(), 0.0);
  if (unknown == 0) return peaks;
  info(
      "{} of {} devices do not report their peak bandwidth: their measured triad is used; see "
      "devices.peak_gb_per_second",
      unknown, parts);
  return with_triads(comm, devices, peaks);
}

}  // namespace

Weights weigh_rates(std::vector<PartRate> rates, Gid rows, bool all_gpus) {
  Weights result;
  result.rates = rates;
  if (const auto one = compare_one_gpu(rates, rows); one && one->taken() && !all_gpus) {
    result.one_gpu = one;
    for (std::size_t p = 0; p < rates.size(); ++p)
      if (rates[p].threads == 0 && static_cast<int>(p) != one->part) rates[p].rate = 0;
  }
  result.share = share_between(rates, rows);
  double hosts = 0, accelerators = 0;
  for (const PartRate& r : rates) (r.threads != 0 ? hosts : accelerators) += r.rate;
  const double of_hosts = result.share ? result.share->host_rows / static_cast<double>(std::max<Gid>(rows, 1))
                                       : hosts / (hosts + accelerators);
  for (const PartRate& r : rates)
    result.of_parts.push_back(r.threads != 0 ? of_hosts * r.rate / hosts : (1 - of_hosts) * r.rate / accelerators);
  return result;
}

Weights part_weights(const Comm& comm, const DeviceSet& devices, const Case& options, int parts, Gid rows,
                     const MeasureRate& rate, double exchanges_a_pass) {
  const auto n = static_cast<std::size_t>(parts);
  Weights result;
  std::vector<double>& weights = result.of_parts;
  weights.assign(n, 1.0);
  const auto is = [&](const char* word) { return options.is_word("balance.weights", word); };
  if (!is("measured") && !is("stream") && !is("peak") && !is("equal")) {
    weights = options.numbers("balance.weights");
  } else if (parts == 1 || is("equal")) {
    // All the same.
  } else if (is("peak")) {
    weights = peak_weights(comm, devices, options, parts);
  } else if (is("stream") || !rate) {
    weights = with_triads(comm, devices, std::vector<double>(n, 0.0));
  } else {
    std::optional<PassExchanges> exchanges;
    if (options.flag("devices.exchange"))
      exchanges = {parse_routing(options.text("devices.transport")), exchanges_a_pass};
    result = weigh_rates(measure_parts(comm, devices, rows, rate, exchanges), rows);
    if (result.share) info("{}", describe(*result.share, rows));
  }
  const double sum = std::accumulate(weights.begin(), weights.end(), 0.0);
  comm.together([&] {
    const std::string where = options.where("balance.weights");
    if (weights.size() != n)
      fail(ErrorKind::input, "{}: balance.weights has {} entries for {} devices in all ranks; give one per device",
           where, weights.size(), parts);
    if (!(sum > 0)) fail(ErrorKind::input, "{}: balance.weights are all 0; at least one must be above 0", where);
  });
  for (double& w : weights) w /= sum;
  return result;
}

BalanceSummary summarise_weights(const Case& options, const Weights& weights) {
  BalanceSummary balance;
  balance.weights = "list";
  for (const char* word : {"measured", "stream", "peak", "equal"})
    if (options.is_word("balance.weights", word)) balance.weights = word;
  if (const auto& share = weights.share)
    balance.share = {share->host_rows, share->seconds, share->seconds_without, share->in_cache};
  if (const auto& one = weights.one_gpu) balance.one_gpu = {one->part, one->seconds, one->seconds_together};
  return balance;
}

std::vector<std::int32_t> partition_over(const PartPlaces& places, const PartitionInput& input,
                                         std::span<const double> weights, Partitioner method) {
  // Tiers number parts host after host; places tell which part that is.
  std::vector<std::vector<double>> targets;
  std::vector<std::int32_t> part_of_tier_part;
  for (const auto& host : places.parts_of_node) {
    auto& host_targets = targets.emplace_back();
    for (const int p : host) {
      host_targets.push_back(weights[p]);
      part_of_tier_part.push_back(p);
    }
  }
  auto owner = partition_tiers(input, targets, method);
  for (auto& o : owner) o = part_of_tier_part[o];
  return owner;
}

}  // namespace tutti
