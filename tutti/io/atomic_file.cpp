#include "tutti/io/atomic_file.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstring>

#include "tutti/base/error.hpp"
#include "tutti/base/units.hpp"

namespace tutti {

AtomicFile::AtomicFile(const std::filesystem::path& path, std::size_t bytes) : path_(path), bytes_(bytes) {
  std::error_code error;
  if (path.has_parent_path()) std::filesystem::create_directories(path.parent_path(), error);
  if (error) fail(ErrorKind::io, "{}: the folder cannot be made: {}", path.string(), system_cause(error.value()));
  // One name for each process: ranks may write different files of one folder, never the same file.
  temporary_ = fmt::format("{}.{}.tmp", path.string(), ::getpid());
  ::unlink(temporary_.c_str());  // left by a run that was killed, or a link to another place
  file_ = ::open(temporary_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
  if (file_ < 0) fail(ErrorKind::io, "{}: cannot be written: {}", path.string(), system_cause(errno));
}

AtomicFile::~AtomicFile() {
  if (file_ < 0) return;
  ::close(file_);
  ::unlink(temporary_.c_str());
}

void AtomicFile::give_up(int cause) {
  if (file_ >= 0) ::close(file_);
  file_ = -1;
  ::unlink(temporary_.c_str());
  fail(ErrorKind::io, "{}: {} of {} bytes written, then: {}", path_.string(), written_, bytes_, system_cause(cause));
}

void AtomicFile::write(std::size_t offset, std::string_view piece) {
  constexpr std::size_t at_once = std::size_t{1} << 30;
  while (!piece.empty()) {
    const ssize_t n = ::pwrite(file_, piece.data(), std::min(piece.size(), at_once), static_cast<off_t>(offset));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) give_up(errno);
    written_ += static_cast<std::size_t>(n);
    offset += static_cast<std::size_t>(n);
    piece.remove_prefix(static_cast<std::size_t>(n));
  }
}

void AtomicFile::commit() {
  const int closed = ::close(file_);
  file_ = -1;
  if (closed != 0 || ::rename(temporary_.c_str(), path_.c_str()) != 0) give_up(errno);
}

void write_file_atomically(const std::filesystem::path& path, std::span<const std::string_view> pieces) {
  std::size_t total = 0, offset = 0;
  for (const auto& piece : pieces) total += piece.size();
  AtomicFile file(path, total);
  for (const auto& piece : pieces) {
    file.write(offset, piece);
    offset += piece.size();
  }
  file.commit();
}

void write_file_atomically(const std::filesystem::path& path, std::string_view content) {
  write_file_atomically(path, std::span(&content, 1));
}

}  // namespace tutti
