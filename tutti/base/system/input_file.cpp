#include "tutti/base/system/input_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "tutti/base/error.hpp"

namespace tutti {

InputFile::InputFile(const std::filesystem::path& path, const char* what, Size most)
    : name_(path.string()), what_(what), file_(::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC)) {
  if (file_ < 0) fail(ErrorKind::io, "{}: cannot open the {}: {}", name_, what_, system_cause(errno));
  struct stat info {};
  const int cause = ::fstat(file_, &info) == 0 ? 0 : errno;
  size_ = static_cast<Size>(info.st_size);
  if (cause == 0 && S_ISREG(info.st_mode) && size_ <= most) return;
  ::close(file_);
  if (cause != 0) fail(ErrorKind::io, "{}: cannot examine the {}: {}", name_, what_, system_cause(cause));
  if (!S_ISREG(info.st_mode))
    fail(ErrorKind::io, "{}: cannot be read: it is {}; a {} is expected", name_,
         S_ISDIR(info.st_mode) ? "a directory" : "a pipe or a device", what_);
  fail(ErrorKind::input, "{}: has {} bytes; a {} of at most {} is expected", name_, size_, what_, most);
}

InputFile::~InputFile() {
  ::close(file_);
}

std::size_t InputFile::read(std::span<char> to, Size offset) const {
  constexpr std::size_t at_once = std::size_t{1} << 30;
  std::size_t done = 0;
  while (done < to.size()) {
    const ssize_t n = ::pread(file_, to.data() + done, std::min(to.size() - done, at_once),
                              static_cast<off_t>(offset) + static_cast<off_t>(done));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0)
      fail(ErrorKind::io, "{}: the {} cannot be read at byte {}: {}", name_, what_, offset, system_cause(errno));
    if (n == 0) break;
    done += static_cast<std::size_t>(n);
  }
  return done;
}

std::string read_text(const std::filesystem::path& path, const char* what, Size most) {
  const InputFile file(path, what, most);
  std::string text(static_cast<std::size_t>(file.size()), '\0');
  text.resize(file.read(text, 0));
  return text;
}

}  // namespace tutti
