// tutti spectrum: all eigenvalues of the operator of a case, for models that can find them.
#include <optional>

#include "app/commands.hpp"
#include "app/python.hpp"

namespace tutti::app {
namespace {

struct SpectrumArguments {
  std::string file, output = "eigenvalues.csv", plot;
  std::vector<std::string> sets;
  int threads = 0;
};

std::string models_with_spectrum() {
  std::string names;
  for (const ModelKind& kind : models())
    if (kind.write_spectrum) names += (names.empty() ? "" : ", ") + kind.name;
  return names;
}

void run_spectrum(const Comm& comm, const SpectrumArguments& a) {
  const auto read = [&](const std::vector<std::string>& more) {
    std::vector<std::string> sets = a.sets;
    sets.insert(sets.end(), more.begin(), more.end());
    return load_case(comm, a.file, sets);
  };
  const Case options = read({});
  const ModelKind& kind = kind_of(options, models());
  SpectrumSetup setup{comm, a.file, read, {}, a.output, {}};
  setup.on_cpu.threads = a.threads;
  std::optional<PythonPackage> python;
  comm.together([&] {
    if (!kind.write_spectrum)
      fail(ErrorKind::usage, "{}: tutti spectrum supports cases of the model {} only; use such a case",
           options.where("model"), models_with_spectrum());
    if (a.plot.empty() || !comm.is_root()) return;
    python = find_python();
    if (!python->problem.empty()) fail(ErrorKind::resource, "{}", python->problem);
  });
  if (python)
    setup.draw = [&](const std::string& title, const std::string& method) {
      run_with_python(*python, {"spectrum", fmt::format("--output={}", a.plot), fmt::format("--method={}", method),
                                fmt::format("--title={}", title), "--", a.output});
    };
  kind.write_spectrum(setup);
}

}  // namespace

void add_spectrum(CLI::App& program, Action& action) {
  auto a = std::make_shared<SpectrumArguments>();
  CLI::App* command = program.add_subcommand(
      "spectrum", "compute all eigenvalues of the operator on few nodes, with and without hyperviscosity");
  command->add_option("case", a->file, "case file (TOML), or a folder with a case.toml")->required()->type_name("CASE");
  command->add_option("--set", a->sets, "change a key of the case, e.g. --set nodes.count=1002; may be repeated")
      ->type_name("A.B=V")
      ->allow_extra_args(false);
  command->add_option("-o,--output", a->output, "table of the eigenvalues")
      ->type_name("FILE.csv")
      ->capture_default_str();
  command->add_option("--plot", a->plot, "draw them with the stability region of the time step (needs Python)")
      ->type_name("FILE.png");
  command->add_option("--threads", a->threads, "CPU threads per rank (default: its share of the cores)")
      ->check(CLI::Range(1, 4096))
      ->type_name("N");
  command->footer(
      "Example:\n  tutti spectrum examples/vortex-roll-up/case.toml --set nodes.count=1002 --plot spectrum.png");
  command->callback([a, &action] { action = [a](const Comm& comm) { run_spectrum(comm, *a); }; });
}

}  // namespace tutti::app
