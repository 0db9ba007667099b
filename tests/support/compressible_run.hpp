// A run of compressible flow from a case's text, and its state in the order of the elements.
#pragma once

#include <gtest/gtest.h>

#include <bit>
#include <filesystem>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "tutti/io/case/core_keys.hpp"
#include "tutti/models/compressible/compressible.hpp"

namespace tutti::test {

inline CaseSchema compressible_schema() {
  CaseSchema schema = core_schema({"compressible"}, DomainKeys::elements);
  compressible::add_compressible_keys(schema);
  return schema;
}

class CompressibleRun {
 public:
  /// Collective over `comm`, which must outlive it.
  CompressibleRun(const Comm& comm, const std::string& text, const std::string& device_list, std::uint64_t seed = 1)
      : comm_(comm), options_(parse_case(text, "case.toml", compressible_schema())) {
    DeviceOptions device_options;
    device_options.threads = 1;
    device_options.fake.seed = seed;
    device_options.fake.memory = Size{64} << 20;
    devices_ = open_devices(device_list, comm_, device_options);
    model_ = std::make_unique<compressible::CompressibleFlow>(
        ModelSetup{comm_, devices_, options_, std::filesystem::temp_directory_path(), phases_});
  }

  void steps(int count, double dt) {
    for (int k = 0; k < count; ++k, time_ += dt) model_->step(time_, dt);
    model_->wait();
  }
  /// Steps of equal length that are stable at the start.
  void until(double end) {
    const int count = static_cast<int>(std::ceil(end / model_->time_step()));
    for (int k = 0; k < count; ++k) model_->step(end * k / count, end / count);
    time_ = end;
    model_->wait();
  }
  compressible::CompressibleFlow& model() { return *model_; }
  double time() const { return time_; }
  double l2() { return model_->errors(time_).l2; }

  /// On all ranks.
  std::vector<double> state() {
    struct Value {
      Gid place;
      double value;
    };
    const ModelState parts = model_->state();
    const StateField& field = parts.fields.at(0);
    const auto count = static_cast<std::size_t>(field.components);
    std::vector<Value> mine;
    for (std::size_t p = 0; p < parts.maps.size(); ++p) {
      std::vector<double> owned(static_cast<std::size_t>(parts.maps[p].owned) * count);
      field.save(p, owned);
      for (std::size_t i = 0; i < owned.size(); ++i)
        mine.push_back({parts.maps[p].global[i / count] * field.components + static_cast<Gid>(i % count), owned[i]});
    }
    std::vector<double> all(static_cast<std::size_t>(parts.rows) * count, std::numeric_limits<double>::quiet_NaN());
    const auto gathered = comm_.all_gather(std::span<const Value>(mine));
    EXPECT_EQ(gathered.size(), all.size()) << "elements of all parts";
    for (const Value& v : gathered) all[v.place] = v.value;
    return all;
  }
  /// Goes on at `time` from the state of another run.
  void resume(const std::vector<double>& state, double time) {
    const ModelState parts = model_->state();
    const StateField& field = parts.fields.at(0);
    for (std::size_t p = 0; p < parts.maps.size(); ++p) {
      std::vector<double> owned;
      for (Lid i = 0; i < parts.maps[p].owned; ++i)
        for (int c = 0; c < field.components; ++c)
          owned.push_back(state[parts.maps[p].global[i] * field.components + c]);
      field.load(p, owned);
    }
    time_ = time;
    model_->resume(time);
  }

 private:
  const Comm& comm_;
  Case options_;
  DeviceSet devices_;
  Phases phases_;
  std::unique_ptr<compressible::CompressibleFlow> model_;
  double time_ = 0;
};

/// Values that differ in a bit.
inline std::string difference(const std::vector<double>& a, const std::vector<double>& b) {
  if (a.size() != b.size()) return fmt::format("{} values and {}", a.size(), b.size());
  std::size_t wrong = 0, first = 0;
  for (std::size_t i = a.size(); i-- > 0;)
    if (std::bit_cast<std::uint64_t>(a[i]) != std::bit_cast<std::uint64_t>(b[i])) {
      ++wrong;
      first = i;
    }
  if (wrong == 0) return "";
  return fmt::format("{} of {} differ, the first is value {}: {} and {}", wrong, a.size(), first, a[first], b[first]);
}

/// [mesh] of a box.
struct TestBox {
  std::string element = "tet";
  std::array<int, 3> cubes{4, 4, 4};
  std::array<double, 3> upper{1, 1, 1};
  double jitter = 0;
  std::string periodic = "true", more = "";

  std::string text() const {
    return fmt::format(
        "model = \"compressible\"\n[mesh]\ngenerate = \"box\"\nelement = \"{}\"\ncubes = [{}, {}, {}]\n"
        "upper = [{}, {}, {}]\njitter = {}\nperiodic = {}\n{}\n",
        element, cubes[0], cubes[1], cubes[2], upper[0], upper[1], upper[2], jitter, periodic, more);
  }
};

}  // namespace tutti::test
