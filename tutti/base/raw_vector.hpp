// Large arrays that are written by many threads: what resize adds is not touched before.
#pragma once

#include <cstddef>
#include <cstdlib>
#include <memory>
#include <new>
#include <type_traits>
#include <utility>
#include <vector>

namespace tutti {

/// Memory for large arrays, to be freed with std::free: begins at a multiple of 64 bytes; from 2 MiB on it is in pages
/// of that size, where the system has them. Null: none is left.
void* allocate_large(std::size_t bytes) noexcept;

/// Leaves elements that are made without a value as they are. Pages of memory are then given by the system to the
/// thread that writes them first, and by all threads at once: zeros from one thread cost more than most loops do.
template <class T>
struct RawAllocator {
  static_assert(std::is_trivially_copyable_v<T> && std::is_trivially_destructible_v<T>);
  using value_type = T;
  RawAllocator() = default;
  template <class U>
  explicit RawAllocator(const RawAllocator<U>&) noexcept {}

  T* allocate(std::size_t count) {
    void* memory = allocate_large(count * sizeof(T));
    if (memory == nullptr) throw std::bad_alloc();
    return static_cast<T*>(memory);
  }
  void deallocate(T* memory, std::size_t) noexcept { std::free(memory); }
  template <class U>
  void construct(U*) noexcept {}
  template <class U, class... Args>
  void construct(U* at, Args&&... args) {
    std::construct_at(at, std::forward<Args>(args)...);
  }
  friend bool operator==(const RawAllocator&, const RawAllocator&) { return true; }
};

template <class T>
using RawVector = std::vector<T, RawAllocator<T>>;

}  // namespace tutti
