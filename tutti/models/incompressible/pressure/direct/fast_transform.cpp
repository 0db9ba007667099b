#include "tutti/models/incompressible/pressure/direct/fast_transform.hpp"

#include <algorithm>
#include <type_traits>
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

/// Two vectors beside each other, a line of the cache or more: what is looked up for one serves both.
template <class T>
struct Wide {
  Lanes<T> a, b;
  Wide(Lanes<T> x, Lanes<T> y) : a(x), b(y) {}
  Wide(const Wide& w) : a(w.a), b(w.b) {}  // as Complex
  Wide operator-() const { return {-a, -b}; }
  Wide operator*(const Wide& w) const { return {a * w.a, b * w.b}; }
};
template <class T>
struct Arithmetic<Wide<T>> {
  using Number = T;
  static Wide<T> fused(const Wide<T>& a, const Wide<T>& b, const Wide<T>& c) {
    return {incompressible::fused(a.a, b.a, c.a), incompressible::fused(a.b, b.b, c.b)};
  }
  static Wide<T> all(T x) { return {all_lanes(x), all_lanes(x)}; }
};

namespace {

/// Lines that are transformed at once.
template <class T>
constexpr int group_lines = 2 * lane_count<T>;

/// Values of a group, two vectors a place.
template <class T>
struct WidePoints {
  using Value = Wide<T>;
  Lanes<T>* first;
  Value at(Lid place) const { return {first[2 * place], first[2 * place + 1]}; }
  void set(Lid place, const Value& value) const {
    first[2 * place] = value.a;
    first[2 * place + 1] = value.b;
  }
  Complex<Value> get(Lid k) const { return {at(2 * k), at(2 * k + 1)}; }
  void put(Lid k, const Complex<Value>& z) const {
    set(2 * k, z.re);
    set(2 * k + 1, z.im);
  }
};

/// Two arrays of a group's values. They do not lie a power of two apart: loads would wait for stores into the other
/// one whose addresses end alike.
template <class T>
class Group {
 public:
  explicit Group(Lid cells) : apart_(2 * Size{cells} + 16), memory_(static_cast<std::size_t>(2 * apart_)) {}
  Lanes<T>* a() { return memory_.data(); }
  Lanes<T>* b() { return memory_.data() + apart_; }

 private:
  Size apart_;
  RawVector<Lanes<T>> memory_;
};

template <class T>
Lid cells_of(const FastLineView<T>& line) {
  return 2 * line.points;
}

template <int r, class T>
void run_pass(const T* twiddles, const Lanes<T>* in, Lanes<T>* out, Lid points, Lid before) {
  const Points<Lanes<T>> from{const_cast<Lanes<T>*>(in), 2}, to{out, 2};
  const Lid blocks = points / r / before;
  if (blocks == 1)
    for (Lid q = 0; q < before; ++q) fast_pass<r, true>(twiddles, from, to, points, before, Lid{0}, q);
  else
    for (Lid p = 0; p < blocks; ++p)
      for (Lid q = 0; q < before; ++q) fast_pass<r, false>(twiddles, from, to, points, before, p, q);
}

/// All passes of one of the two vectors from `a`, by way of `b`; where the result is.
template <class T>
Lanes<T>* run_passes(const FastLineView<T>& line, Lanes<T>* a, Lanes<T>* b) {
  const T* twiddles = line.twiddles;
  Lid before = 1;
  for (int pass = 0; pass < line.radices.count; ++pass) {
    const int r = line.radices[pass];
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
  for (Lid k = 0; k < fast_pairs(line.points); ++k) fast_load(line, get, WidePoints<T>{a}, k);
  run_passes(line, a + 1, b + 1);
  return run_passes(line, a, b);
}
template <class T, class Put>
void store(const FastLineView<T>& line, Lanes<T>* from, const Put& put) {
  for (Lid k = 0; k < fast_pairs(line.points); ++k) fast_store(line, WidePoints<T>{from}, put, k);
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

/// Where a group along x reads and writes: lines of n values, of which those that do not exist are the last one.
template <class T>
struct GroupRows {
  Size n;
  Lid first, count;
  Size start(int line) const { return (first + std::min<Lid>(line, count - 1)) * n; }
};

template <class T>
void load_rows(const GroupRows<T>& rows, const T* in, Lanes<T>* to) {
  constexpr int lanes = lane_count<T>;
  const Lid n = static_cast<Lid>(rows.n), whole = n / lanes * lanes;
  for (int half = 0; half < 2; ++half)
    for (Lid j = 0; j < whole; j += lanes) {
      Lanes<T> square[lanes];
#pragma GCC unroll 16
      for (int l = 0; l < lanes; ++l) square[l] = load_lanes(in + rows.start(half * lanes + l) + j);
      transpose<T>(square);
#pragma GCC unroll 16
      for (int l = 0; l < lanes; ++l) to[2 * (j + l) + half] = square[l];
    }
  for (Lid j = whole; j < n; ++j)
    for (int l = 0; l < group_lines<T>; ++l) to[2 * j + l / lanes][l % lanes] = in[rows.start(l) + j];
}

template <class T>
void store_rows(const GroupRows<T>& rows, const Lanes<T>* from, T* out) {
  constexpr int lanes = lane_count<T>;
  const Lid n = static_cast<Lid>(rows.n), whole = n / lanes * lanes;
  for (int half = 0; half < 2; ++half) {
    const int count = std::min(lanes, rows.count - half * lanes);
    for (Lid j = 0; j < whole; j += lanes) {
      Lanes<T> square[lanes];
#pragma GCC unroll 16
      for (int l = 0; l < lanes; ++l) square[l] = from[2 * (j + l) + half];
      transpose<T>(square);
      for (int l = 0; l < count; ++l) store_lanes(out + rows.start(half * lanes + l) + j, square[l]);
    }
  }
  for (Lid j = whole; j < n; ++j)
    for (int l = 0; l < rows.count; ++l) out[rows.start(l) + j] = from[2 * j + l / lanes][l % lanes];
}

/// The first `count` values, as many as a group has or fewer.
template <class T>
Wide<T> load_wide(const T* from, Lid count) {
  constexpr int lanes = lane_count<T>;
  if (count == group_lines<T>) return {load_lanes(from), load_lanes(from + lanes)};
  T all[group_lines<T>] = {};
  std::copy_n(from, count, all);
  return {load_lanes(all), load_lanes(all + lanes)};
}
template <class T>
void store_wide(T* to, const Wide<T>& value, Lid count) {
  constexpr int lanes = lane_count<T>;
  if (count == group_lines<T>) {
    store_lanes(to, value.a);
    store_lanes(to + lanes, value.b);
    return;
  }
  T all[group_lines<T>];
  store_lanes(all, value.a);
  store_lanes(all + lanes, value.b);
  std::copy_n(all, count, to);
}

/// As solved_mode of column_modes.hpp, in lanes.
template <class T>
Lanes<T> solved_modes(Lanes<T> value, Lanes<T> lambda, Lanes<T> along) {
  const Lanes<T> divisor = lambda + along;
  const auto constant = divisor == T(0);
  const Lanes<T> quotient = value / (constant ? all_lanes(T(1)) : divisor);
  return constant ? Lanes<T>{} : quotient;
}

}  // namespace

template <class T>
void fast_transform_x(const FastLineView<T>& line, const T* in, T* out, Range lines) {
  const Lid n = cells_of(line);
  Group<T> group(n);
  Lanes<T>*const a = group.a(), *const b = group.b();
  for (Lid first = lines.begin; first < lines.end; first += group_lines<T>) {
    const GroupRows<T> rows{n, first, std::min<Lid>(group_lines<T>, lines.end - first)};
    load_rows(rows, in, b);
    Lanes<T>* const result = load_and_run(line, a, b, [&](Lid place) { return WidePoints<T>{b}.at(place); });
    const WidePoints<T> cells{result == a ? b : a};
    store(line, result, [&](Lid place, const Wide<T>& value) { cells.set(place, value); });
    store_rows(rows, cells.first, out);
  }
}

template <class T>
void fast_transform_y(const FastLineView<T>& line, const T* in, T* out, Lid nx, Range lines) {
  const Lid n = cells_of(line);
  Group<T> group(n);
  for (Lid first = lines.begin; first < lines.end;) {
    const Lid x = first % nx, count = std::min({Lid{group_lines<T>}, lines.end - first, nx - x});
    const Size start = Size{first / nx} * n * nx + x;
    first += count;
    const auto transform = [&](auto together) {
      Lanes<T>* const result = load_and_run(
          line, group.a(), group.b(), [&](Lid place) { return load_wide(in + start + Size{place} * nx, together); });
      store(line, result,
            [&](Lid place, const Wide<T>& value) { store_wide(out + start + Size{place} * nx, value, together); });
    };
    if (count == group_lines<T>)
      transform(std::integral_constant<Lid, group_lines<T>>());
    else
      transform(count);
  }
}

template <class T>
void fast_solve_y(const FastLineView<T>& to_modes, const FastLineView<T>& from_modes, const T* along, const T* lambda,
                  T* values, Lid stride, Range lines) {
  Group<T> group(cells_of(to_modes));
  const auto solve = [&](Lid first, auto together) {
    const auto load = [&](const T* from) { return load_wide(from + first, together); };
    const Wide<T> lambdas = load(lambda);
    Lanes<T>* const modes =
        load_and_run(to_modes, group.a(), group.b(), [&](Lid place) { return load(values + Size{place} * stride); });
    const WidePoints<T> solved{modes == group.a() ? group.b() : group.a()};
    store(to_modes, modes, [&](Lid place, const Wide<T>& value) {
      const Lanes<T> one = all_lanes(along[place]);
      solved.set(place, {solved_modes<T>(value.a, lambdas.a, one), solved_modes<T>(value.b, lambdas.b, one)});
    });
    Lanes<T>* const cells = load_and_run(from_modes, modes, solved.first, [&](Lid place) { return solved.at(place); });
    store(from_modes, cells,
          [&](Lid place, const Wide<T>& value) { store_wide(values + Size{place} * stride + first, value, together); });
  };
  for (Lid first = lines.begin; first < lines.end; first += group_lines<T>) {
    const Lid count = std::min<Lid>(group_lines<T>, lines.end - first);
    if (count == group_lines<T>)
      solve(first, std::integral_constant<Lid, group_lines<T>>());
    else
      solve(first, count);
  }
}

template void fast_transform_x(const FastLineView<double>&, const double*, double*, Range);
template void fast_transform_x(const FastLineView<float>&, const float*, float*, Range);
template void fast_transform_y(const FastLineView<double>&, const double*, double*, Lid, Range);
template void fast_transform_y(const FastLineView<float>&, const float*, float*, Lid, Range);

template void fast_solve_y(const FastLineView<double>&, const FastLineView<double>&, const double*, const double*,
                           double*, Lid, Range);
template void fast_solve_y(const FastLineView<float>&, const FastLineView<float>&, const float*, const float*, float*,
                           Lid, Range);

}  // namespace tutti::incompressible
