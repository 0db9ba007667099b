// Checkpoints: the whole state of a run in one HDF5 file, written beside the steps by all ranks at once.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "tutti/base/mpi/comm.hpp"
#include "tutti/io/checkpoint/checkpoint_file.hpp"
#include "tutti/io/checkpoint/checkpoint_folder.hpp"
#include "tutti/io/checkpoint/checkpoint_header.hpp"
#include "tutti/partition/index_map.hpp"

namespace tutti {

/// A field that a run needs to go on: what its model knows how to take off its devices and put back.
struct StateField {
  std::string name;
  int components = 1;
  /// Copies the owned rows of one of this rank's parts to host memory: [owned][components]. Takes no device memory.
  std::function<void(std::size_t part, std::span<double> values)> save;
  std::function<void(std::size_t part, std::span<const double> values)> load;
};

/// A number that a run needs to go on and that is the same on all ranks.
struct StateNumber {
  std::string name;
  double* value = nullptr;
};

/// Everything of a model that a checkpoint keeps. `maps` and `rank_of_part` are the model's and outlive this.
struct ModelState {
  std::vector<StateField> fields;
  std::vector<StateNumber> numbers;
  std::span<const IndexMap> maps;     ///< of this rank's parts
  std::span<const int> rank_of_part;  ///< of all parts
  Gid rows = 0;                       ///< of the whole problem
  std::uint64_t mesh_checksum = 0;    ///< what the rows are
  /// A model that keeps no state cannot be checkpointed.
  bool empty() const { return fields.empty(); }
};

/// Writes checkpoints into a folder: `step-<step>.h5`. Each is written under a temporary name by every rank at once,
/// made durable (fsync), given its checksums and then its name; the folder is made durable, too, and only then the
/// oldest goes. What is on disk under a checkpoint's name is therefore whole. begin() copies the state and returns; the
/// rest happens on a thread a rank, which takes little of a core: most bytes go past the system's cache. What killed
/// runs have left under temporary names goes, and so do checkpoints of later steps than the one just written: those of
/// a run that was given up for an older checkpoint. Where the folder is moved or replaced meanwhile, nothing is named
/// or removed in what has its name now (checkpoint_folder.hpp).
class CheckpointWriter {
 public:
  /// Keeps the newest `keep` (>= 1) checkpoints. Collective. `state` is copied; `prepare_thread` is called on each
  /// thread that writes (e.g. to let it run on all cores).
  CheckpointWriter(const Comm& comm, ModelState state, std::filesystem::path folder, int keep, std::string version,
                   std::function<void()> prepare_thread = {});
  ~CheckpointWriter();
  CheckpointWriter(const CheckpointWriter&) = delete;
  CheckpointWriter& operator=(const CheckpointWriter&) = delete;

  /// Copies the state after `step` steps and starts to write it, once the checkpoint before is done. `meta` is JSON
  /// text. Collective. Error(io) on all ranks; errors of the checkpoint before are thrown, too.
  void begin(Size step, double time, const std::string& meta);
  /// Moves on what is under way and never waits. Call it every step, on all ranks, not necessarily at the same time.
  void progress();
  /// Something went wrong and finish() will throw it. Not collective.
  bool failed() const { return failure_.has_value(); }
  /// Waits until the checkpoint is whole. Collective. Errors on all ranks: io (path, bytes, cause), numerical (a value
  /// that is not finite, with its field, row, rank and time). An older checkpoint stays.
  void finish();

  /// What was written last.
  struct Report {
    Size step = 0;
    Size bytes = 0;
    double seconds = 0;  ///< from begin() to its name
  };
  /// The report of a checkpoint that was finished since the last call. On the root.
  std::optional<Report> take_report();
  /// Seconds that begin() and finish() kept the run from its steps.
  double blocked_seconds() const { return blocked_; }

 private:
  enum class Stage : std::uint8_t { idle, writing, gathering, closing, telling };
  struct Failure {
    int kind = 0;  ///< 0: none; else the exit code
    char message[500] = "";
  };
  struct Slab;
  /// What the writing thread waits for.
  enum class Copied : std::uint8_t { not_yet, all, never };
  /// A part's values of a field while they are written.
  struct Copy {
    explicit Copy(std::size_t size);
    void place(Size offset);
    std::vector<double> memory;  ///< somewhat more than the values
    std::span<double> values;
  };
  void start(std::function<void()> work);
  void write_mine();
  void make_file(const std::string& meta);
  void require_finite(std::size_t f, std::size_t part, std::size_t first, std::size_t count) const;
  void close_file();
  void remove_temporary();
  void post_gather();
  void post_result();
  std::vector<Slab> slabs_of(int rank) const;

  const Comm& comm_;
  MPI_Comm own_comm_ = MPI_COMM_NULL;  ///< so that its messages do not mix with those of the steps
  ModelState state_;
  std::filesystem::path folder_;
  std::optional<CheckpointFolder> held_;  ///< the same, on the root
  int keep_;
  std::string version_;
  std::function<void()> prepare_thread_;
  std::vector<Size> part_begin_;
  std::vector<std::vector<Copy>> copies_;  ///< [field][my part]

  Stage stage_ = Stage::idle;
  CheckpointPlaces places_;
  std::filesystem::path temporary_;
  Size step_ = 0;
  double time_ = 0;
  std::chrono::steady_clock::time_point begun_;
  std::thread thread_;
  std::atomic<bool> thread_done_{false};
  std::atomic<Copied> copied_{Copied::not_yet};
  /// What messages read and write.
  struct Messages {
    Failure mine, result;
    std::vector<Failure> all;
    std::vector<std::uint64_t> hashes, all_hashes;
    std::vector<int> hash_counts, hash_offsets;
  };
  std::unique_ptr<Messages> messages_ = std::make_unique<Messages>();
  std::vector<std::optional<std::uint64_t>> number_hashes_;  ///< of the rows' numbers, one a part of this rank
  std::vector<MPI_Request> requests_;
  std::optional<Failure> failure_;
  std::optional<Report> report_;
  double blocked_ = 0;
};

/// A checkpoint whose checksums have been verified, by all ranks together, before anything else looked at it.
class CheckpointReader {
 public:
  /// Collective. Error(input) on all ranks: damaged, cut off, of another format. Error(io): cannot be read.
  CheckpointReader(const Comm& comm, const std::filesystem::path& path);

  const std::filesystem::path& path() const { return path_; }
  const CheckpointHeader& header() const { return header_; }
  const CheckpointFrame& frame() const { return file_->frame(); }
  /// The part of every row when it was written, in global order. On the root; others get an empty vector.
  std::vector<std::int32_t> owners() const;
  /// Gives every part of this run its rows, whoever wrote them. Collective. Error(input): fields or rows do not fit.
  void load(const ModelState& state) const;

 private:
  const Comm& comm_;
  std::filesystem::path path_;
  CheckpointHeader header_;
  std::optional<CheckpointFile> file_;
};

/// The file of a step's checkpoint in a folder of checkpoints.
std::filesystem::path checkpoint_name(const std::filesystem::path& folder, Size step);
/// The checkpoints in a folder, or in its folder "checkpoints", the newest first. Error(io): it cannot be read.
std::vector<std::filesystem::path> find_checkpoints(const std::filesystem::path& folder);

}  // namespace tutti
