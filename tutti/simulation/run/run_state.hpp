// What a checkpoint says about its run besides the fields, and what a restart makes of it.
#pragma once

#include <cmath>
#include <filesystem>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "tutti/base/mpi/comm.hpp"
#include "tutti/io/case/case.hpp"
#include "tutti/io/checkpoint/checkpoint.hpp"
#include "tutti/io/line_file.hpp"
#include "tutti/simulation/run/occasions.hpp"

namespace tutti {

/// Which steps a run makes: step k ends at base_time + (k - base_step) * dt, up to step `steps`, which ends at `end`.
/// So a longer run makes the steps of a shorter one, but for its last. Where something is due at a time before the end,
/// step `until` ends there exactly; others follow, and `steps` is what they will be if they are as long.
struct TimePlan {
  Size steps = 0;
  double dt = 0;
  Size base_step = 0;
  double base_time = 0;
  double end = 0;         ///< 0: all steps have the length dt
  Size until = 0;         ///< 0: dt holds up to the end
  double until_time = 0;  ///< of step `until`
  double longest = 0;     ///< what dt was shortened from; as the model wants its steps
  /// Is the last step shorter (or, by rounding, longer) than the others?
  bool fitted() const { return end != 0 && until == 0 && std::abs(end - regular(steps - 1) - dt) > 1e-9 * dt; }
  double time_of(Size step) const {
    if (until > 0 && step == until) return until_time;
    return step == steps && fitted() ? end : regular(step);
  }
  double dt_of(Size step) const { return step == steps && fitted() ? end - regular(steps - 1) : dt; }

 private:
  double regular(Size step) const { return base_time + static_cast<double>(step - base_step) * dt; }
};

/// A run, as a checkpoint describes it (the file's /meta, JSON).
struct RunState {
  std::string version;
  std::vector<std::pair<std::string, std::string>> provenance;  ///< of the run that wrote it (io/provenance.hpp)
  std::string model, case_name, case_toml;
  Gid rows = 0;
  std::uint64_t mesh_checksum = 0;
  Size step = 0;
  double time = 0;
  TimePlan plan;
  double end = 0;                                     ///< time.end; 0: the case gave time.steps
  std::vector<std::string> devices;                   ///< kind of each part's device
  std::vector<double> outputs;                        ///< times of the results written so far
  std::map<std::string, std::vector<double>> slices;  ///< by what describes a slice: times of what is written so far
  /// Each file that grows by lines (probes.csv, ...): its length so far, and its lines; older checkpoints know no
  /// lines.
  std::map<std::string, Size> file_bytes, file_lines;
  std::map<std::string, double> numbers;  ///< of the model

  /// What it knows of such a file, to go on with; `until`: see EarlierLines. `when`: lines are due. A line that was
  /// written only because the run ended here is left out, where it now goes on.
  EarlierLines lines_of(const std::string& file, double until, const Occasions& when = {}, bool goes_on = false) const;
};
std::string run_state_json(const RunState& state);
/// Error(input) names `source` and what is missing.
RunState parse_run_state(const std::string& json, const std::string& source);

/// A run that goes on from a checkpoint.
struct Restart {
  CheckpointReader reader;
  RunState state;
  std::filesystem::path folder;  ///< the results folder that the checkpoint stands in
};
/// The results folder that `path` means for open_restart: itself, or what it stands in.
std::filesystem::path results_folder_of(const std::filesystem::path& path);
/// Opens and verifies the newest checkpoint in `path` (a results folder, its checkpoints/, or one file). With
/// `fall_back` a damaged one is passed over with a warning. Collective. Error(io): there is none. Error(input):
/// damaged. One of another version of tutti is taken with a warning.
Restart open_restart(const Comm& comm, const std::filesystem::path& path, bool fall_back);

/// Refuses a case that would not continue the checkpoint's run: every key must be as it was, but those that do not
/// change what is computed (output, report, devices, partition, balance, checkpoint, the end). Error(input) names the
/// first differing key with both values.
void check_same_case(const Case& now, const Case& before, const std::string& source);

/// The one check of a step's length, for every model, at set-up and whenever the step has changed. `time`: the latest
/// at which it is taken. Error(numerical): it is not positive and finite, or time + dt is time again.
void check_time_step(const Case& options, double dt, double time);

/// The plan from [time]: `steps` of the model's step, or as many as reach `end`, the last one shortened to meet it;
/// with `end`, steps are shortened to meet all times at which something is due (next_occasion) as well. Of a restart:
/// the plan goes on; an end that moved is reached by the same steps, or behind a shortened one from where the
/// checkpoint stands. Errors: as check_time_step; Error(input): too many steps.
TimePlan plan_steps(const Case& options, double model_dt);
TimePlan plan_rest(const Case& options, const RunState& state);
/// Of a model that advances in units of its own up to `end`: from `begin` on in equal steps of about `dt`, no longer.
TimePlan plan_units(double end, Size step, double begin, double dt);
/// After `step` steps, at `time`: the rest of the run in steps of about `dt`, no longer. Errors as plan_steps.
TimePlan plan_from(const Case& options, Size step, double time, double dt);

}  // namespace tutti
