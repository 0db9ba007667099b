// Files that grow by whole lines while a run goes on, and that a restart goes on with.
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tutti/base/types.hpp"

namespace tutti {

/// What a checkpoint knows of such a file of the run before.
struct EarlierLines {
  double until = 0;           ///< where the run goes on: lines behind it will be written again
  Size bytes = 0;             ///< its length then; 0: it was not there
  std::optional<Size> lines;  ///< without its head; absent in older checkpoints
};

/// Every line is written through at once: a killed run leaves what it had written.
class LineFile {
 public:
  /// Where a line of the file stands, a time or a step; nothing: it is not one of this file's lines.
  using Position = std::function<std::optional<double>(std::string_view line)>;

  /// Begins `path` anew with the line `head` (empty: without), and makes its folder. Error(io); links are not followed.
  LineFile(const std::filesystem::path& path, const std::string& head);
  /// Goes on with what is there: keeps the head and every whole line up to earlier.until. What a line beyond that, or
  /// half a line at the end, loses is written again. Where lines that the checkpoint recorded are missing, where some
  /// are none, and where the head is another one, the old file is kept beside, as `path`.before-restart, and a warning
  /// says what is missing. Error(io).
  LineFile(const std::filesystem::path& path, const std::string& head, const EarlierLines& earlier,
           const Position& position);
  ~LineFile();
  LineFile(const LineFile&) = delete;
  LineFile& operator=(const LineFile&) = delete;

  /// `line` without its line break. Error(io): somebody has removed, moved or cut the file; else with path, bytes and
  /// cause; the file then still ends with a whole line.
  void add(std::string_view line);
  /// Everything so far is on the disk on return, the file's name, too. Error(io).
  void sync();
  Size bytes() const { return bytes_; }  ///< so far
  Size lines() const { return lines_; }  ///< without the head

 private:
  void open();
  void begin(const std::string& head);
  void go_on(const std::string& head, const EarlierLines& earlier, const Position& position);
  void write(std::string_view text);
  void require_name() const;
  void cut(Size bytes);
  void copy_ranges(const std::vector<std::pair<Size, Size>>& ranges, Size bytes);

  std::filesystem::path path_;
  int file_ = -1;
  Size bytes_ = 0, lines_ = 0, synced_ = -1;
};

}  // namespace tutti
