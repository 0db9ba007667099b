// What a checkpoint says of its run, and what a restart refuses or goes on with.
#include "tutti/simulation/run/run_state.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <limits>

#include "tests/support/checkpoint_state.hpp"
#include "tests/unit/base/mpi_environment.hpp"
#include "tutti/base/version.hpp"
#include "tutti/io/case/core_keys.hpp"

namespace tutti {
namespace {

namespace fs = std::filesystem;
using test::message_of;
using test::world;
using testing::HasSubstr;

RunState some_state() {
  RunState s;
  s.version = version();
  s.provenance = {{"command", "tutti run 'a b.toml'"}, {"commit", "abc-modified"}, {"host", "north"}};
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
  EXPECT_EQ(b.provenance, a.provenance);
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

TEST(RunState, OlderOnesKnowNoProvenance) {
  std::string old = run_state_json(some_state());
  const auto begin = old.find("\"provenance\""), end = old.find("\"model\"");
  ASSERT_LT(begin, end);
  old.erase(begin, end - begin);
  const RunState s = parse_run_state(old, "step.h5");
  EXPECT_TRUE(s.provenance.empty());
  EXPECT_EQ(s.step, some_state().step);
  for (const char* wrong : {"[1]", "{\"host\": 3}"})
    EXPECT_THAT(
        message_of(
            ErrorKind::input,
            [&] { (void)parse_run_state("{\"provenance\": " + std::string(wrong) + "," + old.substr(1), "step.h5"); }),
        HasSubstr("/meta is not what tutti writes"))
        << wrong;
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
  /// What belongs to the checkpoints that write() makes.
  static std::string meta_of(Size step) {
    RunState s = some_state();
    s.step = step;
    s.plan.base_step = 0;
    s.rows = 20;
    s.devices = {"cpu", "cpu"};
    return run_state_json(s);
  }
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
  for (const Size step : {9, 10}) write(step, version(), meta_of(step));
  for (const fs::path& from : {folder_, folder_ / "checkpoints", folder_ / "checkpoints" / "step-000000000010.h5"}) {
    const Restart restart = open_restart(world(), from, false);
    EXPECT_EQ(restart.state.step, 10);
    EXPECT_EQ(restart.folder, folder_);
    EXPECT_EQ(restart.reader.path().filename(), "step-000000000010.h5");
  }
}

TEST_F(OpenRestart, AnotherVersion) {
  write(9, version(), meta_of(9));
  write(10, "0.0.1-old", meta_of(10));
  testing::internal::CaptureStderr();
  EXPECT_EQ(open_restart(world(), folder_, false).state.step, 10);
  const std::string said = testing::internal::GetCapturedStderr();
  EXPECT_THAT(said, HasSubstr("step-000000000010.h5"));
  EXPECT_THAT(said, HasSubstr(std::string("was written by tutti 0.0.1-old, this is tutti ") + version()));
}

TEST_F(OpenRestart, TheOneBeforeWhenAsked) {
  write(9, version(), meta_of(9));
  write(10, version(), "no JSON");
  write(11, version(), meta_of(11));
  fs::resize_file(folder_ / "checkpoints" / "step-000000000011.h5", 1000);
  EXPECT_THAT(message_of(ErrorKind::input, [&] { (void)open_restart(world(), folder_, false); }),
              HasSubstr("is truncated"));
  EXPECT_EQ(open_restart(world(), folder_, true).reader.header().step, 9);
  fs::resize_file(folder_ / "checkpoints" / "step-000000000009.h5", 1000);
  EXPECT_THAT(message_of(ErrorKind::input, [&] { (void)open_restart(world(), folder_, true); }),
              HasSubstr("000009.h5"));
}

TEST_F(OpenRestart, WhatTellsOfOtherArrays) {
  for (const auto& [before, after] : {std::pair{"\"step\": 9", "\"step\": 8"},
                                      {"\"rows\": ", "\"rows\": 1"},
                                      {"[\n  \"cpu\"", "[\n  \"cpu\",\n  \"cpu\""}}) {
    std::string meta = meta_of(9);
    const auto at = meta.find(before);
    ASSERT_NE(at, std::string::npos) << meta;
    meta.replace(at, std::string(before).size(), after);
    write(9, version(), meta);
    EXPECT_THAT(message_of(ErrorKind::input, [&] { (void)open_restart(world(), folder_, false); }),
                HasSubstr("step-000000000009.h5: /meta has step"));
  }
}

TEST(RunState, NumbersOutOfRangeAreRefused) {
  for (const auto& [before, after] : {std::pair{"\"probes.csv\": 6", "\"probes.csv\": -6"},
                                      {"\"step\": 1", "\"step\": -1"},
                                      {"\"base_step\": 17", "\"base_step\": 1234567890124"},
                                      {"\"mass\": -0.", "\"mass\": -1e999"}}) {
    std::string json = run_state_json(some_state());
    const auto at = json.find(before);
    ASSERT_NE(at, std::string::npos) << json;
    json.replace(at, std::string(before).size(), after);
    EXPECT_THAT(message_of(ErrorKind::input, [&] { (void)parse_run_state(json, "step.h5"); }),
                HasSubstr("step.h5: /meta is not what tutti writes"));
  }
}

TEST_F(OpenRestart, NoneIsThere) {
  EXPECT_THAT(message_of(ErrorKind::io, [&] { (void)open_restart(world(), folder_ / "none", true); }),
              HasSubstr("no such"));
  fs::create_directories(folder_ / "checkpoints");
  std::ofstream(folder_ / "checkpoints" / "step-000000000001.h5.tmp") << "half";
  EXPECT_THAT(message_of(ErrorKind::io, [&] { (void)open_restart(world(), folder_, true); }),
              HasSubstr("it contains no checkpoint"));
}

Case with_time(const std::string& time) {
  return parse_case("model = \"diffusion\"\n[mesh]\nfile = \"a.msh\"\n[time]\n" + time, "a.toml",
                    core_schema({"diffusion"}));
}

TEST(TimePlan, StepsThatAreNoStepsAreRefused) {
  const double nan = std::numeric_limits<double>::quiet_NaN(), infinity = std::numeric_limits<double>::infinity();
  for (const char* time : {"end = 1.0", "steps = 3"}) {
    const Case options = with_time(time);
    EXPECT_NO_THROW((void)plan_steps(options, 0.1));
    EXPECT_NO_THROW((void)plan_from(options, 2, 0.5, 0.1));
    for (const double dt : {0.0, -0.1, 5e-324, 1e-310, nan, infinity}) {
      EXPECT_THAT(message_of(ErrorKind::numerical, [&] { (void)plan_steps(options, dt); }),
                  HasSubstr(fmt::format("a time step of {:g} cannot be taken at time", dt)));
      EXPECT_THAT(message_of(ErrorKind::numerical, [&] { (void)plan_from(options, 2, 0.5, dt); }),
                  HasSubstr("positive and finite"));
    }
  }
}

TEST(TimePlan, ALongerRunMakesTheStepsOfAShorterOne) {
  const TimePlan shorter = plan_steps(with_time("end = 1.0"), 0.3), longer = plan_steps(with_time("end = 1.7"), 0.3);
  EXPECT_EQ(shorter.steps, 4);
  EXPECT_EQ(longer.steps, 6);
  for (Size k = 1; k < shorter.steps; ++k) {
    EXPECT_EQ(shorter.dt_of(k), longer.dt_of(k));
    EXPECT_EQ(shorter.time_of(k), longer.time_of(k));
  }
  EXPECT_EQ(shorter.time_of(4), 1.0);
  EXPECT_NEAR(shorter.dt_of(4), 0.1, 1e-15);
  // Where dt divides the end, the last step is one as the others; a rest that is next to nothing is part of it.
  EXPECT_EQ(plan_steps(with_time("end = 0.3"), 0.1).dt_of(3), 0.1);
  EXPECT_EQ(plan_steps(with_time("end = 0.30000001"), 0.1).steps, 3);
  EXPECT_EQ(plan_steps(with_time("end = 0.30000001"), 0.1).time_of(3), 0.30000001);
}

TEST(TimePlan, AnEndThatMoves) {
  RunState state;
  state.plan = plan_steps(with_time("end = 1.0"), 0.3);
  state.end = 1.0;
  state.step = 2;
  state.time = state.plan.time_of(2);
  const TimePlan whole = plan_steps(with_time("end = 1.7"), 0.3), rest = plan_rest(with_time("end = 1.7"), state);
  EXPECT_EQ(rest.steps, whole.steps);
  for (Size k = 3; k <= whole.steps; ++k) {
    EXPECT_EQ(rest.dt_of(k), whole.dt_of(k));
    EXPECT_EQ(rest.time_of(k), whole.time_of(k));
  }
  EXPECT_EQ(plan_rest(with_time("end = 0.7"), state).time_of(3), 0.7);
  EXPECT_EQ(plan_rest(with_time("end = 0.5"), state).steps, 2);
  // Behind the shortened step.
  state.step = 4;
  state.time = 1.0;
  const TimePlan behind = plan_rest(with_time("end = 1.7"), state);
  EXPECT_EQ(behind.time_of(5), 1.3);
  EXPECT_EQ(behind.steps, 7);
  EXPECT_EQ(behind.time_of(7), 1.7);
}

TEST(RunState, ALineOfAnEarlierEndIsLeftOut) {
  RunState state;
  state.step = state.plan.steps = 25;
  state.file_bytes["history.csv"] = 100;
  state.file_lines["history.csv"] = 4;  // of 0, 10, 20 and the end
  const auto every = [](int steps) {
    return Occasions(with_time(fmt::format("end = 2.5\n[output]\nhistory_every = {}", steps)), "output.history_");
  };
  EXPECT_EQ(state.lines_of("history.csv", 2.5, every(10), true).lines, 3);
  EXPECT_LT(state.lines_of("history.csv", 2.5, every(10), true).until, 2.5);
  EXPECT_EQ(state.lines_of("history.csv", 2.5, every(10), false).lines, 4) << "nothing is left to do";
  EXPECT_EQ(state.lines_of("history.csv", 2.5, every(5), true).lines, 4) << "the line is due";
  EXPECT_EQ(state.lines_of("history.csv", 2.5, {}, true).lines, 4) << "lines come with reports";
  state.plan.steps = 30;
  EXPECT_EQ(state.lines_of("history.csv", 2.5, every(10), true).lines, 4) << "a checkpoint on the way";
}

/// Sources of a graph: whole numbers of them are reached at the end, whatever the steps.
TEST(TimePlan, UnitsOfAModelsOwn) {
  TimePlan plan = plan_units(100, 0, 0, 30);
  EXPECT_EQ(plan.steps, 4);
  EXPECT_EQ(plan.dt, 25);
  EXPECT_EQ(plan.time_of(4), 100);
  plan = plan_units(100, 3, 75, 1000);
  EXPECT_EQ(plan.steps, 4);
  EXPECT_EQ(plan.time_of(4), 100);
  plan = plan_units(101, 3, 75, 9);
  EXPECT_EQ(plan.steps, 6);
  EXPECT_EQ(std::llround(plan.time_of(6)), 101);
  EXPECT_LE(plan.dt, 9);
  EXPECT_EQ(plan_units(100, 7, 100, 9).steps, 7);
  EXPECT_EQ(plan_units(0, 0, 0, 9).steps, 0);
  EXPECT_EQ(plan_units(3, 0, 0, 0.001).steps, 3);  // no step is shorter than one
}

TEST(TimePlan, StepsThatDoNotChangeTheTimeAreRefused) {
  EXPECT_THAT(message_of(ErrorKind::numerical, [&] { (void)plan_steps(with_time("end = 1e20"), 1.0); }),
              HasSubstr("a time step of 1 cannot be taken at time 1e+20"));
  EXPECT_THAT(message_of(ErrorKind::numerical, [&] { (void)plan_from(with_time("steps = 9"), 2, 1e20, 1.0); }),
              HasSubstr("at time 1e+20"));
  EXPECT_THAT(message_of(ErrorKind::numerical, [&] { (void)plan_steps(with_time("end = 1.0\ndt = 1e-17"), 1e-17); }),
              HasSubstr("a.toml:6:6: a time step of 1e-17"));
  // A checkpoint's plan is looked at, too.
  RunState state = some_state();
  state.end = 1;
  state.plan = {10, 0, 0, 0};
  EXPECT_THAT(message_of(ErrorKind::numerical, [&] { (void)plan_rest(with_time("end = 1.0"), state); }),
              HasSubstr("a time step of 0"));
}

}  // namespace
}  // namespace tutti
