// How a kernel reads rows, in whatever form they are stored: one accessor a format, all with the same interface.
//
//   const auto row = rows.row(r);      // r is the number of the row in the whole array
//   row(i)                             // value i
//   row.load4(i, out)                  // values i .. i + 3, i a multiple of 4: one load, or one block of zfp
//   row.load4_unscaled(i, out)         // the same without the factor row.scale(i), which a group of values shares:
//                                      // a kernel that sums over a group may apply it to the sum
//
// Values beyond the width of a row can be loaded, and are finite. All are trivially copyable: kernels hold them by
// value.
#pragma once

#include <cstddef>
#include <cstring>
#include <type_traits>

#include "tutti/base/error.hpp"
#include "tutti/base/types.hpp"
#include "tutti/residency/row_layout.hpp"
#include "tutti/residency/zfp_short_block.hpp"

namespace tutti {
namespace detail {

/// Reads memory that is used once: it should not push other data out of a GPU's caches.
template <class T>
TUTTI_HD inline T load_once(const void* from) {
#if defined(__CUDA_ARCH__)
  return __ldcs(static_cast<const T*>(from));
#else
  T value;
  std::memcpy(&value, from, sizeof value);
  return value;
#endif
}

#if defined(__CUDACC__)
using Double2 = double2;
using Float4 = float4;
using Int4 = int4;
using Short4 = short4;
#else
struct Double2 {
  double x, y;
};
struct Float4 {
  float x, y, z, w;
};
struct Int4 {
  int x, y, z, w;
};
struct Short4 {
  short x, y, z, w;
};
#endif

TUTTI_HD inline double from_int(int v) {
  return zfp::detail::to_double(static_cast<std::uint32_t>(v));
}

}  // namespace detail

/// Where stored rows lie: row r at data + (r - first) * row_bytes.
struct StoredRows {
  const std::byte* data = nullptr;
  Size row_bytes = 0;
  Lid first = 0;
  int stride = 0;
  int group = 0;                         ///< integers
  int block_bits = 0;                    ///< zfp
  const std::uint16_t* table = nullptr;  ///< zfp; a kernel may point it to a copy in faster memory

  TUTTI_HD const std::byte* at(Lid row) const { return data + static_cast<Size>(row - first) * row_bytes; }
};

struct DoubleRow {
  const double* values;
  TUTTI_HD double operator()(int i) const { return values[i]; }
  TUTTI_HD static double scale(int) { return 1; }
  TUTTI_HD void load4(int i, double out[4]) const {
    const auto a = detail::load_once<detail::Double2>(values + i),
               b = detail::load_once<detail::Double2>(values + i + 2);
    out[0] = a.x, out[1] = a.y, out[2] = b.x, out[3] = b.y;
  }
  TUTTI_HD void load4_unscaled(int i, double out[4]) const { load4(i, out); }
};

struct FloatRow {
  const float* values;
  TUTTI_HD double operator()(int i) const { return values[i]; }
  TUTTI_HD static double scale(int) { return 1; }
  TUTTI_HD void load4(int i, double out[4]) const {
    const auto a = detail::load_once<detail::Float4>(values + i);
    out[0] = a.x, out[1] = a.y, out[2] = a.z, out[3] = a.w;
  }
  TUTTI_HD void load4_unscaled(int i, double out[4]) const { load4(i, out); }
};

/// Integers of 4 or 2 bytes, times the scale of their group.
template <class Int, class Int4>
struct IntegerRow {
  const Int* values;
  const double* scales;
  int group, stride;
  TUTTI_HD double scale(int i) const { return scales[group == stride ? 0 : i / group]; }
  TUTTI_HD double operator()(int i) const { return scale(i) * detail::from_int(values[i]); }
  TUTTI_HD void load4_unscaled(int i, double out[4]) const {
    const auto a = detail::load_once<Int4>(values + i);
    out[0] = detail::from_int(a.x), out[1] = detail::from_int(a.y);
    out[2] = detail::from_int(a.z), out[3] = detail::from_int(a.w);
  }
  TUTTI_HD void load4(int i, double out[4]) const {
    load4_unscaled(i, out);
    const double factor = scale(i);
    for (int k = 0; k < 4; ++k) out[k] *= factor;
  }
};

/// A stream of zfp's blocks.
struct ZfpRow {
  const std::uint32_t* words;
  const std::uint16_t* table;
  int block_bits;

  TUTTI_HD static double scale(int) { return 1; }
  /// Decodes a whole block for one value.
  TUTTI_HD double operator()(int i) const {
    double four[4];
    load4(i & ~3, four);
    return four[i & 3];
  }
  TUTTI_HD void load4_unscaled(int i, double out[4]) const { load4(i, out); }
  TUTTI_HD void load4(int i, double out[4]) const {
    const Size begin = static_cast<Size>(i / 4) * block_bits;
    if (block_bits <= 128) {
      std::uint32_t w[4];
      load_short(begin, w);
      zfp::decode_short_block(w, block_bits, table, out);
      return;
    }
    zfp::Block block;
    for (int k = 0; 64 * k < block_bits; ++k)
      block.word[k] = static_cast<std::uint64_t>(bits(begin + 64 * k + 32, block_bits - 64 * k - 32)) << 32 |
                      bits(begin + 64 * k, block_bits - 64 * k);
    zfp::decode_block(block, block_bits, table, out);
  }

  /// The first `count` bits from `begin` on, 32 at most.
  TUTTI_HD std::uint32_t bits(Size begin, int count) const {
    if (count <= 0) return 0;
    const Size w = begin >> 5;
    const int shift = static_cast<int>(begin & 31);
    std::uint64_t both = words[w];
    if (shift != 0 && shift + count > 32) both |= static_cast<std::uint64_t>(words[w + 1]) << 32;
    const auto found = static_cast<std::uint32_t>(both >> shift);
    return count < 32 ? found & ((std::uint32_t{1} << count) - 1) : found;
  }

  /// A block of up to 128 bits.
  TUTTI_HD void load_short(Size begin, std::uint32_t w[4]) const {
#if defined(__CUDA_ARCH__)
    if (block_bits == 128) {
      const uint4 all = __ldcs(reinterpret_cast<const uint4*>(words + (begin >> 5)));
      w[0] = all.x, w[1] = all.y, w[2] = all.z, w[3] = all.w;
      return;
    }
    if (block_bits == 64) {
      const uint2 both = __ldcs(reinterpret_cast<const uint2*>(words + (begin >> 5)));
      w[0] = both.x, w[1] = both.y, w[2] = w[3] = 0;
      return;
    }
#endif
    for (int k = 0; k < 4; ++k) w[k] = bits(begin + 32 * k, block_bits - 32 * k);
  }
};

/// The accessors. `rows(r, i)` is value i of row r.
template <ValueFormat stored, class Row>
struct RowsOf : StoredRows {
  static constexpr ValueFormat format = stored;
  TUTTI_HD Row row(Lid r) const {
    if constexpr (stored == ValueFormat::doubles)
      return {reinterpret_cast<const double*>(at(r))};
    else if constexpr (stored == ValueFormat::floats)
      return {reinterpret_cast<const float*>(at(r))};
    else if constexpr (stored == ValueFormat::zfp)
      return {reinterpret_cast<const std::uint32_t*>(at(r)), table, block_bits};
    else
      return integers(at(r));
  }
  TUTTI_HD double operator()(Lid r, int i) const { return row(r)(i); }

 private:
  TUTTI_HD Row integers(const std::byte* begin) const {
    constexpr int size = stored == ValueFormat::int32 ? 4 : 2;
    using Int = std::conditional_t<stored == ValueFormat::int32, int, short>;
    return {reinterpret_cast<const Int*>(begin), reinterpret_cast<const double*>(begin + size * stride), group, stride};
  }
};

using DoubleRows = RowsOf<ValueFormat::doubles, DoubleRow>;
using FloatRows = RowsOf<ValueFormat::floats, FloatRow>;
using Int32Rows = RowsOf<ValueFormat::int32, IntegerRow<int, detail::Int4>>;
using Int16Rows = RowsOf<ValueFormat::int16, IntegerRow<short, detail::Short4>>;
using ZfpRows = RowsOf<ValueFormat::zfp, ZfpRow>;

/// Accessors that a kernel is made for. All: any format can be read.
template <class... Rows>
struct RowKinds {};
using AllRows = RowKinds<DoubleRows, FloatRows, Int32Rows, Int16Rows, ZfpRows>;

/// f(accessor) with the accessor of the format. A kernel that is not made for it is a mistake in the program.
template <class... Rows, class F>
void with_rows(RowKinds<Rows...>, ValueFormat format, const StoredRows& rows, const F& f) {
  const bool found = ((Rows::format == format && (f(Rows{rows}), true)) || ...);
  require(found, "a kernel reads rows in a format that it is not made for");
}

}  // namespace tutti
