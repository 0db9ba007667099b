// The HDF5 frame of a checkpoint: bytes put at its places are the arrays that HDF5 reads.
#include "tutti/io/checkpoint/checkpoint_file.hpp"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>
#include <numeric>

#include "tutti/base/error.hpp"
#include "tutti/io/checkpoint/checkpoint_header.hpp"

namespace tutti {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

class CheckpointFrameTest : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::path(testing::TempDir()) / ("tutti_frame_" + std::to_string(::getpid()));
    fs::remove_all(folder_);
    fs::create_directories(folder_);
    path_ = folder_ / "frame.h5";
  }
  void TearDown() override { fs::remove_all(folder_); }

  template <class T>
  void put(const std::vector<T>& values, Size offset) const {
    const int file = ::open(path_.c_str(), O_WRONLY | O_CLOEXEC);
    const std::size_t bytes = values.size() * sizeof(T);
    EXPECT_EQ(::pwrite(file, values.data(), bytes, offset), static_cast<ssize_t>(bytes));
    ::close(file);
  }

  fs::path folder_, path_;
};

TEST_F(CheckpointFrameTest, BytesAtItsPlacesAreTheArrays) {
  for (const Size rows : {Size{1}, Size{7}, Size{1000}, Size{70001}}) {
    CheckpointFrame frame;
    frame.meta = "{\"step\": 1, \"text\": \"\u00fc\"}";
    frame.part_begin = {0, rows / 3, rows / 3, rows};
    frame.fields = {{"a field", 3}, {"u", 1}};
    const CheckpointPlaces places = create_checkpoint_file(path_, frame);
    EXPECT_EQ(places.file_bytes, static_cast<Size>(fs::file_size(path_)));
    ASSERT_EQ(places.field_begins.size(), 2u);
    for (const Size place : {places.global, places.field_begins[0], places.field_begins[1]})
      EXPECT_GE(place, checkpoint_header_bytes) << "the header's place is free";

    std::vector<Gid> global(rows);
    std::iota(global.begin(), global.end(), Gid{5});
    std::vector<double> u(global.size(), 0.25), field(3 * global.size());
    std::iota(field.begin(), field.end(), 0.5);
    put(global, places.global);
    put(field, places.field_begins[0]);
    put(u, places.field_begins[1]);
    put(std::vector<char>(checkpoint_header_bytes, 'h'), 0);

    const CheckpointFile file(path_);
    EXPECT_EQ(file.frame().meta, frame.meta);
    EXPECT_EQ(file.frame().part_begin, frame.part_begin);
    EXPECT_EQ(file.frame().fields, frame.fields);
    EXPECT_EQ(file.read_global(0, rows), global);
    EXPECT_EQ(file.read_field(0, 0, rows), field);
    EXPECT_EQ(file.read_field(1, rows - 1, 1), std::vector<double>{0.25});
    EXPECT_TRUE(file.read_field(0, rows, 0).empty());
    EXPECT_THROW((void)file.read_field(0, rows, 1), Error) << "behind the end";
    EXPECT_THROW((void)file.read_global(-1, 1), Error);
  }
}

TEST_F(CheckpointFrameTest, AFileThatIsThereIsReplaced) {
  std::ofstream(path_) << std::string(100000, 'x');
  CheckpointFrame frame;
  frame.meta = "{}";
  frame.part_begin = {0, 2};
  frame.fields = {{"u", 1}};
  create_checkpoint_file(path_, frame);
  EXPECT_EQ(CheckpointFile(path_).frame().meta, "{}");
}

TEST_F(CheckpointFrameTest, ALinkThatIsThereIsNotFollowed) {
  const fs::path victim = folder_ / "victim";
  std::ofstream(victim) << "precious";
  CheckpointFrame frame;
  frame.meta = "{}";
  frame.part_begin = {0, 2};
  for (const bool hard : {false, true}) {
    fs::remove(path_);
    hard ? fs::create_hard_link(victim, path_) : fs::create_symlink(victim, path_);
    create_checkpoint_file(path_, frame);
    EXPECT_TRUE(fs::is_regular_file(fs::symlink_status(path_)));
    std::ifstream file(victim);
    EXPECT_EQ(std::string(std::istreambuf_iterator<char>(file), {}), "precious");
  }
}

TEST_F(CheckpointFrameTest, APlaceThatDoesNotExist) {
  CheckpointFrame frame;
  frame.part_begin = {0, 10};
  frame.fields = {{"u", 2}};
  try {
    create_checkpoint_file(folder_ / "none" / "frame.h5", frame);
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::io);
    EXPECT_THAT(error.what(), HasSubstr("none/frame.h5: a checkpoint of 240 bytes cannot be written: No such file"));
  }
}

TEST_F(CheckpointFrameTest, WhatIsNoFrameIsRefused) {
  std::ofstream(path_) << "no HDF5";
  EXPECT_THROW(CheckpointFile{path_}, Error);
  EXPECT_THROW(CheckpointFile{folder_ / "none.h5"}, Error);
}

}  // namespace
}  // namespace tutti
