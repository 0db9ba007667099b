// Tables of elements and faces in rows of any format: what is computed from them are the bits of tables with the
// decoded values.
#include <gtest/gtest.h>

#include <numeric>

#include "tutti/base/random.hpp"
#include "tutti/device/device.hpp"
#include "tutti/mesh/elements/generate_element_box.hpp"
#include "tutti/models/compressible/flow_part.hpp"

namespace tutti::compressible {
namespace {

struct Sample {
  LocalElementMesh mesh;
  IndexMap map;

  explicit Sample(BoxElements elements) {
    ElementBoxSpec spec;
    spec.elements = elements;
    spec.cubes = {3, 3, 3};
    spec.jitter = 0.1;
    spec.periodic = {true, true, true};
    const ElementMesh whole = generate_element_box(spec);
    map.interior = map.owned = static_cast<Lid>(whole.element_count());
    map.global.resize(whole.element_count());
    std::iota(map.global.begin(), map.global.end(), Gid{0});
    mesh = local_elements(map, whole, match_faces(whole));
  }
};

/// A stage from a rough flow by the view's tables.
std::vector<double> advance(Stream& stream, const CompressibleCase& flow, FlowPart& part, const PartView& view) {
  double state[variables];
  to_conserved(flow.gas, {1, 0.3, 0.2, 0.1, 1}, state);
  const auto n = static_cast<std::size_t>(flow.bases());
  std::vector<double> u(static_cast<std::size_t>(part.u[0].buffer().size()));
  for (std::size_t i = 0; i < u.size(); ++i)
    u[i] = i % n == 0 ? state[i / n % variables] : 0.01 * (random_unit(3, static_cast<std::uint64_t>(i)) - 0.5);
  upload(stream, part.u[0].buffer(), std::span<const double>(u));
  StageArrays stage;
  stage.count = 1;
  stage.x[0] = part.u[0].data();
  stage.weight[0] = 1;
  stage.factor = 1e-4;
  stage.out = part.u[1].data();
  compute_fluxes(stream, part.all_fluxes(), view, {}, flow.eta, part.u[0].data(), part.at_faces());
  advance_elements(stream, {0, static_cast<Lid>(u.size() / n / variables)}, view, part.u[0].data(), part.at_faces(),
                   stage, flow.limited ? stage.out : nullptr);
  download(stream, std::span<double>(u), part.u[1].buffer());
  return u;
}

ResidencyOptions held_as(ValueFormat format, Policy policy) {
  ResidencyOptions options;
  options.policy = policy;
  options.format = format;
  options.group = 120;
  return options;
}

struct Setting {
  BoxElements elements;
  int order;
  double viscosity;
  bool limited;
};
constexpr Setting settings[] = {{BoxElements::hexahedra, 2, 0, false},
                                {BoxElements::prisms, 2, 0, true},
                                {BoxElements::mixed, 1, 0.01, true},
                                {BoxElements::hexahedra, 3, 0.01, false}};
constexpr ValueFormat formats[] = {ValueFormat::doubles, ValueFormat::floats, ValueFormat::int32, ValueFormat::int16,
                                   ValueFormat::zfp};

CompressibleCase flow_of(const Setting& setting) {
  CompressibleCase flow;
  flow.order = setting.order;
  flow.gas.viscosity = setting.viscosity;
  flow.limited = setting.limited;
  if (setting.viscosity > 0) flow.gas.law = ViscosityLaw::constant;
  return flow;
}

/// A part whose tables are held in some format, and what a stage makes of them.
struct Held {
  CompressibleCase flow;
  Sample sample;
  FlowPart part;

  Held(Stream& stream, const Setting& setting, ValueFormat format, bool apart = true)
      : flow(flow_of(setting)),
        sample(setting.elements),
        part(stream, flow, sample.mesh, sample.map, with_components(sample.map, variables * flow.bases()), {}, 2, {},
             apart) {
    EXPECT_EQ(part.waits_to_be_held(), apart);
    if (apart) part.hold(stream, flow, held_as(format, is_exact(format) ? Policy::resident : Policy::compressed));
  }
  std::vector<double> advance(Stream& stream, const PartView& view) {
    return compressible::advance(stream, flow, part, view);
  }
};

#if defined(TUTTI_TEST_GPU)
TEST(HeldTables, HaveTheSameBitsOnAGpu) {
  if (cuda_device_count() == 0) GTEST_SKIP() << "no GPU on this machine";
  const auto fake = make_fake_device(0, {}), gpu = make_cuda_device(0);
  const auto on_fake = fake->make_stream("test"), on_gpu = gpu->make_stream("test");
  for (const Setting& setting : settings)
    for (const ValueFormat format : formats) {
      Held here(*on_gpu, setting, format), should(*on_fake, setting, format);
      EXPECT_EQ(here.advance(*on_gpu, here.part.view()), should.advance(*on_fake, should.part.view()))
          << "order " << setting.order << ", format " << static_cast<int>(format);
    }
}
#else
/// All values of an array, as doubles that stay where they are.
std::unique_ptr<Residency> decoded(Stream& stream, Residency& array) {
  const int width = array.layout().width;
  std::vector<double> values(static_cast<std::size_t>(array.placement().rows) * static_cast<std::size_t>(width));
  for_each_chunk(array, [&](Range some, const auto& access) {
    stream.loop(some, [access, width, to = values.data()](Lid begin, Lid end) {
      for (Lid r = begin; r < end; ++r)
        for (int i = 0; i < width; ++i) to[static_cast<std::size_t>(r) * width + i] = access(r, i);
    });
  });
  stream.synchronize();
  return std::make_unique<Residency>(stream, row_source("decoded", width, values),
                                     held_as(ValueFormat::doubles, Policy::resident));
}

TEST(HeldTables, GiveTheBitsOfTheirDecodedValues) {
  const auto device = make_fake_device(0, {});
  const auto stream = device->make_stream("test");
  for (const Setting& setting : settings) {
    Held all(*stream, setting, ValueFormat::doubles, false);
    const std::vector<double> in_place = all.advance(*stream, all.part.view());
    for (const ValueFormat format : formats) {
      SCOPED_TRACE(fmt::format("order {}, format {}", setting.order, static_cast<int>(format)));
      Held held(*stream, setting, format);
      FlowPart& part = held.part;
      const std::vector<double> found = held.advance(*stream, part.view());
      EXPECT_EQ(found == in_place, is_exact(format));

      const Range rows = held.sample.map.owned_rows();
      const auto elements = decoded(*stream, *part.view().volumes), faces = decoded(*stream, *part.view().sides);
      PartView view = part.view();
      view.volumes = elements.get();
      view.sides = faces.get();
      EXPECT_EQ(held.advance(*stream, view), found);
      // Kernels that are seldom run read the same.
      const PartView coded = part.view();
      const double* u = part.u[1].data();
      EXPECT_EQ(kinetic_energy_of(*stream, rows, coded, u).value(), kinetic_energy_of(*stream, rows, view, u).value());
      EXPECT_EQ(enstrophy_of(*stream, rows, coded, u).value(), enstrophy_of(*stream, rows, view, u).value());
      EXPECT_EQ(largest_mach(*stream, rows, coded, u), largest_mach(*stream, rows, view, u));
      const double* projected = part.projected();
      EXPECT_EQ(smallest_step_negated(*stream, rows, coded, u, projected),
                smallest_step_negated(*stream, rows, view, u, projected));
    }
  }
}
#endif

}  // namespace
}  // namespace tutti::compressible
