// A checkpoint's file while it is written: filled at known places, made durable.
#pragma once

#include <array>
#include <filesystem>
#include <functional>
#include <memory>
#include <span>

#include "tutti/base/types.hpp"

namespace tutti {

/// A file that closes itself. Every failure is an Error(io) with path, bytes and cause, and says what to do.
class CheckpointOutput {
 public:
  /// Bytes whose place in memory and in the file leave the same remainder are written straight from there.
  static constexpr std::size_t block = 4096;

  /// A file that is there, as open_file takes it; `flags`: O_WRONLY or O_RDWR.
  CheckpointOutput(std::filesystem::path path, int flags);
  ~CheckpointOutput();
  CheckpointOutput(const CheckpointOutput&) = delete;
  CheckpointOutput& operator=(const CheckpointOutput&) = delete;

  void write(std::span<const char> bytes, Size offset);
  /// Calls `look` with one piece after the other and writes it while it is in the processor's cache. Long runs of whole
  /// blocks go past the system's cache (O_DIRECT) where the file system can do that: the system's copy takes a core
  /// longer than everything else that is done here, and memory that the steps could use.
  void write_large(std::span<const char> bytes, Size offset, const std::function<void(std::span<const char>)>& look);
  /// How many bytes did pass the system's cache.
  Size bytes_past_cache() const { return bytes_past_cache_; }
  void read(std::span<char> bytes, Size offset);
  /// `bytes`: what was written, for the message.
  void sync(Size bytes);
  void close(Size bytes);

 private:
  std::size_t write_some(std::span<const char> bytes, Size offset);
  std::span<const char> at_a_block(std::span<const char> bytes);
  bool pass_cache(bool on);

  std::filesystem::path path_;
  int file_;
  int flags_ = 0;
  bool can_pass_cache_ = true;  ///< until the file system refuses
  Size bytes_past_cache_ = 0;
  std::array<std::unique_ptr<char[]>, 2> copies_;  ///< of pieces that do not lie as their place in the file does
};

}  // namespace tutti
