#include <gtest/gtest.h>

#include <numeric>

#include "tests/unit/base/mpi_environment.hpp"
#include "tutti/io/case/core_keys.hpp"
#include "tutti/schedule/balance.hpp"

namespace tutti {
namespace {

using test::world;

Case case_with(const std::string& weights) {
  const std::string text =
      "model = \"m\"\n[mesh]\nfile = \"a.msh\"\n[time]\nsteps = 1\n[balance]\nweights = " + weights + "\n";
  return parse_case(text, "case.toml", core_schema({"m"}));
}

DeviceSet two_fakes_and_the_cpu() {
  DeviceOptions options;
  options.threads = 1;
  return open_devices("fake:2,cpu", world(), options);
}

std::vector<double> weights_of(const std::string& text) {
  return part_weights(world(), two_fakes_and_the_cpu(), case_with(text), 3).of_parts;
}

ErrorKind error_of(const std::string& text, const std::string& word) {
  try {
    weights_of(text);
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find(word), std::string::npos) << error.what();
    EXPECT_NE(std::string(error.what()).find("case.toml:7"), std::string::npos) << error.what();
    return error.kind();
  }
  ADD_FAILURE() << text << " was taken";
  return ErrorKind::usage;
}

TEST(Balance, EqualOrAsTheUserSays) {
  EXPECT_EQ(weights_of("\"equal\""), (std::vector<double>{1.0 / 3, 1.0 / 3, 1.0 / 3}));
  EXPECT_EQ(weights_of("[1, 0, 3]"), (std::vector<double>{0.25, 0, 0.75}));
}

TEST(Balance, ByBandwidth) {
  const auto weights = weights_of("\"stream\"");
  ASSERT_EQ(weights.size(), 3u);
  EXPECT_NEAR(std::accumulate(weights.begin(), weights.end(), 0.0), 1.0, 1e-12);
  for (const double w : weights) EXPECT_GT(w, 0);
}

TEST(Balance, ByPeakBandwidth) {
  const auto weights = weights_of("\"peak\"");
  // Fakes say 100 GB/s, a CPU nothing: its triad.
  EXPECT_EQ(weights[0], weights[1]);
  EXPECT_GT(weights[2], 0);
  const std::string peaks = "\"peak\"\n[devices]\npeak_gb_per_second = ";
  const auto given = weights_of(peaks + "[0, 300, 200]");
  EXPECT_NEAR(given[0], 1.0 / 6, 1e-12);
  EXPECT_NEAR(given[1], 3.0 / 6, 1e-12);
  EXPECT_NEAR(given[2], 2.0 / 6, 1e-12);
  EXPECT_THROW(weights_of(peaks + "[1, 2]"), Error);
}

TEST(Balance, ByTheModelsKernel) {
  // The fakes are a hundred times the CPU, so that it gets nothing: meeting takes longer than it helps.
  const DeviceSet devices = two_fakes_and_the_cpu();
  std::vector<std::string> asked;
  const auto rate = [&](Device& device, Gid rows) {
    EXPECT_GE(rows, 1);
    EXPECT_LE(rows, 1000);
    asked.push_back(device.name());
    return device.is_host() ? 1e9 : device.index() == 0 ? 1e11 : 3e11;
  };
  const Weights weights = part_weights(world(), devices, case_with("\"measured\""), 3, 1000, rate);
  EXPECT_EQ(asked, (std::vector<std::string>{"fake:0", "fake:1", "cpu", "cpu"}))
      << "the CPU also with its caches' rows";
  EXPECT_EQ(weights.of_parts, (std::vector<double>{0.25, 0.75, 0}));
  ASSERT_TRUE(weights.share.has_value());
  EXPECT_EQ(weights.share->host_rows, 0);
  EXPECT_GT(weights.share->seconds_with, weights.share->seconds_without);
  EXPECT_NE(describe(*weights.share, 1000).find("gets no cells"), std::string::npos);
  // With steps of seconds it gets its share.
  const auto slow = [&](Device& device, Gid) { return device.is_host() ? 2.0 : device.index() == 0 ? 2.0 : 6.0; };
  const auto shared = part_weights(world(), devices, case_with("\"measured\""), 3, 1000, slow).of_parts;
  EXPECT_NEAR(shared[0], 0.2, 1e-9);
  EXPECT_NEAR(shared[1], 0.6, 1e-9);
  EXPECT_NEAR(shared[2], 0.2, 1e-9);
  EXPECT_FALSE(part_weights(world(), devices, case_with("\"equal\""), 3, 1000, slow).share.has_value());
}

TEST(Balance, ADeviceWithoutRoomIsWeighedByItsBandwidth) {
  const auto weights = part_weights(world(), two_fakes_and_the_cpu(), case_with("\"measured\""), 3, 1000,
                                    [](Device& device, Gid) -> double {
                                      if (device.name() == "fake:1") fail(ErrorKind::resource, "no room");
                                      return 1;
                                    })
                           .of_parts;
  EXPECT_GT(weights[1], weights[0]);
}

TEST(Balance, AShareIsTakenWhereItShortensAStep) {
  ShareInput in{.rows = 1e6, .accelerators = 9e6, .hosts = 1e6};
  Share share = choose_share(in);
  EXPECT_NEAR(share.host_rows, 1e5, 1e-6);
  EXPECT_NEAR(share.seconds, 0.1, 1e-12);
  EXPECT_NEAR(share.seconds_without, 1.0 / 9, 1e-12);
  // Meeting costs more than the tenth that it saves.
  in.seconds_to_meet = 0.02;
  share = choose_share(in);
  EXPECT_EQ(share.host_rows, 0);
  EXPECT_EQ(share.seconds, share.seconds_without);
  // From its caches the CPU is three times as fast, with as much as fits.
  in.hosts_in_cache = 3e6;
  in.rows_in_caches = 2e5;
  in.seconds_to_meet = 0.005;
  share = choose_share(in);
  EXPECT_TRUE(share.in_cache);
  EXPECT_NEAR(share.host_rows, 2e5, 1e-6);
  EXPECT_NEAR(share.seconds, 8e5 / 9e6 + 0.005, 1e-12);
  in.rows_in_caches = 1e4;
  EXPECT_FALSE(choose_share(in).in_cache) << "too little to be worth it";
}

/// Two GPUs and a CPU team: rows a second.
std::vector<PartRate> rates_of_two_gpus(double of_share, double exchange) {
  PartRate slow, fast, cpu;
  slow.rate = 0.9e6;
  fast.rate = 1e6;
  slow.of_share = fast.of_share = of_share;
  slow.exchange = fast.exchange = exchange;
  cpu.rate = 1;
  cpu.threads = 2;
  return {slow, fast, cpu};
}

TEST(Balance, OneGpuTakesWhatTheOthersDoNotMakeFaster) {
  // 1 ms alone; together 0.5 ms and the exchange.
  auto one = compare_one_gpu(rates_of_two_gpus(1e6, 1e-3), 1000);
  ASSERT_TRUE(one.has_value());
  EXPECT_EQ(one->part, 1);
  EXPECT_NEAR(one->seconds, 1e-3, 1e-12);
  EXPECT_NEAR(one->seconds_together, 1.5e-3, 1e-12);
  EXPECT_TRUE(one->taken());
  EXPECT_NE(describe(*one).find("1 ms on one GPU, 1.5 ms on all"), std::string::npos) << describe(*one);
  EXPECT_FALSE(compare_one_gpu(rates_of_two_gpus(1e6, 0.3e-3), 1000)->taken());
  EXPECT_TRUE(compare_one_gpu(rates_of_two_gpus(1e6, 0.45e-3), 1000)->taken()) << "5 % are not worth a GPU";
  EXPECT_TRUE(compare_one_gpu(rates_of_two_gpus(0.4e6, 0.1e-3), 1000)->taken()) << "shares are computed slower";
  EXPECT_FALSE(compare_one_gpu(rates_of_two_gpus(1e6, 1e-3), 1'000'000)->taken()) << "a larger mesh";
  EXPECT_FALSE(compare_one_gpu(rates_of_two_gpus(1e6, 0), 1000).has_value()) << "no exchange was timed";

  const Weights alone = weigh_rates(rates_of_two_gpus(1e6, 1e-3), 1000);
  ASSERT_TRUE(alone.one_gpu.has_value());
  EXPECT_EQ(alone.of_parts, (std::vector<double>{0, 1, 0}));
  ASSERT_TRUE(alone.share.has_value());
  EXPECT_NEAR(alone.share->seconds_without, 1e-3, 1e-12) << "the CPU is compared with what is left";
  EXPECT_EQ(alone.rates[0].rate, 0.9e6) << "what was measured is kept";
  const Weights together = weigh_rates(rates_of_two_gpus(1e6, 1e-3), 1'000'000);
  EXPECT_FALSE(together.one_gpu.has_value());
  EXPECT_NEAR(together.of_parts[0] / together.of_parts[1], 0.9, 1e-12);
  const Weights all = weigh_rates(rates_of_two_gpus(1e6, 1e-3), 1000, true);
  EXPECT_FALSE(all.one_gpu.has_value());
  EXPECT_NEAR(all.of_parts[0] / all.of_parts[1], 0.9, 1e-12);
}

TEST(Balance, AWrongListIsAnErrorOfTheCase) {
  EXPECT_EQ(error_of("[1, 2]", "2 entries for 3 devices"), ErrorKind::input);
  EXPECT_EQ(error_of("[0, 0, 0]", "all 0"), ErrorKind::input);
}

TEST(Balance, PartsAreNumberedDeviceAfterDevice) {
  const PartPlaces places = place_parts(world(), two_fakes_and_the_cpu());
  EXPECT_EQ(places.rank_of_part, (std::vector<int>{0, 0, 0}));
  EXPECT_EQ(places.parts_of_node, (std::vector<std::vector<int>>{{0, 1, 2}}));
}

}  // namespace
}  // namespace tutti
