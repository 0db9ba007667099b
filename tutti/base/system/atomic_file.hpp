// The one way to make a file: it appears whole or not at all, is on the disk then, and nobody else's file is touched.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>

namespace tutti {

/// Who chose where a file is written.
enum class Place : std::uint8_t {
  results,  ///< tutti, in a folder of results: what is no regular file there is refused, a link, too
  given,  ///< the user: links are followed; a device and a pipe (/dev/stdout, a FIFO that is read) are written in place
};

/// A file that is written to a temporary one beside it, which commit() renames: a reader sees the old content or the
/// new one, never half of it, and so does who looks after a power cut. Without commit() the temporary file is removed.
///
/// Nothing but a regular file is ever replaced: a folder, a socket and a disk are refused. Every failure is an
/// Error(io) with path, bytes and cause (disk full, ...); an old file under this name stays then.
class AtomicFile {
 public:
  /// Makes the folder. `bytes`: the file will have, for messages.
  explicit AtomicFile(const std::filesystem::path& path, Place place = Place::results, std::size_t bytes = 0);
  ~AtomicFile();
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;

  /// Behind what was written last.
  void write(std::string_view piece);
  /// At a byte of the file, in any order; a device or a pipe takes them in order only.
  void write(std::size_t offset, std::string_view piece);
  /// Makes the content durable, gives it its name, makes the name durable.
  void commit();

  /// It is a device or a pipe: there is no commit that could be left out.
  bool in_place() const { return temporary_.empty(); }

 private:
  void open_in_place(int own);
  [[noreturn]] void give_up(int cause);

  std::filesystem::path path_;    ///< as given, for messages
  std::filesystem::path target_;  ///< where its links lead to
  std::filesystem::path temporary_;
  int file_ = -1;
  bool can_seek_ = true;
  std::size_t bytes_, written_ = 0, at_ = 0;
};

/// An AtomicFile of the pieces, one after the other.
void write_file(const std::filesystem::path& path, std::span<const std::string_view> pieces,
                Place place = Place::results);
void write_file(const std::filesystem::path& path, std::string_view content, Place place = Place::results);

// What a file needs that others fill, or that grows. They return a descriptor, or -1 and errno.

/// A new, empty file for reading and writing. Never one that is there, be it a link (EEXIST).
int create_file(const std::filesystem::path& path);
/// A regular file that is there, with one name only, by open's `flags` (O_WRONLY, O_RDWR). Never through a link.
int open_file(const std::filesystem::path& path, int flags);
/// A file of results that grows: opened for reading and appending, made if missing. Never through a link, never a pipe.
int open_to_append(const std::filesystem::path& path);

/// Gives a file that is durable another name in its folder and makes the name durable. Nothing but a regular file is
/// replaced. 0 or errno.
int rename_durably(const std::filesystem::path& from, const std::filesystem::path& to);
/// The same in an open folder, whatever its name leads to.
int rename_durably(int folder, const std::string& from, const std::string& to);
/// Makes the names in an open folder durable. 0 or errno. Where that cannot be done (some network file systems), it is
/// no error.
int sync_folder(int folder);
/// Makes folder and all above it; those made are durable. 0 or errno.
int make_folders(const std::filesystem::path& folder);

}  // namespace tutti
