#include "tutti/simulation/output/slices.hpp"

#include <fmt/core.h>

#include "tutti/simulation/output/timed_output.hpp"

namespace tutti {

Slices::Slices(const Run& run) {
  const Case& options = run.options;
  if (!options.schema().is_table_list("output.slice") || !run.exchanges) return;
  when_ = Occasions(options, "output.slice_");
  const Times before = run.before != nullptr ? run.before->slices : Times{};
  for (int i = 0; i < options.count("output.slice"); ++i) {
    const std::string table = fmt::format("output.slice[{}]", i);
    what_.push_back(fmt::format("{} at {} = {}", options.text(table + ".name"), options.text(table + ".axis"),
                                options.number(table + ".position")));
    const auto found = before.find(what_.back());
    times_.push_back(found != before.end() ? found->second : std::vector<double>{});
  }
  std::vector<std::unique_ptr<Pieces>> pieces;
  run.comm.together([&] { pieces = run.model.domain().slices(options); });
  require(pieces.size() == what_.size(), "{} slices for {}", pieces.size(), what_.size());
  for (std::size_t s = 0; s < what_.size(); ++s) {
    const std::string name = "slice-" + options.text(fmt::format("output.slice[{}].name", s));
    files_.emplace_back(run.comm, std::move(pieces[s]), run.folder / "slices", vtk_options(options, run.threads),
                        times_[s], SeriesNames{name + ".pvd", name});
  }
}

void Slices::start(Run& run) {
  if (!what_.empty()) run.model.before_output();
  for (std::size_t s = 0; s < what_.size(); ++s)
    if (times_[s].empty()) write_one(run, s);
}

void Slices::after_step(Run& run) {
  if (!due(run)) return;
  run.comm.together([&] { run.require_folder(); });
  seconds_ += timed_output(run.trace, [&] {
    run.model.before_output();
    for (std::size_t s = 0; s < what_.size(); ++s) write_one(run, s);
  });
}

void Slices::describe(RunState& state) {
  for (std::size_t s = 0; s < what_.size(); ++s) state.slices[what_[s]] = times_[s];
}

void Slices::finish(Run& run, Summary& summary) {
  (void)run;
  summary.output_seconds += seconds_;
}

void Slices::write_one(Run& run, std::size_t slice) {
  files_[slice].write(run.time, run.fields());
  times_[slice].push_back(run.time);
}

}  // namespace tutti
