// A run of the model of incompressible flow from a case's text, and all its fields in the order of the grid.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "tutti/io/case/core_keys.hpp"
#include "tutti/models/incompressible/incompressible.hpp"

namespace tutti::test {

inline CaseSchema flow_schema() {
  CaseSchema schema = core_schema({"incompressible"}, DomainKeys::box);
  add_incompressible_keys(schema);
  return schema;
}

/// What a checkpoint keeps, whoever owned it: fields in global order, numbers.
struct FlowState {
  std::map<std::string, std::vector<double>> fields;
  std::map<std::string, double> numbers;
};

/// Values that differ in a bit, by field.
inline std::string difference(const FlowState& a, const FlowState& b) {
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
      text += fmt::format("{}: {} of {} differ, first cell {}: {} and {}; ", name, wrong, values.size(), first,
                          values[first], other->second[first]);
  }
  return text;
}

class FlowRun {
 public:
  /// Collective over `comm`, which must outlive it.
  FlowRun(const Comm& comm, const std::string& text, const std::string& device_list, std::uint64_t seed = 1)
      : comm_(comm), options_(parse_case(text, "flow.toml", flow_schema())) {
    DeviceOptions device_options;
    device_options.threads = 1;
    device_options.fake.seed = seed;
    device_options.fake.memory = Size{64} << 20;
    devices_ = open_devices(device_list, comm_, device_options);
    model_ = make_incompressible({comm_, devices_, options_, std::filesystem::temp_directory_path(), phases_});
  }

  void steps(int count) {
    for (int k = 0; k < count; ++k, ++done_) model_->step(time(), model_->time_step());
    model_->wait();
  }
  double time() const { return done_ * model_->time_step(); }
  Model& model() { return *model_; }

  /// On all ranks.
  FlowState state() {
    struct Value {
      Gid cell;
      double value;
    };
    const ModelState parts = model_->state();
    FlowState state;
    for (const StateField& field : parts.fields) {
      std::vector<Value> mine;
      for (std::size_t p = 0; p < parts.maps.size(); ++p) {
        std::vector<double> owned(parts.maps[p].owned);
        field.save(p, owned);
        for (std::size_t i = 0; i < owned.size(); ++i) mine.push_back({parts.maps[p].global[i], owned[i]});
      }
      auto& all = state.fields[field.name];
      all.assign(parts.rows, std::numeric_limits<double>::quiet_NaN());
      const auto gathered = comm_.all_gather(std::span<const Value>(mine));
      EXPECT_EQ(gathered.size(), all.size()) << "cells of all parts";
      for (const Value& v : gathered) all[v.cell] = v.value;
    }
    for (const StateNumber& number : parts.numbers) state.numbers[number.name] = *number.value;
    return state;
  }
  /// Goes on after `done` steps from the state of another run.
  void resume(const FlowState& state, int done) {
    const ModelState parts = model_->state();
    for (const StateField& field : parts.fields)
      for (std::size_t p = 0; p < parts.maps.size(); ++p) {
        std::vector<double> owned;
        for (Lid i = 0; i < parts.maps[p].owned; ++i)
          owned.push_back(state.fields.at(field.name)[parts.maps[p].global[i]]);
        field.load(p, owned);
      }
    for (const StateNumber& number : parts.numbers) *number.value = state.numbers.at(number.name);
    done_ = done;
    model_->resume(time());
  }
  const Case& options() const { return options_; }
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
  const Comm& comm_;
  Case options_;
  DeviceSet devices_;
  Phases phases_;
  std::unique_ptr<Model> model_;
  int done_ = 0;
};

/// A case's text: what all of them need, then `more`.
inline std::string flow_text(const std::string& cells, const std::string& more) {
  return "model = \"incompressible\"\n[grid]\ncells = " + cells + "\n" + more;
}

/// A table [[boundary]] of a case.
inline std::string face(const std::string& name, const std::string& keys) {
  return "[[boundary]]\nface = \"" + name + "\"\n" + keys + "\n";
}
/// Both ends of a direction, "x".
inline std::string periodic(const std::string& direction) {
  return face(direction + "-lower", "velocity = \"periodic\"") + face(direction + "-upper", "velocity = \"periodic\"");
}

/// The state after `count` steps of a single CPU part, on all ranks of `world`; only the root computes it.
inline FlowState state_of_one_part(const Comm& world, const std::string& text, int count,
                                   std::uint64_t* checksum = nullptr) {
  FlowState state;
  std::vector<std::string> names;
  std::vector<std::uint64_t> sum(1);
  if (world.is_root()) {
    const Comm alone(MPI_COMM_SELF);
    FlowRun run(alone, text, "cpu");
    run.steps(count);
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

}  // namespace tutti::test
