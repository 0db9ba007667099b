// The direct Poisson solver of models/incompressible on cubes, and what its parts reach of the cores' multiply-adds.
//
// bench_poisson_direct [CELLS a side ...], default 64 128 256. Best of several; double, then float; one thread and two.
#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <limits>
#include <string>
#include <vector>

#include "tutti/base/error.hpp"
#include "tutti/base/random.hpp"
#include "tutti/base/raw_vector.hpp"
#include "tutti/device/threads.hpp"
#include "tutti/models/incompressible/pressure/direct/direct_solver.hpp"
#include "tutti/models/incompressible/pressure/direct/lanes.hpp"

namespace tutti::incompressible {
namespace {

template <class Work>
double best_seconds(const Work& work) {
  double best = std::numeric_limits<double>::infinity(), all = 0;
  for (int i = 0; i < 3 || (all < 1.0 && i < 200); ++i) {
    const auto start = std::chrono::steady_clock::now();
    work();
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    best = std::min(best, seconds);
    all += seconds;
  }
  return best;
}

/// Multiply-adds a second of a team whose members do nothing else: independent chains that fill the registers.
template <class T>
double measure_peak(Threads& threads) {
  constexpr int chains = lane_registers * 3 / 4, rounds = 1 << 20;
  std::vector<T> sink(static_cast<std::size_t>(threads.count()) * 64);
  const double seconds = best_seconds([&] {
    threads.run([&](int member) {
      Lanes<T> sums[chains];
#pragma GCC unroll 24
      for (int c = 0; c < chains; ++c) sums[c] = all_lanes(static_cast<T>(c));  // not the same: one would do for all
      const Lanes<T> factor = all_lanes(T(0.5));
      for (int i = 0; i < rounds; ++i)
#pragma GCC unroll 24
        for (int c = 0; c < chains; ++c) sums[c] = fused(sums[c], factor, factor);
      T total = 0;
#pragma GCC unroll 24
      for (int c = 0; c < chains; ++c) total += sums[c][0];
      sink[static_cast<std::size_t>(member) * 64] = total;
    });
  });
  return 1.0 * chains * rounds * lane_count<T> * threads.count() / seconds;
}

template <class T>
struct Times {
  double solve = 0, x = 0, y = 0, z = 0;  ///< seconds
};

template <class T>
Times<T> measure(const PoissonBox& box, Threads& threads) {
  const DirectSolver<T> solver(box);
  const ParallelFor parallel = parallel_for(threads);
  RawVector<T> f(static_cast<std::size_t>(box.cells())), p(f.size());
  threads.for_range(box.cells(), [&](Size begin, Size end) {
    for (Size i = begin; i < end; ++i) {
      f[i] = static_cast<T>(random_unit(1, static_cast<std::uint64_t>(i)) - 0.5);
      p[i] = f[i];
    }
  });
  const LineModes modes = line_modes(box.x);
  const LineTransform<T> x(modes, Transform::to_modes, LineAxis::x), y(modes, Transform::to_modes, LineAxis::y);
  const Tridiagonal<T> z(line_operator(box.z));
  const Lid n = box.x.size();
  const Size plane = Size{n} * n;
  const std::vector<T> lambda(plane, T(-1));
  // As the solver does: a batch of planes that stays in the second cache.
  const Lid batch = std::max<Lid>(1, static_cast<Lid>((512 << 10) / (plane * static_cast<Size>(sizeof(T)))));
  const auto planes = [&](const auto& work) {
    return best_seconds([&] {
      threads.for_range(n, [&](Size begin, Size end) {
        for (Size k = begin; k < end; k += batch)
          work(p.data() + k * plane, static_cast<Lid>(std::min<Size>(batch, end - k)));
      });
    });
  };
  Times<T> times;
  times.solve = best_seconds([&] { solver.solve(f.data(), p.data(), parallel); });
  times.x = planes([&](T* at, Lid count) { transform_x(x.view(), at, at, {0, count * n}); });
  times.y = planes([&](T* at, Lid count) { transform_y(y.view(), at, at, n, {0, count * n}); });
  times.z = best_seconds([&] {
    threads.for_range(plane, [&](Size begin, Size end) {
      const Range columns{static_cast<Lid>(begin), static_cast<Lid>(end)};
      solve_columns(z.view(), lambda.data(), {p.data(), plane}, columns);
    });
  });
  return times;
}

template <class T>
void report(const std::string& type, const std::vector<Lid>& sizes) {
  for (const int count : {1, 2}) {
    if (static_cast<std::size_t>(count) > allowed_cores().size()) continue;
    Threads threads(count, {allowed_cores().begin(), allowed_cores().begin() + count});
    const double peak = measure_peak<T>(threads);
    fmt::print("{}, {} thread{}: peak {:.1f} Gflop/s (multiply-adds in registers, 2 flops each, {} lanes)\n", type,
               count, count > 1 ? "s" : "", 2e-9 * peak, lane_count<T>);
    fmt::print("  {:>6} {:>10} {:>10} {:>7} {:>10} {:>7} {:>10} {:>10}\n", "cells", "solve ms", "x Gflop/s", "of peak",
               "y Gflop/s", "of peak", "z ms", "Gflop/s");
    for (const Lid n : sizes) {
      const Line line = uniform_line(n, 1, LineEnd::neumann, LineEnd::neumann);
      const PoissonBox box{line, line, line};
      const Times<T> times = measure<T>(box, threads);
      const double all = static_cast<double>(DirectSolver<T>(box).transform_work()), one = all / 4;
      fmt::print("  {:>4}^3 {:>10.3f} {:>10.1f} {:>7.2f} {:>10.1f} {:>7.2f} {:>10.3f} {:>10.1f}\n", n,
                 1e3 * times.solve, 2e-9 * one / times.x, one / times.x / peak, 2e-9 * one / times.y,
                 one / times.y / peak, 1e3 * times.z, 2e-9 * all / times.solve);
    }
  }
}

int run(int argc, char** argv) {
  std::vector<Lid> sizes;
  for (int i = 1; i < argc; ++i) sizes.push_back(static_cast<Lid>(std::atoi(argv[i])));
  if (sizes.empty()) sizes = {64, 128, 256};
  if (std::ranges::any_of(sizes, [](Lid n) { return n < 1 || n > 1024; }))
    fail(ErrorKind::usage, "bench_poisson_direct: sides are 1 to 1024 cells");
  report<double>("double", sizes);
  report<float>("float", sizes);
  return 0;
}

}  // namespace
}  // namespace tutti::incompressible

int main(int argc, char** argv) {
  try {
    return tutti::incompressible::run(argc, argv);
  } catch (const tutti::Error& error) {
    fmt::print(stderr, "{}\n", error.what());
    return error.exit_code();
  }
}
