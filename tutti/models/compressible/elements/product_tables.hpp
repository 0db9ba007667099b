// Makes the tables of LaneProducts.
#pragma once

#include <functional>
#include <vector>

#include "tutti/models/compressible/kernels/lane_products.hpp"

namespace tutti::compressible {

class ProductTables {
 public:
  /// A table as values x[term][row] are summed, k from 0 on: place(k) is where x has the k-th. All rows are set, also
  /// those without a factor other than zero, unless `added`.
  LaneProduct add(int rows, int terms, const std::function<double(int k, int row)>& factor,
                  const std::function<int(int k)>& place, bool added);

  std::vector<ProductBlock> blocks;
  std::vector<std::uint16_t> terms;
  std::vector<double> factors;
};

}  // namespace tutti::compressible
