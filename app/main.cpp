// The program `tutti`: one subcommand a file.
#include "app/commands.hpp"
#include "tutti/base/version.hpp"

int main(int argc, char** argv) {
  tutti::ProgramInfo info;
  info.name = "tutti";
  info.about = "tutti runs mesh-based simulations on all CPU cores and all GPUs at once.";
  info.version = tutti::version();
  info.footer =
      "Examples:\n  tutti doctor                                         what works on this machine\n  tutti run "
      "examples/heart                             a case, on all cores and GPUs\n  mpirun -np 4 tutti run CASE -o DIR  "
      "                 over four MPI ranks\n  tutti plot results/heart                             a picture of the "
      "result\n\ntutti SUBCOMMAND --help lists its options and shows examples.\nExit codes: 0 ok, 2 usage, 3 "
      "resources, 4 input, 5 input/output, 6 numerical, 7 another rank or a device was lost.";
  return tutti::run_commands(argc, argv, info, [](CLI::App& program, tutti::Action& action) {
    using namespace tutti::app;  // NOLINT(google-build-using-namespace): this function is the list of them
    tutti::add_run_command(
        program, action, models(),
        "  tutti run examples/heart                              results in results/heart\n"
        "  tutti run examples/heart/case.toml -o results/heart --overwrite --set time.end=5 --devices cpu\n"
        "  tutti run --restart results/heart --set time.end=10\n"
        "  mpirun --bind-to none -np 4 tutti run examples/heart/case.toml -o results/heart4");
    add_plan(program, action);
    add_doctor(program, action);
    add_devices(program, action);
    add_mesh(program, action);
    add_nodes(program, action);
    add_partition(program, action);
    for (const tutti::ModelKind& kind : models())
      if (kind.add_commands) kind.add_commands(program, action);
    add_spectrum(program, action);
    add_plot(program, action);
    add_bench(program, action);
    add_completion(program, action);
    add_manual(program, action);
    tutti::add_reference_command(program, action, models(), "tutti reference | less");
  });
}
