#include "tutti/domain/box_domain.hpp"

#include <algorithm>

namespace tutti {
namespace {

IndexMap map_of_owned(const BoxParts& parts, std::size_t p) {
  IndexMap map;
  map.part = parts.mine[p];
  const CellBox& box = parts.box(p);
  for (Lid k = box.lower[2]; k < box.upper[2]; ++k)
    for (Lid j = box.lower[1]; j < box.upper[1]; ++j)
      for (Lid i = box.lower[0]; i < box.upper[0]; ++i) map.global.push_back(parts.number({i, j, k}));
  map.owned = map.interior = map.independent = static_cast<Lid>(map.global.size());
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

void BoxDomain::load(const ModelSetup&) {
  rows = grid.cell_count();
  checksum = grid.checksum();
}

void BoxDomain::cut(const ModelSetup& setup, const PartPlaces& places, const StoredPartition*) {
  setup.comm.together([&] {
    try {
      parts.boxes = split_box(grid.cells(), weights, parse_box_cut(setup.options.text("partition.cut")), cut_order_);
    } catch (const Error& error) {
      fail(error.kind(), "{}: {}", setup.options.where("grid.cells"), error.what());
    }
    for (const CellBox& box : parts.boxes)
      if (grown(box, 1).cells() >= Gid{1} << 31)
        fail(ErrorKind::resource, "a part of {} cells is too large: 2^31 cells per device at most; use more devices",
             box.cells());
  });
  parts.cells = grid.cells();
  parts.periodic = grid.periodic();
  parts.rank_of_part = places.rank_of_part;
  parts.mine.clear();
  arrays.clear();
  maps.clear();
  for (std::size_t p = 0; p < mine(); ++p) parts.mine.push_back(part(p));
  for (std::size_t p = 0; p < mine(); ++p) arrays.push_back({grown(box(p), 1)});
  if (count_only_) return;
  setup.phases.begin("exchange");
  for (std::size_t p = 0; p < mine(); ++p) maps.push_back(map_of_owned(parts, p));
}

WholeRows BoxDomain::take_whole(const ModelSetup& setup) {
  WholeRows whole;
  const auto cells = grid.cells();
  const auto periodic = grid.periodic();
  const auto number = [cells](const std::array<Lid, 3>& c) { return (Gid{c[2]} * cells[1] + c[1]) * cells[0] + c[0]; };
  std::array<Lid, 3> at{};
  for (at[2] = 0; at[2] < cells[2]; ++at[2])
    for (at[1] = 0; at[1] < cells[1]; ++at[1])
      for (at[0] = 0; at[0] < cells[0]; ++at[0]) {
        for (std::size_t d = 0; d < 3; ++d)
          for (const Lid step : {-1, 1}) {
            std::array<Lid, 3> next = at;
            next[d] += step;
            if ((next[d] < 0 || next[d] >= cells[d]) && !periodic[d]) continue;
            next[d] = (next[d] + cells[d]) % cells[d];
            whole.reads.columns.push_back(number(next));
          }
        whole.reads.close_row();
      }
  whole.cut = [cells, number, how = parse_box_cut(setup.options.text("partition.cut")), order = cut_order_](
                  int nodes, std::span<const double> of_node) {
    std::vector<double> of_parts;
    for (int n = 0; n < nodes; ++n) of_parts.insert(of_parts.end(), of_node.begin(), of_node.end());
    std::vector<std::int32_t> owner(Gid{cells[0]} * cells[1] * cells[2]);
    const auto boxes = split_box(cells, of_parts, how, order);
    for (std::size_t part = 0; part < boxes.size(); ++part)
      for (Lid k = boxes[part].lower[2]; k < boxes[part].upper[2]; ++k)
        for (Lid j = boxes[part].lower[1]; j < boxes[part].upper[1]; ++j)
          if (!boxes[part].empty())
            std::fill_n(owner.begin() + number({boxes[part].lower[0], j, k}), boxes[part].size(0),
                        static_cast<std::int32_t>(part));
    return owner;
  };
  return whole;
}

BoxDomain make_box_domain(const ModelSetup& setup, BoxGrid grid, const Sharing& sharing,
                          const std::array<int, 3>& cut_order) {
  BoxDomain domain(std::move(grid), cut_order);
  make_domain(domain, setup, sharing);
  return domain;
}

template <class T>
void take_owned(Stream& stream, const Buffer<T>& buffer, const BoxArray& array, const CellBox& box,
                std::span<double> values) {
  if (box.empty()) return;
  const auto first = static_cast<std::size_t>(array.at(box.lower[0], box.lower[1], box.lower[2])),
             last = static_cast<std::size_t>(array.at(box.upper[0] - 1, box.upper[1] - 1, box.upper[2] - 1));
  // All from the first to the last of the cells at once, unless these are few of them, as around a probe.
  const bool line_by_line = last - first + 1 > 4096 && static_cast<Gid>(last - first) > 64 * box.cells();
  std::vector<T> all(line_by_line ? values.size() : last - first + 1);
  const auto copy = [&](std::size_t from, std::size_t to, std::size_t count) {
    stream.copy(&all[to], buffer.data() + from, static_cast<Size>(count * sizeof(T)), CopyDirection::to_host);
  };
  const auto line = static_cast<std::size_t>(box.size(0));
  if (line_by_line)
    for_lines(array, box, [&](std::size_t from, std::size_t to) { copy(from, to, line); });
  else
    copy(first, 0, all.size());
  stream.synchronize();
  for_lines(array, box, [&](std::size_t from, std::size_t to) {
    const std::size_t at = line_by_line ? to : from - first;
    for (std::size_t i = 0; i < line; ++i) values[to + i] = static_cast<double>(all[at + i]);
  });
}

template <class T>
void put_owned(Stream& stream, Buffer<T>& buffer, const BoxArray& array, const CellBox& box,
               std::span<const double> values) {
  std::vector<T> all(buffer.size());
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
