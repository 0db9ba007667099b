// Which known name a slip is taken for.
#include <gtest/gtest.h>

#include <vector>

#include "tutti/base/units.hpp"

namespace tutti {
namespace {

TEST(EditDistance, counts_slips) {
  EXPECT_EQ(edit_distance("", ""), 0);
  EXPECT_EQ(edit_distance("", "run"), 3);
  EXPECT_EQ(edit_distance("run", ""), 3);
  EXPECT_EQ(edit_distance("run", "run"), 0);
  EXPECT_EQ(edit_distance("rn", "run"), 1);
  EXPECT_EQ(edit_distance("runn", "run"), 1);
  EXPECT_EQ(edit_distance("ran", "run"), 1);
  EXPECT_EQ(edit_distance("rnu", "run"), 1);
  EXPECT_EQ(edit_distance("urn", "run"), 1);
  EXPECT_EQ(edit_distance("nur", "run"), 2);
  EXPECT_EQ(edit_distance("kitten", "sitting"), 3);
  EXPECT_EQ(edit_distance("--devcies", "--devices"), 1);
}

TEST(EditDistance, the_nearest_name_must_be_near) {
  const std::vector<std::string> names = {"run", "plan", "doctor"};
  EXPECT_EQ(nearest_name("rnu", names), "run");
  EXPECT_EQ(nearest_name("doktor", names), "doctor");
  EXPECT_EQ(nearest_name("frobnicate", names), "");
  EXPECT_EQ(nearest_name("", names), "");
}

}  // namespace
}  // namespace tutti
