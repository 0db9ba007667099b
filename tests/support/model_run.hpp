// A run of a model from a case's text, and its state in global order, whoever owned the rows.
#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <bit>
#include <filesystem>
#include <limits>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "tutti/io/case/case.hpp"
#include "tutti/simulation/model.hpp"

namespace tutti::test {

/// What a checkpoint keeps: fields in global order, all components of a row together; numbers.
struct SavedState {
  std::map<std::string, std::vector<double>> fields;
  std::map<std::string, double> numbers;
};

/// Values that differ in a bit, by field; empty where there are none.
inline std::string difference(const SavedState& a, const SavedState& b) {
  std::string text;
  if (a.fields.size() != b.fields.size()) text += "other fields; ";
  for (const auto& [name, values] : a.fields) {
    const auto other = b.fields.find(name);
    if (other == b.fields.end() || other->second.size() != values.size()) {
      text += name + ": not there; ";
      continue;
    }
    std::size_t wrong = 0, first = 0;
    for (std::size_t i = values.size(); i-- > 0;)
      if (std::bit_cast<std::uint64_t>(values[i]) != std::bit_cast<std::uint64_t>(other->second[i])) {
        ++wrong;
        first = i;
      }
    if (wrong > 0)
      text += fmt::format("{}: {} of {} differ, the first is value {}: {} and {}; ", name, wrong, values.size(), first,
                          values[first], other->second[first]);
  }
  return text;
}

/// A model M on the devices of a list: fakes of 64 MiB, one thread a CPU.
template <class M>
class ModelRun {
 public:
  using Make = std::unique_ptr<M> (*)(const ModelSetup&);

  /// Collective over `comm`, which must outlive it.
  ModelRun(const Comm& comm, const std::string& text, const CaseSchema& schema, Make make,
           const std::string& device_list, std::uint64_t seed = 1)
      : comm_(comm), options_(parse_case(text, "case.toml", schema)) {
    DeviceOptions device_options;
    device_options.threads = 1;
    device_options.fake.seed = seed;
    device_options.fake.memory = Size{64} << 20;
    devices_ = open_devices(device_list, comm_, device_options);
    model_ = make({comm_, devices_, options_, std::filesystem::temp_directory_path(), phases_});
  }

  void steps(int count, double dt) {
    for (int k = 0; k < count; ++k, time_ = ++done_ * dt) model_->step(time_, dt);
    model_->wait();
  }
  void steps(int count) { steps(count, model_->time_step()); }
  /// Steps of equal length that are stable at the start.
  void until(double end) {
    const int count = static_cast<int>(std::ceil(end / model_->time_step()));
    steps(count, end / count);
  }
  double time() const { return time_; }
  M& model() { return *model_; }
  const Case& options() const { return options_; }

  /// On all ranks.
  SavedState state() {
    struct Value {
      Gid place;
      double value;
    };
    const ModelState parts = model_->state();
    SavedState state;
    for (const StateField& field : parts.fields) {
      std::vector<Value> mine;
      for (std::size_t p = 0; p < parts.maps.size(); ++p) {
        std::vector<double> owned(values(parts.maps[p].owned, field));
        field.save(p, owned);
        for (std::size_t i = 0; i < owned.size(); ++i) mine.push_back({place(parts.maps[p], field, i), owned[i]});
      }
      auto& all = state.fields[field.name];
      all.assign(values(parts.rows, field), std::numeric_limits<double>::quiet_NaN());
      const auto gathered = comm_.all_gather(std::span<const Value>(mine));
      EXPECT_EQ(gathered.size(), all.size()) << field.name << ": rows of all parts";
      for (const Value& v : gathered) all[v.place] = v.value;
    }
    for (const StateNumber& number : parts.numbers) state.numbers[number.name] = *number.value;
    return state;
  }
  /// Goes on at `time`, after `done` steps, from the state of another run.
  void resume(const SavedState& state, int done, double time) {
    const ModelState parts = model_->state();
    for (const StateField& field : parts.fields)
      for (std::size_t p = 0; p < parts.maps.size(); ++p) {
        std::vector<double> owned(values(parts.maps[p].owned, field));
        for (std::size_t i = 0; i < owned.size(); ++i)
          owned[i] = state.fields.at(field.name)[place(parts.maps[p], field, i)];
        field.load(p, owned);
      }
    for (const StateNumber& number : parts.numbers) *number.value = state.numbers.at(number.name);
    done_ = done;
    time_ = time;
    model_->resume(time);
  }
  void resume(const SavedState& state, int done) { resume(state, done, done * model_->time_step()); }

  Summary summary() {
    Summary summary;
    summarise(comm_, *model_, summary, time());
    return summary;
  }
  double diagnostic(const std::string& name) {
    for (const Diagnostic& d : model_->diagnose())
      if (d.name == name) return d.value;
    ADD_FAILURE() << "no diagnostic " << name;
    return 0;
  }

 private:
  static std::size_t values(Gid rows, const StateField& field) {
    return static_cast<std::size_t>(rows) * static_cast<std::size_t>(field.components);
  }
  /// Of the i-th value that a part owns.
  static Gid place(const IndexMap& map, const StateField& field, std::size_t i) {
    const auto count = static_cast<std::size_t>(field.components);
    return map.global[i / count] * field.components + static_cast<Gid>(i % count);
  }

  const Comm& comm_;
  Case options_;
  DeviceSet devices_;
  Phases phases_;
  std::unique_ptr<M> model_;
  int done_ = 0;
  double time_ = 0;
};

/// The state of a run of one CPU part after `advance`(run), on all ranks of `world`; only the root computes it.
template <class Run, class F>
SavedState state_of_one_part(const Comm& world, const std::string& text, F advance, std::uint64_t* checksum = nullptr) {
  SavedState state;
  std::vector<std::uint64_t> sum(1);
  if (world.is_root()) {
    const Comm alone(MPI_COMM_SELF);
    Run run(alone, text, "cpu");
    advance(run);
    state = run.state();
    sum[0] = run.summary().checksum;
  }
  std::string list;
  for (const auto& [name, _] : state.fields) list += name + "\n";
  world.broadcast(list);
  for (std::size_t begin = 0, end; (end = list.find('\n', begin)) != std::string::npos; begin = end + 1)
    world.broadcast(state.fields[list.substr(begin, end - begin)]);
  world.broadcast(sum);
  if (checksum != nullptr) *checksum = sum[0];
  return state;
}
/// After `count` steps.
template <class Run>
SavedState state_of_one_part(const Comm& world, const std::string& text, int count, std::uint64_t* checksum = nullptr) {
  return state_of_one_part<Run>(
      world, text, [count](Run& run) { run.steps(count); }, checksum);
}

}  // namespace tutti::test
