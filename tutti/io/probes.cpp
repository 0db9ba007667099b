#include "tutti/io/probes.hpp"

#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "tutti/base/atomic_file.hpp"
#include "tutti/base/error.hpp"

namespace tutti {
namespace {

/// A cell of a CSV line: between quotes where the text has a comma, a quote or a line break (RFC 4180).
std::string csv_cell(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string quoted = "\"";
  for (const char c : text) quoted += c == '"' ? std::string("\"\"") : std::string(1, c);
  return quoted + '"';
}

}  // namespace

std::vector<Vec3> probe_points(const Case& options) {
  std::vector<Vec3> points;
  for (int i = 0; i < options.count("output.probe"); ++i) {
    const auto p = options.numbers(fmt::format("output.probe[{}].point", i));
    points.push_back({p[0], p[1], p[2]});
  }
  return points;
}

std::vector<std::string> probe_labels(const Case& options) {
  std::vector<std::string> labels;
  for (int i = 0; i < options.count("output.probe"); ++i) {
    const std::string table = fmt::format("output.probe[{}]", i);
    labels.push_back(fmt::format("{}: probe '{}'", options.where(table + ".point"), options.text(table + ".name")));
  }
  return labels;
}

ProbeFile::ProbeFile(const std::filesystem::path& path, const std::vector<std::string>& names, Size keep_bytes)
    : path_(path), columns_(names.size()) {
  if (path.has_parent_path()) make_folders(path.parent_path());  // where that fails, so does what follows
  std::error_code error;
  const bool keep = keep_bytes > 0 && std::filesystem::exists(path, error) &&
                    std::filesystem::file_size(path, error) >= static_cast<std::uintmax_t>(keep_bytes);
  const int file = open_to_append(path);
  if (file >= 0) file_.reset(::fdopen(file, "ab"));
  // A device such as /dev/full cannot be cut, and has nothing to be kept.
  if (file_ && ::ftruncate(file, keep ? static_cast<off_t>(keep_bytes) : 0) != 0 && keep)
    fail(ErrorKind::io, "{}: cannot be cut to {} bytes: {}", path.string(), keep_bytes, system_cause(errno));
  if (!file_) fail(ErrorKind::io, "{}: cannot be written: {}", path.string(), system_cause(errno));
  if (keep) {
    bytes_ = keep_bytes;
    return;
  }
  std::string line = "time";
  for (const auto& name : names) line += "," + csv_cell(name);
  write_line(line);
}

void ProbeFile::add(double time, std::span<const double> values) {
  require(values.size() == columns_, "{} probe values for {} columns", values.size(), columns_);
  std::string line = fmt::format("{}", time);
  for (const double value : values) line += fmt::format(",{}", value);
  write_line(line);
}

void ProbeFile::write_line(const std::string& line) {
  const std::string text = line + "\n";
  bytes_ += static_cast<Size>(text.size());
  if (std::fwrite(text.data(), 1, text.size(), file_.get()) != text.size() || std::fflush(file_.get()) != 0)
    fail(ErrorKind::io, "{}: a line of {} bytes cannot be written: {}", path_.string(), text.size(),
         system_cause(errno));
}

}  // namespace tutti
