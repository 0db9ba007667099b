// The folder of a run's checkpoints, whatever its name leads to by now.
#pragma once

#include <filesystem>
#include <string>

namespace tutti {

/// Holds the folder above it open from the run's start on, so that a checkpoint under way never gets a name in, and
/// none goes from, a folder that somebody has made anew under the old name. Files are opened by their paths; where
/// these lead elsewhere, that is found out before a name is given.
class CheckpointFolder {
 public:
  explicit CheckpointFolder(std::filesystem::path path);
  ~CheckpointFolder();
  CheckpointFolder(const CheckpointFolder&) = delete;
  CheckpointFolder& operator=(const CheckpointFolder&) = delete;

  /// Makes the folder where it is missing, durably, and opens it. Error(io).
  void open();
  /// The open folder as a path for listings.
  std::filesystem::path inside() const;
  /// Error(io) where the path of one of its files leads to another file: the folder was moved, removed or replaced.
  void require(const std::string& name) const;
  void remove(const std::string& name) const noexcept;
  /// Gives a file that is durable another name and makes the name durable; `bytes`: its length, for the message.
  /// Error(io).
  void rename(const std::string& from, const std::string& to, long long bytes) const;

 private:
  std::filesystem::path path_;
  int above_ = -1, folder_ = -1;
};

}  // namespace tutti
