#include "tutti/io/summary.hpp"
#include "tests/support/own_folder.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "tutti/base/error.hpp"
#include "tutti/base/system/atomic_file.hpp"
#include "tutti/io/case/case.hpp"
#include "tutti/io/probes.hpp"

namespace tutti {
namespace {

Summary example() {
  Summary s;
  s.version = "0.1.0";
  s.model = "diffusion";
  s.case_file = "case.toml";
  s.cells = Gid{1} << 40;
  s.steps = 100;
  s.time = 0.1;
  s.setup_seconds = {{"read", 1.5}, {"partition", 0.25}};
  s.parts.resize(2);
  s.parts[1].rank = 1;
  s.parts[1].device = "fake:0";
  s.parts[1].seconds.interior = 2.5;
  s.parts[1].fraction_of_stream = 0.9;
  s.checksum = 0x0123456789abcdefull;
  return s;
}

TEST(Summary, has_the_promised_names) {
  const auto json = nlohmann::json::parse(summary_json(example()));
  for (const char* key :
       {"cells", "steps", "time", "wall_seconds", "cell_steps_per_second", "parts", "exchange", "mass", "checksum",
        "version", "model", "case", "dt", "overlap", "setup_seconds", "peak_memory_bytes"})
    EXPECT_TRUE(json.contains(key)) << key;
  const auto& part = json["parts"][1];
  for (const char* key :
       {"rank", "device", "cells", "ghosts", "weight", "seconds", "bytes", "gb_per_second", "fraction_of_stream"})
    EXPECT_TRUE(part.contains(key)) << key;
  for (const char* key : {"separator", "interior", "exchange", "idle"})
    EXPECT_TRUE(part["seconds"].contains(key)) << key;
  for (const char* key : {"initial", "final", "drift"}) EXPECT_TRUE(json["mass"].contains(key)) << key;
  EXPECT_TRUE(json["exchange"].contains("bytes"));
  EXPECT_TRUE(json["exchange"].contains("messages"));
  EXPECT_EQ(json["cells"].get<Gid>(), Gid{1} << 40);
  EXPECT_EQ(json["time"].get<double>(), 0.1);
  EXPECT_EQ(json["checksum"], "0123456789abcdef");
  EXPECT_TRUE(json["parts"][0]["fraction_of_stream"].is_null());
  EXPECT_EQ(part["fraction_of_stream"], 0.9);
}

TEST(Summary, errors_only_with_an_exact_solution) {
  auto s = example();
  EXPECT_FALSE(nlohmann::json::parse(summary_json(s)).contains("errors"));
  s.errors = ErrorSummary{1e-3, 2e-3, std::nan("")};
  const auto json = nlohmann::json::parse(summary_json(s));
  EXPECT_EQ(json["errors"]["l2"], 1e-3);
  EXPECT_EQ(json["errors"]["linf"], 2e-3);
  EXPECT_TRUE(json["errors"]["gradient_l2"].is_null());
}

TEST(Summary, is_written_whole) {
  const auto path = test::own_folder() / "tutti_summary" / "summary.json";
  std::filesystem::remove_all(path.parent_path());
  write_summary(path, example());
  EXPECT_EQ(read_text_file(path), summary_json(example()));
  EXPECT_THROW(write_summary("/proc/none/summary.json", example()), Error);
  EXPECT_GT(peak_memory(), 1 << 20);
}

TEST(AtomicFile, replaces_and_takes_empty_content) {
  const auto path = test::own_folder() / "tutti_atomic.txt";
  write_file(path, "one");
  write_file(path, "two");
  EXPECT_EQ(read_text_file(path), "two");
  write_file(path, "");
  EXPECT_EQ(read_text_file(path), "");
}

TEST(Probes, are_lines_of_numbers_with_all_digits) {
  const auto path = test::own_folder() / "tutti_probes" / "probes.csv";
  ProbeFile probes(path, {"apex", "a, \"b\""});
  const std::vector<double> values = {0.1, 1.0 / 3};
  probes.add(0, values);
  EXPECT_EQ(read_text_file(path), "time,apex,\"a, \"\"b\"\"\"\n0,0.1,0.3333333333333333\n")
      << "readable while it grows";
  probes.add(1e-20, values);
  EXPECT_THROW(probes.add(1, std::vector<double>{1}), std::logic_error);
  EXPECT_THROW(ProbeFile("/proc/none/probes.csv", {"a"}), Error);
}

TEST(Probes, a_device_is_an_error) {
  EXPECT_THROW(ProbeFile("/dev/full", {"a"}), Error);
}

}  // namespace
}  // namespace tutti
