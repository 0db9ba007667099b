// The kernels of the flow in a box on one GPU, each beside the STREAM triad of the same run: a Jacobi sweep as the
// model has it, with the constants of a uniform grid, marching in z, and two sweeps a pass; and the model's other
// passes.
//
// bench_flow_kernels [SECONDS] [CELLS a side ...], default 0.3 256 512. Exit code 1: ways that should agree in all bits
// do not.
#include <cstdlib>
#include <cstring>

#include "bench/flow_sweeps.cuh"
#include "bench/gpu_timing.hpp"
#include "tutti/device/buffer.hpp"
#include "tutti/device/triad.hpp"
#include "tutti/models/incompressible/flow_part.hpp"

namespace tutti {
namespace {

struct Line {
  const char* type;
  Lid side;
  double triad;
  /// `values`: a cell, that must be read or written; flops: likewise.
  void operator()(const std::string& name, double seconds, int values, int value_bytes, double flops) const {
    const double cells = static_cast<double>(side) * side * side;
    fmt::print("{:<6} {:>4}^3  {:<34} {:>9.4f} ms {:>9.2f} G cells/s {:>6.3f} of the triad {:>9.1f} GFLOPS\n", type,
               side, name, 1e3 * seconds, cells / seconds * 1e-9, values * value_bytes * cells / seconds / triad,
               flops * cells / seconds * 1e-9);
    std::fflush(stdout);
  }
};

BoxGrid cube(Lid side) {
  BoxGrid grid;
  for (GridLine& line : grid.lines) line = make_grid_line(side, 0, 1, 0, false);
  return grid;
}

template <class T>
Buffer<T> scattered_field(Stream& stream, Size size, std::uint64_t seed) {
  std::vector<T> values(static_cast<std::size_t>(size));
  for (std::size_t i = 0; i < values.size(); ++i)
    values[i] = static_cast<T>((i * 2654435761U + seed * 40503U) >> 8 & 0xffffU) / T(65536) - T(0.5);
  return make_buffer(stream, std::span<const T>(values), "scattered");
}

/// Cells whose bits differ.
template <class T>
Size differences(Stream& stream, const Buffer<T>& a, const Buffer<T>& b) {
  std::vector<T> x(static_cast<std::size_t>(a.size())), y(x.size());
  download(stream, std::span<T>(x), a);
  download(stream, std::span<T>(y), b);
  Size count = 0;
  for (std::size_t i = 0; i < x.size(); ++i) count += std::memcmp(&x[i], &y[i], sizeof(T)) != 0 ? 1 : 0;
  return count;
}

/// What sweeps of one kind leave must be what the first kind leaves.
bool agree(const char* name, Size differ) {
  if (differ > 0) fmt::print("{}: {} cells differ from the plain sweep\n", name, differ);
  return differ == 0;
}

template <class T>
bool measure_sweeps(Stream& stream, const BoxGrid& grid, const Line& line, double seconds) {
  const Lid side = grid.cells()[0];
  const CellBox box{{0, 0, 0}, {side, side, side}};
  const BoxArray array{grown(box, 1)};
  const PartGrid<T> lengths(stream, grid, array);
  const Buffer<T> p = scattered_field<T>(stream, array.values(), 1),
                  rhs = scattered_field<T>(stream, array.values(), 2);
  // Ghosts are those of p in all of them.
  Buffer<T> next = scattered_field<T>(stream, array.values(), 1), again = scattered_field<T>(stream, array.values(), 1),
            twice = scattered_field<T>(stream, array.values(), 1);
  const T weight = static_cast<T>(side) * static_cast<T>(side);
  const UniformSweep<T> plain{array, p.data(), rhs.data(), next.data(), {weight, weight, weight}, T(1) / (6 * weight)};
  const auto to = [&](Buffer<T>& target) {
    UniformSweep<T> sweep = plain;
    sweep.next = target.data();
    return sweep;
  };
  constexpr int size = sizeof(T);
  const Range all{0, static_cast<Lid>(box.cells())};
  const AnySweep<T> any{lengths.view(), p.data(), rhs.data(), again.data()};
  line("sweep of any grid, plain", time_of(stream, seconds, [&] { for_each_cell<T>(stream, box, all, any); }), 3, size,
       26);
  line("sweep, plain", time_of(stream, seconds, [&] { for_each_cell<T>(stream, box, all, plain); }), 3, size, 10);
  bool good = true;
  for (const Lid planes : {16, 32, 64, 128}) {
    const std::string name = fmt::format("sweep, marching over {} planes", planes);
    line(name, time_of(stream, seconds, [&] { launch_march(stream, box, to(again), planes); }), 3, size, 10);
    stream.synchronize();
    good = agree(name.c_str(), differences(stream, next, again)) && good;
  }
  // Two plain sweeps; of two in one pass the bytes are those of one.
  UniformSweep<T> second = to(again);
  second.p = next.data();
  const auto two_plain = [&] {
    for_each_cell<T>(stream, box, all, plain);
    for_each_cell<T>(stream, box, all, second);
  };
  line("two sweeps, plain", time_of(stream, seconds, two_plain), 6, size, 20);
  for (const Lid planes : {32, 64, 128}) {
    const std::string name = fmt::format("two sweeps a pass, {} planes", planes);
    line(name, time_of(stream, seconds, [&] { launch_march_twice(stream, box, to(twice), planes); }), 6, size, 20);
    stream.synchronize();
    good = agree(name.c_str(), differences(stream, again, twice)) && good;
  }
  return good;
}

template <class T>
void measure_passes(Stream& stream, const BoxGrid& grid, const Line& line, double seconds) {
  const Lid side = grid.cells()[0];
  FlowPart<T> part;
  part.box = {{0, 0, 0}, {side, side, side}};
  const BoxArray array{grown(part.box, 1)};
  part.grid = PartGrid<T>(stream, grid, array);
  std::uint64_t seed = 3;
  for (std::size_t c = 0; c < 3; ++c)
    for (Buffer<T>* field : {&part.u[c], &part.predicted[c], &part.rate[c]})
      *field = scattered_field<T>(stream, array.values(), ++seed);
  part.p = scattered_field<T>(stream, array.values(), ++seed);
  part.rhs = scattered_field<T>(stream, array.values(), ++seed);
  constexpr int size = sizeof(T);
  const Range all{0, static_cast<Lid>(part.box.cells())};
  FlowConstants<T> constants;
  constants.viscosity = T(1e-3);
  // The rate before is taken over as it is: values stay finite.
  const StageWeights<T> weights{T(1e-6), T(0)};
  line("momentum", time_of(stream, seconds, [&] { predict(stream, part, part.box, all, constants, weights); }), 10,
       size, 3 * 54);
  line("divergence", time_of(stream, seconds, [&] { divide_divergence(stream, part, part.box, all, T(1)); }), 4, size,
       10);
  line("correction", time_of(stream, seconds, [&] { correct(stream, part, part.box, all, T(1e-6)); }), 7, size, 12);
  part.warm = true;
  PartScalar<T>& temperature = part.scalars.emplace_back();
  for (Buffer<T>* field : {&temperature.now, &temperature.next, &temperature.rate})
    *field = scattered_field<T>(stream, array.values(), ++seed);
  const auto with_temperature = [&] { predict(stream, part, part.box, all, constants, weights); };
  line("momentum and temperature", time_of(stream, seconds, with_temperature), 16, size, 3 * 59 + 52);
}

template <class T>
bool measure(const char* type, Lid side, double triad, Stream& stream, double seconds) {
  const BoxGrid grid = cube(side);
  const Line line{type, side, triad};
  const bool good = measure_sweeps<T>(stream, grid, line, seconds);
  measure_passes<T>(stream, grid, line, seconds);
  return good;
}

bool run(double seconds, const std::vector<Lid>& sides) {
  const auto device = make_cuda_device(0);
  const auto stream = device->make_stream("bench");
  const double triad = measure_bandwidth(*device).triad;
  fmt::print("{}\ntriad {:.0f} GB/s; a sweep 3 values a cell, momentum 10, divergence 4, correction 7, temperature 6\n",
             device->description(), triad * 1e-9);
  bool good = true;
  for (const Lid side : sides) {
    good = measure<float>("float", side, triad, *stream, seconds) && good;
    good = measure<double>("double", side, triad, *stream, seconds) && good;
  }
  return good;
}

}  // namespace
}  // namespace tutti

int main(int argc, char** argv) try {
  std::vector<tutti::Lid> sides;
  for (int i = 2; i < argc; ++i) sides.push_back(std::atoi(argv[i]));
  if (sides.empty()) sides = {256, 512};
  return tutti::run(argc > 1 ? std::atof(argv[1]) : 0.3, sides) ? 0 : 1;
} catch (const std::exception& error) {
  fmt::print(stderr, "bench_flow_kernels: {}\n", error.what());
  return 1;
}
