#include "app/commands.hpp"
namespace tutti::app {
void add_bench(CLI::App&, Action&) {}
}  // namespace tutti::app
