#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cmath>
#include <cstring>
#include <new>

#include "tutti/base/hash.hpp"
#include "tutti/base/system/atomic_file.hpp"
#include "tutti/base/system/fault.hpp"
#include "tutti/base/system/refused_memory.hpp"
#include "tutti/base/system/start_thread.hpp"
#include "tutti/base/units.hpp"
#include "tutti/io/checkpoint/checkpoint.hpp"
#include "tutti/io/checkpoint/checkpoint_output.hpp"

namespace tutti {

namespace fs = std::filesystem;

fs::path checkpoint_name(const fs::path& folder, Size step) {
  return folder / fmt::format("step-{:012d}.h5", step);
}

namespace {

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
  std::size_t part = 0;  ///< of the rank's
  int array = -1;        ///< -1: global numbers; else the field
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
  for (std::size_t i = 0; i < all.size(); i += 2) part_begin_[all[i] + 1] = all[i + 1];
  for (std::size_t p = 1; p < part_begin_.size(); ++p) part_begin_[p] += part_begin_[p - 1];
  require(part_begin_.back() == state_.rows, "{} rows in all parts, {} in the state", part_begin_.back(), state_.rows);

  for (const StateField& field : state_.fields) {
    auto& parts = copies_.emplace_back();
    for (const IndexMap& map : state_.maps)
      parts.emplace_back(static_cast<std::size_t>(map.owned) * static_cast<std::size_t>(field.components));
  }
  comm_.together([&] {
    if (!comm_.is_root()) return;
    held_.emplace(folder_);
    remove_temporaries(folder_);
  });
  // A rank's checksums travel in the order of slabs_of.
  const int arrays = 1 + static_cast<int>(state_.fields.size());
  messages_->hash_counts.assign(comm_.size(), 0);
  for (const int rank : state_.rank_of_part) messages_->hash_counts[rank] += arrays;
  int at = 0;
  for (const int count : messages_->hash_counts) {
    messages_->hash_offsets.push_back(at);
    at += count;
  }
  messages_->all_hashes.resize(at);
  messages_->all.resize(comm_.size());
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
  std::size_t part = 0;
  for (std::size_t p = 0; p + 1 < part_begin_.size(); ++p) {
    if (state_.rank_of_part[p] != rank) continue;
    const auto add = [&](int array, Size begin, Size width) {
      slabs.push_back({part, array, begin + part_begin_[p] * width, (part_begin_[p + 1] - part_begin_[p]) * width});
    };
    add(-1, places_.global, sizeof(Gid));
    for (std::size_t f = 0; f < state_.fields.size(); ++f)
      add(static_cast<int>(f), places_.field_begins[f],
          state_.fields[f].components * static_cast<Size>(sizeof(double)));
    ++part;
  }
  return slabs;
}

void CheckpointWriter::start(std::function<void()> work) {
  thread_done_ = false;
  thread_ = start_thread("writing checkpoints", [this, work = std::move(work)] {
    if (prepare_thread_) prepare_thread_();
    messages_->mine = {};
    const auto failed = [&](int kind, const char* message) {
      messages_->mine.kind = kind;
      std::strncpy(messages_->mine.message, message, sizeof(messages_->mine.message) - 1);
    };
    try {
      work();
    } catch (const Error& error) {
      failed(error.exit_code(), error.what());
    } catch (const std::bad_alloc&) {
      failed(static_cast<int>(ErrorKind::resource), no_memory_message().c_str());
    } catch (const std::exception& error) {
      failed(static_cast<int>(ErrorKind::io), error.what());
    }
    thread_done_.store(true, std::memory_order_release);
  });
}

/// On the root: the file without its values.
void CheckpointWriter::make_file(const std::string& meta) {
  held_->open();
  remove_temporaries(held_->inside());
  CheckpointFrame frame;
  frame.meta = meta;
  frame.part_begin = part_begin_;
  for (const StateField& field : state_.fields) frame.fields.push_back({field.name, field.components});
  places_ = create_checkpoint_file(temporary_, frame);
  try {
    held_->require(temporary_.filename().string());
  } catch (const Error&) {
    ::unlink(temporary_.c_str());  // it was made there a moment ago
    throw;
  }
}

void CheckpointWriter::remove_temporary() {
  if (held_) held_->remove(temporary_.filename().string());
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
    make_file(meta);
    numbers = {places_.file_bytes, places_.global};
    numbers.insert(numbers.end(), places_.field_begins.begin(), places_.field_begins.end());
  });
  comm_.broadcast(numbers);
  places_ = {numbers[0], numbers[1], {numbers.begin() + 2, numbers.end()}};
  for (const Slab& slab : slabs_of(comm_.rank()))
    if (slab.array >= 0) copies_[slab.array][slab.part].place(slab.offset);
  // The rows' numbers do not change: they go to the disk while the state is copied.
  copied_ = Copied::not_yet;
  start([this] { write_mine(); });
  const auto tell_thread = [&](Copied copied) {
    copied_ = copied;
    copied_.notify_one();
  };
  try {
    comm_.together([&] {
      for (std::size_t f = 0; f < copies_.size(); ++f)
        for (std::size_t p = 0; p < copies_[f].size(); ++p) state_.fields[f].save(p, copies_[f][p].values);
    });
  } catch (...) {
    tell_thread(Copied::never);
    thread_.join();
    remove_temporary();
    throw;
  }
  tell_thread(Copied::all);
  stage_ = Stage::writing;
  blocked_ += std::chrono::duration<double>(std::chrono::steady_clock::now() - start_time).count();
}

/// Moves the values to where they leave the same remainder as their place in the file: so they are written from there.
void CheckpointWriter::Copy::place(Size offset) {
  constexpr std::size_t block = CheckpointOutput::block;
  const auto address = reinterpret_cast<std::uintptr_t>(memory.data());
  const std::size_t shift = (static_cast<std::size_t>(offset) % block + block - address % block) % block;
  values = std::span(memory).subspan(shift / sizeof(double), memory.size() - block / sizeof(double));
}

CheckpointWriter::Copy::Copy(std::size_t size)
    : memory(size + CheckpointOutput::block / sizeof(double)), values(std::span(memory).first(size)) {}

/// `count` values from `first` on, of a field on one of this rank's parts. Error(numerical) names the cell.
void CheckpointWriter::require_finite(std::size_t f, std::size_t part, std::size_t first, std::size_t count) const {
  const auto values = copies_[f][part].values.subspan(first, count);
  const auto bad = std::find_if(values.begin(), values.end(), [](double v) { return !std::isfinite(v); });
  if (bad == values.end()) return;
  const StateField& field = state_.fields[f];
  const std::size_t row =
      (first + static_cast<std::size_t>(bad - values.begin())) / static_cast<std::size_t>(field.components);
  fail(ErrorKind::numerical,
       "field '{}' is not finite in cell {} (rank {}) at time {:g}, step {}; the previous checkpoint is kept: lower "
       "time.dt or check the input",
       field.name, state_.maps[part].global[row], comm_.rank(), time_, step_);
}

void CheckpointWriter::write_mine() {
  fault_point("checkpoint-write");
  const auto slabs = slabs_of(comm_.rank());
  messages_->hashes.assign(slabs.size(), 0);
  if (slabs.empty()) return;
  CheckpointOutput file(temporary_, O_WRONLY);
  number_hashes_.resize(state_.maps.size());
  for (std::size_t s = 0; s < slabs.size(); ++s) {
    if (slabs[s].array >= 0) continue;
    const IndexMap& map = state_.maps[slabs[s].part];
    auto& known = number_hashes_[slabs[s].part];
    const auto numbers = std::span<const Gid>(map.global).first(map.owned);
    Hasher hash;
    file.write_large(detail::as_chars(numbers), slabs[s].offset, [&](std::span<const char> piece) {
      if (!known) hash.add(piece);
    });
    if (!known) known = hash.digest();
    messages_->hashes[s] = *known;
  }
  copied_.wait(Copied::not_yet);
  if (copied_ == Copied::never) return;
  Size written = 0;
  for (std::size_t s = 0; s < slabs.size(); ++s) {
    written += slabs[s].bytes;
    if (slabs[s].array < 0) continue;
    const auto field = static_cast<std::size_t>(slabs[s].array);
    Hasher hash;
    std::size_t at = 0;
    file.write_large(detail::as_chars(std::span<const double>(copies_[field][slabs[s].part].values)), slabs[s].offset,
                     [&](std::span<const char> piece) {
                       const std::size_t count = piece.size() / sizeof(double);
                       require_finite(field, slabs[s].part, std::exchange(at, at + count), count);
                       hash.add(piece);
                     });
    messages_->hashes[s] = hash.digest();
  }
  file.sync(written);
  file.close(written);
}

void CheckpointWriter::post_gather() {
  messages_->hashes.resize(messages_->hash_counts[comm_.rank()]);
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

  CheckpointOutput file(temporary_, O_RDWR);
  std::vector<Segment> whole;
  Size at = checkpoint_header_bytes;
  const auto fill = [&](Size end) {
    if (end <= at) return;
    std::vector<char> bytes(end - at);
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

  const std::string name = checkpoint_name(folder_, step_).filename().string();
  held_->rename(temporary_.filename().string(), name, header.file_bytes);
  report_ = Report{step_, header.file_bytes,
                   std::chrono::duration<double>(std::chrono::steady_clock::now() - begun_).count()};
  // A run that went on from an older checkpoint has given up the newer ones; they must not count as the newest.
  std::vector<fs::path> all;
  try {
    all = find_checkpoints(held_->inside());
  } catch (const Error&) {  // they take space, no more
  }
  const auto mine = static_cast<std::size_t>(std::find(all.begin(), all.end(), held_->inside() / name) - all.begin());
  for (std::size_t i = 0; i < all.size(); ++i)
    if (i < mine || i >= mine + static_cast<std::size_t>(keep_)) held_->remove(all[i].filename().string());
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
                       "another rank was lost while a checkpoint was written; restart from the previous one"};
    stage_ = Stage::idle;
    return;
  }
  if (done == 0) return;
  requests_.clear();
  if (stage_ == Stage::gathering) {
    for (const Failure& f : messages_->all)
      if (f.kind != 0) {
        remove_temporary();
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
      remove_temporary();
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
