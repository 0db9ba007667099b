#include <gtest/gtest.h>

#include <numeric>

#include "tests/unit/base/mpi_environment.hpp"
#include "tutti/io/core_keys.hpp"
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
  return part_weights(world(), two_fakes_and_the_cpu(), case_with(text), 3);
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
