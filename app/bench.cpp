// tutti bench: a model's speed beside the STREAM triad of the same run. Each model brings its own.
#include "app/commands.hpp"

namespace tutti::app {

void add_bench(CLI::App& program, Action& action) {
  CLI::App* command = program.add_subcommand("bench", "benchmark a model against the memory bandwidth");
  command->require_subcommand(1);
  std::string examples = "Examples:";
  for (const ModelKind& kind : models()) {
    if (!kind.add_bench) continue;
    kind.add_bench(*command, action);
    examples += "\n  tutti bench " + kind.name + " --devices cpu";
  }
  command->footer(examples);
}

}  // namespace tutti::app
