// 32-bit arrays as a graph library wants them.
#pragma once

#include <cstdint>
#include <span>
#include <type_traits>
#include <vector>

namespace tutti {

/// Reads `values` as numbers of type Index: in place where Index is 32 bits wide, through a copy where it is not. The
/// libraries take pointers to non-const and do not write.
template <class Index>
class LibraryIndices {
 public:
  explicit LibraryIndices(std::span<const std::int32_t> values) {
    if constexpr (std::is_same_v<Index, std::int32_t>) {
      data_ = const_cast<std::int32_t*>(values.data());
    } else {
      copy_.assign(values.begin(), values.end());
      data_ = copy_.data();
    }
  }
  Index* data() { return data_; }

 private:
  std::vector<Index> copy_;
  Index* data_ = nullptr;
};

}  // namespace tutti
