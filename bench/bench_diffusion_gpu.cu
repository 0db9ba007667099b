// What the GPU kernels of the row operator gain over the portable one, beside the STREAM triad and cuSPARSE on the same
// matrix, in one run on one GPU.
//
// bench_diffusion_gpu [CUBES] [SECONDS]: Kuhn tetrahedra of CUBES^3 cubes along a Hilbert curve, one explicit step a
// launch.
#include <cstdlib>

#include "bench/cusparse_peer.hpp"
#include "bench/gpu_timing.hpp"
#include "tutti/device/buffer.hpp"
#include "tutti/device/triad.hpp"
#include "tutti/models/diffusion/diffusion_rate.hpp"
#include "tutti/models/diffusion/rows/operator.hpp"

namespace tutti::diffusion {
namespace {

constexpr double dt = 0.1;

void measure(Gid cubes, double seconds) {
  const auto device = make_cuda_device(0);
  const auto stream = device->make_stream("bench");
  const double triad = measure_bandwidth(*device).triad;
  const DiffusionRows rows = sample_rows(cubes);
  const auto n = static_cast<Lid>(rows.counts.size());
  std::vector<double> start;
  for (Lid i = 0; i < n; ++i) start.push_back(1.0 + 1e-6 * i);
  const auto u = make_buffer(*stream, std::span<const double>(start), "u");
  Buffer<double> next(*device, n, "next");
  double entries = 0;
  for (const auto count : rows.counts) entries += count;
  fmt::print("{}\n{} rows, {:.2f} entries each; triad {:.0f} GB/s; P = 33/216 x triad (Langguth 2015, eq. 3)\n",
             device->description(), n, entries / n, triad * 1e-9);
  const Printer print{static_cast<double>(n), triad};
  struct Variant {
    const char* name;
    RowFormat format;
    Precision precision;
    ColumnBytes columns;
  };
  for (const Variant& v :
       {Variant{"rows", RowFormat::rows, Precision::full, ColumnBytes::four},
        Variant{"blocks", RowFormat::blocks, Precision::full, ColumnBytes::four},
        Variant{"sliced", RowFormat::sliced, Precision::full, ColumnBytes::four},
        Variant{"sliced int16", RowFormat::sliced, Precision::full, ColumnBytes::two},
        Variant{"sliced int10", RowFormat::sliced, Precision::full, ColumnBytes::tiles},
        Variant{"blocks compact", RowFormat::blocks, Precision::compact, ColumnBytes::four},
        Variant{"sliced compact", RowFormat::sliced, Precision::compact, ColumnBytes::four},
        Variant{"sliced compact int16", RowFormat::sliced, Precision::compact, ColumnBytes::two},
        Variant{"sliced compact int10", RowFormat::sliced, Precision::compact, ColumnBytes::tiles}}) {
    const RowOperator op(*stream, rows, v.format, v.precision, v.columns);
    const double bytes = static_cast<double>(op.bytes_applied()) / n;
    const EulerUpdate update{next.data(), dt};
    print(std::string(v.name) + ", portable",
          time_of(*stream, seconds,
                  [&] {
                    op.apply_portably(*stream, {0, n}, u.data(), nullptr, update);
                  }),
          bytes);
    if (v.format != RowFormat::rows)
      print(std::string(v.name) + ", tuned",
            time_of(*stream, seconds,
                    [&] {
                      op.apply(*stream, {0, n}, u.data(), nullptr, update);
                    }),
            bytes);
  }
  CusparsePeer(*stream, step_matrix(rows, dt), 0).measure(u, next, seconds, print);
}

}  // namespace
}  // namespace tutti::diffusion

int main(int argc, char** argv) try {
  tutti::diffusion::measure(argc > 1 ? std::atoll(argv[1]) : 110, argc > 2 ? std::atof(argv[2]) : 0.3);
} catch (const std::exception& error) {
  fmt::print(stderr, "bench_diffusion_gpu: {}\n", error.what());
  return 1;
}
