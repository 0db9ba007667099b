#include "tutti/simulation/sampling/sample_file.hpp"

#include <fmt/core.h>

#include <algorithm>

#include "tutti/io/output_folder.hpp"

namespace tutti {

bool SampleFile::start(Run& run, const Occasions& when) {
  std::optional<EarlierLines> earlier;
  if (run.before != nullptr) {
    earlier = run.before->lines_of(file_, run.time, when, run.step < run.plan.steps);
    if (earlier->until < run.time && earlier->lines)  // all of the end's rows go, not the last one only
      earlier->lines = std::max<Size>(0, *earlier->lines + 1 - static_cast<Size>(rows_));
  }
  run.comm.together([&] {
    if (run.comm.is_root()) csv_ = std::make_unique<ProbeFile>(run.folder / file_, columns_, earlier);
  });
  return !earlier || earlier->bytes == 0;
}

void SampleFile::add(Run& run, std::span<const double> values) {
  run.comm.together([&] {
    if (!csv_) return;
    for (std::size_t at = 0; at < values.size(); at += columns_.size())
      csv_->add(run.time, values.subspan(at, columns_.size()));
  });
}

void SampleFile::describe(RunState& state) {
  if (csv_) csv_->sync();
  state.file_bytes[file_] = csv_ ? csv_->bytes() : 0;
  state.file_lines[file_] = csv_ ? csv_->lines() : 0;
}

std::string file_name_of(const Case& options, const std::string& list, int table) {
  const auto name_of = [&](int i) { return options.text(fmt::format("{}[{}].name", list, i)); };
  std::string name = name_of(table);
  const std::string where = options.where(fmt::format("{}[{}].name", list, table)),
                    kind = list.substr(list.rfind('.') + 1);
  if (!can_name_a_file(name))
    fail(ErrorKind::input, "{}: {} '{}': its file is called by its name; take 1 to 100 letters, digits, - and _", where,
         kind, name);
  for (int i = 0; i < table; ++i)
    if (name_of(i) == name)
      fail(ErrorKind::input, "{}: there is a {} '{}' already; take another name", where, kind, name);
  return name;
}

}  // namespace tutti
