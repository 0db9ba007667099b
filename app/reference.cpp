// tutti reference: the page of all case keys, from the table that the parser uses.
#include "app/commands.hpp"

namespace tutti::app {

void add_reference(CLI::App& program, Action& action) {
  auto model = std::make_shared<std::string>("diffusion");
  CLI::App* command = program.add_subcommand("reference", "print the reference of case files (Markdown)");
  command->add_option("model", *model, "whose keys")->check(CLI::IsMember(model_names()))->capture_default_str();
  command->footer("Example:\n  tutti reference | less");
  command->callback([model, &action] {
    action = [model](const Comm& comm) {
      if (comm.is_root()) std::fputs(case_reference_markdown(schema_of(*model)).c_str(), stdout);
    };
  });
}

}  // namespace tutti::app
