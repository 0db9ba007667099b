#include "tutti/device/host/core_load.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <unistd.h>

#include <atomic>
#include <fstream>
#include <thread>

#include "../base/mpi_environment.hpp"
#include "tests/support/own_folder.hpp"
#include "tutti/device/device_list.hpp"

namespace tutti {
namespace {

using testing::Contains;
using testing::IsEmpty;

TEST(CoreLoad, reads_what_the_system_tells_of_its_cores) {
  const auto tick = static_cast<double>(sysconf(_SC_CLK_TCK));
  const auto idle = idle_seconds(
      "cpu  10 20 30 400 5 6 7 8 9 10\ncpu0 1 2 3 400 50 6 7\ncpu12 1 1 1 100 0\nintr 7 8 9 10 11\ncpux 1 2 3 4 "
      "5\ncpu3 1\n");
  ASSERT_EQ(idle.size(), 2U);
  EXPECT_DOUBLE_EQ(idle.at(0), 450 / tick);
  EXPECT_DOUBLE_EQ(idle.at(12), 100 / tick);
  EXPECT_THAT(idle_seconds(""), IsEmpty());
}

TEST(CoreLoad, finds_a_core_that_works) {
  const int core = allowed_cores().front();
  std::atomic<bool> ready{false}, done{false};
  std::thread other([&] {
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(static_cast<unsigned>(core), &set);
    sched_setaffinity(0, sizeof set, &set);
    ready = true;
    while (!done) {
    }
  });
  while (!ready) std::this_thread::yield();
  const std::vector<int> busy = busy_cores({core}, std::chrono::milliseconds(200));
  done = true;
  other.join();
  if (idle_seconds("cpu0 1 1 1 1 1\n").empty() || !std::ifstream("/proc/stat")) GTEST_SKIP() << "no /proc/stat";
  EXPECT_THAT(busy, Contains(core));
  EXPECT_THAT(busy_cores({99999}, std::chrono::milliseconds(1)), IsEmpty()) << "a core that is not there";
}

TEST(CoreLoad, tells_the_longest_wait_of_a_thread) {
  const std::filesystem::path folder = test::own_folder() / "tasks";
  const auto write = [&](const std::string& task, const std::string& text) {
    std::filesystem::create_directories(folder / task);
    std::ofstream(folder / task / "schedstat") << text;
  };
  write("1", "5000000000 1000000000 7\n");
  write("2", "5000000000 1000000000 7\n");
  const CoreWait wait(folder);
  EXPECT_EQ(wait.longest(), 0);
  write("1", "9000000000 1500000000 9\n");
  write("2", "9000000000 4000000000 9\n");
  write("3", "1000000000 2000000000 1\n");
  EXPECT_DOUBLE_EQ(wait.longest(), 3);
  EXPECT_EQ(CoreWait("/nowhere").longest(), 0);
}

// Two runs of a thread each would be pinned to the same core.
TEST(CoreLoad, a_team_that_leaves_cores_to_others_is_not_pinned) {
  if (allowed_cores().size() < 2) GTEST_SKIP() << "one core";
  DeviceOptions options;
  options.threads = 1;
  const Comm& comm = test::world();
  EXPECT_THAT(open_devices("cpu", comm, options).threads->cores(), IsEmpty());
  options.threads = 0;
  options.look_at_load = true;
  const DeviceSet all = open_devices("cpu", comm, options);
  EXPECT_TRUE(all.threads->cores().empty() || all.threads->count() == static_cast<int>(allowed_cores().size()));
  const std::string first = "cpu:" + std::to_string(allowed_cores()[0]);
  EXPECT_EQ(open_devices(first, comm, options).threads->cores(), std::vector<int>{allowed_cores()[0]});
}

}  // namespace
}  // namespace tutti
