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
namespace {

/// Writes all of `piece`; returns 0 or errno, and adds to `written`.
int write_all(int file, std::string_view piece, std::size_t& written) {
  constexpr std::size_t at_once = std::size_t{1} << 30;
  while (!piece.empty()) {
    const ssize_t n = ::write(file, piece.data(), std::min(piece.size(), at_once));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return errno;
    written += static_cast<std::size_t>(n);
    piece.remove_prefix(static_cast<std::size_t>(n));
  }
  return 0;
}

}  // namespace

void write_file_atomically(const std::filesystem::path& path, std::span<const std::string_view> pieces) {
  std::error_code error;
  if (path.has_parent_path()) std::filesystem::create_directories(path.parent_path(), error);
  if (error) fail(ErrorKind::io, "{}: the folder cannot be made: {}", path.string(), system_cause(error.value()));

  // One name for each process: ranks may write different files of one folder, never the same file.
  const std::string temporary = fmt::format("{}.{}.tmp", path.string(), ::getpid());
  ::unlink(temporary.c_str());  // left by a run that was killed, or a link to another place
  const int file = ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
  if (file < 0) fail(ErrorKind::io, "{}: cannot be written: {}", path.string(), system_cause(errno));

  std::size_t total = 0, written = 0;
  for (const auto& piece : pieces) total += piece.size();
  int cause = 0;
  for (const auto& piece : pieces) {
    if (cause == 0) cause = write_all(file, piece, written);
  }
  if (::close(file) != 0 && cause == 0) cause = errno;
  if (cause == 0 && ::rename(temporary.c_str(), path.c_str()) != 0) cause = errno;
  if (cause != 0) {
    ::unlink(temporary.c_str());
    fail(ErrorKind::io, "{}: {} of {} bytes written, then: {}", path.string(), written, total, system_cause(cause));
  }
}

void write_file_atomically(const std::filesystem::path& path, std::string_view content) {
  write_file_atomically(path, std::span(&content, 1));
}

}  // namespace tutti
