// Straight elements in the lanes of a CPU's vectors have the bits of one element at a time.
#include <fmt/core.h>

#include "tests/support/straight_part.hpp"

namespace tutti::compressible {
namespace {

using StraightLanes = StraightPart;

TEST_F(StraightLanes, HaveTheBitsOfOneElementAtATime) {
  if (lane_count == 1) GTEST_SKIP() << "no vectors";
  Threads team(3);
  const auto host = make_host_device(team, Size{1} << 30);
  for (const BoxElements elements : {BoxElements::tetrahedra, BoxElements::hexahedra}) {
    make(elements, {5, 4, 3});
    for (int order = lowest_tuned_order; order <= highest_tuned_order; ++order)
      for (const FluxKind flux : {FluxKind::llf, FluxKind::roe, FluxKind::hllc})
        for (const int terms : {0, 1, 2})
          for (const ViscosityLaw law : {ViscosityLaw::none, ViscosityLaw::constant, ViscosityLaw::sutherland}) {
            SCOPED_TRACE(fmt::format("elements {}, order {}, flux {}, {} terms, law {}", static_cast<int>(elements),
                                     order, static_cast<int>(flux), terms, static_cast<int>(law)));
            expect_same_bits(*host, {order, flux, terms, law});
          }
  }
}

TEST_F(StraightLanes, MarkTheElementsThatHaveNoState) {
  if (lane_count == 1) GTEST_SKIP() << "no vectors";
  const auto host = make_host_device(threads_, Size{1} << 30);
  make(BoxElements::tetrahedra, {5, 4, 3});
  for (const ViscosityLaw law : {ViscosityLaw::none, ViscosityLaw::constant}) {
    Setting setting{2, FluxKind::llf, 1, law, KernelChoice::tuned, {3, map_.interior - 1, map_.owned - 1}};
    const Result is = run(*host, setting);
    setting.kernels = KernelChoice::portable;
    EXPECT_EQ(is.broken, run(*host, setting).broken);
    EXPECT_TRUE(is.tuned);
    for (Lid e = 0; e < map_.owned; ++e)
      EXPECT_EQ(is.broken[e] != 0, std::find(setting.broken.begin(), setting.broken.end(), e) != setting.broken.end());
  }
}

/// Blocks that use rows of fluxes again, in whatever order threads take them.
TEST_F(StraightLanes, GoBlockByBlock) {
  if (lane_count == 1) GTEST_SKIP() << "no vectors";
  const auto host = make_host_device(threads_, Size{1} << 30), fake = make_fake_device(0, {});
  for (const BoxElements elements : {BoxElements::tetrahedra, BoxElements::hexahedra}) {
    if (elements == BoxElements::tetrahedra)
      make(elements, {9, 8, 8});
    else
      make(elements, {16, 15, 12});
    for (const ViscosityLaw law : {ViscosityLaw::none, ViscosityLaw::constant})
      for (const int terms : {1, 2}) {
        Setting setting{3, FluxKind::llf, terms, law};
        const Result should = run(*host, setting);
        for (const int threads : {1, 2, 3}) {
          SCOPED_TRACE(fmt::format("elements {}, law {}, {} terms, {} threads", static_cast<int>(elements),
                                   static_cast<int>(law), terms, threads));
          setting.threads = threads;
          const Result is = run(*host, setting);
          EXPECT_GT(differing(is.flux, should.flux), Size{0}) << "too few blocks: no row was used again";
          EXPECT_EQ(differing(is.out, should.out), 0);
          EXPECT_EQ(differing(is.second, should.second), 0);
        }
        // The memory of a fake GPU is none of the host's: its faces keep their rows.
        setting.threads = 2;
        const Result is = run(*fake, setting);
        EXPECT_EQ(differing(is.flux, should.flux), 0);
        EXPECT_EQ(differing(is.out, should.out), 0);
        EXPECT_EQ(differing(is.second, should.second), 0);
      }
  }
}

/// Fluxes come in any pieces of whole tiles, as threads take them.
TEST_F(StraightLanes, TakeAnyTiles) {
  if (lane_count == 1) GTEST_SKIP() << "no vectors";
  make(BoxElements::tetrahedra, {4, 4, 3});
  const auto host = make_host_device(threads_, Size{1} << 30);
  CompressibleCase flow;
  flow.order = 1;
  flow.conditions.assign(3, {"wall", BoundaryKind::slip, {}});
  const auto stream = host->make_stream("test");
  FlowPart part(*stream, flow, local_, map_, with_components(map_, variables * flow.bases()), conditions_, 1);
  part.set_uniform(*stream, {1, 0.3, -0.2, 0.1, 2.6});
  ASSERT_NE(part.view().straight, nullptr);
  const auto count = static_cast<std::size_t>(part.all_faces().size()) * variables * 4;
  const auto fluxes = [&](Lid at_a_time) {
    std::fill_n(part.at_faces().flux, count, -7.0);
    for (Lid begin = 0; begin < part.all_fluxes().end; begin += at_a_time)
      compute_fluxes(*stream, {begin, std::min(begin + at_a_time, part.all_fluxes().end)}, part.view(), part.boundary(),
                     2, part.u[0].data(), part.at_faces());
    return std::vector<double>(part.at_faces().flux, part.at_faces().flux + count);
  };
  const auto whole = fluxes(part.all_fluxes().end);
  EXPECT_EQ(std::count(whole.begin(), whole.end(), -7.0), 0);
  for (const Lid tiles : {1, 3, 8})
    EXPECT_EQ(differing(fluxes(tile_rows * tiles), whole), 0) << tiles << " tiles at a time";
}

}  // namespace
}  // namespace tutti::compressible
