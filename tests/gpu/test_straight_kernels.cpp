// The kernels tuned for straight tetrahedra and hexahedra have the bits of the portable ones on the host. Skips without
// a GPU.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <numeric>

#include "tutti/base/random.hpp"
#include "tutti/device/threads.hpp"
#include "tutti/mesh/elements/generate_element_box.hpp"
#include "tutti/models/compressible/flow_part.hpp"

namespace tutti::compressible {
namespace {

struct Setting {
  int order = 1;
  FluxKind flux = FluxKind::llf;
  int terms = 1;  ///< of the stage
  ViscosityLaw law = ViscosityLaw::none;
};

/// A part with interior elements, separators and ghosts, walls at two ends, and a state of random polynomials.
class StraightKernels : public testing::Test {
 protected:
  void make(BoxElements elements, const std::array<Gid, 3>& cubes) {
    ElementBoxSpec spec;
    spec.elements = elements;
    spec.cubes = cubes;
    if (elements == BoxElements::tetrahedra)
      spec.jitter = 0.15;
    else
      spec.map = [](Vec3 p) { return Vec3{p.x + 0.3 * p.y, 1.3 * p.y, 0.2 * p.x + 0.8 * p.z}; };
    spec.periodic = {true, true, false};
    mesh_ = generate_element_box(spec);
    map_.global.resize(mesh_.element_count());
    std::iota(map_.global.begin(), map_.global.end(), Gid{0});
    map_.owned = map_.local() - 37;  // tiles are not full
    map_.interior = map_.owned - map_.owned / 5;
    local_ = local_elements(map_, mesh_, match_faces(mesh_));
    for (const std::int32_t tag : mesh_.boundary_tags) conditions_[tag] = 1 + tag % 2;
    conditions_[0] = 0;
  }

  struct Result {
    std::vector<double> flux, jump, out, second;
    bool tuned = false;
  };
  Result run(Device& device, const Setting& setting) {
    CompressibleCase flow;
    flow.order = setting.order;
    flow.flux = setting.flux;
    flow.tuned = true;
    flow.gas.law = setting.law;
    if (flow.diffuses()) flow.gas.viscosity = 0.02;
    flow.gas.reference_temperature = 0.9;
    flow.gas.sutherland_temperature = 0.4;
    // Where elements that are not here would be, and at both walls.
    flow.conditions.push_back({"elsewhere", BoundaryKind::slip, {}});
    flow.conditions.push_back(
        {"warm", flow.diffuses() ? BoundaryKind::isothermal : BoundaryKind::slip, {{{}, 0.2, 0.1, 0.0, {}, 1.1}}});
    flow.conditions.push_back({"far", BoundaryKind::far_field, {{1.0, 0.3, -0.2, 0.1, 1.0, {}}}});
    const auto stream = device.make_stream("test");
    const int values = variables * flow.bases();
    FlowPart part(*stream, flow, local_, map_, with_components(map_, values), conditions_, 4);
    const double mean[variables] = {1, 0.3, -0.2, 0.1, 2.6};
    for (std::size_t k = 0; k < part.u.size(); ++k) {
      std::vector<double> u(static_cast<std::size_t>(map_.local()) * static_cast<std::size_t>(values));
      for (std::size_t i = 0; i < u.size(); ++i) {
        const auto l = i % static_cast<std::size_t>(flow.bases());
        u[i] = (l == 0 ? mean[i / static_cast<std::size_t>(flow.bases()) % variables] : 0) +
               0.02 * (random_unit(k + 1, i) - 0.5);
      }
      upload(*stream, part.u[k].buffer(), std::span<const double>(u));
    }
    part.update_boundary(*stream, 0);
    StageArrays stage;
    stage.count = setting.terms;
    for (int k = 0; k < setting.terms; ++k) {
      stage.x[k] = part.u[static_cast<std::size_t>(k)].data();
      stage.weight[k] = 0.3 + 0.2 * k;
    }
    stage.factor = 1e-3;
    stage.out = part.u[2].data();
    if (setting.terms == 1) {
      stage.base = part.u[1].data();
      stage.second = part.u[3].data();
      stage.second_factor = 0.7;
    } else {
      stage.source = part.u[3].data();
    }
    const double* from = part.u[1].data();
    for (const Range& faces : {part.interior_faces(), part.separator_faces()})
      compute_fluxes(*stream, faces, part.view(), part.boundary(), 2, from, part.at_faces());
    for (const Range& rows : {map_.interior_rows(), map_.separator_rows()})
      advance_elements(*stream, rows, part.view(), from, part.at_faces(), stage);
    Result result;
    const auto owned = static_cast<std::size_t>(map_.owned) * static_cast<std::size_t>(values);
    const std::array<int, 4> face_values = {0, 20, 40, 60};
    result.flux.resize(static_cast<std::size_t>(Size{part.all_faces().size()} * face_values[setting.order]));
    result.jump.resize(flow.diffuses() ? result.flux.size() : 0);
    result.out.resize(owned);
    result.second.resize(owned);
    download(*stream, std::span<double>(result.flux), part.at_faces().flux);
    if (flow.diffuses()) download(*stream, std::span<double>(result.jump), part.at_faces().jump);
    download(*stream, std::span<double>(result.out), part.u[2].data());
    download(*stream, std::span<double>(result.second), part.u[3].data());
    result.tuned = part.view().straight != nullptr;
    return result;
  }

  void expect_same_bits(const Setting& setting) {
    const auto host = make_host_device(threads_, Size{1} << 30);
    const auto gpu = make_cuda_device(0);
    const Result should = run(*host, setting), is = run(*gpu, setting);
    EXPECT_FALSE(should.tuned);
    EXPECT_TRUE(is.tuned);
    for (const double v : should.out) ASSERT_TRUE(std::isfinite(v));
    EXPECT_EQ(differing(is.flux, should.flux), 0) << "of " << should.flux.size() << " fluxes";
    EXPECT_EQ(differing(is.jump, should.jump), 0) << "of " << should.jump.size() << " jumps";
    EXPECT_EQ(differing(is.out, should.out), 0) << "of " << should.out.size() << " new values";
    EXPECT_EQ(differing(is.second, should.second), 0);
  }

  static Size differing(const std::vector<double>& a, const std::vector<double>& b) {
    Size count = 0;
    for (std::size_t i = 0; i < a.size(); ++i)
      count += std::bit_cast<std::uint64_t>(a[i]) != std::bit_cast<std::uint64_t>(b[i]) ? 1 : 0;
    return count;
  }

  Threads threads_{1};
  ElementMesh mesh_;
  IndexMap map_;
  LocalElementMesh local_;
  std::map<std::int32_t, std::int32_t> conditions_;
};

TEST_F(StraightKernels, HaveTheBitsOfTheHost) {
  if (cuda_device_count() == 0) GTEST_SKIP() << "no GPU on this machine";
  for (const BoxElements elements : {BoxElements::tetrahedra, BoxElements::hexahedra}) {
    make(elements, {7, 5, 4});
    for (const int order : {1, 2, 3})
      for (const FluxKind flux : {FluxKind::llf, FluxKind::roe, FluxKind::hllc})
        for (const int terms : {0, 1, 2})
          for (const ViscosityLaw law : {ViscosityLaw::none, ViscosityLaw::constant, ViscosityLaw::sutherland}) {
            SCOPED_TRACE(fmt::format("elements {}, order {}, flux {}, {} terms, law {}", static_cast<int>(elements),
                                     order, static_cast<int>(flux), terms, static_cast<int>(law)));
            expect_same_bits({order, flux, terms, law});
          }
  }
}

/// So many elements that warps take one tile after the other.
TEST_F(StraightKernels, TakeOneTileAfterTheOther) {
  if (cuda_device_count() == 0) GTEST_SKIP() << "no GPU on this machine";
  for (const BoxElements elements : {BoxElements::tetrahedra, BoxElements::hexahedra}) {
    make(elements,
         elements == BoxElements::tetrahedra ? std::array<Gid, 3>{16, 16, 16} : std::array<Gid, 3>{32, 32, 24});
    for (const int order : {1, 2, 3})
      for (const ViscosityLaw law : {ViscosityLaw::none, ViscosityLaw::constant}) {
        SCOPED_TRACE(
            fmt::format("elements {}, order {}, law {}", static_cast<int>(elements), order, static_cast<int>(law)));
        expect_same_bits({order, FluxKind::llf, 1, law});
      }
  }
}

}  // namespace
}  // namespace tutti::compressible
