#include "tutti/io/line_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <limits>
#include <utility>

#include "tutti/base/error.hpp"
#include "tutti/base/log.hpp"
#include "tutti/base/system/atomic_file.hpp"

namespace tutti {
namespace {

/// Calls `look` with each whole line of a file (without its break) and the place where it begins. False: cannot be
/// read.
bool each_line(int file, const std::function<void(std::string_view line, Size begin)>& look) {
  std::vector<char> block(std::size_t{1} << 20);
  std::string open_line;
  Size begin = 0;
  for (Size at = 0;;) {
    const ssize_t n = ::pread(file, block.data(), block.size(), at);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return n == 0;
    at += n;
    std::string_view rest(block.data(), static_cast<std::size_t>(n));
    for (std::size_t end = rest.find('\n'); end != std::string_view::npos; end = rest.find('\n')) {
      open_line += rest.substr(0, end);
      look(open_line, begin);
      begin += static_cast<Size>(open_line.size()) + 1;
      open_line.clear();
      rest.remove_prefix(end + 1);
    }
    open_line += rest;
  }
}

/// What of an earlier file stays.
struct Kept {
  std::vector<std::pair<Size, Size>> ranges;  ///< of bytes, ascending; with the head
  Size bytes = 0, lines = 0, others = 0;      ///< others: lines that are none of this file's
  bool same_head = false;
  double last = -std::numeric_limits<double>::infinity();
  void add(Size begin, Size end) {
    if (!ranges.empty() && ranges.back().second == begin)
      ranges.back().second = end;
    else
      ranges.emplace_back(begin, end);
    bytes += end - begin;
  }
  bool is_beginning() const { return ranges.size() == 1 && ranges[0].first == 0; }
};

/// Copies a file to one beside it whose name is free. Error(io).
std::filesystem::path keep_beside(const std::filesystem::path& path) {
  std::error_code error;
  for (int number = 1;; ++number) {
    std::filesystem::path beside =
        path.string() + (number == 1 ? ".before-restart" : fmt::format(".before-restart-{}", number));
    if (std::filesystem::exists(std::filesystem::symlink_status(beside, error))) continue;
    std::filesystem::copy_file(path, beside, error);
    if (error) fail(ErrorKind::io, "{}: cannot be written: {}", beside.string(), system_cause(error.value()));
    return beside;
  }
}

std::string count(Size lines) {
  return fmt::format("{} line{}", lines, lines == 1 ? "" : "s");
}

}  // namespace

LineFile::LineFile(const std::filesystem::path& path, const std::string& head) : path_(path) {
  begin(head);
}

LineFile::LineFile(const std::filesystem::path& path, const std::string& head, const EarlierLines& earlier,
                   const Position& position)
    : path_(path) {
  std::error_code ignored;
  if (!std::filesystem::exists(std::filesystem::symlink_status(path_, ignored))) begin(head);
  open();
  try {
    go_on(head, earlier, position);
  } catch (...) {
    if (file_ >= 0) ::close(file_);
    throw;
  }
}

LineFile::~LineFile() {
  ::close(file_);
}

void LineFile::open() {
  if (file_ >= 0) ::close(file_);
  file_ = open_to_append(path_);
  if (file_ < 0) fail(ErrorKind::io, "{}: cannot be written: {}", path_.string(), system_cause(errno));
  struct stat status {};
  if (::fstat(file_, &status) == 0 && S_ISREG(status.st_mode)) return;
  ::close(std::exchange(file_, -1));
  fail(ErrorKind::io, "{}: not a regular file; remove it, or choose another folder with -o", path_.string());
}

void LineFile::cut(Size bytes) {
  while (::ftruncate(file_, bytes) != 0)
    if (errno != EINTR) {
      const int cause = errno;
      fail(ErrorKind::io, "{}: cannot be truncated to its first {} bytes: {}", path_.string(), bytes,
           system_cause(cause));
    }
  bytes_ = bytes;
}

/// A new file, whose name is durable.
void LineFile::begin(const std::string& head) {
  const std::string text = head.empty() ? "" : head + "\n";
  write_file(path_, text);
  open();
  bytes_ = synced_ = static_cast<Size>(text.size());
}

void LineFile::copy_ranges(const std::vector<std::pair<Size, Size>>& ranges, Size bytes) {
  AtomicFile copy(path_, Place::results, static_cast<std::size_t>(bytes));
  std::vector<char> block(std::size_t{1} << 20);
  Size to = 0;
  for (const auto& [begin, end] : ranges)
    for (Size at = begin; at < end;) {
      const ssize_t n = ::pread(file_, block.data(), std::min(block.size(), static_cast<std::size_t>(end - at)), at);
      if (n < 0 && errno == EINTR) continue;
      if (n <= 0) fail(ErrorKind::io, "{}: cannot be read: {}", path_.string(), system_cause(n < 0 ? errno : 0));
      copy.write(static_cast<std::size_t>(to), {block.data(), static_cast<std::size_t>(n)});
      at += n;
      to += n;
    }
  copy.commit();
  open();
  bytes_ = synced_ = bytes;
}

void LineFile::go_on(const std::string& head, const EarlierLines& earlier, const Position& position) {
  Kept kept;
  kept.same_head = head.empty();
  Size unknown = 0;
  const bool read = each_line(file_, [&](std::string_view line, Size begin) {
    const Size end = begin + static_cast<Size>(line.size()) + 1;
    if (begin == 0 && !head.empty()) {
      kept.same_head = line == head;
      if (kept.same_head) kept.add(begin, end);
      return;
    }
    const std::optional<double> at = position(line);
    if (!at) ++unknown;
    if (!at || !kept.same_head || *at > earlier.until) return;
    kept.others = unknown;  // those before it; what comes behind the last line is half written, and not missed
    kept.add(begin, end);
    ++kept.lines;
    kept.last = *at;
  });
  if (!read) fail(ErrorKind::io, "{}: cannot be read: {}", path_.string(), system_cause(errno));
  const Size length = ::lseek(file_, 0, SEEK_END);
  const bool other_head = !kept.same_head && length > 0;
  const bool missing = earlier.lines ? kept.lines < *earlier.lines : kept.bytes < earlier.bytes;
  std::string beside;
  const Size of_head = kept.same_head && !head.empty() ? static_cast<Size>(head.size()) + 1 : 0;
  if (length > of_head && (other_head || missing || kept.others > 0))
    beside = fmt::format("; what was there is kept in {}", keep_beside(path_).string());
  if (kept.ranges.empty()) {
    if (length > 0 || !head.empty()) begin(head);
  } else if (kept.is_beginning()) {
    cut(kept.bytes);
  } else {
    // Lines in the middle are none: the good ones move together, in a new file under the same name.
    copy_ranges(kept.ranges, kept.bytes);
  }
  lines_ = kept.lines;
  if (other_head)
    warn("{}: an earlier run wrote other columns; they were set aside{}", path_.string(), beside);
  else if (missing)
    warn("{}: {} of the previous run are missing, {}up to {:g}; restart from an older checkpoint to recover them{}",
         path_.string(),
         earlier.lines ? count(*earlier.lines - kept.lines) : fmt::format("{} bytes", earlier.bytes - kept.bytes),
         kept.lines > 0 && kept.last < earlier.until ? fmt::format("after {:g} ", kept.last) : "", earlier.until,
         beside);
  else if (kept.others > 0)
    warn("{}: {} could not be read and were left out{}", path_.string(), count(kept.others), beside);
}

void LineFile::write(std::string_view text) {
  for (std::size_t written = 0; written < text.size();) {
    const ssize_t n = ::write(file_, text.data() + written, text.size() - written);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) {
      const int cause = errno;
      // Half a line would not be read by anybody; where even this fails, the reader has to skip it.
      const bool cut = written == 0 || ::ftruncate(file_, bytes_) == 0;
      fail(ErrorKind::io, "{}: a line of {} bytes cannot be written after byte {}: {}{}", path_.string(), text.size(),
           bytes_, system_cause(cause), cut ? "" : "; its last line is incomplete");
    }
    written += static_cast<std::size_t>(n);
  }
  bytes_ += static_cast<Size>(text.size());
}

/// What is written into a file without a name is lost.
void LineFile::require_name() const {
  struct stat mine {
  }, there{};
  if (::fstat(file_, &mine) == 0 && ::lstat(path_.c_str(), &there) == 0 && mine.st_ino == there.st_ino &&
      mine.st_dev == there.st_dev && mine.st_size >= bytes_)
    return;
  fail(ErrorKind::io,
       "{}: the file was removed, moved or truncated while the run was writing it; do not change the results folder "
       "until the run has ended",
       path_.string());
}

void LineFile::add(std::string_view line) {
  require_name();
  write(std::string(line) + "\n");
  ++lines_;
}

void LineFile::sync() {
  if (synced_ == bytes_) return;
  if (::fsync(file_) != 0)
    fail(ErrorKind::io, "{}: cannot be made durable (fsync): {}", path_.string(), system_cause(errno));
  synced_ = bytes_;
}

}  // namespace tutti
