// When slices of a grid are written, and what has been.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "tutti/io/case.hpp"
#include "tutti/simulation/model.hpp"

namespace tutti {

/// The slices of [[output.slice]], written every output.slice_every steps. Models that know none have none. Collective.
class Slices {
 public:
  /// By what describes a slice, "middle at z = 0.5": times of what is written.
  using Times = std::map<std::string, std::vector<double>>;
  /// Opens them in `folder`. `before`: what an earlier run has written into it; a slice that lies elsewhere now is
  /// another one. Errors as Model::open_slices.
  Slices(Model& model, const Case& options, const std::filesystem::path& folder, const Times& before);

  /// Whether they are to be written after this step.
  bool due(Size step, bool last) const { return !what_.empty() && (last || (every_ > 0 && step % every_ == 0)); }
  /// Writes those of which there is nothing yet.
  void start(double time);
  void write(double time);
  Times times() const;

 private:
  void write_one(std::size_t slice, double time);

  Model& model_;
  Size every_ = 0;
  std::vector<std::string> what_;
  std::vector<std::vector<double>> times_;
};

}  // namespace tutti
