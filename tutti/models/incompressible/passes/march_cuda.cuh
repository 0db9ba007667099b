// What GPU kernels share whose threads march through planes of a box: how many planes a block takes, values that are
// moved together, and which of them a thread has.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <limits>
#include <type_traits>

#include "tutti/device/cuda/launch.hpp"
#include "tutti/device/cuda/shared_memory.hpp"
#include "tutti/device/device.hpp"
#include "tutti/models/incompressible/flow_kernel.hpp"

namespace tutti::incompressible {

/// Planes that a block marches over.
inline constexpr Lid fewest_march_planes = 4, max_march_planes = 128;

/// How many planes of `planes` a block should take, at most `most`, or twice as many where all blocks then run at a
/// time, if blocks of a plane are `blocks`, `slots` of them run at a time and each reads `extra` planes more: the
/// choice whose last blocks end first.
inline Lid planes_to_march(Gid blocks, Lid planes, Gid slots, Lid extra, Lid most = max_march_planes) {
  const Lid fewest = std::min(fewest_march_planes, most);
  Lid best = planes;
  Gid least = std::numeric_limits<Gid>::max();
  for (Lid pieces = 1; pieces <= planes; ++pieces) {
    const Lid each = (planes + pieces - 1) / pieces;
    if (each < fewest && pieces > 1) break;
    const Gid waves = (blocks * ((planes + each - 1) / each) + slots - 1) / slots, time = waves * (each + extra);
    if (each > most && pieces < planes && (waves > 1 || each > 2 * most)) continue;
    if (time < least) {
      least = time;
      best = each;
    }
  }
  return best;
}

inline int multiprocessors(const Device& device) {
  int count = 0;
  TUTTI_CUDA_CHECK(cudaDeviceGetAttribute(&count, cudaDevAttrMultiProcessorCount, device.index()));
  return count;
}

namespace detail {

/// Values that are moved together.
template <class T, int count>
struct WideType {
  using Type = T;
};
template <>
struct WideType<float, 2> {
  using Type = float2;
};
template <>
struct WideType<float, 4> {
  using Type = float4;
};
template <>
struct WideType<double, 2> {
  using Type = double2;
};
template <class T, int count>
inline constexpr int wide_count = count* static_cast<int>(sizeof(T)) > 16 ? 16 / static_cast<int>(sizeof(T)) : count;
template <class T, int count>
using Wide = typename WideType<T, wide_count<T, count>>::Type;

/// `count` values at an address that is a multiple of their size, or of 16 bytes; through the read-only cache.
template <int count, class T>
__device__ inline void load_aligned(const T* from, T* to) {
#pragma unroll
  for (int c = 0; c < count; c += wide_count<T, count>) {
    const Wide<T, count> v = __ldg(reinterpret_cast<const Wide<T, count>*>(from + c));
    std::memcpy(to + c, &v, sizeof v);
  }
}
/// The same of values that are read once: they leave the caches to others.
template <int count, class T>
__device__ inline void stream_aligned(const T* from, T* to) {
#pragma unroll
  for (int c = 0; c < count; c += wide_count<T, count>) {
    const Wide<T, count> v = __ldcs(reinterpret_cast<const Wide<T, count>*>(from + c));
    std::memcpy(to + c, &v, sizeof v);
  }
}
template <int count, class T>
__device__ inline void store_aligned(T* to, const T* values) {
#pragma unroll
  for (int c = 0; c < count; c += wide_count<T, count>) {
    Wide<T, count> v;
    std::memcpy(&v, values + c, sizeof v);
    *reinterpret_cast<Wide<T, count>*>(to + c) = v;
  }
}
/// Of a row beside: it is aligned to pairs only.
template <int count, class T>
__device__ inline void load_beside(const T* from, T* to) {
  constexpr int pair = count > 1 ? 2 : 1;
#pragma unroll
  for (int c = 0; c < count; c += pair) load_aligned<pair>(from + c, to + c);
}

}  // namespace detail

/// How a kernel is cut whose threads take groups of a row. cells: of a group, 1, 2 or 4; threads: of a block; resident:
/// blocks that a multiprocessor shall hold, which limits registers; planes: the most that a block marches over; extra:
/// those that it reads besides. Few planes are best, and fewer the more arrays a pass has: blocks drift apart, and what
/// they read at a time should lie in few places of the memory.
template <int cells_, int threads_, int resident_, int planes_, int extra_>
struct RowTuning {
  static constexpr int cells = cells_, threads = threads_, resident = resident_, planes = planes_, extra = extra_;
};

/// The cells of a plane of the box as groups of values that lie together in memory, aligned to their number. Each row
/// has all groups that hold a cell of it or one beside its ends, so that a neighbour in x is in the group or in that of
/// the next thread; a group at the end of a row may hold values of others.
struct RowGroups {
  Lid per_row;  ///< the most that one row has

  RowGroups(const CellBox& box, const BoxArray& array, int cells) : per_row(0) {
    // Where a row begins in a group comes again after `cells` rows at most.
    for (Lid j = 0; j < std::min<Lid>(box.size(1), cells); ++j) {
      const Lid begin = first(box, array, j);
      per_row = std::max(per_row, (begin + box.size(0) + 1) / cells - begin / cells + 1);
    }
  }
  /// Number in its plane of the value before the first cell of the box's j-th row.
  static __host__ __device__ Lid first(const CellBox& box, const BoxArray& array, Lid j) {
    return (box.lower[1] - array.stored.lower[1] + j) * array.row() + box.lower[0] - array.stored.lower[0] - 1;
  }
  unsigned blocks(const CellBox& box, int threads) const {
    return static_cast<unsigned>((Gid{per_row} * box.size(1) + threads - 1) / threads);
  }
};

/// Can groups of `cells` be moved together? The arrays at which they are have to be aligned, and rows to pairs.
template <class T>
bool can_move_groups(const BoxArray& array, int cells, std::initializer_list<const T*> arrays) {
  const std::size_t together = std::min<std::size_t>(sizeof(T) * cells, 16);
  for (const T* values : arrays)
    if (reinterpret_cast<std::uintptr_t>(values) % together != 0) return false;
  return array.row() % 2 == 0 && array.plane() % cells == 0;
}

/// Boxes that are marched over: those where it is faster than a thread a cell, or all.
enum class MarchWhere : std::uint8_t { faster, anywhere };

/// The blocks of a launch.
struct RowLaunch {
  RowGroups groups;
  unsigned blocks;  ///< of a plane
  Gid slots;        ///< that run at a time
  Lid planes;       ///< a block
};
template <class Tuning>
RowLaunch row_launch(const Device& device, const CellBox& box, const BoxArray& array) {
  const RowGroups groups(box, array, Tuning::cells);
  const unsigned blocks = groups.blocks(box, Tuning::threads);
  const Gid slots = Gid{multiprocessors(device)} * Tuning::resident;
  return {groups, blocks, slots, planes_to_march(blocks, box.size(2), slots, Tuning::extra, Tuning::planes)};
}

/// Is a march over a box faster than a thread a cell? Where blocks are busy for much of their time: not in layers that
/// other parts wait for, nor in boxes with too few cells for all multiprocessors.
template <class Tuning>
bool worth_a_march(const Device& device, const CellBox& box, const BoxArray& array) {
  constexpr double busy = 0.35;
  const RowLaunch launch = row_launch<Tuning>(device, box, array);
  const Gid pieces = (box.size(2) + launch.planes - 1) / launch.planes;
  const Gid waves = (launch.blocks * pieces + launch.slots - 1) / launch.slots;
  const Gid could = waves * launch.slots * (launch.planes + Tuning::extra) * Tuning::threads * Tuning::cells;
  return static_cast<double>(box.cells()) > busy * static_cast<double>(could);
}

/// Enqueues `kernel` (see cuda/launch.hpp), which has threads march through the planes of a box; a block has `shared`
/// bytes of shared memory.
template <class Tuning, class Pass>
void launch_rows(Stream& stream, const CellBox& box, const Pass& pass, void (*kernel)(CellBox, Pass, RowGroups, Lid),
                 std::size_t shared = 0) {
  const RowLaunch launch = row_launch<Tuning>(stream.device(), box, pass.g.array);
  const dim3 grid(launch.blocks, static_cast<unsigned>((box.size(2) + launch.planes - 1) / launch.planes));
  const cuda::CurrentDevice current(stream.device().index());
  cuda::allow_shared_memory(kernel, shared);
  cuda::launch(stream, kernel, grid, Tuning::threads, shared, box, pass, launch.groups, launch.planes);
}

/// Enqueues a pass whose threads march; false: nothing was done, for values cannot be moved together, the GPU has not
/// the shared memory, or by `where`. arrays: those of which it moves groups; equal_x: lengths along x are one;
/// kernel_of(equal): its kernel; shared: bytes of its blocks' shared memory.
template <class Tuning, class T, class Pass, class KernelOf>
bool march_rows(Stream& stream, const CellBox& box, const Pass& pass, bool equal_x, MarchWhere where,
                std::initializer_list<const T*> arrays, const KernelOf& kernel_of, std::size_t shared = 0) {
  if (box.empty() || !can_move_groups<T>(pass.g.array, Tuning::cells, arrays)) return false;
  if (shared > cuda::most_shared_memory(stream.device().index())) return false;
  if (where == MarchWhere::faster && !worth_a_march<Tuning>(stream.device(), box, pass.g.array)) return false;
  launch_rows<Tuning>(stream, box, pass, equal_x ? kernel_of(std::true_type{}) : kernel_of(std::false_type{}), shared);
  return true;
}

namespace detail {

/// A thread's group.
template <int cells>
struct MarchGroup {
  Lid at;               ///< number of its first value in a plane
  Lid i, j;             ///< that cell
  unsigned inside = 0;  ///< a bit for each of the box's cells; none where the row has no such group

  __device__ MarchGroup(const RowGroups& groups, const CellBox& box, const BoxArray& array, Lid number) {
    const Lid line = number / groups.per_row, rows = box.size(1);
    const Lid begin = RowGroups::first(box, array, min(line, rows - 1));
    const Lid mine = (begin / cells + number - line * groups.per_row) * cells,
              last = (begin + box.size(0) + 1) / cells * cells;
    at = min(mine, last);
    i = box.lower[0] + at - begin - 1;
    j = box.lower[1] + min(line, rows - 1);
    if (line >= rows || mine > last) return;
#pragma unroll
    for (int c = 0; c < cells; ++c)
      if (i + c >= box.lower[0] && i + c < box.upper[0]) inside |= 1U << c;
  }
  template <class T>
  __device__ void store(T* to, const T* values) const {
    if (inside == (1U << cells) - 1) {
      store_aligned<cells>(to, values);
      return;
    }
#pragma unroll
    for (int c = 0; c < cells; ++c)
      if ((inside >> c & 1) != 0) to[c] = values[c];
  }
};

/// The planes of the box that a block marches over.
struct MarchPlanes {
  Lid first, end;
  __device__ MarchPlanes(const CellBox& box, Lid planes)
      : first(box.lower[2] + static_cast<Lid>(blockIdx.y) * planes), end(min(first + planes, box.upper[2])) {}
};

/// A thread of a kernel that marches: its group, the planes that its block takes, and where it begins.
template <class Tuning>
struct MarchThread {
  MarchGroup<Tuning::cells> own;
  MarchPlanes range;
  int lane;
  Lid plane;  ///< values from one plane to the next
  Lid first;  ///< number of the group's first value in the first plane

  __device__ MarchThread(const CellBox& box, const BoxArray& array, const RowGroups& groups, Lid planes)
      : own(groups, box, array, static_cast<Lid>(blockIdx.x * Tuning::threads + threadIdx.x)),
        range(box, planes),
        lane(static_cast<int>(threadIdx.x % 32)),
        plane(array.plane()),
        first((range.first - array.stored.lower[2]) * plane + own.at) {}
};

/// Lengths along x around a group, `equal`: one for all cells. Cells beyond the array take those of its last ones.
template <class T, int cells, bool equal>
class LengthsAlongX {
 public:
  __device__ LengthsAlongX(const LineMetric<T>& line, const BoxArray& array, Lid i) {
    const auto stored = [&](Lid cell) { return min(max(cell, array.stored.lower[0]), array.stored.upper[0] - 1); };
#pragma unroll
    for (int c = 0; c < (equal ? 1 : cells + 1); ++c) {
      width_[c] = line.width(stored(i + c));
      distance_[c] = line.distance(stored(i + c - 1));
      if (c < cells) share_[c] = line.lower_share(stored(i + c));
    }
  }
  /// Of cell c, from 0 to `cells`.
  __device__ T width(int c) const {
    return width_[equal ? 0 : c];
  }
  /// From cell c - 1 to cell c.
  __device__ T distance(int c) const {
    return distance_[equal ? 0 : c];
  }
  __device__ T share(int c) const {
    return share_[equal ? 0 : c];
  }

 private:
  static constexpr int count = equal ? 1 : cells + 1;
  T width_[count], distance_[count], share_[equal ? 1 : cells];
};

/// Lengths of one cell along another direction, and those of its neighbours that a face needs.
template <class T>
struct LengthsAcross {
  T width, next_width, distance_below, distance, lower, upper;
  __device__ LengthsAcross(const LineMetric<T>& line, Lid i)
      : width(line.width(i)),
        next_width(line.width(i + 1)),
        distance_below(line.distance(i - 1)),
        distance(line.distance(i)),
        lower(line.lower_share(i)),
        upper(T(1) - lower) {}
};

/// What the threads beside have of a row: the neighbour's last value, or first one. A warp's first thread has `edge`
/// instead, the value before its own; its last thread has there the one behind its own.
template <class T, int cells>
__device__ inline T west_of(const T (&row)[cells], T edge, int lane) {
  const T beside = __shfl_up_sync(~0U, row[cells - 1], 1);
  return lane == 0 ? edge : beside;
}
template <class T, int cells>
__device__ inline T east_of(const T (&row)[cells], T edge, int lane) {
  const T beside = __shfl_down_sync(~0U, row[0], 1);
  return lane == 31 ? edge : beside;
}
/// Where `edge` is of a row that begins at `row`.
template <int cells, class T>
__device__ inline T load_edge(const T* row, int lane) {
  return lane == 0 ? __ldg(row - 1) : lane == 31 ? __ldg(row + cells) : T(0);
}

}  // namespace detail
}  // namespace tutti::incompressible
