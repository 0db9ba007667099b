// A run of the model of transport on the sphere from a case's text, and its tracers in the order of the nodes.
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
#include "tutti/models/transport/transport.hpp"

namespace tutti::test {

inline CaseSchema transport_schema() {
  CaseSchema schema = core_schema({"transport"}, DomainKeys::nodes);
  add_transport_keys(schema);
  return schema;
}

/// What a checkpoint keeps, whoever owned it: all tracers of a node together, node after node; numbers.
struct TransportState {
  std::vector<double> tracers;
  std::map<std::string, double> numbers;
};

/// Values that differ in a bit.
inline std::string difference(const TransportState& a, const TransportState& b) {
  if (a.tracers.size() != b.tracers.size()) return fmt::format("{} values and {}", a.tracers.size(), b.tracers.size());
  std::size_t wrong = 0, first = 0;
  for (std::size_t i = a.tracers.size(); i-- > 0;)
    if (std::bit_cast<std::uint64_t>(a.tracers[i]) != std::bit_cast<std::uint64_t>(b.tracers[i])) {
      ++wrong;
      first = i;
    }
  if (wrong == 0) return "";
  return fmt::format("{} of {} differ, the first is value {}: {} and {}", wrong, a.tracers.size(), first,
                     a.tracers[first], b.tracers[first]);
}

class TransportRun {
 public:
  /// Collective over `comm`, which must outlive it.
  TransportRun(const Comm& comm, const std::string& text, const std::string& device_list, std::uint64_t seed = 1)
      : comm_(comm), options_(parse_case(text, "case.toml", transport_schema())) {
    DeviceOptions device_options;
    device_options.threads = 1;
    device_options.fake.seed = seed;
    device_options.fake.memory = Size{64} << 20;
    devices_ = open_devices(device_list, comm_, device_options);
    model_ = std::make_unique<SphereTransport>(
        ModelSetup{comm_, devices_, options_, std::filesystem::temp_directory_path(), phases_});
  }

  void steps(int count) {
    for (int k = 0; k < count; ++k, ++done_) model_->step(time(), model_->time_step());
    model_->wait();
  }
  double time() const { return done_ * model_->time_step(); }
  SphereTransport& model() { return *model_; }

  /// On all ranks.
  TransportState state() {
    struct Value {
      Gid place;
      double value;
    };
    const ModelState parts = model_->state();
    const StateField& field = parts.fields.at(0);
    std::vector<Value> mine;
    for (std::size_t p = 0; p < parts.maps.size(); ++p) {
      std::vector<double> owned(parts.maps[p].owned * field.components);
      field.save(p, owned);
      const auto count = static_cast<std::size_t>(field.components);
      for (std::size_t i = 0; i < owned.size(); ++i)
        mine.push_back({parts.maps[p].global[i / count] * field.components + static_cast<Gid>(i % count), owned[i]});
    }
    TransportState state;
    state.tracers.assign(parts.rows * field.components, std::numeric_limits<double>::quiet_NaN());
    const auto gathered = comm_.all_gather(std::span<const Value>(mine));
    EXPECT_EQ(gathered.size(), state.tracers.size()) << "nodes of all parts";
    for (const Value& v : gathered) state.tracers[v.place] = v.value;
    for (const StateNumber& number : parts.numbers) state.numbers[number.name] = *number.value;
    return state;
  }
  /// Goes on after `done` steps from the state of another run.
  void resume(const TransportState& state, int done) {
    const ModelState parts = model_->state();
    const StateField& field = parts.fields.at(0);
    for (std::size_t p = 0; p < parts.maps.size(); ++p) {
      std::vector<double> owned;
      for (Lid i = 0; i < parts.maps[p].owned; ++i)
        for (int c = 0; c < field.components; ++c)
          owned.push_back(state.tracers[parts.maps[p].global[i] * field.components + c]);
      field.load(p, owned);
    }
    for (const StateNumber& number : parts.numbers) *number.value = state.numbers.at(number.name);
    done_ = done;
    model_->resume(time());
  }
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
  std::unique_ptr<SphereTransport> model_;
  int done_ = 0;
};

/// The state after `count` steps of a single CPU part, on all ranks of `world`; only the root computes it.
inline TransportState transport_of_one_part(const Comm& world, const std::string& text, int count,
                                            std::uint64_t* checksum = nullptr) {
  TransportState state;
  std::vector<std::uint64_t> sum(1);
  if (world.is_root()) {
    const Comm alone(MPI_COMM_SELF);
    TransportRun run(alone, text, "cpu");
    run.steps(count);
    state = run.state();
    sum[0] = run.summary().checksum;
  }
  world.broadcast(state.tracers);
  world.broadcast(sum);
  if (checksum != nullptr) *checksum = sum[0];
  return state;
}

}  // namespace tutti::test
