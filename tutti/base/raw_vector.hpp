// Large arrays that are written by many threads: what resize adds is not touched before.
#pragma once

#include <memory>
#include <type_traits>
#include <utility>
#include <vector>

namespace tutti {

/// Leaves elements that are made without a value as they are. Pages of memory are then given by the system to the
/// thread that writes them first, and by all threads at once: zeros from one thread cost more than most loops do.
template <class T>
struct RawAllocator : std::allocator<T> {
  static_assert(std::is_trivially_copyable_v<T> && std::is_trivially_destructible_v<T>);
  template <class U>
  struct rebind {
    using other = RawAllocator<U>;
  };
  RawAllocator() = default;
  template <class U>
  explicit RawAllocator(const RawAllocator<U>&) noexcept {}
  template <class U>
  void construct(U*) noexcept {}
  template <class U, class... Args>
  void construct(U* at, Args&&... args) {
    std::construct_at(at, std::forward<Args>(args)...);
  }
};

template <class T>
using RawVector = std::vector<T, RawAllocator<T>>;

}  // namespace tutti
