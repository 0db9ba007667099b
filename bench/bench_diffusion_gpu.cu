// What the GPU kernels of the row operator gain over the portable one, beside the STREAM triad and cuSPARSE on the same
// matrix, in one run on one GPU.
//
// bench_diffusion_gpu [CUBES] [SECONDS]: Kuhn tetrahedra of CUBES^3 cubes along a Hilbert curve, one explicit step a
// launch.
#include <cuda_runtime_api.h>
#include <cusparse.h>

#include <chrono>
#include <cstdlib>

#include "tutti/base/log.hpp"
#include "tutti/device/buffer.hpp"
#include "tutti/device/triad.hpp"
#include "tutti/models/diffusion/diffusion_rate.hpp"
#include "tutti/models/diffusion/operator.hpp"

namespace tutti {
namespace {

using Clock = std::chrono::steady_clock;

constexpr double dt = 0.1;

void check(cusparseStatus_t status) {
  if (status != CUSPARSE_STATUS_SUCCESS) fail(ErrorKind::resource, "cuSPARSE: {}", cusparseGetErrorString(status));
}

/// Seconds of one call: the best of batches that are long enough to hide the launch.
template <class F>
double time_of(Stream& stream, double seconds, const F& call) {
  constexpr int batch = 50;
  for (int k = 0; k < 10; ++k) call();
  stream.synchronize();
  double best = 1e30;
  const auto start = Clock::now();
  do {
    const auto begin = Clock::now();
    for (int k = 0; k < batch; ++k) call();
    stream.synchronize();
    best = std::min(best, std::chrono::duration<double>(Clock::now() - begin).count() / batch);
  } while (std::chrono::duration<double>(Clock::now() - start).count() < seconds);
  return best;
}

struct Printer {
  double rows, triad;
  void operator()(const std::string& name, double seconds, double bytes_a_row) const {
    fmt::print("{:<34} {:>8.4f} ms  {:>6.1f} B a row  {:>6.3f} of the triad  {:>6.3f} of P\n", name, 1e3 * seconds,
               bytes_a_row, bytes_a_row * rows / seconds / triad, 216 * rows / seconds / triad);
  }
};

/// next = (I + dt L) u as one matrix, by cuSPARSE.
class Peer {
 public:
  Peer(Stream& stream, const DiffusionRows& rows, Size ghosts)
      : stream_(stream), n_(static_cast<Size>(rows.counts.size())) {
    check(cusparseCreate(&handle_));
    check(cusparseSetStream(handle_, static_cast<cudaStream_t>(stream.native())));
    std::vector<std::int32_t> starts{0}, columns;
    std::vector<double> values;
    for (std::size_t i = 0; i < rows.counts.size(); ++i) {
      double own = 1;
      std::vector<std::pair<Lid, double>> row;
      for (std::size_t j = 0; j < rows.counts[i]; ++j) {
        row.emplace_back(rows.columns[i][j], dt * rows.values[i][j]);
        own -= dt * rows.values[i][j];
      }
      row.emplace_back(static_cast<Lid>(i), own);
      std::sort(row.begin(), row.end());
      for (const auto& [c, v] : row) {
        columns.push_back(c);
        values.push_back(v);
      }
      starts.push_back(static_cast<std::int32_t>(columns.size()));
    }
    // Slices of 32 rows, each as wide as its longest row; column -1 where there is nothing.
    constexpr std::size_t slice = 32;
    std::vector<std::int32_t> slices{0}, sell_columns;
    std::vector<double> sell_values;
    for (std::size_t first = 0; first < rows.counts.size(); first += slice) {
      const std::size_t last = std::min(rows.counts.size(), first + slice);
      std::int32_t width = 0;
      for (std::size_t i = first; i < last; ++i) width = std::max(width, starts[i + 1] - starts[i]);
      const std::size_t begin = sell_columns.size();
      sell_columns.resize(begin + static_cast<std::size_t>(width) * slice, -1);
      sell_values.resize(sell_columns.size(), 0.0);
      for (std::size_t i = first; i < last; ++i)
        for (std::int32_t k = starts[i]; k < starts[i + 1]; ++k) {
          const std::size_t at = begin + static_cast<std::size_t>(k - starts[i]) * slice + (i - first);
          sell_columns[at] = columns[static_cast<std::size_t>(k)];
          sell_values[at] = values[static_cast<std::size_t>(k)];
        }
      slices.push_back(static_cast<std::int32_t>(sell_columns.size()));
    }
    stored_ = static_cast<Size>(columns.size());
    sell_stored_ = static_cast<Size>(sell_columns.size());
    starts_ = make_buffer(stream, std::span<const std::int32_t>(starts), "starts");
    columns_ = make_buffer(stream, std::span<const std::int32_t>(columns), "columns");
    values_ = make_buffer(stream, std::span<const double>(values), "values");
    slices_ = make_buffer(stream, std::span<const std::int32_t>(slices), "slices");
    sell_columns_ = make_buffer(stream, std::span<const std::int32_t>(sell_columns), "sliced columns");
    sell_values_ = make_buffer(stream, std::span<const double>(sell_values), "sliced values");
    check(cusparseCreateCsr(&csr_, n_, n_ + ghosts, stored_, starts_.data(), columns_.data(), values_.data(),
                            CUSPARSE_INDEX_32I, CUSPARSE_INDEX_32I, CUSPARSE_INDEX_BASE_ZERO, CUDA_R_64F));
    check(cusparseCreateSlicedEll(&sell_, n_, n_ + ghosts, stored_, sell_stored_, slice, slices_.data(),
                                  sell_columns_.data(), sell_values_.data(), CUSPARSE_INDEX_32I, CUSPARSE_INDEX_32I,
                                  CUSPARSE_INDEX_BASE_ZERO, CUDA_R_64F));
  }

  void measure(const Buffer<double>& u, Buffer<double>& next, double seconds, const Printer& print) {
    cusparseDnVecDescr_t x{}, y{};
    check(cusparseCreateDnVec(&x, u.size(), const_cast<double*>(u.data()), CUDA_R_64F));
    check(cusparseCreateDnVec(&y, next.size(), next.data(), CUDA_R_64F));
    const double one = 1, zero = 0;
    const auto run = [&](const std::string& name, cusparseSpMatDescr_t matrix, cusparseSpMVAlg_t algorithm,
                         double bytes) {
      std::size_t room = 0;
      check(cusparseSpMV_bufferSize(handle_, CUSPARSE_OPERATION_NON_TRANSPOSE, &one, matrix, x, &zero, y, CUDA_R_64F,
                                    algorithm, &room));
      Buffer<char> work(stream_.device(), static_cast<Size>(std::max<std::size_t>(room, 1)), "work");
      check(cusparseSpMV_preprocess(handle_, CUSPARSE_OPERATION_NON_TRANSPOSE, &one, matrix, x, &zero, y, CUDA_R_64F,
                                    algorithm, work.data()));
      const double t = time_of(stream_, seconds, [&] {
        check(cusparseSpMV(handle_, CUSPARSE_OPERATION_NON_TRANSPOSE, &one, matrix, x, &zero, y, CUDA_R_64F, algorithm,
                           work.data()));
      });
      print(name, t, bytes);
    };
    const auto n = static_cast<double>(n_);
    run("cuSPARSE CSR, algorithm 1", csr_, CUSPARSE_SPMV_CSR_ALG1, 12.0 * static_cast<double>(stored_) / n + 20);
    run("cuSPARSE CSR, algorithm 2", csr_, CUSPARSE_SPMV_CSR_ALG2, 12.0 * static_cast<double>(stored_) / n + 20);
    run("cuSPARSE sliced ELL", sell_, CUSPARSE_SPMV_SELL_ALG1, 12.0 * static_cast<double>(sell_stored_) / n + 16);
    cusparseDestroyDnVec(x);
    cusparseDestroyDnVec(y);
  }

 private:
  Stream& stream_;
  Size n_, stored_ = 0, sell_stored_ = 0;
  cusparseHandle_t handle_{};
  cusparseSpMatDescr_t csr_{}, sell_{};
  Buffer<std::int32_t> starts_, columns_, slices_, sell_columns_;
  Buffer<double> values_, sell_values_;
};

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
  for (const Variant& v : {Variant{"rows", RowFormat::rows, Precision::full, ColumnBytes::four},
                           Variant{"blocks", RowFormat::blocks, Precision::full, ColumnBytes::four},
                           Variant{"sliced", RowFormat::sliced, Precision::full, ColumnBytes::four},
                           Variant{"sliced int16", RowFormat::sliced, Precision::full, ColumnBytes::two},
                           Variant{"blocks compact", RowFormat::blocks, Precision::compact, ColumnBytes::four},
                           Variant{"sliced compact", RowFormat::sliced, Precision::compact, ColumnBytes::four},
                           Variant{"sliced compact int16", RowFormat::sliced, Precision::compact, ColumnBytes::two}}) {
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
  Peer(*stream, rows, 0).measure(u, next, seconds, print);
}

}  // namespace
}  // namespace tutti

int main(int argc, char** argv) try {
  tutti::measure(argc > 1 ? std::atoll(argv[1]) : 110, argc > 2 ? std::atof(argv[2]) : 0.3);
} catch (const std::exception& error) {
  fmt::print(stderr, "bench_diffusion_gpu: {}\n", error.what());
  return 1;
}
