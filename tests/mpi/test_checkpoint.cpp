// Checkpoints: written by parts anywhere, read by parts anywhere; asynchronous; one rank's failure is everyone's.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <limits>

#include "tests/support/checkpoint_state.hpp"

namespace tutti {
namespace {

namespace fs = std::filesystem;
using test::CheckpointState;
using test::message_of;
using test::names_in;
using testing::ElementsAre;
using testing::HasSubstr;

const Comm& world() {
  static const Comm comm;
  return comm;
}

void write_and_read(const fs::path& folder, std::uint64_t seed, Gid rows, int parts, int other_parts) {
  SCOPED_TRACE("seed " + std::to_string(seed) + ", rows " + std::to_string(rows) + ", parts " + std::to_string(parts) +
               " and " + std::to_string(other_parts));
  const int round = static_cast<int>(seed);
  const std::string meta = "{\"seed\": " + std::to_string(seed) + "}";
  CheckpointState writing(world(), seed, rows, parts);
  writing.fill(round);
  CheckpointWriter writer(world(), writing.state(), folder, 1, "1.2.3");
  writer.begin(round, 0.5, meta);
  writer.finish();
  const auto report = writer.take_report();
  EXPECT_EQ(report.has_value(), world().is_root());
  EXPECT_FALSE(writer.take_report().has_value()) << "a report is there once";

  const auto files = find_checkpoints(folder);
  ASSERT_EQ(files.size(), 1u);
  if (report) {
    EXPECT_EQ(report->step, round);
    EXPECT_EQ(report->bytes, static_cast<Size>(fs::file_size(files[0])));
  }
  CheckpointState reading(world(), seed + 1000, rows, other_parts);
  const CheckpointReader reader(world(), files[0]);
  EXPECT_EQ(reader.header().version, "1.2.3");
  EXPECT_EQ(reader.header().step, round);
  EXPECT_EQ(reader.frame().meta, meta);
  EXPECT_EQ(reader.frame().rows(), rows);
  EXPECT_EQ(reader.owners(), world().is_root() ? writing.owner : std::vector<std::int32_t>{});
  reader.load(reading.state());
  EXPECT_EQ(reading.wrong(round), 0);
}

TEST(Checkpoint, EveryLayoutReadsEveryOther) {
  const test::SharedFolder folder(world(), "layouts");
  for (std::uint64_t seed = 1; seed <= 16; ++seed) {
    test::Dice dice(seed + 77);
    const int parts = static_cast<int>(dice.roll(1, 3 * world().size()));
    const int other_parts = static_cast<int>(dice.roll(1, 3 * world().size()));
    write_and_read(folder.path, seed, dice.roll(1, 200), parts, other_parts);
  }
}

TEST(Checkpoint, MorePartsThanRows) {
  const test::SharedFolder folder(world(), "few_rows");
  write_and_read(folder.path, 41, 1, 4 * world().size(), 1);
  write_and_read(folder.path, 42, 2, 1, 4 * world().size());
  write_and_read(folder.path, 43, 5, 9, 11);
}

TEST(Checkpoint, ArraysLongerThanAPiece) {
  // More than the bytes that are hashed and written at once (1 MiB), and not a multiple of them.
  const test::SharedFolder folder(world(), "long_arrays");
  write_and_read(folder.path, 51, 100003, world().size(), 2);
}

TEST(Checkpoint, TheStateIsThatOfBegin) {
  const test::SharedFolder folder(world(), "snapshot");
  CheckpointState state(world(), 3, 500, 2 * world().size());
  CheckpointWriter writer(world(), state.state(), folder.path, 2, "1");
  state.fill(1);
  writer.begin(1, 0.1, "{}");
  state.fill(2);  // the steps go on at once
  // begin() waits for the checkpoint before.
  writer.begin(2, 0.2, "{}");
  state.fill(3);
  writer.finish();
  for (int round = 1; round <= 2; ++round) {
    CheckpointState found(world(), 4, 500, world().size());
    CheckpointReader(world(), folder.path / fmt::format("step-{:012d}.h5", round)).load(found.state());
    EXPECT_EQ(found.wrong(round), 0) << "round " << round;
  }
}

TEST(Checkpoint, ProgressAloneFinishesIt) {
  const test::SharedFolder folder(world(), "progress");
  CheckpointState state(world(), 5, 300, world().size());
  state.fill(7);
  CheckpointWriter writer(world(), state.state(), folder.path, 2, "1");
  writer.progress();  // nothing is under way
  writer.begin(7, 0.7, "{}");
  // Each rank at its own pace, as between steps; without finish().
  const auto limit = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  std::error_code ignored;
  while (!fs::exists(folder.path / "step-000000000007.h5", ignored) && std::chrono::steady_clock::now() < limit) {
    writer.progress();
    std::this_thread::sleep_for(std::chrono::microseconds(100 + 300 * world().rank()));
  }
  EXPECT_TRUE(fs::exists(folder.path / "step-000000000007.h5", ignored));
  writer.finish();
  EXPECT_FALSE(writer.failed());
}

TEST(Checkpoint, AWriterThatGoesFinishesWhatItBegan) {
  const test::SharedFolder folder(world(), "unwound");
  CheckpointState state(world(), 6, 300, 2 * world().size());
  state.fill(8);
  try {
    CheckpointWriter writer(world(), state.state(), folder.path, 2, "1");
    writer.begin(8, 0.8, "{}");
    throw SharedError(ErrorKind::numerical, "an error of all ranks, elsewhere");
  } catch (const SharedError&) {
    world().barrier();
  }
  CheckpointState found(world(), 9, 300, world().size());
  CheckpointReader(world(), folder.path / "step-000000000008.h5").load(found.state());
  EXPECT_EQ(found.wrong(8), 0);
}

TEST(Checkpoint, TheNewestAreKept) {
  const test::SharedFolder folder(world(), "keep");
  CheckpointState state(world(), 6, 50, world().size());
  state.fill(1);
  CheckpointWriter writer(world(), state.state(), folder.path, 2, "1");
  for (const Size step : {9, 10, 99, 100}) writer.begin(step, 1, "{}");
  writer.finish();
  world().barrier();
  EXPECT_THAT(names_in(folder.path), ElementsAre("step-000000000099.h5", "step-000000000100.h5"));
}

TEST(Checkpoint, WhatKilledRunsLeaveGoes) {
  const test::SharedFolder folder(world(), "killed");
  if (world().is_root()) {
    fs::create_directories(folder.path);
    for (const char* name : {"step-000000000003.h5.tmp", "step-000000000008.h5.tmp", "notes.txt", "notes.h5.tmp"})
      std::ofstream(folder.path / name) << "half a checkpoint";
  }
  world().barrier();
  CheckpointState state(world(), 7, 50, world().size());
  CheckpointWriter writer(world(), state.state(), folder.path, 2, "1");
  writer.begin(4, 1, "{}");
  writer.finish();
  world().barrier();
  EXPECT_THAT(names_in(folder.path), ElementsAre("notes.h5.tmp", "notes.txt", "step-000000000004.h5"));
}

TEST(Checkpoint, WhatIsNewerBelongsToARunThatWasGivenUp) {
  // A run goes on from step 10 although 20 and 30 are there. What it writes must not go as "the oldest".
  const test::SharedFolder folder(world(), "given_up");
  CheckpointState state(world(), 8, 50, world().size());
  CheckpointWriter writer(world(), state.state(), folder.path, 2, "1");
  for (const Size step : {20, 30}) writer.begin(step, 1, "{}");
  writer.finish();
  state.fill(5);
  CheckpointWriter again(world(), state.state(), folder.path, 2, "1");
  again.begin(12, 1, "{}");
  again.finish();
  world().barrier();
  EXPECT_THAT(names_in(folder.path), ElementsAre("step-000000000012.h5"));
}

TEST(Checkpoint, NothingIsNamedOrRemovedInAFolderMadeAnew) {
  // Between the last byte of the second checkpoint and its name, the folder goes and another one takes its name: with
  // the same half checkpoint, and with a checkpoint of somebody else's.
  for (const bool with_above : {false, true}) {
    const test::SharedFolder folder(world(), "made_anew");
    const fs::path checkpoints = folder.path / "results" / "checkpoints";
    const fs::path moves = with_above ? folder.path / "results" : checkpoints, to = folder.path / "moved";
    if (world().is_root()) fs::create_directories(checkpoints);
    world().barrier();
    CheckpointState state(world(), 8, 50, world().size());
    state.fill(5);
    int threads = 0;
    const auto replace = [&] {
      if (!world().is_root() || ++threads != 4) return;  // two for each checkpoint; the last closes the second
      fs::rename(moves, to);
      fs::copy(to, moves, fs::copy_options::recursive);
      fs::rename(checkpoints / "step-000000000010.h5", checkpoints / "step-000000000003.h5");
    };
    CheckpointWriter writer(world(), state.state(), checkpoints, 1, "1", replace);
    writer.begin(10, 1, "{}");
    writer.finish();
    writer.begin(20, 2, "{}");
    const std::string said = message_of(ErrorKind::io, [&] { writer.finish(); });
    world().barrier();
    EXPECT_THAT(said, HasSubstr("the folder was moved or removed while a checkpoint was written into it"));
    EXPECT_THAT(names_in(checkpoints), ElementsAre("step-000000000003.h5", "step-000000000020.h5.tmp"));
    EXPECT_THAT(names_in(with_above ? to / "checkpoints" : to), ElementsAre("step-000000000010.h5"));
    world().barrier();
  }
}

TEST(Checkpoint, ANumberThatIsNoneIsFoundOnAllRanks) {
  const test::SharedFolder folder(world(), "nan");
  for (const double bad : {std::nan(""), std::numeric_limits<double>::infinity()}) {
    CheckpointState state(world(), 9, 60, world().size());
    state.fill(1);
    CheckpointWriter writer(world(), state.state(), folder.path, 2, "1");
    writer.begin(1, 0.25, "{}");
    writer.finish();
    int where = -1;
    state.each([&](double& v, std::size_t f, int c, Gid row) {
      if (f == 1 && c == 3 && row == 17) {
        v = bad;
        where = world().rank();
      }
    });
    where = static_cast<int>(world().max(where));
    writer.begin(2, 0.75, "{}");
    const std::string message = message_of(ErrorKind::numerical, [&] { writer.finish(); });
    EXPECT_THAT(message,
                HasSubstr(fmt::format("field 'stress' is not finite in cell 17 (rank {}) at time 0.75", where)));
    EXPECT_THAT(message, HasSubstr("step 2"));
    writer.finish();  // thrown once
    world().barrier();
    EXPECT_THAT(names_in(folder.path), ElementsAre("step-000000000001.h5"));
    world().barrier();
  }
}

TEST(Checkpoint, AFailureOfOneRankIsEveryones) {
  const test::SharedFolder folder(world(), "failing");
  CheckpointState state(world(), 10, 60, 3 * world().size());
  CheckpointWriter writer(world(), state.state(), folder.path, 2, "1");
  // The lowest rank that has a part: it alone fails.
  const int failing = state.rank_of_part.front();
  if (world().rank() == failing) state.before_save = [] { fail(ErrorKind::resource, "no memory for the copy"); };
  const std::string message = message_of(ErrorKind::resource, [&] { writer.begin(1, 0, "{}"); });
  EXPECT_THAT(message, HasSubstr("no memory for the copy"));
  // The run may end here, or try again.
  state.before_save = {};
  state.fill(2);
  writer.begin(2, 0, "{}");
  writer.finish();
  world().barrier();
  EXPECT_THAT(names_in(folder.path), ElementsAre("step-000000000002.h5"));
}

TEST(Checkpoint, APlaceThatCannotBeWritten) {
  const test::SharedFolder folder(world(), "no_place");
  if (world().is_root()) {
    fs::create_directories(folder.path / "taken" / "step-000000000001.h5.tmp" / "full");
    std::ofstream(folder.path / "file") << "";
  }
  world().barrier();
  CheckpointState state(world(), 11, 60, world().size());
  for (const char* name : {"file", "taken"}) {
    CheckpointWriter writer(world(), state.state(), folder.path / name, 2, "1");
    EXPECT_THAT(message_of(ErrorKind::io, [&] { writer.begin(1, 0, "{}"); }), HasSubstr((folder.path / name).string()));
  }
}

TEST(Checkpoint, AnotherProblemIsRefused) {
  const test::SharedFolder folder(world(), "other_problem");
  CheckpointState state(world(), 12, 60, world().size());
  state.fill(1);
  CheckpointWriter writer(world(), state.state(), folder.path, 2, "1");
  writer.begin(1, 0, "{}");
  writer.finish();
  const CheckpointReader reader(world(), find_checkpoints(folder.path).at(0));
  CheckpointState longer(world(), 12, 61, world().size());
  EXPECT_THAT(message_of(ErrorKind::input, [&] { reader.load(longer.state()); }),
              HasSubstr("has 60 rows, the mesh 61"));
  ModelState other = state.state();
  other.fields[1].components = 3;
  EXPECT_THAT(message_of(ErrorKind::input, [&] { reader.load(other); }),
              HasSubstr("no field 'stress' with 3 component"));
  other.fields[1].components = 6;
  other.fields[1].name = "strain";
  EXPECT_THAT(message_of(ErrorKind::input, [&] { reader.load(other); }), HasSubstr("no field 'strain'"));
  reader.load(state.state());
  EXPECT_EQ(state.wrong(1), 0);
}

TEST(Checkpoint, TheNewestComesFirst) {
  const test::SharedFolder folder(world(), "order");
  if (world().is_root()) {
    fs::create_directories(folder.path / "checkpoints");
    for (const char* name : {"step-000000000009.h5", "step-000000000010.h5", "step-1000000000000.h5",
                             "step-000000000011.h5.tmp", "other.h5"})
      std::ofstream(folder.path / "checkpoints" / name) << "";
  }
  world().barrier();
  std::vector<std::string> names;
  for (const auto& path : find_checkpoints(folder.path)) names.push_back(path.filename().string());
  EXPECT_THAT(names, ElementsAre("step-1000000000000.h5", "step-000000000010.h5", "step-000000000009.h5"));
  EXPECT_EQ(find_checkpoints(folder.path / "checkpoints").size(), 3u);
  EXPECT_TRUE(find_checkpoints(folder.path / "nowhere").empty());
}

}  // namespace
}  // namespace tutti
