#include "tutti/base/system/fault.hpp"

#include <gtest/gtest.h>

#include "tutti/base/error.hpp"

namespace tutti {
namespace {

/// Disarms whatever a test has armed.
class Fault : public ::testing::Test {
 protected:
  void TearDown() override { arm_fault("", 0); }
};

TEST_F(Fault, FailsAtTheVisitOfThePhaseOnTheRank) {
  arm_fault("step@1:3", 1);
  fault_point("assemble");
  fault_point("step");
  fault_point("step");
  try {
    fault_point("step");
    FAIL() << "the third visit must fail";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::resource);
    EXPECT_STREQ(error.what(), "rank 1 fails at 'step', as TUTTI_FAULT asks; unset it");
  }
  EXPECT_NO_THROW(fault_point("step"));
}

TEST_F(Fault, OtherRanksDoNotFail) {
  arm_fault("step@1", 0);
  EXPECT_NO_THROW(fault_point("step"));
}

TEST_F(Fault, TakesOnlyItsForm) {
  for (const char* wrong : {"step", "@1", "step@", "step@x", "step@1:", "step@1:0", "step@1x", "step@1:2:3"})
    EXPECT_THROW(arm_fault(wrong, 0), Error) << wrong;
}

}  // namespace
}  // namespace tutti
