#include "tutti/models/compressible/elements/monomials.hpp"

#include <array>
#include <map>

namespace tutti::compressible {

std::vector<std::uint8_t> make_monomials(int order) {
  using Powers = std::array<int, 3>;
  std::vector<Powers> all;
  std::map<Powers, std::size_t> number;
  for (int total = 0; total <= order; ++total)
    for (int i = total; i >= 0; --i)
      for (int j = total - i; j >= 0; --j) {
        number[{i, j, total - i - j}] = all.size();
        all.push_back({i, j, total - i - j});
      }
  const std::size_t n = all.size();
  std::vector<std::uint8_t> table(Monomials::entries * n, 0);
  for (std::size_t k = 0; k < n; ++k)
    for (std::size_t d = 0; d < 3; ++d) {
      Powers lower = all[k], higher = all[k];
      ++higher[d];
      const auto there = number.find(higher);
      table[(6 + d) * n + k] = there == number.end() ? Monomials::none : static_cast<std::uint8_t>(there->second);
      table[d * n + k] = static_cast<std::uint8_t>(lower[d]);
      --lower[d];
      const auto found = number.find(lower);
      table[(3 + d) * n + k] = found == number.end() ? Monomials::none : static_cast<std::uint8_t>(found->second);
    }
  return table;
}

}  // namespace tutti::compressible
