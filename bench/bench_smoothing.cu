// Smoothing of a box of Kuhn's tetrahedra and of as many triangles, in a plane and on a curved surface, on one device:
// coloured sweeps, simultaneous ones, one pass over all nodes without search; derivatives in double and in float; the
// device's kernels and the portable ones. Of plane triangles also the bytes that a sweep must move, and how much of the
// device's triad that is. Beside them the two passes of the thesis [McGuinness 2011, section 2.1.4]: cells write their
// contributions, then nodes gather them.
//
// bench_smoothing [CUBES] [DEVICE] [THREADS] [SWEEPS] [tetrahedra | plane | surface | all], default 60 cpu 2 5 all: 1.3
// M cells, about 10 s. Two cores: taskset -c 0,1 bench_smoothing 60 cpu 2. One GPU, 8 M cells: bench_smoothing 110
// cuda:0. Several devices, an equal part each: coloured sweeps, and these with energy and quality, on the first one
// and on all. 40 M cells on two GPUs: bench_smoothing 188 cuda:0,cuda:1 16 100 tetrahedra.
#include <fmt/core.h>

#include <chrono>
#include <cmath>
#include <cstdlib>
#include <string>

#include "tutti/base/random.hpp"
#include "tutti/device/device_list.hpp"
#include "tutti/device/for_each.hpp"
#include "tutti/device/triad.hpp"
#include "tutti/mesh/generate.hpp"
#include "tutti/mesh/quality/mesh_quality.hpp"
#include "tutti/models/smoothing/smoother.hpp"
#include "tutti/partition/spatial_order.hpp"

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

/// Squares, two triangles each, with moved nodes; of a plane, or of a surface that bends everywhere.
TetMesh triangles_of(Gid n, bool curved) {
  TetMesh mesh;
  for (Gid j = 0; j <= n; ++j)
    for (Gid i = 0; i <= n; ++i) {
      const auto move = [&](std::uint64_t k) {
        if (i == 0 || j == 0 || i == n || j == n) return 0.0;
        return 0.5 * (random_unit(3, 2 * static_cast<std::uint64_t>(mesh.vertices.size()) + k) - 0.5);
      };
      Vec3 at{static_cast<double>(i) + move(0), static_cast<double>(j) + move(1), 0};
      if (curved) at.z = (at.x * at.x + at.y * at.y) / static_cast<double>(4 * n);
      mesh.vertices.push_back(at);
    }
  for (Gid j = 0; j < n; ++j)
    for (Gid i = 0; i < n; ++i) {
      const Gid a = j * (n + 1) + i, b = a + 1, c = a + n + 1, d = c + 1;
      mesh.boundary.push_back({a, b, d});
      mesh.boundary.push_back({a, d, c});
    }
  mesh.boundary_tags.assign(mesh.boundary.size(), 1);
  return mesh;
}

struct Bench {
  TetMesh mesh;
  NodeFreedom freedom;
  DeviceSet& devices;
  std::vector<PartStreams> streams;
  std::vector<std::int32_t> owner;
  int sweeps;
  double triad;  ///< of the device, bytes/s
  Comm comm;

  Stream& stream() { return *streams[0].compute; }
  double cells() const { return static_cast<double>(mesh.is_surface() ? mesh.boundary.size() : mesh.cells.size()); }
  double rate(double seconds) const { return 1e-6 * cells() / seconds; }

  Bench(TetMesh of, DeviceSet& set, int count, double bytes_per_second)
      : mesh(std::move(of)), devices(set), sweeps(count), triad(bytes_per_second) {
    use(1);
    const FaceNeighbours neighbours =
        mesh.is_surface() ? FaceNeighbours{} : find_face_neighbours(mesh, parallel_for(*set.threads));
    freedom = find_freedom(mesh, neighbours, BoundaryRule::fixed, 30);
  }

  /// The first `parts` devices have as many nodes each, along a Hilbert curve.
  void use(std::size_t parts) {
    streams.clear();
    for (std::size_t p = 0; p < parts; ++p) streams.emplace_back(*devices.devices[p]);
    owner.assign(mesh.vertices.size(), 0);
    if (parts == 1) return;
    const auto order = hilbert_order(mesh.vertices, parallel_for(*devices.threads));
    for (std::size_t k = 0; k < order.size(); ++k)
      owner[static_cast<std::size_t>(order[k].row)] = static_cast<std::int32_t>(k * parts / order.size());
  }

  Smoother make(const SmoothOptions& options) {
    const std::vector<int> ranks(streams.size(), 0);
    return Smoother(comm, *devices.threads, mesh, freedom, options, owner, ranks, streams);
  }

  double print(const std::string& name, double seconds) {
    fmt::print("{:<44} {:>9.3f} ms {:>10.2f} M cells/s\n", name, 1e3 * seconds, rate(seconds));
    return seconds;
  }

  double sweep(const std::string& name, Smoother& smoother) {
    const double before = smoother.state().min_mean_ratio;
    const double seconds = seconds_of(stream(), sweeps, [&] { smoother.sweep(); });
    fmt::print("{:<44} {:>9.3f} ms {:>10.2f} M cells/s   smallest mean ratio {:.6f} -> {:.6f}\n", name, 1e3 * seconds,
               rate(seconds), before, smoother.state().min_mean_ratio);
    return seconds;
  }

  /// What a sweep moves at a time: the rows of colour `l`.
  static SweepRows rows_of(const Smoother& smoother, const SmoothOptions& options, std::size_t l) {
    auto& part = const_cast<MeshPart&>(smoother.parts().parts[0]);
    SweepRows s;
    s.stars = part.stars();
    s.first_row = smoother.parts().levels[l]->first_row[0];
    s.first_star = smoother.parts().levels[l]->first_star[0];
    s.from = part.points.data();
    s.to = options.simultaneous ? part.moved.data() : part.points.data();
    s.options = {options.method, options.damping, 0, !options.simultaneous};
    s.energy = smoother.energy();
    s.plane = smoother.plane();
    s.in_float = options.in_float;
    return s;
  }

  /// The kernels of a sweep alone, from where the nodes were at first; all nodes at once without search: what a fused
  /// gather costs.
  template <class Sweep>
  double kernels(const std::string& name, const Smoother& smoother, const SmoothOptions& options, const Sweep& run) {
    auto& part = const_cast<MeshPart&>(smoother.parts().parts[0]);
    if (!options.simultaneous)
      stream().copy(part.points.data(), part.moved.data(), static_cast<std::size_t>(part.points.bytes()),
                    CopyDirection::local);
    return print(name, seconds_of(stream(), sweeps, [&] {
                   for (std::size_t l = 0; l < smoother.parts().moving(); ++l)
                     run(stream(), smoother.parts().levels[l]->maps[0].owned_rows(), rows_of(smoother, options, l));
                 }));
  }

  /// Of plane triangles, by rings: coordinates of all nodes once a colour and written once, the ends of edges.
  void print_bytes(const Smoother& smoother, double seconds) const {
    const auto& part = smoother.parts().parts[0];
    if (part.rings.size() == 0 || smoother.energy() != Energy::plane_triangle) return;
    const auto colours = static_cast<double>(smoother.parts().moving());
    const double bytes = static_cast<double>(part.points.bytes()) * (colours + 1) +
                         static_cast<double>(part.rings.bytes() + part.ring_begins.bytes());
    fmt::print("    {:.0f} colours, {:.0f} B per cell: {:.0f} GB/s, {:.2f} of the triad\n", colours, bytes / cells(),
               1e-9 * bytes / seconds, bytes / seconds / triad);
  }

  /// On the first device, and on all.
  void several() {
    double alone[2] = {};
    for (const std::size_t parts : {std::size_t{1}, devices.devices.size()}) {
      use(parts);
      Smoother smoother = make({});
      for (int k = 0; k < 40; ++k) smoother.sweep();  // steps are timed at first, and captured
      const double seconds[2] = {seconds_of(stream(), sweeps, [&] { smoother.sweep(); }),
                                 seconds_of(stream(), sweeps, [&] {
                                   smoother.sweep();
                                   smoother.state();
                                 })};
      for (const int k : {0, 1}) {
        if (parts == 1) alone[k] = seconds[k];
        fmt::print("{} device{}, {:<32} {:>9.3f} ms {:>10.2f} M cells/s, {:.3f} of {} times one\n", parts,
                   parts == 1 ? "" : "s", k == 0 ? "coloured sweep, double" : "sweep, energy and quality",
                   1e3 * seconds[k], rate(seconds[k]), alone[k] / seconds[k] / static_cast<double>(parts), parts);
      }
    }
  }

  /// Returns what a coloured sweep in float takes, or in double where there is none.
  double all() {
    std::vector<bool> numbers{false};
    if (!mesh.is_surface() || plane_normal(mesh) != Vec3{}) numbers.push_back(true);
    const auto name = [](bool in_float) { return in_float ? ", float" : ", double"; };
    SmoothOptions options;
    double seconds = 0;
    {
      const Smoother smoother = make(options);
      for (const bool in_float : numbers) {
        options.in_float = in_float;
        const std::string what = std::string("kernels of a coloured sweep") + name(in_float);
        print_bytes(smoother, kernels(what, smoother, options, sweep_rows));
        kernels("  portable kernels", smoother, options, sweep_rows_plain);
      }
    }
    for (const bool in_float : numbers) {
      options.in_float = in_float;
      Smoother smoother = make(options);
      seconds = sweep(std::string("coloured sweep") + name(in_float), smoother);
    }
    options.simultaneous = true;
    for (const bool in_float : numbers) {
      options.in_float = in_float;
      options.damping = 1;
      Smoother smoother = make(options);
      if (!mesh.is_surface()) sweep(std::string("sweep all at once, with checks of cells") + name(in_float), smoother);
      options.damping = 0.67;
      print_bytes(smoother, kernels(std::string("node pass, Newton") + name(in_float), smoother, options, sweep_rows));
    }
    return seconds;
  }

  void two_passes(double coloured) {
    SmoothOptions options;
    options.energy = Energy::l2v;
    options.method = Method::half_trace;
    options.simultaneous = true;
    options.damping = 0.67;
    const Smoother smoother = make(options);
    const double fused = kernels("node pass, l2v, half trace", smoother, options, sweep_rows);
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
    print("two passes of the thesis, l2v, half trace", seconds);
    fmt::print("  {:.2f} times one pass, {:.2f} times a coloured sweep of Newton in float\n", seconds / fused,
               seconds / coloured);
  }
};

void run(int count, char** words) {
  const Gid cubes = count > 1 ? std::atoi(words[1]) : 60;
  const std::string device = count > 2 ? words[2] : "cpu";
  DeviceOptions options;
  options.threads = count > 3 ? std::atoi(words[3]) : 2;
  const Comm comm;
  DeviceSet devices = open_devices(device, comm, options);
  const int sweeps = count > 4 ? std::atoi(words[4]) : 5;
  BoxSpec spec;
  spec.cubes = {cubes, cubes, cubes};
  spec.jitter = 0.18;
  const double triad = measure_triad(*devices.devices[0], MeasureLimits::quick());
  fmt::print("{}: {} threads, triad {:.0f} GB/s\n", device, devices.threads->count(), 1e-9 * triad);
  const std::string what = count > 5 ? words[5] : "all";
  if (what == "all" || what == "tetrahedra") {
    Bench tets(generate_box(spec, parallel_for(*devices.threads)), devices, sweeps, triad);
    fmt::print("{} tetrahedra, {} nodes\n", tets.mesh.cell_count(), tets.mesh.vertex_count());
    if (devices.devices.size() > 1) return tets.several();
    tets.two_passes(tets.all());
  }
  for (const bool curved : {false, true}) {
    if (what != "all" && what != (curved ? "surface" : "plane")) continue;
    // As many triangles, of a surface a quarter.
    const double squares = 3.0 * static_cast<double>(cubes * cubes * cubes) / (curved ? 4 : 1);
    Bench triangles(triangles_of(static_cast<Gid>(std::sqrt(squares)), curved), devices, sweeps, triad);
    fmt::print("{} triangles {}, {} nodes\n", triangles.mesh.boundary.size(),
               curved ? "of a curved surface" : "in a plane", triangles.mesh.vertex_count());
    triangles.all();
  }
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
