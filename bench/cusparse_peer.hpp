// Matrices by cuSPARSE: what kernels of rows are measured against.
#pragma once

#include <cuda_runtime_api.h>
#include <cusparse.h>

#include <algorithm>
#include <span>
#include <utility>
#include <vector>

#include "bench/gpu_timing.hpp"
#include "tutti/base/error.hpp"
#include "tutti/device/buffer.hpp"
#include "tutti/models/diffusion/scheme/scheme.hpp"

namespace tutti {

/// A matrix as cuSPARSE takes it: rows one after the other, columns ascending in each.
struct CsrMatrix {
  std::vector<std::int32_t> starts{0}, columns;
  std::vector<double> values;

  void add_row(std::vector<std::pair<Lid, double>>& row) {
    std::sort(row.begin(), row.end());
    for (const auto& [c, v] : row) {
      columns.push_back(c);
      values.push_back(v);
    }
    starts.push_back(static_cast<std::int32_t>(columns.size()));
  }
};

/// I + dt L.
inline CsrMatrix step_matrix(const diffusion::DiffusionRows& rows, double dt) {
  CsrMatrix matrix;
  for (std::size_t i = 0; i < rows.counts.size(); ++i) {
    double own = 1;
    std::vector<std::pair<Lid, double>> row;
    for (std::size_t j = 0; j < rows.counts[i]; ++j) {
      row.emplace_back(rows.columns[i][j], dt * rows.values[i][j]);
      own -= dt * rows.values[i][j];
    }
    row.emplace_back(static_cast<Lid>(i), own);
    matrix.add_row(row);
  }
  return matrix;
}

/// next = A u by cuSPARSE.
class CusparsePeer {
 public:
  CusparsePeer(Stream& stream, const CsrMatrix& matrix, Size ghosts)
      : stream_(stream), n_(static_cast<Size>(matrix.starts.size()) - 1) {
    check(cusparseCreate(&handle_));
    check(cusparseSetStream(handle_, static_cast<cudaStream_t>(stream.native())));
    const auto& [starts, columns, values] = matrix;
    const auto rows = static_cast<std::size_t>(n_);
    // Slices of 32 rows, each as wide as its longest row; column -1 where there is nothing.
    constexpr std::size_t slice = 32;
    std::vector<std::int32_t> slices{0}, sell_columns;
    std::vector<double> sell_values;
    for (std::size_t first = 0; first < rows; first += slice) {
      const std::size_t last = std::min(rows, first + slice);
      std::int32_t width = 0;
      for (std::size_t i = first; i < last; ++i) width = std::max(width, starts[i + 1] - starts[i]);
      const std::size_t begin = sell_columns.size();
      sell_columns.resize(begin + static_cast<std::size_t>(width) * slice, -1);
      sell_values.resize(sell_columns.size(), 0.0);
      for (std::size_t i = first; i < last; ++i)
        for (std::int32_t k = starts[i]; k < starts[i + 1]; ++k) {
          const std::size_t at = begin + static_cast<std::size_t>(k - starts[i]) * slice + (i - first);
          sell_columns[at] = columns[k];
          sell_values[at] = values[k];
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

  CusparsePeer(const CusparsePeer&) = delete;
  CusparsePeer& operator=(const CusparsePeer&) = delete;
  ~CusparsePeer() {
    cusparseDestroySpMat(csr_);
    cusparseDestroySpMat(sell_);
    cusparseDestroy(handle_);
  }

  /// Seconds of the fastest. print(name, seconds, bytes a row) is called for each.
  template <class Print>
  double measure(const Buffer<double>& u, Buffer<double>& next, double seconds, const Print& print) {
    double best = 1e30;
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
      best = std::min(best, t);
    };
    const auto n = static_cast<double>(n_);
    run("cuSPARSE CSR, algorithm 1", csr_, CUSPARSE_SPMV_CSR_ALG1, 12.0 * static_cast<double>(stored_) / n + 20);
    run("cuSPARSE CSR, algorithm 2", csr_, CUSPARSE_SPMV_CSR_ALG2, 12.0 * static_cast<double>(stored_) / n + 20);
    run("cuSPARSE sliced ELL", sell_, CUSPARSE_SPMV_SELL_ALG1, 12.0 * static_cast<double>(sell_stored_) / n + 16);
    cusparseDestroyDnVec(x);
    cusparseDestroyDnVec(y);
    return best;
  }

 private:
  static void check(cusparseStatus_t status) {
    if (status != CUSPARSE_STATUS_SUCCESS) fail(ErrorKind::resource, "cuSPARSE: {}", cusparseGetErrorString(status));
  }

  Stream& stream_;
  Size n_, stored_ = 0, sell_stored_ = 0;
  cusparseHandle_t handle_{};
  cusparseSpMatDescr_t csr_{}, sell_{};
  Buffer<std::int32_t> starts_, columns_, slices_, sell_columns_;
  Buffer<double> values_, sell_values_;
};

}  // namespace tutti
