#include "tutti/models/graph/run/graph_model.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "tutti/base/hash.hpp"
#include "tutti/base/log.hpp"
#include "tutti/base/units.hpp"
#include "tutti/device/host/host_memory.hpp"
#include "tutti/models/graph/files/write_values.hpp"
#include "tutti/models/graph/parts/shared_graph.hpp"
#include "tutti/schedule/balance.hpp"

namespace tutti::graph {
namespace {

constexpr double seconds_a_step = 2;
constexpr std::uint64_t word = 0xffffffffu;

template <class T>
void add_to(Hasher& hasher, const std::vector<T>& values) {
  const auto count = static_cast<std::uint64_t>(values.size());
  hasher.add({reinterpret_cast<const char*>(&count), sizeof count});
  hasher.add({reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T)});
}

std::uint64_t hash_of(const VertexNames& names) {
  Hasher hasher;
  hasher.add({reinterpret_cast<const char*>(&names.first), sizeof names.first});
  add_to(hasher, names.ids);
  return hasher.digest();
}

/// The sum of the hashes of all rows that have arcs: of rows that are on several ranks it is the sum of theirs.
std::uint64_t hash_of_rows(const Graph& graph) {
  std::uint64_t sum = 0;
  for (Vertex v = 0; v < graph.vertices; ++v) {
    const auto row = graph.out.row(v);
    if (row.empty()) continue;
    Hasher hasher;
    hasher.add({reinterpret_cast<const char*>(&v), sizeof v});
    hasher.add({reinterpret_cast<const char*>(row.data()), row.size_bytes()});
    sum += hasher.digest();
  }
  return sum;
}

std::uint64_t hash_of(const std::vector<Vertex>& list) {
  Hasher hasher;
  add_to(hasher, list);
  return hasher.digest();
}

}  // namespace

VertexDomain::VertexDomain(const ModelSetup& setup, Vertex vertices, std::uint64_t hash_of_graph) {
  rows = vertices;
  checksum = hash_of_graph;
  rank_of_part = place_parts(setup.comm, setup.devices).rank_of_part;
  first_part =
      static_cast<int>(std::find(rank_of_part.begin(), rank_of_part.end(), setup.comm.rank()) - rank_of_part.begin());
  for (const auto& device : setup.devices.devices) streams.emplace_back(*device);
  const auto parts = static_cast<Gid>(rank_of_part.size());
  weights.assign(rank_of_part.size(), 1.0 / static_cast<double>(parts));
  balance.weights = "equal";
  std::vector<PartRows> pieces(mine());
  for (std::size_t p = 0; p < pieces.size(); ++p) {
    pieces[p].part = part(p);
    for (Gid v = rows * part(p) / parts; v < rows * (part(p) + 1) / parts; ++v) pieces[p].owned.push_back(v);
  }
  maps = number_parts(setup.comm, pieces, rank_of_part);
}

void GraphModel::WideCount::set(std::uint64_t value) {
  high = static_cast<double>(value >> 32);
  low = static_cast<double>(value & word);
}
std::uint64_t GraphModel::WideCount::get() const {
  return static_cast<std::uint64_t>(high) << 32 | static_cast<std::uint64_t>(low);
}

GraphModel::GraphModel(const ModelSetup& setup) : comm_(setup.comm), devices_(setup.devices), options_(setup.options) {
  setup.phases.begin("read");
  comm_.together([&] { case_ = read_graph_case(options_); });
  if (chooses_pieces(options_, case_, comm_))
    read_in_parts(setup);
  else
    read_whole(setup);
  if (case_.measure == Measure::betweenness) {
    state_ = work_->begin();
    first_step_ = static_cast<double>(case_.sources_a_step > 0 ? case_.sources_a_step : work_->batches());
  } else {
    values_.assign(graph_.vertices, -1);
    first_step_ = static_cast<double>(case_.sources_a_step > 0 ? case_.sources_a_step : 16 * devices_.threads->count());
    first_step_ = comm_.max(first_step_);
  }
  setup.phases.end();
}

Graph GraphModel::build(const ArcList& outgoing, const ArcList& incoming) const {
  try {
    return build_graph(outgoing, incoming, case_.build, parallel_for(*devices_.threads));
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::usage) throw;
    fail(ErrorKind::input, "{}: {}", options_.where("graph.filter_eighths"), error.what());
  }
}

/// Of a graph that is ordered, and gone.
void GraphModel::keep_names() {
  Graph small;
  small.vertices = graph_.vertices;
  small.directed = graph_.directed;
  small.names = std::move(graph_.names);
  graph_ = std::move(small);
}

void GraphModel::read_whole(const ModelSetup& setup) {
  const ParallelFor parallel = parallel_for(*devices_.threads);
  std::uint64_t hash = 0;
  comm_.together([&] {
    const ArcList list = load_arcs(options_, parallel);
    graph_ = build(list, list);
    arcs_ = graph_.arcs();
    hash = hash_of(graph_.names) + hash_of_rows(graph_);
    sources_ = choose_sources(graph_, case_.sources, case_.seed);
    list_hash_ = hash_of(sources_);
    list_.set(list_hash_);
  });
  domain_ = std::make_unique<VertexDomain>(setup, graph_.vertices, hash);
  if (case_.measure != Measure::betweenness) return;
  setup.phases.begin("order");
  comm_.together([&] {
    ordered_ = order_by_degree(graph_, parallel);
    new_name_ = std::move(ordered_->new_name);
    for (Vertex& s : sources_) s = new_name_[s];
    // In any graph: the list is the same with vertices in parts, where nobody knows its depth.
    if (units() > 64) group_sources(*ordered_, sources_, parallel);
    keep_names();
  });
  setup.phases.begin("copy");
  work_.emplace(*ordered_, devices_, comm_, units(), Sweep::automatic, case_.placement);
}

/// No rank has more than its share of the arcs.
void GraphModel::read_in_parts(const ModelSetup& setup) {
  const ParallelFor parallel = parallel_for(*devices_.threads);
  if (case_.placement == Placement::automatic)
    info("the graph does not fit into a rank's memory: its vertices are distributed");
  ArcList piece = load_piece(options_, comm_, parallel);
  const Size there = host_memory(comm_);
  comm_.together([&] { check_room(piece.vertices, piece.size(), there); });
  VertexNames names = piece.names;
  const VertexOwners owners = share_blocks(comm_, devices_, piece);
  ArcShare share = share_arcs(comm_, piece, owners, case_.build.directed, parallel);
  piece = {};
  Graph mine;
  std::int64_t hash = 0;
  comm_.together([&] {
    mine = build(share.outgoing, share.incoming);
    mine.names = names;
    share = {};
    hash = static_cast<std::int64_t>(hash_of_rows(mine));
  });
  const std::uint64_t hash_of_graph = hash_of(names) + static_cast<std::uint64_t>(comm_.sum(hash));
  arcs_ = comm_.sum(mine.arcs());
  sources_ = choose_sources(comm_, mine, case_.sources, case_.seed);
  list_hash_ = hash_of(sources_);
  list_.set(list_hash_);
  graph_.vertices = mine.vertices;
  graph_.directed = mine.directed;
  graph_.names = std::move(names);
  domain_ = std::make_unique<VertexDomain>(setup, graph_.vertices, hash_of_graph);
  setup.phases.begin("order");
  CutGraph cut = order_and_cut(comm_, std::move(mine), owners, parallel, sources_);
  new_name_ = std::move(cut.new_name);
  setup.phases.begin("copy");
  work_.emplace(std::move(cut.parts), graph_.vertices, devices_, comm_, units());
}

std::optional<Advance> GraphModel::advance() const {
  const bool parts = case_.measure == Measure::components;
  return Advance{parts ? "passes" : "sources", static_cast<double>(units()), "edges x sources",
                 static_cast<double>(arcs_)};
}

std::vector<std::string> GraphModel::describe() const {
  return {fmt::format("{} graph: {} vertices, {} arcs", graph_.directed ? "directed" : "undirected",
                      format_count(graph_.vertices), format_count(arcs_))};
}

void GraphModel::step(double time, double dt) {
  const Size until =
      std::clamp(std::llround(time + dt), static_cast<long long>(done_), static_cast<long long>(units()));
  const auto start = std::chrono::steady_clock::now();
  in_step_ = until - done_;
  if (case_.measure == Measure::betweenness) {
    work_->advance(sources_, until, state_);
  } else if (case_.measure == Measure::closeness) {
    add_closeness(until);
  } else if (until > done_) {
    comm_.together([&] {
      const std::vector<Vertex> first = components(graph_);
      std::copy(first.begin(), first.end(), values_.begin());
    });
  }
  done_ = until;
  seconds_ = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  if (done_ == units()) collect();
}

void GraphModel::add_closeness(Size until) {
  struct Value {
    Vertex vertex;
    double value;
  };
  std::vector<Value> mine;
  comm_.together([&] {
    const Size count = until - done_, begin = done_ + count * comm_.rank() / comm_.size(),
               end = done_ + count * (comm_.rank() + 1) / comm_.size();
    const std::vector<Vertex> part(sources_.begin() + begin, sources_.begin() + end);
    const std::vector<double> values = closeness(graph_, part, parallel_for(*devices_.threads));
    for (const Vertex v : part) mine.push_back({v, values[v]});
  });
  for (const Value& v : comm_.all_gather(std::span<const Value>(mine))) values_[v.vertex] = v.value;
}

/// What the workers have summed comes to all ranks. Costly, so only when somebody looks.
void GraphModel::collect() {
  if (work_) work_->collect(state_);
  reached_.set(static_cast<std::uint64_t>(state_.reached));
}

/// The root's clock decides. How sources are cut into steps changes no bit.
double GraphModel::adapted_step(double dt) {
  if (case_.sources_a_step > 0) return static_cast<double>(case_.sources_a_step);
  const double least = work_ ? static_cast<double>(work_->batches()) : first_step_;
  const double rate = static_cast<double>(in_step_) / std::max(seconds_, 1e-6);
  const double wanted = std::round(std::clamp(seconds_a_step * rate, least, std::max(least, 16 * dt)));
  std::vector<double> decided{wanted > 0.5 * dt && wanted < 2 * dt ? dt : wanted};
  comm_.broadcast(decided);
  return decided[0];
}

ModelField GraphModel::values_field(bool restart) {
  ModelField field{.name = case_.name, .restart = restart, .checksum = true, .output = true};
  field.read = [this](std::size_t p, const RowSet& rows, std::span<double> to) {
    std::size_t i = 0;
    for (Lid row = rows.rows.begin; row < rows.rows.end; ++row) {
      const auto v = static_cast<std::size_t>(domain_->maps[p].global[row]);
      to[i++] = work_ ? state_.sums[new_name_[v]].value() : values_[v];
    }
  };
  if (restart)
    field.write = [this](std::size_t p, std::span<const double> from) {
      for (std::size_t i = 0; i < from.size(); ++i) values_[domain_->maps[p].global[i]] = from[i];
    };
  return field;
}

/// The sums as whole numbers that doubles hold: the digit of 2^-8 in two halves, then those of 2^-54 and 2^-100.
ModelField GraphModel::digits_field() {
  ModelField field{.name = "digits", .components = 4, .restart = true};
  const auto sum_of = [this](std::size_t p, std::size_t row) -> DeltaSum& {
    const auto v = static_cast<std::size_t>(domain_->maps[p].global[row]);
    return state_.sums[new_name_[v]];
  };
  field.read = [sum_of](std::size_t p, const RowSet& rows, std::span<double> to) {
    std::size_t i = 0;
    for (Lid row = rows.rows.begin; row < rows.rows.end; ++row) {
      const DeltaSum& sum = sum_of(p, static_cast<std::size_t>(row));
      to[i++] = static_cast<double>(sum.high >> 32);
      to[i++] = static_cast<double>(sum.high & static_cast<std::int64_t>(word));
      to[i++] = static_cast<double>(sum.middle);
      to[i++] = static_cast<double>(sum.low);
    }
  };
  field.write = [sum_of](std::size_t p, std::span<const double> from) {
    for (std::size_t row = 0; 4 * row < from.size(); ++row) {
      const auto digit = [&](std::size_t c) { return static_cast<std::int64_t>(from[4 * row + c]); };
      sum_of(p, row) = {digit(0) * (std::int64_t{1} << 32) + digit(1), digit(2), digit(3)};
    }
  };
  return field;
}

std::vector<ModelField> GraphModel::fields() {
  if (!work_) return {values_field(true)};
  return {values_field(false), digits_field()};
}

std::vector<StateNumber> GraphModel::numbers() {
  return {{"reached_high", &reached_.high},
          {"reached_low", &reached_.low},
          {"source_list_high", &list_.high},
          {"source_list_low", &list_.low}};
}

/// Each rank has read its parts' vertices; all need all of them.
void GraphModel::resume(double time) {
  comm_.together([&] {
    if (list_.get() != list_hash_)
      fail(ErrorKind::input,
           "{}: the sources differ from those of the checkpoint; give the same ones, or start a new run",
           options_.where(case_.where));
    done_ = std::clamp<Size>(std::llround(time), 0, units());
    state_.done = done_;
    state_.reached = static_cast<Size>(reached_.get());
  });
  std::vector<char> mine(domain_->rows, 0);
  for (const IndexMap& map : domain_->maps)
    for (Lid row = 0; row < map.owned; ++row) mine[map.global[row]] = 1;
  for (std::size_t v = 0; v < mine.size(); ++v) {
    if (mine[v] != 0) continue;
    if (work_)
      state_.sums[new_name_[v]] = {};
    else
      values_[v] = -1;
  }
  if (mine.empty()) return;
  if (work_)
    comm_.sum({&state_.sums.front().high, 3 * state_.sums.size()});
  else
    comm_.max(std::span<double>(values_));
}

std::vector<Diagnostic> GraphModel::diagnose() {
  collect();
  double largest = 0;
  for (const DeltaSum& sum : state_.sums) largest = std::max(largest, sum.value());
  for (const double value : values_) largest = std::max(largest, value);
  if (case_.measure == Measure::components) {
    double count = 0;
    for (std::size_t v = 0; v < values_.size(); ++v) count += values_[v] == static_cast<double>(v) ? 1 : 0;
    return {{"components", count}};
  }
  std::vector<Diagnostic> all{{"largest " + case_.name, largest}};
  if (work_) all.push_back({"reached edges", static_cast<double>(state_.reached)});
  return all;
}

void GraphModel::write_results(const std::filesystem::path& folder) {
  comm_.together([&] {
    if (!comm_.is_root()) return;
    MeasureResult result;
    result.names = graph_.names;
    if (work_) {
      result.values = graph::values_of(state_, new_name_);
    } else if (case_.measure == Measure::components) {
      for (const double v : values_) result.labels.push_back(graph_.names.of(static_cast<Vertex>(v)));
    } else {
      for (const double v : values_) result.values.push_back(v < 0 ? std::numeric_limits<double>::quiet_NaN() : v);
    }
    const VertexValues values = graph::values_of(result, case_.name);
    for (const std::string& format : case_.formats)
      write_values(values, folder / (case_.name + "." + format), Place::results);
    if (case_.top > 0) write_info(top_list(values, case_.top));
  });
}

}  // namespace tutti::graph
