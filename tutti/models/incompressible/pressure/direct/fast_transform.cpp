#include "tutti/models/incompressible/pressure/direct/fast_transform.hpp"

#include <algorithm>
#include <utility>

#include "tutti/base/raw_vector.hpp"
#include "tutti/models/incompressible/pressure/direct/lanes.hpp"

namespace tutti::incompressible {

template <>
struct Arithmetic<DoubleLanes> {
  using Number = double;
  static DoubleLanes fused(DoubleLanes a, DoubleLanes b, DoubleLanes c) { return incompressible::fused(a, b, c); }
  static DoubleLanes all(double x) { return all_lanes(x); }
};
template <>
struct Arithmetic<FloatLanes> {
  using Number = float;
  static FloatLanes fused(FloatLanes a, FloatLanes b, FloatLanes c) { return incompressible::fused(a, b, c); }
  static FloatLanes all(float x) { return all_lanes(x); }
};

namespace {

template <class T>
Lid cells_of(const FastLineView<T>& line) {
  return 2 * line.points;
}

template <int r, class T>
void run_pass(const T* twiddles, const Lanes<T>* in, Lanes<T>* out, Lid points, Lid before) {
  const Points<Lanes<T>> from{const_cast<Lanes<T>*>(in), 1}, to{out, 1};
  const Lid blocks = points / r / before;
  if (blocks == 1)
    for (Lid q = 0; q < before; ++q) fast_pass<r, true>(twiddles, from, to, points, before, Lid{0}, q);
  else
    for (Lid p = 0; p < blocks; ++p)
      for (Lid q = 0; q < before; ++q) fast_pass<r, false>(twiddles, from, to, points, before, p, q);
}

/// All passes from `a`, by way of `b`; where the result is.
template <class T>
Lanes<T>* run_passes(const FastLineView<T>& line, Lanes<T>* a, Lanes<T>* b) {
  const T* twiddles = line.twiddles;
  Lid before = 1;
  for (int pass = 0; pass < line.passes; ++pass) {
    const int r = line.radix(pass);
    switch (r) {
      case 2:
        run_pass<2>(twiddles, a, b, line.points, before);
        break;
      case 3:
        run_pass<3>(twiddles, a, b, line.points, before);
        break;
      case 4:
        run_pass<4>(twiddles, a, b, line.points, before);
        break;
      case 5:
        run_pass<5>(twiddles, a, b, line.points, before);
        break;
      case 7:
        run_pass<7>(twiddles, a, b, line.points, before);
        break;
      default:
        run_pass<8>(twiddles, a, b, line.points, before);
    }
    twiddles += 2 * (line.points / r / before) * (r - 1);
    before *= r;
    std::swap(a, b);
  }
  return a;
}

/// The results' points, in `a` or `b`. get(place) may read `b`.
template <class T, class Get>
Lanes<T>* load_and_run(const FastLineView<T>& line, Lanes<T>* a, Lanes<T>* b, const Get& get) {
  const Points<Lanes<T>> points{a, 1};
  for (Lid k = 0; k < fast_pairs(line.points); ++k) fast_load(line, get, points, k);
  return run_passes(line, a, b);
}
template <class T, class Put>
void store(const FastLineView<T>& line, Lanes<T>* from, const Put& put) {
  const Points<Lanes<T>> points{from, 1};
  for (Lid k = 0; k < fast_pairs(line.points); ++k) fast_store(line, points, put, k);
}

/// Rows of lanes_count lanes become columns: step `half` of a network of exchanges.
template <class T, int half, std::size_t... lane>
void exchange(Lanes<T>& a, Lanes<T>& b, std::index_sequence<lane...>) {
  constexpr int all = lane_count<T>;
  const Lanes<T> low = __builtin_shufflevector(
      a, b, (static_cast<int>(lane) & half ? all + static_cast<int>(lane) - half : static_cast<int>(lane))...);
  const Lanes<T> high = __builtin_shufflevector(
      a, b, (static_cast<int>(lane) & half ? all + static_cast<int>(lane) : static_cast<int>(lane) + half)...);
  a = low;
  b = high;
}
template <class T, int half = lane_count<T> / 2>
void transpose(Lanes<T> (&rows)[lane_count<T>]) {
#pragma GCC unroll 16
  for (int i = 0; i < lane_count<T>; ++i)
    if ((i & half) == 0) exchange<T, half>(rows[i], rows[i + half], std::make_index_sequence<lane_count<T>>());
  if constexpr (half > 1) transpose<T, half / 2>(rows);
}

}  // namespace

template <class T>
void fast_transform_x(const FastLineView<T>& line, const T* in, T* out, Range lines) {
  constexpr int lanes = lane_count<T>;
  const Lid n = cells_of(line), whole = n / lanes * lanes;
  RawVector<Lanes<T>> memory(2 * static_cast<std::size_t>(n));
  Lanes<T>*const a = memory.data(), *const b = a + n;
  for (Lid first = lines.begin; first < lines.end; first += lanes) {
    const Lid count = std::min<Lid>(lanes, lines.end - first);
    // Lanes without a line repeat the last one.
    const auto start = [&](int l) { return Size{first + std::min<Lid>(l, count - 1)} * n; };
    for (Lid j = 0; j < whole; j += lanes) {
      Lanes<T> rows[lanes];
#pragma GCC unroll 16
      for (int l = 0; l < lanes; ++l) rows[l] = load_lanes(in + start(l) + j);
      transpose<T>(rows);
#pragma GCC unroll 16
      for (int l = 0; l < lanes; ++l) b[j + l] = rows[l];
    }
    for (Lid j = whole; j < n; ++j)
      for (int l = 0; l < lanes; ++l) b[j][l] = in[start(l) + j];
    Lanes<T>* const result = load_and_run(line, a, b, [&](Lid place) { return b[place]; });
    Lanes<T>* const cells = result == a ? b : a;
    store(line, result, [&](Lid place, Lanes<T> value) { cells[place] = value; });
    for (Lid j = 0; j < whole; j += lanes) {
      Lanes<T> rows[lanes];
#pragma GCC unroll 16
      for (int l = 0; l < lanes; ++l) rows[l] = cells[j + l];
      transpose<T>(rows);
      for (int l = 0; l < count; ++l) store_lanes(out + start(l) + j, rows[l]);
    }
    for (Lid j = whole; j < n; ++j)
      for (int l = 0; l < count; ++l) out[start(l) + j] = cells[j][l];
  }
}

template <class T>
void fast_transform_y(const FastLineView<T>& line, const T* in, T* out, Lid nx, Range lines) {
  constexpr int lanes = lane_count<T>;
  const Lid n = cells_of(line);
  RawVector<Lanes<T>> memory(2 * static_cast<std::size_t>(n));
  Lanes<T>*const a = memory.data(), *const b = a + n;
  for (Lid first = lines.begin; first < lines.end;) {
    const Lid x = first % nx, count = std::min({Lid{lanes}, lines.end - first, nx - x});
    const Size start = Size{first / nx} * n * nx + x;
    first += count;
    if (count == lanes) {
      Lanes<T>* const result =
          load_and_run(line, a, b, [&](Lid place) { return load_lanes(in + start + Size{place} * nx); });
      store(line, result, [&](Lid place, Lanes<T> value) { store_lanes(out + start + Size{place} * nx, value); });
      continue;
    }
    Lanes<T>* const result = load_and_run(line, a, b, [&](Lid place) {
      Lanes<T> value{};
      for (Lid l = 0; l < count; ++l) value[l] = in[start + Size{place} * nx + l];
      return value;
    });
    store(line, result, [&](Lid place, Lanes<T> value) {
      for (Lid l = 0; l < count; ++l) out[start + Size{place} * nx + l] = value[l];
    });
  }
}

template void fast_transform_x(const FastLineView<double>&, const double*, double*, Range);
template void fast_transform_x(const FastLineView<float>&, const float*, float*, Range);
template void fast_transform_y(const FastLineView<double>&, const double*, double*, Lid, Range);
template void fast_transform_y(const FastLineView<float>&, const float*, float*, Lid, Range);

}  // namespace tutti::incompressible
