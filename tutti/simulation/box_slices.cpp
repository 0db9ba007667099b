#include "tutti/simulation/box_slices.hpp"

#include <algorithm>

namespace tutti {
namespace {

bool can_name_a_file(const std::string& name) {
  constexpr std::string_view letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_";
  return !name.empty() && name.size() <= 100 && name.find_first_not_of(letters) == std::string::npos;
}

/// The cells of a box in the layer; no cells at all are {}.
CellBox cut(const CellBox& box, const BoxSlice& slice) {
  CellBox layer = box;
  layer.lower[slice.axis] = std::max(box.lower[slice.axis], slice.layer);
  layer.upper[slice.axis] = std::min(box.upper[slice.axis], slice.layer + 1);
  return layer.empty() ? CellBox{} : layer;
}

/// The same cells, counted in the grid that consists of the layer only.
CellBox within_layer(CellBox box, const BoxSlice& slice) {
  if (box.empty()) return box;
  box.lower[slice.axis] = 0;
  box.upper[slice.axis] = 1;
  return box;
}

BoxGridShape shape_of(const BoxGrid& grid, const BoxSlice& slice) {
  std::array<std::vector<double>, 3> faces{grid.lines[0].faces, grid.lines[1].faces, grid.lines[2].faces};
  const auto lower = grid.lines[slice.axis].faces.begin() + slice.layer;
  faces[slice.axis].assign(lower, lower + 2);
  return BoxGridShape(std::move(faces));
}

}  // namespace

std::vector<BoxSlice> read_slices(const Case& options, const BoxGrid& grid) {
  std::vector<BoxSlice> slices;
  for (int i = 0; i < options.count("output.slice"); ++i) {
    const std::string table = fmt::format("output.slice[{}]", i), name = options.text(table + ".name"),
                      axis = options.text(table + ".axis");
    if (!can_name_a_file(name))
      fail(ErrorKind::input, "{}: slice '{}': files are called by its name; take 1 to 100 letters, digits, - and _",
           options.where(table + ".name"), name);
    if (std::any_of(slices.begin(), slices.end(), [&](const BoxSlice& other) { return other.name == name; }))
      fail(ErrorKind::input, "{}: there is a slice '{}' already; take another name", options.where(table + ".name"),
           name);
    const auto d = static_cast<std::size_t>(axis[0] - 'x');
    const GridLine& line = grid.lines[d];
    const double position = options.number(table + ".position");
    if (!(position >= line.faces.front() && position <= line.faces.back()))
      fail(ErrorKind::input, "{}: slice '{}' at {} = {:g} is outside the box, from {:g} to {:g}; move it into it",
           options.where(table + ".position"), name, axis, position, line.faces.front(), line.faces.back());
    slices.push_back({name, d, line.cell_at(position)});
  }
  return slices;
}

BoxSlices::BoxSlices(const Comm& comm, const BoxDomain& domain, const Case& options,
                     const std::filesystem::path& folder, int threads, std::span<const std::vector<double>> before) {
  std::vector<BoxSlice> slices;
  comm.together([&] { slices = read_slices(options, domain.grid); });
  require(before.size() == slices.size(), "times of {} slices for {}", before.size(), slices.size());
  for (std::size_t s = 0; s < slices.size(); ++s) {
    const BoxSlice& slice = slices[s];
    std::vector<CellBox> boxes, all;
    std::vector<BoxPiece> mine;
    for (std::size_t p = 0; p < domain.mine(); ++p) {
      boxes.push_back(cut(domain.box(p), slice));
      mine.push_back({domain.parts.mine[p], within_layer(boxes.back(), slice)});
    }
    for (const CellBox& box : domain.parts.boxes) all.push_back(within_layer(cut(box, slice), slice));
    slices_.push_back(
        {std::move(boxes), BoxResults(comm, shape_of(domain.grid, slice), std::move(mine), std::move(all),
                                      folder / "slices", static_cast<int>(options.integer("output.compress")), threads,
                                      before[s], {"slice-" + slice.name + ".pvd", "slice-" + slice.name})});
  }
}

void BoxSlices::write(std::size_t slice, double time, const FieldsIn& fields_in) {
  Series& series = slices_[slice];
  series.results.write(time, fields_in(series.boxes));
}

}  // namespace tutti
