// Ideas beyond the present GPU kernels of the row operator, each beside the present kernel, the STREAM triad and
// cuSPARSE in the same run, and with the same bits: docs/performance.md, "What further ideas gave".
//
// bench_diffusion_ideas [MESH|CUBESxLAYERS] [COPIES] [SECONDS] [WHAT]: COPIES of a mesh file, or of a box of CUBES x
// CUBES x LAYERS cubes, along a Hilbert curve; compact coefficients (float) unless it says double. WHAT: rows, tiles,
// steps. SECONDS below 0: every kernel once, for a profiler.
#include <cstdlib>
#include <cstring>

#include "bench/cusparse_peer.hpp"
#include "bench/gpu_timing.hpp"
#include "bench/ideas_rows.cuh"
#include "bench/ideas_steps.cuh"
#include "bench/ideas_tiles.cuh"
#include "tutti/device/cuda/check.hpp"
#include "tutti/device/triad.hpp"
#include "tutti/models/diffusion/operator.hpp"

namespace tutti {
namespace {

constexpr double dt = 0.1;

/// What all variants share.
struct Bench {
  Stream& stream;
  Lid rows;
  double seconds;
  Printer print;
  double peer = 0;  ///< seconds of the fastest of cuSPARSE
  Buffer<double> u, mid, next;
  std::vector<double> expected, result;
  cudaStream_t native() const { return static_cast<cudaStream_t>(stream.native()); }

  void poison(Buffer<double>& values) const {
    TUTTI_CUDA_CHECK(cudaMemsetAsync(values.data(), 0xff, static_cast<std::size_t>(values.bytes()), native()));
  }
  /// Times launch(), which writes `next`; `steps` it makes. Empty `expected`: this is the reference.
  template <class F>
  void measure(const std::string& name, double bytes_a_row, const F& launch, int steps = 1) {
    poison(next);
    launch();
    TUTTI_CUDA_CHECK(cudaGetLastError());
    download(stream, std::span<double>(result), next);
    if (expected.empty()) expected = result;
    Size wrong = 0;
    for (std::size_t i = 0; i < result.size(); ++i) wrong += std::memcmp(&result[i], &expected[i], 8) != 0 ? 1 : 0;
    if (seconds < 0) return;
    const double t = time_of(stream, seconds, launch) / steps;
    print(name, t, bytes_a_row);
    fmt::print("{:<44} {:.3f} of cuSPARSE's rate; {}\n", "", peer / t,
               wrong == 0 ? "same bits" : fmt::format("{} ROWS DIFFER", wrong));
    std::fflush(stdout);
  }
};

void measure_operator(Bench& bench, const DiffusionRows& rows, Precision precision, ColumnBytes columns,
                      const std::string& name) {
  const RowOperator op(bench.stream, rows, RowFormat::sliced, precision, columns);
  if (columns == ColumnBytes::two) bench.expected.clear();
  bench.measure(name, static_cast<double>(op.bytes_applied()) / bench.rows, [&] {
    op.apply(bench.stream, {0, bench.rows}, bench.u.data(), nullptr, EulerUpdate{bench.next.data(), dt});
  });
}

template <int block, int blocks, Columns columns>
void measure_slices(Bench& bench, const SliceArrays& slices, const std::string& name) {
  constexpr bool through_faces = columns == Columns::through_faces;
  const auto grid = static_cast<unsigned>((bench.rows + block - 1) / block);
  const std::size_t room = through_faces ? block * 64 : 0;
  const SliceView view = slices.view();
  bench.measure(fmt::format("{}, {} x {}", name, blocks, block), slices.bytes_a_row(through_faces), [&] {
    slices_kernel<block, blocks, columns>
        <<<grid, block, room, bench.native()>>>(view, bench.u.data(), bench.next.data(), dt);
  });
}

template <int tile_rows, int blocks, int bits, bool narrow, class Coefficient>
void measure_tiles(Bench& bench, const TileArrays& tiles) {
  const int a_block = tile_rows < 64 ? 4 : 1, room = tile_rows + tiles.most_externals;
  const auto grid = static_cast<unsigned>((tiles.tiles + a_block - 1) / a_block);
  const TileView view = tiles.view();
  bench.measure(fmt::format("tiles of {}, {} bits, list {} B, x {}", tile_rows, bits, narrow ? 2 : 4, blocks),
                tiles.bytes_a_row(narrow), [&] {
                  tiles_kernel<tile_rows, blocks, bits, narrow, Coefficient>
                      <<<grid, tile_rows * a_block, static_cast<std::size_t>(room) * a_block * 8, bench.native()>>>(
                          view, room, bench.u.data(), bench.next.data(), dt);
                });
}

void measure_rows(Bench& bench, const IdeasSample& sample) {
  {
    const SliceArrays slices = make_slices(bench.stream, sample, 1);
    measure_slices<128, 12, Columns::one>(bench, slices, "one entry a load");
    measure_slices<256, 6, Columns::one>(bench, slices, "one entry a load");
    measure_slices<512, 3, Columns::one>(bench, slices, "one entry a load");
    measure_slices<128, 12, Columns::through_faces>(bench, slices, "through the faces");
    measure_slices<128, 8, Columns::through_faces>(bench, slices, "through the faces");
  }
  const SliceArrays pairs = make_slices(bench.stream, sample, 2);
  measure_slices<128, 12, Columns::pairs>(bench, pairs, "two entries a load");
  measure_slices<128, 10, Columns::pairs>(bench, pairs, "two entries a load");
  measure_slices<256, 6, Columns::pairs>(bench, pairs, "two entries a load");
  measure_slices<512, 3, Columns::pairs>(bench, pairs, "two entries a load");
}

void measure_all_tiles(Bench& bench, const DiffusionRows& rows) {
  TileArrays tiles;
  if (make_tiles(bench.stream, rows, 32, 8, true, tiles)) {
    measure_tiles<32, 12, 8, true, float>(bench, tiles);
  }
  if (make_tiles(bench.stream, rows, 128, 9, true, tiles)) {
    measure_tiles<128, 10, 9, true, float>(bench, tiles);
    measure_tiles<128, 12, 9, true, float>(bench, tiles);
    measure_tiles<128, 14, 9, true, float>(bench, tiles);
    measure_tiles<128, 12, 9, false, float>(bench, tiles);
  }
  if (make_tiles(bench.stream, rows, 256, 10, true, tiles)) {
    measure_tiles<256, 6, 10, false, float>(bench, tiles);
    measure_tiles<256, 6, 10, true, float>(bench, tiles);
  }
  if (make_tiles(bench.stream, rows, 256, 11, true, tiles)) measure_tiles<256, 6, 11, true, float>(bench, tiles);
  if (make_tiles(bench.stream, rows, 512, 11, true, tiles)) measure_tiles<512, 3, 11, false, float>(bench, tiles);
}

/// Of columns in tiles of slabs, which have wider borders.
constexpr int slab_bits = 12;

template <Touch first, int blocks>
void measure_two_steps(Bench& bench, const TileArrays& tiles, Lid slab_tiles, int lag, bool mixed,
                       const std::string& name) {
  const TwoSteps plan = plan_two_steps(bench.stream, tiles, slab_tiles, lag, mixed);
  const int room = tiles.tile_rows + tiles.most_externals;
  const TileView view = tiles.view();
  bench.measure(
      fmt::format("two steps, {}, {} k rows, lag {}{}, x {}", name, slab_tiles * tiles.tile_rows / 1000, lag,
                  mixed ? ", mixed" : "", blocks),
      tiles.bytes_a_row(true),
      [&] {
        plan.reset(bench.native());
        two_steps_kernel<256, blocks, slab_bits, first>
            <<<plan.items(), 256, static_cast<std::size_t>(room) * 8, bench.native()>>>(
                view, plan.view(), room, bench.u.data(), bench.mid.data(), bench.next.data(), dt);
      },
      2);
}

void measure_steps(Bench& bench, const IdeasMesh& mesh, Size copies) {
  for (const Lid slab_tiles : {300, 600, 1200}) {
    const IdeasSample sample = ideas_sample(mesh, copies, static_cast<Size>(slab_tiles) * 256);
    TileArrays tiles;
    if (!make_tiles(bench.stream, sample.rows, 256, slab_bits, true, tiles)) continue;
    if (!slabs_are_thick(sample.rows, slab_tiles * 256)) {
      fmt::print("slabs of {} rows are too thin\n", slab_tiles * 256);
      continue;
    }
    const int room = 256 + tiles.most_externals;
    const auto grid = static_cast<unsigned>(tiles.tiles);
    const TileView view = tiles.view();
    const auto one = [&](const double* from, double* to) {
      tiles_kernel<256, 6, slab_bits, true, float>
          <<<grid, 256, static_cast<std::size_t>(room) * 8, bench.native()>>>(view, room, from, to, dt);
    };
    bench.expected.clear();
    bench.measure(
        fmt::format("two launches, slabs of {} k rows", slab_tiles * 256 / 1000), tiles.bytes_a_row(true),
        [&] {
          one(bench.u.data(), bench.mid.data());
          one(bench.mid.data(), bench.next.data());
        },
        2);
    measure_two_steps<Touch::keep, 6>(bench, tiles, slab_tiles, 2, false, "keep");
    measure_two_steps<Touch::keep, 6>(bench, tiles, slab_tiles, 2, true, "keep");
    measure_two_steps<Touch::keep, 6>(bench, tiles, slab_tiles, 3, true, "keep");
    measure_two_steps<Touch::last, 6>(bench, tiles, slab_tiles, 2, true, "evict last");
    measure_two_steps<Touch::keep, 5>(bench, tiles, slab_tiles, 2, true, "keep");
    measure_two_steps<Touch::stream, 6>(bench, tiles, slab_tiles, 2, true, "stream");
  }
}

void measure(const std::string& mesh_name, Size copies, double seconds, const std::string& what) {
  const auto device = make_cuda_device(0);
  const auto stream = device->make_stream("bench");
  const double triad = measure_bandwidth(*device, MeasureLimits::quick()).triad;
  long long cubes = 0, layers = 0;
  TetMesh tets;
  if (std::sscanf(mesh_name.c_str(), "%lldx%lld", &cubes, &layers) == 2) {
    BoxSpec box;
    box.cubes = {cubes, cubes, layers};
    tets = generate_box(box);
  } else {
    tets = read_mesh(mesh_name);
  }
  const IdeasMesh mesh = ideas_mesh(tets);
  const IdeasSample sample = ideas_sample(mesh, copies);
  const auto n = static_cast<Lid>(sample.rows.counts.size());
  std::vector<double> start;
  for (Lid i = 0; i < n; ++i) start.push_back(random_unit(5, static_cast<std::uint64_t>(i)));
  double entries = 0;
  for (const auto count : sample.rows.counts) entries += count;
  fmt::print("{}\n{} rows, {:.2f} entries each; triad {:.0f} GB/s\n", device->description(), n, entries / n,
             triad * 1e-9);
  Bench bench{*stream, n, seconds, {static_cast<double>(n), triad}, 0, {}, {}, {}, {}, {}};
  bench.u = make_buffer(*stream, std::span<const double>(start), "u");
  bench.mid = Buffer<double>(*device, n, "mid");
  bench.next = Buffer<double>(*device, n, "next");
  bench.result.resize(start.size());
  measure_l2(bench.native(), [&](const std::string& name, double bytes, const auto& launch) {
    fmt::print("{}: {:.0f} GB/s\n", name, bytes / time_of(*stream, 0.02, launch) * 1e-9);
  });
  bench.peer =
      CusparsePeer(*stream, step_matrix(sample.rows, dt), 0).measure(bench.u, bench.next, seconds, bench.print);
  const auto wanted = [&](const char* word) { return what.empty() || what.find(word) != std::string::npos; };
  if (wanted("tiles")) {
    measure_operator(bench, sample.rows, Precision::full, ColumnBytes::two, "double, two bytes");
    measure_operator(bench, sample.rows, Precision::full, ColumnBytes::tiles, "double, ten bits");
  }
  measure_operator(bench, sample.rows, Precision::compact, ColumnBytes::two, "compact, two bytes");
  measure_operator(bench, sample.rows, Precision::compact, ColumnBytes::four, "compact, four bytes");
  measure_operator(bench, sample.rows, Precision::compact, ColumnBytes::tiles, "compact, ten bits");
  if (wanted("rows")) measure_rows(bench, sample);
  if (wanted("tiles")) measure_all_tiles(bench, sample.rows);
  if (wanted("steps")) measure_steps(bench, mesh, copies);
}

}  // namespace
}  // namespace tutti

int main(int argc, char** argv) try {
  tutti::measure(argc > 1 ? argv[1] : "110x22", argc > 2 ? std::atoll(argv[2]) : 5, argc > 3 ? std::atof(argv[3]) : 0.1,
                 argc > 4 ? argv[4] : "");
} catch (const std::exception& error) {
  fmt::print(stderr, "bench_diffusion_ideas: {}\n", error.what());
  return 1;
}
