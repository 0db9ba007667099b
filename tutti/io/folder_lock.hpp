// One run at a time in a folder of results.
#pragma once

#include <filesystem>
#include <string>

namespace tutti {

/// Holds `tutti.lock` in a folder: who wants it meanwhile is told by whom it is held. The lock is the system's (fcntl,
/// F_OFD_SETLK), so it goes with its owner however that ends. The file says host, process and start in words; it goes,
/// too, where the owner ends in order. Where a file system has no locks, what the file says decides.
class FolderLock {
 public:
  /// Takes the lock of a folder that is there; what a killed run has left is taken over, and said. Error(usage):
  /// another run holds it. Error(io).
  explicit FolderLock(const std::filesystem::path& folder);
  ~FolderLock();
  FolderLock(const FolderLock&) = delete;
  FolderLock& operator=(const FolderLock&) = delete;

  /// Error(io) where the folder is not under its name any more: moved or removed.
  void require_folder() const;

 private:
  bool try_lock();
  std::filesystem::path folder_, path_;
  int file_ = -1, directory_ = -1;
};

}  // namespace tutti
