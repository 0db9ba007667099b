#include "tutti/base/system/atomic_file.hpp"

#include <fcntl.h>
#include <linux/magic.h>
#include <poll.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <utility>
#include <vector>

#include "tutti/base/error.hpp"

namespace tutti {
namespace {

namespace fs = std::filesystem;

constexpr const char* other_kind = "choose another name";

/// The kind of what is there under a name; 0: nothing. `follow`: what its links lead to.
mode_t kind_of(const fs::path& path, bool follow) {
  struct stat info {};
  const int code = follow ? ::stat(path.c_str(), &info) : ::lstat(path.c_str(), &info);
  return code == 0 ? info.st_mode & S_IFMT : 0;
}

const char* word_for(mode_t kind) {
  switch (kind) {
    case S_IFDIR:
      return "a folder";
    case S_IFLNK:
      return "a symbolic link";
    case S_IFIFO:
      return "a pipe";
    case S_IFCHR:
      return "a device";
    case S_IFBLK:
      return "a disk";
    default:
      return "no regular file";
  }
}

fs::path folder_of(const fs::path& path) {
  return path.has_parent_path() ? path.parent_path() : fs::path(".");
}

/// Closes a descriptor and keeps errno.
int close_with(int file, int cause) {
  ::close(file);
  errno = cause;
  return -1;
}

/// 0 or errno.
int sync_folder(const fs::path& folder) {
  const int file = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (file < 0) return errno == EACCES ? 0 : errno;  // a folder that may be written but not read
  const int cause = tutti::sync_folder(file);
  ::close(file);
  return cause;
}

/// A link of the kernel's own (/dev/stdout leads to one): it names an open file, not a place, so nothing can be renamed
/// to there.
bool is_kernels_link(const fs::path& link) {
  struct statfs info {};
  return ::statfs(folder_of(link).c_str(), &info) == 0 && info.f_type == PROC_SUPER_MAGIC;
}

/// Where the links of a path that a user gave lead to. `kernels`: through one of the kernel's own, then the path of
/// that.
fs::path follow_links(fs::path path, bool& kernels) {
  for (int most = 40; most > 0 && kind_of(path, false) == S_IFLNK; --most) {
    kernels = is_kernels_link(path);
    if (kernels) return path;
    std::error_code error;
    const fs::path to = fs::read_symlink(path, error);
    if (error) break;
    path = to.is_absolute() ? to : folder_of(path) / to;
  }
  return path;
}

/// The descriptor of this process that a path such as /dev/stdout or /dev/fd/63 names; -1: none.
int own_descriptor(const fs::path& link) {
  std::error_code error;
  if (fs::canonical(folder_of(link), error) != fs::canonical("/proc/self/fd", error) || error) return -1;
  const std::string name = link.filename().string();
  int number = -1;
  const auto end = std::from_chars(name.data(), name.data() + name.size(), number);
  return end.ec == std::errc() && end.ptr == name.data() + name.size() ? number : -1;
}

}  // namespace

int create_file(const fs::path& path) {
  return ::open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
}

int open_file(const fs::path& path, int flags) {
  const int file = ::open(path.c_str(), flags | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
  if (file < 0) return -1;
  struct stat info {};
  if (::fstat(file, &info) != 0) return close_with(file, errno);
  if (!S_ISREG(info.st_mode) || info.st_nlink != 1) return close_with(file, EPERM);
  return file;
}

int open_to_append(const fs::path& path) {
  const int file = ::open(path.c_str(), O_RDWR | O_CREAT | O_APPEND | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0666);
  if (file < 0) return -1;
  struct stat info {};
  if (::fstat(file, &info) != 0) return close_with(file, errno);
  if (!S_ISREG(info.st_mode) && !S_ISCHR(info.st_mode)) return close_with(file, EPERM);
  return file;
}

int sync_folder(int folder) {
  const int cause = ::fsync(folder) == 0 ? 0 : errno;
  return cause == EINVAL || cause == ENOTSUP || cause == EROFS ? 0 : cause;
}

int rename_durably(const fs::path& from, const fs::path& to) {
  const mode_t kind = kind_of(to, false);
  if (kind != 0 && kind != S_IFREG) return EEXIST;
  if (::rename(from.c_str(), to.c_str()) != 0) return errno;
  return sync_folder(folder_of(to));
}

int rename_durably(int folder, const std::string& from, const std::string& to) {
  struct stat info {};
  if (::fstatat(folder, to.c_str(), &info, AT_SYMLINK_NOFOLLOW) == 0 && !S_ISREG(info.st_mode)) return EEXIST;
  if (::renameat(folder, from.c_str(), folder, to.c_str()) != 0) return errno;
  return sync_folder(folder);
}

int make_folders(const fs::path& folder) {
  std::vector<fs::path> missing;
  std::error_code error;
  for (fs::path at = folder; !at.empty() && !fs::exists(at, error); at = at.parent_path()) missing.push_back(at);
  fs::create_directories(folder, error);
  if (error) return error.value();
  for (const fs::path& made : missing)
    if (const int cause = sync_folder(folder_of(made)); cause != 0) return cause;
  return 0;
}

AtomicFile::AtomicFile(const fs::path& path, Place place, std::size_t bytes)
    : path_(path), target_(path), bytes_(bytes) {
  bool kernels = false;
  if (place == Place::given) target_ = follow_links(path, kernels);
  const mode_t kind = kind_of(target_, kernels);
  const int own = kernels ? own_descriptor(target_) : -1;
  if (kernels || (place == Place::given && (kind == S_IFCHR || kind == S_IFIFO))) {
    open_in_place(own);
    return;
  }
  if (kind != 0 && kind != S_IFREG)
    fail(ErrorKind::io, "{}: cannot be written: it is {}; {}", path.string(), word_for(kind), other_kind);
  if (const int cause = make_folders(folder_of(target_)); cause != 0)
    fail(ErrorKind::io, "{}: the folder cannot be created: {}", path.string(), system_cause(cause));
  // One name for each process: ranks may write different files of one folder, never the same file.
  temporary_ = fmt::format("{}.{}.tmp", target_.string(), ::getpid());
  ::unlink(temporary_.c_str());  // left by a run that was killed, or a link to another place
  file_ = create_file(temporary_);
  if (file_ < 0) fail(ErrorKind::io, "{}: cannot be written: {}", path.string(), system_cause(errno));
}

AtomicFile::~AtomicFile() {
  if (file_ < 0) return;
  ::close(file_);
  if (!in_place()) ::unlink(temporary_.c_str());
}

/// `own`: a descriptor of this process that is written to, at its place; -1: the file is opened.
void AtomicFile::open_in_place(int own) {
  can_seek_ = false;
  // A pipe that nobody reads would be waited for without end.
  file_ = own >= 0 ? ::fcntl(own, F_DUPFD_CLOEXEC, 0)
                   : ::open(target_.c_str(), O_WRONLY | O_APPEND | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
  if (file_ < 0 && errno == ENXIO)
    fail(ErrorKind::io, "{}: cannot be written: no process reads this pipe; start its reader first", path_.string());
  if (file_ < 0) fail(ErrorKind::io, "{}: cannot be written: {}", path_.string(), system_cause(errno));
  struct stat info {};
  const mode_t kind = ::fstat(file_, &info) == 0 ? info.st_mode & S_IFMT : 0;
  if (kind == 0 || kind == S_IFDIR || kind == S_IFBLK) {
    ::close(std::exchange(file_, -1));
    fail(ErrorKind::io, "{}: cannot be written: it is {}; {}", path_.string(), word_for(kind), other_kind);
  }
  if (own < 0) ::fcntl(file_, F_SETFL, O_APPEND);
}

void AtomicFile::give_up(int cause) {
  if (file_ >= 0) ::close(file_);
  file_ = -1;
  if (!in_place()) ::unlink(temporary_.c_str());
  fail(ErrorKind::io, "{}: {} of {} bytes written, then: {}", path_.string(), written_, std::max(bytes_, written_),
       system_cause(cause));
}

void AtomicFile::write(std::string_view piece) {
  write(at_, piece);
}

void AtomicFile::write(std::size_t offset, std::string_view piece) {
  constexpr std::size_t at_once = std::size_t{1} << 30;
  if (!can_seek_ && offset != at_) give_up(ESPIPE);
  while (!piece.empty()) {
    const std::size_t size = std::min(piece.size(), at_once);
    const ssize_t n = can_seek_ ? ::pwrite(file_, piece.data(), size, static_cast<off_t>(offset))
                                : ::write(file_, piece.data(), size);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0 && errno == EAGAIN && !can_seek_) {  // a pipe of this process that somebody made non-blocking
      pollfd ready{file_, POLLOUT, 0};
      ::poll(&ready, 1, -1);
      continue;
    }
    if (n < 0) give_up(errno);
    written_ += static_cast<std::size_t>(n);
    offset += static_cast<std::size_t>(n);
    piece.remove_prefix(static_cast<std::size_t>(n));
  }
  at_ = offset;
}

void AtomicFile::commit() {
  // A disk that is full may show only now. A device or a pipe has nothing to make durable.
  if (::fsync(file_) != 0 && !(in_place() && (errno == EINVAL || errno == ENOTSUP || errno == EROFS))) give_up(errno);
  const int closed = ::close(file_);
  file_ = -1;
  if (closed != 0) give_up(errno);
  if (in_place()) return;
  if (const int cause = rename_durably(temporary_, target_); cause != 0) give_up(cause);
}

void write_file(const fs::path& path, std::span<const std::string_view> pieces, Place place) {
  std::size_t total = 0;
  for (const auto& piece : pieces) total += piece.size();
  AtomicFile file(path, place, total);
  for (const auto& piece : pieces) file.write(piece);
  file.commit();
}

void write_file(const fs::path& path, std::string_view content, Place place) {
  write_file(path, std::span(&content, 1), place);
}

}  // namespace tutti
