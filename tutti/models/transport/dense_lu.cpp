#include "tutti/models/transport/dense_lu.hpp"

#include <algorithm>
#include <cmath>

namespace tutti::dense {
namespace {

// Columns that are eliminated before the rest of the matrix is touched: so that each value that is read takes part in
// several sums.
constexpr int panel_columns = 4;

bool is_usable(double pivot) {
  return std::fabs(pivot) > 0 && std::fabs(pivot) < HUGE_VAL;
}

/// The row of the first of the largest entries of column k, from row k on.
int find_pivot(const Augmented& a, int k) {
  int place = k;
  double largest = std::fabs(a.row(k)[k]);
  for (int i = k + 1; i < a.size; ++i) {
    const double size = std::fabs(a.row(i)[k]);
    if (size > largest) {
      largest = size;
      place = i;
    }
  }
  return place;
}

/// Eliminates columns [first, last) within themselves; rows change places as a whole.
bool factor_panel(const Augmented& a, int first, int last, int* pivots) {
  const int width = a.size + a.sides;
  for (int k = first; k < last; ++k) {
    const int place = find_pivot(a, k);
    pivots[k] = place;
    double* u = a.row(k);
    if (place != k) std::swap_ranges(u, u + width, a.row(place));
    if (!is_usable(u[k])) return false;
    const double inverse = 1 / u[k];
    for (int i = k + 1; i < a.size; ++i) {
      double* row = a.row(i);
      const double l = row[k] * inverse;
      row[k] = l;
      for (int j = k + 1; j < last; ++j) row[j] = std::fma(-l, u[j], row[j]);
    }
  }
  return true;
}

/// Rows [first, last) to the right of their panel.
void finish_panel_rows(const Augmented& a, int first, int last) {
  const int width = a.size + a.sides;
  for (int k = first; k < last; ++k) {
    const double* __restrict u = a.row(k);
    for (int i = k + 1; i < last; ++i) {
      double* __restrict row = a.row(i);
      const double l = row[k];
      for (int j = last; j < width; ++j) row[j] = std::fma(-l, u[j], row[j]);
    }
  }
}

/// The rows below a panel of four columns, two at a time.
void update_below_four(const Augmented& a, int first) {
  const int begin = first + panel_columns, width = a.size + a.sides;
  const double* __restrict u0 = a.row(first), * __restrict u1 = a.row(first + 1), * __restrict u2 = a.row(first + 2), * __restrict u3 = a.row(first + 3);
  int i = begin;
  for (; i + 1 < a.size; i += 2) {
    double* __restrict p = a.row(i), * __restrict q = a.row(i + 1);
    const double p0 = -p[first], p1 = -p[first + 1], p2 = -p[first + 2], p3 = -p[first + 3];
    const double q0 = -q[first], q1 = -q[first + 1], q2 = -q[first + 2], q3 = -q[first + 3];
    for (int j = begin; j < width; ++j) {
      p[j] = std::fma(p3, u3[j], std::fma(p2, u2[j], std::fma(p1, u1[j], std::fma(p0, u0[j], p[j]))));
      q[j] = std::fma(q3, u3[j], std::fma(q2, u2[j], std::fma(q1, u1[j], std::fma(q0, u0[j], q[j]))));
    }
  }
  for (; i < a.size; ++i) {
    double* __restrict p = a.row(i);
    const double p0 = -p[first], p1 = -p[first + 1], p2 = -p[first + 2], p3 = -p[first + 3];
    for (int j = begin; j < width; ++j)
      p[j] = std::fma(p3, u3[j], std::fma(p2, u2[j], std::fma(p1, u1[j], std::fma(p0, u0[j], p[j]))));
  }
}

}  // namespace

bool eliminate(const Augmented& a, int* pivots) {
  for (int first = 0; first < a.size; first += panel_columns) {
    const int last = std::min(first + panel_columns, a.size);
    if (!factor_panel(a, first, last, pivots)) return false;
    finish_panel_rows(a, first, last);
    // A narrower panel is the last one: there is nothing below it.
    if (last < a.size) update_below_four(a, first);
  }
  return true;
}

void substitute_back(const Augmented& a) {
  for (int k = a.size - 1; k >= 0; --k) {
    double* __restrict x = a.row(k) + a.size;
    const double inverse = 1 / a.row(k)[k];
    for (int s = 0; s < a.sides; ++s) x[s] *= inverse;
    for (int i = 0; i < k; ++i) {
      double* __restrict b = a.row(i);
      const double u = -b[k];
      for (int s = 0; s < a.sides; ++s) b[a.size + s] = std::fma(u, x[s], b[a.size + s]);
    }
  }
}

void solve_again(const Augmented& a, const int* pivots, double* x) {
  for (int k = 0; k < a.size; ++k) std::swap(x[k], x[pivots[k]]);
  for (int k = 0; k < a.size; ++k)
    for (int i = k + 1; i < a.size; ++i) x[i] = std::fma(-a.row(i)[k], x[k], x[i]);
  for (int k = a.size - 1; k >= 0; --k) {
    x[k] *= 1 / a.row(k)[k];
    for (int i = 0; i < k; ++i) x[i] = std::fma(-a.row(i)[k], x[k], x[i]);
  }
}

}  // namespace tutti::dense
