// How many stencils' weights a second the CPU makes, and how long Eigen takes for systems of the same size without
// assembling them; then the same on a GPU, where there is one: the kernel, and with the copies from and to the host.
// usage: bench_stencil_weights [THREADS] [NODES] [ROWS on the GPU]
#include <fmt/core.h>

#include <Eigen/LU>
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <vector>

#include "tutti/device/threads.hpp"
#include "tutti/models/transport/paper_parameters.hpp"
#include "tutti/models/transport/stencils/device_weights.hpp"

namespace tutti::transport {
namespace {

double seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/// The shortest of three.
template <class Work>
double time_of(Work&& work) {
  double best = 1e300;
  for (int i = 0; i < 3; ++i) {
    const double start = seconds();
    work();
    best = std::min(best, seconds() - start);
  }
  return best;
}

/// Fibonacci's lattice, and for every row the n nodes that are nearest to one of its middle.
struct Rows {
  std::vector<Vec3> nodes;
  std::vector<Lid> columns;
};

Rows make_rows(Gid total, int n, Lid rows) {
  Rows result;
  const double turn = 3.14159265358979323846 * (3 - std::sqrt(5.0));
  // A band around the equator holds the stencils.
  const Gid begin = total / 2 - 20000, end = total / 2 + 20000;
  for (Gid i = std::max<Gid>(begin, 0); i < std::min(end, total); ++i) {
    const double z = 1 - (2.0 * static_cast<double>(i) + 1) / static_cast<double>(total), r = std::sqrt(1 - z * z);
    result.nodes.push_back(
        {r * std::cos(turn * static_cast<double>(i)), r * std::sin(turn * static_cast<double>(i)), z});
  }
  const std::size_t middle = result.nodes.size() / 2;
  std::vector<std::pair<double, Lid>> order(result.nodes.size());
  for (std::size_t row = 0; row < 64; ++row) {
    for (std::size_t j = 0; j < order.size(); ++j) {
      const Vec3 d = result.nodes[j] - result.nodes[middle + row];
      order[j] = {dot(d, d), static_cast<Lid>(j)};
    }
    std::partial_sort(order.begin(), order.begin() + n, order.end());
    for (int j = 0; j < n; ++j) result.columns.push_back(order[j].second);
  }
  const std::vector<Lid> some = result.columns;
  while (result.columns.size() < static_cast<std::size_t>(rows) * static_cast<std::size_t>(n))
    result.columns.insert(result.columns.end(), some.begin(), some.end());
  return result;
}

double eigen_seconds(const StencilBasis& basis, Lid rows, Threads& threads) {
  using Matrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  const int size = unknown_count(basis);
  const Matrix a = Matrix::Random(size, size), b = Matrix::Random(size, 5);
  return time_of([&] {
    threads.for_range(rows, [&](Size begin, Size end) {
      Matrix work, x;
      for (Size i = begin; i < end; ++i) {
        work = a;
        const Eigen::PartialPivLU<Eigen::Ref<Matrix>> lu(work);
        x = lu.solve(b);
      }
    });
  });
}

void measure(const char* name, const StencilBasis& basis, Gid total, Threads& threads) {
  const Lid rows = basis.size < 40 ? 65536 : 8192;
  const Rows of = make_rows(total, basis.size, rows);
  std::vector<double> out(of.columns.size() * operators);
  WeightReport report;
  const double time =
      time_of([&] { report = make_weights<Lid>(basis, of.nodes, of.columns, out, parallel_for(threads)); });
  fmt::print("{:<22} {:>9.0f} stencils/s {:>8.2f} us per core; Eigen's LU alone {:>8.2f} us; condition number {:.1e}\n",
             name, static_cast<double>(report.stencils) / time,
             1e6 * time * threads.count() / static_cast<double>(report.stencils),
             1e6 * eigen_seconds(basis, rows, threads) * threads.count() / rows, report.max_condition);
}

void measure_gpu(const char* name, const StencilBasis& basis, Gid total, Lid rows, Stream& stream) {
  const Rows of = make_rows(total, basis.size, rows);
  const Size entries = static_cast<Size>(of.columns.size());
  const Buffer<Vec3> nodes = make_buffer(stream, std::span<const Vec3>(of.nodes), "nodes");
  const Buffer<Lid> columns = make_buffer(stream, std::span<const Lid>(of.columns), "stencils");
  Buffer<double> weights(stream.device(), entries * operators, "weights"),
      conditions(stream.device(), rows, "conditions");
  const auto run = [&] {
    enqueue_weights(stream, basis, nodes.data(), columns.data(), rows, weights.data(), conditions.data());
    stream.synchronize();
  };
  run();
  const double kernel = time_of(run);
  std::vector<double> out(of.columns.size() * operators);
  const double whole = time_of([&] { make_weights(stream, basis, of.nodes, of.columns, out); });
  fmt::print("{:<22} {:>9.0f} stencils/s, {:.3f} s for {}; with copies {:.3f} s\n", name, rows / kernel, kernel, rows,
             whole);
}

std::vector<std::pair<std::string, StencilBasis>> bases(Gid total) {
  std::vector<std::pair<std::string, StencilBasis>> all;
  for (const PaperParameters& entry : vortex_parameters) {
    StencilBasis basis;
    basis.kind = StencilBasis::Kind::gaussian;
    basis.size = entry.size;
    basis.epsilon = entry.epsilon(total);
    basis.hyper = entry.k;
    all.emplace_back(fmt::format("Gaussian, n = {}", entry.size), basis);
  }
  all.emplace_back("r^7, degree 6, n = 57", StencilBasis{});
  return all;
}

}  // namespace

void bench(int argc, char** argv) {
  Threads threads(argc > 1 ? std::atoi(argv[1]) : 2);
  const Gid total = argc > 2 ? std::atoll(argv[2]) : 1000000;
  fmt::print("{} threads, stencils of {} Fibonacci nodes\n", threads.count(), total);
  for (const auto& [name, basis] : bases(total)) measure(name.c_str(), basis, total, threads);
  if (cuda_device_count() == 0) return;
  const Lid rows = argc > 3 ? std::atoi(argv[3]) : 1000000;
  const auto device = make_cuda_device(0);
  const auto stream = device->make_stream("bench");
  fmt::print("{}\n", device->description());
  for (const auto& [name, basis] : bases(total)) measure_gpu(name.c_str(), basis, total, rows, *stream);
}

}  // namespace tutti::transport

int main(int argc, char** argv) {
  tutti::transport::bench(argc, argv);
}
