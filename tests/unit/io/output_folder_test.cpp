// What is kept, removed and refused in the folder of the results.
#include "tutti/io/output_folder.hpp"
#include "tests/support/own_folder.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/inotify.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <sstream>

#include "tutti/base/error.hpp"
#include "tutti/base/system/atomic_file.hpp"
#include "tutti/io/case/core_keys.hpp"
#include "tutti/io/probes.hpp"

namespace tutti {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

class OutputFolder : public testing::Test {
 protected:
  OutputFolder() : home_(test::own_folder() / name()), folder(home_ / "results") {
    fs::remove_all(home_);
    fs::create_directories(home_);
  }
  ~OutputFolder() override { fs::remove_all(home_); }
  static std::string name() { return testing::UnitTest::GetInstance()->current_test_info()->name(); }

  void write(const fs::path& path, const std::string& text = "x") const {
    fs::create_directories((folder / path).parent_path());
    std::ofstream(folder / path) << text;
  }
  static std::string read(const fs::path& path) {
    std::ostringstream text;
    text << std::ifstream(path).rdbuf();
    return text.str();
  }
  /// The message of the error that must come.
  std::string refused(OutputUse use, ErrorKind kind) const {
    try {
      prepare_output_folder(folder, use);
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), kind) << error.what();
      return error.what();
    }
    ADD_FAILURE() << "no error";
    return "";
  }

  fs::path home_, folder;
};

TEST_F(OutputFolder, is_made_and_may_hold_what_is_no_result) {
  folder = home_ / "a b" / "c";
  prepare_output_folder(folder, OutputUse::fresh);
  EXPECT_TRUE(fs::is_directory(folder));
  write("notes.txt");
  write("mesh/heart.msh");
  fs::create_directories(folder / "checkpoints");
  prepare_output_folder(folder, OutputUse::fresh);
  EXPECT_TRUE(fs::exists(folder / "notes.txt"));
}

/// The names of what is removed from `folders` while `f` runs, in that order.
template <class F>
std::vector<std::string> removed_by(const std::vector<fs::path>& folders, F&& f) {
  const int watch = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
  for (const fs::path& folder : folders) EXPECT_GE(inotify_add_watch(watch, folder.c_str(), IN_DELETE), 0);
  f();
  std::vector<std::string> names;
  alignas(inotify_event) std::array<char, 65536> events;
  const ssize_t bytes = read(watch, events.data(), events.size());
  for (ssize_t at = 0; at < bytes;) {
    const auto* event = reinterpret_cast<const inotify_event*>(events.data() + at);
    if (event->len > 0) names.emplace_back(event->name);
    at += static_cast<ssize_t>(sizeof(inotify_event) + event->len);
  }
  close(watch);
  return names;
}

TEST_F(OutputFolder, overwriting_can_be_cut_short_anywhere) {
  for (const char* name : {"summary.json", "results.pvd", "results.vtkhdf", "results.vtkhdf.77.tmp", "probes.csv",
                           "history.csv", "fields/fields_000001.pvtu", "checkpoints/checkpoint_000004.h5",
                           "checkpoints/checkpoint_000008.h5", "checkpoints/checkpoint_000012.h5.tmp"})
    write(name);
  const auto names = removed_by({folder, folder / "fields", folder / "checkpoints"},
                                [&] { prepare_output_folder(folder, OutputUse::overwrite); });
  ASSERT_EQ(names.size(), 12U) << "not ten files and two folders: " << testing::PrintToString(names);
  const auto is_checkpoint = [](const std::string& name) { return name.starts_with("checkpoint_"); };
  EXPECT_TRUE(std::all_of(names.begin(), names.begin() + 3, is_checkpoint))
      << "a checkpoint without the results it goes on with would be left";
  EXPECT_THAT((std::vector<std::string>(names.end() - 3, names.end())),
              testing::UnorderedElementsAre("summary.json", "results.pvd", "results.vtkhdf"))
      << "other files would be left that tell of no earlier run";
}

TEST_F(OutputFolder, made_by_a_run_that_wrote_nothing_goes_again) {
  folder = home_ / "a" / "b" / "c";
  fs::create_directories(home_ / "a");
  const auto made = folders_to_make(folder);
  EXPECT_EQ(made, (std::vector<fs::path>{home_ / "a" / "b" / "c", home_ / "a" / "b"}));
  remove_unused_folders(made, true);  // not made yet
  prepare_output_folder(folder, OutputUse::fresh);
  EXPECT_TRUE(folders_to_make(folder).empty());
  remove_unused_folders({}, true);
  write("mesh/heart.msh");
  remove_unused_folders(made, false);
  EXPECT_TRUE(fs::exists(folder / "mesh" / "heart.msh")) << "the mesh says what was wrong";
  write("effective.toml");
  remove_unused_folders(made, true);
  EXPECT_TRUE(fs::exists(folder / "mesh" / "heart.msh")) << "something was written";
  fs::remove(folder / "effective.toml");
  write("../mine.txt");
  remove_unused_folders(made, true);
  EXPECT_FALSE(fs::exists(folder));
  EXPECT_TRUE(fs::exists(home_ / "a" / "b" / "mine.txt"));
  fs::remove(home_ / "a" / "b" / "mine.txt");
  prepare_output_folder(folder, OutputUse::fresh);
  remove_unused_folders(made, false);
  EXPECT_FALSE(fs::exists(home_ / "a" / "b"));
  EXPECT_TRUE(fs::exists(home_ / "a"));
}

TEST_F(OutputFolder, keeps_results_unless_told_otherwise) {
  for (const char* result : {"summary.json", "results.pvd", "checkpoints/step_000010.h5"}) {
    fs::remove_all(folder);
    write(result, "old");
    const std::string message = refused(OutputUse::fresh, ErrorKind::usage);
    EXPECT_THAT(message, HasSubstr(folder.string()));
    EXPECT_THAT(message, HasSubstr(result));
    EXPECT_THAT(message, HasSubstr("--overwrite"));
    EXPECT_THAT(message, HasSubstr("-o"));
    EXPECT_EQ(read(folder / result), "old");
    prepare_output_folder(folder, OutputUse::go_on);
    EXPECT_EQ(read(folder / result), "old");
    prepare_output_folder(folder, OutputUse::overwrite);
    EXPECT_FALSE(fs::exists(folder / result));
    prepare_output_folder(folder, OutputUse::fresh);
  }
}

TEST_F(OutputFolder, what_killed_runs_were_writing_goes_when_the_run_goes_on) {
  const std::vector<std::string> stay = {
      "summary.json",          "notes.txt.12.tmp",   "summary.json.tmp",    "fields/fields_000000.pvti",
      "fields/mine.vtu.7.tmp", "slices/slice-a.pvd", "mesh/heart.msh.9.tmp"};
  for (const auto& name : stay) write(name);
  const std::vector<std::string> go = {"summary.json.4711.tmp", "results.pvd.1.tmp",
                                       "fields/fields_000012_p0003.vtu.99.tmp", "fields/fields_000001.pvtu.2.tmp",
                                       "slices/slice-a_000001.pvd.5.tmp"};
  for (const auto& name : go) write(name);
  prepare_output_folder(folder, OutputUse::go_on);
  for (const auto& name : stay) EXPECT_TRUE(fs::exists(folder / name)) << name;
  for (const auto& name : go) EXPECT_FALSE(fs::exists(folder / name)) << name;
}

TEST_F(OutputFolder, overwrite_removes_what_tutti_writes_and_nothing_else) {
  for (const char* own : {"summary.json",
                          "results.pvd",
                          "probes.csv",
                          "metrics.jsonl",
                          "effective.toml",
                          "summary.json.4711.tmp",
                          "fields/fields_000000.pvti",
                          "fields/fields_000012_p0003.vti",
                          "fields/fields_1000000.pvtr",
                          "fields/fields_1000000_p12345.vtr",
                          "slices/slice-a.pvd",
                          "planes/plane-a.pvd",
                          "planes/plane-a_000001_p0002.vtu",
                          "planes/a.csv",
                          "surfaces/a_b.csv.9.tmp",
                          "slices/slice-a_000001.pvd.5.tmp",
                          "slices/slice-a_000000.pvti",
                          "slices/slice-a_b-c_000012_p0003.vti",
                          "slices/slice-a_000001_p0000.vtr.7.tmp",
                          "fields/fields_000000.pvtu",
                          "fields/fields_000012_p0003.vtu",
                          "fields/fields_000012_p0003.vtu.99.tmp",
                          "checkpoints/step_000010.h5",
                          "checkpoints/step_000010.h5.7.tmp"})
    write(own);
  const std::vector<std::string> users = {"notes.txt",
                                          "summary.json.bak",
                                          "fields/mine.vtu",
                                          "fields_00.pvtu",
                                          "fields/fields_a_p0.vtu",
                                          "fields/fields_0.vti",
                                          "fields/fields_0_p.vtu",
                                          "fields/more_fields_0_p0.vtu",
                                          "fields/000000.pvtu",
                                          "fields/slice-a.pvd",
                                          "slices/mine.pvd",
                                          "slices/slice-.pvd",
                                          "planes/slice-a.pvd",
                                          "surfaces/mine.pvd",
                                          "slices/slice-_0.pvti",
                                          "slices/slice-a.vti",
                                          "slices/fields_0.pvti",
                                          "slice-a.pvd",
                                          "checkpoints/why.txt",
                                          "mesh/heart.msh",
                                          "case.toml",
                                          "fields/more/fields_000000.pvtu",
                                          "results.pvd.tmp",
                                          "plot.png"};
  for (const auto& mine : users) write(mine, "mine");
  fs::create_directories(folder / "metrics" / "deep");
  prepare_output_folder(folder, OutputUse::overwrite);
  std::vector<std::string> left;
  for (const auto& entry : fs::recursive_directory_iterator(folder))
    if (entry.is_regular_file()) left.push_back(fs::relative(entry.path(), folder).string());
  EXPECT_THAT(left, testing::UnorderedElementsAreArray(users));
  EXPECT_TRUE(fs::is_directory(folder / "metrics" / "deep"));

  fs::remove_all(folder);
  write("fields/fields_000000.pvtu");
  write("checkpoints");        // a file under the name of a folder is a user's, too
  write("results.pvd/in it");  // a folder under the name of a file is a user's
  prepare_output_folder(folder, OutputUse::overwrite);
  EXPECT_FALSE(fs::exists(folder / "fields")) << "an empty folder of tutti's goes too";
  EXPECT_TRUE(fs::exists(folder / "checkpoints"));
  EXPECT_TRUE(fs::exists(folder / "results.pvd" / "in it"));
}

TEST_F(OutputFolder, never_writes_through_links) {
  fs::create_directories(folder);
  const fs::path outside = home_ / "outside";
  fs::create_directories(outside);
  std::ofstream(outside / "file") << "precious";
  for (const char* name :
       {"fields", "slices", "mesh", "checkpoints", "probes.csv", "metrics.jsonl", "effective.toml"}) {
    fs::create_symlink(outside / (std::string(name).find('.') == std::string::npos ? "." : "file"), folder / name);
    for (const auto use : {OutputUse::fresh, OutputUse::go_on}) {
      const std::string message = refused(use, ErrorKind::io);
      EXPECT_THAT(message, HasSubstr((folder / name).string() + ": this is a symbolic link"));
      EXPECT_THAT(message, HasSubstr(outside.string()));
    }
    fs::remove(folder / name);
  }
  // Also one level down, and one that leads nowhere yet.
  for (const char* name : {"mesh/heart.geo", "mesh/heart.log"}) {
    fs::create_directories(folder / "mesh");
    fs::create_symlink(outside / "new", folder / name);
    EXPECT_THAT(refused(OutputUse::fresh, ErrorKind::io), HasSubstr(name));
    fs::remove(folder / name);
  }
  // To overwrite is to remove the link, not what it leads to.
  fs::create_directory_symlink(outside, folder / "fields");
  fs::create_symlink(outside / "file", folder / "summary.json");
  std::ofstream(outside / "fields_000000.pvtu") << "precious";
  prepare_output_folder(folder, OutputUse::overwrite);
  EXPECT_FALSE(fs::exists(fs::symlink_status(folder / "fields")));
  EXPECT_FALSE(fs::exists(fs::symlink_status(folder / "summary.json")));
  EXPECT_EQ(read(outside / "file"), "precious");
  EXPECT_EQ(read(outside / "fields_000000.pvtu"), "precious");
}

TEST_F(OutputFolder, may_itself_be_a_link) {
  fs::create_directories(home_ / "disk");
  fs::create_directory_symlink(home_ / "disk", folder);
  prepare_output_folder(folder, OutputUse::fresh);
  write_file(folder / "summary.json", "{}");
  EXPECT_EQ(read(home_ / "disk" / "summary.json"), "{}");
}

TEST_F(OutputFolder, files_neither_follow_nor_replace_links) {
  fs::create_directories(folder);
  std::ofstream(home_ / "file") << "precious";
  fs::create_symlink(home_ / "file", folder / "effective.toml");
  fs::create_symlink(home_ / "file", folder / fmt::format("effective.toml.{}.tmp", ::getpid()));
  EXPECT_THROW(write_file(folder / "effective.toml", "new"), Error);
  EXPECT_TRUE(fs::is_symlink(folder / "effective.toml"));
  fs::remove(folder / "effective.toml");
  write_file(folder / "effective.toml", "new");
  EXPECT_EQ(read(folder / "effective.toml"), "new");
  fs::create_symlink(home_ / "file", folder / "probes.csv");
  EXPECT_THROW(ProbeFile(folder / "probes.csv", {"a"}), Error);
  EXPECT_EQ(read(home_ / "file"), "precious");
}

TEST_F(OutputFolder, cannot_be_below_a_file) {
  std::ofstream(home_ / "file") << "x";
  for (const fs::path& place : {home_ / "file", home_ / "file" / "results"}) {
    folder = place;
    EXPECT_THAT(refused(OutputUse::fresh, ErrorKind::io), HasSubstr("choose another with -o"));
  }
}

/// The files that a case names are read: whoever adds another must look at what a case may do with it.
TEST(CaseKeys, name_no_file_to_write) {
  std::vector<std::string> files;
  const CaseSchema schema = core_schema({"diffusion"});
  for (const KeyDoc& key : schema.keys())
    if (key.type == KeyType::file) files.push_back(key.path);
  EXPECT_THAT(files, testing::ElementsAre("table[].file", "field[].file", "mesh.file"));
}

}  // namespace
}  // namespace tutti
