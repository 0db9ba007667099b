// Norms of the difference between a field and its exact solution.
#pragma once

#include <string>

#include "tutti/base/exact_sum.hpp"
#include "tutti/base/mpi/comm.hpp"
#include "tutti/io/summary.hpp"

namespace tutti {

/// Sums of this rank; the bits of the norms depend neither on the partition nor on the order of the values.
class ErrorNorms {
 public:
  /// `weight`: the volume or area that the value stands for.
  void add(double weight, double value, double exact);
  void merge(const ErrorNorms& other);
  /// Over all ranks; collective. Relative to the exact solution's norms where these are not 0, else as they are.
  FieldError over_ranks(const Comm& comm, std::string name);
  /// Over all ranks; collective. The root of the integral of the error's square, and the largest error; no gradients.
  ErrorSummary integral_over_ranks(const Comm& comm);

 private:
  ExactSum weights_, squares_, exact_squares_;
  double largest_ = 0, largest_exact_ = 0;
};

}  // namespace tutti
