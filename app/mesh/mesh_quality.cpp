// tutti mesh quality: how good the cells of a mesh are.
#include <string>

#include "app/mesh/mesh_commands.hpp"
#include "tutti/base/log.hpp"
#include "tutti/device/host_load.hpp"
#include "tutti/device/threads.hpp"
#include "tutti/io/quality_report.hpp"
#include "tutti/io/vtk/mesh_vtu.hpp"
#include "tutti/mesh/files/read_mesh.hpp"
#include "tutti/mesh/quality/mesh_quality.hpp"

namespace tutti::app {
namespace {

struct QualityArguments {
  std::string mesh, json, vtu;
  std::size_t worst = 10;
};

void tell_quality(const QualityArguments& a) {
  Threads threads(usable_cores());
  TetMesh mesh = read_mesh_as_written(a.mesh);
  const MeshQuality quality = assess_quality(mesh, a.worst, parallel_for(threads));
  write_info(describe(quality));
  if (!a.json.empty()) write_report(a.json, quality_json(quality));
  if (a.vtu.empty()) return;
  mesh.cell_data = quality_data(mesh, parallel_for(threads));
  write_mesh_vtu(mesh, a.vtu, MeshVtuEncoding::zlib, threads.count());
  info("{}: cells coloured by their quality", a.vtu);
}

}  // namespace

void add_mesh_quality(CLI::App& mesh, Action& action) {
  auto a = std::make_shared<QualityArguments>();
  CLI::App* command = mesh.add_subcommand("quality", "shapes of the cells: angles, ratios, volumes, inverted cells");
  command->add_option("mesh", a->mesh, fmt::format("mesh file: {}", mesh_formats))->required()->type_name("MESH");
  command->add_option("--json", a->json, "all figures for scripts")->type_name("FILE.json");
  command->add_option("--vtu", a->vtu, "the mesh coloured by quality, for ParaView or tutti plot")
      ->type_name("FILE.vtu");
  command->add_option("--worst", a->worst, "so many of the worst cells are listed")
      ->check(CLI::Range(0, 1'000'000))
      ->capture_default_str()
      ->type_name("N");
  command->footer("Example:\n  tutti mesh quality heart.msh --json quality.json --vtu quality.vtu");
  command->callback([a, &action] {
    action = [a](const Comm& comm) {
      comm.together([&] {
        if (comm.is_root()) tell_quality(*a);
      });
    };
  });
}

}  // namespace tutti::app
