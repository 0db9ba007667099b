#include "tutti/io/trace.hpp"
#include "tests/support/own_folder.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <thread>

#include "tests/unit/base/mpi_environment.hpp"
#include "tutti/base/log.hpp"
#include "tutti/io/case/case.hpp"

namespace tutti {
namespace {

using test::world;
using Json = nlohmann::json;

std::filesystem::path folder() {
  const auto path = test::own_folder() / "tutti_trace";
  std::filesystem::remove_all(path);
  return path;
}
Json read(const std::filesystem::path& path) {
  return Json::parse(read_text_file(path));
}
std::vector<Json> slices(const Json& trace) {
  std::vector<Json> list;
  for (const Json& e : trace["traceEvents"])
    if (e["ph"] == "X") list.push_back(e);
  return list;
}

TEST(TraceWindow, IsARangeOfSteps) {
  EXPECT_EQ(parse_trace_window("3:7").first, 3);
  EXPECT_EQ(parse_trace_window("3:7").last, 7);
  EXPECT_EQ(parse_trace_window("5").last, 5);
  for (const char* bad : {"", ":", "3:", ":3", "0:3", "-1:3", "a:b", "1:2:3", "7:3", "1 : 2", "99999999999999999999"})
    try {
      parse_trace_window(bad);
      ADD_FAILURE() << bad;
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::usage);
      EXPECT_NE(std::string(error.what()).find("--trace-steps"), std::string::npos);
    }
}

TEST(Trace, OffTakesNothingAndWritesNothing) {
  Trace trace;
  EXPECT_FALSE(trace.on());
  trace.name_row(5, "row");
  trace.add({});
  { const auto scope = trace.scope("output"); }
  trace.write();
}

TEST(Trace, IsAJsonFileOfNamedRows) {
  const auto path = folder() / "deep" / "trace.json";
  Trace trace(world(), path, std::nullopt);
  EXPECT_TRUE(slices(read(path)).empty()) << "an empty trace is there from the start";
  const auto start = Trace::Clock::now();
  trace.name_row(7, "a \"row\"\n\xff");
  TraceSlice slice;
  slice.name = "copy \\ \"1>2\"";
  slice.row = 7;
  slice.begin = start + std::chrono::nanoseconds(1'234'567);
  slice.end = slice.begin + std::chrono::nanoseconds(1'001);
  slice.step = 12;
  slice.part = 3;
  slice.bytes = 0;
  trace.add(slice);
  trace.write();
  const Json json = read(path);
  const auto all = slices(json);
  ASSERT_EQ(all.size(), 1);
  EXPECT_EQ(all[0]["name"], "copy \\ \"1>2\"");
  EXPECT_EQ(all[0]["tid"], 7);
  EXPECT_EQ(all[0]["pid"], 0);
  EXPECT_DOUBLE_EQ(all[0]["dur"], 1.001);
  EXPECT_GE(all[0]["ts"], 1234.567);
  EXPECT_LT(all[0]["ts"], 1e9);
  EXPECT_EQ(all[0]["args"], Json({{"rank", 0}, {"step", 12}, {"part", 3}, {"bytes", 0}}));
  std::map<int, std::string> rows;
  for (const Json& e : json["traceEvents"])
    if (e["name"] == "thread_name") rows[e["tid"]] = e["args"]["name"];
  EXPECT_EQ(rows[Trace::program_row], "program");
  EXPECT_EQ(rows[7], "a \"row\"\n\xef\xbf\xbd") << "what is no UTF-8 is replaced";
  EXPECT_EQ(json["otherData"]["slices_left_out"], 0);
}

TEST(Trace, ScopesAreSlicesAndNest) {
  const auto path = folder() / "trace.json";
  Trace trace(world(), path, std::nullopt);
  {
    const auto outer = trace.scope("checkpoint");
    const auto inner = trace.scope("sync");
    std::thread([&] { const auto other = trace.scope("write", Trace::background_row); }).join();
  }
  trace.write();
  const auto first = slices(read(path));
  ASSERT_EQ(first.size(), 3);
  EXPECT_EQ(first[0]["name"], "write");
  EXPECT_EQ(first[0]["tid"], Trace::background_row);
  EXPECT_EQ(first[1]["name"], "sync");
  EXPECT_EQ(first[2]["name"], "checkpoint");
  EXPECT_LE(first[2]["ts"], first[1]["ts"]);
  { const auto later = trace.scope("output"); }
  trace.write();
  EXPECT_EQ(slices(read(path)).size(), 4) << "written again, with all there was";
}

TEST(Trace, APathThatCannotBeWrittenIsAnErrorAtOnce) {
  try {
    const Trace trace(world(), "/proc/none/trace.json", std::nullopt);
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::io);
    EXPECT_NE(std::string(error.what()).find("/proc/none"), std::string::npos);
  }
}

TEST(Trace, AFullDiskLaterIsAWarning) {
  const auto path = folder() / "trace.json";
  Trace trace(world(), path, std::nullopt);
  std::filesystem::remove_all(path.parent_path());
  { std::ofstream(path.parent_path()) << "a file where the folder was"; }
  set_log(LogLevel::normal, true);
  testing::internal::CaptureStderr();
  trace.write();
  EXPECT_NE(testing::internal::GetCapturedStderr().find("trace.json"), std::string::npos);
}

}  // namespace
}  // namespace tutti
