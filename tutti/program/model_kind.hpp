// The models a program knows: what it needs to read their cases and to make them.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "tutti/base/comm.hpp"
#include "tutti/device/device_list.hpp"
#include "tutti/domain/setup.hpp"
#include "tutti/io/case/case.hpp"
#include "tutti/io/case/core_keys.hpp"
#include "tutti/simulation/model.hpp"

namespace tutti {

struct ModelKind {
  std::string name;                                                 ///< the word of the case's key `model`
  std::function<void(CaseSchema&)> add_keys;                        ///< adds its keys to the core's
  std::function<std::unique_ptr<Model>(const ModelSetup&)> create;  ///< collective
  DomainKeys domain = DomainKeys::tetrahedra;                       ///< what the core's keys describe
};
using ModelKinds = std::vector<ModelKind>;

std::vector<std::string> model_names(const ModelKinds& models);
/// The core's keys and those of one of the models.
CaseSchema schema_of(const ModelKinds& models, const std::string& name);
/// The case file of `path`: read by rank 0, checked against the keys of its model by all. `sets` are the command line's
/// "a.b=value". Collective. Errors: as read_case.
Case load_case(const Comm& comm, const std::string& path, const std::vector<std::string>& sets,
               const ModelKinds& models);
/// The model that the case names, set up and ready to run. Collective.
std::unique_ptr<Model> create_model(const ModelSetup& setup, const ModelKinds& models);

}  // namespace tutti
