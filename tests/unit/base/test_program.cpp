// Child processes: words arrive as they are, and nothing waits for ever.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "tests/support/own_folder.hpp"
#include "tutti/base/error.hpp"
#include "tutti/base/system/program.hpp"

namespace tutti {
namespace {

using testing::HasSubstr;

TEST(Program, words_are_not_read_by_a_shell) {
  const auto result = run_program({"printf", "<%s>", "a b", "$HOME `id`; exit 3", "\"'", "", "ü*"});
  EXPECT_EQ(result.status, 0);
  EXPECT_EQ(result.output, "<a b><$HOME `id`; exit 3><\"'><><ü*>");
}

TEST(Program, tells_how_it_ended) {
  EXPECT_EQ(run_program({"sh", "-c", "exit 7"}).status, 7);
  EXPECT_EQ(run_program({"sh", "-c", "kill -9 $$"}).status, 137);
  EXPECT_EQ(run_program({"sh", "-c", "echo out; echo err >&2"}).output, "out\nerr\n");
  EXPECT_EQ(run_program({"cat"}).output, "") << "stdin is empty";
  try {
    run_program({"no-such-program-here"});
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::resource);
    EXPECT_THAT(error.what(), HasSubstr("no-such-program-here"));
  }
}

TEST(Program, keeps_the_end_of_long_output) {
  const auto result = run_program({"sh", "-c", "head -c 5000000 /dev/zero | tr '\\0' x; echo end"});
  EXPECT_LT(result.output.size(), std::size_t{3} << 20);
  EXPECT_GT(result.output.size(), std::size_t{1} << 20);
  EXPECT_TRUE(result.output.ends_with("xxend\n"));
}

TEST(Program, is_killed_with_its_children_when_its_time_is_over) {
  const auto start = std::chrono::steady_clock::now();
  ProgramOptions options;
  options.timeout = 0.3;
  const auto result = run_program({"sh", "-c", "echo begin; sleep 60 & sleep 60; echo end"}, options);
  EXPECT_TRUE(result.timed_out);
  EXPECT_EQ(result.status, 137);
  EXPECT_EQ(result.output, "begin\n");
  EXPECT_LT(std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count(), 20);
}

TEST(Program, folder_log_and_environment) {
  const auto folder = test::own_folder() / "tutti program";
  std::filesystem::create_directories(folder);
  ProgramOptions options;
  options.folder = folder;
  options.log = "log.txt";
  options.environment = {"TUTTI_WORD=a b", "HOME=elsewhere"};
  const auto result = run_program({"sh", "-c", "pwd; echo $TUTTI_WORD; echo $HOME; env | grep -c ^HOME="}, options);
  EXPECT_EQ(result.status, 0);
  EXPECT_EQ(result.output, "");
  std::ifstream file(folder / "log.txt");
  std::string where, word, home, homes;
  std::getline(file, where);
  std::getline(file, word);
  std::getline(file, home);
  std::getline(file, homes);
  EXPECT_THAT(where, testing::EndsWith("tutti program"));
  EXPECT_EQ(word, "a b");
  EXPECT_EQ(home, "elsewhere");
  EXPECT_EQ(homes, "1");
  std::filesystem::remove_all(folder);
}

TEST(Program, a_child_is_no_rank) {
  // This test may run under a launcher or not: what MPI_Init puts into the environment does not reach a child.
  const auto result = run_program({"env"});
  for (const char* name : {"\nOMPI_COMM_WORLD_", "\nPMIX_", "\nPMI_"})
    EXPECT_THAT("\n" + result.output, testing::Not(HasSubstr(name)));
  EXPECT_THAT(result.output, HasSubstr("PATH="));
}

TEST(Program, is_found_on_path) {
  EXPECT_EQ(find_program("sh").filename(), "sh");
  EXPECT_TRUE(find_program("no-such-program-here").empty());
  EXPECT_EQ(own_program().filename(), "test_base");
}

}  // namespace
}  // namespace tutti
