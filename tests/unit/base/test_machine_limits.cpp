// Limits of control groups, read from trees of files as systems have them.
#include "tutti/base/system/machine_limits.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <initializer_list>
#include <string>
#include <utility>

#include "tests/support/own_folder.hpp"

namespace tutti {
namespace {

namespace fs = std::filesystem;
constexpr Size gib = Size{1} << 30;
constexpr const char* v2_mount = "30 24 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw,nsdelegate\n";

class Limits : public testing::Test {
 protected:
  Limits() {
    fs::remove_all(root);
    put("proc/meminfo", "MemTotal:       67108864 kB\nMemFree:  1 kB\nMemAvailable:   33554432 kB\n");  // 64, 32 GiB
  }
  void put(const fs::path& file, const std::string& text) {
    fs::create_directories((root / file).parent_path());
    std::ofstream(root / file) << text;
  }
  void put(std::initializer_list<std::pair<const char*, std::string>> files) {
    for (const auto& [file, text] : files) put(file, text);
  }
  static std::string bytes(double in_gib) { return std::to_string(static_cast<Size>(in_gib * gib)) + "\n"; }
  MachineLimits read() { return read_machine_limits(root); }
  fs::path root = test::own_folder() / "machine";
};

TEST_F(Limits, WithoutGroupsTheMachineItself) {
  EXPECT_EQ(read().memory, 64 * gib);
  EXPECT_EQ(read().available, 32 * gib);
  EXPECT_EQ(read().whole_cores(12), 12);
  fs::remove_all(root);
  EXPECT_EQ(read().available, gib) << "nothing to read";
  const MachineLimits here = read_machine_limits();
  EXPECT_GT(here.available, 1 << 20);
  EXPECT_LE(here.available, here.memory);
}

TEST_F(Limits, OfVersion2AreTheLeastOfAllParents) {
  // As Slurm nests them: the job has less memory than the step, the step fewer cores than the job.
  put({{"proc/self/cgroup", "0::/system.slice/slurmstepd.scope/job_7/step_0/user/task_0\n"},
       {"proc/self/mountinfo", std::string("24 1 8:1 / / rw - ext4 /dev/sda1 rw\n") + v2_mount}});
  const fs::path job = "sys/fs/cgroup/system.slice/slurmstepd.scope/job_7";
  put(job / "memory.max", bytes(8));
  put(job / "memory.current", bytes(3));
  put(job / "memory.stat", "anon 1\ninactive_anon 5\ninactive_file " + bytes(1) + "active_file 7\n");
  put(job / "cpu.max", "max 100000\n");
  put(job / "step_0/memory.max", "max\n");
  put(job / "step_0/cpu.max", "250000 100000\n");
  put(job / "step_0/user/task_0/memory.max", bytes(16));
  put(job / "step_0/user/task_0/memory.current", bytes(2));
  put("sys/fs/cgroup/system.slice/cpu.max", "600000 100000\n");
  EXPECT_EQ(read().memory, 8 * gib);
  EXPECT_EQ(read().available, 6 * gib) << "8 less 3, of which 1 can be dropped";
  EXPECT_EQ(read().cores, 2.5);
  EXPECT_EQ(read().whole_cores(12), 2);
  put("sys/fs/cgroup/system.slice/memory.high", bytes(4));
  EXPECT_EQ(read().available, 4 * gib);
  put(job / "memory.current", bytes(20));
  EXPECT_EQ(read().available, 0) << "above the limit";
}

TEST_F(Limits, OfVersion2InAContainer) {
  // With a name space of its own a container sees itself as the uppermost group.
  put({{"proc/self/cgroup", "0::/\n"},
       {"proc/self/mountinfo", v2_mount},
       {"sys/fs/cgroup/memory.max", bytes(2)},
       {"sys/fs/cgroup/memory.current", bytes(0.5)},
       {"sys/fs/cgroup/cpu.max", "50000 100000\n"}});
  EXPECT_EQ(read().available, 3 * gib / 2);
  EXPECT_EQ(read().whole_cores(12), 1) << "half a core is one";
  // Started from outside of it, its group is told from there, which leads nowhere here.
  put("proc/self/cgroup", "0::/../../kubepods/pod1\n");
  EXPECT_EQ(read().available, 3 * gib / 2);
}

TEST_F(Limits, OfVersion1) {
  put({{"proc/self/cgroup", "11:memory:/slurm/uid_1/job_7\n4:cpu,cpuacct:/slurm/uid_1\n3:cpuset:/\n0::/\n"},
       {"proc/self/mountinfo",
        "31 23 0:28 / /sys/fs/cgroup rw - tmpfs tmpfs rw\n"
        "33 31 0:30 / /sys/fs/cgroup/cpu\\040time rw shared:1 - cgroup cgroup rw,cpu,cpuacct\n"
        "35 31 0:32 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n"},
       {"sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n"},
       {"sys/fs/cgroup/memory/memory.usage_in_bytes", bytes(40)},
       {"sys/fs/cgroup/memory/slurm/uid_1/memory.limit_in_bytes", bytes(5)},
       {"sys/fs/cgroup/memory/slurm/uid_1/memory.usage_in_bytes", bytes(2)},
       {"sys/fs/cgroup/memory/slurm/uid_1/memory.stat", "cache 3\ntotal_inactive_file " + bytes(1)},
       {"sys/fs/cgroup/memory/slurm/uid_1/job_7/memory.limit_in_bytes", bytes(30)},
       {"sys/fs/cgroup/cpu time/cpu.cfs_quota_us", "-1\n"},
       {"sys/fs/cgroup/cpu time/cpu.cfs_period_us", "100000\n"},
       {"sys/fs/cgroup/cpu time/slurm/uid_1/cpu.cfs_quota_us", "400000\n"},
       {"sys/fs/cgroup/cpu time/slurm/uid_1/cpu.cfs_period_us", "100000\n"}});
  EXPECT_EQ(read().memory, 5 * gib);
  EXPECT_EQ(read().available, 4 * gib);
  EXPECT_EQ(read().cores, 4);
}

TEST_F(Limits, OfVersion1InAContainer) {
  // Docker mounts the container's own group, and /proc/self/cgroup names it as the host does.
  put({{"proc/self/cgroup", "11:memory:/docker/ab/inner\n"},
       {"proc/self/mountinfo", "35 31 0:32 /docker/ab /sys/fs/cgroup/memory ro - cgroup cgroup rw,memory\n"},
       {"sys/fs/cgroup/memory/memory.limit_in_bytes", bytes(3)},
       {"sys/fs/cgroup/memory/memory.usage_in_bytes", bytes(1)},
       {"sys/fs/cgroup/memory/inner/memory.limit_in_bytes", bytes(1)}});
  EXPECT_EQ(read().available, gib);
  fs::remove_all(root / "sys/fs/cgroup/memory/inner");
  EXPECT_EQ(read().available, 2 * gib);
  put("proc/self/cgroup", "11:memory:/docker/abc\n");  // no child of /docker/ab
  EXPECT_EQ(read().available, 2 * gib);
}

TEST_F(Limits, NonsenseLimitsNothing) {
  put({{"proc/self/cgroup", "x\n0:\n0::/a\n"},
       {"proc/self/mountinfo", std::string("- - -\n\n1 2\n") + v2_mount},
       {"sys/fs/cgroup/a/memory.max", "much\n"},
       {"sys/fs/cgroup/a/cpu.max", "0 0\n"}});
  EXPECT_EQ(read().available, 32 * gib);
  EXPECT_EQ(read().whole_cores(12), 12);
}

}  // namespace
}  // namespace tutti
