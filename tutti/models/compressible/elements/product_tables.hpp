// Makes the tables of LaneProducts.
#pragma once

#include <functional>
#include <vector>

#include "tutti/models/compressible/kernels/lane_products.hpp"

namespace tutti::compressible {

class ProductTables {
 public:
  /// Of y[row] = sum over k < count of factor(k, row) x[place(k)], in the order of k. Rows whose factors all are zero
  /// are left out where the sums are `added` to what y has; else they are set to zero.
  LaneProduct add(int rows, int count, const std::function<double(int k, int row)>& factor,
                  const std::function<int(int k)>& place, bool added);

  std::vector<ProductBlock> blocks;
  std::vector<std::uint16_t> terms;
  std::vector<double> factors;
};

}  // namespace tutti::compressible
