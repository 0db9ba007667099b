// Smoothing of a box of Kuhn's tetrahedra on one device: coloured sweeps, simultaneous ones, one pass over all nodes
// without search, and beside it the two passes of the thesis [McGuinness 2011, section 2.1.4]: cells write their
// contributions, then nodes gather them.
//
// bench_smoothing [CUBES] [DEVICE] [THREADS] [SWEEPS], default 60 cpu 2 5: 1.3 M cells, about 10 s.
// Two cores: taskset -c 0,1 bench_smoothing 60 cpu 2. One GPU, 8 M cells: bench_smoothing 110 cuda:0.
#include <fmt/core.h>

#include <chrono>
#include <cmath>
#include <cstdlib>
#include <string>

#include "tutti/device/device_list.hpp"
#include "tutti/device/for_each.hpp"
#include "tutti/mesh/generate.hpp"
#include "tutti/models/smoothing/smoother.hpp"

namespace tutti::smoothing {
namespace {

/// What a cell tells one of its corners: the gradient and half the trace of the Hessian.
struct Contribution {
  double x, y, z, half_trace;
};

struct WriteContributions {
  CellView view;
  Contribution* to;
  TUTTI_HD void operator()(Lid cell) const {
    constexpr int faces[4][3] = {{1, 2, 3}, {0, 3, 2}, {0, 1, 3}, {0, 2, 1}};
    const CellRows rows = view.cells[cell];
    Vec3 p[4];
    for (int k = 0; k < 4; ++k) p[k] = view.points[rows.v[k]].vec();
    for (int k = 0; k < 4; ++k) {
      const Vec3 a = p[faces[k][0]] - p[k], b = p[faces[k][1]] - p[k], c = p[faces[k][2]] - p[k];
      const Derivatives d = cell_derivatives<Energy::l2v, false>({a.x, a.y, a.z, b.x, b.y, b.z, c.x, c.y, c.z}, 0);
      to[4 * static_cast<Size>(cell) + k] = {d.gx, d.gy, d.gz, 0.5 * (d.xx + d.yy + d.zz)};
    }
  }
};

struct GatherContributions {
  const Size* offsets;
  const Size* places;  ///< 4 cell + corner
  const Contribution* from;
  const Point* points;
  Point* to;
  Size first_row, first_star;
  TUTTI_HD void operator()(Lid row) const {
    Contribution sum{0, 0, 0, 0};
    for (Size k = offsets[first_star + row]; k < offsets[first_star + row + 1]; ++k) {
      const Contribution c = from[places[k]];
      sum.x += c.x, sum.y += c.y, sum.z += c.z, sum.half_trace += c.half_trace;
    }
    const Point p = points[first_row + row];
    const double k = -0.67 / sum.half_trace;
    to[first_row + row] = {p.x + k * sum.x, p.y + k * sum.y, p.z + k * sum.z, 0};
  }
};

template <class Work>
double seconds_of(Stream& stream, int times, const Work& work) {
  work();
  stream.synchronize();
  const auto begin = std::chrono::steady_clock::now();
  for (int k = 0; k < times; ++k) work();
  stream.synchronize();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count() / times;
}

struct Bench {
  TetMesh mesh;
  NodeFreedom freedom;
  DeviceSet& devices;
  std::vector<PartStreams> streams;
  std::vector<std::int32_t> owner;
  int sweeps;
  Comm comm;

  Stream& stream() { return *streams[0].compute; }
  double rate(double seconds) const { return 1e-6 * static_cast<double>(mesh.cell_count()) / seconds; }

  Bench(Gid cubes, DeviceSet& set, int count) : devices(set), sweeps(count) {
    BoxSpec spec;
    spec.cubes = {cubes, cubes, cubes};
    spec.jitter = 0.18;
    mesh = generate_box(spec, parallel_for(*set.threads));
    owner.assign(mesh.vertices.size(), 0);
    freedom = find_freedom(mesh, find_face_neighbours(mesh), BoundaryRule::fixed, 30);
    streams.emplace_back(*set.devices[0]);
  }

  Smoother make(Energy energy, Method method, bool at_once) {
    SmoothOptions options;
    options.energy = energy;
    options.method = method;
    options.simultaneous = at_once;
    const int rank = 0;
    return Smoother(comm, *devices.threads, mesh, freedom, options, owner, {&rank, 1}, streams);
  }

  void sweep(const char* name, bool at_once) {
    Smoother smoother = make(Energy::shape, Method::newton, at_once);
    const double before = smoother.state().min_mean_ratio;
    const double seconds = seconds_of(stream(), sweeps, [&] { smoother.sweep(); });
    fmt::print("{:<44} {:>9.3f} ms {:>10.2f} M cells/s   smallest mean ratio {:.4f} -> {:.4f}\n", name, 1e3 * seconds,
               rate(seconds), before, smoother.state().min_mean_ratio);
  }

  /// One sweep without search, all nodes at once: what a fused gather costs.
  double pass(const char* name, Energy energy, Method method, bool plain) {
    const Smoother smoother = make(energy, method, true);
    auto& part = const_cast<MeshPart&>(smoother.parts().parts[0]);
    const Level& level = *smoother.parts().levels[0];
    SweepRows s;
    s.stars = part.stars();
    s.first_row = level.first_row[0];
    s.first_star = level.first_star[0];
    s.from = part.points.data();
    s.to = part.moved.data();
    s.options = {method, 0.67, 0, false};
    s.energy = energy;
    const Range rows = level.maps[0].owned_rows();
    const double seconds = seconds_of(
        stream(), sweeps, [&] { plain ? sweep_rows_plain(stream(), rows, s) : sweep_rows(stream(), rows, s); });
    fmt::print("{:<44} {:>9.3f} ms {:>10.2f} M cells/s\n", name, 1e3 * seconds, rate(seconds));
    return seconds;
  }

  void two_passes(double fused) {
    const Smoother smoother = make(Energy::l2v, Method::half_trace, true);
    auto& part = const_cast<MeshPart&>(smoother.parts().parts[0]);
    const Level& level = *smoother.parts().levels[0];
    // Where the part's cells stand in its list, for the nodes' gather.
    std::vector<CellRows> cells(part.cell_count);
    download(stream(), std::span<CellRows>(cells), part.cells);
    std::vector<std::vector<Size>> at(part.rows);
    for (std::size_t c = 0; c < cells.size(); ++c)
      for (std::size_t k = 0; k < 4; ++k) at[cells[c].v[k]].push_back(static_cast<Size>(4 * c + k));
    std::vector<Size> places, offsets{0};
    for (Lid r = 0; r < level.maps[0].owned; ++r) {
      const auto& row = at[level.first_row[0] + r];
      places.insert(places.end(), row.begin(), row.end());
      offsets.push_back(static_cast<Size>(places.size()));
    }
    const auto place_buffer = make_buffer(stream(), std::span<const Size>(places), "places");
    const auto offset_buffer = make_buffer(stream(), std::span<const Size>(offsets), "offsets");
    Buffer<Contribution> sums(stream().device(), 4 * static_cast<Size>(part.cell_count), "contributions");
    const double seconds = seconds_of(stream(), sweeps, [&] {
      for_each(stream(), {0, part.cell_count},
               WriteContributions{{part.cells.data(), part.points.data()}, sums.data()});
      for_each(stream(), level.maps[0].owned_rows(),
               GatherContributions{offset_buffer.data(), place_buffer.data(), sums.data(), part.points.data(),
                                   part.moved.data(), level.first_row[0], 0});
    });
    fmt::print("{:<44} {:>9.3f} ms {:>10.2f} M cells/s   {:.2f} times the fused pass\n",
               "two passes of the thesis, half trace", 1e3 * seconds, rate(seconds), seconds / fused);
  }
};

void run(int count, char** words) {
  const Gid cubes = count > 1 ? std::atoi(words[1]) : 60;
  const std::string device = count > 2 ? words[2] : "cpu";
  DeviceOptions options;
  options.threads = count > 3 ? std::atoi(words[3]) : 2;
  const Comm comm;
  DeviceSet devices = open_devices(device, comm, options);
  Bench bench(cubes, devices, count > 4 ? std::atoi(words[4]) : 5);
  fmt::print("{}: {} cells, {} nodes, {} threads\n", device, bench.mesh.cell_count(), bench.mesh.vertex_count(),
             devices.threads->count());
  bench.sweep("coloured sweep, shape, Newton with search", false);
  bench.sweep("sweep all at once, with checks of cells", true);
  bench.pass("node pass, shape, Newton", Energy::shape, Method::newton, false);
  bench.pass("node pass, shape, Newton, portable form", Energy::shape, Method::newton, true);
  const double fused = bench.pass("node pass, l2v, half trace", Energy::l2v, Method::half_trace, false);
  bench.two_passes(fused);
}

}  // namespace
}  // namespace tutti::smoothing

int main(int count, char** words) {
  int provided = 0;
  MPI_Init_thread(&count, &words, MPI_THREAD_FUNNELED, &provided);
  try {
    tutti::smoothing::run(count, words);
  } catch (const std::exception& error) {
    fmt::print(stderr, "bench_smoothing: {}\n", error.what());
    return 1;
  }
  MPI_Finalize();
  return 0;
}
