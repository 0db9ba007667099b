#include "tutti/simulation/slices.hpp"

#include <fmt/core.h>

namespace tutti {

Slices::Slices(Model& model, const Case& options, const std::filesystem::path& folder, const Times& before)
    : model_(model) {
  if (!options.schema().is_table_list("output.slice") || !options.flag("devices.exchange")) return;
  every_ = options.integer("output.slice_every");
  for (int i = 0; i < options.count("output.slice"); ++i) {
    const std::string table = fmt::format("output.slice[{}]", i);
    what_.push_back(fmt::format("{} at {} = {}", options.text(table + ".name"), options.text(table + ".axis"),
                                options.number(table + ".position")));
    const auto found = before.find(what_.back());
    times_.push_back(found != before.end() ? found->second : std::vector<double>{});
  }
  if (!what_.empty()) model_.open_slices(folder, times_);
}

void Slices::start(double time) {
  for (std::size_t s = 0; s < what_.size(); ++s)
    if (times_[s].empty()) write_one(s, time);
}

void Slices::write(double time) {
  for (std::size_t s = 0; s < what_.size(); ++s) write_one(s, time);
}

Slices::Times Slices::times() const {
  Times times;
  for (std::size_t s = 0; s < what_.size(); ++s) times[what_[s]] = times_[s];
  return times;
}

void Slices::write_one(std::size_t slice, double time) {
  model_.write_slice(slice, time);
  times_[slice].push_back(time);
}

}  // namespace tutti
