#include "tutti/simulation/run/occasions.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "tutti/io/case/core_keys.hpp"
#include "tutti/simulation/run/run_state.hpp"

namespace tutti {
namespace {

constexpr double never = std::numeric_limits<double>::infinity();

Case case_with(const std::string& output, const std::string& time = "end = 1") {
  return parse_case("model = \"any\"\n[mesh]\nfile = \"a.msh\"\n[time]\n" + time + "\n[output]\n" + output, "case.toml",
                    core_schema({"any"}));
}

TEST(Occasions, go_by_steps_where_nothing_else_is_said) {
  const Occasions fields(case_with("every = 3"), "output."), probes(case_with(""), "output.probe_");
  EXPECT_TRUE(fields.due(6, 0.5, 0.6));
  EXPECT_FALSE(fields.due(7, 0.6, 0.7));
  EXPECT_TRUE(probes.due(7, 0.6, 0.7));
  EXPECT_EQ(fields.next(0), never);
}

TEST(Occasions, of_an_interval_have_no_steps_unless_given) {
  const Occasions probes(case_with("probe_interval = 0.1"), "output.probe_");
  EXPECT_FALSE(probes.due(7, 0.11, 0.19));
  EXPECT_TRUE(probes.due(7, 0.19, 0.21));
  EXPECT_FALSE(probes.none());
  EXPECT_TRUE(Occasions(case_with("probe_interval = 0.1\nprobe_every = 1"), "output.probe_").due(7, 0.11, 0.19));
}

TEST(Occasions, forgive_roundings) {
  const Occasions fields(case_with("interval = 0.1\ntimes = [0.7, 0.3]"), "output.");
  EXPECT_TRUE(fields.due(1, 0.25, 0.3));
  EXPECT_FALSE(fields.due(2, 0.3, 3 * 0.1)) << "it is the same time";
  EXPECT_DOUBLE_EQ(fields.next(0.3), 0.4);
  EXPECT_DOUBLE_EQ(fields.next(3 * 0.1), 0.4);
  EXPECT_EQ(Occasions(case_with("times = [0.7, 0.3]"), "output.").next(0.3), 0.7);
  EXPECT_EQ(Occasions(case_with("times = [0.7, 0.3]"), "output.").next(0.7), never);
}

/// All times of a run's steps, planned as StepLength does.
std::vector<double> walk(const Case& options, double dt) {
  TimePlan plan = plan_steps(options, dt);
  std::vector<double> times;
  for (Size step = 1; step <= plan.steps; ++step) {
    times.push_back(plan.time_of(step));
    if (step == plan.until && step < plan.steps) plan = plan_from(options, step, times.back(), plan.longest);
  }
  return times;
}

TEST(Occasions, shorten_steps_to_meet_their_times) {
  const auto times = walk(case_with("interval = 0.25\nprobe_times = [0.3]"), 0.1);
  ASSERT_EQ(times.size(), 3u + 1 + 2 + 3 + 3);
  for (const double at : {0.25, 0.3, 0.5, 0.75})
    EXPECT_NE(std::find(times.begin(), times.end(), at), times.end()) << at << " is met exactly";
  EXPECT_DOUBLE_EQ(times.back(), 1);
  double before = 0;
  for (const double time : times) {
    EXPECT_LE(time - before, 0.1 * (1 + 1e-12));
    EXPECT_GT(time, before);
    before = time;
  }
}

TEST(Occasions, behind_the_end_shorten_steps_alike) {
  const auto shorter = walk(case_with("interval = 0.25", "end = 0.9"), 0.1),
             longer = walk(case_with("interval = 0.25"), 0.1);
  ASSERT_EQ(shorter.size(), 3u + 3 + 3 + 2);
  for (std::size_t k = 0; k + 1 < shorter.size(); ++k) EXPECT_EQ(shorter[k], longer[k]);
  EXPECT_EQ(shorter.back(), 0.9);
  EXPECT_EQ(longer.back(), 1);
  // So far behind that steps cannot be counted, they are as if it were not there.
  EXPECT_EQ(walk(case_with("times = [1e300]"), 0.3), walk(case_with(""), 0.3));
}

TEST(Occasions, early_ones_do_not_shorten_the_rest) {
  const TimePlan plan = plan_steps(case_with("times = [1e-300]"), 0.1);
  EXPECT_EQ(plan.until, 1);
  EXPECT_LE(plan.steps, 1 + 10 + 1);
  try {
    (void)plan_steps(case_with("interval = 1e-300"), 0.1);
    ADD_FAILURE() << "more steps than numbers";
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("use longer intervals of output"), std::string::npos) << error.what();
  }
}

TEST(Occasions, leave_a_number_of_steps_alone) {
  const TimePlan plan = plan_steps(case_with("interval = 0.25", "steps = 7"), 0.1);
  EXPECT_EQ(plan.steps, 7);
  EXPECT_EQ(plan.until, 0);
  EXPECT_EQ(plan.dt, 0.1);
}

TEST(Occasions, survive_a_restart) {
  const Case options = case_with("interval = 0.25");
  RunState state;
  state.version = state.model = state.case_name = state.case_toml = "x";
  state.plan = plan_from(options, 3, 0.25, 0.1);
  state.step = 4;
  state.time = state.plan.time_of(4);
  state.end = 1;
  const RunState again = parse_run_state(run_state_json(state), "c.h5");
  const TimePlan plan = plan_rest(options, again);
  EXPECT_EQ(plan.until, 6);
  EXPECT_EQ(plan.until_time, 0.5);
  EXPECT_EQ(plan.dt, state.plan.dt);
  EXPECT_EQ(plan.longest, 0.1);
  // Another case's times count from here on.
  EXPECT_EQ(plan_rest(case_with(""), again).until, 0);
  EXPECT_EQ(plan_rest(case_with(""), again).dt, 0.1);
  EXPECT_EQ(plan_rest(case_with("times = [0.4]"), again).until_time, 0.4);
  // At the end, which is such a time, nothing is left; a later end is reached as if the run had never ended.
  state.plan = plan_from(options, 4, 0.75, 0.1);
  state.step = state.plan.steps;
  state.time = state.plan.time_of(state.step);
  EXPECT_EQ(state.time, 1);
  EXPECT_EQ(plan_rest(options, state).steps, state.step);
  const TimePlan later = plan_rest(case_with("interval = 0.25", "end = 2"), state);
  EXPECT_EQ(later.until_time, 1.25);
  EXPECT_EQ(later.until, state.step + 3);
}

}  // namespace
}  // namespace tutti
