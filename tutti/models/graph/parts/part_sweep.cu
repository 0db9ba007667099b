// Compiles as plain C++ without CUDA.
#include "tutti/models/graph/parts/part_sweep.hpp"

#include <bit>

#include "tutti/base/log.hpp"
#include "tutti/device/for_each.hpp"

namespace tutti::graph {
namespace {

constexpr Lid block = count_block;  ///< vertices that report together
constexpr std::int32_t not_reached = -1;

/// The number of one lane of a column, where the lane's depth is `wanted`.
struct OfDepth {
  const PathRecord* records;
  int width, lane;
  std::int32_t wanted;
  TUTTI_HD void operator()(Vertex u, WideNumber& sum) const {
    const PathRecord& r = records[static_cast<Size>(u) * width + lane];
    if (r.depth == wanted) sum = sum.plus({r.mantissa, r.exponent});
  }
};

/// The same where the frontier of the column has the lane: nobody else writes these.
struct OfFrontier {
  const PathRecord* records;
  const Lanes* frontier;
  int width, lane;
  TUTTI_HD void operator()(Vertex u, WideNumber& sum) const {
    if ((frontier[u] >> lane & 1) == 0) return;
    const PathRecord& r = records[static_cast<Size>(u) * width + lane];
    sum = sum.plus({r.mantissa, r.exponent});
  }
};

struct ClearPart {
  PathRecord* records;
  Lanes *frontier, *reached;
  Lid owned;
  int width;
  TUTTI_HD void operator()(Lid v) const {
    frontier[v] = 0;
    if (v < owned) reached[v] = 0;
    for (int lane = 0; lane < width; ++lane) records[static_cast<Size>(v) * width + lane] = {0, 0, not_reached};
  }
};

struct SetPartSources {
  const Vertex* sources;
  int count, width;
  PathRecord* records;
  Lanes *frontier, *reached;
  Lid owned;
  TUTTI_HD void operator()(Lid) const {
    for (int lane = 0; lane < count; ++lane) {
      const Vertex s = sources[lane];
      if (s < 0) continue;
      records[static_cast<Size>(s) * width + lane] = {1.0, 0, 0};
      frontier[s] |= Lanes{1} << lane;
      if (s < owned) reached[s] |= Lanes{1} << lane;
    }
  }
};

struct PartOut {
  RowsView in;
  PathRecord* records;
  const Lanes *frontier, *reached;
  Lanes* next;
  Lanes all;
  int width;
  std::int32_t depth;
  TUTTI_HD void operator()(Lid v) const {
    Lanes found = 0;
    for (Size e = in.offsets[v]; e < in.offsets[v + 1]; ++e) found |= frontier[in.columns[e]];
    found &= all & ~reached[v];
    next[v] = found;
    for (int lane = 0; lane < width; ++lane) {
      if ((found >> lane & 1) == 0) continue;
      const WideNumber paths = sum_over_row<WideNumber>(in, v, OfFrontier{records, frontier, width, lane});
      records[static_cast<Size>(v) * width + lane] = {paths.mantissa, paths.exponent, depth + 1};
    }
  }
};

/// Blocks of vertices.
struct PartTake {
  const Lanes* next;
  Lanes *frontier, *reached;
  std::int32_t* report;
  Lid owned;
  TUTTI_HD void operator()(Lid b) const {
    std::int32_t any = 0;
    const Lid end = owned - b * block < block ? owned : (b + 1) * block;
    for (Lid v = b * block; v < end; ++v) {
      frontier[v] = next[v];
      reached[v] |= next[v];
      if (next[v] != 0) any = 1;
    }
    report[b] = any;
  }
};

struct PartBack {
  RowsView out;
  PathRecord* records;
  DeltaSum* sums;
  int width;
  std::int32_t depth;
  TUTTI_HD void operator()(Lid v) const {
    for (int lane = 0; lane < width; ++lane) {
      PathRecord& record = records[static_cast<Size>(v) * width + lane];
      if (record.depth != depth) continue;
      const WideNumber below = sum_over_row<WideNumber>(out, v, OfDepth{records, width, lane, depth + 1});
      const WideNumber paths{record.mantissa, record.exponent};
      if (below.mantissa != 0) sums[v].add(split_delta(paths.times(below).value()));
      const WideNumber back = paths.reciprocal().plus(below);
      record.mantissa = back.mantissa;
      record.exponent = back.exponent;
    }
  }
};

struct TakeLanes {
  const Lid* rows;
  const PathRecord* records;
  Lanes* lanes;
  int width;
  std::int32_t depth;
  TUTTI_HD void operator()(Lid i) const {
    Lanes mine = 0;
    for (int lane = 0; lane < width; ++lane)
      if (records[static_cast<Size>(rows[i]) * width + lane].depth == depth) mine |= Lanes{1} << lane;
    lanes[i] = mine;
  }
};

struct TakeNumbers {
  const Lid* rows;
  const PathRecord* records;
  const Lanes* lanes;
  const Size* places;
  double* mantissas;
  std::int32_t* exponents;
  int width;
  TUTTI_HD void operator()(Lid i) const {
    Size place = places[i];
    for (int lane = 0; lane < width; ++lane) {
      if ((lanes[i] >> lane & 1) == 0) continue;
      const PathRecord& r = records[static_cast<Size>(rows[i]) * width + lane];
      mantissas[place] = r.mantissa;
      exponents[place++] = r.exponent;
    }
  }
};

struct PutNumbers {
  PathRecord* records;
  Lanes* frontier;
  const Lanes* lanes;
  const Size* places;
  const double* mantissas;
  const std::int32_t* exponents;
  Lid owned;
  int width;
  std::int32_t depth;
  TUTTI_HD void operator()(Lid ghost) const {
    const Lid v = owned + ghost;
    frontier[v] = lanes[ghost];
    Size place = places[ghost];
    for (int lane = 0; lane < width; ++lane) {
      if ((lanes[ghost] >> lane & 1) == 0) continue;
      records[static_cast<Size>(v) * width + lane] = {mantissas[place], exponents[place], depth};
      ++place;
    }
  }
};

struct ClearPartSums {
  DeltaSum* sums;
  TUTTI_HD void operator()(Lid v) const { sums[v] = DeltaSum{}; }
};

Lid blocks_of(Lid rows) {
  return (rows + block - 1) / block;
}

Size rows_sent(const IndexMap& map) {
  Size count = 0;
  for (const Link& link : map.links) count += static_cast<Size>(link.send_rows.size());
  return count;
}

/// Where the numbers of each row begin; how many there are in all.
std::vector<Size> places_of(std::span<const Lanes> lanes, Size& count) {
  std::vector<Size> places;
  count = 0;
  for (const Lanes l : lanes) {
    places.push_back(count);
    count += std::popcount(l);
  }
  return places;
}

/// Room for the largest message so far.
template <class T>
void grow(Buffer<T>& buffer, Device& device, Size size, const char* name) {
  if (buffer.size() >= size) return;
  buffer = Buffer<T>();
  buffer = Buffer<T>(device, size + size / 4, name);
}

/// Arrays of a part, of all its vertices and ghosts: a PathRecord a lane.
class DeviceSweep final : public PartSweep {
 public:
  DeviceSweep(const GraphPart& part, Device& device, int width);
  /// Waits for its work: an error may have come between a launch and its end.
  ~DeviceSweep() override;
  DeviceSweep(const DeviceSweep&) = delete;
  DeviceSweep& operator=(const DeviceSweep&) = delete;
  void begin(std::span<const Vertex> sources) override;
  bool step_out(std::int32_t depth) override;
  void step_back(std::int32_t depth) override;
  std::vector<LevelMessage> take(std::int32_t depth, bool back) override;
  void put(std::int32_t depth, std::span<const LevelView> messages) override;
  Size count_reached() override;
  void collect(std::span<DeltaSum> sums) override;

 private:
  RowsView outgoing() const { return out_.view(); }
  RowsView incoming() const { return in_.offsets.empty() ? out_.view() : in_.view(); }

  const GraphPart& part_;
  int width_;
  Lanes all_ = 0;
  std::unique_ptr<Stream> stream_;
  DeviceRows out_, in_;
  Buffer<PathRecord> records_;            ///< [local * width + lane]; depth -1: not reached
  Buffer<Lanes> frontier_;                ///< [local]
  Buffer<Lanes> next_, reached_;          ///< [owned]
  Buffer<DeltaSum> sums_;                 ///< [owned]
  Buffer<std::int32_t> report_;           ///< a block of vertices
  Buffer<Size> counts_;                   ///< a block of vertices
  Buffer<Vertex> sources_;                ///< [width]
  Buffer<Lid> send_rows_;                 ///< of all links
  Buffer<Lanes> send_lanes_, got_lanes_;  ///< of all rows sent; of all ghosts
  Buffer<Size> send_places_, got_places_;
  Buffer<double> send_mantissas_, got_mantissas_;
  Buffer<std::int32_t> send_exponents_, got_exponents_;
};

DeviceSweep::DeviceSweep(const GraphPart& part, Device& device, int width)
    : part_(part), width_(width), stream_(device.make_stream("part of a graph")) {
  const Size local = part.map.local(), owned = part.map.owned, blocks = blocks_of(part.map.owned);
  out_ = DeviceRows(*stream_, part.out, "arcs");
  if (part.in.offsets.size() > 1) in_ = DeviceRows(*stream_, part.in, "arcs against their direction");
  records_ = Buffer<PathRecord>(device, local * width, "path counts of a batch");
  frontier_ = Buffer<Lanes>(device, local, "frontier of a batch");
  next_ = Buffer<Lanes>(device, owned, "next level of a batch");
  reached_ = Buffer<Lanes>(device, owned, "vertices reached");
  sums_ = Buffer<DeltaSum>(device, owned, "sums of betweenness");
  report_ = Buffer<std::int32_t>(device, blocks, "reports of a level");
  counts_ = Buffer<Size>(device, blocks, "arcs reached");
  sources_ = Buffer<Vertex>(device, width, "sources");
  std::vector<Lid> rows;
  for (const Link& link : part.map.links) rows.insert(rows.end(), link.send_rows.begin(), link.send_rows.end());
  send_rows_ = make_buffer(*stream_, std::span<const Lid>(rows), "rows that other parts read");
  send_lanes_ = Buffer<Lanes>(device, static_cast<Size>(rows.size()), "lanes to send");
  send_places_ = Buffer<Size>(device, static_cast<Size>(rows.size()), "places of what is sent");
  got_lanes_ = Buffer<Lanes>(device, part.map.ghosts(), "lanes of ghosts");
  got_places_ = Buffer<Size>(device, part.map.ghosts(), "places of what has come");
  for_each(*stream_, part.map.owned_rows(), ClearPartSums{sums_.data()});
  stream_->synchronize();
}

DeviceSweep::~DeviceSweep() {
  if (!stream_) return;
  try {
    stream_->synchronize();
  } catch (const std::exception& error) {
    verbose("{}", error.what());  // the error that ends the run is on its way already
  }
}

void DeviceSweep::begin(std::span<const Vertex> sources) {
  const auto count = static_cast<int>(sources.size());
  all_ = count == most_lanes ? ~Lanes{0} : (Lanes{1} << count) - 1;
  upload(*stream_, sources_, sources);
  const Lid owned = part_.map.owned;
  for_each(*stream_, {0, part_.map.local()},
           ClearPart{records_.data(), frontier_.data(), reached_.data(), owned, width_});
  for_each(*stream_, {0, 1},
           SetPartSources{sources_.data(), count, width_, records_.data(), frontier_.data(), reached_.data(), owned});
}

bool DeviceSweep::step_out(std::int32_t depth) {
  const Lid owned = part_.map.owned;
  for_each(*stream_, {0, owned},
           PartOut{incoming(), records_.data(), frontier_.data(), reached_.data(), next_.data(), all_, width_, depth});
  for_each(*stream_, {0, blocks_of(owned)},
           PartTake{next_.data(), frontier_.data(), reached_.data(), report_.data(), owned});
  std::vector<std::int32_t> report(blocks_of(owned));
  download(*stream_, std::span(report), report_);
  std::int32_t any = 0;
  for (const std::int32_t r : report) any |= r;
  return any != 0;
}

void DeviceSweep::step_back(std::int32_t depth) {
  for_each(*stream_, part_.map.owned_rows(), PartBack{outgoing(), records_.data(), sums_.data(), width_, depth});
  stream_->synchronize();
}

std::vector<LevelMessage> DeviceSweep::take(std::int32_t depth, bool) {
  const auto rows = static_cast<Lid>(send_rows_.size());
  std::vector<Lanes> lanes(rows);
  for_each(*stream_, {0, rows}, TakeLanes{send_rows_.data(), records_.data(), send_lanes_.data(), width_, depth});
  download(*stream_, std::span(lanes), send_lanes_);
  Size count = 0;
  const std::vector<Size> places = places_of(lanes, count);
  Device& device = stream_->device();
  grow(send_mantissas_, device, count, "numbers to send");
  grow(send_exponents_, device, count, "exponents to send");
  upload(*stream_, send_places_, std::span<const Size>(places));
  for_each(*stream_, {0, rows},
           TakeNumbers{send_rows_.data(), records_.data(), send_lanes_.data(), send_places_.data(),
                       send_mantissas_.data(), send_exponents_.data(), width_});
  std::vector<double> mantissas(count);
  std::vector<std::int32_t> exponents(count);
  download(*stream_, std::span(mantissas), send_mantissas_);
  download(*stream_, std::span(exponents), send_exponents_);
  std::vector<LevelMessage> messages;
  std::size_t row = 0;
  for (const Link& link : part_.map.links) {
    LevelMessage message;
    for (std::size_t i = 0; i < link.send_rows.size(); ++i, ++row) {
      if (lanes[row] == 0) continue;
      message.places.push_back(static_cast<Lid>(i));
      message.lanes.push_back(lanes[row]);
      const auto first = static_cast<std::ptrdiff_t>(places[row]), end = first + std::popcount(lanes[row]);
      message.mantissas.insert(message.mantissas.end(), mantissas.begin() + first, mantissas.begin() + end);
      message.exponents.insert(message.exponents.end(), exponents.begin() + first, exponents.begin() + end);
    }
    messages.push_back(std::move(message));
  }
  return messages;
}

void DeviceSweep::put(std::int32_t depth, std::span<const LevelView> messages) {
  const Lid owned = part_.map.owned, ghosts = part_.map.ghosts();
  std::vector<Lanes> lanes(ghosts, 0);
  std::vector<Size> places(ghosts, 0);
  std::vector<double> mantissas;
  std::vector<std::int32_t> exponents;
  for (std::size_t k = 0; k < messages.size(); ++k) {
    const LevelView& message = messages[k];
    auto next = static_cast<Size>(mantissas.size());
    for (std::size_t i = 0; i < message.places.size(); ++i) {
      const Lid ghost = part_.map.links[k].ghosts.begin - owned + message.places[i];
      lanes[ghost] = message.lanes[i];
      places[ghost] = next;
      next += std::popcount(message.lanes[i]);
    }
    mantissas.insert(mantissas.end(), message.mantissas.begin(), message.mantissas.end());
    exponents.insert(exponents.end(), message.exponents.begin(), message.exponents.end());
  }
  Device& device = stream_->device();
  grow(got_mantissas_, device, static_cast<Size>(mantissas.size()), "numbers that have come");
  grow(got_exponents_, device, static_cast<Size>(exponents.size()), "exponents that have come");
  upload(*stream_, got_lanes_, std::span<const Lanes>(lanes));
  upload(*stream_, got_places_, std::span<const Size>(places));
  upload(*stream_, got_mantissas_, std::span<const double>(mantissas));
  upload(*stream_, got_exponents_, std::span<const std::int32_t>(exponents));
  for_each(*stream_, {0, ghosts},
           PutNumbers{records_.data(), frontier_.data(), got_lanes_.data(), got_places_.data(), got_mantissas_.data(),
                      got_exponents_.data(), owned, width_, depth});
}

Size DeviceSweep::count_reached() {
  const Lid blocks = blocks_of(part_.map.owned);
  for_each(*stream_, {0, blocks}, CountReached{outgoing(), reached_.data(), counts_.data(), part_.map.owned});
  std::vector<Size> counts(blocks);
  download(*stream_, std::span(counts), counts_);
  Size sum = 0;
  for (const Size c : counts) sum += c;
  return sum;
}

void DeviceSweep::collect(std::span<DeltaSum> sums) {
  std::vector<DeltaSum> mine(part_.map.owned);
  download(*stream_, std::span(mine), sums_);
  for (std::size_t i = 0; i < mine.size(); ++i) sums[part_.map.global[i]].add(mine[i]);
  for_each(*stream_, part_.map.owned_rows(), ClearPartSums{sums_.data()});
  stream_->synchronize();
}

}  // namespace

Size bytes_of_device_sweep(const GraphPart& part, int width) {
  const Size local = part.map.local(), owned = part.map.owned, border = rows_sent(part.map) + part.map.ghosts();
  const auto rows = [](const Csr<Vertex>& r) { return 8 * static_cast<Size>(r.offsets.size()) + 4 * r.entries(); };
  return local * (16 * width + 8) + owned * 40 + rows(part.out) + rows(part.in) + border * (24 + 15 * width);
}

std::unique_ptr<PartSweep> make_device_sweep(const GraphPart& part, Device& device, int width) {
  return std::make_unique<DeviceSweep>(part, device, width);
}

}  // namespace tutti::graph
