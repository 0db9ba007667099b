// Stages of a part of straight elements with random states, as they are told by two kinds of kernels.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>

#include "tutti/base/random.hpp"
#include "tutti/device/threads.hpp"
#include "tutti/mesh/elements/generate_element_box.hpp"
#include "tutti/models/compressible/flow_part.hpp"

namespace tutti::compressible {

struct Setting {
  int order = 1;
  FluxKind flux = FluxKind::llf;
  int terms = 1;  ///< of the stage
  ViscosityLaw law = ViscosityLaw::none;
  KernelChoice kernels = KernelChoice::tuned;
  std::vector<Lid> broken = {};  ///< elements without density
  int threads = 0;               ///< of a step that goes block by block; 0: all faces, then all elements
  bool given_up = false;         ///< tuned kernels, for which the part was made
};

/// A part with interior elements, separators and ghosts, walls at two ends, and a state of random polynomials.
class StraightPart : public testing::Test {
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
    std::vector<std::uint8_t> broken;
    bool tuned = false, fused = false;  ///< fused: fluxes are those at the boundary
    std::vector<bool> at_boundary;      ///< of the fluxes of all faces
  };
  Result run(Device& device, const Setting& setting) {
    CompressibleCase flow;
    flow.order = setting.order;
    flow.flux = setting.flux;
    flow.kernels = setting.kernels;
    flow.tuned = setting.kernels == KernelChoice::tuned;
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
    if (setting.given_up) part.use_portable_kernels(*stream);
    const double mean[variables] = {1, 0.3, -0.2, 0.1, 2.6};
    for (std::size_t k = 0; k < part.u.size(); ++k) {
      std::vector<double> u(static_cast<std::size_t>(map_.local()) * static_cast<std::size_t>(values));
      for (std::size_t i = 0; i < u.size(); ++i) {
        const auto l = i % static_cast<std::size_t>(flow.bases());
        u[i] = (l == 0 ? mean[i / static_cast<std::size_t>(flow.bases()) % variables] : 0) +
               0.02 * (random_unit(k + 1, i) - 0.5);
      }
      for (const Lid e : setting.broken) u[static_cast<std::size_t>(e) * static_cast<std::size_t>(values)] = -1;
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
    const auto fluxes = [&](Stream& on, Range faces) {
      compute_fluxes(on, faces, part.stage_view(), part.boundary(), 2, from, part.at_faces());
    };
    const auto elements = [&](Stream& on, Range rows) {
      advance_elements(on, rows, part.stage_view(), from, part.at_faces(), stage);
    };
    fluxes(*stream, part.separator_fluxes());
    elements(*stream, map_.separator_rows());
    if (setting.threads > 0) {
      stream->synchronize();  // the step has streams of its own
      Threads team(setting.threads);
      std::vector<PartStreams> streams;
      streams.emplace_back(device);
      Step step(team, streams, values);
      part.reuse_fluxes(*stream, setting.threads);
      part.add_interior(step, 0, map_.interior_rows(), fluxes, elements);
      step.finish(Overlap::full);
      step.run();
    } else {
      fluxes(*stream, part.interior_fluxes());
      elements(*stream, map_.interior_rows());
    }
    Result result;
    const auto owned = static_cast<std::size_t>(map_.owned) * static_cast<std::size_t>(values);
    result.tuned = part.view().straight != nullptr;
    result.fused = result.tuned && part.view().straight->fused;
    const Operators made = make_operators(local_, map_, {flow.order, false, flow.diffuses()});
    for (const FaceRecord& face : made.faces) {
      result.at_boundary.resize(result.at_boundary.size() + Size{variables} * face.points, face.right < 0);
    }
    const auto kept = result.fused ? std::count(result.at_boundary.begin(), result.at_boundary.end(), true)
                                   : static_cast<std::ptrdiff_t>(result.at_boundary.size());
    result.flux.resize(static_cast<std::size_t>(kept));
    result.jump.resize(flow.diffuses() ? result.flux.size() : 0);
    result.out.resize(owned);
    result.second.resize(owned);
    download(*stream, std::span<double>(result.flux), part.at_faces().flux);
    if (flow.diffuses()) download(*stream, std::span<double>(result.jump), part.at_faces().jump);
    download(*stream, std::span<double>(result.out), part.u[2].data());
    download(*stream, std::span<double>(result.second), part.u[3].data());
    result.broken = part.broken(*stream);
    return result;
  }

  /// Of the device's kernels for straight elements and the portable ones of the host.
  void expect_same_bits(Device& device, const Setting& setting) {
    const auto host = make_host_device(threads_, Size{1} << 30);
    Setting portable = setting;
    portable.kernels = KernelChoice::portable;
    Result should = run(*host, portable);
    const Result is = run(device, setting);
    EXPECT_FALSE(should.tuned);
    EXPECT_EQ(is.tuned, !setting.given_up);
    for (const double v : should.out) ASSERT_TRUE(std::isfinite(v));
    if (is.fused) {
      std::vector<double> at_boundary;
      for (std::size_t i = 0; i < should.flux.size(); ++i)
        if (should.at_boundary[i]) at_boundary.push_back(should.flux[i]);
      should.flux = at_boundary;
    }
    ASSERT_EQ(is.flux.size(), should.flux.size());
    EXPECT_EQ(differing(is.flux, should.flux), 0) << "of " << should.flux.size() << " fluxes";
    EXPECT_EQ(differing(is.jump, should.jump), 0) << "of " << should.jump.size() << " jumps";
    EXPECT_EQ(differing(is.out, should.out), 0) << "of " << should.out.size() << " new values";
    EXPECT_EQ(differing(is.second, should.second), 0);
    EXPECT_EQ(is.broken, should.broken);
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

}  // namespace tutti::compressible
