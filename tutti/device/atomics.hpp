// Atomic operations on memory of a device, the same on every device: relaxed, for whole numbers whose result does not
// depend on the order.
#pragma once

#include "tutti/base/types.hpp"

namespace tutti {

/// What was there before.
TUTTI_HD inline std::int32_t add_atomic(std::int32_t& to, std::int32_t amount) {
#ifdef __CUDA_ARCH__
  return atomicAdd(&to, amount);
#else
  return __atomic_fetch_add(&to, amount, __ATOMIC_RELAXED);
#endif
}
TUTTI_HD inline std::int64_t add_atomic(std::int64_t& to, std::int64_t amount) {
#ifdef __CUDA_ARCH__
  return static_cast<std::int64_t>(
      atomicAdd(reinterpret_cast<unsigned long long*>(&to), static_cast<unsigned long long>(amount)));
#else
  return __atomic_fetch_add(&to, amount, __ATOMIC_RELAXED);
#endif
}
TUTTI_HD inline std::int32_t exchange_atomic(std::int32_t& to, std::int32_t value) {
#ifdef __CUDA_ARCH__
  return atomicExch(&to, value);
#else
  return __atomic_exchange_n(&to, value, __ATOMIC_RELAXED);
#endif
}
/// `value` is put where `expected` is found.
TUTTI_HD inline std::int32_t replace_atomic(std::int32_t& to, std::int32_t expected, std::int32_t value) {
#ifdef __CUDA_ARCH__
  return atomicCAS(&to, expected, value);
#else
  __atomic_compare_exchange_n(&to, &expected, value, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
  return expected;
#endif
}
TUTTI_HD inline void raise_atomic(std::uint64_t& to, std::uint64_t value) {
#ifdef __CUDA_ARCH__
  atomicMax(reinterpret_cast<unsigned long long*>(&to), static_cast<unsigned long long>(value));
#else
  std::uint64_t before = __atomic_load_n(&to, __ATOMIC_RELAXED);
  while (before < value &&
         !__atomic_compare_exchange_n(&to, &before, value, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
  }
#endif
}
TUTTI_HD inline std::int32_t load_atomic(const std::int32_t& from) {
#ifdef __CUDA_ARCH__
  return *static_cast<const volatile std::int32_t*>(&from);
#else
  return __atomic_load_n(&from, __ATOMIC_RELAXED);
#endif
}
TUTTI_HD inline void store_atomic(std::int32_t& to, std::int32_t value) {
#ifdef __CUDA_ARCH__
  *static_cast<volatile std::int32_t*>(&to) = value;
#else
  __atomic_store_n(&to, value, __ATOMIC_RELAXED);
#endif
}

}  // namespace tutti
