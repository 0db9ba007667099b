#include "tutti/simulation/model.hpp"

namespace tutti {

std::vector<PartSeconds> part_seconds(const Model& model) {
  std::vector<PartSeconds> sum;
  for (const Step* schedule : model.schedules()) {
    const std::vector<PartSeconds>& one = schedule->seconds();
    sum.resize(one.size());
    for (std::size_t p = 0; p < one.size(); ++p) sum[p] += one[p];
  }
  return sum;
}

}  // namespace tutti
