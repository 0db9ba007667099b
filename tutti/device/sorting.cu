// Compiles as plain C++ without CUDA.
#include "tutti/device/sorting.hpp"

#include <algorithm>
#include <numeric>
#include <vector>

#if defined(__CUDACC__)
#include <cub/device/device_radix_sort.cuh>

#include "tutti/device/cuda/check.hpp"
#endif

namespace tutti {
namespace {

#if defined(__CUDACC__)
KeyedValues radix_sort(Stream& stream, KeyedValues pairs, KeyedValues spare, Lid count, int bits, void* scratch,
                       std::size_t& bytes) {
  const cuda::CurrentDevice current(stream.device().index());
  cub::DoubleBuffer<std::uint64_t> keys(pairs.keys, spare.keys);
  cub::DoubleBuffer<std::int32_t> values(pairs.values, spare.values);
  TUTTI_CUDA_CHECK(cub::DeviceRadixSort::SortPairs(scratch, bytes, keys, values, count, 0, bits,
                                                   static_cast<cudaStream_t>(stream.native())));
  return {keys.Current(), values.Current()};
}
#endif

}  // namespace

Size sort_scratch_bytes(Stream& stream, Lid count, int bits) {
  std::size_t bytes = 0;
#if defined(__CUDACC__)
  if (stream.kind() == DeviceKind::cuda) radix_sort(stream, {}, {}, count, bits, nullptr, bytes);
#endif
  static_cast<void>(stream), static_cast<void>(count), static_cast<void>(bits);
  return std::max<Size>(1, static_cast<Size>(bytes));
}

KeyedValues sort_by_key(Stream& stream, KeyedValues pairs, KeyedValues spare, Lid count, int bits, void* scratch) {
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
    std::vector<Lid> order(static_cast<std::size_t>(count));
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(), [&](Lid a, Lid b) { return pairs.keys[a] < pairs.keys[b]; });
    for (Lid i = 0; i < count; ++i) {
      const Lid from = order[static_cast<std::size_t>(i)];
      spare.keys[i] = pairs.keys[from];
      spare.values[i] = pairs.values[from];
    }
  });
  return spare;
}

}  // namespace tutti
