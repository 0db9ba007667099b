// tutti partition: cut a mesh, tell how good the cut is, show it.
#include <chrono>
#include <filesystem>

#include <fmt/ranges.h>
#include "app/commands.hpp"

#include "tutti/base/log.hpp"
#include "tutti/base/units.hpp"
#include "tutti/io/vtk/vtu.hpp"
#include "tutti/mesh/files/read_mesh.hpp"
#include "tutti/mesh/stencil.hpp"
#include "tutti/partition/partition.hpp"

namespace tutti::app {
namespace {

struct PartitionArguments {
  std::string mesh, method = "metis", graph = "stencil", output;
  std::vector<double> weights;
  DeviceArguments devices;
};

void print_quality(const PartitionQuality& q, const std::vector<double>& weights) {
  double sum = 0;
  for (const double w : weights) sum += w;
  Gid ghosts = 0, rows = 0;
  for (std::size_t p = 0; p < q.rows.size(); ++p) {
    ghosts += q.ghosts[p];
    rows += q.rows[p];
  }
  write_info(fmt::format("cells {}, parts {}, cut {} stencil entries, ghosts {} in all, imbalance {:.4f}",
                         format_count(rows), q.rows.size(), format_count(q.cut), format_count(ghosts), q.imbalance));
  write_info("part      weight        cells     share       ghosts  neighbours  components");
  for (std::size_t p = 0; p < q.rows.size(); ++p)
    write_info(fmt::format("{:>4}  {:>10.4f}  {:>11}  {:>8.4f}  {:>11}  {:>10}  {:>10}", p, weights[p] / sum,
                           format_count(q.rows[p]),
                           static_cast<double>(q.rows[p]) / static_cast<double>(std::max<Gid>(rows, 1)),
                           format_count(q.ghosts[p]), q.neighbours[p], q.components[p]));
}

void partition_mesh(const PartitionArguments& a, const DeviceSet& devices) {
  const TetMesh mesh = read_mesh(a.mesh);
  const FaceNeighbours neighbours = find_face_neighbours_of(a.mesh, mesh);
  const Adjacency stencil = tet_stencil(neighbours);
  const Adjacency faces = a.graph == "faces" ? face_graph(neighbours) : Adjacency{};
  const auto centroids = cell_centroids(mesh);
  PartitionInput input;
  input.graph = a.graph == "faces" ? &faces : &stencil;
  input.points = centroids;
  input.rows = mesh.cell_count();
  input.parallel = parallel_for(*devices.threads);
  input.device = first_gpu(devices);
  const auto begin = std::chrono::steady_clock::now();
  const auto owner = partition_rows(input, a.weights, parse_partitioner(a.method));
  info("split in {:.4g} s", std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
  // Ghosts are those of the real stencil, whatever graph was cut.
  print_quality(assess_partition(stencil, owner, a.weights), a.weights);
  if (a.output.empty()) return;
  std::vector<std::array<Lid, 4>> cells(mesh.cells.size());
  for (std::size_t c = 0; c < cells.size(); ++c)
    for (std::size_t k = 0; k < 4; ++k) cells[c][k] = static_cast<Lid>(mesh.cells[c][k]);
  write_vtu(a.output, VtuPiece{mesh.vertices, cells, {{"part", 1, std::span<const std::int32_t>(owner)}}});
  info("{}: cells coloured by part", a.output);
}

}  // namespace

void add_partition(CLI::App& program, Action& action) {
  auto a = std::make_shared<PartitionArguments>();
  CLI::App* command =
      program.add_subcommand("partition", "partition a mesh and report edge cut, ghosts, balance and connected pieces");
  command->add_option("mesh", a->mesh, fmt::format("mesh file: {}", mesh_formats))->required()->type_name("MESH");
  command
      ->add_option("--weights", a->weights, "relative size of each part, e.g. 0.415,0.415,0.17; 0 gives an empty part")
      ->delimiter(',')
      ->required()
      ->check(CLI::NonNegativeNumber)
      ->type_name("W,W,...");
  command->add_option("--method", a->method, "how to split")
      ->type_name(fmt::format("{}", fmt::join(partitioner_names(), "|")))
      ->capture_default_str();
  command->add_option("--graph", a->graph, "graph to partition: the model's stencil, or cells that share a face")
      ->check(CLI::IsMember({"stencil", "faces"}))
      ->capture_default_str();
  command->add_option("-o,--output", a->output, "VTU file coloured by part (default: MESH with _parts.vtu)")
      ->type_name("FILE.vtu");
  a->devices.list = "cpu";
  a->devices.add_to(*command);
  command->footer("Example:\n  tutti partition heart.msh --weights 0.415,0.415,0.17 -o parts.vtu");
  command->callback([a, &action] {
    action = [a](const Comm& comm) {
      const DeviceSet devices = a->devices.open(comm);
      comm.together([&] {
        if (!comm.is_root()) return;
        if (a->output.empty()) a->output = std::filesystem::path(a->mesh).replace_extension().string() + "_parts.vtu";
        partition_mesh(*a, devices);
      });
    };
  });
}

}  // namespace tutti::app
