#include "tutti/simulation/box_domain.hpp"

#include "tutti/partition/split_box.hpp"
#include "tutti/simulation/tet_domain.hpp"

namespace tutti {
namespace {

IndexMap map_of_owned(const BoxParts& parts, std::size_t p) {
  IndexMap map;
  map.part = parts.mine[p];
  const CellBox& box = parts.box(p);
  for (Lid k = box.lower[2]; k < box.upper[2]; ++k)
    for (Lid j = box.lower[1]; j < box.upper[1]; ++j)
      for (Lid i = box.lower[0]; i < box.upper[0]; ++i) map.global.push_back(parts.number({i, j, k}));
  map.owned = map.interior = static_cast<Lid>(map.global.size());
  return map;
}

/// f(place in the array, place among the owned) for every line of owned cells along x.
template <class F>
void for_lines(const BoxArray& array, const CellBox& box, const F& f) {
  std::size_t owned = 0;
  for (Lid k = box.lower[2]; k < box.upper[2]; ++k)
    for (Lid j = box.lower[1]; j < box.upper[1]; ++j) {
      f(static_cast<std::size_t>(array.at(box.lower[0], j, k)), owned);
      owned += static_cast<std::size_t>(box.size(0));
    }
}

}  // namespace

BoxDomain cut_box_domain(const ModelSetup& setup, BoxGrid grid, const MeasureRate& rate) {
  BoxDomain domain;
  domain.grid = std::move(grid);
  const PartPlaces places = place_parts(setup.comm, setup.devices);
  const int parts = static_cast<int>(places.rank_of_part.size());
  setup.phases.begin("weights");
  Weights chosen;
  chosen.of_parts = setup.weights;
  if (chosen.of_parts.empty())
    chosen = part_weights(setup.comm, setup.devices, setup.options, parts, domain.grid.cell_count(), rate);
  domain.weights = chosen.of_parts;
  domain.balance = summarise_weights(setup.options, chosen);
  setup.phases.begin("partition");
  setup.comm.together([&] {
    const std::string key = "partition.cut";
    try {
      domain.parts.boxes = split_box(domain.grid.cells(), domain.weights, parse_box_cut(setup.options.text(key)));
    } catch (const Error& error) {
      fail(error.kind(), "{}: {}", setup.options.where("grid.cells"), error.what());
    }
    for (const CellBox& box : domain.parts.boxes)
      if (grown(box, 1).cells() >= Gid{1} << 31)
        fail(ErrorKind::resource, "a part of {} cells is too large: 2^31 cells a device at most; use more devices",
             box.cells());
  });
  domain.parts.cells = domain.grid.cells();
  domain.parts.periodic = domain.grid.periodic();
  domain.parts.rank_of_part = places.rank_of_part;
  for (int p = 0; p < parts; ++p)
    if (places.rank_of_part[static_cast<std::size_t>(p)] == setup.comm.rank()) domain.parts.mine.push_back(p);
  for (const auto& device : setup.devices.devices) domain.streams.emplace_back(*device);
  for (std::size_t p = 0; p < domain.mine(); ++p) domain.arrays.push_back({grown(domain.box(p), 1)});
  setup.phases.end();
  return domain;
}

BoxDomain make_box_domain(const ModelSetup& setup, BoxGrid grid, const MeasureRate& rate) {
  BoxDomain domain = cut_box_domain(setup, std::move(grid), rate);
  setup.phases.begin("exchange");
  for (std::size_t p = 0; p < domain.mine(); ++p) domain.maps.push_back(map_of_owned(domain.parts, p));
  domain.transport =
      make_transport(setup.comm, parse_transport(setup.options.text("devices.transport")), domain.maps, domain.streams);
  domain.transport.left_out = !setup.options.flag("devices.exchange");
  setup.phases.end();
  return domain;
}

template <class T>
void take_owned(Stream& stream, const Buffer<T>& buffer, const BoxArray& array, const CellBox& box,
                std::span<double> values) {
  if (box.empty()) return;
  // From the first to the last of the cells; of a plane z = const, that is not much more than its cells.
  const auto first = static_cast<std::size_t>(array.at(box.lower[0], box.lower[1], box.lower[2])),
             last = static_cast<std::size_t>(array.at(box.upper[0] - 1, box.upper[1] - 1, box.upper[2] - 1));
  std::vector<T> all(last - first + 1);
  stream.copy(all.data(), buffer.data() + first, static_cast<Size>(all.size() * sizeof(T)), CopyDirection::to_host);
  stream.synchronize();
  for_lines(array, box, [&](std::size_t from, std::size_t to) {
    for (std::size_t i = 0; i < static_cast<std::size_t>(box.size(0)); ++i)
      values[to + i] = static_cast<double>(all[from - first + i]);
  });
}

template <class T>
void put_owned(Stream& stream, Buffer<T>& buffer, const BoxArray& array, const CellBox& box,
               std::span<const double> values) {
  std::vector<T> all(static_cast<std::size_t>(buffer.size()));
  download(stream, std::span<T>(all), buffer);
  for_lines(array, box, [&](std::size_t to, std::size_t from) {
    for (std::size_t i = 0; i < static_cast<std::size_t>(box.size(0)); ++i)
      all[to + i] = static_cast<T>(values[from + i]);
  });
  upload(stream, buffer, std::span<const T>(all));
}

template void take_owned(Stream&, const Buffer<double>&, const BoxArray&, const CellBox&, std::span<double>);
template void take_owned(Stream&, const Buffer<float>&, const BoxArray&, const CellBox&, std::span<double>);
template void put_owned(Stream&, Buffer<double>&, const BoxArray&, const CellBox&, std::span<const double>);
template void put_owned(Stream&, Buffer<float>&, const BoxArray&, const CellBox&, std::span<const double>);

}  // namespace tutti
