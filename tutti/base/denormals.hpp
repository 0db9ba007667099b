// Numbers too small for a float's exponent, which most CPUs compute with a hundred times slower than with others.
#pragma once

#include <type_traits>

#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

namespace tutti {

/// While it lives, this thread takes denormal floats for 0, and makes 0 of results that would be such; only for T =
/// float, and only on x86-64. Fields that spread from a wall into fluid at rest fall below 1e-38 within fifty cells.
/// GPU code that is to have the same bits is compiled with -ftz=true. Doubles are left alone: they need seven times as
/// many cells, and a GPU cannot do it.
template <class T>
class FlushDenormals {
 public:
#if defined(__x86_64__)
  FlushDenormals() : before_(std::is_same_v<T, float> ? _mm_getcsr() : 0) {
    constexpr unsigned flush_to_zero = 0x8000, denormals_are_zeros = 0x0040;
    if constexpr (std::is_same_v<T, float>) _mm_setcsr(before_ | flush_to_zero | denormals_are_zeros);
  }
  ~FlushDenormals() {
    if constexpr (std::is_same_v<T, float>) _mm_setcsr(before_);
  }
#else
  FlushDenormals() = default;
  ~FlushDenormals() = default;
#endif
  FlushDenormals(const FlushDenormals&) = delete;
  FlushDenormals& operator=(const FlushDenormals&) = delete;

 private:
#if defined(__x86_64__)
  unsigned before_;
#endif
};

}  // namespace tutti
