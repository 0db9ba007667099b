// A group of lines is packed (which is where they are folded), multiplied, and unpacked (unfolded). Both axes share the
// kernel, `multiply`: a tile of tile_rows x tile_columns sums stays in registers while the chains run. Of its factors
// one is a panel of the matrix and the other packed lines. What does not fill a tile is computed and not unpacked.
#include "tutti/models/incompressible/pressure/direct/line_transform.hpp"

#include <algorithm>

#include "tutti/models/incompressible/pressure/direct/fast_transform.hpp"
#include "tutti/models/incompressible/pressure/direct/lanes.hpp"

namespace tutti::incompressible {
namespace {

// 16 sums of 32 registers or 12 of 16: enough chains to hide the latency of one, and tiles that fill lines of 2^k
// cells.
constexpr int tile_vectors = 2;
constexpr int tile_rows = lane_registers == 32 ? 8 : 6;
template <class T>
constexpr int tile_columns = tile_vectors* lane_count<T>;
// So many lines along x, and a panel of the matrix, stay in the nearest cache together.
constexpr int group_lines = 2 * tile_rows;

/// to[r * to_row + c] = sum over j = 0 .. count-1, in this order, of a[r * a_row + j * a_step] b[j * tile_columns + c].
template <class T>
void multiply(const T* a, Size a_row, Size a_step, const T* b, Lid count, T* to, Size to_row) {
  Lanes<T> sums[tile_rows][tile_vectors] = {};
  for (Lid j = 0; j < count; ++j) {
    Lanes<T> right[tile_vectors];
#pragma GCC unroll 2
    for (int v = 0; v < tile_vectors; ++v) right[v] = load_lanes(b + v * lane_count<T>);
#pragma GCC unroll 8
    for (int r = 0; r < tile_rows; ++r) {
      const Lanes<T> left = all_lanes(a[r * a_row]);
#pragma GCC unroll 2
      for (int v = 0; v < tile_vectors; ++v) sums[r][v] = fused(left, right[v], sums[r][v]);
    }
    a += a_step;
    b += tile_columns<T>;
  }
#pragma GCC unroll 8
  for (int r = 0; r < tile_rows; ++r)
#pragma GCC unroll 2
    for (int v = 0; v < tile_vectors; ++v) store_lanes(to + r * to_row + v * lane_count<T>, sums[r][v]);
}

template <class T>
int panel_width(LineAxis axis) {
  return axis == LineAxis::x ? tile_columns<T> : tile_rows;
}
Size rounded_up(Size count, int multiple) {
  return (count + multiple - 1) / multiple * multiple;
}

template <class T>
RawVector<T> panels_of(const std::vector<double>& matrix, Lid size, int width) {
  RawVector<T> values(static_cast<std::size_t>(rounded_up(size, width) * size), T{0});
  for (Lid row = 0; row < size; ++row)
    for (Lid j = 0; j < size; ++j)
      values[(static_cast<std::size_t>(row / width) * size + j) * width + row % width] =
          static_cast<T>(matrix[static_cast<std::size_t>(row) * size + j]);
  return values;
}

template <class T>
bool folds(const LineTransformView<T>& t) {
  return t.split && t.transform == Transform::to_modes;
}
template <class T>
bool unfolds(const LineTransformView<T>& t) {
  return t.split && t.transform == Transform::from_modes;
}

/// The two halves of a group of lines, before and after they are multiplied.
template <class T>
struct Halves {
  RawVector<T> even, odd;
  Halves(Size even_size, Size odd_size)
      : even(static_cast<std::size_t>(even_size), T{0}), odd(static_cast<std::size_t>(odd_size), T{0}) {}
};

template <class T>
void pack_line(const LineTransformView<T>& t, const T* __restrict line, T* __restrict even, T* __restrict odd) {
  if (folds(t)) {
    const T* last = line + t.size() - 1;
    for (Lid i = 0; i < t.odd; ++i) {
      const T a = line[i], b = last[-i];
      even[i] = a + b;
      odd[i] = a - b;
    }
    if (t.even > t.odd) even[t.odd] = line[t.odd];
  } else {
    std::copy_n(line, t.even, even);
    std::copy_n(line + t.even, t.odd, odd);
  }
}

template <class T>
void unpack_line(const LineTransformView<T>& t, const T* __restrict even, const T* __restrict odd, T* __restrict line) {
  if (unfolds(t)) {
    T* __restrict last = line + t.size() - 1;  // its half of the line is not the other's
    for (Lid i = 0; i < t.odd; ++i) {
      const T e = even[i], o = odd[i];
      line[i] = e + o;
      last[-i] = e - o;
    }
    if (t.even > t.odd) line[t.odd] = even[t.odd];
  } else {
    std::copy_n(even, t.even, line);
    std::copy_n(odd, t.odd, line + t.even);
  }
}

/// How a loop over the lines of a group reads and writes: many lanes at a time, or one number.
template <class T>
struct InLanes {
  Lanes<T> load(const T* from) const { return load_lanes(from); }
  void store(T* to, Lanes<T> value) const { store_lanes(to, value); }
};
template <class T>
struct OneByOne {
  T load(const T* from) const { return *from; }
  void store(T* to, T value) const { *to = value; }
};

/// Neighbouring lines along y, one a column of a tile: line `first + c` starts at offset[c].
template <class T>
struct LineGroup {
  Size offset[tile_columns<T>];
  Lid count;
  bool together;  ///< side by side in one plane, and as many as a tile takes

  LineGroup(Lid first, Lid end, Lid nx, Lid ny) : count(std::min<Lid>(tile_columns<T>, end - first)) {
    for (Lid c = 0; c < count; ++c) offset[c] = Size{(first + c) / nx} * nx * ny + (first + c) % nx;
    together = count == tile_columns<T> && offset[count - 1] - offset[0] == count - 1;
  }
  /// work(access, place in a row of a plane, column of the tile)
  template <class Work>
  void each(const Work& work) const {
    if (together)
      for (int c = 0; c < tile_columns<T>; c += lane_count<T>) work(InLanes<T>{}, offset[0] + c, c);
    else
      for (Lid c = 0; c < count; ++c) work(OneByOne<T>{}, offset[c], c);
  }
};

template <class T>
void pack_group(const LineTransformView<T>& t, const T* in, Lid nx, const LineGroup<T>& group, Halves<T>& halves) {
  const auto copy = [&](Lid j, T* to) {
    const T* row = in + Size{j} * nx;
    group.each([&](auto access, Size at, int c) { access.store(to + c, access.load(row + at)); });
  };
  T *even = halves.even.data(), *odd = halves.odd.data();
  if (folds(t)) {
    for (Lid j = 0; j < t.odd; ++j, even += tile_columns<T>, odd += tile_columns<T>) {
      const T *row = in + Size{j} * nx, *mirrored = in + Size{t.size() - 1 - j} * nx;
      group.each([&](auto access, Size at, int c) {
        const auto a = access.load(row + at), b = access.load(mirrored + at);
        access.store(even + c, a + b);
        access.store(odd + c, a - b);
      });
    }
    if (t.even > t.odd) copy(t.odd, even);
  } else {
    for (Lid j = 0; j < t.even; ++j) copy(j, even + Size{j} * tile_columns<T>);
    for (Lid j = 0; j < t.odd; ++j) copy(t.even + j, odd + Size{j} * tile_columns<T>);
  }
}

template <class T>
void unpack_group(const LineTransformView<T>& t, const Halves<T>& halves, const LineGroup<T>& group, T* out, Lid nx) {
  const auto copy = [&](const T* from, Lid j) {
    T* row = out + Size{j} * nx;
    group.each([&](auto access, Size at, int c) { access.store(row + at, access.load(from + c)); });
  };
  const T *even = halves.even.data(), *odd = halves.odd.data();
  if (unfolds(t)) {
    for (Lid j = 0; j < t.odd; ++j, even += tile_columns<T>, odd += tile_columns<T>) {
      T *row = out + Size{j} * nx, *mirrored = out + Size{t.size() - 1 - j} * nx;
      group.each([&](auto access, Size at, int c) {
        const auto e = access.load(even + c), o = access.load(odd + c);
        access.store(row + at, e + o);
        access.store(mirrored + at, e - o);
      });
    }
    if (t.even > t.odd) copy(even, t.odd);
  } else {
    for (Lid j = 0; j < t.even; ++j) copy(even + Size{j} * tile_columns<T>, j);
    for (Lid j = 0; j < t.odd; ++j) copy(odd + Size{j} * tile_columns<T>, t.even + j);
  }
}

}  // namespace

template <class T>
LineTransform<T>::LineTransform(const LineModes& modes, Transform transform, LineAxis axis)
    : transform_(transform), split_(modes.split), even_(modes.even_size()), odd_(modes.odd_size()) {
  if (modes.fast.size > 0) {
    fast_ = RoundedFastLine<T>(transform == Transform::to_modes ? modes.fast : transposed(modes.fast));
    return;
  }
  const LineMatrix& matrix = transform == Transform::to_modes ? modes.to_modes : modes.from_modes;
  even_panels_ = panels_of<T>(matrix.even, even_, panel_width<T>(axis));
  odd_panels_ = panels_of<T>(matrix.odd, odd_, panel_width<T>(axis));
}

template <class T>
void transform_x(const LineTransformView<T>& t, const T* in, T* out, Range lines) {
  if (t.fast.points > 0) return fast_transform_x(t.fast, in, out, lines);
  constexpr int columns = tile_columns<T>;
  const Lid n = t.size();
  // Not powers of 2: lines would share a place in the cache.
  const Size even_stride = rounded_up(t.even, columns) + columns, odd_stride = rounded_up(t.odd, columns) + columns;
  Halves<T> packed(even_stride * group_lines, odd_stride * group_lines), results = packed;
  const auto multiply_half = [](const T* half, Size stride, const T* panels, Lid size, Lid count, T* to) {
    for (Lid k = 0; k < size; k += columns)
      for (Lid l = 0; l < count; l += tile_rows)
        multiply(half + l * stride, stride, 1, panels + Size{k} * size, size, to + l * stride + k, stride);
  };

  for (Lid first = lines.begin; first < lines.end; first += group_lines) {
    const Lid count = std::min<Lid>(group_lines, lines.end - first);
    for (Lid l = 0; l < count; ++l)
      pack_line(t, in + Size{first + l} * n, &packed.even[l * even_stride], &packed.odd[l * odd_stride]);
    multiply_half(packed.even.data(), even_stride, t.even_panels, t.even, count, results.even.data());
    multiply_half(packed.odd.data(), odd_stride, t.odd_panels, t.odd, count, results.odd.data());
    for (Lid l = 0; l < count; ++l)
      unpack_line(t, &results.even[l * even_stride], &results.odd[l * odd_stride], out + Size{first + l} * n);
  }
}

template <class T>
void transform_y(const LineTransformView<T>& t, const T* in, T* out, Lid nx, Range lines) {
  if (t.fast.points > 0) return fast_transform_y(t.fast, in, out, nx, lines);
  constexpr int columns = tile_columns<T>;
  Halves<T> packed(rounded_up(t.even, tile_rows) * columns, rounded_up(t.odd, tile_rows) * columns), results = packed;
  const auto multiply_half = [](const T* panels, Lid size, const T* half, T* to) {
    for (Lid k = 0; k < size; k += tile_rows)
      multiply(panels + Size{k} * size, 1, tile_rows, half, size, to + Size{k} * columns, columns);
  };

  for (Lid first = lines.begin; first < lines.end; first += columns) {
    const LineGroup<T> group(first, lines.end, nx, t.size());
    pack_group(t, in, nx, group, packed);
    multiply_half(t.even_panels, t.even, packed.even.data(), results.even.data());
    multiply_half(t.odd_panels, t.odd, packed.odd.data(), results.odd.data());
    unpack_group(t, results, group, out, nx);
  }
}

template class LineTransform<double>;
template class LineTransform<float>;
template void transform_x(const LineTransformView<double>&, const double*, double*, Range);
template void transform_x(const LineTransformView<float>&, const float*, float*, Range);
template void transform_y(const LineTransformView<double>&, const double*, double*, Lid, Range);
template void transform_y(const LineTransformView<float>&, const float*, float*, Lid, Range);

}  // namespace tutti::incompressible
