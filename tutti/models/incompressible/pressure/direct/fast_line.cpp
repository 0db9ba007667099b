#include "tutti/models/incompressible/pressure/direct/fast_line.hpp"

#include <algorithm>
#include <array>

#include "tutti/base/error.hpp"
#include "tutti/models/incompressible/pressure/direct/whole_turns.hpp"

namespace tutti::incompressible {
namespace {

constexpr Lid most_cells = 2048;  // two arrays of a line in double fit the shared memory of every GPU

/// Of 2, 3, 4, 5, 7, 8; empty also where there is another factor.
std::vector<double> twiddles_of(const Radices& radices, Lid points) {
  std::vector<double> result;
  for (int pass = 0; pass < radices.count; ++pass) {
    const int r = radices[pass];
    for (int i = 1; i < r; ++i)
      for (Size p = 0; p < points / r; ++p) {
        result.push_back(cos_pi(2 * p * i, points));
        result.push_back(sin_pi(2 * p * i, points));
      }
    points /= r;
  }
  return result;
}

void append(std::vector<double>& to, const std::array<double, 4>& factors) {
  to.insert(to.end(), factors.begin(), factors.end());
}

/// Type IV: with points z_l = f_{2l} + i f_{n-1-2l} the results are c_{2k} - i c_{n-1-2k} = sum of z_l e^{-i phi}, phi
/// = pi (4k+1) (4l+1) / 4n.
void plan_mixed_ends(FastLine& plan, bool sine) {
  const Size n = plan.size;
  const double scale = std::sqrt(2 / static_cast<double>(n));
  for (Size l = 0; 2 * l < n; ++l) {
    const Lid first = static_cast<Lid>(2 * l), last = static_cast<Lid>(n - 1 - 2 * l);
    // sin(pi (2k+1) (2i+1) / 4n) is (-1)^k times the cosine in the cell i' = n-1-i.
    plan.in.insert(plan.in.end(), {sine ? last + 0 : first, sine ? first + 0 : last});
    plan.out.insert(plan.out.end(), {first, sine ? -1 - last : last});
    const double c = cos_pi(l, n), s = sin_pi(l, n);
    append(plan.before, {c, s, 0, 0});
    const double d = scale * cos_pi(4 * l + 1, 4 * n), t = scale * sin_pi(4 * l + 1, 4 * n);
    append(plan.after, {d, t, 0, 0});
  }
}

/// With the real transform X of length n, X_k = [(Z_k + Z*_{m-k}) - i e^{-2 pi i k / n} (Z_k - Z*_{m-k})] / 2 of the
/// complex one of m = n / 2 points, the modes are Re and -Im of X_k turned by `turn` k / 2n half turns.
void plan_equal_ends(FastLine& plan, LineEnd end) {
  const Size n = plan.size, m = n / 2;
  const bool periodic = end == LineEnd::periodic, sine = end == LineEnd::dirichlet;
  for (Lid s = 0; s < n; ++s) {
    const Lid mirrored = static_cast<Lid>(2 * (n - 1 - s) + 1);
    plan.in.push_back(periodic ? s : s < m ? 2 * s : sine ? -1 - mirrored : mirrored);
  }
  // Modes lie in the order of line_modes.hpp: even ones first.
  const auto place = [&](Size mode) {
    if (sine) mode = n - 1 - mode;
    return static_cast<Lid>(mode / 2 + (mode % 2 == 0 ? 0 : m));
  };
  const double scale = std::sqrt(2 / static_cast<double>(n)), once = std::sqrt(1 / static_cast<double>(n));
  for (Size k = 0; k < m; ++k) {
    plan.out.push_back(periodic ? static_cast<Lid>(k) : place(k));
    plan.out.push_back(periodic ? static_cast<Lid>(k == 0 ? n - 1 : m + k - 1) : place(k == 0 ? m : n - k));
    if (k == 0) {
      append(plan.after, {once, once, 0, 0});
      continue;
    }
    const Size turn = periodic ? 2 * k : k, both = turn + 4 * k + n;  // of 2n: half turns
    const double c = cos_pi(turn, 2 * n), s = sin_pi(turn, 2 * n), d = cos_pi(both, 2 * n), t = sin_pi(both, 2 * n);
    const double half = scale / 2;
    const double a_re = half * (c + d), a_im = -half * (s + t), b_re = half * (c - d), b_im = -half * (s - t);
    append(plan.after, {a_re, -a_im, b_re, b_im});
  }
}

}  // namespace

bool has_fast_transform(const Line& line) {
  const Lid n = line.size();
  return n >= 2 && n <= most_cells && n % 2 == 0 && is_uniform(line) && (n == 2 || radices_of(n / 2).count > 0);
}

FastLine fast_line(const Line& line) {
  require(has_fast_transform(line), "no fast transform of {} cells", line.size());
  FastLine plan;
  plan.size = line.size();
  plan.radices = radices_of(plan.size / 2);
  require(plan.radices.count <= most_fast_passes, "{} passes of a line", plan.radices.count);
  plan.twiddles = twiddles_of(plan.radices, plan.size / 2);
  if (line.low != line.high)
    plan_mixed_ends(plan, line.low == LineEnd::dirichlet);
  else
    plan_equal_ends(plan, line.low);
  return plan;
}

FastLine transposed(const FastLine& line) {
  FastLine result = line;
  const std::size_t points = static_cast<std::size_t>(line.size) / 2;
  // The transposed Fourier transform, of real and imaginary parts, is its inverse but for a factor: the same one with
  // both parts exchanged before and after. What is exchanged are the mixes' factors, or places. The mirror image's part
  // of a point becomes the point's part of its mirror image.
  const auto mix = [&](const std::vector<double>& of, double sign) {
    std::vector<double> to;
    for (std::size_t k = 0; k * 4 < of.size(); ++k) {
      const double *own = &of[4 * k], *mirror = &of[4 * ((points - k) % points)];
      to.insert(to.end(), {sign * own[1], -sign * own[0], mirror[3], mirror[2]});
    }
    return to;
  };
  result.before = mix(line.after, 1);
  result.after = mix(line.before, -1);
  result.in = line.out;
  result.out = line.in;
  if (result.after.empty())
    for (std::size_t k = 0; k < points; ++k) std::swap(result.out[2 * k], result.out[2 * k + 1]);
  return result;
}

}  // namespace tutti::incompressible
