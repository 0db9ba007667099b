// summary.json: what a run did, in numbers (schema: docs/reference/summary.md).
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tutti/base/types.hpp"

namespace tutti {

/// Where a large read-only array of a part was held.
struct HeldArraySummary {
  std::string array;   ///< "coefficients A"
  std::string policy;  ///< "resident", "streamed"
  std::string format;  ///< "double", "int32", "zfp-32"
  double loss = 0;     ///< relative L2 norm of what the format lost
  Size device_bytes = 0, host_bytes = 0;
  Size brought_bytes = 0;  ///< from the host, all passes
};

/// One part: what one device owned and did.
struct PartSummary {
  int rank = 0;
  std::string device;  ///< "cpu", "cuda:0", "fake:1"
  Gid cells = 0;
  Gid ghosts = 0;
  double weight = 0;  ///< share of the cells that was aimed at, all parts together 1
  struct {
    double separator = 0, interior = 0, exchange = 0, idle = 0;  ///< s, sums over all steps
  } seconds;
  Size bytes = 0;                            ///< that its kernels moved by the model's count, all steps
  double gb_per_second = 0;                  ///< bytes over the kernels' seconds, 1e9 bytes a second
  std::optional<double> fraction_of_stream;  ///< of the measured triad; absent when it was not measured
  std::vector<HeldArraySummary> held;        ///< by [residency]; none where all is resident as ever
};

/// How the cells were shared between the devices, and why.
struct BalanceSummary {
  std::string weights;  ///< what balance.weights said: a word, or "list"
  /// Measured weights of CPU teams and accelerators: the step they predict.
  struct Share {
    double cpu_cells = 0;                     ///< of the whole mesh, for all CPU teams; 0: they would slow a step down
    double seconds = 0, seconds_without = 0;  ///< of a step: so, and by the accelerators alone
    bool in_cache = false;                    ///< the CPUs' caches make it worth while
  };
  std::optional<Share> share;
  /// Measured weights of several GPUs, one of which gets all that GPUs get: the pass they predict.
  struct OneGpu {
    int part = 0;
    double seconds = 0, seconds_together = 0;  ///< of a pass: so, and by all GPUs
  };
  std::optional<OneGpu> one_gpu;
  std::vector<int> full_parts;  ///< that have no room for what their weight would give them
};

struct ErrorSummary {
  double l2 = 0, linf = 0, gradient_l2 = 0;
};

/// How far a field is from its exact solution: root mean square over the mesh, and the largest difference. Relative
/// ones are over the same norm of the exact solution.
struct FieldError {
  std::string name;
  double l2 = 0, linf = 0, relative_l2 = 0, relative_linf = 0;
};

/// One of several quantities that are carried. Errors are relative to the exact solution's norm.
struct TracerSummary {
  std::string name;
  double mass = 0,
         mass_drift = 0;  ///< integral over the sphere; drift: relative to the first, or as it is where that is 0
  double min = 0, max = 0;
  std::optional<double> l1, l2, linf;  ///< absent without an exact solution
};

/// What a flow does to a surface: force [N], moment about the origin [N m], by pressure and friction.
struct ForceSummary {
  std::string surface;
  std::array<double, 3> force{}, moment{};
};

/// The mesh was repartitioned, because a device waited for others.
struct RebalanceSummary {
  Size step = 0;                         ///< after it
  double idle = 0;                       ///< of a step's computing, that the device waited
  double seconds = 0, seconds_then = 0;  ///< of computing a step: before, and as it was predicted
  double cost = 0;                       ///< seconds: checkpoint, set-up, and reading it again
};

struct Summary {
  std::string version;    ///< of tutti
  std::string model;      ///< "diffusion"
  std::string case_file;  ///< as it was given
  Gid cells = 0;
  Size steps = 0;             ///< done in all
  Size first_step = 0;        ///< done before this run, by the one that it continues
  bool stopped = false;       ///< ended by a signal or the file `stop`, before the end
  bool steady = false;        ///< ended by the model, because nothing changes any more, before the end
  double time = 0;            ///< simulated, s
  double dt = 0;              ///< of the (last full) step, s
  std::optional<double> rho;  ///< spectral radius of the operator, 1/s
  std::string overlap;        ///< "none", "messages", "full"
  int ranks = 1;
  double wall_seconds = 0;  ///< of the steps, without set-up and output
  /// What a run without time advanced in; `time` and `dt` count these.
  struct Units {
    std::string unit, work;      ///< "sources", "edges x sources"
    double work_per_second = 0;  ///< of this run
  };
  std::optional<Units> units_of_advance;
  double cell_steps_per_second = 0;
  std::vector<std::pair<std::string, double>> setup_seconds;  ///< by phase, in order
  double output_seconds = 0;
  double checkpoint_seconds = 0;  ///< that the steps waited for checkpoints
  Size peak_memory_bytes = 0;     ///< largest resident set, sum over ranks
  std::vector<PartSummary> parts;
  std::vector<RebalanceSummary> rebalances;
  BalanceSummary balance;
  struct {
    Size bytes = 0, messages = 0;  ///< over all steps and parts, each message once
  } exchange;
  std::vector<std::pair<std::string, double>> diagnostics;  ///< at the end
  std::vector<TracerSummary> tracers;
  std::optional<ErrorSummary> errors;       ///< absent without an exact solution, and where it cannot be evaluated
  std::vector<FieldError> field_errors;     ///< of all fields with an exact solution
  std::optional<double> free_stream_error;  ///< of a uniform flow in a time step, over its own size
  std::vector<ForceSummary> forces;         ///< of walls
  /// Of implicit steps or a steady solution.
  struct Solver {
    Size iterations = 0;      ///< of all steps
    Size linearisations = 0;  ///< of the last solution; 0: the equations are linear
    double residual = 0;      ///< of the last solution, relative to the right-hand side
    double tolerance = 0;     ///< that was asked for
    std::string not_solved;   ///< why the last solution is none; empty: it is one
  };
  std::optional<Solver> solver;
  /// What flows into the domain of a steady solution, a unit of time; in all it is nearly 0.
  struct Flows {
    std::map<std::string, double> boundaries;  ///< through each surface
    double source = 0, sum = 0;                ///< of the domain, and of all of these
  };
  std::optional<Flows> flows;
  std::string wrong;    ///< why the results are none
  std::string problem;  ///< why `errors` is absent though the case has an exact solution; on all ranks
  struct {
    std::string name = "mass";                 ///< what is kept: "heat" in flows
    double initial = 0, final = 0, drift = 0;  ///< drift: (final - initial) / scale as the model defines it
    bool drifts = true;                        ///< false: no time passes, so that only `final` says something
  } mass;
  std::uint64_t checksum = 0;                ///< of the final field in global cell order
  std::map<std::string, std::string> units;  ///< of the written fields, for plots
};

/// The text of summary.json. A number that is not finite becomes null.
std::string summary_json(const Summary& summary);
/// Writes it; the file appears whole or not at all. Error(io).
void write_summary(const std::filesystem::path& path, const Summary& summary);
/// Largest resident set of this process so far, in bytes (getrusage).
Size peak_memory();

}  // namespace tutti
