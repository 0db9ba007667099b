#include "tutti/mesh/file_bytes.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <new>

#include "tutti/base/error.hpp"

namespace tutti {
namespace {

/// A file descriptor that closes itself.
struct Descriptor {
  int value = -1;
  ~Descriptor() {
    if (value >= 0) ::close(value);
  }
};

}  // namespace

FileBytes::FileBytes(const std::filesystem::path& path, const char* what) {
  const auto fail_io = [&](const char* doing) {
    fail(ErrorKind::io, "{}: cannot {} the {}: {}", path.string(), doing, what, system_cause(errno));
  };
  Descriptor file{::open(path.c_str(), O_RDONLY | O_CLOEXEC)};
  if (file.value < 0) fail_io("open");
  struct stat info;
  if (::fstat(file.value, &info) != 0) fail_io("examine");
  if (!S_ISREG(info.st_mode)) fail(ErrorKind::io, "{}: is not a regular file; a {} is expected", path.string(), what);
  const auto size = static_cast<std::size_t>(info.st_size);
  try {
    // Never without an address, even when the file is empty.
    bytes_ = std::make_unique_for_overwrite<char[]>(size + 1);
  } catch (const std::bad_alloc&) {
    fail(ErrorKind::resource, "{}: no memory for the file's {} bytes; use a machine with more memory", path.string(),
         size);
  }
  while (size_ < size) {
    const ssize_t got = ::read(file.value, bytes_.get() + size_, std::min(size - size_, std::size_t{1} << 30));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) fail_io("read");
    if (got == 0) break;
    size_ += static_cast<std::size_t>(got);
  }
}

}  // namespace tutti
