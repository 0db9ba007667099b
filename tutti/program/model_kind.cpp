#include "tutti/program/model_kind.hpp"

#include <algorithm>
#include <filesystem>

#include "tutti/io/case/core_keys.hpp"

namespace tutti {
namespace {

const ModelKind& find_model(const ModelKinds& models, const std::string& name) {
  const auto found = std::find_if(models.begin(), models.end(), [&](const ModelKind& m) { return m.name == name; });
  require(found != models.end(), "no model '{}': the case was read with other models", name);
  return *found;
}

}  // namespace

const ModelKind& kind_of(const Case& options, const ModelKinds& models) {
  return find_model(models, options.text("model"));
}

std::vector<std::string> model_names(const ModelKinds& models) {
  std::vector<std::string> names;
  for (const ModelKind& model : models) names.push_back(model.name);
  return names;
}

CaseSchema schema_of(const ModelKinds& models, const std::string& name) {
  const ModelKind& model = find_model(models, name);
  CaseSchema schema = core_schema(model_names(models), model.domain);
  model.add_keys(schema);
  return schema;
}

Case load_case(const Comm& comm, const std::string& file, const std::vector<std::string>& sets,
               const ModelKinds& models) {
  std::string path = file, text;
  comm.together([&] {
    if (!comm.is_root()) return;
    std::error_code unknown;
    if (std::filesystem::is_directory(path, unknown)) path = (std::filesystem::path(path) / "case.toml").string();
    text = read_text_file(path);
  });
  comm.broadcast(path);
  comm.broadcast(text);
  Case options;
  comm.together([&] {
    options = parse_case(text, path, schema_of(models, case_model(text, path, sets, model_names(models))), sets);
  });
  return options;
}

std::unique_ptr<Model> create_model(const ModelSetup& setup, const ModelKinds& models) {
  return kind_of(setup.options, models).create(setup);
}

}  // namespace tutti
