#include "tutti/models/transport/stencils/dense_lu.hpp"

#include <algorithm>
#include <cmath>

namespace tutti::transport::dense {
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

/// `rows` rows below a whole panel, which begins at column `first`; the uppermost is row i.
template <int rows>
void update_rows(const Augmented& a, int first, int i) {
  const int begin = first + panel_columns, width = a.size + a.sides;
  const double* u[panel_columns];
  double* row[rows];
  double l[rows][panel_columns];
  for (int k = 0; k < panel_columns; ++k) u[k] = a.row(first + k);
  for (int r = 0; r < rows; ++r) {
    row[r] = a.row(i + r);
    for (int k = 0; k < panel_columns; ++k) l[r][k] = -row[r][first + k];
  }
#if defined(_OPENMP)
#pragma omp simd
#endif
  for (int j = begin; j < width; ++j) {
    double x[rows];
    for (int r = 0; r < rows; ++r) x[r] = row[r][j];
    for (int k = 0; k < panel_columns; ++k)
      for (int r = 0; r < rows; ++r) x[r] = std::fma(l[r][k], u[k][j], x[r]);
    for (int r = 0; r < rows; ++r) row[r][j] = x[r];
  }
}

void update_below(const Augmented& a, int first) {
  int i = first + panel_columns;
  for (; i + 3 < a.size; i += 4) update_rows<4>(a, first, i);
  for (; i + 1 < a.size; i += 2) update_rows<2>(a, first, i);
  if (i < a.size) update_rows<1>(a, first, i);
}

/// Row i of the solutions; those below are known.
void back_row(const Augmented& a, int i) {
  double* row = a.row(i);
  double b[side_places];
  for (int s = 0; s < side_places; ++s) b[s] = row[a.size + s];
  for (int k = a.size - 1; k > i; --k) {
    const double u = -row[k];
    const double* __restrict x = a.row(k) + a.size;
    for (int s = 0; s < side_places; ++s) b[s] = std::fma(u, x[s], b[s]);
  }
  const double inverse = 1 / row[i];
  for (int s = 0; s < side_places; ++s) row[a.size + s] = b[s] * inverse;
}

// The triangles with a single side, a few rows at a time: their sums run side by side, and each still takes its terms
// in turn.

template <int rows>
void forward_rows_again(const Augmented& a, int first, double* x) {
  double b[rows];
  for (int r = 0; r < rows; ++r) b[r] = x[first + r];
  for (int k = 0; k < first; ++k)
    for (int r = 0; r < rows; ++r) b[r] = std::fma(-a.row(first + r)[k], x[k], b[r]);
  for (int k = 0; k < rows; ++k) {
    x[first + k] = b[k];
    for (int r = k + 1; r < rows; ++r) b[r] = std::fma(-a.row(first + r)[first + k], b[k], b[r]);
  }
}

template <int rows>
void back_rows_again(const Augmented& a, int last, double* x) {
  const int begin = last - rows;
  double b[rows];
  for (int r = 0; r < rows; ++r) b[r] = x[begin + r];
  for (int k = a.size - 1; k >= last; --k)
    for (int r = 0; r < rows; ++r) b[r] = std::fma(-a.row(begin + r)[k], x[k], b[r]);
  for (int k = rows - 1; k >= 0; --k) {
    x[begin + k] = b[k] * (1 / a.row(begin + k)[begin + k]);
    for (int r = 0; r < k; ++r) b[r] = std::fma(-a.row(begin + r)[begin + k], x[begin + k], b[r]);
  }
}

}  // namespace

bool eliminate(const Augmented& a, int* pivots) {
  for (int first = 0; first < a.size; first += panel_columns) {
    const int last = std::min(first + panel_columns, a.size);
    if (!factor_panel(a, first, last, pivots)) return false;
    finish_panel_rows(a, first, last);
    // A narrower panel is the last one: there is nothing below it.
    if (last < a.size) update_below(a, first);
  }
  return true;
}

void substitute_back(const Augmented& a) {
  for (int i = a.size - 1; i >= 0; --i) back_row(a, i);
}

void solve_again(const Augmented& a, const int* pivots, double* x) {
  for (int k = 0; k < a.size; ++k) std::swap(x[k], x[pivots[k]]);
  int first = 0;
  for (; first + 4 <= a.size; first += 4) forward_rows_again<4>(a, first, x);
  for (; first < a.size; ++first) forward_rows_again<1>(a, first, x);
  int last = a.size;
  for (; last >= 4; last -= 4) back_rows_again<4>(a, last, x);
  for (; last >= 1; --last) back_rows_again<1>(a, last, x);
}

}  // namespace tutti::transport::dense
