// The loop around any model: time, progress, output, summary.
#pragma once

#include <filesystem>
#include <string>

#include "tutti/base/comm.hpp"
#include "tutti/device/device_list.hpp"
#include "tutti/io/case.hpp"
#include "tutti/io/trace.hpp"
#include "tutti/simulation/model.hpp"
#include "tutti/simulation/phases.hpp"

namespace tutti {

/// Which steps a run makes: `steps` of length `dt`.
struct TimeSteps {
  Size steps = 0;
  double dt = 0;
};
/// From [time]: `steps` of the model's step, or as many as reach `end`, shortened so that the last one meets it.
TimeSteps plan_steps(const Case& options, double model_dt);

/// Runs the model from t = 0 as the case says and leaves results.pvd, probes.csv, metrics.jsonl, effective.toml (the
/// case with all defaults) and summary.json in `folder`, and the chosen steps in the trace, if it is on. Collective.
/// Returns the summary (complete on rank 0).
Summary simulate(const Comm& comm, Model& model, DeviceSet& devices, const Case& options,
                 const std::filesystem::path& folder, const Phases& setup, Trace& trace);

}  // namespace tutti
