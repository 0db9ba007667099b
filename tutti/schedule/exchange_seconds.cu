// Compiles as plain C++ without CUDA.
#include "tutti/schedule/exchange_seconds.hpp"

#include <algorithm>
#include <chrono>
#include <numeric>

#include "tutti/device/buffer.hpp"
#include "tutti/device/for_each.hpp"
#include "tutti/schedule/pass.hpp"

namespace tutti {
namespace {

constexpr Lid rows_a_part = 4096, rows_read = 512;  ///< of a part; and of each neighbour's

/// Separators read ghosts.
struct SampleRow {
  const double* from;
  double* to;
  Lid interior, owned, ghosts;
  TUTTI_HD void operator()(Lid i) const {
    to[i] = 0.5 * (from[i] + (i < interior ? 1.0 : from[owned + (i - interior) % ghosts]));
  }
};

/// Part i of a line of parts, which reads what is beside it.
PartRows part_of_line(int i, int parts) {
  PartRows part;
  part.part = i;
  part.owned.resize(rows_a_part);
  std::iota(part.owned.begin(), part.owned.end(), Gid{rows_a_part} * i);
  const auto read = [&](int from, Gid first) {
    for (Gid k = 0; k < rows_read; ++k) {
      part.ghosts.push_back(first + k);
      part.ghost_owners.push_back(from);
    }
  };
  if (i > 0) read(i - 1, Gid{rows_a_part} * i - rows_read);
  if (i + 1 < parts) read(i + 1, Gid{rows_a_part} * (i + 1));
  return part;
}

}  // namespace

double exchange_seconds(const Comm& comm, const DeviceSet& devices, RoutingKind kind) {
  std::vector<PartStreams> streams;
  for (const auto& device : devices.devices)
    if (!device->is_host()) streams.emplace_back(*device);
  const std::array<int, 1> mine{static_cast<int>(streams.size())};
  std::vector<int> rank_of_part;
  const auto counts = comm.all_gather(std::span<const int>(mine));
  for (std::size_t rank = 0; rank < counts.size(); ++rank)
    rank_of_part.insert(rank_of_part.end(), static_cast<std::size_t>(counts[rank]), static_cast<int>(rank));
  const int parts = static_cast<int>(rank_of_part.size());
  if (parts < 2) return 0;

  const auto first = std::lower_bound(rank_of_part.begin(), rank_of_part.end(), comm.rank()) - rank_of_part.begin();
  std::vector<PartRows> rows;
  for (std::size_t p = 0; p < streams.size(); ++p)
    rows.push_back(part_of_line(static_cast<int>(first) + static_cast<int>(p), parts));
  const auto maps = number_parts(comm, rows, rank_of_part);
  const Plan plan = make_plan(maps, comm.rank());
  Routing routing = make_routing(comm, kind, maps, streams);
  std::vector<std::array<Buffer<double>, 2>> fields;
  comm.together([&] {
    for (std::size_t p = 0; p < streams.size(); ++p) {
      const std::vector<double> ones(static_cast<std::size_t>(maps[p].local()), 1.0);
      const auto make = [&] { return make_buffer(*streams[p].compute, std::span<const double>(ones), "an exchange"); };
      fields.push_back({make(), make()});
    }
  });
  const auto seconds_of_a_pass = [&](bool exchanging) {
    routing.disabled = !exchanging;
    std::unique_ptr<Exchange<double>> exchange;
    std::unique_ptr<Pass> pass;
    comm.together([&] {
      exchange = std::make_unique<Exchange<double>>(comm, plan, maps, streams, 1, &routing);
      pass = std::make_unique<Pass>("", *devices.threads, streams, row_pass_parts(maps), exchange.get(), Overlap::full);
    });
    // As many on all ranks: they wait for each other's messages.
    constexpr int tries = 4, passes = 64;
    double best = 0;
    for (int k = 0; k < tries; ++k) {
      const auto start = std::chrono::steady_clock::now();
      for (int i = 0; i < passes; ++i) {
        const std::size_t from = i % 2, to = 1 - from;
        std::vector<FieldView<double>> travelling;
        for (std::size_t p = 0; p < streams.size(); ++p)
          travelling.push_back({fields[p][to].data(), maps[p].local(), 1});
        exchange->bind(travelling);
        pass->run([&](std::size_t p, Kernels& kernels) {
          kernels.add(on_rows(SampleRow{fields[p][from].data(), fields[p][to].data(), maps[p].interior, maps[p].owned,
                                        maps[p].ghosts()}));
        });
      }
      pass->step().wait();
      const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count() / passes;
      best = k == 0 ? seconds : std::min(best, seconds);
    }
    return comm.max(best);
  };
  const double with = seconds_of_a_pass(true), without = seconds_of_a_pass(false);
  return std::max(with - without, 1e-9);  // 0 says that there is none
}

}  // namespace tutti
