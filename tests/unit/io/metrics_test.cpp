#include "tutti/io/metrics.hpp"
#include "tests/support/own_folder.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "tutti/base/error.hpp"
#include "tutti/io/case/case.hpp"

namespace tutti {
namespace {

std::filesystem::path path() {
  const auto path = test::own_folder() / "tutti_metrics" / "metrics.jsonl";
  std::filesystem::remove_all(path.parent_path());
  return path;
}

MetricsLine line(Size step) {
  MetricsLine line;
  line.step = step;
  line.time = 0.1 * static_cast<double>(step);
  line.diagnostics = {{"max|u|", 1.0 / 3}, {"mass", 2}};
  return line;
}

TEST(Metrics, HasThePromisedNames) {
  MetricsLine full = line(3);
  full.diagnostics.emplace_back("lost", std::nan(""));
  full.seconds.separator = full.seconds.interior = full.seconds.exchange = full.seconds.idle = {0.5, 0.25};
  const auto json = nlohmann::json::parse(metrics_json(full));
  for (const char* key : {"step", "time", "dt", "wall_seconds", "cell_steps_per_second"})
    EXPECT_TRUE(json[key].is_number()) << key;
  EXPECT_EQ(json["diagnostics"]["max|u|"], 1.0 / 3) << "all digits";
  EXPECT_TRUE(json["diagnostics"]["lost"].is_null());
  for (const char* key : {"separator", "interior", "exchange", "idle"})
    EXPECT_EQ(json["seconds"][key], nlohmann::json({0.5, 0.25})) << key;
  EXPECT_FALSE(nlohmann::json::parse(metrics_json(line(1))).contains("seconds"));
  EXPECT_EQ(metrics_json(full).find('\n'), std::string::npos);
}

TEST(Metrics, LinesAreThereAtOnce) {
  const auto file = path();
  MetricsFile metrics(file);
  EXPECT_EQ(metrics.bytes(), 0);
  metrics.add(line(1));
  EXPECT_EQ(read_text_file(file), metrics_json(line(1)) + "\n");
  metrics.add(line(2));
  EXPECT_EQ(read_text_file(file), metrics_json(line(1)) + "\n" + metrics_json(line(2)) + "\n");
  EXPECT_EQ(metrics.bytes(), static_cast<Size>(std::filesystem::file_size(file)));
}

TEST(Metrics, ANewRunBeginsAnew) {
  const auto file = path();
  MetricsFile(file).add(line(1));
  MetricsFile(file).add(line(2));
  EXPECT_EQ(read_text_file(file), metrics_json(line(2)) + "\n");
}

TEST(Metrics, ARestartGoesOnAtItsStep) {
  const auto file = path();
  Size at = 0;
  {
    MetricsFile metrics(file);
    metrics.add(line(1));
    at = metrics.bytes();
    metrics.add(line(2));
    metrics.add(line(3));
  }
  {
    MetricsFile metrics(file, EarlierLines{1, at, 1});
    EXPECT_EQ(metrics.bytes(), at);
    EXPECT_EQ(metrics.lines(), 1);
    metrics.add(line(5));
  }
  EXPECT_EQ(read_text_file(file), metrics_json(line(1)) + "\n" + metrics_json(line(5)) + "\n");
}

TEST(Metrics, WhatCannotBeWrittenIsAnError) {
  EXPECT_THROW(MetricsFile("/proc/none/metrics.jsonl"), Error);
  try {
    MetricsFile("/dev/full").add(line(1));
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::io);
    EXPECT_EQ(std::string(error.what()).find("/dev/full: cannot be written: it is "), 0u) << error.what();
  }
}

}  // namespace
}  // namespace tutti
