// The subcommand `reference`: the page of all case keys, from the table that the parser uses.
#include <CLI/CLI.hpp>
#include <cstdio>

#include "tutti/program/program.hpp"

namespace tutti {

void add_reference_command(CLI::App& program, Action& action, const ModelKinds& models, const std::string& example) {
  auto model = std::make_shared<std::string>(models.front().name);
  CLI::App* command = program.add_subcommand("reference", "print the reference of case files (Markdown)");
  command->add_option("model", *model, "whose keys")->check(CLI::IsMember(model_names(models)))->capture_default_str();
  command->footer("Example:\n  " + example);
  command->callback([model, &action, &models] {
    action = [model, &models](const Comm& comm) {
      if (comm.is_root()) std::fputs(case_reference_markdown(schema_of(models, *model)).c_str(), stdout);
    };
  });
}

}  // namespace tutti
