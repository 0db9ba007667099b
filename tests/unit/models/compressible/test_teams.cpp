// Kernels by several threads together, as GPUs have them, with the bits of one thread; hexahedra that are summed over
// their lines, and elements that are recomputed, against products of whole tables. With TUTTI_TEST_GPU: a GPU has the
// bits of the host; skips without one.
#include <gtest/gtest.h>

#include <barrier>
#include <bit>
#include <cmath>
#include <limits>
#include <numeric>
#include <thread>

#include "tutti/base/random.hpp"
#include "tutti/mesh/elements/generate_element_box.hpp"
#include "tutti/models/compressible/flow_part.hpp"
#include "tutti/models/compressible/kernels/limiter.hpp"
#include "tutti/models/compressible/kernels/recomputed_stage.hpp"

namespace tutti::compressible {
namespace {

/// Threads that meet at a barrier, with the memory of a GPU's team.
template <class Room>
struct ThreadTeam : Room {
  int me, count;
  std::barrier<>* all;
  ThreadTeam(int first, int of, std::barrier<>* at) : me(first), count(of), all(at) {}
  int first() const { return me; }
  int step() const { return count; }
  void meet() const { all->arrive_and_wait(); }
};

struct Setting {
  BoxElements elements = BoxElements::tetrahedra;
  int order = 1;
  bool viscous = false;
  double jitter = 0.1;
  Vec3 shear{0, 0, 0};
  bool recomputed = false;
};

/// A box with walls at two ends, a rough state and the arrays of a stage.
struct Flow {
  CompressibleCase flow;
  std::unique_ptr<Device> device;
  std::unique_ptr<Stream> stream = device->make_stream("test");
  IndexMap map;
  std::unique_ptr<FlowPart> part;
  std::vector<double> u, flux, jump;
  /// Copies, so that tests may change them.
  std::vector<ElementRecord> elements;
  std::vector<FaceRecord> faces;
  PartView view;

  explicit Flow(const Setting& setting, std::unique_ptr<Device> on = make_fake_device(0, {})) : device(std::move(on)) {
    flow.order = setting.order;
    flow.recomputed = setting.recomputed;
    if (setting.viscous) {
      flow.gas.viscosity = 0.01;
      flow.gas.law = ViscosityLaw::constant;
    }
    flow.conditions.push_back({"walls", BoundaryKind::slip, {}});
    ElementBoxSpec spec;
    spec.elements = setting.elements;
    spec.cubes = {2, setting.jitter > 0 ? 2 : 1, 2};  // points inside, which jitter moves
    spec.jitter = setting.jitter;
    spec.map = [shear = setting.shear](Vec3 x) { return Vec3{x.x + shear.x * x.y, x.y + shear.y * x.z, x.z}; };
    const ElementMesh whole = generate_element_box(spec);
    map.interior = map.owned = static_cast<Lid>(whole.element_count());
    map.global.resize(whole.element_count());
    std::iota(map.global.begin(), map.global.end(), Gid{0});
    std::map<std::int32_t, std::int32_t> conditions{{0, 0}};
    for (const std::int32_t tag : whole.boundary_tags) conditions[tag] = 0;
    const LocalElementMesh mesh = local_elements(map, whole, match_faces(whole));
    part = std::make_unique<FlowPart>(*stream, flow, mesh, map, with_components(map, variables * flow.bases()),
                                      conditions, 2);
    double state[variables];
    to_conserved(flow.gas, {1, 0.3, 0.2, 0.1, 1}, state);
    const auto n = static_cast<std::size_t>(flow.bases());
    u.resize(static_cast<std::size_t>(part->u[0].buffer().size()));
    for (std::size_t i = 0; i < u.size(); ++i)
      u[i] = i % n == 0 ? state[i / n % variables] : 0.01 * (random_unit(3, static_cast<std::uint64_t>(i)) - 0.5);
    // Fake devices lend their memory to kernels only.
    elements.resize(static_cast<std::size_t>(map.local()));
    faces.resize(static_cast<std::size_t>(part->all_faces().size()));
    download(*stream, std::span(elements), part->view().elements);
    download(*stream, std::span(faces), part->view().faces);
    view = part->view();
    view.elements = elements.data();
    view.faces = faces.data();
    Size values = 0;
    for (const FaceRecord& face : faces) values += Size{variables} * face.points;
    flux.assign(static_cast<std::size_t>(values), 0.0);
    jump.assign(flux.size(), 0.0);
  }

  /// Runs f on every item of a range by one thread, or by three.
  template <class F>
  void run(Range range, const F& f, bool together) {
    stream->loop(range, [&](Lid begin, Lid end) {
      if (!together) {
        typename F::template Scratch<SerialTeam> scratch;
        for (Lid i = begin; i < end; ++i) f(SerialTeam{}, i, scratch);
      } else if (view.order == 1 && view.face_points <= FirstOrderRoom::face_points) {
        run_together<FirstOrderRoom>(begin, end, f);
      } else if (view.order <= SmallRoom::order && view.face_points <= SmallRoom::face_points) {
        run_together<SmallRoom>(begin, end, f);
      } else if (view.order <= WarpRoom::order && view.face_points <= WarpRoom::face_points) {
        run_together<WarpRoom>(begin, end, f);
      } else {
        run_together<BlockRoom>(begin, end, f);
      }
    });
    stream->synchronize();
  }
  template <class Room, class F>
  void run_together(Lid begin, Lid end, const F& f) {
    using Scratch = typename F::template Scratch<ThreadTeam<Room>>;
    constexpr int count = 3;
    // What nobody has written is not a number, and behind it nobody writes.
    struct Guarded {
      std::vector<double> memory = std::vector<double>(sizeof(Scratch) / sizeof(double) + 8);
    } guarded;
    const auto spoil = [&] {
      for (double& x : guarded.memory) x = std::numeric_limits<double>::quiet_NaN();
    };
    std::barrier<> all(count);
    const auto work = [&](int me) {
      for (Lid i = begin; i < end; ++i) {
        all.arrive_and_wait();
        if (me == 0) spoil();
        all.arrive_and_wait();
        f(ThreadTeam<Room>(me, count, &all), i, *reinterpret_cast<Scratch*>(guarded.memory.data()));
      }
    };
    std::vector<std::thread> others;
    for (int me = 1; me < count; ++me) others.emplace_back(work, me);
    work(0);
    for (std::thread& other : others) other.join();
    for (std::size_t i = sizeof(Scratch) / sizeof(double); i < guarded.memory.size(); ++i)
      EXPECT_TRUE(std::isnan(guarded.memory[i])) << "written behind the scratch";
  }

  template <bool factored, class Tables>
  void advance(const StageArrays& stage, const Tables& tables, bool together) {
    if (view.diffuses())
      run(map.owned_rows(),
          AdvanceViscousElements<Tables, factored>{view, tables, u.data(), flux.data(), jump.data(), stage}, together);
    else
      run(map.owned_rows(), AdvanceElements<Tables, factored>{view, tables, u.data(), flux.data(), stage}, together);
    if (view.monomials.n > 0 && view.diffuses())
      run(map.owned_rows(), recomputed::Advance<true>{view, u.data(), flux.data(), jump.data(), stage}, together);
    else if (view.monomials.n > 0)
      run(map.owned_rows(), recomputed::Advance<false>{view, u.data(), flux.data(), jump.data(), stage}, together);
    run(map.owned_rows(), KeepPositive<Tables>{view, tables, stage.out}, together);
  }
  /// The state after a stage.
  std::vector<double> stage(bool together) {
    if (view.monomials.n > 0) return stage(TablesOrMatrices{{view.tables}}, together);
    return stage(TablesInPlace{view.tables}, together);
  }
  template <class Tables>
  std::vector<double> stage(const Tables& tables, bool together) {
    if (view.diffuses())
      run(part->all_faces(),
          ViscousFaceFluxes<Tables, BoundaryView>{view, tables, u.data(), flux.data(), jump.data(), flow.eta,
                                                  part->boundary()},
          together);
    else
      run(part->all_faces(), FaceFluxes<Tables, BoundaryView>{view, tables, u.data(), flux.data(), part->boundary()},
          together);
    std::vector<double> out(u.size());
    StageArrays stage;
    stage.count = 1;
    stage.x[0] = u.data();
    stage.weight[0] = 1;
    stage.factor = 1e-3;
    stage.out = out.data();
    if (view.lines != nullptr)
      advance<true>(stage, tables, together);
    else
      advance<false>(stage, tables, together);
    return out;
  }
  void use_whole_tables() {
    for (ElementRecord& element : elements) element.factored = 0;
    for (FaceRecord& face : faces) face.plane[0] = face.plane[1] = -1;
    view.lines = nullptr;
  }
};

constexpr Vec3 sheared{0.2, 0.1, 0};
constexpr Setting settings[] = {{BoxElements::tetrahedra, 1},
                                {BoxElements::tetrahedra, 2, true},
                                {BoxElements::tetrahedra, 3},
                                {BoxElements::prisms, 1, true},
                                {BoxElements::mixed, 2, true},
                                {BoxElements::hexahedra, 1, true},
                                {BoxElements::hexahedra, 3, true},
                                {BoxElements::hexahedra, 4, true, 0, sheared},
                                {BoxElements::hexahedra, 5, false, 0, sheared},
                                {BoxElements::hexahedra, 6, true, 0, sheared},
                                {BoxElements::hexahedra, 1, true, 0.1, {}, true},
                                {BoxElements::hexahedra, 3, false, 0.1, {}, true},
                                {BoxElements::hexahedra, 3, true, 0.1, {}, true},
                                {BoxElements::mixed, 2, true, 0.1, {}, true},
                                {BoxElements::prisms, 4, false, 0.1, {}, true},
                                {BoxElements::pyramids, 6, true, 0.1, {}, true}};

void expect_same_bits(const Setting& setting, const std::vector<double>& is, const std::vector<double>& should) {
  SCOPED_TRACE(fmt::format("elements {}, order {}{}", static_cast<int>(setting.elements), setting.order,
                           setting.viscous ? ", viscous" : ""));
  Size differing = 0;
  for (std::size_t i = 0; i < is.size(); ++i) {
    ASSERT_TRUE(std::isfinite(should[i]));
    differing += std::bit_cast<std::uint64_t>(is[i]) != std::bit_cast<std::uint64_t>(should[i]) ? 1 : 0;
  }
  EXPECT_EQ(differing, 0) << "of " << is.size();
}

#if defined(TUTTI_TEST_GPU)
/// By the kernels as a run has them.
std::vector<double> stage_on(std::unique_ptr<Device> device, const Setting& setting) {
  Flow flow(setting, std::move(device));
  FlowPart& part = *flow.part;
  StageArrays stage;
  stage.count = 1;
  stage.x[0] = part.u[0].data();
  stage.weight[0] = 1;
  stage.factor = 1e-3;
  stage.out = part.u[1].data();
  upload(*flow.stream, part.u[0].buffer(), std::span<const double>(flow.u));
  compute_fluxes(*flow.stream, part.all_fluxes(), part.view(), part.boundary(), flow.flow.eta, part.u[0].data(),
                 part.at_faces());
  advance_elements(*flow.stream, flow.map.owned_rows(), part.view(), part.u[0].data(), part.at_faces(), stage,
                   stage.out);
  std::vector<double> out(flow.u.size());
  download(*flow.stream, std::span(out), part.u[1].buffer());
  return out;
}

TEST(Teams, HaveTheBitsOfTheHostOnAGpu) {
  if (cuda_device_count() == 0) GTEST_SKIP() << "no GPU on this machine";
  for (const Setting& setting : settings)
    expect_same_bits(setting, stage_on(make_cuda_device(0), setting), stage_on(make_fake_device(0, {}), setting));
}
#else
TEST(Teams, HaveTheBitsOfOneThread) {
  for (const Setting& setting : settings) {
    Flow flow(setting);
    const std::vector<double> should = flow.stage(false);
    expect_same_bits(setting, flow.stage(true), should);
    EXPECT_NE(should, flow.u);
  }
}

TEST(Hexahedra, AreSummedOverLinesAsByWholeTables) {
  for (const int order : {4, 5, 6})
    for (const bool viscous : {false, true}) {
      SCOPED_TRACE(fmt::format("order {}{}", order, viscous ? ", viscous" : ""));
      Flow flow({BoxElements::hexahedra, order, viscous, 0, {0.2, 0.1, 0}});
      ASSERT_NE(flow.view.lines, nullptr);
      const std::vector<double> is = flow.stage(false), flux = flow.flux;
      flow.use_whole_tables();
      const std::vector<double> should = flow.stage(false);
      for (std::size_t i = 0; i < flux.size(); ++i) ASSERT_NEAR(flux[i], flow.flux[i], 2e-12);
      for (std::size_t i = 0; i < is.size(); ++i) ASSERT_NEAR(is[i], should[i], 2e-13);
      EXPECT_NE(is, should) << "was not another way of adding";
    }
}

TEST(Recomputed, IsWhatTablesGive) {
  for (const BoxElements elements :
       {BoxElements::hexahedra, BoxElements::prisms, BoxElements::pyramids, BoxElements::mixed})
    for (const int order : {0, 1, 2, 3, 5, 6})
      for (const bool viscous : {false, true}) {
        SCOPED_TRACE(
            fmt::format("elements {}, order {}{}", static_cast<int>(elements), order, viscous ? ", viscous" : ""));
        Flow flow({elements, order, viscous, 0.1, {}, true}), tables({elements, order, viscous});
        ASSERT_GT(flow.view.monomials.n, 0);
        const std::vector<double> is = flow.stage(false), should = tables.stage(false);
        ASSERT_EQ(flow.flux.size(), tables.flux.size());
        for (std::size_t i = 0; i < flow.flux.size(); ++i) ASSERT_NEAR(flow.flux[i], tables.flux[i], 5e-12);
        for (std::size_t i = 0; i < is.size(); ++i) ASSERT_NEAR(is[i], should[i], 1e-12);
        EXPECT_NE(is, should) << "was not another way of adding";
      }
}

TEST(Hexahedra, AreSummedOverLinesFromOrderFourOn) {
  EXPECT_EQ(Flow({BoxElements::hexahedra, 3, false, 0}).view.lines, nullptr);
  EXPECT_EQ(Flow({BoxElements::hexahedra, 4, false, 0.1}).view.lines, nullptr) << "not affine";
  EXPECT_NE(Flow({BoxElements::hexahedra, 4, false, 0}).view.lines, nullptr);
}
#endif

}  // namespace
}  // namespace tutti::compressible
