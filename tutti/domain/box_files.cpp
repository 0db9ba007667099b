#include "tutti/domain/box_files.hpp"

#include <algorithm>

#include "tutti/domain/box_domain.hpp"
#include "tutti/io/output_folder.hpp"

namespace tutti {
namespace {

bool overlap(const CellBox& a, const CellBox& b) {
  for (std::size_t d = 0; d < 3; ++d)
    if (std::max(a.lower[d], b.lower[d]) >= std::min(a.upper[d], b.upper[d])) return false;
  return true;
}

void require_whole(const CellBox& grid, std::span<const CellBox> boxes) {
  Gid cells = 0;
  for (std::size_t a = 0; a < boxes.size(); ++a) {
    cells += boxes[a].cells();
    for (std::size_t b = 0; b < a; ++b) require(!overlap(boxes[a], boxes[b]), "parts {} and {} overlap", b, a);
  }
  require(cells == grid.cells(), "the parts have {} cells, the grid {}", cells, grid.cells());
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

BoxPieces::BoxPieces(BoxGridShape grid, std::span<const BoxPiece> of_rank, std::vector<CellBox> boxes)
    : grid_(std::move(grid)), boxes_(std::move(boxes)) {
  if (!boxes_.empty()) require_whole(grid_.box(), boxes_);
  for (std::size_t p = 0; p < boxes_.size(); ++p)
    if (!boxes_[p].empty()) all.push_back(static_cast<int>(p));
  for (const BoxPiece& piece : of_rank) {
    if (piece.box.empty()) continue;
    const Gid cells = piece.box.cells();
    mine.push_back({piece.p, piece.part, {{0, static_cast<Lid>(cells)}, piece.cells}, cells});
    mine_boxes_.push_back(piece.box);
    owner_.emplace_back(static_cast<std::size_t>(cells), piece.part);
  }
}

std::vector<VtkArray> BoxPieces::arrays(std::optional<std::size_t> i) const {
  std::vector<VtkArray> list;
  list.push_back({"part", 1, i ? std::span<const std::int32_t>(owner_[*i]) : std::span<const std::int32_t>()});
  return list;
}

PieceCells BoxPieces::cells(std::size_t i) const {
  const CellBox& box = mine_boxes_[i];
  PieceCells cells;
  const std::int64_t nx = box.upper[0] - box.lower[0] + 1, ny = box.upper[1] - box.lower[1] + 1;
  const auto face = [&](int d, Lid k) { return grid_.faces(d)[static_cast<std::size_t>(k)]; };
  for (Lid k = box.lower[2]; k <= box.upper[2]; ++k)
    for (Lid j = box.lower[1]; j <= box.upper[1]; ++j)
      for (Lid l = box.lower[0]; l <= box.upper[0]; ++l) cells.points.push_back({face(0, l), face(1, j), face(2, k)});
  for (Lid k = 0; k < box.upper[2] - box.lower[2]; ++k)
    for (Lid j = 0; j < box.upper[1] - box.lower[1]; ++j)
      for (Lid l = 0; l < box.upper[0] - box.lower[0]; ++l) {
        for (const std::int64_t corner : {(k * ny + j) * nx + l, ((k + 1) * ny + j) * nx + l})
          for (const std::int64_t step : {std::int64_t{0}, std::int64_t{1}, nx + 1, nx})
            cells.connectivity.push_back(corner + step);
        cells.offsets.push_back(static_cast<std::int64_t>(cells.connectivity.size()));
        cells.types.push_back(12);
      }
  return cells;
}

void BoxPieces::write(const std::filesystem::path& path, std::size_t i, std::span<const VtkArray> arrays,
                      const VtkOptions& options) const {
  write_box_piece(path, grid_, mine_boxes_[i], arrays, options);
}

void BoxPieces::join(const std::filesystem::path& path, const std::vector<std::string>& files,
                     std::span<const VtkArray> arrays, std::optional<double> time) const {
  std::vector<BoxPieceFile> pieces;
  for (std::size_t k = 0; k < all.size(); ++k) pieces.push_back({boxes_[all[k]], files[k]});
  write_joined_boxes(path, grid_, pieces, arrays, time);
}

std::vector<BoxSlice> read_slices(const Case& options, const BoxGrid& grid) {
  std::vector<BoxSlice> slices;
  for (int i = 0; i < options.count("output.slice"); ++i) {
    const std::string table = fmt::format("output.slice[{}]", i), name = options.text(table + ".name"),
                      axis = options.text(table + ".axis");
    if (!can_name_a_file(name))
      fail(ErrorKind::input, "{}: slice '{}': the name is also a file name; use 1 to 100 letters, digits, - and _",
           options.where(table + ".name"), name);
    if (std::any_of(slices.begin(), slices.end(), [&](const BoxSlice& other) { return other.name == name; }))
      fail(ErrorKind::input, "{}: there already is a slice '{}'; use another name", options.where(table + ".name"),
           name);
    const auto d = static_cast<std::size_t>(axis[0] - 'x');
    const GridLine& line = grid.lines[d];
    const double position = options.number(table + ".position");
    if (!(position >= line.faces.front() && position <= line.faces.back()))
      fail(ErrorKind::input, "{}: slice '{}' at {} = {:g} is outside the box, from {:g} to {:g}; move it inside",
           options.where(table + ".position"), name, axis, position, line.faces.front(), line.faces.back());
    slices.push_back({name, d, line.cell_at(position)});
  }
  return slices;
}

std::vector<std::array<Lid, 3>> probe_cells(const BoxGrid& grid, std::span<const Vec3> points,
                                            std::span<const std::string> labels) {
  require(labels.size() == points.size(), "{} labels for {} probes", labels.size(), points.size());
  std::vector<std::array<Lid, 3>> cells(points.size());
  for (std::size_t i = 0; i < points.size(); ++i)
    for (std::size_t d = 0; d < 3; ++d) {
      const GridLine& line = grid.lines[d];
      const double x = points[i][static_cast<int>(d)];
      if (!(x >= line.faces.front() && x <= line.faces.back()))
        fail(ErrorKind::input, "{} at ({:g}, {:g}, {:g}) is outside the box; move it inside", labels[i], points[i].x,
             points[i].y, points[i].z);
      cells[i][d] = line.cell_at(x);
    }
  return cells;
}

std::vector<RowPlace> BoxDomain::locate(const Comm& comm, std::span<const Vec3> points,
                                        std::span<const std::string> labels) const {
  std::vector<RowPlace> places;
  comm.together([&] {
    const auto cells = probe_cells(grid, points, labels);
    for (std::size_t i = 0; i < cells.size(); ++i)
      for (std::size_t p = 0; p < mine(); ++p) {
        const auto& [x, y, z] = cells[i];
        if (box(p).contains(x, y, z)) places.push_back({i, p, {{0, 1}, {{x, y, z}, {x + 1, y + 1, z + 1}}}});
      }
  });
  return places;
}

RowSet BoxDomain::one_row(std::size_t p, Lid row) const {
  const CellBox& b = box(p);
  const Lid x = b.lower[0] + row % b.size(0), y = b.lower[1] + row / b.size(0) % b.size(1),
            z = b.lower[2] + row / b.size(0) / b.size(1);
  return {{row, row + 1}, {{x, y, z}, {x + 1, y + 1, z + 1}}};
}

std::vector<WeightedRow> BoxDomain::around(std::size_t, const RowSet& row, Vec3 point) const {
  std::array<std::vector<std::pair<Lid, double>>, 3> shares;  // of cells, by direction
  for (std::size_t d = 0; d < 3; ++d) {
    const GridLine& line = grid.lines[d];
    const double x = point[static_cast<int>(d)];
    const Lid n = line.cells(), cell = row.box.lower[d];
    if (n == 1) {
      shares[d] = {{0, 1.0}};
      continue;
    }
    Lid lower = x < line.centre(cell) ? cell - 1 : cell;
    if (!line.periodic) lower = std::clamp(lower, Lid{0}, n - 2);
    const double share = (x - line.centre(lower)) / line.distance(lower);
    shares[d] = {{(lower + n) % n, 1 - share}, {(lower + 1) % n, share}};
  }
  std::vector<WeightedRow> all;
  for (const auto& [k, z] : shares[2])
    for (const auto& [j, y] : shares[1])
      for (const auto& [i, x] : shares[0]) all.push_back({parts.number({i, j, k}), x * y * z});
  return all;
}

std::vector<Vec3> BoxDomain::middles(std::size_t p) const {
  std::vector<Vec3> points;
  const CellBox& b = box(p);
  for (Lid k = b.lower[2]; k < b.upper[2]; ++k)
    for (Lid j = b.lower[1]; j < b.upper[1]; ++j)
      for (Lid i = b.lower[0]; i < b.upper[0]; ++i) points.push_back(grid.centre(i, j, k));
  return points;
}

Groups BoxDomain::boundaries() const {
  Groups ends;
  for (const std::int32_t f : {0, 1, 2, 3, 4, 5}) {
    if (grid.lines[static_cast<std::size_t>(f / 2)].periodic) continue;
    ends.tags.insert(f);
    ends.names[f] = fmt::format("{}-{}", "xyz"[f / 2], f % 2 == 0 ? "lower" : "upper");
  }
  return ends;
}

std::unique_ptr<Pieces> BoxDomain::pieces(const VtkOptions&) const {
  std::vector<BoxPiece> own;
  for (std::size_t p = 0; p < mine(); ++p) own.push_back({p, part(p), box(p), box(p)});
  return std::make_unique<BoxPieces>(BoxGridShape({grid.lines[0].faces, grid.lines[1].faces, grid.lines[2].faces}), own,
                                     parts.boxes);
}

std::vector<std::unique_ptr<Pieces>> BoxDomain::slices(const Case& options) const {
  std::vector<std::unique_ptr<Pieces>> all;
  for (const BoxSlice& slice : read_slices(options, grid)) {
    std::vector<BoxPiece> own;
    std::vector<CellBox> boxes;
    for (std::size_t p = 0; p < mine(); ++p) {
      const CellBox cells = tutti::cut(box(p), slice);
      own.push_back({p, part(p), within_layer(cells, slice), cells});
    }
    for (const CellBox& box : parts.boxes) boxes.push_back(within_layer(tutti::cut(box, slice), slice));
    all.push_back(std::make_unique<BoxPieces>(shape_of(grid, slice), own, std::move(boxes)));
  }
  return all;
}

}  // namespace tutti
