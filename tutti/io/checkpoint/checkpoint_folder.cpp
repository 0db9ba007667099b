#include "tutti/io/checkpoint/checkpoint_folder.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "tutti/base/error.hpp"
#include "tutti/base/system/atomic_file.hpp"

namespace tutti {
namespace {

constexpr int as_folder = O_RDONLY | O_DIRECTORY | O_CLOEXEC;

std::filesystem::path above(const std::filesystem::path& path) {
  return path.has_parent_path() ? path.parent_path() : std::filesystem::path(".");
}

}  // namespace

CheckpointFolder::CheckpointFolder(std::filesystem::path path)
    : path_(std::move(path)), above_(::open(above(path_).c_str(), as_folder)) {}

CheckpointFolder::~CheckpointFolder() {
  if (folder_ >= 0) ::close(folder_);
  if (above_ >= 0) ::close(above_);
}

void CheckpointFolder::open() {
  const auto check = [&](int cause) {
    if (cause != 0) fail(ErrorKind::io, "{}: the folder cannot be created: {}", path_.string(), system_cause(cause));
  };
  if (above_ < 0) {  // it was not there at the start
    check(make_folders(above(path_)));
    above_ = ::open(above(path_).c_str(), as_folder);
    check(above_ < 0 ? errno : 0);
  }
  const std::string name = path_.filename().string();
  if (::mkdirat(above_, name.c_str(), 0777) == 0)
    check(sync_folder(above_));
  else
    check(errno == EEXIST ? 0 : errno);
  if (folder_ >= 0) ::close(folder_);
  folder_ = ::openat(above_, name.c_str(), as_folder | O_NOFOLLOW);
  check(folder_ < 0 ? errno : 0);
}

std::filesystem::path CheckpointFolder::inside() const {
  return fmt::format("/proc/self/fd/{}", folder_);
}

void CheckpointFolder::require(const std::string& name) const {
  struct stat held {
  }, named{};
  if (::fstatat(folder_, name.c_str(), &held, AT_SYMLINK_NOFOLLOW) == 0 &&
      ::lstat((path_ / name).c_str(), &named) == 0 && held.st_ino == named.st_ino && held.st_dev == named.st_dev)
    return;
  fail(ErrorKind::io,
       "{}: the folder was moved or removed while a checkpoint was written into it; the previous checkpoint is where "
       "the folder is now: continue from there with --restart",
       path_.string());
}

void CheckpointFolder::remove(const std::string& name) const noexcept {
  if (folder_ >= 0) ::unlinkat(folder_, name.c_str(), 0);
}

void CheckpointFolder::rename(const std::string& from, const std::string& to, long long bytes) const {
  require(from);
  if (const int cause = rename_durably(folder_, from, to); cause != 0)
    fail(ErrorKind::io,
         "{}: {} bytes are written but cannot be renamed durably: {}; the previous checkpoint is kept; free space or "
         "choose another disk, then continue with --restart",
         (path_ / from).string(), bytes, std::strerror(cause));
}

}  // namespace tutti
