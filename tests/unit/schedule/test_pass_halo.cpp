// The fields that travel behind a pass are part of what it is known by.
#include <gtest/gtest.h>

#include <vector>

#include "tests/unit/base/mpi_environment.hpp"
#include "tutti/base/random.hpp"
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
  std::vector<PassPart> parts;
  for (const IndexMap& map : maps) parts.push_back({{{map.separator_rows(), {}}}, {{map.interior_rows(), {}}}});
  std::vector<std::vector<Field<double>>> fields(3);  // [which][part]
  for (auto& field : fields)
    for (std::size_t p = 0; p < 2; ++p) field.emplace_back(*on.devices[p], maps[p], "u");
  Pass pass("", on.threads, on.streams, parts, &exchange, Overlap::full);
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

}  // namespace
}  // namespace tutti
