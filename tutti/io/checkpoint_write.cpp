#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cmath>
#include <cstring>

#include "tutti/base/fault.hpp"
#include "tutti/base/hash.hpp"
#include "tutti/base/units.hpp"
#include "tutti/io/checkpoint.hpp"

namespace tutti {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t piece = std::size_t{1} << 20;  // bytes looked at, hashed and written while they are in the cache
constexpr const char* advice =
    "the checkpoint before it is kept; free space or choose another disk, then go on with --restart";

/// A file that closes itself; failures carry path, bytes and cause.
class File {
 public:
  File(fs::path path, int flags) : path_(std::move(path)), file_(::open(path_.c_str(), flags | O_CLOEXEC, 0666)) {
    if (file_ < 0) fail(ErrorKind::io, "{}: cannot be opened: {}; {}", path_.string(), std::strerror(errno), advice);
  }
  ~File() {
    if (file_ >= 0) ::close(file_);
  }
  File(const File&) = delete;
  File& operator=(const File&) = delete;

  void write(std::span<const char> bytes, Size offset) const {
    std::size_t written = 0;
    while (written < bytes.size()) {
      const ssize_t n = ::pwrite(file_, bytes.data() + written, bytes.size() - written,
                                 static_cast<off_t>(offset) + static_cast<off_t>(written));
      if (n < 0 && errno == EINTR) continue;
      if (n <= 0)
        fail(ErrorKind::io, "{}: {} of {} bytes written at byte {}, then: {}; {}", path_.string(), written,
             bytes.size(), offset, n < 0 ? std::strerror(errno) : "nothing more was taken", advice);
      written += static_cast<std::size_t>(n);
    }
  }
  void read(std::span<char> bytes, Size offset) const {
    std::size_t done = 0;
    while (done < bytes.size()) {
      const ssize_t n = ::pread(file_, bytes.data() + done, bytes.size() - done,
                                static_cast<off_t>(offset) + static_cast<off_t>(done));
      if (n < 0 && errno == EINTR) continue;
      if (n <= 0)
        fail(ErrorKind::io, "{}: cannot be read back at byte {}: {}; {}", path_.string(), offset,
             n < 0 ? std::strerror(errno) : "the file ends", advice);
      done += static_cast<std::size_t>(n);
    }
  }
  /// Lets the disk begin with what was written, while the next piece is looked at.
  void start_writing(Size offset, Size bytes) const { ::sync_file_range(file_, offset, bytes, SYNC_FILE_RANGE_WRITE); }
  /// `bytes`: what was written, for the message.
  void sync(Size bytes) const {
    if (::fsync(file_) != 0)
      fail(ErrorKind::io, "{}: {} bytes cannot be made durable (fsync): {}; {}", path_.string(), bytes,
           std::strerror(errno), advice);
  }
  void close(Size bytes) {
    if (::close(std::exchange(file_, -1)) != 0)
      fail(ErrorKind::io, "{}: cannot be closed after {} bytes: {}; {}", path_.string(), bytes, std::strerror(errno),
           advice);
  }

 private:
  fs::path path_;
  int file_;
};

fs::path checkpoint_name(const fs::path& folder, Size step) {
  return folder / fmt::format("step-{:012d}.h5", step);
}

/// Makes names durable that were given or taken in a folder.
void sync_folder(const fs::path& folder) {
  const int file = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  const int cause = file < 0 || ::fsync(file) != 0 ? errno : 0;
  if (file >= 0) ::close(file);
  if (cause != 0)
    fail(ErrorKind::io, "{}: the folder cannot be made durable (fsync): {}; {}", folder.string(), std::strerror(cause),
         advice);
}

/// Runs that were killed leave what they were writing. Errors are ignored: it takes space, no more.
void remove_temporaries(const fs::path& folder) {
  std::error_code error;
  std::vector<fs::path> found;
  for (fs::directory_iterator it(folder, error); !error && it != fs::directory_iterator(); it.increment(error)) {
    const std::string name = it->path().filename().string();
    if (name.starts_with("step-") && name.ends_with(".h5.tmp")) found.push_back(it->path());
  }
  for (const fs::path& path : found) ::unlink(path.c_str());
}

}  // namespace

/// One part's rows of one array: a run of bytes in the file.
struct CheckpointWriter::Slab {
  int part = 0;    ///< of all
  int array = -1;  ///< -1: global numbers; else the field
  Size offset = 0, bytes = 0;
};

CheckpointWriter::CheckpointWriter(const Comm& comm, ModelState state, fs::path folder, int keep, std::string version,
                                   std::function<void()> prepare_thread)
    : comm_(comm),
      state_(std::move(state)),
      folder_(std::move(folder)),
      keep_(std::max(keep, 1)),
      version_(std::move(version)),
      prepare_thread_(std::move(prepare_thread)) {
  check_mpi(MPI_Comm_dup(comm_.handle(), &own_comm_), "MPI_Comm_dup");
  MPI_Comm_set_errhandler(own_comm_, MPI_ERRORS_RETURN);
  std::vector<Size> mine;
  for (const IndexMap& map : state_.maps) {
    mine.push_back(map.part);
    mine.push_back(map.owned);
  }
  const auto all = comm_.all_gather(std::span<const Size>(mine));
  part_begin_.assign(state_.rank_of_part.size() + 1, 0);
  for (std::size_t i = 0; i < all.size(); i += 2) part_begin_[static_cast<std::size_t>(all[i]) + 1] = all[i + 1];
  for (std::size_t p = 1; p < part_begin_.size(); ++p) part_begin_[p] += part_begin_[p - 1];
  require(part_begin_.back() == state_.rows, "{} rows in all parts, {} in the state", part_begin_.back(), state_.rows);

  for (const StateField& field : state_.fields) {
    auto& parts = values_.emplace_back();
    for (const IndexMap& map : state_.maps)
      parts.emplace_back(static_cast<std::size_t>(map.owned) * static_cast<std::size_t>(field.components));
  }
  comm_.together([&] {
    if (comm_.is_root()) remove_temporaries(folder_);
  });
  // A rank's checksums travel in the order of slabs_of.
  const int arrays = 1 + static_cast<int>(state_.fields.size());
  messages_->hash_counts.assign(static_cast<std::size_t>(comm_.size()), 0);
  for (const int rank : state_.rank_of_part) messages_->hash_counts[static_cast<std::size_t>(rank)] += arrays;
  int at = 0;
  for (const int count : messages_->hash_counts) {
    messages_->hash_offsets.push_back(at);
    at += count;
  }
  messages_->all_hashes.resize(static_cast<std::size_t>(at));
  messages_->all.resize(static_cast<std::size_t>(comm_.size()));
}

/// After an error of all ranks together, each comes here and the checkpoint that was begun is finished: it is a good
/// one. Where another rank is gone, nobody answers.
CheckpointWriter::~CheckpointWriter() {
  constexpr auto patience = std::chrono::seconds(60);  // for messages; the root may be at the disk meanwhile
  auto asked = std::chrono::steady_clock::now();
  try {
    while (stage_ != Stage::idle) {
      progress();
      const auto now = std::chrono::steady_clock::now();
      if (requests_.empty()) asked = now;
      if (now - asked > patience) break;
      std::this_thread::sleep_for(std::chrono::microseconds(100));
    }
  } catch (const std::exception&) {
    // The error that ends the run is told already.
  }
  if (thread_.joinable()) thread_.join();
  if (requests_.empty()) {
    if (own_comm_ != MPI_COMM_NULL) MPI_Comm_free(&own_comm_);
    return;
  }
  // Messages that may still come are given their memory for good; a collective one cannot be cancelled.
  static_cast<void>(messages_.release());
}

std::vector<CheckpointWriter::Slab> CheckpointWriter::slabs_of(int rank) const {
  std::vector<Slab> slabs;
  for (std::size_t p = 0; p + 1 < part_begin_.size(); ++p) {
    if (state_.rank_of_part[p] != rank) continue;
    const auto add = [&](int array, Size begin, Size width) {
      slabs.push_back(
          {static_cast<int>(p), array, begin + part_begin_[p] * width, (part_begin_[p + 1] - part_begin_[p]) * width});
    };
    add(-1, places_.global, sizeof(Gid));
    for (std::size_t f = 0; f < state_.fields.size(); ++f)
      add(static_cast<int>(f), places_.field_begins[f],
          state_.fields[f].components * static_cast<Size>(sizeof(double)));
  }
  return slabs;
}

void CheckpointWriter::start(std::function<void()> work) {
  thread_done_ = false;
  thread_ = std::thread([this, work = std::move(work)] {
    if (prepare_thread_) prepare_thread_();
    messages_->mine = {};
    try {
      work();
    } catch (const Error& error) {
      messages_->mine.kind = error.exit_code();
      std::strncpy(messages_->mine.message, error.what(), sizeof(messages_->mine.message) - 1);
    } catch (const std::exception& error) {
      messages_->mine.kind = static_cast<int>(ErrorKind::io);
      std::strncpy(messages_->mine.message, error.what(), sizeof(messages_->mine.message) - 1);
    }
    thread_done_.store(true, std::memory_order_release);
  });
}

void CheckpointWriter::begin(Size step, double time, const std::string& meta) {
  finish();
  const auto start_time = std::chrono::steady_clock::now();
  begun_ = start_time;
  step_ = step;
  time_ = time;
  temporary_ = checkpoint_name(folder_, step);
  temporary_ += ".tmp";
  std::vector<Size> numbers;
  comm_.together([&] {
    if (!comm_.is_root()) return;
    std::error_code error;
    fs::create_directories(folder_, error);
    if (error) fail(ErrorKind::io, "{}: the folder cannot be made: {}", folder_.string(), system_cause(error.value()));
    remove_temporaries(folder_);
    CheckpointFrame frame;
    frame.meta = meta;
    frame.part_begin = part_begin_;
    for (const StateField& field : state_.fields) frame.fields.push_back({field.name, field.components});
    const CheckpointPlaces places = create_checkpoint_file(temporary_, frame);
    numbers = {places.file_bytes, places.global};
    numbers.insert(numbers.end(), places.field_begins.begin(), places.field_begins.end());
  });
  comm_.broadcast(numbers);
  places_ = {numbers[0], numbers[1], {numbers.begin() + 2, numbers.end()}};
  comm_.together([&] {
    for (std::size_t f = 0; f < values_.size(); ++f)
      for (std::size_t p = 0; p < values_[f].size(); ++p) state_.fields[f].save(p, values_[f][p]);
  });
  start([this] { write_mine(); });
  stage_ = Stage::writing;
  blocked_ += std::chrono::duration<double>(std::chrono::steady_clock::now() - start_time).count();
}

/// Values from `first` on, `bytes` of them, of a field on one of this rank's parts. Error(numerical) names the cell.
void CheckpointWriter::require_finite(std::size_t f, std::size_t part, std::size_t first, std::size_t bytes) const {
  const auto values = std::span(values_[f][part]).subspan(first, bytes / sizeof(double));
  const auto bad = std::find_if(values.begin(), values.end(), [](double v) { return !std::isfinite(v); });
  if (bad == values.end()) return;
  const StateField& field = state_.fields[f];
  const std::size_t row =
      (first + static_cast<std::size_t>(bad - values.begin())) / static_cast<std::size_t>(field.components);
  fail(ErrorKind::numerical,
       "field '{}' is not finite in cell {} (rank {}) at time {:g}, step {}; the checkpoint before it is kept: "
       "lower time.dt or look at the input",
       field.name, state_.maps[part].global[row], comm_.rank(), time_, step_);
}

void CheckpointWriter::write_mine() {
  fault_point("checkpoint-write");
  messages_->hashes.clear();
  const auto slabs = slabs_of(comm_.rank());
  if (slabs.empty()) return;
  File file(temporary_, O_WRONLY);
  std::size_t mine = 0;  // which of this rank's parts
  Size written = 0;
  for (std::size_t s = 0; s < slabs.size(); ++s) {
    const Slab& slab = slabs[s];
    if (s > 0 && slabs[s - 1].part != slab.part) ++mine;
    const IndexMap& map = state_.maps[mine];
    // The rows' numbers are the same in every checkpoint; their checksum is known after the first.
    const bool numbers = slab.array < 0, known = numbers && mine < number_hashes_.size();
    const auto bytes =
        numbers ? detail::as_chars(std::span<const Gid>(map.global).first(static_cast<std::size_t>(map.owned)))
                : detail::as_chars(std::span<const double>(values_[static_cast<std::size_t>(slab.array)][mine]));
    Hasher hash;
    for (std::size_t at = 0; at < bytes.size(); at += piece) {
      const auto part = bytes.subspan(at, std::min(piece, bytes.size() - at));
      if (!numbers) require_finite(static_cast<std::size_t>(slab.array), mine, at / sizeof(double), part.size());
      if (!known) hash.add(part);
      file.write(part, slab.offset + static_cast<Size>(at));
      file.start_writing(slab.offset + static_cast<Size>(at), static_cast<Size>(part.size()));
    }
    if (numbers && !known) number_hashes_.push_back(hash.digest());
    messages_->hashes.push_back(known ? number_hashes_[mine] : hash.digest());
    written += slab.bytes;
  }
  file.sync(written);
  file.close(written);
}

void CheckpointWriter::post_gather() {
  messages_->hashes.resize(static_cast<std::size_t>(messages_->hash_counts[static_cast<std::size_t>(comm_.rank())]));
  requests_.assign(2, MPI_REQUEST_NULL);
  check_mpi(MPI_Iallgather(&messages_->mine, sizeof(Failure), MPI_CHAR, messages_->all.data(), sizeof(Failure),
                           MPI_CHAR, own_comm_, &requests_[0]),
            "MPI_Iallgather");
  check_mpi(MPI_Igatherv(messages_->hashes.data(), static_cast<int>(messages_->hashes.size()), MPI_UINT64_T,
                         messages_->all_hashes.data(), messages_->hash_counts.data(), messages_->hash_offsets.data(),
                         MPI_UINT64_T, 0, own_comm_, &requests_[1]),
            "MPI_Igatherv");
}

void CheckpointWriter::post_result() {
  messages_->result = messages_->mine;
  requests_.assign(1, MPI_REQUEST_NULL);
  check_mpi(MPI_Ibcast(&messages_->result, sizeof(Failure), MPI_CHAR, 0, own_comm_, requests_.data()), "MPI_Ibcast");
}

/// On the root: checksums of what HDF5 itself wrote between the arrays, the table, the header, and the name.
void CheckpointWriter::close_file() {
  std::vector<Segment> segments;
  std::size_t next_hash = 0;
  for (int rank = 0; rank < comm_.size(); ++rank)
    for (const Slab& slab : slabs_of(rank)) {
      const std::uint64_t hash = messages_->all_hashes[next_hash++];
      if (slab.bytes > 0) segments.push_back({slab.offset, slab.bytes, hash});
    }
  std::sort(segments.begin(), segments.end(), [](const Segment& a, const Segment& b) { return a.offset < b.offset; });

  File file(temporary_, O_RDWR);
  std::vector<Segment> whole;
  Size at = checkpoint_header_bytes;
  const auto fill = [&](Size end) {
    if (end <= at) return;
    std::vector<char> bytes(static_cast<std::size_t>(end - at));
    file.read(bytes, at);
    whole.push_back({at, end - at, hash_bytes(bytes)});
  };
  for (const Segment& segment : segments) {
    fill(segment.offset);
    whole.push_back(segment);
    at = segment.offset + segment.bytes;
  }
  fill(places_.file_bytes);

  const auto table = format_segment_table(whole);
  CheckpointHeader header;
  header.version = version_;
  header.step = step_;
  header.table_offset = places_.file_bytes;
  header.segments = static_cast<Size>(whole.size());
  header.file_bytes = places_.file_bytes + static_cast<Size>(table.size());
  header.table_hash = hash_bytes(table);
  file.write(table, places_.file_bytes);
  file.write(format_checkpoint_header(header), 0);
  file.sync(header.file_bytes);
  file.close(header.file_bytes);

  const fs::path name = checkpoint_name(folder_, step_);
  if (::rename(temporary_.c_str(), name.c_str()) != 0)
    fail(ErrorKind::io, "{}: {} bytes are written but cannot be given their name: {}; {}", temporary_.string(),
         header.file_bytes, std::strerror(errno), advice);
  sync_folder(folder_);
  report_ = Report{step_, header.file_bytes,
                   std::chrono::duration<double>(std::chrono::steady_clock::now() - begun_).count()};
  // A run that went on from an older checkpoint has given up the newer ones; they must not count as the newest.
  const auto all = find_checkpoints(folder_);
  const auto mine = static_cast<std::size_t>(std::find(all.begin(), all.end(), name) - all.begin());
  for (std::size_t i = 0; i < all.size(); ++i)
    if (i < mine || i >= mine + static_cast<std::size_t>(keep_)) ::unlink(all[i].c_str());
}

void CheckpointWriter::progress() {
  if (stage_ == Stage::idle) return;
  if (stage_ == Stage::writing || (stage_ == Stage::closing && comm_.is_root())) {
    if (!thread_done_.load(std::memory_order_acquire)) return;
    thread_.join();
    if (stage_ == Stage::writing) {
      post_gather();
      stage_ = Stage::gathering;
    } else {
      post_result();
      stage_ = Stage::telling;
    }
  }
  int done = 0;
  if (MPI_Testall(static_cast<int>(requests_.size()), requests_.data(), &done, MPI_STATUSES_IGNORE) != MPI_SUCCESS) {
    requests_.clear();
    failure_ = Failure{static_cast<int>(ErrorKind::peer),
                       "another rank was lost while a checkpoint was written; start again from the one before"};
    stage_ = Stage::idle;
    return;
  }
  if (done == 0) return;
  requests_.clear();
  if (stage_ == Stage::gathering) {
    for (const Failure& f : messages_->all)
      if (f.kind != 0) {
        if (comm_.is_root()) ::unlink(temporary_.c_str());
        failure_ = f;
        stage_ = Stage::idle;
        return;
      }
    messages_->mine = {};
    if (comm_.is_root()) {
      start([this] { close_file(); });
      stage_ = Stage::closing;
    } else {
      post_result();
      stage_ = Stage::telling;
    }
  } else if (stage_ == Stage::telling) {
    if (messages_->result.kind != 0) {
      if (comm_.is_root()) ::unlink(temporary_.c_str());
      failure_ = messages_->result;
    }
    stage_ = Stage::idle;
  }
}

void CheckpointWriter::finish() {
  const auto start_time = std::chrono::steady_clock::now();
  while (stage_ != Stage::idle) {
    progress();
    if (stage_ != Stage::idle) std::this_thread::sleep_for(std::chrono::microseconds(100));
  }
  blocked_ += std::chrono::duration<double>(std::chrono::steady_clock::now() - start_time).count();
  if (!failure_) return;
  const Failure failure = *std::exchange(failure_, std::nullopt);
  throw SharedError(static_cast<ErrorKind>(failure.kind), failure.message);
}

std::optional<CheckpointWriter::Report> CheckpointWriter::take_report() {
  if (stage_ != Stage::idle) return std::nullopt;
  return std::exchange(report_, std::nullopt);
}

}  // namespace tutti
