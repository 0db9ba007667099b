// tutti mesh quality: how good the cells of a mesh are.
#include <array>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "app/mesh/mesh_commands.hpp"
#include "app/python.hpp"
#include "tutti/base/error.hpp"
#include "tutti/base/log.hpp"
#include "tutti/device/host/host_load.hpp"
#include "tutti/device/threads.hpp"
#include "tutti/io/quality_report.hpp"
#include "tutti/io/vtk/mesh_vtu.hpp"
#include "tutti/io/vtk/vtu.hpp"
#include "tutti/mesh/files/read_mesh.hpp"
#include "tutti/mesh/quality/mesh_quality.hpp"
#include "tutti/program/temporary_folder.hpp"

namespace tutti::app {
namespace {

struct QualityArguments {
  std::string mesh, json, vtu, png;
  std::size_t worst = 10;
};

/// Histograms, and the mesh with its worst cells: from files in a folder that goes away again.
void draw_quality(const PythonPackage& python, const QualityArguments& a, const MeshQuality& quality,
                  const TetMesh& mesh) {
  const TemporaryFolder folder{Comm(MPI_COMM_SELF)};
  const std::string json = (folder.path() / "quality.json").string(), vtu = (folder.path() / "quality.vtu").string();
  write_report(json, quality_json(quality));
  std::vector<std::array<Lid, 4>> cells(mesh.cells.size());
  std::vector<double> mean_ratio(mesh.cells.size());
  for (std::size_t c = 0; c < cells.size(); ++c) {
    const auto corner = [&](std::size_t k) { return mesh.vertices[mesh.cells[c][k]]; };
    for (std::size_t k = 0; k < 4; ++k) cells[c][k] = static_cast<Lid>(mesh.cells[c][k]);
    mean_ratio[c] = tet_quality(corner(0), corner(1), corner(2), corner(3)).mean_ratio;
  }
  write_vtu(vtu, VtuPiece{mesh.vertices, cells, {{"mean_ratio", 1, std::span<const double>(mean_ratio)}}});
  const std::string name = std::filesystem::path(a.mesh).filename().string();
  run_with_python(python, {"quality", "--output=" + a.png, "--title=" + name, "--", json, vtu});
}

void tell_quality(const QualityArguments& a) {
  PythonPackage python;
  if (!a.png.empty()) {
    python = find_python();
    if (!python.problem.empty()) fail(ErrorKind::resource, "{}", python.problem);
  }
  Threads threads(usable_cores());
  TetMesh mesh = read_mesh_as_written(a.mesh);
  const MeshQuality quality = assess_quality(mesh, a.worst, parallel_for(threads));
  write_info(describe(quality));
  if (!a.json.empty()) write_report(a.json, quality_json(quality));
  if (!a.vtu.empty()) {
    mesh.cell_data = quality_data(mesh, parallel_for(threads));
    write_mesh_vtu(mesh, a.vtu, MeshVtuEncoding::zlib, threads.count());
    info("{}: cells coloured by their quality", a.vtu);
  }
  if (!a.png.empty()) draw_quality(python, a, quality, mesh);
}

}  // namespace

void add_mesh_quality(CLI::App& mesh, Action& action) {
  auto a = std::make_shared<QualityArguments>();
  CLI::App* command = mesh.add_subcommand("quality", "report cell quality: angles, ratios, volumes, inverted cells");
  command->add_option("mesh", a->mesh, fmt::format("mesh file: {}", mesh_formats))->required()->type_name("MESH");
  command->add_option("--json", a->json, "write all figures as JSON")->type_name("FILE.json");
  command->add_option("--vtu", a->vtu, "write the mesh with its quality as cell data, for ParaView or tutti plot")
      ->type_name("FILE.vtu");
  command->add_option("--png", a->png, "draw histograms, and the mesh with its worst cells (needs Python)")
      ->type_name("FILE.png");
  command->add_option("--worst", a->worst, "number of worst cells to list")
      ->check(CLI::Range(0, 1'000'000))
      ->capture_default_str()
      ->type_name("N");
  command->footer(
      "Examples:\n  tutti mesh quality heart.msh --json quality.json --vtu quality.vtu\n  tutti mesh quality heart.msh "
      "--png quality.png");
  command->callback([a, &action] {
    action = [a](const Comm& comm) {
      comm.together([&] {
        if (comm.is_root()) tell_quality(*a);
      });
    };
  });
}

}  // namespace tutti::app
