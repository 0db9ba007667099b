// Runs on one rank under CTest and on any number by hand: mpirun -n 3 test_device --gtest_filter='OpenDevices*'
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <atomic>

#include "../base/mpi_environment.hpp"
#include "tutti/device/buffer.hpp"
#include "tutti/device/device_list.hpp"

namespace tutti {
namespace {

using Cores = std::vector<int>;

TEST(ParseDevices, ReadsTheWords) {
  const DeviceRequest all = parse_devices("all");
  EXPECT_TRUE(all.all_gpus && all.cpu);
  const DeviceRequest cpu = parse_devices("cpu");
  EXPECT_TRUE(cpu.cpu && cpu.cores.empty() && cpu.gpus.empty() && cpu.fakes == 0 && !cpu.all_gpus);
  const DeviceRequest cores = parse_devices("cpu:4-6,8,1");
  EXPECT_EQ(cores.cores, (Cores{1, 4, 5, 6, 8}));
  const DeviceRequest gpus = parse_devices("cuda:1, cuda:0 ,cpu:0-1,3,fake:2");
  EXPECT_EQ(gpus.gpus, (Cores{1, 0}));
  EXPECT_EQ(gpus.cores, (Cores{0, 1, 3}));
  EXPECT_EQ(gpus.fakes, 2);
  EXPECT_FALSE(parse_devices("fake:3").cpu);
  EXPECT_EQ(parse_devices("all,fake:1").fakes, 1);
}

TEST(ParseDevices, NamesWhatIsWrong) {
  const auto message = [](const std::string& list) -> std::string {
    try {
      parse_devices(list);
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::usage);
      EXPECT_EQ(std::string(error.what()).find('\n'), std::string::npos);
      return error.what();
    }
    ADD_FAILURE() << list << " was taken";
    return "";
  };
  for (const char* list : {"",
                           ",",
                           "cpu,",
                           "gpu",
                           "cuda",
                           "cuda:",
                           "cuda:x",
                           "cuda:-1",
                           "cuda:0-1",
                           "fake",
                           "fake:0",
                           "fake:2x",
                           "cpu:",
                           "cpu:a",
                           "cpu:3-1",
                           "cpu:0-",
                           "cpu:0,x",
                           "3",
                           "cpu,3",
                           "cuda:0,1",
                           "cuda:99999999999",
                           "cpu:0-99999999",
                           "CPU",
                           "all:1"}) {
    const std::string text = message(list);
    EXPECT_NE(text.find("cuda:I"), std::string::npos) << text;
    EXPECT_NE(text.find("cores " + format_cores(allowed_cores())), std::string::npos) << text;
  }
  for (const char* list : {"cpu,cpu", "cuda:1,cuda:1", "fake:1,fake:2", "cpu:0-3,2", "all,all"})
    EXPECT_NE(message(list).find("twice"), std::string::npos) << list;
  for (const char* list : {"all,cpu", "cuda:0,all"}) EXPECT_NE(message(list).find("already"), std::string::npos);
}

TEST(ShareOfCores, SplitsEachMaskAmongItsRanks) {
  const Cores eight = {0, 1, 2, 3, 4, 5, 6, 7};
  EXPECT_EQ(share_of_cores({eight}, 0), eight);
  EXPECT_EQ(share_of_cores({eight, eight, eight}, 0), (Cores{0, 1}));
  EXPECT_EQ(share_of_cores({eight, eight, eight}, 1), (Cores{2, 3, 4}));
  EXPECT_EQ(share_of_cores({eight, eight, eight}, 2), (Cores{5, 6, 7}));
  EXPECT_EQ(share_of_cores({{0, 1}, {2, 3}}, 1), (Cores{2, 3}));
  EXPECT_EQ(share_of_cores({{0, 1}, {0, 1}}, 1), (Cores{1}));
  EXPECT_EQ(share_of_cores({{0, 1}, {0, 1}, {0, 1}}, 2), Cores{});
  // Four ranks bound by socket: two share each.
  const std::vector<Cores> sockets = {{0, 1, 2, 3}, {4, 5, 6, 7}, {0, 1, 2, 3}, {4, 5, 6, 7}};
  EXPECT_EQ(share_of_cores(sockets, 0), (Cores{0, 1}));
  EXPECT_EQ(share_of_cores(sockets, 1), (Cores{4, 5}));
  EXPECT_EQ(share_of_cores(sockets, 2), (Cores{2, 3}));
  EXPECT_EQ(share_of_cores(sockets, 3), (Cores{6, 7}));
  // One rank too many on the first core, while the other has its own.
  EXPECT_EQ(share_of_cores({{0}, {1}, {0}}, 2), Cores{});
  EXPECT_EQ(share_of_cores({{0}, {1}, {0}}, 1), Cores{1});
}

class OpenDevices : public ::testing::Test {
 protected:
  const Comm& comm_ = test::world();
};

TEST_F(OpenDevices, TheCpuHasTheRanksShareOfTheCores) {
  const DeviceSet set = open_devices("cpu", comm_);
  ASSERT_EQ(set.devices.size(), 1u);
  EXPECT_TRUE(set.devices[0]->is_host());
  EXPECT_GT(set.devices[0]->budget().capacity(), Size{1} << 20);
  const auto total = comm_.sum(std::int64_t{set.threads->count()});
  if (comm_.size() == 1) {
    EXPECT_EQ(set.threads->cores(), allowed_cores());
  }
  if (comm_.size() > static_cast<int>(allowed_cores().size())) {
    EXPECT_EQ(total, comm_.size());
    EXPECT_TRUE(set.threads->cores().empty());
  }
  const std::string text = describe(set);
  EXPECT_EQ(text.rfind("cpu ", 0), 0u) << text;
  EXPECT_NE(text.find(" for tutti"), std::string::npos);
}

TEST_F(OpenDevices, FakesComeFirstAndAreDifferentOnEachRank) {
  DeviceOptions options;
  options.fake.memory = Size{1} << 20;
  const DeviceSet set = open_devices("cpu,fake:2", comm_, options);
  ASSERT_EQ(set.devices.size(), 3u);
  for (int k = 0; k < 2; ++k) {
    const Device& device = *set.devices[k];
    EXPECT_EQ(device.kind(), DeviceKind::fake);
    EXPECT_EQ(device.index(), 2 * comm_.rank() + k);
  }
  EXPECT_EQ(set.devices[0]->budget().capacity(), Size{1} << 20);
  EXPECT_EQ(set.devices[2]->name(), "cpu");
  const DeviceSet no_cpu = open_devices("fake:3", comm_);
  EXPECT_EQ(no_cpu.devices.size(), 3u);
  EXPECT_EQ(no_cpu.threads->count(), set.threads->count()) << "the team that sets up is the same";
}

TEST_F(OpenDevices, ThreadsCanBeGiven) {
  DeviceOptions options;
  options.threads = 1;
  EXPECT_EQ(open_devices("cpu", comm_, options).threads->count(), 1);
  options.threads = static_cast<int>(allowed_cores().size()) + 3;
  const DeviceSet many = open_devices("cpu", comm_, options);
  EXPECT_EQ(many.threads->count(), options.threads);
  EXPECT_TRUE(many.threads->cores().empty());
  // As many threads as asked for also when a pinned team ran before.
  std::atomic<int> members{0};
  many.threads->run([&](int) { ++members; });
  EXPECT_EQ(members, options.threads);
}

TEST_F(OpenDevices, CoresThatAreNotThereAreNamed) {
  const int missing = allowed_cores().back() + 1;
  try {
    open_devices(fmt::format("cpu:{}", missing), comm_);
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::resource);
    EXPECT_NE(std::string(error.what()).find(fmt::format("core {} is not available to tutti; choose from", missing)),
              std::string::npos);
  }
  if (comm_.size() > 1) return;
  const DeviceSet one = open_devices(fmt::format("cpu:{}", allowed_cores().back()), comm_);
  EXPECT_EQ(one.threads->cores(), Cores{allowed_cores().back()});
}

TEST_F(OpenDevices, AGpuThatIsNotThereIsNamed) {
  const int missing = cuda_device_count();
  try {
    open_devices(fmt::format("cpu,cuda:{}", missing), comm_);
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::resource);
    EXPECT_NE(std::string(error.what()).find(fmt::format("there is no cuda:{}", missing)), std::string::npos)
        << error.what();
  }
  EXPECT_THROW(make_cuda_device(missing), Error);
}

TEST_F(OpenDevices, AllIsAtLeastTheCpu) {
  const DeviceSet set = open_devices("all", comm_);
  ASSERT_FALSE(set.devices.empty());
  EXPECT_TRUE(set.devices.back()->is_host());
  const auto gpus = comm_.sum(static_cast<std::int64_t>(set.devices.size()) - 1);
  EXPECT_EQ(gpus, cuda_device_count());
}

}  // namespace
}  // namespace tutti
