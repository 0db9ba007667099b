// The fields that travel behind a pass are part of what it is known by.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <vector>

#include "tests/unit/base/mpi_environment.hpp"
#include "tutti/base/random.hpp"
#include "tutti/exchange/for_each_cell.hpp"
#include "tutti/schedule/pass.hpp"

namespace tutti {
namespace {

using test::world;

/// Fake devices, and a thread or two to drive them.
struct Devices {
  explicit Devices(int count) {
    for (int p = 0; p < count; ++p) {
      devices.push_back(make_fake_device(p, {.seed = static_cast<std::uint64_t>(p) + 1, .max_delay_us = 2}));
      streams.emplace_back(*devices.back());
    }
  }
  std::vector<double> values(std::size_t p, const Buffer<double>& buffer) {
    std::vector<double> all(buffer.size());
    download(*streams[p].compute, std::span<double>(all), buffer);
    return all;
  }
  Threads threads{2};
  std::vector<std::unique_ptr<Device>> devices;
  std::vector<PartStreams> streams;
};

constexpr auto no_kernels = [](std::size_t, Kernels&) {};

TEST(PassHalo, other_rows_that_travel_are_another_graph) {
  // Two parts of one row, each a ghost of the other.
  const std::vector<PartRows> rows{{.part = 0, .owned = {0}, .ghosts = {1}, .ghost_owners = {1}},
                                   {.part = 1, .owned = {1}, .ghosts = {0}, .ghost_owners = {0}}};
  Devices on(2);
  const auto maps = number_parts(world(), rows, std::vector<int>{0, 0});
  const Plan plan = make_plan(maps, 0);
  Exchange<double> exchange(world(), plan, maps, on.streams, 1);
  std::vector<std::vector<Field<double>>> fields(3);  // [which][part]
  for (auto& field : fields)
    for (std::size_t p = 0; p < 2; ++p) field.emplace_back(*on.devices[p], maps[p], "u");
  Pass pass("", on.threads, on.streams, row_pass_parts(maps), &exchange, Overlap::full);
  ASSERT_TRUE(pass.step().runs_ahead());
  for (std::uint64_t k = 0; k < 200; ++k) {
    const std::size_t which = k < 100 ? 0 : random_bits(1, k) % 3;
    std::vector<FieldView<double>> views;
    for (std::size_t p = 0; p < 2; ++p) {
      const std::vector<double> values{static_cast<double>(2 * k + p), -1};
      upload(*on.streams[p].compute, fields[which][p].buffer(), std::span<const double>(values));
      views.push_back(fields[which][p].view());
    }
    exchange.bind(views);
    pass.run(no_kernels);
    for (std::size_t p = 0; p < 2; ++p)
      ASSERT_EQ(on.values(p, fields[which][p].buffer())[1], static_cast<double>(2 * k + 1 - p)) << "run " << k;
  }
}

TEST(PassHalo, other_cells_that_travel_are_another_graph) {
  Devices on(1);
  const CellBox box{{0, 0, 0}, {4, 1, 1}};
  const BoxParts parts{
      .cells = {4, 1, 1}, .periodic = {true, false, false}, .boxes = {box}, .rank_of_part = {0}, .mine = {0}};
  const std::vector<BoxArray> arrays{{grown(box, 1)}};
  BoxTransfer<double> transfer(world(), parts, {faces_around(box)}, arrays, arrays, true, on.streams, 1);
  Pass pass("cells", on.threads, on.streams, box_pass_parts(parts), &transfer, Overlap::full);
  ASSERT_TRUE(pass.step().runs_ahead());
  std::vector<Buffer<double>> fields;
  for (int k = 0; k < 3; ++k) fields.emplace_back(*on.devices[0], arrays[0].values(), "u");
  for (std::uint64_t k = 0; k < 200; ++k) {
    const std::size_t which = k < 100 ? 0 : random_bits(2, k) % 3;
    std::vector<double> values(arrays[0].values(), -1.0);
    for (Lid i = 0; i < 4; ++i) values[arrays[0].at(i, 0, 0)] = static_cast<double>(k) + i;
    upload(*on.streams[0].compute, fields[which], std::span<const double>(values));
    double* const to = fields[which].data();
    const double* const from = to;
    transfer.bind(0, std::span(&from, 1), std::span(&to, 1));
    pass.run(no_kernels);
    const auto now = on.values(0, fields[which]);
    ASSERT_EQ(now[arrays[0].at(-1, 0, 0)], static_cast<double>(k) + 3) << "run " << k;
    ASSERT_EQ(now[arrays[0].at(4, 0, 0)], static_cast<double>(k)) << "run " << k;
  }
}

/// A sum of a cell and its neighbours along x, in whole numbers that stay small.
struct SumAlongX {
  BoxArray array;
  const double* from;
  double* to;
  void operator()(Lid i, Lid j, Lid k) const {
    const Lid r = array.at(i, j, k);
    to[r] = static_cast<double>(static_cast<Lid>(from[r - 1] + 3 * from[r] + 5 * from[r + 1]) % 1009);
  }
};
struct Double {
  double* values;
  Lid count;
  void operator()(Stream& stream, Range range) const {
    stream.loop(range, [own = *this](Lid begin, Lid end) {
      for (Lid i = begin; i < std::min(end, own.count); ++i)
        own.values[i] = static_cast<double>(static_cast<Lid>(2 * own.values[i]) % 1009);
    });
  }
};

/// Cells around a ring, cut into parts, one a device; two arrays in turn.
struct Ring {
  Ring(int devices, RoutingKind kind, Overlap overlap) : on(devices) {
    routing.kind = kind;
    parts.cells = {cells, 3, 2};
    parts.periodic = {true, false, false};
    std::vector<std::vector<CellBox>> wanted;
    std::vector<Lid> all;
    for (int p = 0; p < devices; ++p) {
      const CellBox box{{cells * p / devices, 0, 0}, {cells * (p + 1) / devices, 3, 2}};
      parts.boxes.push_back(box);
      parts.rank_of_part.push_back(0);
      parts.mine.push_back(p);
      arrays.push_back({grown(box, 1)});
      wanted.push_back(faces_around(box));
      all.push_back(static_cast<Lid>(arrays[p].values()));
      for (auto& field : u) {
        std::vector<double> values(arrays[p].values());
        for (Lid i = box.lower[0] - 1; i <= box.upper[0]; ++i)
          for (Lid j = 0; j < 3; ++j)
            for (Lid k = 0; k < 2; ++k) values[arrays[p].at(i, j, k)] = start((i + cells) % cells, j, k);
        field.push_back(make_buffer(*on.streams[p].compute, std::span<const double>(values), "u"));
      }
    }
    transfer =
        std::make_unique<BoxTransfer<double>>(world(), parts, wanted, arrays, arrays, true, on.streams, 1, &routing);
    sum = std::make_unique<Pass>("sum", on.threads, on.streams, box_pass_parts(parts), transfer.get(), overlap);
    twice = std::make_unique<Pass>("twice", on.threads, on.streams, whole_pass_parts(all),
                                   static_cast<BoxTransfer<double>*>(nullptr), overlap);
    for (Lid k = 0; k < 2; ++k)
      for (Lid j = 0; j < 3; ++j)
        for (Lid i = 0; i < cells; ++i) expected.push_back(start(i, j, k));
  }
  static double start(Lid i, Lid j, Lid k) { return static_cast<double>((i * i + 7 * j + 31 * k) % 97); }
  void add() {
    for (std::size_t p = 0; p < arrays.size(); ++p) {
      double* const to = u[1 - now][p].data();
      const double* const from = to;
      transfer->bind(p, std::span(&from, 1), std::span(&to, 1));
    }
    sum->run([&](std::size_t p, Kernels& to) {
      to.add(on_cells<double>(SumAlongX{arrays[p], u[now][p].data(), u[1 - now][p].data()}));
    });
    now = 1 - now;
    std::vector<double> next(expected.size());
    for (std::size_t r = 0; r < next.size(); ++r) {
      const std::size_t line = r / cells * cells, i = r % cells;
      next[r] = static_cast<double>(static_cast<Lid>(expected[line + (i + cells - 1) % cells] + 3 * expected[r] +
                                                     5 * expected[line + (i + 1) % cells]) %
                                    1009);
    }
    expected.swap(next);
  }
  void redouble() {
    twice->run([&](std::size_t p, Kernels& to) {
      to.add(Double{u[now][p].data(), static_cast<Lid>(arrays[p].values())});
    });
    for (double& v : expected) v = static_cast<double>(static_cast<Lid>(2 * v) % 1009);
  }
  void compare() {
    for (std::size_t p = 0; p < arrays.size(); ++p) {
      const auto values = on.values(p, u[now][p]);
      const CellBox& box = parts.boxes[p];
      for (Lid k = 0; k < 2; ++k)
        for (Lid j = 0; j < 3; ++j)
          for (Lid i = box.lower[0] - 1; i <= box.upper[0]; ++i)
            ASSERT_EQ(values[arrays[p].at(i, j, k)], expected[(k * 3 + j) * cells + (i + cells) % cells])
                << "part " << p << ", cell " << i << ' ' << j << ' ' << k;
    }
  }

  static constexpr Lid cells = 23;
  Devices on;
  Routing routing;
  BoxParts parts;
  std::vector<BoxArray> arrays;
  std::vector<Buffer<double>> u[2];
  std::size_t now = 0;
  std::vector<double> expected;
  std::unique_ptr<BoxTransfer<double>> transfer;
  std::unique_ptr<Pass> sum, twice;  // go first: runs may be held back until then
};

TEST(PassHalo, cells_are_stored_where_the_neighbour_reads_them) {
  for (const int devices : {1, 2, 3})
    for (const RoutingKind kind : {RoutingKind::automatic, RoutingKind::staged})
      for (const Overlap overlap : {Overlap::none, Overlap::full}) {
        SCOPED_TRACE(fmt::format("{} devices, {}, {}", devices, routing_name(kind), overlap_name(overlap)));
        Ring ring(devices, kind, overlap);
        const bool stores = kind == RoutingKind::automatic && devices > 1;
        EXPECT_EQ(ring.sum->step().runs_ahead(), devices == 1 || stores);
        for (int p = 0; p < devices; ++p)
          EXPECT_EQ(ring.transfer->packed(p), devices == 1 || stores ? 0 : 2 * 6) << "nothing is gathered";
        const int runs = stores ? 150 : 20;
        for (int k = 0; k < runs; ++k) ring.add();
        ring.compare();
        for (int p = 0; p < devices; ++p)
          EXPECT_EQ(ring.on.devices[p]->counts().peer_bytes, stores ? Size{runs} * 2 * 6 * 8 : 0);
        EXPECT_EQ(ring.transfer->counts_per_exchange().bytes, devices == 1 ? 0 : devices * 2 * 6 * 8);
      }
}

TEST(PassHalo, passes_in_turns_are_launched_together) {
  for (const int devices : {1, 2, 3}) {
    SCOPED_TRACE(devices);
    Ring ring(devices, RoutingKind::automatic, Overlap::full);
    // Steps of a few passes; now and then somebody looks, and one of the steps is another.
    for (int step = 0; step < 120; ++step) {
      for (int k = 0; k < (step % 50 == 49 ? 1 : 4); ++k) ring.add();
      ring.redouble();
      ring.add();
      if (step == 31 || step % 37 == 36) ring.compare();
    }
    ring.compare();
  }
}

/// Numbers of cells are set plane by plane by a pass in pieces, and brought to parts that have whole columns.
struct Number {
  BoxArray array;
  double* values;
  double turn;
  void operator()(Stream& stream, Range range) const {
    stream.loop(range, [own = *this](Lid begin, Lid end) {
      const CellBox& box = own.array.stored;
      for (Lid k = box.lower[2] + begin; k < box.lower[2] + end; ++k)
        for (Lid j = box.lower[1]; j < box.upper[1]; ++j)
          for (Lid i = box.lower[0]; i < box.upper[0]; ++i)
            own.values[own.array.at(i, j, k)] = own.turn + 100 * k + 10 * j + i;
    });
  }
};

void turn_planes_to_columns(int devices, int pieces, RoutingKind kind, Overlap overlap) {
  SCOPED_TRACE(
      fmt::format("{} devices, {} pieces, {}, {}", devices, pieces, routing_name(kind), overlap_name(overlap)));
  constexpr Lid nx = 5, ny = 7, nz = 9;
  Devices on(devices);
  Routing routing;
  routing.kind = kind;
  BoxParts parts;
  parts.cells = {nx, ny, nz};
  std::vector<CellBox> planes;
  std::vector<std::vector<CellBox>> columns;
  std::vector<BoxArray> from, to;
  std::vector<Buffer<double>> sent, received;
  std::vector<PassPart> work;
  for (Lid p = 0; p < devices; ++p) {
    planes.push_back({{0, 0, nz * p / devices}, {nx, ny, nz * (p + 1) / devices}});
    columns.push_back({{{0, ny * p / devices, 0}, {nx, ny * (p + 1) / devices, nz}}});
    parts.rank_of_part.push_back(0);
    parts.mine.push_back(p);
    from.push_back({planes[p]});
    to.push_back({columns[p].front()});
    sent.emplace_back(*on.devices[p], from[p].values(), "planes");
    received.emplace_back(*on.devices[p], to[p].values(), "columns");
  }
  std::vector<std::unique_ptr<BoxTransfer<double>>> transfers;
  std::vector<BoxTransfer<double>*> halos;
  work.resize(devices);
  for (int n = 0; n < pieces; ++n) {
    parts.boxes = planes;
    for (std::size_t p = 0; p < work.size(); ++p) {
      const Lid lower = planes[p].lower[2], size = planes[p].size(2);
      const Range range{size * n / pieces, size * (n + 1) / pieces};
      parts.boxes[p].lower[2] = lower + range.begin;
      parts.boxes[p].upper[2] = lower + range.end;
      (n == 0 ? work[p].separators : work[p].pieces).push_back({range, {}});
    }
    transfers.push_back(std::make_unique<BoxTransfer<double>>(world(), parts, columns, from, to, false, on.streams, 1,
                                                              &routing, PlanTurn{.number = n, .of = pieces}));
    halos.push_back(transfers.back().get());
    for (std::size_t p = 0; p < work.size(); ++p) {
      const double* const source = sent[p].data();
      double* const target = received[p].data();
      halos.back()->bind(p, std::span(&source, 1), std::span(&target, 1));
    }
  }
  Pass pass("number", on.threads, on.streams, work, halos, overlap);
  if (kind == RoutingKind::automatic && devices > 1 && pieces > 1) {
    const auto tasks = pass.step().describe_tasks();
    EXPECT_EQ(std::any_of(tasks.begin(), tasks.end(),
                          [](const std::string& task) {
                            return task.starts_with("number (") && task.find("store") != std::string::npos;
                          }),
              overlap == Overlap::none)
        << "a piece waits for what travels";
  }
  for (int turn = 0; turn < 40; ++turn) {
    pass.run([&](std::size_t p, Kernels& to_do) {
      to_do.add(Number{from[p], sent[p].data(), static_cast<double>(turn % 3)});
    });
    if (turn % 13 != 0) continue;
    for (std::size_t p = 0; p < work.size(); ++p) {
      const auto values = on.values(p, received[p]);
      const CellBox& box = columns[p].front();
      for (Lid k = 0; k < nz; ++k)
        for (Lid j = box.lower[1]; j < box.upper[1]; ++j)
          for (Lid i = 0; i < nx; ++i) ASSERT_EQ(values[to[p].at(i, j, k)], turn % 3 + 100 * k + 10 * j + i);
    }
  }
}

TEST(PassHalo, pieces_travel_one_after_the_other) {
  for (const int devices : {1, 2, 3})
    for (const int pieces : {1, 2, 4})
      for (const RoutingKind kind : {RoutingKind::automatic, RoutingKind::staged})
        for (const Overlap overlap : {Overlap::none, Overlap::full})
          turn_planes_to_columns(devices, pieces, kind, overlap);
}

/// Cell k of a column becomes cell k - 1 plus one; rows of a piece of columns at a time, or beside them, behind all
/// units of these, what has arrived in `others`.
struct CountUp {
  BoxArray array;
  double* values;
  Lid piece, pieces;  ///< columns of a piece
  Lid rows;
  double* others;
  double* seen;
  void operator()(Stream& stream, Range range) const {
    stream.loop(range, [own = *this](Lid begin, Lid end) {
      if (begin >= own.piece * own.pieces) {
        for (Lid k = 0; k < own.rows; ++k) own.seen[k] = own.others[k];
        return;
      }
      const CellBox& box = own.array.stored;
      for (Lid j = begin; j < end && box.lower[2] < 0; ++j) own.values[own.array.at(0, j, -1)] += 1;
      for (Lid j = begin; j < end; ++j)
        for (Lid k = box.lower[2] + 1; k < box.upper[2]; ++k)
          own.values[own.array.at(0, j, k)] = own.values[own.array.at(0, j, k - 1)] + 1;
    });
  }
};

/// Pieces of columns pass up through parts: in wave w part p has piece w - p. Beside them one value travels from each
/// part to all, behind the separators, which are no work.
void pass_through(int devices, int pieces, RoutingKind kind, Overlap overlap) {
  SCOPED_TRACE(
      fmt::format("{} devices, {} pieces, {}, {}", devices, pieces, routing_name(kind), overlap_name(overlap)));
  constexpr Lid piece = 4, nz = 6;
  const Lid ny = piece * pieces + 1, each = nz / devices;  // the last column is no piece's
  Devices on(devices);
  Routing routing;
  routing.kind = kind;
  BoxParts parts;
  parts.cells = {1, ny, nz};
  std::vector<BoxArray> arrays, seen_arrays;
  std::vector<Buffer<double>> values, others, seen;
  std::vector<std::vector<CellBox>> whole;
  std::vector<PassPart> work(devices);
  const int waves = pieces + devices - 1;
  for (Lid p = 0; p < devices; ++p) {
    parts.boxes.push_back({{0, 0, each * p}, {1, ny, each * (p + 1)}});
    parts.rank_of_part.push_back(0);
    parts.mine.push_back(p);
    CellBox stored = parts.boxes.back();
    --stored.lower[2];
    arrays.push_back({stored});
    std::vector<CellBox>& wanted = whole.emplace_back();
    wanted.push_back({{0, ny - 1, 0}, {1, ny, nz}});
    seen_arrays.push_back({wanted.front()});
    values.emplace_back(*on.devices[p], stored.cells(), "columns");
    others.emplace_back(*on.devices[p], nz, "last column");
    seen.emplace_back(*on.devices[p], nz, "last column, later");
    work[p].separators.emplace_back();
    for (int w = 0; w < waves; ++w) {
      const int n = w - p;
      work[p].pieces.push_back({n >= 0 && n < pieces ? Range{n * piece, (n + 1) * piece} : Range{}, {}});
    }
    work[p].interior = PassRows{{ny - 1, ny}, {}};
  }
  std::vector<std::unique_ptr<BoxTransfer<double>>> transfers;
  std::vector<BoxTransfer<double>*> halos;
  const auto add = [&](const std::vector<std::vector<CellBox>>& wanted, const std::vector<BoxArray>& to,
                       std::vector<Buffer<double>>& targets, int number) {
    transfers.push_back(std::make_unique<BoxTransfer<double>>(world(), parts, wanted, arrays, to, &to == &arrays,
                                                              on.streams, 1, &routing,
                                                              PlanTurn{.number = number, .of = waves + 1}));
    halos.push_back(transfers.back().get());
    for (std::size_t p = 0; p < work.size(); ++p) {
      const double* const source = values[p].data();
      double* const target = targets[p].data();
      halos.back()->bind(p, std::span(&source, 1), std::span(&target, 1));
    }
  };
  add(whole, seen_arrays, others, waves);
  for (int w = 0; w + 1 < waves; ++w) {
    std::vector<std::vector<CellBox>> wanted(devices);
    for (Lid p = 1; p < devices; ++p)
      if (const int n = w - p + 1; n >= 0 && n < pieces)
        wanted[p].push_back({{0, n * piece, each * p - 1}, {1, (n + 1) * piece, each * p}});
    add(wanted, arrays, values, w);
  }
  halos.push_back(nullptr);
  Pass pass("count", on.threads, on.streams, work, halos, overlap, 1, PieceOrder::arrived);
  // A part tells the one below that it has read.
  std::vector<std::vector<CellBox>> above(devices);
  std::vector<BoxArray> answers;
  std::vector<Buffer<double>> answered;
  for (Lid p = 0; p < devices; ++p) {
    if (p + 1 < devices) above[p].push_back({{0, 0, each * (p + 1)}, {1, 1, each * (p + 1) + 1}});
    answers.push_back({above[p].empty() ? CellBox{} : above[p].front()});
    answered.emplace_back(*on.devices[p], 1, "answer");
  }
  add(above, answers, answered, waves);
  Pass answer("answer", on.threads, on.streams, whole_pass_parts(std::vector<Lid>(devices)), halos.back(), overlap);
  for (int turn = 0; turn < 40; ++turn) {
    for (std::size_t p = 0; p < work.size(); ++p) {
      const std::vector<double> before(values[p].size(), turn);
      if (turn % 13 == 0) upload(*on.streams[p].compute, values[p], std::span<const double>(before));
    }
    pass.run([&](std::size_t p, Kernels& to_do) {
      to_do.add(CountUp{arrays[p], values[p].data(), piece, pieces, nz, others[p].data(), seen[p].data()});
    });
    answer.run([](std::size_t, Kernels&) {});
    if (turn % 13 != 0 && turn % 13 != 12) continue;
    for (std::size_t p = 0; p < work.size(); ++p) {
      const auto got = on.values(p, values[p]);
      for (Lid j = 0; j < piece * pieces; ++j)
        for (Lid k = parts.boxes[p].lower[2]; k < parts.boxes[p].upper[2]; ++k)
          ASSERT_EQ(got[arrays[p].at(0, j, k)], turn + k + 2) << j << " " << k;
      for (const double value : on.values(p, seen[p])) ASSERT_EQ(value, turn / 13 * 13) << "beside the pieces";
    }
  }
}

TEST(PassHalo, work_passes_from_part_to_part) {
  for (const int devices : {1, 2, 3})
    for (const int pieces : {1, 2, 5})
      for (const RoutingKind kind : {RoutingKind::automatic, RoutingKind::staged})
        for (const Overlap overlap : {Overlap::none, Overlap::messages, Overlap::full})
          pass_through(devices, pieces, kind, overlap);
}

/// Cells {x, y, z} of a grid that is cut along z, brought to where the same parts want `wanted`.
void bring(const std::array<Lid, 3>& cells, const std::vector<std::vector<CellBox>>& wanted, bool halo, Lid most_stored,
           bool copied) {
  Devices on(2);
  Routing routing;
  routing.most_stored = most_stored;
  BoxParts parts;
  parts.cells = cells;
  std::vector<BoxArray> from, to;
  std::vector<Buffer<double>> sent, received;
  const auto number = [&](Lid i, Lid j, Lid k) { return static_cast<double>(parts.number({i, j, k})); };
  for (Lid p = 0; p < 2; ++p) {
    parts.boxes.push_back({{0, 0, cells[2] * p / 2}, {cells[0], cells[1], cells[2] * (p + 1) / 2}});
    parts.rank_of_part.push_back(0);
    parts.mine.push_back(p);
    from.push_back({halo ? grown(parts.boxes[p], 1) : parts.boxes[p]});
    to.push_back({halo ? from[p].stored : wanted[p].front()});
    std::vector<double> values(from[p].values(), -1.0);
    for (Lid k = parts.boxes[p].lower[2]; k < parts.boxes[p].upper[2]; ++k)
      for (Lid j = 0; j < cells[1]; ++j)
        for (Lid i = 0; i < cells[0]; ++i) values[from[p].at(i, j, k)] = number(i, j, k);
    sent.push_back(make_buffer(*on.streams[p].compute, std::span<const double>(values), "sent"));
    received.push_back(make_buffer(*on.streams[p].compute,
                                   std::span<const double>(std::vector<double>(to[p].values(), -1.0)), "received"));
  }
  BoxTransfer<double> transfer(world(), parts, wanted, from, to, halo, on.streams, 1, &routing);
  std::vector<Buffer<double>>& arrived = halo ? sent : received;
  for (std::size_t p = 0; p < 2; ++p) {
    const double* const source = sent[p].data();
    double* const target = arrived[p].data();
    transfer.bind(p, std::span(&source, 1), std::span(&target, 1));
  }
  std::array<Size, 2> copies{};
  for (std::size_t p = 0; p < 2; ++p) copies[p] -= on.devices[p]->counts().copies;
  transfer.run();
  for (std::size_t p = 0; p < 2; ++p) copies[p] += on.devices[p]->counts().copies;
  for (std::size_t p = 0; p < 2; ++p) {
    const auto values = on.values(p, arrived[p]);
    Size there = 0;
    for (const CellBox& box : wanted[p]) {
      const CellBox inside = intersection(box, {{0, 0, 0}, cells});
      there += inside.cells();
      for (Lid k = inside.lower[2]; k < inside.upper[2]; ++k)
        for (Lid j = inside.lower[1]; j < inside.upper[1]; ++j)
          for (Lid i = inside.lower[0]; i < inside.upper[0]; ++i)
            ASSERT_EQ(values[to[p].at(i, j, k)], number(i, j, k)) << i << ' ' << j << ' ' << k;
    }
    if (halo) there += parts.boxes[p].cells();
    EXPECT_EQ(std::count_if(values.begin(), values.end(), [](double v) { return v >= 0; }), there) << "no others";
    Size sent_cells = 0;
    for (const CellBox& box : wanted[1 - p]) sent_cells += intersection(box, parts.boxes[p]).cells();
    EXPECT_EQ(on.devices[p]->counts().peer_bytes, 8 * sent_cells);
    EXPECT_EQ(copies[p] > 0, copied);
  }
}

TEST(PassHalo, long_messages_of_cells_are_copied) {
  const std::array<Lid, 3> wide{40, 6, 8}, narrow{20, 6, 8};
  const auto faces = [](const std::array<Lid, 3>& cells) {
    return std::vector<std::vector<CellBox>>{faces_around({{0, 0, 0}, {cells[0], cells[1], 4}}),
                                             faces_around({{0, 0, 4}, {cells[0], cells[1], 8}})};
  };
  const auto columns = [](const std::array<Lid, 3>& cells) {
    return std::vector<std::vector<CellBox>>{{{{0, 0, 0}, {cells[0], 2, 8}}}, {{{0, 2, 0}, {cells[0], 6, 8}}}};
  };
  bring(wide, faces(wide), true, 0, true);
  bring(wide, faces(wide), true, 8192, false);
  bring(narrow, faces(narrow), true, 0, false);
  bring(wide, columns(wide), false, 0, true);
  bring(wide, columns(wide), false, 8192, false);
}

}  // namespace
}  // namespace tutti
