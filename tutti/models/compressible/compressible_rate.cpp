#include "tutti/models/compressible/compressible_rate.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "tutti/mesh/elements/generate_element_box.hpp"
#include "tutti/models/compressible/flow_part.hpp"
#include "tutti/schedule/step.hpp"

namespace tutti::compressible {
namespace {

/// Elements a cube becomes.
int elements_of_cube(BoxElements elements) {
  switch (elements) {
    case BoxElements::hexahedra:
      return 1;
    case BoxElements::prisms:
      return 2;
    default:
      return 6;
  }
}

/// Shapes as in the case: affine elements share tables, others do not.
struct SampleShape {
  BoxElements elements = BoxElements::tetrahedra;
  bool bent = false;
};

SampleShape shape_of(const Case& options) {
  SampleShape shape;
  if (!options.has("mesh.generate")) return shape;
  shape.elements = parse_box_elements(options.text("mesh.element"));
  shape.bent = options.number("mesh.jitter") > 0 || options.has("mesh.map");
  return shape;
}

/// All elements are interior.
IndexMap single_part(Gid rows) {
  IndexMap map;
  map.interior = map.owned = static_cast<Lid>(rows);
  map.global.resize(rows);
  std::iota(map.global.begin(), map.global.end(), Gid{0});
  return map;
}

double measure_rate(Device& device, Threads& threads, const CompressibleCase& flow, const SampleShape& shape,
                    Gid rows) {
  ElementBoxSpec spec;
  spec.elements = shape.elements;
  const double cubes = static_cast<double>(std::min<Gid>(rows, 100'000)) / elements_of_cube(shape.elements);
  spec.cubes.fill(std::max<Gid>(3, std::lround(std::cbrt(cubes))));
  spec.jitter = shape.bent ? 0.1 : 0;
  spec.periodic = {true, true, true};
  const ParallelFor parallel = parallel_for(threads);
  const ElementMesh mesh = generate_element_box(spec, parallel);
  const IndexMap map = single_part(mesh.element_count());
  const int values = variables * flow.bases();
  CompressibleCase plain = flow;
  plain.conditions.clear();
  plain.source.clear();
  std::vector<PartStreams> parts;
  parts.emplace_back(device);
  Stream& stream = *parts[0].compute;
  // Copies from the host are measured apart (pace_targets); decoding is not.
  const bool coded = !device.is_host() && flow.held.policy == Policy::compressed;
  const LocalElementMesh local = local_elements(map, mesh, match_faces(mesh, parallel));
  FlowPart part(stream, plain, local, map, with_components(map, values), {}, 2, parallel, coded);
  if (coded) part.hold(stream, plain, flow.held);
  part.reuse_fluxes(stream, threads.count());
  double state[variables];
  to_conserved(flow.gas, {1, 0.3, 0.2, 0.1, 1}, state);
  part.set_uniform(stream, state);

  StageArrays arrays;
  arrays.count = 1;
  arrays.x[0] = part.u[0].data();
  arrays.weight[0] = 1;
  arrays.factor = 1e-6;
  arrays.out = part.u[1].data();
  // As in a run: through the team on a CPU, ahead of a GPU.
  Step step(threads, parts, values);
  part.add_interior(
      step, 0, map.owned_rows(),
      [&](Stream& on, Range range) {
        compute_fluxes(on, range, part.stage_view(), {}, plain.eta, part.u[0].data(), part.at_faces());
      },
      [&](Stream& on, Range range) {
        advance_elements(on, range, part.stage_view(), part.u[0].data(), part.at_faces(), arrays,
                         plain.limited ? part.u[1].data() : nullptr);
      });
  step.finish(Overlap::full);
  return static_cast<double>(map.owned) / sample_seconds(step);
}

}  // namespace

MeasureRate stage_rate(const Case& options, const CompressibleCase& flow, Threads& threads) {
  return [shape = shape_of(options), flow, &threads](Device& device, Gid rows) {
    // A sample need not fit where a policy brings most of the real tables from the host.
    constexpr Gid least = 27;  // cubes of the smallest box
    for (;; rows = std::max(least, rows / 4)) {
      try {
        return measure_rate(device, threads, flow, shape, rows);
      } catch (const Error& error) {
        if (error.kind() != ErrorKind::resource || rows <= least) throw;
      }
    }
  };
}

}  // namespace tutti::compressible
