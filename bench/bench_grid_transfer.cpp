// What it takes until cells of a grid are where other devices of a rank read them, without any computation: the halo of
// slabs, and all of the grid cut another way, as the direct solver of a flow cuts it; microseconds of a pass, of many
// one behind the other, and GB/s of what leaves each device.
//
// bench_grid_transfer [DEVICES] [SECONDS] [CELLS a side ...], default cuda:0,cuda:1 0.1 64 128 256 512.
#include <mpi.h>

#include <chrono>
#include <cstdlib>
#include <exception>

#include "tutti/base/log.hpp"
#include "tutti/device/device_list.hpp"
#include "tutti/device/zeros.hpp"
#include "tutti/schedule/pass.hpp"

namespace tutti {
namespace {

using Clock = std::chrono::steady_clock;

/// Seconds of one run: the least of three times many.
double time_pass(Pass& pass, double seconds) {
  const auto some = [&](int runs) {
    const auto begin = Clock::now();
    for (int k = 0; k < runs; ++k) pass.run([](std::size_t, Kernels&) {});
    pass.step().wait();
    return std::chrono::duration<double>(Clock::now() - begin).count() / runs;
  };
  const double first = some(64);
  const int runs = std::max(64, static_cast<int>(seconds / first));
  return std::min({some(runs), some(runs), some(runs)});
}

void measure(const Comm& comm, DeviceSet& devices, std::vector<PartStreams>& streams, RoutingKind kind, Lid side,
             double seconds) {
  const std::size_t count = streams.size();
  Routing routing;
  routing.kind = kind;
  BoxParts parts;
  parts.cells = {side, side, side};
  BoxParts columns = parts;
  std::vector<std::vector<CellBox>> faces, other;
  std::vector<BoxArray> with_halo, planes, lines;
  std::vector<Buffer<float>> values, packed, turned;
  for (std::size_t p = 0; p < count; ++p) {
    const auto part = static_cast<Lid>(p), all = static_cast<Lid>(count);
    const Lid begin = side * part / all, end = side * (part + 1) / all;
    parts.boxes.push_back({{0, 0, begin}, {side, side, end}});
    columns.boxes.push_back({{0, begin, 0}, {side, end, side}});
    parts.rank_of_part.push_back(0);
    parts.mine.push_back(part);
    faces.push_back(faces_around(parts.boxes[p]));
    other.push_back({columns.boxes[p]});
    with_halo.push_back({grown(parts.boxes[p], 1)});
    planes.push_back({parts.boxes[p]});
    lines.push_back({columns.boxes[p]});
    values.push_back(make_zeros<float>(*streams[p].compute, with_halo[p].values(), "cells"));
    packed.push_back(make_zeros<float>(*streams[p].compute, planes[p].values(), "planes"));
    turned.push_back(make_zeros<float>(*streams[p].compute, lines[p].values(), "columns"));
  }
  const auto begun = Clock::now();
  BoxTransfer<float> halo(comm, parts, faces, with_halo, with_halo, true, streams, 1, &routing);
  BoxTransfer<float> turn(comm, parts, other, planes, lines, false, streams, 1, &routing);
  const double set_up = std::chrono::duration<double>(Clock::now() - begun).count();
  for (std::size_t p = 0; p < count; ++p) {
    const auto bind = [&](BoxTransfer<float>& transfer, const float* from, float* to) {
      transfer.bind(p, std::span(&from, 1), std::span(&to, 1));
    };
    bind(halo, values[p].data(), values[p].data());
    bind(turn, packed[p].data(), turned[p].data());
  }
  const std::vector<Lid> nothing(count, 0);
  const auto time = [&](BoxTransfer<float>& transfer) {
    Pass pass("", *devices.threads, streams, whole_pass_parts(nothing), &transfer, Overlap::full);
    return time_pass(pass, seconds);
  };
  const auto rate = [&](const BoxTransfer<float>& transfer, double taken) {
    return static_cast<double>(transfer.counts_per_exchange().bytes) / static_cast<double>(count) / taken * 1e-9;
  };
  const double of_halo = time(halo), of_turn = time(turn);
  info("{:<7} {:>5} {:>11.1f} {:>8.1f} {:>11.1f} {:>8.1f} {:>9.3f}", routing_name(kind), side, of_halo * 1e6,
       rate(halo, of_halo), of_turn * 1e6, rate(turn, of_turn), set_up);
}

int run(int argc, char** argv) {
  const Comm comm;
  DeviceSet devices = open_devices(argc > 1 ? argv[1] : "cuda:0,cuda:1", comm);
  std::vector<PartStreams> streams;
  for (const auto& device : devices.devices) streams.emplace_back(*device);
  const double seconds = argc > 2 ? std::atof(argv[2]) : 0.1;
  std::vector<Lid> sides;
  for (int a = 3; a < argc; ++a) sides.push_back(std::atoi(argv[a]));
  if (sides.empty()) sides = {64, 128, 256, 512};
  info("{:<7} {:>5} {:>11} {:>8} {:>11} {:>8} {:>9}", "", "cells", "halo, us", "GB/s", "all, us", "GB/s", "set-up, s");
  for (const Lid side : sides)
    for (const RoutingKind kind : {RoutingKind::automatic, RoutingKind::staged})
      if (kind == RoutingKind::automatic || side <= 256) measure(comm, devices, streams, kind, side, seconds);
  return 0;
}

}  // namespace
}  // namespace tutti

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int code = 3;
  try {
    code = tutti::run(argc, argv);
  } catch (const std::exception& error) {
    fmt::print(stderr, "bench_grid_transfer: {}\n", error.what());
  }
  MPI_Finalize();
  return code;
}
