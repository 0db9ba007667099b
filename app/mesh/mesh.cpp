// tutti mesh: make a mesh, look at one, or write it in another format.
#include <filesystem>
#include <optional>
#include <string>

#include "app/commands.hpp"
#include "app/mesh/mesh_commands.hpp"
#include "app/python.hpp"
#include "tutti/base/log.hpp"
#include "tutti/base/system/input_file.hpp"
#include "tutti/base/units.hpp"
#include "tutti/device/host/host_load.hpp"
#include "tutti/device/threads.hpp"
#include "tutti/mesh/files/gmsh/gmsh.hpp"
#include "tutti/mesh/files/read_mesh.hpp"
#include "tutti/mesh/generate.hpp"
#include "tutti/mesh/info.hpp"
#include "tutti/mesh/refine.hpp"
#include "tutti/program/mesh_output.hpp"

namespace tutti::app {
namespace {

struct GenerateArguments {
  std::string output, format;
  std::vector<Gid> cubes{10, 10, 10};
  std::vector<double> size{1, 1, 1}, grading{1, 1, 1};
  double jitter = 0, h = 0;
  std::int64_t seed = 1;
  std::optional<double> split;
  int threads = 1;
};

/// Only the first rank works; the others wait for its success.
void on_root(const Comm& comm, const std::function<void()>& work) {
  comm.together([&] {
    if (comm.is_root()) work();
  });
}

void add_format(CLI::App& command, std::string& format) {
  command.add_option("--format", format, mesh_output_formats)
      ->check(CLI::IsMember({"msh41", "msh22", "msh41-ascii", "msh22-ascii", "vtu", "vtu-ascii"}));
}

void add_output(CLI::App& command, GenerateArguments& a) {
  command.add_option("-o,--output", a.output, "mesh file to write, .msh or .vtu; an existing file is replaced")
      ->required()
      ->type_name("OUT");
  add_format(command, a.format);
}

/// On the first rank: what `make` returns goes into the file, whose name is looked at before.
void generate(const Comm& comm, const GenerateArguments& a, const std::function<TetMesh()>& make) {
  on_root(comm, [&] {
    check_mesh_output("", a.output, a.format);
    save_mesh(make(), a.output, a.format);
  });
}

/// gmsh leaves its script, log and mesh in a folder beside the output.
std::filesystem::path work_folder(const std::string& output) {
  return output + ".gmsh";
}

void add_generate(CLI::App& mesh, Action& action) {
  CLI::App* all = mesh.add_subcommand("generate", "generate a mesh");
  all->require_subcommand(1);
  all->footer("Example:\n  tutti mesh generate box --cubes 40 40 40 --jitter 0.2 -o box.msh");
  {
    auto a = std::make_shared<GenerateArguments>();
    CLI::App* box = all->add_subcommand("box", "a box of cubes, each split into six tetrahedra");
    box->add_option("--cubes", a->cubes, "cubes along x, y, z")->expected(3)->capture_default_str();
    box->add_option("--size", a->size, "edges of the box")->expected(3)->capture_default_str();
    box->add_option("--grading", a->grading, "grid lines at (i/n)^grading: above 1 is denser at the lower side")
        ->expected(3)
        ->capture_default_str();
    box->add_option("--jitter", a->jitter, "move interior vertices by up to this fraction of the spacing")
        ->capture_default_str();
    box->add_option("--seed", a->seed, "seed of the jitter")->check(CLI::NonNegativeNumber)->capture_default_str();
    box->add_option("--split", a->split, "two regions, left and right of this x");
    add_output(*box, *a);
    box->footer("Example:\n  tutti mesh generate box --cubes 40 40 40 --jitter 0.2 -o box.msh");
    box->callback([a, &action] {
      action = [a](const Comm& comm) {
        generate(comm, *a, [&] {
          BoxSpec spec;
          std::copy(a->cubes.begin(), a->cubes.end(), spec.cubes.begin());
          std::copy(a->grading.begin(), a->grading.end(), spec.grading.begin());
          spec.upper = {a->size[0], a->size[1], a->size[2]};
          spec.jitter = a->jitter;
          spec.seed = static_cast<std::uint64_t>(a->seed);
          spec.split_x = a->split;
          return generate_box(spec);
        });
      };
    });
  }
  {
    auto a = std::make_shared<GenerateArguments>();
    CLI::App* heart = all->add_subcommand("biventricle", "a heart with two ventricles (mm), through gmsh");
    heart->add_option("--size", a->h, "edge length in mm; 1 gives about 0.6 M cells")
        ->required()
        ->check(CLI::PositiveNumber)
        ->type_name("H");
    heart
        ->add_option("--threads", a->threads,
                     "threads of gmsh; more are faster, but only 1 gives the same mesh every time")
        ->check(CLI::Range(1, 1024))
        ->capture_default_str();
    add_output(*heart, *a);
    heart->footer("Example:\n  tutti mesh generate biventricle --size 2 -o heart.msh");
    heart->callback([a, &action] {
      action = [a](const Comm& comm) {
        generate(comm, *a, [&] { return generate_biventricle(a->h, work_folder(a->output), a->threads); });
      };
    });
  }
}

/// What reads a mesh and writes one.
struct ConvertArguments {
  std::string input, output, format;
  int times = 0;  ///< refinements between the two
};

void convert(const ConvertArguments& a) {
  check_mesh_output(a.input, a.output, a.format);
  if (is_converted(a.input) && a.times == 0) {
    const InputFile there(a.input, "mesh file");  // before anything else is missing
    if (!a.output.ends_with(".msh") || !(a.format.empty() || a.format == "msh22-ascii"))
      fail(ErrorKind::usage, "{}: meshio's meshes become MSH 2.2 in ASCII; give OUT as .msh, and no --format",
           a.output);
    const PythonPackage python = find_python();
    if (python.interpreter.empty()) fail(ErrorKind::resource, "{}", python.problem);
    return run_with_python(python, {"convert", a.input, a.output});
  }
  Threads threads(usable_cores());
  save_mesh(refine(read_mesh(a.input), a.times, parallel_for(threads)), a.output, a.format);
}

void add_files(CLI::App& command, ConvertArguments& a) {
  command.add_option("input", a.input, fmt::format("mesh file to read: {}", mesh_formats))->required()->type_name("IN");
  command.add_option("output", a.output, "mesh file to write, .msh or .vtu; an existing file is replaced")
      ->required()
      ->type_name("OUT");
  add_format(command, a.format);
}

void add_convert(CLI::App& mesh, Action& action) {
  auto a = std::make_shared<ConvertArguments>();
  CLI::App* command = mesh.add_subcommand("convert", "write a mesh in another format");
  add_files(*command, *a);
  command->footer(
      "Examples:\n  tutti mesh convert part.1.ele part.msh\n"
      "  tutti mesh convert part.med part.msh        (also .cgns .exo .xdmf .inp .vtk ...: needs Python's meshio)");
  command->callback([a, &action] { action = [a](const Comm& comm) { on_root(comm, [&] { convert(*a); }); }; });
}

void add_refine(CLI::App& mesh, Action& action) {
  auto a = std::make_shared<ConvertArguments>();
  CLI::App* command = mesh.add_subcommand("refine", "split every tetrahedron into eight");
  add_files(*command, *a);
  command->add_option("--times", a->times, "number of refinements: n makes 8^n cells of one")
      ->default_val(1)
      ->check(CLI::Range(1, max_refinements));
  command->footer(
      "Example:\n  tutti mesh refine heart.msh fine.msh --times 2\nThe case key mesh.refine does it while reading.");
  command->callback([a, &action] { action = [a](const Comm& comm) { on_root(comm, [&] { convert(*a); }); }; });
}

}  // namespace

void add_mesh(CLI::App& program, Action& action) {
  CLI::App* mesh = program.add_subcommand("mesh", "generate, inspect, convert, refine or smooth a mesh");
  mesh->require_subcommand(1);
  mesh->footer("Examples:\n  tutti mesh generate biventricle --size 2 -o heart.msh\n  tutti mesh info heart.msh");
  add_generate(*mesh, action);
  add_convert(*mesh, action);
  add_refine(*mesh, action);
  add_mesh_quality(*mesh, action);
  add_mesh_commands_of_models(*mesh, action);
  auto file = std::make_shared<std::string>();
  CLI::App* show = mesh->add_subcommand("info", "report counts, sizes and quality of a mesh");
  show->add_option("mesh", *file, fmt::format("mesh file: {}", mesh_formats))->required()->type_name("MESH");
  show->footer("Example:\n  tutti mesh info heart.msh");
  show->callback([file, &action] {
    action = [file](const Comm& comm) {
      on_root(comm, [&] {
        const TetMesh m = read_mesh(*file);
        write_info(describe(inspect(m, find_face_neighbours_of(*file, m))));
      });
    };
  });
}

}  // namespace tutti::app
