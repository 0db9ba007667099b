// The one way to make a file: whole or not at all, and never through what somebody else laid there.
#include "tutti/base/system/atomic_file.hpp"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <fstream>
#include <iterator>
#include <string>
#include <utility>

#include "tests/support/own_folder.hpp"
#include "tutti/base/error.hpp"

namespace tutti {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::MatchesRegex;

std::string read(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

class Files : public testing::Test {
 protected:
  Files() {
    fs::remove_all(folder);
    fs::create_directories(folder);
    std::ofstream(victim) << "precious";
  }
  /// The message of what `action` throws, an Error(io); nothing temporary is left and the victim is as it was.
  template <class Action>
  std::string refused(Action&& action) {
    std::string message = "no error";
    try {
      action();
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::io);
      message = error.what();
    }
    EXPECT_EQ(read(victim), "precious");
    for (const auto& entry : fs::directory_iterator(folder)) EXPECT_NE(entry.path().extension(), ".tmp");
    return message;
  }
  fs::path folder = test::own_folder() / "atomic", victim = folder / "victim", target = folder / "target";
};

TEST_F(Files, AppearWholeAndReplace) {
  const fs::path deep = folder / "a" / "b" / "file";
  write_file(deep, "one");
  EXPECT_EQ(read(deep), "one");
  const std::array<std::string_view, 3> pieces{"t", "", "wo"};
  write_file(deep, pieces);
  EXPECT_EQ(read(deep), "two");
  {
    AtomicFile file(deep);
    file.write("three");
    EXPECT_EQ(read(deep), "two") << "until it is whole";
  }
  EXPECT_EQ(read(deep), "two") << "without commit";
  {
    AtomicFile file(deep);
    file.write(4, "zz");
    file.write(0, "abcd");
    file.write("ef");
    file.commit();
  }
  EXPECT_EQ(read(deep), "abcdef") << "at any place, and behind the last one";
  EXPECT_EQ(std::distance(fs::directory_iterator(deep.parent_path()), {}), 1);
  write_file(deep, "");
  EXPECT_EQ(read(deep), "");
}

TEST_F(Files, InResultsReplaceNothingButARegularFile) {
  fs::create_symlink(victim, target);
  EXPECT_THAT(refused([&] { write_file(target, "new"); }),
              MatchesRegex(".*/target: cannot be written: it is a symbolic link; .*"));
  EXPECT_TRUE(fs::is_symlink(target));
  for (const char* to : {"/dev/null", "nowhere"}) {
    fs::remove(target);
    fs::create_symlink(to, target);
    EXPECT_THAT(refused([&] { write_file(target, "new"); }), HasSubstr("a symbolic link")) << to;
  }
  fs::remove(target);
  fs::create_directory(target);
  for (const Place place : {Place::results, Place::given})
    EXPECT_THAT(refused([&] { write_file(target, "new", place); }), HasSubstr("it is a folder"));
  fs::remove(target);
  ASSERT_EQ(::mkfifo(target.c_str(), 0666), 0);
  EXPECT_THAT(refused([&] { write_file(target, "new"); }), HasSubstr("it is a pipe"));
}

TEST_F(Files, DoNotFollowATemporaryNameThatWasLaidThere) {
  fs::create_symlink(victim, target.string() + "." + std::to_string(::getpid()) + ".tmp");
  write_file(target, "new");
  EXPECT_EQ(read(target), "new");
  EXPECT_FALSE(fs::is_symlink(target));
  EXPECT_EQ(read(victim), "precious");
}

TEST_F(Files, GivenByTheUserAreWrittenWhereTheirLinksLead) {
  fs::create_directory(folder / "deep");
  fs::create_symlink("deep/link", target);
  fs::create_symlink("../file", folder / "deep" / "link");
  for (const char* text : {"one", "two"}) {  // of a file that is not there yet, and of one that is
    write_file(target, text, Place::given);
    EXPECT_EQ(read(folder / "file"), text);
    EXPECT_TRUE(fs::is_symlink(target) && fs::is_symlink(folder / "deep" / "link"));
  }
  fs::remove(target);
  fs::create_symlink("target", target);
  EXPECT_THAT(refused([&] { write_file(target, "new", Place::given); }), HasSubstr("a symbolic link"));
}

TEST_F(Files, DevicesAreWrittenInPlace) {
  fs::create_symlink("/dev/full", target);
  fs::create_symlink("/dev/null", folder / "null");
  for (const fs::path& path : {target, fs::path("/dev/full")})
    EXPECT_THAT(refused([&] { write_file(path, "new", Place::given); }),
                MatchesRegex(path.string() + ": 0 of 3 bytes written, then: No space left on device; .*"));
  write_file(folder / "null", "new", Place::given);
  EXPECT_TRUE(fs::is_symlink(target) && fs::is_symlink(folder / "null"));
  EXPECT_TRUE(fs::is_character_file("/dev/full") && fs::is_character_file("/dev/null"));
}

TEST_F(Files, PipesAreWrittenInPlaceWhereSomebodyReads) {
  ASSERT_EQ(::mkfifo(target.c_str(), 0666), 0);
  EXPECT_THAT(refused([&] { write_file(target, "new", Place::given); }), HasSubstr("no process reads this pipe"));
  const int reader = ::open(target.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  ASSERT_GE(reader, 0);
  write_file(target, "new", Place::given);
  std::array<char, 10> text{};
  EXPECT_EQ(::read(reader, text.data(), text.size()), 3);
  EXPECT_THAT(refused([&] {
                AtomicFile file(target, Place::given);
                file.write(2, "cd");
              }),
              HasSubstr("Illegal seek"));
  ::close(reader);
  EXPECT_TRUE(fs::is_fifo(target));
}

TEST_F(Files, DescriptorsOfTheProgramAreWrittenAtTheirPlace) {
  // As /dev/stdout, with standard output in a file: what is printed before and behind stays.
  const int file = create_file(target);
  ASSERT_GE(file, 0);
  ASSERT_EQ(::write(file, "before,", 7), 7);
  const std::string name = "/dev/fd/" + std::to_string(file);
  write_file(name, "new", Place::given);
  fs::create_symlink(name, folder / "link");
  write_file(folder / "link", "er", Place::given);
  ASSERT_EQ(::write(file, ",behind", 7), 7);
  ::close(file);
  EXPECT_EQ(read(target), "before,newer,behind");
  EXPECT_TRUE(fs::is_regular_file(fs::symlink_status(target)));
}

TEST_F(Files, ThatDoNotFitLeaveTheOldOne) {
  write_file(target, "old");
  const auto before = std::signal(SIGXFSZ, SIG_IGN);
  rlimit limit{};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &limit), 0);
  const rlimit small{1000, limit.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &small), 0);
  const std::string message = refused([&] { write_file(target, std::string(5000, 'x')); });
  ::setrlimit(RLIMIT_FSIZE, &limit);
  std::signal(SIGXFSZ, before);
  EXPECT_THAT(message, MatchesRegex(".*/target: 1000 of 5000 bytes written, then: File too large; .*"));
  EXPECT_EQ(read(target), "old");
}

TEST_F(Files, ThatOthersFillAreNew) {
  EXPECT_EQ(create_file(victim), -1);
  EXPECT_EQ(errno, EEXIST);
  fs::create_symlink("nowhere", target);
  EXPECT_EQ(create_file(target), -1);
  EXPECT_FALSE(fs::exists(folder / "nowhere"));
  const auto opens = [](const fs::path& path) {
    const int file = open_file(path, O_WRONLY);
    if (file >= 0) ::close(file);
    return file >= 0;
  };
  EXPECT_TRUE(opens(victim));
  fs::remove(target);
  fs::create_symlink(victim, target);
  EXPECT_FALSE(opens(target)) << "a link";
  fs::remove(target);
  fs::create_hard_link(victim, target);
  EXPECT_FALSE(opens(target)) << "a file with another name elsewhere";
  fs::remove(target);
  ASSERT_EQ(::mkfifo(target.c_str(), 0666), 0);
  const int reader = ::open(target.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  EXPECT_FALSE(opens(target)) << "a pipe";
  ::close(reader);
}

TEST_F(Files, ThatGrowAreRegular) {
  const auto append = [](const fs::path& path) {
    const int file = open_to_append(path);
    const bool good = file >= 0 && ::write(file, "+", 1) == 1;
    if (file >= 0) ::close(file);
    return good;
  };
  EXPECT_TRUE(append(target) && append(target));
  EXPECT_EQ(read(target), "++");
  fs::remove(target);
  fs::create_symlink(victim, target);
  EXPECT_FALSE(append(target));
  fs::remove(target);
  ASSERT_EQ(::mkfifo(target.c_str(), 0666), 0);
  EXPECT_FALSE(append(target)) << "nobody waits for the reader of a pipe";
  EXPECT_EQ(read(victim), "precious");
}

TEST_F(Files, AreRenamedOverRegularFilesOnly) {
  const fs::path from = folder / "from";
  const auto renamed = [&] {
    write_file(from, "new");
    return rename_durably(from, target);
  };
  EXPECT_EQ(renamed(), 0);
  EXPECT_EQ(renamed(), 0);
  fs::remove(target);
  fs::create_symlink(victim, target);
  EXPECT_EQ(renamed(), EEXIST);
  fs::remove(target);
  ASSERT_EQ(::mkfifo(target.c_str(), 0666), 0);
  EXPECT_EQ(renamed(), EEXIST);
  EXPECT_EQ(rename_durably(folder / "none", folder / "some"), ENOENT);
}

}  // namespace
}  // namespace tutti
