#include "tutti/io/metrics.hpp"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <nlohmann/json.hpp>

#include "tutti/base/atomic_file.hpp"
#include "tutti/base/error.hpp"

namespace tutti {
namespace {

/// Length of the whole lines within the first `most` bytes of a file.
Size whole_lines(int file, Size most) {
  std::vector<char> block(std::size_t{1} << 16);
  for (Size end = most; end > 0;) {
    const Size begin = std::max<Size>(0, end - static_cast<Size>(block.size()));
    const ssize_t n = ::pread(file, block.data(), static_cast<std::size_t>(end - begin), begin);
    if (n != end - begin) return -1;
    for (Size i = n; i > 0; --i)
      if (block[static_cast<std::size_t>(i - 1)] == '\n') return begin + i;
    end = begin;
  }
  return 0;
}

}  // namespace

std::string metrics_json(const MetricsLine& line) {
  nlohmann::ordered_json json = {{"step", line.step},
                                 {"time", line.time},
                                 {"dt", line.dt},
                                 {"wall_seconds", line.wall_seconds},
                                 {"cell_steps_per_second", line.cell_steps_per_second}};
  json["diagnostics"] = nlohmann::ordered_json::object();
  for (const auto& [name, value] : line.diagnostics) json["diagnostics"][name] = value;
  if (!line.seconds.separator.empty())
    json["seconds"] = {{"separator", line.seconds.separator},
                       {"interior", line.seconds.interior},
                       {"exchange", line.seconds.exchange},
                       {"idle", line.seconds.idle}};
  return json.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

MetricsFile::MetricsFile(std::filesystem::path path, std::optional<Size> keep) : path_(std::move(path)) {
  if (path_.has_parent_path()) make_folders(path_.parent_path());  // where that fails, so does what follows
  file_ = open_to_append(path_);
  if (file_ < 0) fail(ErrorKind::io, "{}: cannot be written: {}", path_.string(), system_cause(errno));
  const Size length = ::lseek(file_, 0, SEEK_END);
  bytes_ = length > 0 && keep ? whole_lines(file_, std::min(length, *keep)) : 0;
  // A device such as /dev/full has no length and cannot be cut.
  if (bytes_ < 0 || (length > bytes_ && ::ftruncate(file_, bytes_) != 0)) {
    const int cause = errno;
    ::close(file_);
    fail(ErrorKind::io, "{}: cannot be cut to its first {} bytes: {}", path_.string(), keep.value_or(0),
         system_cause(cause));
  }
}

MetricsFile::~MetricsFile() {
  ::close(file_);
}

void MetricsFile::add(const MetricsLine& line) {
  const std::string text = metrics_json(line) + "\n";
  std::size_t written = 0;
  while (written < text.size()) {
    const ssize_t n = ::write(file_, text.data() + written, text.size() - written);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) {
      const int cause = errno;
      // Half a line would not be read by anybody; where even this fails, the reader has to skip it.
      const bool cut = written == 0 || ::ftruncate(file_, bytes_) == 0;
      fail(ErrorKind::io, "{}: a line of {} bytes cannot be written behind byte {}: {}{}", path_.string(), text.size(),
           bytes_, system_cause(cause), cut ? "" : "; its last line is incomplete");
    }
    written += static_cast<std::size_t>(n);
  }
  bytes_ += static_cast<Size>(text.size());
}

}  // namespace tutti
