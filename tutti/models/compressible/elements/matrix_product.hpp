// Products of small matrices on the host, for set-up.
#pragma once

#include <algorithm>

#include "tutti/models/compressible/kernels/products.hpp"
#include "tutti/models/compressible/kernels/view.hpp"

namespace tutti::compressible {

/// Which half of a matrix is above its diagonal and left out: of none, of x (zeros), of y (not wanted).
enum class Lower : std::uint8_t { none, x, y };

/// y[i][j] += sum_k x[i][k] table[k][j], j < columns, a multiple of 4: rows are taken five at a time.
inline void add_matrix_product(const double* table, int stride, int k_count, const double* x, int x_stride, int rows,
                               int columns, double* y, int y_stride, Lower lower = Lower::none) {
  const auto add = [&](auto together, int i) {
    constexpr int count = decltype(together)::value;
    add_product<count>(SerialTeam(), table, stride, lower == Lower::x ? std::min(k_count, i + count) : k_count,
                       x + i * x_stride, x_stride, lower == Lower::y ? std::min(columns, padded(i + count)) : columns,
                       y + i * y_stride, y_stride);
  };
  int i = 0;
  for (; i + 5 <= rows; i += 5) add(std::integral_constant<int, 5>(), i);
  for (; i < rows; ++i) add(std::integral_constant<int, 1>(), i);
}

}  // namespace tutti::compressible
