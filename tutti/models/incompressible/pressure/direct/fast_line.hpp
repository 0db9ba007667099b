// Modes of a line of n equal cells by fast transforms: the modes of line_modes.hpp, in their order and of their size.
//
// All lines, whatever their ends, are n / 2 complex points that go through one Fourier transform. Neumann: the cosine
// transform as Makhoul makes it of a real Fourier transform (IEEE Trans. Acoust. Speech Signal Process. 28, 1980), and
// that one of a complex transform of half the length. Dirichlet: the same, as sin(pi (n-k) (2i+1) / 2n) is (-1)^i
// cos(pi k (2i+1) / 2n). Periodic: without Makhoul's order, turned by half a cell. One end of each: the cosine
// transform of type IV, which needs its points turned before and after. So one plan does it all: where the points come
// from, a mix of each with its mirror image before and after, the passes, where the results go.
//
// The passes are Stockham's (radices 2, 3, 4, 5, 7, 8). Every number is made by one order of operations, which is
// written here once, for one line at a time or many in lanes, on CPUs and GPUs.
#pragma once

#include <cmath>
#include <vector>

#include "tutti/base/types.hpp"
#include "tutti/models/incompressible/pressure/direct/line_operator.hpp"

// nvcc, which does not know it, unrolls by itself.
#if defined(__GNUC__) && !defined(__CUDACC__)
#define TUTTI_UNROLLED _Pragma("GCC unroll 8")
#else
#define TUTTI_UNROLLED
#endif

namespace tutti::incompressible {

/// Equal cells, an even number of at most 2,048, and of no prime factor above 7.
bool has_fast_transform(const Line& line);

inline constexpr int most_fast_passes = 10;

/// Of the passes, four bits each: an array that is indexed would lie in a GPU's local memory.
struct Radices {
  int count = 0;
  std::uint64_t packed = 0;
  TUTTI_HD constexpr int operator[](int pass) const { return static_cast<int>(packed >> (4 * pass)) & 15; }
  bool operator==(const Radices&) const = default;
};
/// Of a line of so many points; none where these have other prime factors than 2, 3, 5 and 7.
constexpr Radices radices_of(Lid points) {
  Radices result;
  const auto take = [&](int r) {
    result.packed |= static_cast<std::uint64_t>(r) << (4 * result.count++);
    points /= r;
  };
  for (const int r : {7, 5, 3})
    while (points % r == 0) take(r);
  while (points % 8 == 0 && points != 16) take(8);
  while (points % 4 == 0) take(4);
  if (points % 2 == 0) take(2);
  return points == 1 ? result : Radices{};
}

/// A plan; `in` and `out` are places in a line, of the points' real and imaginary parts in turn; -1 - place: with the
/// other sign. `before` and `after`: four factors a point k, FastMix, or none. size 0: there is no fast transform.
struct FastLine {
  Lid size = 0;
  Radices radices;
  std::vector<double> twiddles;  ///< a pass, i in 1 .. radix-1, and a block p: cos and sin of 2 pi p i / length
  std::vector<Lid> in, out;
  std::vector<double> before, after;
};

/// Q^-1 of line_modes.hpp; a line of has_fast_transform.
FastLine fast_line(const Line& line);
/// Q: the transposed matrix, as Q^-1 is orthogonal.
FastLine transposed(const FastLine& line);

/// What a point z becomes with its mirror image m, point (points - k) % points. Before the passes a z + b conj(m), with
/// a = f0 - i f1 and b = f2 + i f3; behind them a conj(z) + b m, with a = f0 + i f1 and b = f2 - i f3. Aligned: read as
/// vectors.
template <class T>
struct alignas(16) FastMix {
  T factor[4];
};
enum class MixSide : std::uint8_t { before, after };

/// A plan as a kernel reads it. All pointers are into the memory of whoever runs the kernel.
template <class T>
struct FastLineView {
  Lid points = 0;  ///< half of the cells
  Radices radices{};
  const T* twiddles = nullptr;
  const Lid *in = nullptr, *out = nullptr;
  const FastMix<T>*before = nullptr, *after = nullptr;  ///< null: nothing is mixed
};

/// A plan rounded to T, in the memory of the CPU. What `size` is 0 of has no points.
template <class T>
struct RoundedFastLine {
  Lid size = 0;
  Radices radices;
  std::vector<T> twiddles;
  std::vector<FastMix<T>> before, after;
  std::vector<Lid> in, out;

  RoundedFastLine() = default;
  explicit RoundedFastLine(const FastLine& plan)
      : size(plan.size),
        radices(plan.radices),
        twiddles(plan.twiddles.begin(), plan.twiddles.end()),
        before(mixes(plan.before)),
        after(mixes(plan.after)),
        in(plan.in),
        out(plan.out) {}
  FastLineView<T> view() const {
    FastLineView<T> result{size / 2, radices, twiddles.data(), in.data(), out.data(), nullptr, nullptr};
    if (!before.empty()) result.before = before.data();
    if (!after.empty()) result.after = after.data();
    return result;
  }
  Size bytes() const {
    return static_cast<Size>(twiddles.size() * sizeof(T) + (before.size() + after.size()) * sizeof(FastMix<T>) +
                             (in.size() + out.size()) * sizeof(Lid));
  }

 private:
  static std::vector<FastMix<T>> mixes(const std::vector<double>& factors) {
    std::vector<FastMix<T>> result(factors.size() / 4);
    for (std::size_t i = 0; i < factors.size(); ++i) result[i / 4].factor[i % 4] = static_cast<T>(factors[i]);
    return result;
  }
};

/// Multiply-adds of a line of n cells, about: 2.5 log2(n / 2) flops a cell in the passes and 8 to mix, two of them one.
inline Size fast_work(Lid n) {
  return static_cast<Size>(n * (1.25 * std::log2(n / 2.0) + 4));
}

/// What the arithmetic below needs of a number or of lanes of numbers.
template <class V>
struct Arithmetic {
  using Number = V;
  TUTTI_HD static V fused(V a, V b, V c) { return std::fma(a, b, c); }
  TUTTI_HD static V all(V x) { return x; }
};

/// Copied a part at a time: GCC 12 copies whole structures of vectors by way of integer registers.
template <class V>
struct Complex {
  V re, im;
  Complex() = default;
  TUTTI_HD Complex(V x, V y) : re(x), im(y) {}
  TUTTI_HD Complex(const Complex& z) : re(z.re), im(z.im) {}
  TUTTI_HD Complex& operator=(const Complex& z) {
    re = z.re;
    im = z.im;
    return *this;
  }
};

/// Point k of an array whose parts lie `step` values apart: lines side by side.
template <class V>
struct Points {
  using Value = V;
  V* first;
  Size step;
  TUTTI_HD Complex<V> get(Lid k) const { return {first[2 * k * step], first[(2 * k + 1) * step]}; }
  TUTTI_HD void put(Lid k, Complex<V> z) const {
    first[2 * k * step] = z.re;
    first[(2 * k + 1) * step] = z.im;
  }
};

namespace fast {

template <class V>
using Number = typename Arithmetic<V>::Number;

template <class V>
TUTTI_HD inline Complex<V> operator+(Complex<V> a, Complex<V> b) {
  return {a.re + b.re, a.im + b.im};
}
template <class V>
TUTTI_HD inline Complex<V> operator-(Complex<V> a, Complex<V> b) {
  return {a.re - b.re, a.im - b.im};
}
/// -i a
template <class V>
TUTTI_HD inline Complex<V> turned(Complex<V> a) {
  return {a.im, -a.re};
}
/// (c - i s) a
template <class V>
TUTTI_HD inline Complex<V> turned(Complex<V> a, Number<V> c, Number<V> s) {
  using A = Arithmetic<V>;
  const V cc = A::all(c), ss = A::all(s);
  return {A::fused(cc, a.re, ss * a.im), A::fused(cc, a.im, -(ss * a.re))};
}

template <class V>
TUTTI_HD inline void transform_of(Complex<V> (&z)[2]) {
  const Complex<V> a = z[0];
  z[0] = a + z[1];
  z[1] = a - z[1];
}
template <class V>
TUTTI_HD inline void transform_of(Complex<V> (&z)[4]) {
  const Complex<V> a = z[0] + z[2], b = z[0] - z[2], c = z[1] + z[3], d = turned(z[1] - z[3]);
  z[0] = a + c;
  z[1] = b + d;
  z[2] = a - c;
  z[3] = b - d;
}
template <class V>
TUTTI_HD inline void transform_of(Complex<V> (&z)[8]) {
  const V half_root = Arithmetic<V>::all(static_cast<Number<V>>(0.70710678118654752440));
  Complex<V> even[4] = {z[0] + z[4], z[1] + z[5], z[2] + z[6], z[3] + z[7]};
  const Complex<V> b = z[1] - z[5], d = z[3] - z[7];
  Complex<V> odd[4] = {z[0] - z[4],
                       {(b.re + b.im) * half_root, (b.im - b.re) * half_root},
                       turned(z[2] - z[6]),
                       {(d.im - d.re) * half_root, -((d.re + d.im) * half_root)}};
  transform_of(even);
  transform_of(odd);
  TUTTI_UNROLLED
  for (int k = 0; k < 4; ++k) {
    z[2 * k] = even[k];
    z[2 * k + 1] = odd[k];
  }
}

/// cos and sin of 2 pi k / r, k = 1 .. (r-1)/2; r = 3, 5, 7.
template <int r>
TUTTI_HD constexpr double cosine(int k) {
  if constexpr (r == 3) return -0.5;
  if constexpr (r == 5) return k == 1 ? 0.30901699437494742410 : -0.80901699437494742410;
  return k == 1 ? 0.62348980185873353053 : k == 2 ? -0.22252093395631440429 : -0.90096886790241912624;
}
template <int r>
TUTTI_HD constexpr double sine(int k) {
  if constexpr (r == 3) return 0.86602540378443864676;
  if constexpr (r == 5) return k == 1 ? 0.95105651629515357212 : 0.58778525229247312917;
  return k == 1 ? 0.78183148246802980871 : k == 2 ? 0.97492791218182360702 : 0.43388373911755812048;
}

/// r = 3, 5, 7: of the sums and differences of mirror images.
template <int r, class V>
TUTTI_HD inline void transform_of(Complex<V> (&z)[r]) {
  using A = Arithmetic<V>;
  constexpr int half = (r - 1) / 2;
  Complex<V> sum[half], difference[half];
  const Complex<V> first = z[0];
  for (int j = 0; j < half; ++j) {
    sum[j] = z[1 + j] + z[r - 1 - j];
    difference[j] = turned(z[1 + j] - z[r - 1 - j]);
    z[0] = z[0] + sum[j];
  }
  for (int k = 1; k <= half; ++k) {
    Complex<V> even = first, odd{};
    for (int j = 0; j < half; ++j) {
      const int turn = k * (j + 1) % r, m = turn <= half ? turn : r - turn;
      const V c = A::all(static_cast<Number<V>>(cosine<r>(m)));
      const V s = A::all(static_cast<Number<V>>(turn <= half ? sine<r>(m) : -sine<r>(m)));
      even = {A::fused(c, sum[j].re, even.re), A::fused(c, sum[j].im, even.im)};
      odd = j == 0 ? Complex<V>{s * difference[j].re, s * difference[j].im}
                   : Complex<V>{A::fused(s, difference[j].re, odd.re), A::fused(s, difference[j].im, odd.im)};
    }
    z[k] = even + odd;
    z[r - k] = even - odd;
  }
}

}  // namespace fast

/// A pass of radix r over `points`, of which `before` = the product of the radices before it: block p of `points / r /
/// before`, place q of `before`. `twiddles` are of its blocks; the last pass has one block, which is not turned.
template <int r, bool last, class V, class T>
[[gnu::always_inline]] TUTTI_HD inline void fast_pass(const T* twiddles, const Points<V>& in, const Points<V>& out,
                                                      Lid points, Lid before, Lid p, Lid q) {
  Complex<V> z[r];
  TUTTI_UNROLLED
  for (int i = 0; i < r; ++i) z[i] = in.get(q + before * p + points / r * i);
  fast::transform_of(z);
  out.put(q + before * r * p, z[0]);
  const Lid blocks = points / r / before;
  TUTTI_UNROLLED
  for (int i = 1; i < r; ++i) {
    const T* w = twiddles + 2 * ((i - 1) * blocks + p);
    out.put(q + before * (r * p + i), last ? z[i] : fast::turned(z[i], w[0], w[1]));
  }
}

template <MixSide side, class V, class T>
TUTTI_HD inline Complex<V> fast_mix(const FastMix<T> mix, const Complex<V>& own, const Complex<V>& mirror) {
  using A = Arithmetic<V>;
  const V a = A::all(mix.factor[0]), b = A::all(mix.factor[1]), c = A::all(mix.factor[2]), d = A::all(mix.factor[3]);
  const V re = A::fused(a, own.re, A::fused(b, own.im, A::fused(c, mirror.re, d * mirror.im)));
  const V im = A::fused(b, own.re, A::fused(-a, own.im, A::fused(-d, mirror.re, c * mirror.im)));
  if constexpr (side == MixSide::before)
    return {re, -im};
  else
    return {re, im};
}

/// Points are loaded and stored in pairs: k and its mirror image, k = 0 .. fast_pairs - 1.
TUTTI_HD inline Lid fast_pairs(Lid points) {
  return points / 2 + 1;
}

/// Points k and its mirror image from a line, mixed; `to`: Points or the like. get(place) yields a value.
template <class To, class T, class Get>
TUTTI_HD inline void fast_load(const FastLineView<T>& line, const Get& get, const To& to, Lid k) {
  using V = typename To::Value;
  const Lid other = k == 0 ? 0 : line.points - k;
  const auto value = [&](Lid place) -> V { return place < 0 ? -get(-1 - place) : get(place); };
  const Complex<V> z{value(line.in[2 * k]), value(line.in[2 * k + 1])};
  const Complex<V> m = other == k ? z : Complex<V>{value(line.in[2 * other]), value(line.in[2 * other + 1])};
  const auto mixed = [&](Lid point, const Complex<V>& own, const Complex<V>& mirror) {
    return line.before == nullptr ? own : fast_mix<MixSide::before>(line.before[point], own, mirror);
  };
  to.put(k, mixed(k, z, m));
  if (other != k) to.put(other, mixed(other, m, z));
}

/// And from the points into a line: put(place, value).
template <class From, class T, class Put>
TUTTI_HD inline void fast_store(const FastLineView<T>& line, const From& from, const Put& put, Lid k) {
  using V = typename From::Value;
  const Lid other = k == 0 ? 0 : line.points - k;
  const auto write = [&](Lid point, const Complex<V>& own, const Complex<V>& mirror) {
    const Complex<V> z = line.after == nullptr ? own : fast_mix<MixSide::after>(line.after[point], own, mirror);
    const Lid a = line.out[2 * point], b = line.out[2 * point + 1];
    put(a < 0 ? -1 - a : a, a < 0 ? -z.re : z.re);
    put(b < 0 ? -1 - b : b, b < 0 ? -z.im : z.im);
  };
  const Complex<V> z = from.get(k), m = other == k ? z : from.get(other);
  write(k, z, m);
  if (other != k) write(other, m, z);
}

}  // namespace tutti::incompressible
