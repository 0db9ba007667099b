// Halos, transposes and passes of random grids, cuts and devices, on any number of ranks.
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/support/random_boxes.hpp"
#include "tests/support/rank_parts.hpp"
#include "tutti/exchange/for_each_cell.hpp"
#include "tutti/schedule/pass.hpp"

namespace tutti {
namespace {

using test::any_cut;
using test::BoxField;
using test::BoxRank;

const Comm& world() {
  static const Comm comm;
  return comm;
}

constexpr Overlap overlaps[] = {Overlap::none, Overlap::messages, Overlap::full};
constexpr double untouched = -12345;

template <class T>
using Fields = std::vector<std::vector<BoxField<T>>>;  // [my part][field]

template <class T>
Fields<T> make_fields(BoxRank& rank, const std::vector<BoxArray>& arrays, int count) {
  Fields<T> fields(rank.mine());
  for (std::size_t p = 0; p < rank.mine(); ++p)
    for (int c = 0; c < count; ++c) fields[p].emplace_back(rank.streams[p], arrays[p]);
  return fields;
}

template <class T>
void bind(BoxTransfer<T>& transfer, Fields<T>& from, Fields<T>& to) {
  for (std::size_t p = 0; p < from.size(); ++p) {
    std::vector<const T*> sources;
    std::vector<T*> targets;
    for (auto& field : from[p]) sources.push_back(field.data());
    for (auto& field : to[p]) targets.push_back(field.data());
    transfer.bind(p, sources, targets);
  }
}

/// The arrays of this rank's parts for these boxes of all parts.
std::vector<BoxArray> arrays_of(const BoxRank& rank, const std::vector<CellBox>& boxes, Lid layers) {
  std::vector<BoxArray> arrays;
  for (const std::int32_t part : rank.parts.mine) arrays.push_back({grown(boxes[part], layers)});
  return arrays;
}

bool contains(const std::vector<CellBox>& boxes, Lid i, Lid j, Lid k) {
  return std::any_of(boxes.begin(), boxes.end(), [&](const CellBox& box) { return box.contains(i, j, k); });
}

/// Two rounds of one transfer; `to` is `from` where `same`.
template <class T>
void travel(BoxRank& rank, const std::vector<std::vector<CellBox>>& wanted, const std::vector<BoxArray>& from_arrays,
            const std::vector<BoxArray>& to_arrays, bool same, const Routing& routing) {
  // Sometimes more than a launch gathers; the tests' link has room for 8 messages that nobody has taken yet.
  const int few = static_cast<int>(rank.dice.roll(1, 5));
  const int room = few < 5 || routing.kind == RoutingKind::nccl ? few : 2 * TransferFields<T>::most + 3;
  const int count = static_cast<int>(rank.dice.roll(1, room));
  SCOPED_TRACE(fmt::format("{} of {} fields of {} bytes", count, room, sizeof(T)));
  BoxTransfer<T> transfer(world(), rank.parts, wanted, from_arrays, to_arrays, same, rank.streams, room, &routing);
  auto from = make_fields<T>(rank, from_arrays, count), to = make_fields<T>(rank, to_arrays, count);
  bind(transfer, from, same ? from : to);
  for (int round = 0; round < 2; ++round) {
    const auto source = [&](std::size_t p, int c) {
      return [&, p, c](Lid i, Lid j, Lid k) {
        return rank.parts.box(p).contains(i, j, k) ? test::value_of<T>(rank.number({i, j, k}), c, round) : T(untouched);
      };
    };
    for (std::size_t p = 0; p < rank.mine(); ++p)
      for (int c = 0; c < count; ++c) {
        from[p][c].fill(source(p, c));
        to[p][c].fill([](Lid, Lid, Lid) { return T(untouched); });
      }
    transfer.run();
    for (std::size_t p = 0; p < rank.mine(); ++p)
      for (int c = 0; c < count; ++c) {
        SCOPED_TRACE(fmt::format("part {}, field {}, round {}", rank.parts.mine[p], c, round));
        const auto& wants = wanted[rank.parts.mine[p]];
        const auto before = source(p, c);
        const auto arrived = [&](Lid i, Lid j, Lid k) {
          const Gid number = rank.number({i, j, k});
          if (number >= 0 && contains(wants, i, j, k)) return test::value_of<T>(number, c, round);
          return same ? before(i, j, k) : T(untouched);
        };
        if (!same) from[p][c].expect(before);
        (same ? from : to)[p][c].expect(arrived);
      }
  }
}

enum class Wish : std::uint8_t { ring, faces, other_cut, other_cut_and_faces };

template <class T>
void travel_at_random(std::uint64_t seed, Wish wish, RoutingKind kind) {
  SCOPED_TRACE(fmt::format("seed {}, wish {}, transport {}", seed, static_cast<int>(wish), routing_name(kind)));
  BoxRank rank(world(), seed, 1, kind == RoutingKind::device);
  const auto devices = std::count_if(rank.streams.begin(), rank.streams.end(), [](auto& s) { return !s.is_host(); });
  if (kind != RoutingKind::automatic && kind != RoutingKind::direct && world().sum(devices) == 0) return;  // refused
  const Routing routing =
      test::make_fake_routing(world(), kind, rank.maps, rank.streams, static_cast<Lid>(10 * rank.cells()));
  const bool halo = wish == Wish::ring || wish == Wish::faces;
  const auto other = halo ? rank.parts.boxes : any_cut(rank.dice, rank.parts.cells, rank.all());
  std::vector<std::vector<CellBox>> wanted;
  for (const CellBox& box : other) {
    auto& wants = wanted.emplace_back();
    if (wish != Wish::other_cut) wants = wish == Wish::ring ? ring_around(box) : faces_around(box);
    if (!halo) wants.push_back(box);
  }
  travel<T>(rank, wanted, arrays_of(rank, rank.parts.boxes, halo ? 1 : static_cast<Lid>(seed % 2)),
            arrays_of(rank, other, wish == Wish::other_cut ? 0 : 1), halo, routing);
}

TEST(BoxTransfer, every_wanted_cell_arrives_and_nothing_else_changes) {
  std::uint64_t seed = 1;
  for (const RoutingKind kind : {RoutingKind::automatic, RoutingKind::direct, RoutingKind::device, RoutingKind::nccl})
    for (int k = 0; k < (kind == RoutingKind::automatic ? 20 : 4); ++k)
      for (const Wish wish : {Wish::ring, Wish::faces, Wish::other_cut, Wish::other_cut_and_faces}) {
        travel_at_random<double>(seed++, wish, kind);
        travel_at_random<float>(seed++, wish, kind);
      }
}

TEST(BoxTransfer, layers_around_a_box) {
  for (const CellBox& box : {CellBox{{2, -1, 0}, {5, 1, 1}}, CellBox{{0, 0, 0}, {1, 1, 1}}})
    for (const bool corners : {true, false}) {
      const auto layer = corners ? ring_around(box) : faces_around(box);
      test::each_cell(grown(box, 2), [&](Lid i, Lid j, Lid k) {
        const std::array<Lid, 3> cell{i, j, k};
        int outside = 0;  // directions
        for (std::size_t d = 0; d < 3; ++d) outside += cell[d] < box.lower[d] || cell[d] >= box.upper[d] ? 1 : 0;
        const bool expected = grown(box, 1).contains(i, j, k) && outside > 0 && (corners || outside == 1);
        EXPECT_EQ(std::count_if(layer.begin(), layer.end(), [&](const CellBox& one) { return one.contains(i, j, k); }),
                  expected ? 1 : 0)
            << i << ' ' << j << ' ' << k;
      });
    }
  EXPECT_TRUE(ring_around({}).empty());
  EXPECT_TRUE(faces_around({{3, 3, 3}, {3, 4, 4}}).empty());
}

TEST(Pass, separators_hold_all_that_others_want) {
  for (std::uint64_t seed = 1001; seed <= 1100; ++seed) {
    SCOPED_TRACE(fmt::format("seed {}", seed));
    const BoxRank rank(world(), seed);
    std::map<Gid, std::set<std::int32_t>> readers;
    for (std::size_t part = 0; part < rank.all(); ++part)
      for (const CellBox& box : ring_around(rank.parts.boxes[part]))
        test::each_cell(box, [&](Lid i, Lid j, Lid k) {
          readers[rank.number({i, j, k})].insert(static_cast<std::int32_t>(part));
        });
    const std::vector<PassPart> parts = box_pass_parts(rank.parts);
    for (std::size_t p = 0; p < rank.mine(); ++p) {
      const auto& all_separators = parts[p].separators;
      const auto& interior = parts[p].interior;
      std::vector<CellBox> boxes;
      for (const PassRows& rows : all_separators) boxes.push_back(rows.box);
      ASSERT_TRUE(interior.has_value());
      const CellBox inside = interior->box;
      test::each_cell(rank.parts.box(p), [&](Lid i, Lid j, Lid k) {
        const auto in = [&](const CellBox& box) { return box.contains(i, j, k); };
        const auto separators = std::count_if(boxes.begin(), boxes.end(), in);
        EXPECT_EQ(separators + (in(inside) ? 1 : 0), 1) << "each cell once";
        auto others = readers[rank.number({i, j, k})];
        others.erase(rank.parts.mine[p]);
        EXPECT_TRUE(others.empty() || separators == 1) << "cell " << i << ' ' << j << ' ' << k;
      });
      Gid cells = inside.cells();
      EXPECT_EQ(interior->range, (Range{0, static_cast<Lid>(inside.cells())}));
      for (const PassRows& rows : all_separators) {
        cells += rows.box.cells();
        EXPECT_EQ(rows.range, (Range{0, static_cast<Lid>(rows.box.cells())}));
      }
      EXPECT_EQ(cells, rank.parts.box(p).cells());
    }
  }
}

// A made-up stencil of the 26 cells around, or of the 6 behind faces, in whole numbers below 2^20, so that no order of
// additions can matter. Beyond an end lies what is inside, and a number that tells the end.

constexpr std::int64_t modulus = 1 << 20;

struct Reach {
  bool corners;
  bool reads(Lid x, Lid y, Lid z) const {
    const int away = std::abs(x) + std::abs(y) + std::abs(z);
    return corners ? away > 0 : away == 1;
  }
};
double beyond(double inner, int d, bool upper) {
  return static_cast<double>((5 * static_cast<std::int64_t>(inner) + 2 * d + (upper ? 1 : 0) + 1) % modulus);
}
double mix(double own, double sum) {
  return static_cast<double>((7 * static_cast<std::int64_t>(own) + 3 * static_cast<std::int64_t>(sum) + 1) % modulus);
}
template <class Value>
double stencil(const Reach& reach, const Value& value) {
  double sum = 0;
  for (Lid z = -1; z <= 1; ++z)
    for (Lid y = -1; y <= 1; ++y)
      for (Lid x = -1; x <= 1; ++x)
        if (reach.reads(x, y, z)) sum += static_cast<double>(1 + (x + 2 * y + 4 * z + 7) % 5) * value(x, y, z);
  return mix(value(0, 0, 0), sum);
}

/// The whole grid, one cell after another.
class Serial {
 public:
  Serial(const BoxRank& rank, const Reach& reach, int passes) : rank_(rank), reach_(reach) {
    for (Gid n = 0; n < rank.cells(); ++n) values_.push_back(test::value_of<double>(n, 0, 0));
    for (int k = 0; k < passes; ++k) {
      std::vector<double> next(values_.size());
      test::each_cell({{0, 0, 0}, rank.parts.cells}, [&](Lid i, Lid j, Lid k3) {
        next[rank.parts.number({i, j, k3})] = stencil(reach_, [&](Lid x, Lid y, Lid z) {
          return at({i + x, j + y, k3 + z});
        });
      });
      values_.swap(next);
    }
  }
  /// Ends in z count last: they are set last.
  double at(std::array<Lid, 3> cell) const {
    for (std::size_t d = 3; d-- > 0;) {
      const Lid n = rank_.parts.cells[d];
      if (rank_.parts.periodic[d] || (cell[d] >= 0 && cell[d] < n)) continue;
      const bool upper = cell[d] >= n;
      cell[d] = upper ? n - 1 : 0;
      return beyond(at(cell), static_cast<int>(d), upper);
    }
    return values_[rank_.number(cell)];
  }

 private:
  const BoxRank& rank_;
  Reach reach_;
  std::vector<double> values_;
};

struct StencilKernel {
  BoxArray array;
  Reach reach;
  const double* from;
  double* to;
  void operator()(Lid i, Lid j, Lid k) const {
    to[array.at(i, j, k)] = stencil(reach, [&](Lid x, Lid y, Lid z) { return from[array.at(i + x, j + y, k + z)]; });
  }
};

/// What is beyond the ends in direction d.
struct FillBeyond {
  BoxArray array;
  double* values;
  int d;
  Lid cells;  ///< of the grid
  int count;
  CellBox layers[2];
  void operator()(Stream& stream, Range range) const {
    stream.loop(range, [own = *this](Lid begin, Lid end) {
      Lid number = 0;
      for (int layer = 0; layer < own.count; ++layer)
        test::each_cell(own.layers[layer], [&](Lid x, Lid y, Lid z) {
          const Lid mine = number++;
          if (mine < begin || mine >= end) return;
          std::array<Lid, 3> inner{x, y, z};
          Lid& along = inner[own.d];
          const bool upper = along > 0;
          along = upper ? own.cells - 1 : 0;
          own.values[own.array.at(x, y, z)] =
              beyond(own.values[own.array.at(inner[0], inner[1], inner[2])], own.d, upper);
        });
    });
  }
};

/// The stored layers beyond the ends of the grid in direction d, the lower one first.
std::vector<CellBox> layers_beyond(const BoxRank& rank, const BoxArray& array, const CellBox& box, std::size_t d) {
  std::vector<CellBox> layers;
  if (box.empty() || rank.parts.periodic[d]) return layers;
  for (const bool upper : {false, true}) {
    if (upper ? box.upper[d] != rank.parts.cells[d] : box.lower[d] != 0) continue;
    CellBox& layer = layers.emplace_back(array.stored);
    layer.lower[d] = upper ? box.upper[d] : -1;
    layer.upper[d] = layer.lower[d] + 1;
  }
  return layers;
}

void pass_and_compare(std::uint64_t seed, Overlap overlap, int threads) {
  BoxRank rank(world(), seed, threads);
  const Reach reach{rank.dice.chance(0.5)};
  SCOPED_TRACE(fmt::format("seed {}, overlap {}, {} threads, {}", seed, overlap_name(overlap), threads,
                           reach.corners ? "ring" : "faces"));
  std::vector<std::vector<CellBox>> wanted;
  for (const CellBox& box : rank.parts.boxes) wanted.push_back(reach.corners ? ring_around(box) : faces_around(box));
  const auto arrays = arrays_of(rank, rank.parts.boxes, 1);
  const Routing routing =
      test::make_fake_routing(world(), RoutingKind::automatic, rank.maps, rank.streams, static_cast<Lid>(rank.cells()));
  BoxTransfer<double> transfer(world(), rank.parts, wanted, arrays, arrays, true, rank.streams, 1, &routing);
  Fields<double> now = make_fields<double>(rank, arrays, 1), next = make_fields<double>(rank, arrays, 1);
  const auto layers = [&](std::size_t p, int d) {
    return layers_beyond(rank, arrays[p], rank.parts.box(p), static_cast<std::size_t>(d));
  };
  const auto cells_beyond = [&](std::size_t p, int d) {
    Lid cells = 0;
    for (const CellBox& layer : layers(p, d)) cells += static_cast<Lid>(layer.cells());
    return cells;
  };
  Pass pass("stencil", rank.threads, rank.streams, box_pass_parts(rank.parts, cells_beyond), &transfer, overlap);
  // The first pass has no kernel: it brings what is there to where it is wanted.
  constexpr int passes = 5;
  for (std::size_t p = 0; p < rank.mine(); ++p)
    for (Fields<double>* fields : {&now, &next})
      (*fields)[p][0].fill([&](Lid i, Lid j, Lid k) {
        const bool own = fields == &next && rank.parts.box(p).contains(i, j, k);
        return own ? test::value_of<double>(rank.number({i, j, k}), 0, 0) : untouched;
      });
  for (int k = 0; k <= passes; ++k) {
    bind(transfer, next, next);
    pass.run(
        [&](std::size_t p, Kernels& to) {
          if (k > 0) to.add(on_cells<double>(StencilKernel{arrays[p], reach, now[p][0].data(), next[p][0].data()}));
        },
        [&](std::size_t p, int d, Kernels& to) {
          FillBeyond fill{arrays[p], next[p][0].data(), d, rank.parts.cells[d], 0, {}};
          for (const CellBox& layer : layers(p, d)) fill.layers[fill.count++] = layer;
          to.add(fill);
        });
    now.swap(next);
  }
  pass.step().wait();
  const Serial expected(rank, reach, passes);
  for (std::size_t p = 0; p < rank.mine(); ++p) {
    SCOPED_TRACE(fmt::format("part {}", rank.parts.mine[p]));
    const auto value = [&](Lid i, Lid j, Lid k) { return expected.at({i, j, k}); };
    now[p][0].expect(rank.parts.box(p), value);
    for (const CellBox& box : wanted[rank.parts.mine[p]]) now[p][0].expect(intersection(box, arrays[p].stored), value);
  }
  EXPECT_EQ(pass.runs(), passes + 1);
}

TEST(Pass, any_policy_gives_the_bits_of_one_loop) {
  for (std::uint64_t seed = 2001; seed <= 2010; ++seed)
    for (const Overlap overlap : overlaps) pass_and_compare(seed, overlap, 1);
  for (std::uint64_t seed = 2011; seed <= 2014; ++seed) pass_and_compare(seed, overlaps[seed % 3], 3);
}

}  // namespace
}  // namespace tutti
