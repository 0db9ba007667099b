#include "tutti/mesh/gmsh_output.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>

#include "tutti/base/error.hpp"

namespace tutti::gmsh {

Output::Output(const std::filesystem::path& target) : target_(target), temporary_(target) {
  std::error_code ignored;
  const auto status = std::filesystem::status(target, ignored);
  const bool in_place = std::filesystem::exists(status) && !std::filesystem::is_regular_file(status);
  if (!in_place) temporary_ += ".part" + std::to_string(::getpid());
  buffer_.reserve(1 << 20);
  file_ = ::open(temporary_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (file_ < 0) fail_io("create");
}

Output::~Output() {
  if (file_ < 0) return;
  ::close(file_);
  if (temporary_ != target_) ::unlink(temporary_.c_str());
}

void Output::fail_io(const char* doing) {
  fail(ErrorKind::io, "{}: cannot {} the mesh file: {}", target_.string(), doing, system_cause(errno));
}

void Output::flush() {
  for (std::size_t done = 0; done < buffer_.size();) {
    const ssize_t n = ::write(file_, buffer_.data() + done, buffer_.size() - done);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) fail_io("write");
    done += static_cast<std::size_t>(n);
  }
  buffer_.clear();
}

void Output::commit() {
  flush();
  // A full disk may show only now; a device or pipe cannot be synchronised, and need not be.
  if (::fsync(file_) != 0 && errno != EINVAL && errno != EROFS) fail_io("write");
  const int closed = ::close(file_);
  file_ = -1;
  const bool renamed = closed == 0 && (temporary_ == target_ || ::rename(temporary_.c_str(), target_.c_str()) == 0);
  if (renamed) return;
  const int reason = errno;
  if (temporary_ != target_) ::unlink(temporary_.c_str());
  errno = reason;
  fail_io("write");
}

}  // namespace tutti::gmsh
