// The models a program knows: what it needs to read their cases and to make them.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "tutti/base/mpi/comm.hpp"
#include "tutti/device/device_list.hpp"
#include "tutti/domain/setup.hpp"
#include "tutti/io/case/case.hpp"
#include "tutti/io/case/core_keys.hpp"
#include "tutti/program/planned.hpp"
#include "tutti/simulation/model.hpp"

namespace CLI {  // NOLINT(readability-identifier-naming): of the library CLI11
class App;
}

namespace tutti {

/// What the chosen subcommand does. All ranks run it.
using Action = std::function<void(const Comm&)>;

/// What `tutti spectrum` asks of a model.
struct SpectrumSetup {
  const Comm& comm;
  std::string file;                                                ///< of the case
  std::function<Case(const std::vector<std::string>& sets)> read;  ///< the case, changed by these, too; collective
  DeviceOptions on_cpu;
  std::string output;  ///< table of the eigenvalues
  /// Draws the table. On the root.
  std::function<void(const std::string& title, const std::string& method)> draw;
};

/// All that a program knows of a model. A run needs the first three; each command refuses the cases of models without
/// what it asks for.
struct ModelKind {
  std::string name;                                                 ///< the word of the case's key `model`
  std::function<void(CaseSchema&)> add_keys;                        ///< adds its keys to the core's
  std::function<std::unique_ptr<Model>(const ModelSetup&)> create;  ///< collective
  DomainKeys domain = DomainKeys::tetrahedra;                       ///< what the core's keys describe

  // For `plan` and `devices --model`.
  /// Its rows, yet to be loaded; they are only cut and counted.
  std::function<std::unique_ptr<Domain>(const Case&)> rows = {};
  /// How they are shared, with the rate of its kernel. The arguments outlive it.
  std::function<Sharing(const Case&, Threads&)> sharing = {};
  /// Collective, with the devices of the plan replaced by the CPU.
  std::function<PlannedStep(const ModelSetup&)> plan_step = {};
  /// Of `rows`, cut for the devices. Collective.
  std::function<std::vector<PlannedPart>(const ModelSetup&, const Domain&, const PlannedStep&)> plan_parts = {};
  /// What else a plan tells of these devices. Collective.
  std::function<std::vector<std::string>(const ModelSetup&)> plan_lines = {};
  std::function<PlannedPass(const Case&)> plan_pass = {};

  std::function<void(CLI::App& bench, Action&)> add_bench = {};   ///< adds `bench NAME`
  std::function<void(const SpectrumSetup&)> write_spectrum = {};  ///< collective
  /// Adds subcommands of its own.
  std::function<void(CLI::App& program, Action&)> add_commands = {};
};
using ModelKinds = std::vector<ModelKind>;

/// The model of a case that was read with these.
const ModelKind& kind_of(const Case& options, const ModelKinds& models);
std::vector<std::string> model_names(const ModelKinds& models);
/// The core's keys and those of one of the models.
CaseSchema schema_of(const ModelKinds& models, const std::string& name);
/// A case file, of a folder its case.toml: read by rank 0, checked against the keys of its model by all. `sets` are the
/// command line's "a.b=value". Collective. Errors: as read_case.
Case load_case(const Comm& comm, const std::string& file, const std::vector<std::string>& sets,
               const ModelKinds& models);
/// The model that the case names, set up and ready to run. Collective.
std::unique_ptr<Model> create_model(const ModelSetup& setup, const ModelKinds& models);

}  // namespace tutti
