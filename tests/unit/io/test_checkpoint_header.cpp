// The header of a checkpoint and its table of checksums: what is written is read, what is damaged is refused.
#include "tutti/io/checkpoint/checkpoint_header.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <limits>

#include "tutti/base/error.hpp"
#include "tutti/base/hash.hpp"

namespace tutti {
namespace {

using testing::HasSubstr;

constexpr Size table_entry = 24;

std::vector<Segment> three_segments() {
  return {{512, 100, 7}, {612, 0, 8}, {612, 388, std::numeric_limits<std::uint64_t>::max()}};
}

CheckpointHeader header_of(const std::vector<Segment>& segments) {
  CheckpointHeader h;
  h.version = "1.2.3-rc.4";
  h.step = 1234567890123;
  h.table_offset = segments.back().offset + segments.back().bytes;
  h.segments = static_cast<Size>(segments.size());
  h.file_bytes = h.table_offset + h.segments * table_entry;
  h.table_hash = hash_bytes(format_segment_table(segments));
  return h;
}

CheckpointHeader parse(const std::array<char, checkpoint_header_bytes>& bytes, Size file_bytes) {
  return parse_checkpoint_header(bytes, file_bytes, "step.h5");
}

std::string complaint(const std::function<void()>& work) {
  try {
    work();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::input);
    EXPECT_THAT(error.what(), testing::StartsWith("step.h5: "));
    return error.what();
  }
  return "no complaint";
}

/// The header's text with one piece changed and, as a forger would, its checksum made right.
std::array<char, checkpoint_header_bytes> forged(const CheckpointHeader& header, const std::string& from,
                                                 const std::string& to) {
  const auto bytes = format_checkpoint_header(header);
  std::string text(bytes.data());
  text.resize(text.rfind("header "));
  const auto at = text.find(from);
  EXPECT_NE(at, std::string::npos);
  text.replace(at, from.size(), to);
  text += fmt::format("header {:016x}\n", hash_bytes(text));
  std::array<char, checkpoint_header_bytes> result{};
  std::copy(text.begin(), text.end(), result.begin());
  return result;
}

TEST(CheckpointHeader, WhatIsWrittenIsRead) {
  const auto segments = three_segments();
  const CheckpointHeader h = header_of(segments);
  const CheckpointHeader found = parse(format_checkpoint_header(h), h.file_bytes);
  EXPECT_EQ(found.version, h.version);
  EXPECT_EQ(found.step, h.step);
  EXPECT_EQ(found.file_bytes, h.file_bytes);
  EXPECT_EQ(found.table_offset, h.table_offset);
  EXPECT_EQ(found.segments, h.segments);
  EXPECT_EQ(found.table_hash, h.table_hash);
  const auto table = parse_segment_table(format_segment_table(segments), found, "step.h5");
  ASSERT_EQ(table.size(), 3u);
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(table[i].offset, segments[i].offset);
    EXPECT_EQ(table[i].bytes, segments[i].bytes);
    EXPECT_EQ(table[i].hash, segments[i].hash);
  }
}

TEST(CheckpointHeader, PeopleCanReadIt) {
  const CheckpointHeader h = header_of(three_segments());
  const std::string text(format_checkpoint_header(h).data());
  EXPECT_THAT(text,
              testing::StartsWith("tutti checkpoint, format 1\nversion 1.2.3-rc.4\nstep 1234567890123\nsize 1072\n"));
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 6);
  EXPECT_TRUE(std::all_of(text.begin(), text.end(), [](unsigned char c) { return c == '\n' || std::isprint(c) != 0; }));
}

TEST(CheckpointHeader, TheVersionMustFit) {
  CheckpointHeader h = header_of(three_segments());
  h.version.assign(300, '1');
  EXPECT_EQ(parse(format_checkpoint_header(h), h.file_bytes).version, h.version);
  h.version.assign(500, '1');
  EXPECT_THROW((void)format_checkpoint_header(h), std::logic_error);
}

TEST(CheckpointHeader, EveryBitCounts) {
  const CheckpointHeader h = header_of(three_segments());
  const auto good = format_checkpoint_header(h);
  for (std::size_t bit = 0; bit < 8 * good.size(); ++bit) {
    auto bytes = good;
    bytes[bit / 8] = static_cast<char>(bytes[bit / 8] ^ (1 << (bit % 8)));
    EXPECT_NE(complaint([&] { (void)parse(bytes, h.file_bytes); }), "no complaint")
        << "bit " << bit % 8 << " of byte " << bit / 8;
  }
}

TEST(CheckpointHeader, EveryLengthButItsOwnIsRefused) {
  const CheckpointHeader h = header_of(three_segments());
  const auto good = format_checkpoint_header(h);
  for (std::size_t length = 0; length < good.size(); ++length) {
    const auto found = complaint(
        [&] { (void)parse_checkpoint_header(std::span(good).first(length), static_cast<Size>(length), "step.h5"); });
    EXPECT_THAT(found, HasSubstr(length < 25 ? "not a checkpoint" : "is truncated")) << length;
  }
  EXPECT_THAT(complaint([&] { (void)parse(good, h.file_bytes - 1); }),
              HasSubstr("is truncated: it has 1071 bytes, 1072"));
  EXPECT_THAT(complaint([&] { (void)parse(good, h.file_bytes + 1); }), HasSubstr("has grown: it has 1073 bytes, 1072"));
}

TEST(CheckpointHeader, AnotherFormatNamesTheVersionThatReadsIt) {
  const CheckpointHeader h = header_of(three_segments());
  const auto found = complaint([&] { (void)parse(forged(h, "format 1", "format 2"), h.file_bytes); });
  EXPECT_THAT(found, HasSubstr("has format 2, this tutti reads format 1; use tutti 1.2.3-rc.4"));
}

TEST(CheckpointHeader, NonsenseWithARightChecksum) {
  const CheckpointHeader h = header_of(three_segments());
  for (const auto& [from, to] :
       std::vector<std::pair<std::string, std::string>>{{"step 1234567890123", "step -1"},
                                                        {"step 1234567890123", "step 99999999999999999999"},
                                                        {"table 1000 3", "table 1000 4"},
                                                        {"table 1000 3", "table 999 3"},
                                                        {"table 1000 3", "table 1072 0"},
                                                        {"table 1000 3", "table -1 3"},
                                                        {"table 1000 3", "table 9223372036854775807 3"},
                                                        {"table 1000 3", "table 4 44"}})
    EXPECT_NE(complaint([&] { (void)parse(forged(h, from, to), h.file_bytes); }), "no complaint") << to;
}

TEST(CheckpointTable, ItMustCoverTheFile) {
  const auto refused = [](std::vector<Segment> segments, const char* why) {
    CheckpointHeader h = header_of(three_segments());
    const auto bytes = format_segment_table(segments);
    h.segments = static_cast<Size>(segments.size());
    h.table_hash = hash_bytes(bytes);
    EXPECT_THAT(complaint([&] { (void)parse_segment_table(bytes, h, "step.h5"); }), HasSubstr("does not cover")) << why;
  };
  auto s = three_segments();
  s[1].offset = 613;
  refused(s, "a gap");
  s = three_segments();
  s[2].offset = 611;
  refused(s, "an overlap");
  s = three_segments();
  s[1].bytes = -1;
  refused(s, "less than nothing");
  s = three_segments();
  s[2].bytes = 387;
  refused(s, "a byte that nobody protects");
  s = three_segments();
  s[2].bytes = std::numeric_limits<Size>::max();
  refused(s, "more than the file");
  s = three_segments();
  s.pop_back();
  refused(s, "the end is missing");
  s = three_segments();
  s[0].offset = 0;
  refused(s, "the header itself");
}

TEST(CheckpointTable, EveryBitCounts) {
  const auto segments = three_segments();
  const CheckpointHeader h = header_of(segments);
  const auto good = format_segment_table(segments);
  ASSERT_EQ(static_cast<Size>(good.size()), 3 * table_entry);
  for (std::size_t bit = 0; bit < 8 * good.size(); ++bit) {
    auto bytes = good;
    bytes[bit / 8] = static_cast<char>(bytes[bit / 8] ^ (1 << (bit % 8)));
    EXPECT_THAT(complaint([&] { (void)parse_segment_table(bytes, h, "step.h5"); }), HasSubstr("own checksum"));
  }
  EXPECT_THAT(complaint([&] { (void)parse_segment_table(std::span(good).first(48), h, "step.h5"); }),
              HasSubstr("byte 1000: the checkpoint's table of checksums is damaged: it has another size"));
}

}  // namespace
}  // namespace tutti
