#include "tutti/residency/row_codec.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include "tutti/base/error.hpp"
#include "tutti/residency/row_access.hpp"

namespace tutti {
namespace {

/// value = integer * scale, within half a scale. The largest of a group becomes the largest integer.
template <class Int>
void encode_integers(const RowLayout& layout, const double* values, std::byte* to) {
  constexpr double most = std::numeric_limits<Int>::max();
  for (int g = 0; g < layout.groups(); ++g) {
    const int begin = g * layout.group, end = std::min(begin + layout.group, layout.stride);
    double largest = 0;
    for (int i = begin; i < end; ++i) largest = std::max(largest, std::abs(values[i]));
    const double scale = largest / most;
    for (int i = begin; i < end; ++i) {
      // Scales of denormal numbers are rough or zero: what does not fit is cut off.
      const double q = scale > 0 ? std::clamp(std::nearbyint(values[i] / scale), -most, most) : 0;
      const auto integer = static_cast<Int>(q);
      std::memcpy(to + static_cast<Size>(sizeof integer) * i, &integer, sizeof integer);
    }
    std::memcpy(to + static_cast<Size>(sizeof(Int)) * layout.stride + 8 * static_cast<Size>(g), &scale, sizeof scale);
  }
}

void encode_zfp(const RowLayout& layout, const double* values, std::byte* to) {
  const int bits = layout.block_bits();
  std::vector<std::uint64_t> words(layout.row_bytes / 8);
  for (int i = 0; i < layout.stride; i += 4) {
    zfp::Block block;
    zfp::encode_block(values + i, bits, block);
    const Size begin = static_cast<Size>(i / 4) * bits;
    for (int k = 0; 64 * k < bits; ++k) {
      const auto w = static_cast<std::size_t>(begin / 64 + k);
      const auto shift = static_cast<int>(begin % 64);
      words[w] |= block.word[k] << shift;
      if (shift > 0 && w + 1 < words.size()) words[w + 1] |= block.word[k] >> (64 - shift);
    }
  }
  std::memcpy(to, words.data(), words.size() * 8);
}

/// `values`: stride of them.
void encode_row(const RowLayout& layout, const double* values, std::byte* to) {
  switch (layout.format) {
    case ValueFormat::doubles:
      std::memcpy(to, values, 8 * static_cast<std::size_t>(layout.stride));
      return;
    case ValueFormat::floats:
      for (int i = 0; i < layout.stride; ++i) {
        const auto value = static_cast<float>(values[i]);
        std::memcpy(to + 4 * static_cast<Size>(i), &value, sizeof value);
      }
      return;
    case ValueFormat::int32:
      return encode_integers<std::int32_t>(layout, values, to);
    case ValueFormat::int16:
      return encode_integers<std::int16_t>(layout, values, to);
    case ValueFormat::zfp:
      return encode_zfp(layout, values, to);
  }
}

/// Values beyond the width: for zfp what libzfp puts there, so that its blocks are the same; zeros else.
void fill_up(const RowLayout& layout, double* values) {
  for (int i = layout.width; i < layout.stride; ++i)
    values[i] = layout.format != ValueFormat::zfp ? 0 : i % 4 == 3 ? values[i - 3] : values[i - 1];
}

void check_values(const RowLayout& layout, const std::string& name, Lid row, const double* values) {
  const double most =
      layout.format == ValueFormat::floats ? std::numeric_limits<float>::max() : std::numeric_limits<double>::max();
  for (int i = 0; i < layout.width; ++i)
    if (!(std::abs(values[i]) <= most))
      fail(ErrorKind::numerical,
           "'{}': value {} of row {} is {}, which {} cannot hold; choose residency.format = \"double\"", name, i, row,
           values[i], layout.name());
}

SquaredLoss loss_of(const RowLayout& layout, const double* values, const std::byte* stored) {
  StoredRows rows{stored, layout.row_bytes, 0, layout.stride, layout.group, layout.block_bits(), host_plane_table()};
  SquaredLoss loss;
  with_rows(AllRows{}, layout.format, rows, [&](const auto& access) {
    const auto row = access.row(0);
    for (int i = 0; i < layout.width; i += 4) {
      double four[4];
      row.load4(i, four);
      for (int k = 0; k < 4 && i + k < layout.width; ++k) {
        const double lost = four[k] - values[i + k];
        loss.lost += lost * lost;
        loss.values += values[i + k] * values[i + k];
      }
    }
  });
  return loss;
}

}  // namespace

double SquaredLoss::relative() const {
  return lost == 0 ? 0 : std::sqrt(lost / values);
}

const std::uint16_t* host_plane_table() {
  static const auto table = [] {
    std::array<std::uint16_t, zfp::table_size> t{};
    zfp::fill_plane_table(t.data());
    return t;
  }();
  return table.data();
}

void encode_rows(const RowLayout& layout, const std::string& name, Lid first, std::span<const double> values,
                 std::span<std::byte> bytes, SquaredLoss& loss, const ParallelFor& parallel) {
  const auto width = static_cast<std::size_t>(layout.width);
  const Size rows = static_cast<Size>(values.size() / width);
  require(static_cast<Size>(bytes.size()) == layout.bytes(rows), "'{}': {} bytes for {} rows", name, bytes.size(),
          rows);
  std::vector<SquaredLoss> losses(is_exact(layout.format) ? 0 : static_cast<std::size_t>(rows));
  for_ranges(parallel, rows, [&](Size begin, Size end) {
    std::vector<double> row(layout.stride);
    for (Size r = begin; r < end; ++r) {
      std::copy_n(values.begin() + static_cast<std::ptrdiff_t>(r * layout.width), width, row.begin());
      fill_up(layout, row.data());
      std::byte* const to = bytes.data() + layout.bytes(r);
      if (losses.empty()) {
        encode_row(layout, row.data(), to);
        continue;
      }
      check_values(layout, name, first + static_cast<Lid>(r), row.data());
      encode_row(layout, row.data(), to);
      losses[r] = loss_of(layout, row.data(), to);
    }
  });
  for (const SquaredLoss& row : losses) loss.lost += row.lost, loss.values += row.values;
}

}  // namespace tutti
