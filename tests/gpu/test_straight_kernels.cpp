// The kernels tuned for straight tetrahedra and hexahedra have the bits of the portable ones on the host. Skips without
// a GPU.
#include <fmt/core.h>

#include "tests/support/straight_part.hpp"

namespace tutti::compressible {
namespace {

using StraightKernels = StraightPart;

TEST_F(StraightKernels, HaveTheBitsOfTheHost) {
  if (cuda_device_count() == 0) GTEST_SKIP() << "no GPU on this machine";
  const auto gpu = make_cuda_device(0);
  for (const BoxElements elements : {BoxElements::tetrahedra, BoxElements::hexahedra}) {
    make(elements, {7, 5, 4});
    for (const int order : {1, 2, 3})
      for (const FluxKind flux : {FluxKind::llf, FluxKind::roe, FluxKind::hllc})
        for (const int terms : {0, 1, 2})
          for (const ViscosityLaw law : {ViscosityLaw::none, ViscosityLaw::constant, ViscosityLaw::sutherland}) {
            SCOPED_TRACE(fmt::format("elements {}, order {}, flux {}, {} terms, law {}", static_cast<int>(elements),
                                     order, static_cast<int>(flux), terms, static_cast<int>(law)));
            expect_same_bits(*gpu, {order, flux, terms, law});
          }
  }
}

/// So many elements that warps take one tile after the other.
TEST_F(StraightKernels, TakeOneTileAfterTheOther) {
  if (cuda_device_count() == 0) GTEST_SKIP() << "no GPU on this machine";
  const auto gpu = make_cuda_device(0);
  for (const BoxElements elements : {BoxElements::tetrahedra, BoxElements::hexahedra}) {
    make(elements,
         elements == BoxElements::tetrahedra ? std::array<Gid, 3>{20, 20, 20} : std::array<Gid, 3>{32, 32, 24});
    for (const int order : {1, 2, 3})
      for (const ViscosityLaw law : {ViscosityLaw::none, ViscosityLaw::constant}) {
        SCOPED_TRACE(
            fmt::format("elements {}, order {}, law {}", static_cast<int>(elements), order, static_cast<int>(law)));
        expect_same_bits(*gpu, {order, FluxKind::llf, 1, law});
      }
  }
}

/// Where some part of a run cannot have tuned kernels, none has: fluxes at all faces need their room then.
TEST_F(StraightKernels, GiveWayToPortableOnes) {
  if (cuda_device_count() == 0) GTEST_SKIP() << "no GPU on this machine";
  const auto gpu = make_cuda_device(0);
  make(BoxElements::tetrahedra, {7, 5, 4});
  for (const int order : {1, 2, 3})
    for (const ViscosityLaw law : {ViscosityLaw::none, ViscosityLaw::constant}) {
      SCOPED_TRACE(fmt::format("order {}, law {}", order, static_cast<int>(law)));
      Setting setting{order, FluxKind::llf, 1, law};
      setting.given_up = true;
      expect_same_bits(*gpu, setting);
    }
}

}  // namespace
}  // namespace tutti::compressible
