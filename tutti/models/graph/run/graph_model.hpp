// A graph as a model: a run advances by sources, and its rows are the vertices.
#pragma once

#include <chrono>
#include <optional>

#include "tutti/domain/domain.hpp"
#include "tutti/models/graph/betweenness/betweenness.hpp"
#include "tutti/models/graph/run/graph_case.hpp"
#include "tutti/simulation/model.hpp"

namespace tutti::graph {

/// Vertices in equal pieces, one a device: who keeps them in a checkpoint. Those of the sweeps are others.
class VertexDomain final : public Domain {
 public:
  VertexDomain(const ModelSetup& setup, Vertex vertices, std::uint64_t hash_of_graph);
  RowWords words() const override { return {"vertices", "a smaller graph"}; }
  bool in_space() const override { return false; }
  void load(const ModelSetup&) override {}
  void cut(const ModelSetup&, const PartPlaces&, const StoredPartition*) override {}
  std::vector<RowPlace> locate(const Comm&, std::span<const Vec3>, std::span<const std::string>) const override {
    return {};
  }
  std::unique_ptr<Pieces> pieces(const VtkOptions&) const override { return nullptr; }
};

class GraphModel final : public Model {
 public:
  explicit GraphModel(const ModelSetup& setup);
  GraphModel(const GraphModel&) = delete;
  GraphModel& operator=(const GraphModel&) = delete;

  const Domain& domain() const override { return *domain_; }
  std::vector<ModelField> fields() override;
  double time_step() const override { return first_step_; }
  std::optional<Advance> advance() const override;
  std::vector<std::string> describe() const override;
  void step(double time, double dt) override;
  Size adapts_every() const override { return 1; }
  double adapted_step(double dt) override;
  std::vector<StateNumber> numbers() override;
  void resume(double time) override;
  std::vector<Diagnostic> diagnose() override;
  void write_results(const std::filesystem::path& folder) override;
  Size bytes_moved(std::size_t) const override { return 0; }
  ExchangeCounts exchanged() const override { return {}; }
  void summarise(Summary&, double) override {}
  std::vector<const Step*> schedules() const override { return {}; }

 private:
  /// A number of 64 bits, kept in checkpoints as two doubles.
  struct WideCount {
    double high = 0, low = 0;
    void set(std::uint64_t value);
    std::uint64_t get() const;
  };
  void read_whole(const ModelSetup& setup);
  void read_in_parts(const ModelSetup& setup);
  Graph build(const ArcList& outgoing, const ArcList& incoming) const;
  void keep_names();
  void add_closeness(Size until);
  void collect();
  Size units() const { return case_.measure == Measure::components ? 1 : static_cast<Size>(sources_.size()); }
  ModelField values_field(bool restart);
  ModelField digits_field();

  const Comm& comm_;
  DeviceSet& devices_;
  const Case& options_;
  GraphCase case_;
  Graph graph_;  ///< of betweenness: names and numbers only, once it is ordered
  Size arcs_ = 0;
  std::vector<Vertex> sources_;  ///< of betweenness: new names
  std::unique_ptr<VertexDomain> domain_;
  std::optional<OrderedGraph> ordered_;  ///< none where no rank has the whole graph
  std::vector<Vertex> new_name_;         ///< of betweenness
  std::optional<Betweenness> work_;
  BetweennessState state_;      ///< of betweenness
  std::vector<double> values_;  ///< of other measures; -1: not yet
  Size done_ = 0;
  WideCount reached_, list_;
  std::uint64_t list_hash_ = 0;
  double first_step_ = 1;
  double seconds_ = 0;  ///< of the last step
  Size in_step_ = 0;    ///< its sources
};

}  // namespace tutti::graph
