#include "tutti/models/diffusion/diffusion_rate.hpp"

#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>

#include "tutti/exchange/part_streams.hpp"
#include "tutti/mesh/generate.hpp"
#include "tutti/mesh/stencil.hpp"
#include "tutti/models/diffusion/diffusion_case.hpp"
#include "tutti/models/diffusion/diffusion_plan.hpp"
#include "tutti/models/diffusion/ionic/ionic_part.hpp"
#include "tutti/partition/partition.hpp"
#include "tutti/schedule/step.hpp"

namespace tutti::diffusion {

DiffusionRows sample_rows(Gid cubes, int copies) {
  BoxSpec spec;
  spec.cubes = {cubes, cubes, cubes};
  const TetMesh mesh = generate_box(spec);
  const Adjacency stencil = tet_stencil(find_face_neighbours(mesh));
  const auto order = order_rows(Ordering::hilbert, cell_centroids(mesh), {});
  std::vector<Lid> now(order.size());
  for (std::size_t i = 0; i < order.size(); ++i) now[order[i]] = static_cast<Lid>(i);
  DiffusionRows rows;
  for (std::size_t i = 0; i < order.size(); ++i) {
    std::array<Lid, max_row_entries> c{};
    std::array<double, max_row_entries> v{};
    c.fill(static_cast<Lid>(i));
    std::size_t j = 0;
    for (const Gid g : stencil.row(order[i])) {
      c[j] = now[g];
      v[j++] = 1e-3;
    }
    rows.columns.push_back(c);
    rows.values.push_back(v);
    rows.counts.push_back(static_cast<std::uint8_t>(j));
  }
  const std::size_t one = order.size(), all = one * static_cast<std::size_t>(copies);
  rows.columns.reserve(all);
  rows.values.reserve(all);
  rows.counts.reserve(all);
  for (std::size_t i = one; i < all; ++i) {
    auto& columns = rows.columns.emplace_back(rows.columns[i - one]);
    for (Lid& c : columns) c += static_cast<Lid>(one);
    rows.values.push_back(rows.values[i - one]);
    rows.counts.push_back(rows.counts[i - one]);
  }
  rows.diagonal.assign(all, 0);
  return rows;
}

double measure_rate(Device& device, Threads& threads, const Case& options, const DiffusionRows& rows) {
  std::vector<PartStreams> parts;
  parts.emplace_back(device);
  Stream& stream = *parts[0].compute;
  // Copies from the host are measured apart (pace_targets); decoding is not.
  const bool coded = !device.is_host() && options.text("residency.policy") == "compressed";
  RowOperator op = coded ? RowOperator(RowOperator::Apart{}, stream, rows, row_column_bytes(options))
                         : RowOperator(stream, rows, row_format(options, device.is_host()), row_precision(options),
                                       row_column_bytes(options));
  if (coded) op.hold(stream, coefficient_options(options), nullptr, nullptr);
  const Lid n = op.rows();
  const std::vector<double> values(n, 1.0);
  const auto u = make_buffer(stream, std::span<const double>(values), "u of the sample");
  Buffer<double> next(device, n, "next u of the sample");
  // Cells that react, too: in them a GPU and a CPU differ by another factor.
  auto ionic = ionic_case(options);
  std::optional<IonicPart> cells;
  if (ionic) {
    ionic->stimuli.clear();
    ionic->layer = Expression(0.0);
    ionic->recovery = Expression(1.0);
    cells.emplace(stream, threads, *ionic, std::vector<Vec3>(static_cast<std::size_t>(n)));
  }
  // As in a run: through the team on a CPU, ahead of a GPU.
  Step step(threads, parts);
  step.compute("sample", 0, Step::Role::interior, {0, n}, [&](Stream& on, Range range) {
    op.apply(on, range, u.data(), nullptr, EulerUpdate{next.data(), 1e-3});
    if (cells) cells->kernel(*ionic, next.data(), 0, 1e-3)(on, range);
  });
  step.finish(Overlap::full);
  return static_cast<double>(n) / sample_seconds(step);
}

MeasureRate kernel_rate(const Case& options, Threads& threads) {
  // A box of 105,456 tetrahedra, as often as need be; the last one is kept for the next device.
  struct Sample {
    Gid cubes = 0;
    int copies = 0;
    DiffusionRows rows;
  };
  return [&options, &threads, sample = std::make_shared<Sample>()](Device& device, Gid rows) {
    constexpr Gid large = 26;
    const Gid cubes = std::clamp<Gid>(std::llround(std::cbrt(static_cast<double>(rows) / 6)), 1, large);
    const int copies =
        static_cast<int>(std::max<Gid>(1, (rows + 3 * cubes * cubes * cubes) / (6 * cubes * cubes * cubes)));
    if (sample->cubes != cubes || sample->copies != copies) *sample = {cubes, copies, sample_rows(cubes, copies)};
    return measure_rate(device, threads, options, sample->rows);
  };
}

}  // namespace tutti::diffusion
