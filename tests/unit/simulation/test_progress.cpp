// The progress line: what it says, how it fits, how often it comes. Time is given, not measured.
#include "tutti/simulation/run/progress.hpp"

#include <gtest/gtest.h>

namespace tutti {
namespace {

TEST(RunRate, KnowsNothingAtFirst) {
  RunRate rate(0, 100);
  EXPECT_LT(rate.seconds_left(), 0);
  EXPECT_EQ(rate.steps_per_second(), 0);
  rate.update(0, 5);
  EXPECT_LT(rate.seconds_left(), 0) << "no step is done";
}

TEST(RunRate, OfASteadyRun) {
  RunRate rate(0, 100);
  for (Size step = 1; step <= 100; ++step) {
    rate.update(step, 2.0 * static_cast<double>(step));
    EXPECT_NEAR(rate.seconds_left(), 2.0 * static_cast<double>(100 - step), 1e-9) << step;
    EXPECT_NEAR(rate.steps_per_second(), 0.5, 1e-12);
  }
  EXPECT_EQ(rate.seconds_left(), 0);
}

TEST(RunRate, OfARestartCountsItsOwnSteps) {
  RunRate rate(900, 1000);
  rate.update(910, 10);
  EXPECT_DOUBLE_EQ(rate.steps_per_second(), 1);
  EXPECT_DOUBLE_EQ(rate.seconds_left(), 90);
}

TEST(RunRate, IsSmoothButForgets) {
  RunRate rate(0, 1'000'000);
  for (int s = 1; s <= 100; ++s) rate.update(s, s);
  // One report in which a step took ten times as long changes little ...
  rate.update(101, 110);
  const double left = rate.seconds_left() / static_cast<double>(1'000'000 - 101);
  EXPECT_GT(left, 1.0);
  EXPECT_LT(left, 4.0);
  // ... but when that goes on, it counts, and the slow start is forgotten.
  for (int s = 1; s <= 30; ++s) rate.update(101 + s, 110 + 10 * s);
  EXPECT_NEAR(rate.seconds_left() / static_cast<double>(1'000'000 - 131), 10, 0.1);
}

TEST(RunRate, TakesAClockThatStandsStill) {
  RunRate rate(0, 10);
  rate.update(1, 0);
  rate.update(2, 0);
  EXPECT_LT(rate.seconds_left(), 0);
  rate.update(4, 1);
  EXPECT_DOUBLE_EQ(rate.seconds_left(), 1.5);
}

TEST(ProgressLine, OfARunWithoutTime) {
  Progress progress(0, 200, 2e6, "sources", "edges x sources");
  EXPECT_EQ(progress.line(50, 50, "", 100, 0), " 25 %  50 of 200 sources  1.0 M edges x sources/s  5 min 0 s left");
  Progress later(150, 200, 2e6, "sources", "edges x sources");
  EXPECT_EQ(later.line(175, 175, "", 50, 0), " 87 %  175 of 200 sources  1.0 M edges x sources/s  50 s left");
}

TEST(ProgressLine, SaysWhereTheRunIs) {
  Progress progress(0, 200, 2'000'000);
  EXPECT_EQ(progress.line(50, 0.125, "max|u| = 1", 100, 0),
            " 25 %  step 50 of 200  t = 0.125  1.0 M cell-steps/s  5 min 0 s left  max|u| = 1");
  EXPECT_EQ(progress.line(199, 1, "", 398, 0).substr(0, 5), " 99 %") << "100 % is the last step's";
  EXPECT_EQ(progress.line(200, 1, "", 400, 0).substr(0, 5), "100 %");
}

TEST(ProgressLine, OfARestart) {
  Progress progress(100, 200, 1'000'000);
  EXPECT_EQ(progress.line(150, 1, "r = 2", 25, 0),
            " 75 %  step 150 of 200  t = 1  2.0 M cell-steps/s  25 s left  r = 2");
}

TEST(ProgressLine, FitsANarrowTerminal) {
  Progress progress(0, 200, 2'000'000);
  const std::string full = progress.line(50, 0.125, "max|u| = 1", 100, 0);
  for (int width = 1; width < 100; ++width) {
    const std::string line = progress.line(50, 0.125, "max|u| = 1", 100, width);
    EXPECT_LE(line.size(), static_cast<std::size_t>(width));
    EXPECT_EQ(line.find('\n'), std::string::npos);
    EXPECT_EQ(line == full, width >= static_cast<int>(full.size()));
  }
  EXPECT_EQ(progress.line(50, 0.125, "max|u| = 1", 100, 60),
            " 25 %  step 50 of 200  t = 0.125  5 min 0 s left  max|u| = 1");
  EXPECT_EQ(progress.line(50, 0.125, "max|u| = 1", 100, 40), " 25 %  5 min 0 s left  max|u| = 1");
  EXPECT_EQ(progress.line(50, 0.125, "max|u| = 1", 100, 22), " 25 %  5 min 0 s left");
  EXPECT_EQ(progress.line(50, 0.125, "max|u| = 1", 100, 3), " 25");
}

TEST(ProgressLine, CountsCharactersNotBytes) {
  EXPECT_EQ(fit_pieces({{"äöü", 0}, {"ß", 1}}, 6), "äöü  ß");
  EXPECT_EQ(fit_pieces({{"äöü", 0}, {"ß", 1}}, 5), "äöü");
  EXPECT_EQ(fit_pieces({{"äöü", 0}}, 2), "äö");
  EXPECT_EQ(fit_pieces({}, 5), "");
  EXPECT_EQ(fit_pieces({{"", 0}, {"a", 1}}, 5), "a");
}

TEST(Progress, LogsGetRarer) {
  Progress progress(0, 1'000'000, 1);
  int lines = 0;
  for (int second = 0; second < 60; ++second) lines += progress.due(second + 1, second) ? 1 : 0;
  EXPECT_EQ(lines, 60) << "every report of the first minute";
  for (int second = 60; second < 2 * 86400; ++second) lines += progress.due(second + 1, second) ? 1 : 0;
  EXPECT_GT(lines, 2 * 1440);
  EXPECT_LT(lines, 2 * 1440 + 500);
  EXPECT_FALSE(progress.due(999'999, 2 * 86400));
  EXPECT_TRUE(progress.due(1'000'000, 2 * 86400)) << "the last step always";
}

}  // namespace
}  // namespace tutti
