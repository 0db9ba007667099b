#include "tutti/device/host/host_load.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tutti {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST(HostLoad, says_nothing_where_every_thread_has_a_core) {
  EXPECT_EQ(describe_full_cores({1, 1, 1}, false), "");
  EXPECT_EQ(describe_full_cores({4, 64, 64}, false), "");
}

TEST(HostLoad, names_what_shares_and_what_helps) {
  const std::string teams = describe_full_cores({2, 8, 4}, false);
  EXPECT_THAT(teams, HasSubstr("2 ranks with 8 threads in all share 4 cores"));
  EXPECT_THAT(teams, HasSubstr("OMP_WAIT_POLICY=passive"));
  EXPECT_THAT(teams, HasSubstr("--threads"));
  EXPECT_THAT(describe_full_cores({2, 8, 4}, true), Not(HasSubstr("OMP_WAIT_POLICY")));
  // Ranks without teams have no OpenMP threads that could spin.
  const std::string ranks = describe_full_cores({3, 3, 2}, false);
  EXPECT_THAT(ranks, HasSubstr("fewer ranks"));
  EXPECT_THAT(ranks, Not(HasSubstr("OMP_WAIT_POLICY")));
  EXPECT_EQ(teams.find('\n'), std::string::npos);
}

}  // namespace
}  // namespace tutti
