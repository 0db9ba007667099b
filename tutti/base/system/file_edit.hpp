// Changes of a file that take place together or not at all.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <string_view>

namespace tutti {

/// Changes of a file that survive being killed, a full disk and a power cut: commit() makes all of them, without it
/// there are none. What comes behind the old end is written at once: nobody looks for it there yet. What replaces old
/// bytes waits in memory; commit() writes it to "NAME.redo" first, then in place. A redo file that a killed program has
/// left is applied when the file is opened again.
///
/// Members that return int return 0 or errno.
class FileEdit {
 public:
  enum class Mode : std::uint8_t { existing, fresh };  ///< fresh: no file may be there, a redo file is removed
  /// Never through a link. Error(io).
  explicit FileEdit(const std::filesystem::path& path, Mode mode = Mode::existing);
  ~FileEdit();
  FileEdit(const FileEdit&) = delete;
  FileEdit& operator=(const FileEdit&) = delete;

  /// With what has been written since; bytes behind the end are 0.
  int read(std::uint64_t at, std::span<char> to) const;
  int write(std::uint64_t at, std::string_view bytes);
  std::uint64_t size() const { return size_; }
  /// At least so many bytes.
  int extend(std::uint64_t size);
  void commit();  ///< Error(io)

 private:
  static constexpr std::uint64_t page_size = 4096;
  using Page = std::array<char, page_size>;
  std::filesystem::path redo() const;
  int recover();
  int apply(std::string_view changes);
  int read_file(std::uint64_t at, std::span<char> to) const;

  std::filesystem::path path_;
  int file_ = -1;
  std::uint64_t old_size_ = 0, size_ = 0;
  std::map<std::uint64_t, Page> pages_;  ///< those that hold old bytes and change, by number
};

}  // namespace tutti
