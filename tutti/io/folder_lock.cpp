#include "tutti/io/folder_lock.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <ctime>
#include <fstream>
#include <sstream>
#include <string_view>
#include <utility>

#include "tutti/base/error.hpp"
#include "tutti/base/log.hpp"
#include "tutti/base/system/atomic_file.hpp"

namespace tutti {
namespace {

/// Who holds a lock, as its file says.
struct Owner {
  std::string host, start;
  long process = 0;
  std::string born;  ///< of the process, in ticks of its host's clock: another process may get its number
};

std::string host_name() {
  std::array<char, 256> name{};
  return ::gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "unknown";
}

/// When a process of this host began; empty: there is none of this number.
std::string birth_of(long process) {
  std::ifstream file(fmt::format("/proc/{}/stat", process));
  std::string text((std::istreambuf_iterator<char>(file)), {});
  // The name in brackets may hold anything; the time is the 20th word behind it.
  std::istringstream words(text.substr(std::min(text.rfind(')') + 1, text.size())));
  std::string word;
  for (int i = 0; i < 20; ++i) words >> word;
  return words ? word : "";
}

Owner this_process() {
  const std::time_t now = std::chrono::system_clock::to_time_t(std::chrono::system_clock::now());
  std::tm local{};
  ::localtime_r(&now, &local);
  std::array<char, 32> text{};
  std::strftime(text.data(), text.size(), "%Y-%m-%d %H:%M:%S", &local);
  return {host_name(), text.data(), ::getpid(), birth_of(::getpid())};
}

std::string words_of(const Owner& owner) {
  return fmt::format("host {}\nprocess {}\nstart {}\nborn {}\n", owner.host, owner.process, owner.start, owner.born);
}

/// A file that says nothing of use gives an owner without a host.
Owner read_owner(int file) {
  std::array<char, 1024> text{};
  const ssize_t n = ::pread(file, text.data(), text.size(), 0);
  std::istringstream lines(std::string(text.data(), static_cast<std::size_t>(std::max<ssize_t>(n, 0))));
  Owner owner;
  for (std::string line; std::getline(lines, line);) {
    const auto space = std::min(line.find(' '), line.size());
    const std::string key = line.substr(0, space), value = line.substr(std::min(space + 1, line.size()));
    if (key == "host") owner.host = value;
    if (key == "process") owner.process = std::strtol(value.c_str(), nullptr, 10);
    if (key == "start") owner.start = value;
    if (key == "born") owner.born = value;
  }
  return owner;
}

/// A disk may take less than it is given. False: errno tells why.
bool write_all(int file, std::string_view text) {
  while (!text.empty()) {
    const ssize_t n = ::write(file, text.data(), text.size());
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    text.remove_prefix(static_cast<std::size_t>(n));
  }
  return true;
}

std::string describe(const Owner& owner) {
  if (owner.host.empty()) return "it does not say who";
  return fmt::format("process {} on {}, since {}", owner.process, owner.host, owner.start);
}

bool may_live(const Owner& owner) {
  if (owner.host.empty()) return false;
  return owner.host != host_name() || (!owner.born.empty() && birth_of(owner.process) == owner.born);
}

}  // namespace

FolderLock::FolderLock(const std::filesystem::path& folder) : folder_(folder), path_(folder / "tutti.lock") {
  directory_ = ::open(folder_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (directory_ < 0) fail(ErrorKind::io, "{}: the folder cannot be read: {}", folder_.string(), system_cause(errno));
  try {
    while (!try_lock()) {
    }
  } catch (...) {
    if (file_ >= 0) ::close(file_);
    ::close(directory_);
    throw;
  }
}

/// False: the owner before has just ended and taken the file away.
bool FolderLock::try_lock() {
  if (file_ >= 0) ::close(std::exchange(file_, -1));
  file_ = open_to_append(path_);
  if (file_ < 0) fail(ErrorKind::io, "{}: cannot be written: {}", path_.string(), system_cause(errno));
  struct flock all {};
  all.l_type = F_WRLCK;
  all.l_whence = SEEK_SET;
  const bool locked = ::fcntl(file_, F_OFD_SETLK, &all) == 0;
  const int cause = locked ? 0 : errno;
  const Owner before = read_owner(file_);
  const bool held = cause == EAGAIN || cause == EACCES;
  if (held || (!locked && may_live(before)))
    fail(ErrorKind::usage,
         "{}: another run writes to this folder ({}); wait until it ends, or choose another folder with -o{}",
         folder_.string(), describe(before), held ? "" : fmt::format("; if it has ended, remove {}", path_.string()));
  struct stat mine {
  }, there{};
  if (::fstat(file_, &mine) != 0 || ::lstat(path_.c_str(), &there) != 0 || mine.st_ino != there.st_ino ||
      mine.st_dev != there.st_dev)
    return false;
  if (!before.host.empty())
    info("{}: left by a run that did not end normally ({}); taken over", path_.string(), describe(before));
  if (::ftruncate(file_, 0) != 0 || !write_all(file_, words_of(this_process())))
    fail(ErrorKind::io, "{}: cannot be written: {}", path_.string(), system_cause(errno));
  return true;
}

FolderLock::~FolderLock() {
  // The file goes while the lock is held: who opens it now finds out that it has no name any more. It may be another
  // run's where the folder was moved and made again.
  struct stat mine {
  }, there{};
  if (::fstat(file_, &mine) == 0 && ::fstatat(directory_, "tutti.lock", &there, AT_SYMLINK_NOFOLLOW) == 0 &&
      mine.st_ino == there.st_ino && mine.st_dev == there.st_dev)
    ::unlinkat(directory_, "tutti.lock", 0);
  ::close(file_);
  ::close(directory_);
}

void FolderLock::require_folder() const {
  struct stat mine {
  }, there{};
  if (::fstat(directory_, &mine) == 0 && ::stat(folder_.c_str(), &there) == 0 && mine.st_ino == there.st_ino &&
      mine.st_dev == there.st_dev)
    return;
  fail(ErrorKind::io,
       "{}: the results folder was moved or removed while the run was writing into it; what was written is where the "
       "folder is now: continue from there with --restart",
       folder_.string());
}

}  // namespace tutti
