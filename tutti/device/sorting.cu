// Compiles as plain C++ without CUDA.
#include "tutti/device/sorting.hpp"

#include <algorithm>
#include <limits>
#include <numeric>
#include <vector>

#if defined(__CUDACC__)
#include <cub/device/device_radix_sort.cuh>

#include "tutti/device/cuda/check.hpp"
#endif

namespace tutti {
namespace {

#if defined(__CUDACC__)
/// Number: fewer entries are counted by narrower numbers, which is faster.
template <class Number>
KeyedValues radix_sort(Stream& stream, KeyedValues pairs, KeyedValues spare, Number count, int bits, void* scratch,
                       std::size_t& bytes) {
  const cuda::CurrentDevice current(stream.device().index());
  const auto native = static_cast<cudaStream_t>(stream.native());
  cub::DoubleBuffer<std::uint64_t> keys(pairs.keys, spare.keys);
  if (pairs.values == nullptr) {
    TUTTI_CUDA_CHECK(cub::DeviceRadixSort::SortKeys(scratch, bytes, keys, count, 0, bits, native));
    return {keys.Current(), nullptr};
  }
  cub::DoubleBuffer<std::int32_t> values(pairs.values, spare.values);
  TUTTI_CUDA_CHECK(cub::DeviceRadixSort::SortPairs(scratch, bytes, keys, values, count, 0, bits, native));
  return {keys.Current(), values.Current()};
}

KeyedValues radix_sort(Stream& stream, KeyedValues pairs, KeyedValues spare, Size count, int bits, void* scratch,
                       std::size_t& bytes) {
  if (count <= std::numeric_limits<Lid>::max())
    return radix_sort<Lid>(stream, pairs, spare, static_cast<Lid>(count), bits, scratch, bytes);
  return radix_sort<Size>(stream, pairs, spare, count, bits, scratch, bytes);
}
#endif

}  // namespace

Size sort_scratch_bytes(Stream& stream, Size count, int bits) {
  std::size_t most = 1;
#if defined(__CUDACC__)
  if (stream.kind() == DeviceKind::cuda) {
    // Where there is no scratch memory, nothing is sorted, and values only count by being there.
    std::int32_t value = 0;
    for (std::int32_t* values : {static_cast<std::int32_t*>(nullptr), &value}) {
      std::size_t bytes = 0;
      radix_sort(stream, {nullptr, values}, {nullptr, values}, count, bits, nullptr, bytes);
      most = std::max(most, bytes);
    }
  }
#endif
  static_cast<void>(stream), static_cast<void>(count), static_cast<void>(bits);
  return static_cast<Size>(most);
}

KeyedValues sort_by_key(Stream& stream, KeyedValues pairs, KeyedValues spare, Size count, int bits, void* scratch) {
  if (count == 0) return pairs;
#if defined(__CUDACC__)
  if (stream.kind() == DeviceKind::cuda) {
    auto bytes = static_cast<std::size_t>(sort_scratch_bytes(stream, count, bits));
    stream.device().counts().launches += 1;
    return radix_sort(stream, pairs, spare, count, bits, scratch, bytes);
  }
#endif
  static_cast<void>(bits), static_cast<void>(scratch);
  stream.loop({0, 1}, [=](Lid, Lid) {
    std::vector<Size> order(static_cast<std::size_t>(count));
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(), [&](Size a, Size b) { return pairs.keys[a] < pairs.keys[b]; });
    for (Size i = 0; i < count; ++i) {
      const Size from = order[static_cast<std::size_t>(i)];
      spare.keys[i] = pairs.keys[from];
      if (pairs.values != nullptr) spare.values[i] = pairs.values[from];
    }
  });
  return spare;
}

}  // namespace tutti
