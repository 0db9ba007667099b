// What a checkpoint says of its run, and what a restart refuses or goes on with.
#include "tutti/simulation/run_state.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "tests/support/checkpoint_state.hpp"
#include "tests/unit/base/mpi_environment.hpp"

namespace tutti {
namespace {

namespace fs = std::filesystem;
using test::message_of;
using test::world;
using testing::HasSubstr;

RunState some_state() {
  RunState s;
  s.version = TUTTI_VERSION;
  s.model = "diffusion";
  s.case_name = "a \"case\".toml";
  s.case_toml = "model = \"diffusion\"\n# \u00fc\n";
  s.rows = 5'000'000'000;
  s.mesh_checksum = 0xfedcba9876543210u;
  s.step = 1234567890123;
  s.time = 0.1 + 0.2;
  s.plan = {2000000000000, 1.0 / 3, 17, 5e-324};
  s.end = 1e300 / 3;
  s.devices = {"cpu", "fake"};
  s.outputs = {0, 1.0 / 7, 2.0 / 7};
  s.slices = {{"a at x = 0.1", {0, 1.0 / 3}}, {"b at z = -2", {}}};
  s.file_bytes = {{"probes.csv", 6'000'000'000}, {"metrics.jsonl", 0}};
  s.file_lines = {{"probes.csv", 5'000'000'000}};
  s.numbers = {{"mass", -1.0 / 3}};
  return s;
}

TEST(RunState, WhatIsWrittenIsRead) {
  const RunState a = some_state(), b = parse_run_state(run_state_json(a), "step.h5");
  EXPECT_EQ(b.version, a.version);
  EXPECT_EQ(b.model, a.model);
  EXPECT_EQ(b.case_name, a.case_name);
  EXPECT_EQ(b.case_toml, a.case_toml);
  EXPECT_EQ(b.rows, a.rows);
  EXPECT_EQ(b.mesh_checksum, a.mesh_checksum);
  EXPECT_EQ(b.step, a.step);
  EXPECT_EQ(b.time, a.time) << "all digits";
  EXPECT_EQ(b.plan.steps, a.plan.steps);
  EXPECT_EQ(b.plan.dt, a.plan.dt);
  EXPECT_EQ(b.plan.base_step, a.plan.base_step);
  EXPECT_EQ(b.plan.base_time, a.plan.base_time);
  EXPECT_EQ(b.end, a.end);
  EXPECT_EQ(b.devices, a.devices);
  EXPECT_EQ(b.outputs, a.outputs);
  EXPECT_EQ(b.slices, a.slices);
  EXPECT_EQ(b.file_bytes, a.file_bytes);
  EXPECT_EQ(b.file_lines, a.file_lines);
  EXPECT_EQ(b.numbers, a.numbers);
}

TEST(RunState, WhatIsNotTuttisIsRefused) {
  const std::string good = run_state_json(some_state());
  std::string other_type = good;
  other_type.replace(other_type.find("\"step\": 1234567890123"), 21, "\"step\": \"none\"");
  for (const std::string& text :
       {std::string(), std::string("{}"), std::string("[1]"), good.substr(0, good.size() / 2), other_type})
    EXPECT_THAT(message_of(ErrorKind::input, [&] { (void)parse_run_state(text, "step.h5"); }),
                HasSubstr("step.h5: /meta is not what tutti writes"));
}

/// Checkpoints of steps in a folder that goes with the test.
class OpenRestart : public testing::Test {
 protected:
  void SetUp() override { folder_ = test::fresh_folder(world(), "restart"); }
  void TearDown() override { fs::remove_all(folder_); }
  void write(Size step, const std::string& version, const std::string& meta) {
    test::CheckpointState state(world(), 1, 20, 2);
    state.fill(1);
    CheckpointWriter writer(world(), state.state(), folder_ / "checkpoints", 9, version);
    writer.begin(step, 0, meta);
    writer.finish();
  }
  fs::path folder_;
};

TEST_F(OpenRestart, TheNewestOfAFolder) {
  RunState s = some_state();
  for (const Size step : {9, 10}) {
    s.step = step;
    write(step, TUTTI_VERSION, run_state_json(s));
  }
  for (const fs::path& from : {folder_, folder_ / "checkpoints", folder_ / "checkpoints" / "step-000000000010.h5"}) {
    const Restart restart = open_restart(world(), from, false);
    EXPECT_EQ(restart.state.step, 10);
    EXPECT_EQ(restart.folder, folder_);
    EXPECT_EQ(restart.reader.path().filename(), "step-000000000010.h5");
  }
}

TEST_F(OpenRestart, AnotherVersion) {
  write(9, TUTTI_VERSION, run_state_json(some_state()));
  write(10, "0.0.1-old", run_state_json(some_state()));
  const std::string message = message_of(ErrorKind::input, [&] { (void)open_restart(world(), folder_, false); });
  EXPECT_THAT(message, HasSubstr("step-000000000010.h5"));
  EXPECT_THAT(message, HasSubstr(std::string("was written by tutti 0.0.1-old, this is tutti ") + TUTTI_VERSION));
}

TEST_F(OpenRestart, TheOneBeforeWhenAsked) {
  write(9, TUTTI_VERSION, run_state_json(some_state()));
  write(10, TUTTI_VERSION, "no JSON");
  write(11, TUTTI_VERSION, run_state_json(some_state()));
  fs::resize_file(folder_ / "checkpoints" / "step-000000000011.h5", 1000);
  EXPECT_THAT(message_of(ErrorKind::input, [&] { (void)open_restart(world(), folder_, false); }),
              HasSubstr("is cut off"));
  EXPECT_EQ(open_restart(world(), folder_, true).reader.header().step, 9);
  fs::resize_file(folder_ / "checkpoints" / "step-000000000009.h5", 1000);
  EXPECT_THAT(message_of(ErrorKind::input, [&] { (void)open_restart(world(), folder_, true); }),
              HasSubstr("000009.h5"));
}

TEST_F(OpenRestart, NoneIsThere) {
  EXPECT_THAT(message_of(ErrorKind::io, [&] { (void)open_restart(world(), folder_ / "none", true); }),
              HasSubstr("no such"));
  fs::create_directories(folder_ / "checkpoints");
  std::ofstream(folder_ / "checkpoints" / "step-000000000001.h5.tmp") << "half";
  EXPECT_THAT(message_of(ErrorKind::io, [&] { (void)open_restart(world(), folder_, true); }),
              HasSubstr("there is no checkpoint in it"));
}

}  // namespace
}  // namespace tutti
