// Dense systems, the slow obvious way: elimination with the largest pivot of all.
#pragma once

#include <cmath>
#include <cstddef>
#include <numeric>
#include <utility>
#include <vector>

namespace tutti::test {

/// Row after row.
template <class Real>
using Rows = std::vector<std::vector<Real>>;

template <class Real>
Rows<Real> zero_rows(std::size_t rows, std::size_t columns) {
  return Rows<Real>(rows, std::vector<Real>(columns, Real{0}));
}

/// x with a x = b, for each column of b; a is square and regular.
template <class Real>
Rows<Real> solve_by_elimination(Rows<Real> a, Rows<Real> b) {
  const std::size_t n = a.size();
  std::vector<std::size_t> unknown(n);
  std::iota(unknown.begin(), unknown.end(), std::size_t{0});
  const auto subtract = [](std::vector<Real>& from, Real factor, const std::vector<Real>& row, std::size_t begin) {
    for (std::size_t j = begin; j < row.size(); ++j) from[j] -= factor * row[j];
  };
  for (std::size_t k = 0; k < n; ++k) {
    std::size_t row = k, column = k;
    for (std::size_t i = k; i < n; ++i)
      for (std::size_t j = k; j < n; ++j)
        if (std::abs(a[i][j]) > std::abs(a[row][column])) row = i, column = j;
    std::swap(a[k], a[row]);
    std::swap(b[k], b[row]);
    for (auto& any : a) std::swap(any[k], any[column]);
    std::swap(unknown[k], unknown[column]);
    for (std::size_t i = k + 1; i < n; ++i) {
      const Real factor = a[i][k] / a[k][k];
      subtract(a[i], factor, a[k], k);
      subtract(b[i], factor, b[k], 0);
    }
  }
  Rows<Real> x(n);
  for (std::size_t k = n; k-- > 0;) {
    for (std::size_t j = k + 1; j < n; ++j) subtract(b[k], a[k][j], x[unknown[j]], 0);
    for (Real& value : b[k]) value /= a[k][k];
    x[unknown[k]] = std::move(b[k]);
  }
  return x;
}

/// The same for one right-hand side.
template <class Real>
std::vector<Real> solve_by_elimination(Rows<Real> a, const std::vector<Real>& b) {
  Rows<Real> right;
  for (const Real value : b) right.push_back({value});
  std::vector<Real> x;
  for (const auto& row : solve_by_elimination(std::move(a), std::move(right))) x.push_back(row[0]);
  return x;
}

}  // namespace tutti::test
