#include "tutti/simulation/error_norms.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "tutti/base/mpi/over_ranks.hpp"

namespace tutti {

void ErrorNorms::add(double weight, double value, double exact) {
  const double error = value - exact;
  weights_.add(weight);
  squares_.add(weight * error * error);
  exact_squares_.add(weight * exact * exact);
  largest_ = std::max(largest_, std::abs(error));
  largest_exact_ = std::max(largest_exact_, std::abs(exact));
}

void ErrorNorms::merge(const ErrorNorms& other) {
  weights_.merge(other.weights_);
  squares_.merge(other.squares_);
  exact_squares_.merge(other.exact_squares_);
  largest_ = std::max(largest_, other.largest_);
  largest_exact_ = std::max(largest_exact_, other.largest_exact_);
}

ErrorSummary ErrorNorms::integral_over_ranks(const Comm& comm) {
  const double l2 = std::sqrt(sum_over_ranks(comm, squares_));
  return {l2, comm.max(largest_), std::numeric_limits<double>::quiet_NaN()};
}

FieldError ErrorNorms::over_ranks(const Comm& comm, std::string name) {
  const double all = sum_over_ranks(comm, weights_), squares = sum_over_ranks(comm, squares_),
               exact = sum_over_ranks(comm, exact_squares_);
  FieldError error{std::move(name), all > 0 ? std::sqrt(squares / all) : 0, comm.max(largest_), 0, 0};
  const double largest_exact = comm.max(largest_exact_);
  error.relative_l2 = exact > 0 ? std::sqrt(squares / exact) : error.l2;
  error.relative_linf = largest_exact > 0 ? error.linf / largest_exact : error.linf;
  return error;
}

}  // namespace tutti
