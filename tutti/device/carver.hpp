// Many arrays cut from one allocation: an allocation on a GPU takes longer than a short kernel.
#pragma once

#include "tutti/base/types.hpp"

namespace tutti {

/// Arrays one after the other, each at a multiple of 256 bytes. Without memory it only counts: lay out the arrays once
/// to find the bytes, and again in a buffer of so many.
struct Carver {
  std::byte* memory = nullptr;
  Size bytes = 0;

  template <class T>
  T* take(Size count) {
    T* array = memory == nullptr ? nullptr : reinterpret_cast<T*>(memory + bytes);
    bytes += (count * static_cast<Size>(sizeof(T)) + 255) / 256 * 256;
    return array;
  }
};

}  // namespace tutti
