// Files that appear whole or not at all.
#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <string_view>

namespace tutti {

/// A file that is written piece by piece, at any place, to a temporary one beside it, which commit() renames: a reader
/// sees the old content or the new one, never half of it. Without commit() the temporary file is removed.
class AtomicFile {
 public:
  /// Makes the folder. `bytes`: the file will have, for messages. Error(io).
  AtomicFile(const std::filesystem::path& path, std::size_t bytes);
  ~AtomicFile();
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;
  /// At a byte of the file. Error(io) with path, bytes and cause (disk full, ...); an old `path` stays.
  void write(std::size_t offset, std::string_view piece);
  void commit();

 private:
  [[noreturn]] void give_up(int cause);
  std::filesystem::path path_;
  std::string temporary_;
  int file_ = -1;
  std::size_t bytes_, written_ = 0;
};

/// Writes the pieces, one after the other, to a temporary file beside `path` and renames it: a reader sees the old
/// content or the new one, never half of it. Makes the folder. Error(io) with path, bytes and cause (disk full, ...);
/// the temporary file is then removed and an old `path` stays.
void write_file_atomically(const std::filesystem::path& path, std::span<const std::string_view> pieces);
void write_file_atomically(const std::filesystem::path& path, std::string_view content);

}  // namespace tutti
