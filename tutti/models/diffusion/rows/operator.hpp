// The rows of one part on its device, in one of the storage formats, and their application.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "tutti/base/raw_vector.hpp"
#include "tutti/device/buffer.hpp"
#include "tutti/models/diffusion/diffusion_kernel.hpp"
#include "tutti/models/diffusion/rows/column_tiles.hpp"
#include "tutti/models/diffusion/scheme/scheme.hpp"
#include "tutti/residency/choose.hpp"
#include "tutti/schedule/kernels.hpp"

namespace tutti::diffusion {

/// How rows lie in memory.
enum class RowFormat : std::uint8_t {
  rows,    ///< ellpack: 16 entries a row, row after row (the paper's arrays A and I)
  blocks,  ///< ellpack: the same in transposed blocks of 128 rows (the paper's layout for GPUs)
  sliced,  ///< SELL-C-sigma: slices of C rows, as wide as their longest row; C = 8 on a CPU, 32 on a GPU
};
/// Coefficients in double, or in float ("compact"): differences and sums stay double.
enum class Precision : std::uint8_t { full, compact };

/// How `sliced` rows store their columns: in four bytes, in two (column_windows.hpp), or in ten bits
/// (column_tiles.hpp). `automatic`: on a CPU four; on other devices ten bits where nearly all tiles can, else two bytes
/// where nearly all slices can.
enum class ColumnBytes : std::uint8_t { automatic, four, two, tiles };

/// How many slices and tiles there are, and how many of them keep columns in four bytes.
struct WideColumns {
  Size slices = 0, wide_slices = 0, tiles = 0, wide_tiles = 0;
};
/// What is stored, where these are known.
ColumnBytes choose_columns(ColumnBytes wanted, bool on_host, const WideColumns& wide);

inline constexpr Lid block_rows = 128;
/// log2 of C: the rows that a vector unit, or a warp, takes at once.
inline constexpr int slice_shift(bool on_host) {
  return on_host ? 3 : 5;
}

/// Is D stored where it is zero?
bool keeps_diagonal(RowFormat format, Precision precision);

/// What the kernels see. Coefficient is double or float. Entry j of row i: `rows` values[16 i + j]; `blocks`
/// values[2048 (i/128) + 128 j + i%128]; `sliced` values[slices[i/C] + C j + i%C], width from slices.
template <class Coefficient>
struct OperatorView {
  RowFormat format = RowFormat::rows;
  const Coefficient* values = nullptr;
  const Lid* columns = nullptr;
  const double* diagonal = nullptr;  ///< d_i; null where all are 0 (keeps_diagonal)
  const Size* slices = nullptr;      ///< `sliced`: first entry of each slice, one more than slices
  int shift = 5;                     ///< `sliced`: log2 of C
  // Columns in two bytes: instead of `columns`; see ColumnWindows.
  const std::uint16_t* codes = nullptr;
  const Lid* windows = nullptr;
  const Lid* wide = nullptr;
  // Columns in ten bits: `codes` and `windows` of ColumnTiles.
  const TileHead* tiles = nullptr;
  const Lid* code_starts = nullptr;
  const std::uint16_t* externals = nullptr;
  Lid rows = 0;
};

/// Coefficients that a memory policy keeps (docs/explanation/memory.md): a row of the array is a tile of 256 rows in
/// slices that are all 16 entries wide, as `sliced` has them.
inline constexpr int held_width = tile_rows * max_row_entries;
/// Their scale, where they are integers: of four entries of 32 rows.
inline constexpr int held_group = 128;
inline constexpr Lid held_tiles(Lid rows) {
  return (rows + tile_rows - 1) / tile_rows;
}

/// The operator of one part. Device memory: `bytes()`, charged to the device's budget.
class RowOperator {
 public:
  RowOperator() = default;
  RowOperator(Stream& stream, const DiffusionRows& rows, RowFormat format, Precision precision,
              ColumnBytes column_bytes = ColumnBytes::automatic, const ParallelFor& parallel = {});

  /// Other coefficients and diagonal for the same stencil. Of rows that `change`, and are not held.
  void refill(Stream& stream, const DiffusionRows& rows, const ParallelFor& parallel = {});

  /// `sliced` rows in double whose coefficients are still on the host: hold() says where they go.
  struct Apart {};
  RowOperator(Apart, Stream& stream, const DiffusionRows& rows, ColumnBytes column_bytes,
              const ParallelFor& parallel = {});
  /// Puts the coefficients where options.policy says. `auto` times Euler steps of all rows from u to next, owned and
  /// ghost values. Then the rows can be applied; passes of one operator come from one thread. Errors: as Residency.
  std::vector<Trial> hold(Stream& stream, const ResidencyOptions& options, const double* u, double* next);
  bool waits_to_be_held() const { return !apart_.empty(); }
  /// Null: the coefficients are on the device, as all other arrays.
  const Residency* held() const { return held_.get(); }

  Lid rows() const { return rows_; }
  RowFormat format() const { return format_; }
  Precision precision() const { return precision_; }
  /// How columns are stored: never `automatic`.
  ColumnBytes columns() const {
    return !tiles_.empty() ? ColumnBytes::tiles : codes_.empty() ? ColumnBytes::four : ColumnBytes::two;
  }
  /// Of held coefficients: wherever they are.
  Size bytes() const {
    return values_.bytes() + compact_values_.bytes() + columns_.bytes() + diagonal_.bytes() + slices_.bytes() +
           codes_.bytes() + windows_.bytes() + wide_.bytes() + tiles_.bytes() + code_starts_.bytes() +
           externals_.bytes() + (held_ ? held_->layout().bytes(held_->placement().rows) : 0);
  }
  /// Bytes one application must move: the stored rows once, u once, the result once (Langguth 2015, eq. 3: 216 a row
  /// for ellpack in double).
  Size bytes_applied() const { return bytes() + 16 * static_cast<Size>(rows_); }

  /// Enqueues update(i, u_i, rate_i) for the rows, or adds that to a pass. u: owned and ghost values; forcing: owned
  /// values or null.
  template <class Update>
  void apply(Stream& stream, Range rows, const double* u, const double* forcing, const Update& update) const;
  template <class Update>
  void add(Kernels& to, const double* u, const double* forcing, const Update& update) const;
  /// The same through the portable kernel everywhere: what the tuned ones are measured against.
  void apply_portably(Stream& stream, Range rows, const double* u, const double* forcing,
                      const EulerUpdate& update) const;

 private:
  RowOperator(Stream& stream, const DiffusionRows& rows, RowFormat format, Precision precision,
              ColumnBytes column_bytes, const ParallelFor& parallel, bool apart);
  /// Columns as the format stores them; `columns` is left empty.
  void store_columns(Stream& stream, RawVector<Lid>& columns, const std::vector<Size>& slices, ColumnBytes wanted,
                     const ParallelFor& parallel);
  void store_tiles(Stream& stream, ColumnTiles&& tiles);
  template <class Coefficient>
  OperatorView<Coefficient> view(const Buffer<Coefficient>& values) const {
    return {format_,       values.data(),   columns_.data(), diagonal_.data(), slices_.data(),      shift_,
            codes_.data(), windows_.data(), wide_.data(),    tiles_.data(),    code_starts_.data(), externals_.data(),
            rows_};
  }

  RowFormat format_ = RowFormat::rows;
  Precision precision_ = Precision::full;
  Lid rows_ = 0;
  int shift_ = 5;
  Buffer<double> values_;
  Buffer<float> compact_values_;
  Buffer<Lid> columns_;
  Buffer<double> diagonal_;
  Buffer<Size> slices_;
  Buffer<std::uint16_t> codes_;
  Buffer<Lid> windows_;
  Buffer<Lid> wide_;
  Buffer<TileHead> tiles_;
  Buffer<Lid> code_starts_;
  Buffer<std::uint16_t> externals_;
  RawVector<double> apart_;  ///< until they are held
  std::unique_ptr<Residency> held_;
};

/// Entries that `rows` or `blocks` store for so many rows, padding included.
Size stored_entries(RowFormat format, Size rows);

}  // namespace tutti::diffusion
