// Watches whether some device waits for others, step after step.
#pragma once

#include <optional>
#include <vector>

#include "tutti/base/mpi/comm.hpp"
#include "tutti/simulation/model.hpp"

namespace tutti {

/// What a part did in some steps.
struct PartLoad {
  Gid cells = 0;
  double busy = 0;  ///< seconds that its device computed
};

/// Shares of the work that let all devices compute as long as each other.
struct NewShares {
  std::vector<double> weights;           ///< of all parts, sum 1
  int idle_part = -1;                    ///< the one that waited most
  double idle = 0;                       ///< of the slowest device's time, that it waited
  double seconds = 0, seconds_then = 0;  ///< of computing a step: the slowest device's, and predicted
};

/// Shares in proportion to the cells a second of each part over `steps` steps. Nothing where no device waited more than
/// 5 % of the slowest one's time, where a part's time is not known, or where other shares would not help by 2 %.
std::optional<NewShares> choose_shares(const std::vector<PartLoad>& loads, Size steps);

/// Looks at windows of 50 steps or more. All members are collective.
class LoadMonitor {
 public:
  /// `cost`: seconds that repartitioning takes (the mesh is set up again), on the root.
  LoadMonitor(const Comm& comm, Model& model, double cost);
  /// `steps` are done and `left` are to come. Repartitioning where it saves more than it costs, the same on all ranks.
  std::optional<NewShares> look(Size steps, Size left);

 private:
  const Comm& comm_;
  Model& model_;
  double cost_;
  std::vector<Gid> cells_;  ///< of this rank's parts
  std::vector<PartSeconds> before_;
  Size steps_before_ = -1;
};

}  // namespace tutti
