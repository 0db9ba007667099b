// Both directions end in one kernel, `multiply`: a tile of tile_rows x tile_columns sums stays in registers while the
// chains run. Of its factors, one is a panel of the matrix and the other is packed from the lines, which is also where
// they are folded. The tile of sums is then unfolded into the result.
#include "tutti/models/incompressible/line_transform.hpp"

#include <algorithm>

#include "tutti/models/incompressible/lanes.hpp"

namespace tutti {
namespace {

constexpr int tile_vectors = 3;
constexpr int tile_rows = lane_registers / 4;  // 24 sums of 32 registers, or 12 of 16
template <class T>
constexpr int tile_columns = tile_vectors* lane_count<T>;
// Along x so many lines share a panel of the matrix while it is in the nearest cache.
constexpr int group_lines = 4 * tile_rows;

template <class T>
struct Tile {
  alignas(lane_bytes) T values[tile_rows][tile_columns<T>];
};

/// tile[r][c] = sum over j = 0 .. count-1, in this order, of a[r * a_row + j * a_step] b[j * tile_columns + c].
template <class T>
void multiply(const T* a, Size a_row, Size a_step, const T* b, Lid count, Tile<T>& tile) {
  Lanes<T> sums[tile_rows][tile_vectors] = {};
  for (Lid j = 0; j < count; ++j) {
    Lanes<T> right[tile_vectors];
#pragma GCC unroll 3
    for (int v = 0; v < tile_vectors; ++v) right[v] = load_lanes(b + v * lane_count<T>);
#pragma GCC unroll 8
    for (int r = 0; r < tile_rows; ++r) {
      const Lanes<T> left = all_lanes(a[r * a_row]);
#pragma GCC unroll 3
      for (int v = 0; v < tile_vectors; ++v) sums[r][v] = fused(left, right[v], sums[r][v]);
    }
    a += a_step;
    b += tile_columns<T>;
  }
#pragma GCC unroll 8
  for (int r = 0; r < tile_rows; ++r)
#pragma GCC unroll 3
    for (int v = 0; v < tile_vectors; ++v) store_lanes(tile.values[r] + v * lane_count<T>, sums[r][v]);
}

template <class T>
int panel_width(LineAxis axis) {
  return axis == LineAxis::x ? tile_columns<T> : tile_rows;
}

template <class T>
std::vector<T> panels_of(const std::vector<double>& matrix, Lid size, int width) {
  const Lid panels = (size + width - 1) / width;
  std::vector<T> values(static_cast<std::size_t>(panels) * size * width);
  for (Lid row = 0; row < size; ++row)
    for (Lid j = 0; j < size; ++j)
      values[(static_cast<std::size_t>(row / width) * size + j) * width + row % width] =
          static_cast<T>(matrix[static_cast<std::size_t>(row) * size + j]);
  return values;
}

/// One line, copied: its even and its odd half.
template <class T>
void pack_line(const LineTransformView<T>& t, const T* line, T* even, T* odd) {
  const Lid n = t.size();
  if (t.split && t.transform == Transform::to_modes) {
    for (Lid i = 0; i < t.odd; ++i) even[i] = line[i] + line[n - 1 - i];
    for (Lid i = 0; i < t.odd; ++i) odd[i] = line[i] - line[n - 1 - i];
    if (t.even > t.odd) even[t.odd] = line[t.odd];
  } else {
    std::copy_n(line, t.even, even);
    std::copy_n(line + t.even, t.odd, odd);
  }
}

/// Sums e of the even half and o of the odd half become cells first .. first + count - 1 of a line, and their mirror
/// images.
template <class T>
void unfold(const T* e, const T* o, Lid first, Lid count, Lid n, T* line) {
  for (Lid k = 0; k < count; ++k) line[n - 1 - first - k] = e[k] - o[k];
  for (Lid k = 0; k < count; ++k) line[first + k] = e[k] + o[k];
}

/// Neighbouring lines along y, one a column of a tile: line `first + c` starts at offset[c].
template <class T>
struct LineGroup {
  Size offset[tile_columns<T>];
  Lid count;
  bool together;  ///< side by side in one plane, and no place is empty

  LineGroup(Lid first, Lid end, Lid nx, Lid ny) : count(std::min<Lid>(tile_columns<T>, end - first)) {
    for (Lid c = 0; c < count; ++c) offset[c] = Size{(first + c) / nx} * nx * ny + (first + c) % nx;
    for (Lid c = count; c < tile_columns<T>; ++c) offset[c] = offset[0];
    together = count == tile_columns<T> && offset[count - 1] - offset[0] == count - 1;
  }
};

/// to[c] = use(row[offset of c]...) for rows that lie in the same plane.
template <class T, class Use, class... Rows>
void gather(const LineGroup<T>& group, T* to, const Use& use, const Rows*... rows) {
  if (group.together)
    for (int c = 0; c < tile_columns<T>; ++c) to[c] = use(rows[group.offset[0] + c]...);
  else
    for (int c = 0; c < tile_columns<T>; ++c) to[c] = use(rows[group.offset[c]]...);
}
template <class T>
void scatter(const LineGroup<T>& group, const T* from, T* row) {
  if (group.together)
    std::copy_n(from, tile_columns<T>, row + group.offset[0]);
  else
    for (Lid c = 0; c < group.count; ++c) row[group.offset[c]] = from[c];
}

template <class T>
void pack_group(const LineTransformView<T>& t, const T* in, Lid nx, const LineGroup<T>& group, T* even, T* odd) {
  const Lid n = t.size();
  const auto row = [&](Lid j) { return in + Size{j} * nx; };
  const auto at = [](T* values, Lid j) { return values + Size{j} * tile_columns<T>; };
  const auto same = [](T a) { return a; };
  if (t.split && t.transform == Transform::to_modes) {
    for (Lid j = 0; j < t.odd; ++j) {
      gather(
          group, at(even, j), [](T a, T b) { return a + b; }, row(j), row(n - 1 - j));
      gather(
          group, at(odd, j), [](T a, T b) { return a - b; }, row(j), row(n - 1 - j));
    }
    if (t.even > t.odd) gather(group, at(even, t.odd), same, row(t.odd));
  } else {
    for (Lid j = 0; j < t.even; ++j) gather(group, at(even, j), same, row(j));
    for (Lid j = 0; j < t.odd; ++j) gather(group, at(odd, j), same, row(t.even + j));
  }
}

}  // namespace

template <class T>
LineTransform<T>::LineTransform(const LineModes& modes, Transform transform, LineAxis axis)
    : transform_(transform), split_(modes.split), even_(modes.even_size()), odd_(modes.odd_size()) {
  const LineMatrix& matrix = transform == Transform::to_modes ? modes.to_modes : modes.from_modes;
  even_panels_ = panels_of<T>(matrix.even, even_, panel_width<T>(axis));
  odd_panels_ = panels_of<T>(matrix.odd, odd_, panel_width<T>(axis));
}

template <class T>
void transform_x(const LineTransformView<T>& t, const T* in, T* out, Range lines) {
  constexpr int columns = tile_columns<T>;
  const Lid n = t.size();
  const bool unfolds = t.split && t.transform == Transform::from_modes;
  const Size even_stride = t.even + 16,
             odd_stride = t.odd + 16;  // not a power of 2: lines would share a place in the cache
  std::vector<T> even(static_cast<std::size_t>(even_stride) * group_lines),
      odd(static_cast<std::size_t>(odd_stride) * group_lines);
  Tile<T> e, o;

  for (Lid first = lines.begin; first < lines.end; first += group_lines) {
    const Lid count = std::min<Lid>(group_lines, lines.end - first);
    for (Lid l = 0; l < count; ++l)
      pack_line(t, in + Size{first + l} * n, &even[l * even_stride], &odd[l * odd_stride]);

    const auto sums = [&](const std::vector<T>& half, Size stride, const T* panels, Lid size, Lid k, Lid l,
                          Tile<T>& tile) {
      multiply(&half[l * stride], stride, 1, panels + Size{k} * size, size, tile);
    };
    // Of `size` results, those from k on, of the lines from l on.
    const auto each_tile = [&](Lid size, const auto& work) {
      for (Lid k = 0; k < size; k += columns)
        for (Lid l = 0; l < count; l += tile_rows)
          work(k, std::min<Lid>(columns, size - k), l, std::min<Lid>(tile_rows, count - l));
    };
    const auto line = [&](Lid l) { return out + Size{first + l} * n; };
    if (unfolds) {
      each_tile(t.even, [&](Lid k, Lid width, Lid l, Lid height) {
        sums(even, even_stride, t.even_panels, t.even, k, l, e);
        if (k < t.odd) sums(odd, odd_stride, t.odd_panels, t.odd, k, l, o);
        const Lid pairs = std::clamp(t.odd - k, 0, width);
        for (Lid r = 0; r < height; ++r) {
          unfold(e.values[r], o.values[r], k, pairs, n, line(l + r));
          if (pairs < width) line(l + r)[t.odd] = e.values[r][pairs];
        }
      });
    } else {
      each_tile(t.even, [&](Lid k, Lid width, Lid l, Lid height) {
        sums(even, even_stride, t.even_panels, t.even, k, l, e);
        for (Lid r = 0; r < height; ++r) std::copy_n(e.values[r], width, line(l + r) + k);
      });
      each_tile(t.odd, [&](Lid k, Lid width, Lid l, Lid height) {
        sums(odd, odd_stride, t.odd_panels, t.odd, k, l, o);
        for (Lid r = 0; r < height; ++r) std::copy_n(o.values[r], width, line(l + r) + t.even + k);
      });
    }
  }
}

template <class T>
void transform_y(const LineTransformView<T>& t, const T* in, T* out, Lid nx, Range lines) {
  constexpr int columns = tile_columns<T>;
  const Lid n = t.size();
  const bool unfolds = t.split && t.transform == Transform::from_modes;
  std::vector<T> even(static_cast<std::size_t>(t.even) * columns), odd(static_cast<std::size_t>(t.odd) * columns);
  Tile<T> e, o;
  const auto sums = [](const T* panels, Lid size, Lid k, const std::vector<T>& half, Tile<T>& tile) {
    multiply(panels + Size{k} * size, 1, tile_rows, half.data(), size, tile);
  };

  for (Lid first = lines.begin; first < lines.end; first += columns) {
    const LineGroup<T> group(first, lines.end, nx, n);
    pack_group(t, in, nx, group, even.data(), odd.data());
    const auto store = [&](const T* values, Lid k) { scatter(group, values, out + Size{k} * nx); };
    for (Lid k = 0; k < t.even; k += tile_rows) {
      const Lid height = std::min<Lid>(tile_rows, t.even - k), pairs = std::clamp(t.odd - k, 0, height);
      sums(t.even_panels, t.even, k, even, e);
      if (pairs > 0) sums(t.odd_panels, t.odd, k, odd, o);
      if (!unfolds) {
        for (Lid r = 0; r < height; ++r) store(e.values[r], k + r);
        for (Lid r = 0; r < pairs; ++r) store(o.values[r], t.even + k + r);
        continue;
      }
      for (Lid r = 0; r < pairs; ++r) {
        T mirrored[columns];
        for (int c = 0; c < columns; ++c) mirrored[c] = e.values[r][c] - o.values[r][c];
        for (int c = 0; c < columns; ++c) e.values[r][c] += o.values[r][c];
        store(mirrored, n - 1 - k - r);
      }
      for (Lid r = 0; r < height; ++r) store(e.values[r], k + r);
    }
  }
}

template class LineTransform<double>;
template class LineTransform<float>;
template void transform_x(const LineTransformView<double>&, const double*, double*, Range);
template void transform_x(const LineTransformView<float>&, const float*, float*, Range);
template void transform_y(const LineTransformView<double>&, const double*, double*, Lid, Range);
template void transform_y(const LineTransformView<float>&, const float*, float*, Lid, Range);

}  // namespace tutti
