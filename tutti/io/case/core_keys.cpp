#include "tutti/io/case/core_keys.hpp"

#include <fmt/core.h>

#include "tutti/io/case/element_mesh_keys.hpp"
#include "tutti/io/case/graph_keys.hpp"
#include "tutti/io/case/named_files.hpp"
#include "tutti/io/case/sampling_keys.hpp"
#include "tutti/mesh/files/read_mesh.hpp"
#include "tutti/mesh/refine.hpp"
#include "tutti/mesh/sphere/node_cloud.hpp"

namespace tutti {
namespace {

void add_mesh_keys(CaseSchema& schema) {
  schema.describe_table("mesh", "The mesh comes from a file or from a generator.");
  schema.add({.path = "mesh.file",
              .type = KeyType::file,
              .description = fmt::format("Mesh file, relative to the case file: {}.", mesh_formats)});
  schema.add({.path = "mesh.generate",
              .type = KeyType::choice,
              .description = "Generator; the last two run the gmsh program.",
              .choices = {"box", "unstructured-box", "biventricle"}});
  schema.exactly_one_of({"mesh.file", "mesh.generate"});
  const KeyCondition box = {"mesh.generate", {"box"}};
  add_box_mesh_keys(schema, "Cubes along x, y, z; each becomes six tetrahedra.");
  schema.add({.path = "mesh.grading",
              .type = KeyType::numbers,
              .default_value = "[1, 1, 1]",
              .description = "Grid lines at (i/n)^grading: above 1 is denser at the lower side.",
              .min = 0,
              .above_min = true,
              .length = 3,
              .only_if = box});
  schema.add({.path = "mesh.split",
              .type = KeyType::number,
              .unit = "length",
              .description = "Two regions, \"left\" and \"right\" of the plane x = split.",
              .only_if = {"mesh.generate", {"box", "unstructured-box"}}});
  schema.add({.path = "mesh.h",
              .type = KeyType::number,
              .unit = "length",
              .description = "Edge length; biventricle: in mm, 1 gives about 0.6 M cells.",
              .min = 0,
              .above_min = true,
              .required = true,
              .only_if = {"mesh.generate", {"unstructured-box", "biventricle"}}});
  schema.add({.path = "mesh.repair",
              .type = KeyType::choice,
              .default_value = "\"none\"",
              .description = "For meshes from files. merge: coincident vertices on faces without a neighbour are "
                             "merged, which closes cracks.",
              .choices = {"none", "merge"}});
  schema.add({.path = "mesh.allow_cracks",
              .type = KeyType::boolean,
              .default_value = "false",
              .description = "Accept cracks and hanging nodes: faces that touch but do not match become boundaries. If "
                             "false, such a mesh is an error."});
  schema.add({.path = "mesh.refine",
              .type = KeyType::integer,
              .default_value = "0",
              .description = "How many times every tetrahedron is split into eight; the surface keeps its facets.",
              .min = 0,
              .max = max_refinements});
}

void add_grid_keys(CaseSchema& schema) {
  schema.describe_table("grid", "A box of cells.");
  schema.add({.path = "grid.cells",
              .type = KeyType::integers,
              .description = "Cells along x, y, z; 1 in a direction makes the flow two-dimensional.",
              .min = 1,
              .max = 1 << 16,
              .length = 3,
              .required = true});
  schema.add({.path = "grid.lower",
              .type = KeyType::numbers,
              .default_value = "[0, 0, 0]",
              .unit = "length",
              .description = "Lower corner.",
              .length = 3});
  schema.add({.path = "grid.upper",
              .type = KeyType::numbers,
              .default_value = "[1, 1, 1]",
              .unit = "length",
              .description = "Upper corner.",
              .length = 3});
  schema.add(
      {.path = "grid.stretch",
       .type = KeyType::numbers,
       .default_value = "[0, 0, 0]",
       .description = "How much denser the cells are at both ends of a direction: the s of tanh(s x); 0: uniform.",
       .min = 0,
       .max = 10,
       .length = 3});
}

void add_node_keys(CaseSchema& schema) {
  schema.describe_table("nodes", "Nodes on the unit sphere, from a file or from a generator.");
  schema.add({.path = "nodes.file",
              .type = KeyType::file,
              .description = fmt::format("Nodes, relative to the case file: {}.", node_formats)});
  schema.add({.path = "nodes.generate",
              .type = KeyType::choice,
              .description = "Generator: icosahedral: a refined icosahedron; fibonacci: a spiral; relaxed: evened out "
                             "by a Riesz energy; random: a stress test.",
              .choices = {"icosahedral", "fibonacci", "relaxed", "random"}});
  schema.exactly_one_of({"nodes.file", "nodes.generate"});
  schema.add({.path = "nodes.count",
              .type = KeyType::integer,
              .description = "Number of nodes; icosahedral: 10 m^2 + 2 for some m.",
              .min = 12,
              .max = static_cast<double>(max_nodes),
              .required = true,
              .only_if = {"nodes.generate", {"icosahedral", "fibonacci", "relaxed", "random"}}});
  schema.add({.path = "nodes.sweeps",
              .type = KeyType::integer,
              .default_value = "100",
              .description = "Sweeps of the relaxation.",
              .min = 0,
              .max = 100000,
              .only_if = {"nodes.generate", {"relaxed"}}});
  schema.add({.path = "nodes.seed",
              .type = KeyType::integer,
              .default_value = "1",
              .description = "Seed of random nodes.",
              .min = 0,
              .only_if = {"nodes.generate", {"random"}}});
  schema.add({.path = "nodes.separation",
              .type = KeyType::number,
              .default_value = "0.5",
              .description = "Least distance of random nodes, in h = sqrt(4 pi / count).",
              .min = 0,
              .max = 0.7,
              .only_if = {"nodes.generate", {"random"}}});
}

void add_time_keys(CaseSchema& schema, DomainKeys domain) {
  schema.describe_table("time", "End time and time step.");
  schema.add({.path = "time.dt",
              .type = KeyType::number,
              .default_value = "\"auto\"",
              .unit = "s",
              .description = "Time step; auto takes the largest stable one times `safety`.",
              .choices = {"auto"},
              .min = 0,
              .above_min = true});
  schema.add({.path = "time.end",
              .type = KeyType::number,
              .unit = "s",
              .description = "Time at which the run ends.",
              .min = 0,
              .above_min = true});
  schema.add({.path = "time.steps", .type = KeyType::integer, .description = "Number of time steps.", .min = 0});
  schema.exactly_one_of({"time.end", "time.steps"});
  schema.add({.path = "time.safety",
              .type = KeyType::number,
              .default_value = "0.9",
              .description = "Fraction of the stability limit that dt = \"auto\" uses.",
              .min = 0,
              .max = 1,
              .above_min = true});
  if (domain == DomainKeys::box) return;  // flows look at their own quantities
  schema.add({.path = "time.steady",
              .type = KeyType::number,
              .default_value = "0",
              .unit = "1/s",
              .description = "Stop when every field of the state changes, per unit of time, by less than this fraction "
                             "of its largest value; checked every 50 steps; 0: never.",
              .min = 0});
}

void add_slice_keys(CaseSchema& schema) {
  schema.describe_table("output.slice[]",
                        "A layer of cells across the box, whose fields are written into `slices/slice-<name>.pvd`.");
  schema.add({.path = "output.slice[].name",
              .type = KeyType::text,
              .description = "Name of the slice and its files: letters, digits, - and _.",
              .required = true});
  schema.add({.path = "output.slice[].axis",
              .type = KeyType::choice,
              .description = "Direction normal to the slice.",
              .choices = {"x", "y", "z"},
              .required = true});
  schema.add({.path = "output.slice[].position",
              .type = KeyType::number,
              .unit = "length",
              .description = "Position along the axis; the slice is the layer of cells that contains it (between two "
                             "layers, the upper one).",
              .required = true});
}

/// Times beside the steps of <prefix>every.
void add_occasion_keys(CaseSchema& schema, const std::string& prefix, const std::string& what) {
  schema.add({.path = prefix + "interval",
              .type = KeyType::number,
              .unit = "s",
              .description = what + " at this interval of physical time.",
              .min = 0,
              .above_min = true});
  schema.add({.path = prefix + "times",
              .type = KeyType::numbers,
              .unit = "s",
              .description = what + " at these times.",
              .min = 0});
}

void add_history_key(CaseSchema& schema) {
  schema.add({.path = "output.history_every",
              .type = KeyType::integer,
              .default_value = "0",
              .unit = "steps",
              .description = "Steps between two rows of diagnostics in `history.csv`, which also has the start and the "
                             "end; 0: at each report.",
              .min = 0});
}

void add_output_keys(CaseSchema& schema, DomainKeys domain) {
  schema.describe_table(
      "output",
      "What is written into the results folder, for ParaView (VTU) and as CSV. `every` counts steps; `interval` and "
      "`times` are physical times. With `time.end`, steps are shortened to meet these times exactly; with `time.steps` "
      "they are not, and the first step that reaches a time counts.");
  schema.add({.path = "output.every",
              .type = KeyType::integer,
              .default_value = "0",
              .unit = "steps",
              .description = "Steps between two outputs of the fields; 0: only at the start and at the end.",
              .min = 0});
  add_occasion_keys(schema, "output.", "Fields are written");
  schema.add({.path = "output.format",
              .type = KeyType::choice,
              .default_value = "\"vtk\"",
              .description =
                  "vtk: one file per part and output, joined by results.pvd; vtkhdf: all in results.vtkhdf, for "
                  "VTK 9.3, ParaView 5.12 or later, through the memory of one rank. Slices are always vtk.",
              .choices = {"vtk", "vtkhdf"}});
  schema.add({.path = "output.compress",
              .type = KeyType::integer,
              .default_value = "1",
              .description = "zlib level of the field files: 0 (none) to 9 (slow).",
              .min = 0,
              .max = 9});
  schema.add({.path = "output.probe_every",
              .type = KeyType::integer,
              .default_value = "\"auto\"",
              .unit = "steps",
              .description = "Steps between two records of the probes, which are also recorded at the start and the "
                             "end; auto: every step, or only at `probe_interval` or `probe_times` if given. Each "
                             "record waits for the GPUs: 10 to 30 us on an H200.",
              .choices = {"auto"},
              .min = 1});
  add_occasion_keys(schema, "output.probe_", "Probes are recorded");
  add_history_key(schema);
  add_occasion_keys(schema, "output.history_", "A line is added to `history.csv`");
  if (domain == DomainKeys::box) {
    schema.add({.path = "output.slice_every",
                .type = KeyType::integer,
                .default_value = "0",
                .unit = "steps",
                .description = "Steps between two outputs of the slices; 0: only at the start and at the end.",
                .min = 0});
    add_occasion_keys(schema, "output.slice_", "Slices are written");
  }
  schema.add({.path = "output.interpolate",
              .type = KeyType::boolean,
              .default_value = "false",
              .description = "Interpolate probes and lines to their points instead of taking the values of the cells "
                             "that contain them: linearly between cell centres on grids, by a least-squares gradient "
                             "on tetrahedra and on the sphere, by the polynomial of an element."});
  schema.describe_table("output.probe[]", "A point whose cell is recorded in `probes.csv`.");
  schema.add(
      {.path = "output.probe[].name", .type = KeyType::text, .description = "Name of the column.", .required = true});
  schema.add({.path = "output.probe[].point",
              .type = KeyType::numbers,
              .unit = "length",
              .description = "Position.",
              .length = 3,
              .required = true});
  schema.describe_table("output.line[]",
                        "A line: the cells' values along it are written to `lines/<name>.csv` at the times of the "
                        "fields. On the sphere its points are projected onto the sphere.");
  schema.add({.path = "output.line[].name",
              .type = KeyType::text,
              .description = "Name of its file: letters, digits, - and _.",
              .required = true});
  for (const char* end : {"from", "to"})
    schema.add({.path = std::string("output.line[].") + end,
                .type = KeyType::numbers,
                .unit = "length",
                .description = end[0] == 'f' ? "First point." : "Last point.",
                .length = 3,
                .required = true});
  schema.add({.path = "output.line[].points",
              .type = KeyType::integer,
              .default_value = "100",
              .description = "Number of points, including both ends.",
              .min = 2,
              .max = 10000});
  if (domain == DomainKeys::box) return add_slice_keys(schema);
  for (const char* path : {"output.slice", "output.slice_every", "output.slice_interval", "output.slice_times"})
    schema.leave_out(path, "only models on a grid have slices");
}

void add_statistics_keys(CaseSchema& schema) {
  schema.describe_table(
      "statistics",
      "Means, variances and extremes over time of any field, written as fields `<field>_mean`, `_variance`, `_min`, "
      "`_max`. Each sample is weighted by the time since the previous one; before the first sample all are 0. A "
      "restart continues them. Each sample copies the fields to the host.");
  schema.add({.path = "statistics.of",
              .type = KeyType::texts,
              .description = "Which statistics; without this key nothing is sampled.",
              .choices = {"mean", "variance", "min", "max"}});
  const KeyCondition on{"statistics.of", {}};
  schema.add({.path = "statistics.fields",
              .type = KeyType::texts,
              .description = "Names of fields; else all that are written. Tracers go together.",
              .only_if = on});
  schema.add({.path = "statistics.begin",
              .type = KeyType::number,
              .default_value = "0",
              .unit = "s",
              .description = "Steps that begin before this time do not count.",
              .min = 0,
              .only_if = on});
  schema.add({.path = "statistics.every",
              .type = KeyType::integer,
              .default_value = "1",
              .unit = "steps",
              .description = "A sample every so many steps, and at the end.",
              .min = 1,
              .only_if = on});
}

void add_partition_keys(CaseSchema& schema) {
  schema.describe_table("partition",
                        "How the mesh is split over devices and ordered inside a part. Results do not "
                        "depend on it.");
  schema.add({.path = "partition.method",
              .type = KeyType::choice,
              .default_value = "\"metis\"",
              .description = "Partitioner (scotch only where it is built in).",
              .choices = {"metis", "scotch", "hilbert", "slabs", "voronoi"}});
  schema.add(
      {.path = "partition.graph",
       .type = KeyType::choice,
       .default_value = "\"faces\"",
       .description =
           "Graph to partition: the cells that share a face (faster, equally good), or the model's whole stencil.",
       .choices = {"faces", "stencil"}});
  schema.add({.path = "partition.order",
              .type = KeyType::choice,
              .default_value = "\"hilbert\"",
              .description = "Order of a part's interior cells.",
              .choices = {"hilbert", "metis_blocks", "rcm", "native", "random"}});
  schema.add(
      {.path = "partition.block",
       .type = KeyType::integer,
       .default_value = "\"auto\"",
       .unit = "cells",
       .description = "Size of a block of the order metis_blocks; auto: 512 on CPUs, 64 on GPUs, as in Langguth 2015.",
       .choices = {"auto"},
       .min = 1,
       .max = 1 << 20});
}

void add_node_partition_keys(CaseSchema& schema) {
  schema.describe_table("partition",
                        "How the nodes are split over devices and ordered inside a part. Results do not depend on it.");
  schema.add(
      {.path = "partition.method",
       .type = KeyType::choice,
       .default_value = "\"metis\"",
       .description =
           "Partitioner (scotch only where it is built in); latitude: bands between two latitudes, as in Bollig 2012.",
       .choices = {"metis", "scotch", "hilbert", "latitude", "voronoi"}});
  schema.add({.path = "partition.order",
              .type = KeyType::choice,
              .default_value = "\"hilbert\"",
              .description = "Order of a part's interior nodes.",
              .choices = {"hilbert", "native", "random"}});
}

void add_cut_keys(CaseSchema& schema) {
  schema.describe_table("partition", "How the grid is split over devices. Results do not depend on it.");
  schema.add(
      {.path = "partition.cut",
       .type = KeyType::choice,
       .default_value = "\"slabs\"",
       .description =
           "Slabs of whole planes (contiguous messages), pencils, or blocks (least communication with many devices).",
       .choices = {"slabs", "pencils", "blocks"}});
}

void add_balance_keys(CaseSchema& schema) {
  schema.describe_table("balance", "How much of the mesh each device gets.");
  schema.add({.path = "balance.weights",
              .type = KeyType::numbers,
              .default_value = "\"measured\"",
              .description = "measured: in proportion to the speed in a short timed run of the model's kernel (a CPU "
                             "that would slow the step down gets nothing, nor do all GPUs but one where the mesh is so "
                             "small that one is faster alone); stream: in proportion to the measured memory bandwidth; "
                             "peak: to the theoretical bandwidth; equal; or a list with one weight per device. What "
                             "does not fit into a device's memory goes to the others.",
              .choices = {"measured", "stream", "peak", "equal"},
              .min = 0});
  schema.add({.path = "balance.rebalance",
              .type = KeyType::boolean,
              .default_value = "true",
              .description =
                  "Repartition during the run, at most three times, if over 50 steps a device waited for more than 5 % "
                  "of a step, and if the remaining steps would save more time than the repartitioning costs; always: "
                  "whatever it costs.",
              .choices = {"always"}});
}

void add_device_keys(CaseSchema& schema) {
  schema.describe_table("devices", "Devices that compute.");
  schema.add({.path = "devices.list",
              .type = KeyType::text,
              .default_value = "\"all\"",
              .description =
                  "Devices to use: all, cpu, cpu:0-7 (on these cores), \"cuda:0,cuda:1,cpu\", \"fake:2,cpu\" (two fake "
                  "devices: GPUs emulated on the CPU, for tests). The option --devices takes precedence."});
  schema.add({.path = "devices.threads",
              .type = KeyType::integer,
              .default_value = "\"auto\"",
              .description = "CPU threads per rank; auto: one for each core in the rank's share of the host that no "
                             "other program uses.",
              .choices = {"auto"},
              .min = 1,
              .max = 4096});
  schema.add(
      {.path = "devices.overlap",
       .type = KeyType::choice,
       .default_value = "\"full\"",
       .description = "What runs beside the computation of interior rows: nothing, messages, or messages and copies.",
       .choices = {"none", "messages", "full"}});
  schema.add({.path = "devices.gpu_memory",
              .type = KeyType::bytes,
              .default_value = "\"auto\"",
              .description = "How much of each GPU's memory tutti may use; auto: all that is free.",
              .choices = {"auto"}});
  schema.add({.path = "devices.peak_gb_per_second",
              .type = KeyType::numbers,
              .unit = "GB/s",
              .description =
                  "Peak memory bandwidths for weights = \"peak\", one per device of all ranks; 0: as reported by the "
                  "device. GPUs report it, fake devices report 100; CPUs do not: their triad is measured instead.",
              .min = 0});
  schema.add({.path = "devices.exchange",
              .type = KeyType::boolean,
              .default_value = "true",
              .description = "false (the option --no-exchange): leave out all communication, to measure its cost. "
                             "Results are wrong: no fields, probes or checkpoints are written."});
  schema.add({.path = "devices.limit_blocks",
              .type = KeyType::integer,
              .default_value = "0",
              .description = "Experiment: split each kernel of a GPU into launches of this many thread blocks, one "
                             "after the other, to imitate a smaller GPU; 0: all blocks at once.",
              .min = 0,
              .max = 1 << 20});
  schema.add(
      {.path = "devices.transport",
       .type = KeyType::choice,
       .default_value = "\"auto\"",
       .description =
           "Route of messages between GPUs. auto: within a rank from GPU to GPU (a kernel of the sender stores short "
           "and scattered messages; others are copied), between ranks through the host. direct: as auto, but within a "
           "rank a kernel stores all messages. staged: always through the host. device, nccl: as auto, but between "
           "ranks by a CUDA-aware MPI, or by NCCL.",
       .choices = {"auto", "direct", "staged", "device", "nccl"}});
  schema.add({.path = "devices.fake_memory",
              .type = KeyType::bytes,
              .default_value = "\"512MiB\"",
              .description = "Memory of each fake device."});
  schema.add({.path = "devices.fake_seed",
              .type = KeyType::integer,
              .default_value = "1",
              .description = "Seed of the delays of fake devices.",
              .min = 0});
  schema.add({.path = "devices.fake_fail_allocation",
              .type = KeyType::integer,
              .default_value = "0",
              .description = "For tests: the allocation with this number, from 1, fails on every fake device; 0: none.",
              .min = 0});
  schema.add({.path = "devices.fake_lose_after",
              .type = KeyType::integer,
              .default_value = "0",
              .description = "For tests: every fake device is lost after so many launches; 0: never.",
              .min = 0});
  schema.add({.path = "devices.fake_open",
              .type = KeyType::boolean,
              .default_value = "false",
              .description = "For tests: the memory of fake devices is not protected, so that transport = \"device\" "
                             "can be tried."});
}

void add_checkpoint_keys(CaseSchema& schema, bool in_time) {
  schema.describe_table("checkpoint",
                        "The state of the run in `checkpoints/`, from which `tutti run --restart` continues, bit for "
                        "bit, on any number of ranks and devices. SIGTERM, SIGINT, SIGUSR1 and a file `stop` in the "
                        "results folder end a run with a checkpoint.");
  schema.add({.path = "checkpoint.every",
              .type = KeyType::integer,
              .default_value = "0",
              .unit = "steps",
              .description = "Steps between two checkpoints; 0: only by time.",
              .min = 0});
  if (in_time) add_occasion_keys(schema, "checkpoint.", "A checkpoint is written");
  schema.add({.path = "checkpoint.minutes",
              .type = KeyType::number,
              .default_value = "30.0",
              .unit = "min",
              .description = "Minutes between two checkpoints; 0: only by steps.",
              .min = 0});
  schema.add({.path = "checkpoint.keep",
              .type = KeyType::integer,
              .default_value = "2",
              .description = "Number of checkpoints to keep, the newest.",
              .min = 1,
              .max = 1000});
  schema.add(
      {.path = "checkpoint.at_end",
       .type = KeyType::boolean,
       .default_value = "true",
       .description = "Write the last state of a finished run, so that `--restart` with a later end can continue it."});
  schema.add({.path = "checkpoint.wait",
              .type = KeyType::boolean,
              .default_value = "false",
              .description = "Wait until a checkpoint is on the disk instead of computing meanwhile."});
}

void add_report_keys(CaseSchema& schema) {
  schema.describe_table("report", "Progress messages.");
  schema.add({.path = "report.every",
              .type = KeyType::integer,
              .default_value = "\"auto\"",
              .unit = "steps",
              .description = "Steps between two lines of progress; auto: about one per second.",
              .choices = {"auto"},
              .min = 1});
}

}  // namespace

CaseSchema core_schema(const std::vector<std::string>& models, DomainKeys domain) {
  CaseSchema schema;
  schema.begin_group("core");
  schema.add({.path = "model",
              .type = KeyType::choice,
              .description = "The model to solve; it decides which other keys there are.",
              .choices = models,
              .required = true});
  if (domain == DomainKeys::graph) {
    for (const char* path : {"constants", "table", "field"}) schema.leave_out(path, "this model takes no expressions");
    add_graph_keys(schema);
    schema.describe_table("output", "What is written into the results folder.");
    add_history_key(schema);
    add_device_keys(schema);
    add_checkpoint_keys(schema, false);
    add_report_keys(schema);
    return schema;
  }
  schema.describe_table("constants", "Names for numbers, for every expression of the case: `k = 2`, `a = \"k * pi\"`.");
  schema.add({.path = "constants.<name>",
              .type = KeyType::expression,
              .description = "A number, or a formula of other constants."});
  add_named_file_keys(schema);
  if (domain == DomainKeys::tetrahedra)
    add_mesh_keys(schema);
  else if (domain == DomainKeys::box)
    add_grid_keys(schema);
  else if (domain == DomainKeys::elements)
    add_element_mesh_keys(schema);
  else
    add_node_keys(schema);
  add_time_keys(schema, domain);
  add_output_keys(schema, domain);
  add_sampling_keys(schema, domain);
  add_statistics_keys(schema);
  if (domain == DomainKeys::tetrahedra || domain == DomainKeys::elements)
    add_partition_keys(schema);
  else if (domain == DomainKeys::box)
    add_cut_keys(schema);
  else
    add_node_partition_keys(schema);
  add_balance_keys(schema);
  add_device_keys(schema);
  add_checkpoint_keys(schema, true);
  add_report_keys(schema);
  return schema;
}

}  // namespace tutti
