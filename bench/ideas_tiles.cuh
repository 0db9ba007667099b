// Rows in tiles: the values of u that a tile reads are brought into shared memory once, and an entry's column is a
// number among them, in as few bits as they need.
#pragma once

#include <cuda_runtime_api.h>

#include <atomic>

#include "bench/ideas_sample.hpp"
#include "tutti/base/error.hpp"
#include "tutti/device/buffer.hpp"
#include "tutti/models/diffusion/column_windows.hpp"
#include "tutti/models/diffusion/diffusion_kernel.hpp"

namespace tutti {

/// A tile's entries: `width` a row, as long as its longest row.
struct alignas(16) Tile {
  std::uint32_t first;  ///< of its words, in units of 32 words
  std::int32_t width;
  std::int32_t externals;  ///< columns that are no rows of the tile
  std::int32_t list;       ///< where they are in `columns` or `codes`, which are twice as many
};

struct TileView {
  Lid rows;
  const Tile* tiles;
  const std::uint32_t* words;  ///< of a tile: codes, width x bits of a row in words, then values; all transposed
  const Lid* columns;          ///< of externals, ascending
  const std::uint16_t* codes;  ///< or in two bytes: as ColumnWindows
  const Lid* windows;          ///< 8 a tile; -1: columns in two halves, all low ones first
};

struct TileArrays {
  int tile_rows = 0, bits = 0;
  Lid rows = 0;
  Size tiles = 0;
  Size wide = 0;  ///< tiles with more than eight windows
  int most_externals = 0;
  Buffer<Tile> tile;
  Buffer<std::uint32_t> words;
  Buffer<Lid> columns;
  Buffer<std::uint16_t> codes;
  Buffer<Lid> windows;
  TileView view() const { return {rows, tile.data(), words.data(), columns.data(), codes.data(), windows.data()}; }
  double bytes_a_row(bool narrow) const {
    const Size list = narrow ? codes.bytes() + windows.bytes() : columns.bytes();
    return static_cast<double>(tile.bytes() + words.bytes() + list) / rows + 16;
  }
};

/// Rounds in which a tile's threads fetch its externals.
constexpr int fetch_rounds(int tile_rows, int bits) {
  return (1 << bits) / tile_rows - 1;
}

/// False: a tile's columns need more bits, or its externals more than eight windows.
inline bool make_tiles(Stream& stream, const DiffusionRows& rows, int tile_rows, int bits, bool compact,
                       TileArrays& out) {
  out = {};
  out.tile_rows = tile_rows;
  out.bits = bits;
  out.rows = static_cast<Lid>(rows.counts.size());
  const Size n = out.rows;
  out.tiles = (n + tile_rows - 1) / tile_rows;
  std::vector<std::vector<Lid>> externals(static_cast<std::size_t>(out.tiles));
  std::vector<Tile> tiles(static_cast<std::size_t>(out.tiles));
  std::vector<char> wide(static_cast<std::size_t>(out.tiles), 0);
  std::atomic<Size> failed{0};
  const auto words_of = [&](int width) { return (width * bits + 31) / 32 + width * (compact ? 1 : 2); };
  for_all(out.tiles, [&](Size t) {
    auto& e = externals[static_cast<std::size_t>(t)];
    Tile& tile = tiles[static_cast<std::size_t>(t)];
    tile.width = 0;
    const Size begin = t * tile_rows, end = std::min(n, begin + tile_rows);
    for (Size i = begin; i < end; ++i) {
      const auto r = static_cast<std::size_t>(i);
      tile.width = std::max<int>(tile.width, rows.counts[r]);
      for (const Lid c : rows.columns[r])
        if (c < begin || c >= end) e.push_back(c);
    }
    std::sort(e.begin(), e.end());
    e.erase(std::unique(e.begin(), e.end()), e.end());
    tile.externals = static_cast<std::int32_t>(e.size());
    const bool fits = tile.externals + tile_rows <= (1 << bits);
    if (!fits || tile.width < 12) ++failed;
    WindowSet set;
    for (const Lid c : e)
      if (set.find(c) < 0) {
        wide[static_cast<std::size_t>(t)] = 1;
        break;
      }
  });
  if (failed > 0) {
    fmt::print("tiles of {} rows, {} bits: {} of {} do not fit\n", tile_rows, bits, failed.load(), out.tiles);
    return false;
  }
  Size first = 0, list = 0;
  for (Tile& tile : tiles) {
    tile.first = static_cast<std::uint32_t>(first);
    tile.list = static_cast<std::int32_t>(list);
    first += static_cast<Size>(words_of(tile.width)) * tile_rows / 32;
    list += tile.externals * (wide[static_cast<std::size_t>(&tile - tiles.data())] != 0 ? 2 : 1);
    out.wide += wide[static_cast<std::size_t>(&tile - tiles.data())];
    out.most_externals = std::max<int>(out.most_externals, tile.externals);
  }
  std::vector<std::uint32_t> words(static_cast<std::size_t>(first * 32), 0U);
  std::vector<Lid> columns(static_cast<std::size_t>(list)), windows(static_cast<std::size_t>(out.tiles) * 8);
  std::vector<std::uint16_t> codes(columns.size());
  for_all(out.tiles, [&](Size t) {
    const auto& e = externals[static_cast<std::size_t>(t)];
    const Tile& tile = tiles[static_cast<std::size_t>(t)];
    WindowSet set;
    for (std::size_t k = 0; k < e.size(); ++k) {
      const std::size_t at = static_cast<std::size_t>(tile.list) + k;
      columns[at] = e[k];
      if (wide[static_cast<std::size_t>(t)] == 0) {
        const int window = set.find(e[k]);
        codes[at] = static_cast<std::uint16_t>(window << window_bits | (e[k] & ((1 << window_bits) - 1)));
      } else {
        codes[at] = static_cast<std::uint16_t>(e[k] & 0xffff);
        codes[at + e.size()] = static_cast<std::uint16_t>(e[k] >> 16);
      }
    }
    std::copy(set.begins().begin(), set.begins().end(), windows.begin() + t * 8);
    if (wide[static_cast<std::size_t>(t)] != 0) windows[static_cast<std::size_t>(t) * 8] = -1;
    const Size begin = t * tile_rows, end = std::min(n, begin + tile_rows);
    const int code_words = (tile.width * bits + 31) / 32;
    std::uint32_t* to = words.data() + static_cast<std::size_t>(tile.first) * 32;
    for (Size i = begin; i < end; ++i)
      for (int j = 0; j < tile.width; ++j) {
        const Size lane = i - begin;
        const auto r = static_cast<std::size_t>(i);
        const Lid column = rows.columns[r][static_cast<std::size_t>(j)];
        std::uint64_t code = static_cast<std::uint64_t>(column - begin);
        if (column < begin || column >= end)
          code = static_cast<std::uint64_t>(std::lower_bound(e.begin(), e.end(), column) - e.begin() + tile_rows);
        code <<= j * bits % 32;
        const int word = j * bits / 32;
        to[word * tile_rows + lane] |= static_cast<std::uint32_t>(code);
        if (code >> 32 != 0) to[(word + 1) * tile_rows + lane] |= static_cast<std::uint32_t>(code >> 32);
        const double value = rows.values[r][static_cast<std::size_t>(j)];
        if (compact)
          reinterpret_cast<float*>(to)[(code_words + j) * tile_rows + lane] = static_cast<float>(value);
        else
          reinterpret_cast<double*>(to + code_words * tile_rows)[j * tile_rows + lane] = value;
      }
  });
  fmt::print("tiles of {} rows, {} bits: {} of {} have more than 8 windows\n", tile_rows, bits, out.wide, out.tiles);
  out.tile = make_buffer(stream, std::span<const Tile>(tiles), "tiles");
  out.words = make_buffer(stream, std::span<const std::uint32_t>(words), "words");
  out.columns = make_buffer(stream, std::span<const Lid>(columns), "externals");
  out.codes = make_buffer(stream, std::span<const std::uint16_t>(codes), "externals (two bytes)");
  out.windows = make_buffer(stream, std::span<const Lid>(windows), "windows");
  return true;
}

#if defined(__CUDACC__)

/// How a tile's words are read: as a stream that leaves the caches to others, or so that L2 keeps them.
enum class Touch { stream, keep, last };
/// How u is read: through L1, or from L2 (what other multiprocessors wrote in the same launch).
enum class ReadU { cached, shared };

template <Touch touch, class T>
__device__ inline T read_word(const T* from) {
  if constexpr (touch == Touch::stream) return __ldcs(from);
  if constexpr (touch == Touch::last) {
    std::uint64_t policy;
    asm volatile("createpolicy.fractional.L2::evict_last.b64 %0, 1.0;" : "=l"(policy));
    if constexpr (sizeof(T) == 8) {
      double value;
      asm volatile("ld.global.L1::no_allocate.L2::cache_hint.f64 %0, [%1], %2;" : "=d"(value) : "l"(from), "l"(policy));
      return static_cast<T>(value);
    } else if constexpr (std::is_same_v<T, float>) {
      float value;
      asm volatile("ld.global.L1::no_allocate.L2::cache_hint.f32 %0, [%1], %2;" : "=f"(value) : "l"(from), "l"(policy));
      return value;
    } else {
      std::uint32_t value;
      asm volatile("ld.global.L1::no_allocate.L2::cache_hint.u32 %0, [%1], %2;" : "=r"(value) : "l"(from), "l"(policy));
      return value;
    }
  }
  return __ldcg(from);
}

template <ReadU read>
__device__ inline double read_u(const double* from) {
  return read == ReadU::shared ? __ldcg(from) : __ldg(from);
}

template <int tile_rows>
__device__ inline void tile_barrier() {
  if constexpr (tile_rows <= 32)
    __syncwarp();
  else
    __syncthreads();
}

/// The rate's sum of the tile's row `lane`, `width` entries; `local` is room for the tile's and the externals' u.
template <int width, int tile_rows, int bits, bool narrow, Touch touch, ReadU read, class Coefficient>
__device__ inline double tile_sum(const TileView& view, const Tile& tile, Lid t, int lane, const double* u,
                                  double* local, double own) {
  constexpr int rounds = fetch_rounds(tile_rows, bits), code_words = (width * bits + 31) / 32;
  Lid column[rounds];
  if constexpr (narrow) {
    const Lid window = __ldg(view.windows + static_cast<Size>(t) * 8 + lane % 8);
    int code[rounds];
#pragma unroll
    for (int k = 0; k < rounds; ++k)
      code[k] = lane + k * tile_rows < tile.externals ? __ldcs(view.codes + tile.list + lane + k * tile_rows) : 0;
    if (__shfl_sync(~0U, window, 0) < 0) {
#pragma unroll
      for (int k = 0; k < rounds; ++k)
        column[k] = lane + k * tile_rows < tile.externals
                        ? code[k] | __ldcs(view.codes + tile.list + tile.externals + lane + k * tile_rows) << 16
                        : 0;
    } else {
#pragma unroll
      for (int k = 0; k < rounds; ++k)
        column[k] = __shfl_sync(~0U, window, code[k] >> window_bits) + (code[k] & ((1 << window_bits) - 1));
    }
  } else {
#pragma unroll
    for (int k = 0; k < rounds; ++k)
      column[k] = lane + k * tile_rows < tile.externals ? __ldcs(view.columns + tile.list + lane + k * tile_rows) : 0;
  }
  const std::uint32_t* words = view.words + static_cast<Size>(tile.first) * 32 + lane;
  std::uint32_t packed[code_words + 1];
  Coefficient a[width];
#pragma unroll
  for (int k = 0; k < code_words; ++k) packed[k] = read_word<touch>(words + k * tile_rows);
  packed[code_words] = 0;
  const auto* values = reinterpret_cast<const Coefficient*>(words - lane + code_words * tile_rows) + lane;
#pragma unroll
  for (int j = 0; j < width; ++j) a[j] = read_word<touch>(values + j * tile_rows);
  double fetched[rounds];
#pragma unroll
  for (int k = 0; k < rounds; ++k)
    if (lane + k * tile_rows < tile.externals) fetched[k] = read_u<read>(u + column[k]);
  local[lane] = own;
#pragma unroll
  for (int k = 0; k < rounds; ++k)
    if (lane + k * tile_rows < tile.externals) local[tile_rows + lane + k * tile_rows] = fetched[k];
  tile_barrier<tile_rows>();
  RowSum sum;
#pragma unroll
  for (int j = 0; j < width; ++j) {
    const std::uint32_t code =
        __funnelshift_r(packed[j * bits / 32], packed[j * bits / 32 + 1], j * bits % 32) & ((1U << bits) - 1);
    sum.part[j % 4] = add_term(static_cast<double>(a[j]), local[code], own, sum.part[j % 4]);
  }
  return sum.total();
}

/// tile_sum for the tile's width. Narrower tiles than 12 occur in no sample.
template <int most, int tile_rows, int bits, bool narrow, Touch touch, ReadU read, class Coefficient>
__device__ inline double tile_sum_of(const TileView& view, const Tile& tile, Lid t, int lane, const double* u,
                                     double* local, double own) {
  if constexpr (most >= 12) {
    if (tile.width == most)
      return tile_sum<most, tile_rows, bits, narrow, touch, read, Coefficient>(view, tile, t, lane, u, local, own);
    return tile_sum_of<most - 1, tile_rows, bits, narrow, touch, read, Coefficient>(view, tile, t, lane, u, local, own);
  } else {
    __trap();
  }
}

/// One Euler step of tile t by its tile_rows threads.
template <int tile_rows, int bits, bool narrow, Touch touch, ReadU read, class Coefficient>
__device__ inline void step_tile(const TileView& view, Lid t, int lane, const double* u, double* next, double dt,
                                 double* local) {
  const int4 raw = __ldg(reinterpret_cast<const int4*>(view.tiles) + t);
  const Tile tile{static_cast<std::uint32_t>(raw.x), raw.y, raw.z, raw.w};
  const Lid i = t * tile_rows + lane;
  const double own = i < view.rows ? read_u<read>(u + i) : 0.0;
  const double sum = tile_sum_of<max_row_entries, tile_rows, bits, narrow, touch, read, Coefficient>(
      view, tile, t, lane, u, local, own);
  if (i < view.rows) next[i] = std::fma(dt, row_rate(sum, 0.0, own, nullptr, i), own);
}

template <int tile_rows, int blocks, int bits, bool narrow, class Coefficient>
__global__ void __launch_bounds__(tile_rows < 64 ? 128 : tile_rows, blocks)
    tiles_kernel(TileView view, int room, const double* u, double* next, double dt) {
  extern __shared__ double shared_u[];
  const int tiles_here = tile_rows < 64 ? 4 : 1, mine = static_cast<int>(threadIdx.x) / tile_rows;
  const Lid t = static_cast<Lid>(blockIdx.x) * tiles_here + mine;
  if (t * static_cast<Size>(tile_rows) >= view.rows) return;
  step_tile<tile_rows, bits, narrow, Touch::stream, ReadU::cached, Coefficient>(
      view, t, static_cast<int>(threadIdx.x) % tile_rows, u, next, dt, shared_u + mine * room);
}

#endif

}  // namespace tutti
