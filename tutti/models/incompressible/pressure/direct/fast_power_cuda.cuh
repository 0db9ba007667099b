// Fast transforms of lines of 64 to 2,048 cells, a power of two, on a GPU. A thread keeps 16 points of a line in its
// registers, from one pass to the next they go through shared memory, and a value is read from memory and written
// there once. The arithmetic is that of fast_line.hpp in the same order, bit for bit.
//
// A point and its mirror image, which are mixed before the first and after the last pass, belong to one thread: it has
// butterflies in pairs there, u and points / radix - u.
#pragma once

#include <cstdint>

#include "tutti/models/incompressible/pressure/direct/column_modes.hpp"
#include "tutti/models/incompressible/pressure/direct/direct_kernels.cuh"

namespace tutti::incompressible::direct {

inline constexpr int least_power = 5, most_power = 10;  ///< exponents of the points

/// The passes over 2^exponent points.
template <int exponent>
struct PowerPlan {
  static constexpr int points = 1 << exponent, cells = 2 * points;
  static constexpr int per_thread = 16, threads = points / per_thread;  ///< of a line
  static constexpr int radix(int pass) { return radices_of(points)[pass]; }
  /// The product of the radices before a pass.
  static constexpr int before(int pass) {
    int product = 1;
    for (int p = 0; p < pass; ++p) product *= radix(p);
    return product;
  }
  static constexpr int passes() { return radices_of(points).count; }
  /// Where the twiddles of a pass begin.
  static constexpr int twiddles(int pass) {
    int count = 0;
    for (int p = 0; p < pass; ++p) count += 2 * (points / before(p + 1)) * (radix(p) - 1);
    return count;
  }
  template <class T>
  static bool is_plan_of(const FastLineView<T>& line) {
    return line.points == points && line.radices == radices_of(points);
  }
};

template <class T>
struct PairOf;
template <>
struct PairOf<float> {
  using Type = float2;
};
template <>
struct PairOf<double> {
  using Type = double2;
};
template <class T>
__device__ inline Complex<T> load_pair(const T* from) {
  const auto v = *reinterpret_cast<const typename PairOf<T>::Type*>(from);
  return {v.x, v.y};
}
template <class T>
__device__ inline Complex<T> load_constant_pair(const T* from) {
  const auto v = __ldg(reinterpret_cast<const typename PairOf<T>::Type*>(from));
  return {v.x, v.y};
}
/// A value that no other thread needs: the first cache is for factors and places, which all blocks read.
__device__ inline float load_past_cache(const float* from) {
  float value;
  asm volatile("ld.global.L1::no_allocate.f32 %0, [%1];" : "=f"(value) : "l"(from));
  return value;
}
__device__ inline double load_past_cache(const double* from) {
  double value;
  asm volatile("ld.global.L1::no_allocate.f64 %0, [%1];" : "=d"(value) : "l"(from));
  return value;
}
__device__ inline void store_past_cache(float* to, float value) {
  asm volatile("st.global.L1::no_allocate.f32 [%0], %1;" ::"l"(to), "f"(value) : "memory");
}
__device__ inline void store_past_cache(double* to, double value) {
  asm volatile("st.global.L1::no_allocate.f64 [%0], %1;" ::"l"(to), "d"(value) : "memory");
}
template <class T>
__device__ inline void store_pair(T* to, Complex<T> z) {
  typename PairOf<T>::Type v;
  v.x = z.re;
  v.y = z.im;
  *reinterpret_cast<typename PairOf<T>::Type*>(to) = v;
}

/// As vectors.
template <class T>
__device__ inline FastMix<T> load_mix(const FastMix<T>* from) {
  FastMix<T> mix;
#pragma unroll
  for (int i = 0; i < 4; i += 2) {
    const Complex<T> two = load_constant_pair(from->factor + i);
    mix.factor[i] = two.re;
    mix.factor[i + 1] = two.im;
  }
  return mix;
}

/// A thread's points of a line; `me`: its number among the line's threads. Memory: where all of these threads put and
/// get points, as put<pass>(point, value) and get<pass>(point) between passes `pass` and `pass` + 1, and meet().
template <class T, int exponent>
class PowerThread {
  using Plan = PowerPlan<exponent>;
  static constexpr int points = Plan::points, passes = Plan::passes(), per_thread = Plan::per_thread;

 public:
  __device__ PowerThread(const FastLineView<T>& line, unsigned me) : line_(line), me_(me) {}

  /// From the cells to the modes, or back: value(place), put(place, value). `value` is asked for all before the threads
  /// meet, and `put` is told all after they met.
  template <class Value>
  __device__ void load(const Value& value) {
    constexpr int r = Plan::radix(0);
#pragma unroll
    for (int n = 0; n < per_thread; ++n) {
      const int2 from = place<r>(line_.in, n);
      z_[n] = {signed_value(value, from.x), signed_value(value, from.y)};
    }
    if (line_.before != nullptr) mix<r, MixSide::before>(line_.before);
  }
  template <class Memory>
  __device__ void transform(const Memory& memory) {
    pass<0>(memory);
  }
  template <class Put>
  __device__ void store(const Put& put) {
    constexpr int r = Plan::radix(passes - 1);
    if (line_.after != nullptr) mix<r, MixSide::after>(line_.after);
#pragma unroll
    for (int first = 0; first < per_thread; first += places_at_once) {
      int2 places[places_at_once];
#pragma unroll
      for (int n = 0; n < places_at_once; ++n) places[n] = place<r>(line_.out, first + n);
#pragma unroll
      for (int n = 0; n < places_at_once; ++n) {
        put_signed(put, places[n].x, z_[first + n].re);
        put_signed(put, places[n].y, z_[first + n].im);
      }
    }
  }

 private:
  static constexpr int places_at_once = 8;  ///< are asked for together

  /// Those of the thread's n-th point in the first or last pass.
  template <int r>
  __device__ int2 place(const Lid* places, int n) const {
    return __ldg(reinterpret_cast<const int2*>(places) + paired<r>(n / r) + points / r * (n % r));
  }
  /// A negative place, -1 - place, is that with the other sign.
  template <class Value>
  __device__ static T signed_value(const Value& value, int place) {
    return with_sign_of(value(static_cast<unsigned>(place ^ place >> 31)), place);
  }
  template <class Put>
  __device__ static void put_signed(const Put& put, int place, T value) {
    put(static_cast<unsigned>(place ^ place >> 31), with_sign_of(value, place));
  }
  /// -value where `place` is negative, in one operation.
  __device__ static T with_sign_of(T value, int place) {
    const int sign = place & static_cast<int>(0x80000000U);
    if constexpr (sizeof(T) == sizeof(float))
      return __int_as_float(__float_as_int(value) ^ sign);
    else
      return __hiloint2double(__double2hiint(value) ^ sign, __double2loint(value));
  }
  /// The thread's n-th butterfly where it has them in pairs; pair 0 are the two that are their own mirror images.
  template <int r>
  __device__ unsigned paired(int n) const {
    const unsigned u = me_ + n / 2 * Plan::threads;
    return n % 2 == 0 ? u : u == 0 ? points / (2 * r) : points / r - u;
  }
  template <int p>
  __device__ unsigned butterfly(int n) const {
    constexpr int r = Plan::radix(p);
    return p == 0 || p == passes - 1 ? paired<r>(n) : me_ + n * Plan::threads;
  }

  /// Of values: a choice between two places of an array would have the compiler keep the array in memory.
  __device__ static Complex<T> either(bool first, Complex<T> a, Complex<T> b) {
    const T re = first ? a.re : b.re, im = first ? a.im : b.im;
    return {re, im};
  }
  template <int r, MixSide side>
  __device__ void mix(const FastMix<T>* mixes) {
#pragma unroll
    for (int pair = 0; pair < per_thread / (2 * r); ++pair) {
      Complex<T> a[r], b[r];
#pragma unroll
      for (int i = 0; i < r; ++i) {
        a[i] = z_[pair * 2 * r + i];
        b[i] = z_[pair * 2 * r + r + i];
      }
      const bool own = me_ + pair * Plan::threads == 0;
#pragma unroll
      for (int i = 0; i < r; ++i) {
        const Complex<T> mirror_a = either(own, a[(r - i) % r], b[r - 1 - i]),
                         mirror_b = either(own, b[r - 1 - i], a[r - 1 - i]);
        const int at = points / r * i;
        z_[pair * 2 * r + i] = fast_mix<side>(load_mix(mixes + paired<r>(2 * pair) + at), a[i], mirror_a);
        z_[pair * 2 * r + r + i] = fast_mix<side>(load_mix(mixes + paired<r>(2 * pair + 1) + at), b[i], mirror_b);
      }
    }
  }

  template <int p, class Memory>
  __device__ void pass(const Memory& memory) {
    constexpr int r = Plan::radix(p), before = Plan::before(p), blocks = points / r / before;
    constexpr int first_twiddle = Plan::twiddles(p);
    const T* const twiddles = line_.twiddles + first_twiddle;
    if constexpr (p > 0) memory.meet();
#pragma unroll
    for (int n = 0; n < per_thread / r; ++n) {
      const unsigned item = butterfly<p>(n);
      Complex<T> z[r];
#pragma unroll
      for (int i = 0; i < r; ++i) {
        if constexpr (p == 0)
          z[i] = z_[n * r + i];
        else
          z[i] = memory.template get<p - 1>(item + points / r * i);
      }
      fast::transform_of(z);
#pragma unroll
      for (int i = 0; i < r; ++i) {
        if (p < passes - 1 && i > 0) {
          const Complex<T> w = load_constant_pair(twiddles + 2 * ((i - 1) * blocks + item / before));
          z[i] = fast::turned(z[i], w.re, w.im);
        }
        z_[n * r + i] = z[i];
      }
    }
    if constexpr (p < passes - 1) {
      memory.meet();
#pragma unroll
      for (int n = 0; n < per_thread; ++n) {
        const unsigned item = butterfly<p>(n / r), block = item / before, place = item % before;
        memory.template put<p>(place + before * (r * block + n % r), z_[n]);
      }
      pass<p + 1>(memory);
    }
  }

  const FastLineView<T>& line_;
  unsigned me_;
  Complex<T> z_[per_thread];
};

/// How lines along x are cut: teams of threads have lines of their own, and those of a warp need not wait for others.
template <class T, int exponent>
struct RowsOfPower {
  using Plan = PowerPlan<exponent>;
  static constexpr int threads = 128, resident = sizeof(T) == 4 ? 6 : 4;
  static constexpr int team = Plan::threads > 32 ? Plan::threads : 32;
  static constexpr int team_lines = team / Plan::threads, teams = threads / team;
  static constexpr int banks = 128 / static_cast<int>(sizeof(T));  ///< of T
  /// Neighbouring threads put points `before` in a row into every block of before * radix: each begins elsewhere.
  template <int pass>
  __host__ __device__ static constexpr unsigned padded(unsigned point) {
    constexpr unsigned row = Plan::before(pass), block = Plan::before(pass + 1), width = banks / 2;
    constexpr unsigned apart = block > width ? block : width;
    return row < width ? point + point / apart * row : point;
  }
  __host__ __device__ static constexpr unsigned padded_cell(unsigned place) { return place + place / banks; }
  /// From line to line: with a pass of radix 4 behind one of radix 8 there is most to pad, a value in four.
  static constexpr int line_values = (Plan::cells + Plan::cells / 4) / banks * banks + 2;
};

/// Points of a line in shared memory, whose threads are some of a team.
template <class T, int exponent>
struct RowMemory {
  using Cut = RowsOfPower<T, exponent>;
  T* line;
  template <int pass>
  __device__ void put(unsigned point, Complex<T> z) const {
    store_pair(line + 2 * Cut::template padded<pass>(point), z);
  }
  template <int pass>
  __device__ Complex<T> get(unsigned point) const {
    return load_pair(line + 2 * Cut::template padded<pass>(point));
  }
  __device__ void meet() const {
    if constexpr (Cut::team > 32)
      __syncthreads();
    else
      __syncwarp();
  }
};

/// Lines along x: step is 1. They pass through shared memory so that threads
/// side by side read and write what lies side by side.
template <class T, int exponent, class In>
__global__ void __launch_bounds__(RowsOfPower<T, exponent>::threads, RowsOfPower<T, exponent>::resident)
    power_rows_kernel(const __grid_constant__ FastLineView<T> plan, const __grid_constant__ In in, Lines<T> out,
                      Lid lines) {
  cuda::wait_for_earlier_work();
  using Cut = RowsOfPower<T, exponent>;
  using Plan = PowerPlan<exponent>;
  __shared__ __align__(16) T memory[Cut::teams * Cut::team_lines * Cut::line_values];
  const unsigned me = threadIdx.x % Cut::team, team = threadIdx.x / Cut::team;
  T* const own = memory + team * Cut::team_lines * Cut::line_values;
  const Lid first = static_cast<Lid>((blockIdx.x * Cut::teams + team) * Cut::team_lines);
  const RowMemory<T, exponent> row{own + me / Plan::threads * Cut::line_values};
#pragma unroll
  for (int l = 0; l < Cut::team_lines; ++l) {
    const auto from = in.line(min(first + l, lines - 1));
#pragma unroll
    for (int n = 0; n < Plan::cells / Cut::team; ++n) {
      const unsigned i = me + n * Cut::team;
      own[l * Cut::line_values + Cut::padded_cell(i)] = from(static_cast<Lid>(i));
    }
  }
  row.meet();
  PowerThread<T, exponent> thread(plan, me % Plan::threads);
  thread.load([&](unsigned place) { return row.line[Cut::padded_cell(place)]; });
  thread.transform(row);
  row.meet();
  thread.store([&](unsigned place, T value) { row.line[Cut::padded_cell(place)] = value; });
  row.meet();
#pragma unroll
  for (int l = 0; l < Cut::team_lines; ++l) {
    if (first + l >= lines) break;
    T* const to = out.first + out.at(first + l);
#pragma unroll
    for (int n = 0; n < Plan::cells / Cut::team; ++n) {
      const unsigned i = me + n * Cut::team;
      to[i] = own[l * Cut::line_values + Cut::padded_cell(i)];
    }
  }
}

/// How lines along y are cut: a block has some side by side.
template <class T, int exponent>
struct ColumnsOfPower {
  using Plan = PowerPlan<exponent>;
  static constexpr int sector_lines = 64 / static_cast<int>(sizeof(T)), fewest = 32 / Plan::threads;
  static constexpr int lines = Plan::threads >= 64 ? 8 : sector_lines > fewest ? sector_lines : fewest;
  static constexpr int threads = lines * Plan::threads;
  static constexpr int of_all = sizeof(T) == 4 ? 768 : 512, resident = of_all > threads ? of_all / threads : 1;
  static constexpr std::size_t bytes = std::size_t{2} * lines * Plan::points * sizeof(T);
};

template <class T, int lines>
struct ColumnMemory {
  T* line;
  template <int pass>
  __device__ void put(unsigned point, Complex<T> z) const {
    store_pair(line + 2 * lines * point, z);
  }
  template <int pass>
  __device__ Complex<T> get(unsigned point) const {
    return load_pair(line + 2 * lines * point);
  }
  __device__ void meet() const { __syncthreads(); }
};

/// Lines along y: neighbours lie side by side. `out` may be `in`.
template <class T, int exponent>
__global__ void __launch_bounds__(ColumnsOfPower<T, exponent>::threads, ColumnsOfPower<T, exponent>::resident)
    power_columns_kernel(const __grid_constant__ FastLineView<T> plan, Lines<const T> in, Lines<T> out, Lid lines) {
  cuda::wait_for_earlier_work();
  using Cut = ColumnsOfPower<T, exponent>;
  extern __shared__ __align__(16) char memory[];
  const unsigned which = threadIdx.x % Cut::lines;
  const Lid line = static_cast<Lid>(blockIdx.x * Cut::lines + which);
  const bool there = line < lines;
  const T* const from = in.first + in.at(min(line, lines - 1));
  T* const to = out.first + out.at(min(line, lines - 1));
  const auto step = static_cast<unsigned>(in.step), step_out = static_cast<unsigned>(out.step);
  PowerThread<T, exponent> thread(plan, threadIdx.x / Cut::lines);
  // Past the first cache, which is for factors and places: all blocks read the same ones.
  thread.load([&](unsigned place) { return load_past_cache(from + place * step); });
  thread.transform(ColumnMemory<T, Cut::lines>{reinterpret_cast<T*>(memory) + 2 * which});
  thread.store([&](unsigned place, T value) {
    if (there) store_past_cache(to + place * step_out, value);
  });
}

/// solve_by_modes of lines along the third direction: a value is read from memory and written there once.
template <class T, int exponent>
__global__ void __launch_bounds__(ColumnsOfPower<T, exponent>::threads, ColumnsOfPower<T, exponent>::resident)
    power_modes_kernel(const __grid_constant__ FastLineView<T> to_modes,
                       const __grid_constant__ FastLineView<T> from_modes, const T* along, const T* lambdas,
                       Lines<T> columns, Lid count) {
  cuda::wait_for_earlier_work();
  using Cut = ColumnsOfPower<T, exponent>;
  extern __shared__ __align__(16) char memory[];
  const unsigned which = threadIdx.x % Cut::lines, me = threadIdx.x / Cut::lines;
  const Lid line = static_cast<Lid>(blockIdx.x * Cut::lines + which);
  const bool there = line < count;
  T* const values = columns.first + columns.at(min(line, count - 1));
  const T lambda = __ldg(lambdas + min(line, count - 1));
  const Size step = columns.step;
  T* const modes = reinterpret_cast<T*>(memory) + which;
  const ColumnMemory<T, Cut::lines> points{reinterpret_cast<T*>(memory) + 2 * which};
  {
    PowerThread<T, exponent> thread(to_modes, me);
    thread.load([&](unsigned place) { return load_past_cache(values + place * step); });
    thread.transform(points);
    __syncthreads();
    thread.store(
        [&](unsigned place, T value) { modes[Cut::lines * place] = solved_mode(value, lambda, __ldg(along + place)); });
  }
  __syncthreads();
  PowerThread<T, exponent> thread(from_modes, me);
  thread.load([&](unsigned place) { return modes[Cut::lines * place]; });
  thread.transform(points);
  thread.store([&](unsigned place, T value) {
    if (there) store_past_cache(values + place * step, value);
  });
}

}  // namespace tutti::incompressible::direct
