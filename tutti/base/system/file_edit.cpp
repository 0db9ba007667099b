#include "tutti/base/system/file_edit.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "tutti/base/error.hpp"
#include "tutti/base/system/atomic_file.hpp"

namespace tutti {
namespace {

namespace fs = std::filesystem;

/// A redo file: this, then pages, each behind its number.
constexpr std::string_view mark = "tutti redo file\n";

int write_all(int file, std::uint64_t at, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t n = ::pwrite(file, bytes.data(), bytes.size(), static_cast<off_t>(at));
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return n < 0 ? errno : EIO;
    at += static_cast<std::uint64_t>(n);
    bytes.remove_prefix(static_cast<std::size_t>(n));
  }
  return 0;
}

[[noreturn]] void fail_to_write(const fs::path& path, int cause) {
  fail(ErrorKind::io, "{}: cannot be written: {}; check space and permissions, or write elsewhere with -o",
       path.string(), std::strerror(cause));
}

}  // namespace

FileEdit::FileEdit(const fs::path& path, Mode mode) : path_(path) {
  file_ = mode == Mode::fresh ? create_file(path) : open_file(path, O_RDWR);
  int cause = file_ < 0 ? errno : 0;
  if (cause == 0 && mode == Mode::fresh && ::unlink(redo().c_str()) != 0 && errno != ENOENT) cause = errno;
  if (cause == 0) cause = recover();
  struct stat info {};
  if (cause == 0 && ::fstat(file_, &info) != 0) cause = errno;
  if (cause != 0) {
    if (file_ >= 0) ::close(file_);
    fail_to_write(path, cause);
  }
  old_size_ = size_ = static_cast<std::uint64_t>(info.st_size);
}

FileEdit::~FileEdit() {
  ::close(file_);
}

fs::path FileEdit::redo() const {
  return fs::path(path_) += ".redo";
}

int FileEdit::read_file(std::uint64_t at, std::span<char> to) const {
  while (!to.empty()) {
    const ssize_t n = ::pread(file_, to.data(), to.size(), static_cast<off_t>(at));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return errno;
    if (n == 0) break;
    at += static_cast<std::uint64_t>(n);
    to = to.subspan(static_cast<std::size_t>(n));
  }
  std::fill(to.begin(), to.end(), '\0');
  return 0;
}

int FileEdit::read(std::uint64_t at, std::span<char> to) const {
  if (const int cause = read_file(at, to); cause != 0) return cause;
  const std::uint64_t end = at + to.size();
  for (auto page = pages_.lower_bound(at / page_size); page != pages_.end() && page->first * page_size < end; ++page) {
    const std::uint64_t begin = page->first * page_size, from = std::max(at, begin),
                        until = std::min(end, begin + page_size);
    std::copy_n(page->second.begin() + static_cast<std::ptrdiff_t>(from - begin), until - from,
                to.begin() + static_cast<std::ptrdiff_t>(from - at));
  }
  return 0;
}

int FileEdit::write(std::uint64_t at, std::string_view bytes) {
  size_ = std::max(size_, at + bytes.size());
  while (!bytes.empty() && at / page_size * page_size < old_size_) {
    const std::uint64_t begin = at / page_size * page_size;
    const auto [page, is_new] = pages_.try_emplace(at / page_size);
    if (is_new)
      if (const int cause = read_file(begin, page->second); cause != 0) return cause;
    const std::size_t n = std::min<std::size_t>(bytes.size(), begin + page_size - at);
    std::copy_n(bytes.begin(), n, page->second.begin() + static_cast<std::ptrdiff_t>(at - begin));
    at += n;
    bytes.remove_prefix(n);
  }
  return write_all(file_, at, bytes);
}

int FileEdit::extend(std::uint64_t size) {
  if (size <= size_) return 0;
  size_ = size;
  return ::ftruncate(file_, static_cast<off_t>(size)) == 0 ? 0 : errno;
}

int FileEdit::apply(std::string_view changes) {
  changes.remove_prefix(mark.size());
  while (!changes.empty()) {
    std::uint64_t number = 0;
    std::memcpy(&number, changes.data(), sizeof number);
    if (const int cause = write_all(file_, number * page_size, changes.substr(sizeof number, page_size)); cause != 0)
      return cause;
    changes.remove_prefix(sizeof number + page_size);
  }
  if (::fdatasync(file_) != 0) return errno;
  return ::unlink(redo().c_str()) == 0 ? 0 : errno;
}

void FileEdit::commit() {
  int cause = ::fdatasync(file_) == 0 ? 0 : errno;
  if (cause == 0 && !pages_.empty()) {
    std::string changes(mark);
    for (const auto& [number, page] : pages_) {
      changes.append(reinterpret_cast<const char*>(&number), sizeof number);
      changes.append(page.data(), page.size());
    }
    write_file(redo(), changes);
    cause = apply(changes);
    pages_.clear();
  }
  if (cause != 0) fail_to_write(path_, cause);
  old_size_ = size_;
}

int FileEdit::recover() {
  const int redo_file = open_file(redo(), O_RDONLY);
  if (redo_file < 0) return errno == ENOENT ? 0 : errno;
  std::string changes;
  std::array<char, page_size> piece{};
  ssize_t n = 0;
  while ((n = ::read(redo_file, piece.data(), piece.size())) > 0)
    changes.append(piece.data(), static_cast<std::size_t>(n));
  const int cause = n < 0 ? errno : 0;
  ::close(redo_file);
  if (cause != 0) return cause;
  // It is there whole or not at all: anything else is not ours.
  constexpr std::size_t record = sizeof(std::uint64_t) + page_size;
  if (!changes.starts_with(mark) || (changes.size() - mark.size()) % record != 0) return EINVAL;
  return apply(changes);
}

}  // namespace tutti
