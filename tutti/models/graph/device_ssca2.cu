// Compiles as plain C++ without CUDA.
#include "tutti/models/graph/device_ssca2.hpp"

#include <algorithm>
#include <limits>
#include <numeric>
#include <utility>

#include "tutti/base/log.hpp"
#include "tutti/device/buffer.hpp"
#include "tutti/device/for_each.hpp"
#include "tutti/device/sorting.hpp"
#include "tutti/device/sums/reduce.hpp"
#include "tutti/models/graph/betweenness/device_sources.hpp"
#include "tutti/models/graph/rmat_arc.hpp"

namespace tutti::graph {
namespace {

// An arc is a number: the row above, the column below, `scale` bits each. Sorted, arcs are compressed rows.
using Key = std::uint64_t;

constexpr Lid chunk = 256;                ///< entries that one thread looks through
constexpr Size most_distance = 255;       ///< that or more, or not reached
constexpr Size degree_classes = 1 << 20;  ///< by_degree of the CPU: vertices of more arcs are equal
constexpr int degree_bits = 21;

/// Self-loops become the last of all keys, which is one itself.
struct MakeKeys {
  RmatArc make;
  int scale;
  Key* keys;
  std::int32_t* weights;
  TUTTI_HD void operator()(Lid i) const {
    const Arc arc = make.arc(i);
    const Key from = static_cast<std::uint32_t>(arc.from), to = static_cast<std::uint32_t>(arc.to);
    keys[i] = arc.from == arc.to ? (Key{1} << 2 * scale) - 1 : from << scale | to;
    weights[i] = static_cast<std::int32_t>(make.weight(i));
  }
};

/// How many keys are below the limit, of sorted ones.
struct CountBelow {
  const Key* keys;
  Size count;
  Key limit;
  Size* result;
  TUTTI_HD void operator()(Lid) const {
    Size low = 0, high = count;
    while (low < high) {
      const Size middle = low + (high - low) / 2;
      if (keys[middle] < limit)
        low = middle + 1;
      else
        high = middle;
    }
    *result = low;
  }
};

/// Of sorted keys: where each row begins. One thread more than keys.
struct FindRows {
  const Key* keys;
  Lid count;
  int scale;
  Vertex vertices;
  Size* offsets;
  TUTTI_HD void operator()(Lid i) const {
    const Vertex before = i == 0 ? -1 : static_cast<Vertex>(keys[i - 1] >> scale);
    const Vertex here = i == count ? vertices : static_cast<Vertex>(keys[i] >> scale);
    for (Vertex v = before + 1; v <= here; ++v) offsets[v] = i;
  }
};

struct TakeColumns {
  const Key* keys;
  int scale;
  Vertex* columns;
  TUTTI_HD void operator()(Lid i) const { columns[i] = static_cast<Vertex>(keys[i] & ((Key{1} << scale) - 1)); }
};

/// The other direction; in place, too.
struct Reverse {
  const Key* from;
  int scale;
  Key* to;
  TUTTI_HD void operator()(Lid i) const {
    const Key key = from[i];
    to[i] = (key & ((Key{1} << scale) - 1)) << scale | key >> scale;
  }
};

struct KeysOfRow {
  RowsView rows;
  int scale;
  Key* keys;
  TUTTI_HD void operator()(Vertex v) const {
    for (Size e = rows.offsets[v]; e < rows.offsets[v + 1]; ++e)
      keys[e] = static_cast<Key>(v) << scale | static_cast<std::uint32_t>(rows.columns[e]);
  }
};

struct IsHeaviest {
  const std::int32_t* weights;
  std::int32_t heaviest;
  TUTTI_HD bool operator()(Lid i) const { return weights[i] == heaviest; }
};
struct WeightOf {
  const std::int32_t* weights;
  TUTTI_HD double operator()(Lid i) const { return weights[i]; }
};
struct IsLeftOut {
  const std::int32_t* weights;
  TUTTI_HD bool operator()(Lid i) const { return weights[i] % 8 == 0; }
};
/// Of equal arcs of a simple graph the first that is not left out.
struct IsKept {
  const Key* keys;
  const std::int32_t* weights;
  bool simple;
  TUTTI_HD bool operator()(Lid i) const {
    if (weights[i] % 8 == 0) return false;
    for (Lid j = i; simple && j > 0 && keys[j - 1] == keys[i]; --j)
      if (weights[j - 1] % 8 != 0) return false;
    return true;
  }
};
struct HasSuccessors {
  const Size* offsets;
  TUTTI_HD bool operator()(Vertex v) const { return offsets[v] < offsets[v + 1]; }
};

/// A thread a chunk.
template <class Holds>
struct CountInChunk {
  Holds holds;
  Lid count;
  Size* counts;
  TUTTI_HD void operator()(Lid c) const {
    const Lid end = count - c * chunk < chunk ? count : (c + 1) * chunk;
    Size number = 0;
    for (Lid i = c * chunk; i < end; ++i) number += holds(i) ? 1 : 0;
    counts[c] = number;
  }
};
template <class Holds, class Put>
struct PutFromChunk {
  Holds holds;
  Put put;
  Lid count;
  const Size* places;
  TUTTI_HD void operator()(Lid c) const {
    const Lid end = count - c * chunk < chunk ? count : (c + 1) * chunk;
    Size place = places[c];
    for (Lid i = c * chunk; i < end; ++i)
      if (holds(i)) put(i, place++);
  }
};
struct PutKey {
  const Key* from;
  Key* to;
  TUTTI_HD void operator()(Lid i, Size place) const { to[place] = from[i]; }
};
struct PutVertex {
  Vertex* to;
  TUTTI_HD void operator()(Lid v, Size place) const { to[place] = v; }
};

struct DegreeKeys {
  const Size *out, *in;
  Key* keys;
  std::int32_t* values;
  TUTTI_HD void operator()(Vertex v) const {
    const Size degree = out[v + 1] - out[v] + in[v + 1] - in[v];
    keys[v] = static_cast<Key>(degree_classes - (degree < degree_classes ? degree : degree_classes));
    values[v] = v;
  }
};
struct NameAnew {
  const std::int32_t* old_name;
  Vertex* new_name;
  TUTTI_HD void operator()(Vertex v) const { new_name[old_name[v]] = v; }
};
/// Of keys with the column above, as the incoming rows have them.
struct Rename {
  const Key* from;
  const Vertex* new_name;
  int scale;
  Key* to;
  TUTTI_HD void operator()(Lid i) const {
    const Key row = static_cast<std::uint32_t>(new_name[from[i] & ((Key{1} << scale) - 1)]),
              column = static_cast<std::uint32_t>(new_name[from[i] >> scale]);
    to[i] = row << scale | column;
  }
};

/// A level of up to 64 searches at a time, which follow arcs against the direction of `rows`.
struct PullLevel {
  RowsView rows;
  const Lanes* level;
  Lanes *next, *seen;
  Lanes all;
  TUTTI_HD void operator()(Vertex v) const {
    const Lanes missing = all & ~seen[v];
    Lanes here = 0;
    if (missing != 0)
      for (Size e = rows.offsets[v]; e < rows.offsets[v + 1] && here != missing; ++e)
        here |= level[rows.columns[e]] & missing;
    next[v] = here;
    seen[v] |= here;
  }
};
struct ClearLanes {
  Lanes *level, *seen;
  TUTTI_HD void operator()(Vertex v) const { level[v] = seen[v] = 0; }
};
/// One thread: the same vertex may be in several lanes.
struct StartLanes {
  const Vertex* vertices;
  int count;
  Lanes *level, *seen;
  TUTTI_HD void operator()(Lid) const {
    for (int lane = 0; lane < count; ++lane) {
      if (level != nullptr) level[vertices[lane]] |= Lanes{1} << lane;
      seen[vertices[lane]] |= Lanes{1} << lane;
    }
  }
};
/// Blocks of vertices.
struct CountLanes {
  const Lanes* lanes;
  Size* counts;
  Lid vertices;
  TUTTI_HD void operator()(Lid b) const {
    const Lid end = vertices - b * count_block < count_block ? vertices : (b + 1) * count_block;
    Size count = 0;
    for (Lid v = b * count_block; v < end; ++v)
      for (Lanes rest = lanes[v]; rest != 0; rest &= rest - 1) ++count;
    counts[b] = count;
  }
};
struct NoteDistance {
  const Vertex* sources;
  const Lanes* level;
  HubDistances* distances;
  std::uint8_t distance;
  TUTTI_HD void operator()(Lid i) const {
    for (std::size_t hub = 0; hub < most_hubs; ++hub)
      if ((level[sources[i]] >> hub & 1) != 0) distances[i].of[hub] = distance;
  }
};

Lid parts_of(Size count, Lid each) {
  return static_cast<Lid>((count + each - 1) / each);
}

}  // namespace

struct DeviceSsca2::State {
  int scale;
  Vertex vertices;
  Lid arcs = 0;
  std::unique_ptr<Stream> stream;
  Buffer<Key> keys, spare_keys;
  Buffer<std::int32_t> weights, spare_weights;
  Buffer<std::byte> scratch;
  Buffer<Size> counts;  ///< a chunk, or a block of vertices
  DeviceRows out, in;
  Buffer<Lanes> level, next, seen;
  Buffer<Vertex> lane_starts;

  State(const RmatSpec& spec, Device& device);
  ~State();
  State(const State&) = delete;
  State& operator=(const State&) = delete;

  Device& device() const { return stream->device(); }
  /// Sorts keys, with the weights or without.
  void sort(Size count, int bits, bool with_weights);
  void find_rows(DeviceRows& rows);
  template <class Holds>
  std::vector<Size> count_chunks(Lid count, const Holds& holds);
  template <class Holds>
  Size count_where(Lid count, const Holds& holds);
  template <class Holds, class Put>
  Size compact(Lid count, const Holds& holds, const Put& put);
  template <class Count>
  Size count_blocks(const Count& count);
  void start(std::span<const Vertex> at);
  /// The next level of the searches, and how many vertices of how many lanes it has.
  Size pull(const DeviceRows& rows, Lanes all);
  /// New names of all vertices; takes the place of levels and weights.
  Buffer<Vertex> name_by_degree();
  void download_rows(const DeviceRows& from, Csr<Vertex>& to);
  Levels levels_from_first();
  std::vector<HubDistances> distances_to_hubs(std::span<const Vertex> sources, int hubs);
};

DeviceSsca2::State::State(const RmatSpec& spec, Device& device)
    : scale(spec.scale), vertices(Vertex{1} << spec.scale), stream(device.make_stream("SSCA#2")) {
  const Size tuples = spec.degree << spec.scale;
  // Vertices are sorted with these arrays, too.
  const Size room = std::max<Size>(tuples, vertices);
  keys = Buffer<Key>(device, room, "arcs");
  spare_keys = Buffer<Key>(device, room, "arcs to sort");
  weights = Buffer<std::int32_t>(device, room, "weights");
  spare_weights = Buffer<std::int32_t>(device, room, "weights to sort");
  scratch = Buffer<std::byte>(device, sort_scratch_bytes(*stream, room, std::max(2 * scale, degree_bits)),
                              "scratch memory to sort");
  counts = Buffer<Size>(device, parts_of(room, chunk), "counts");
  for (DeviceRows* rows : {&out, &in}) {
    rows->offsets = Buffer<Size>(device, Size{vertices} + 1, "offsets of rows");
    rows->columns = Buffer<Vertex>(device, tuples, "columns of rows");
  }
  for (Buffer<Lanes>* lanes : {&level, &next, &seen}) *lanes = Buffer<Lanes>(device, vertices, "levels of searches");
  lane_starts = Buffer<Vertex>(device, most_lanes, "where searches begin");
}

/// Waits for its work: an error may have come between a launch and its end.
DeviceSsca2::State::~State() {
  try {
    stream->synchronize();
  } catch (const std::exception& error) {
    verbose("{}", error.what());  // the error that ends the run is on its way already
  }
}

void DeviceSsca2::State::sort(Size count, int bits, bool with_weights) {
  const KeyedValues pairs{keys.data(), with_weights ? weights.data() : nullptr},
      spare{spare_keys.data(), with_weights ? spare_weights.data() : nullptr};
  const KeyedValues sorted = sort_by_key(*stream, pairs, spare, count, bits, scratch.data());
  if (sorted.keys != keys.data()) keys.swap(spare_keys);
  if (with_weights && sorted.values != weights.data()) weights.swap(spare_weights);
}

void DeviceSsca2::State::find_rows(DeviceRows& rows) {
  for_each(*stream, {0, arcs + 1}, FindRows{keys.data(), arcs, scale, vertices, rows.offsets.data()});
  for_each(*stream, {0, arcs}, TakeColumns{keys.data(), scale, rows.columns.data()});
}

template <class Holds>
std::vector<Size> DeviceSsca2::State::count_chunks(Lid count, const Holds& holds) {
  std::vector<Size> found(static_cast<std::size_t>(parts_of(count, chunk)));
  for_each(*stream, {0, static_cast<Lid>(found.size())}, CountInChunk<Holds>{holds, count, counts.data()});
  download(*stream, std::span(found), counts);
  return found;
}

template <class Holds>
Size DeviceSsca2::State::count_where(Lid count, const Holds& holds) {
  const std::vector<Size> found = count_chunks(count, holds);
  return std::accumulate(found.begin(), found.end(), Size{0});
}

/// put(i, place) for all i that hold, at places 0, 1, ... in their order; how many there are.
template <class Holds, class Put>
Size DeviceSsca2::State::compact(Lid count, const Holds& holds, const Put& put) {
  std::vector<Size> places = count_chunks(count, holds);
  Size total = 0;
  for (Size& place : places) total += std::exchange(place, total);
  upload(*stream, counts, std::span<const Size>(places));
  for_each(*stream, {0, static_cast<Lid>(places.size())}, PutFromChunk<Holds, Put>{holds, put, count, counts.data()});
  return total;
}

template <class Count>
Size DeviceSsca2::State::count_blocks(const Count& count) {
  std::vector<Size> found(static_cast<std::size_t>(parts_of(vertices, count_block)));
  for_each(*stream, {0, static_cast<Lid>(found.size())}, count);
  download(*stream, std::span(found), counts);
  return std::accumulate(found.begin(), found.end(), Size{0});
}

void DeviceSsca2::State::start(std::span<const Vertex> at) {
  upload(*stream, lane_starts, at);
  for_each(*stream, {0, vertices}, ClearLanes{level.data(), seen.data()});
  for_each(*stream, {0, 1}, StartLanes{lane_starts.data(), static_cast<int>(at.size()), level.data(), seen.data()});
}

Size DeviceSsca2::State::pull(const DeviceRows& rows, Lanes all) {
  for_each(*stream, {0, vertices}, PullLevel{rows.view(), level.data(), next.data(), seen.data(), all});
  level.swap(next);
  return count_blocks(CountLanes{level.data(), counts.data(), vertices});
}

Buffer<Vertex> DeviceSsca2::State::name_by_degree() {
  for_each(*stream, {0, vertices}, DegreeKeys{out.offsets.data(), in.offsets.data(), level.data(), weights.data()});
  const KeyedValues sorted = sort_by_key(*stream, {level.data(), weights.data()}, {next.data(), spare_weights.data()},
                                         vertices, degree_bits, scratch.data());
  Buffer<Vertex> new_name(device(), vertices, "new names");
  for_each(*stream, {0, vertices}, NameAnew{sorted.values, new_name.data()});
  return new_name;
}

void DeviceSsca2::State::download_rows(const DeviceRows& from, Csr<Vertex>& to) {
  to.offsets.resize(static_cast<std::size_t>(vertices) + 1);
  to.columns.resize(static_cast<std::size_t>(arcs));
  download(*stream, std::span(to.offsets), from.offsets);
  download(*stream, std::span(to.columns), from.columns);
}

Levels DeviceSsca2::State::levels_from_first() {
  const Vertex first = 0;
  start(std::span(&first, 1));
  Levels levels;
  for (;; ++levels.depth) {
    const Size found = pull(in, 1);
    if (found == 0) return levels;
    levels.widest = std::max(levels.widest, found);
  }
}

std::vector<HubDistances> DeviceSsca2::State::distances_to_hubs(std::span<const Vertex> sources, int hubs) {
  std::vector<HubDistances> distances(sources.size());
  for (HubDistances& d : distances) d.of.fill(most_distance);
  const Buffer<Vertex> there = make_buffer(*stream, sources, "sources");
  Buffer<HubDistances> found = make_buffer(*stream, std::span<const HubDistances>(distances), "distances to hubs");
  std::vector<Vertex> starts(static_cast<std::size_t>(hubs));
  std::iota(starts.begin(), starts.end(), 0);
  start(starts);
  Size distance = 0;
  do
    for_each(*stream, {0, static_cast<Lid>(sources.size())},
             NoteDistance{there.data(), level.data(), found.data(), static_cast<std::uint8_t>(distance)});
  while (++distance < most_distance && pull(out, (Lanes{1} << hubs) - 1) > 0);
  download(*stream, std::span(distances), found);
  return distances;
}

Size DeviceSsca2::bytes(const RmatSpec& spec) {
  const Size vertices = Size{1} << spec.scale, arcs = spec.degree << spec.scale;
  if (arcs >= std::numeric_limits<Lid>::max()) return std::numeric_limits<Size>::max();
  // Keys and weights twice, columns of both directions; offsets, levels, names; counts and what sorting wants.
  return arcs * (2 * 12 + 2 * 4) + vertices * (2 * 8 + 3 * 8 + 4) + arcs / 4 + (Size{64} << 20);
}

DeviceSsca2::DeviceSsca2(const RmatSpec& spec, Device& device) : state_(std::make_unique<State>(spec, device)) {
  State& s = *state_;
  s.arcs = static_cast<Lid>(spec.degree << spec.scale);
  for_each(*s.stream, {0, s.arcs}, MakeKeys{RmatArc(spec), s.scale, s.keys.data(), s.weights.data()});
  s.stream->synchronize();
}

DeviceSsca2::~DeviceSsca2() = default;

Size DeviceSsca2::build() {
  State& s = *state_;
  const Lid tuples = s.arcs;
  s.sort(tuples, 2 * s.scale, true);
  for_each(*s.stream, {0, 1}, CountBelow{s.keys.data(), tuples, (Key{1} << 2 * s.scale) - 1, s.counts.data()});
  Size below = 0;
  download(*s.stream, std::span(&below, 1), s.counts);
  s.arcs = static_cast<Lid>(below);
  s.find_rows(s.out);
  for_each(*s.stream, {0, s.arcs}, Reverse{s.keys.data(), s.scale, s.keys.data()});
  s.sort(s.arcs, 2 * s.scale, false);
  s.find_rows(s.in);
  // In the order of the weights again.
  for_each(*s.stream, {0, s.vertices}, KeysOfRow{s.out.view(), s.scale, s.keys.data()});
  s.stream->synchronize();
  return tuples - below;
}

Size DeviceSsca2::arcs() const {
  return state_->arcs;
}

std::vector<Vertex> DeviceSsca2::with_successors() const {
  State& s = *state_;
  const HasSuccessors holds{s.out.offsets.data()};
  Buffer<Vertex> found(s.device(), s.vertices, "vertices with successors");
  std::vector<Vertex> result(static_cast<std::size_t>(s.compact(s.vertices, holds, PutVertex{found.data()})));
  download(*s.stream, std::span(result), found);
  return result;
}

std::vector<Arc> DeviceSsca2::heaviest_arcs() const {
  State& s = *state_;
  if (s.arcs == 0) return {};
  const double heaviest = max_value(*s.stream, {0, s.arcs}, WeightOf{s.weights.data()});
  const IsHeaviest holds{s.weights.data(), static_cast<std::int32_t>(heaviest)};
  std::vector<Key> keys(static_cast<std::size_t>(s.compact(s.arcs, holds, PutKey{s.keys.data(), s.spare_keys.data()})));
  download(*s.stream, std::span(keys), s.spare_keys);
  std::vector<Arc> arcs;
  for (const Key key : keys)
    arcs.push_back({static_cast<Vertex>(key >> s.scale), static_cast<Vertex>(key & ((Key{1} << s.scale) - 1))});
  return arcs;
}

SubgraphCounts DeviceSsca2::count_subgraphs(const std::vector<Arc>& around, int levels) {
  State& s = *state_;
  SubgraphCounts result;
  for (std::size_t first = 0; first < around.size(); first += most_lanes) {
    std::vector<Vertex> heads, tails;
    for (std::size_t i = first; i < std::min(around.size(), first + most_lanes); ++i) {
      heads.push_back(around[i].to);
      tails.push_back(around[i].from);
    }
    const auto count = static_cast<int>(heads.size());
    const Lanes all = count == most_lanes ? ~Lanes{0} : (Lanes{1} << count) - 1;
    s.start(heads);
    for (int level = 0; level < levels; ++level) {
      if (level + 1 == levels)
        result.arcs += s.count_blocks(CountReached{s.out.view(), s.seen.data(), s.counts.data(), s.vertices});
      s.pull(s.in, all);
    }
    upload(*s.stream, s.lane_starts, std::span<const Vertex>(tails));
    for_each(*s.stream, {0, 1}, StartLanes{s.lane_starts.data(), count, nullptr, s.seen.data()});
    result.vertices += s.count_blocks(CountLanes{s.seen.data(), s.counts.data(), s.vertices});
  }
  return result;
}

OrderedGraph DeviceSsca2::order(MultiEdges multi_edges, std::vector<Vertex>& sources, BuildCounts& counts) {
  State& s = *state_;
  Stream& stream = *s.stream;
  counts.filtered = s.count_where(s.arcs, IsLeftOut{s.weights.data()});
  const IsKept kept{s.keys.data(), s.weights.data(), multi_edges == MultiEdges::simple};
  const Size arcs = s.compact(s.arcs, kept, PutKey{s.keys.data(), s.spare_keys.data()});
  counts.doubles = s.arcs - counts.filtered - arcs;
  s.keys.swap(s.spare_keys);
  s.arcs = static_cast<Lid>(arcs);

  // Rows by their present names, for the degrees; the keys then have the columns above.
  s.find_rows(s.out);
  for_each(stream, {0, s.arcs}, Reverse{s.keys.data(), s.scale, s.keys.data()});
  s.sort(arcs, 2 * s.scale, false);
  s.find_rows(s.in);
  const Buffer<Vertex> new_name = s.name_by_degree();

  for_each(stream, {0, s.arcs}, Rename{s.keys.data(), new_name.data(), s.scale, s.spare_keys.data()});
  s.keys.swap(s.spare_keys);
  s.sort(arcs, 2 * s.scale, false);
  s.find_rows(s.out);
  for_each(stream, {0, s.arcs}, Reverse{s.keys.data(), s.scale, s.keys.data()});
  s.sort(arcs, 2 * s.scale, false);
  s.find_rows(s.in);

  OrderedGraph result;
  result.graph.vertices = s.vertices;
  result.new_name.resize(static_cast<std::size_t>(s.vertices));
  download(stream, std::span(result.new_name), new_name);
  s.download_rows(s.out, result.graph.out);
  s.download_rows(s.in, result.graph.in);
  const Levels levels = s.levels_from_first();
  result.depth = levels.depth;
  result.widest = levels.widest;
  for (Vertex& source : sources) source = result.new_name[source];
  if (sources.size() > 64) {
    const auto hubs = static_cast<int>(std::min<Size>(most_hubs, s.vertices));
    group_sources(s.distances_to_hubs(sources, hubs), static_cast<std::size_t>(hubs), sources);
  }
  return result;
}

}  // namespace tutti::graph
