// Anderson's acceleration of a fixed-point iteration (Walker and Ni, SIAM J. Numer. Anal. 49, 2011), on the host.
#pragma once

#include <vector>

#include "tutti/base/mpi/comm.hpp"
#include "tutti/io/checkpoint/checkpoint.hpp"
#include "tutti/simulation/model_field.hpp"

namespace tutti::diffusion {

class Anderson {
 public:
  using Values = std::vector<std::vector<double>>;  ///< of owned rows, by part

  /// `lengths`: of each part of this rank.
  Anderson(const Comm& comm, const std::vector<std::size_t>& lengths);
  /// The next iterate, from this one and its image, by the differences of those before. Sums are exact: the same bits
  /// for every partition. Collective.
  Values next(const Values& iterate, const Values& image);
  void forget() { seen_ = used_ = 0; }

  /// With these put back the iteration goes on bit for bit.
  std::vector<ModelField> fields();
  std::vector<StateNumber> numbers();

 private:
  static constexpr std::size_t depth = 5;
  struct Pair {
    Values residual, image;
  };

  const Comm& comm_;
  std::vector<Pair> differences_;  ///< the latest first
  Pair last_;
  double seen_ = 0, used_ = 0;  ///< 1: there is a last one; how many differences there are
};

}  // namespace tutti::diffusion
