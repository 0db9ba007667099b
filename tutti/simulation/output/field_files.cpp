#include "tutti/simulation/output/field_files.hpp"

#include <algorithm>
#include <array>
#include <deque>
#include <numeric>
#include <variant>

namespace tutti {
namespace {

/// Arrays of a piece, with the memory that they stand in; without a piece, names and types only.
struct PieceArrays {
  std::vector<VtkArray> arrays;
  std::deque<std::vector<double>> doubles;
  std::deque<std::vector<float>> floats;

  /// `values`: of one array, of which only the type counts where they are none.
  void add(const std::string& name, int components, bool single, std::vector<double>&& values) {
    if (single) {
      const auto& kept = floats.emplace_back(values.begin(), values.end());
      arrays.push_back({name, components, std::span<const float>(kept)});
    } else {
      const auto& kept = doubles.emplace_back(std::move(values));
      arrays.push_back({name, components, std::span<const double>(kept)});
    }
  }
};

PieceArrays arrays_of(std::span<const ModelField> fields, const Pieces& pieces, std::optional<std::size_t> i) {
  PieceArrays all;
  for (const ModelField& field : fields) {
    if (!field.output) continue;
    const auto components = static_cast<std::size_t>(field.components);
    const auto rows = i ? static_cast<std::size_t>(pieces.mine[*i].count) : 0;
    std::vector<double> values(rows * components);
    if (rows > 0) field.read(pieces.mine[*i].p, pieces.mine[*i].rows, values);
    if (field.component_names.empty()) {
      all.add(field.name, field.components, field.single, std::move(values));
      continue;
    }
    for (std::size_t c = 0; c < components; ++c) {
      std::vector<double> one(rows);
      for (std::size_t r = 0; r < rows; ++r) one[r] = values[r * components + c];
      all.add(field.component_names[c], 1, field.single, std::move(one));
    }
  }
  for (const VtkArray& array : pieces.arrays(i)) all.arrays.push_back(array);
  return all;
}

}  // namespace

VtkOptions vtk_options(const Case& options, int threads) {
  VtkOptions vtk;
  vtk.level = static_cast<int>(options.integer("output.compress"));
  vtk.threads = threads;
  return vtk;
}

FieldFiles::FieldFiles(const Comm& comm, std::unique_ptr<Pieces> pieces, const std::filesystem::path& folder,
                       const VtkOptions& options, std::span<const double> before, const SeriesNames& names)
    : pieces_(std::move(pieces)), options_(options), series_(comm, folder, pieces_->suffix(), before, names) {
  for (const Pieces::Piece& piece : pieces_->mine) mine_.push_back(piece.part);
}

void FieldFiles::write(double time, std::span<const ModelField> fields) {
  options_.time = time;
  series_.write(
      time, mine_, pieces_->all,
      [&](std::size_t i, const std::filesystem::path& path) {
        pieces_->write(path, i, arrays_of(fields, *pieces_, i).arrays, options_);
      },
      [&](const std::filesystem::path& path, const std::vector<std::string>& files) {
        pieces_->join(path, files, arrays_of(fields, *pieces_, {}).arrays, time);
      });
}

namespace {

/// Everyone's values on the root, rank after rank; nothing on the others.
template <class T>
std::vector<T> on_root(const Comm& comm, std::span<const T> mine) {
  std::vector<std::vector<T>> outgoing(static_cast<std::size_t>(comm.size()));
  outgoing[0].assign(mine.begin(), mine.end());
  std::vector<T> all;
  for (const auto& part : comm.all_to_all(outgoing)) all.insert(all.end(), part.begin(), part.end());
  return all;
}

/// Of parts of this rank, joined: a rank is a part of the file.
PieceCells joined(const Pieces& pieces) {
  PieceCells all;
  for (std::size_t i = 0; i < pieces.mine.size(); ++i) {
    const PieceCells one = pieces.cells(i);
    const auto points = static_cast<std::int64_t>(all.points.size());
    const auto entries = static_cast<std::int64_t>(all.connectivity.size());
    all.points.insert(all.points.end(), one.points.begin(), one.points.end());
    all.types.insert(all.types.end(), one.types.begin(), one.types.end());
    for (const std::int64_t point : one.connectivity) all.connectivity.push_back(points + point);
    for (std::size_t c = 1; c < one.offsets.size(); ++c) all.offsets.push_back(entries + one.offsets[c]);
  }
  return all;
}

/// The parts of all ranks as one, on the root.
PieceCells gathered(const Comm& comm, const PieceCells& mine) {
  PieceCells all;
  const std::array sizes{static_cast<std::int64_t>(mine.points.size()),
                         static_cast<std::int64_t>(mine.connectivity.size())};
  const auto counts = comm.all_gather(std::span<const std::int64_t>(sizes));
  std::int64_t first_point = 0, first_entry = 0;
  for (int r = 0; r < comm.rank(); ++r) {
    first_point += counts[2 * static_cast<std::size_t>(r)];
    first_entry += counts[2 * static_cast<std::size_t>(r) + 1];
  }
  std::vector<std::int64_t> connectivity = mine.connectivity, offsets(mine.offsets.begin() + 1, mine.offsets.end());
  for (auto& point : connectivity) point += first_point;
  for (auto& offset : offsets) offset += first_entry;
  all.points = on_root(comm, std::span<const Vec3>(mine.points));
  all.connectivity = on_root(comm, std::span<const std::int64_t>(connectivity));
  const auto ends = on_root(comm, std::span<const std::int64_t>(offsets));
  all.offsets.insert(all.offsets.end(), ends.begin(), ends.end());
  all.types = on_root(comm, std::span<const std::uint8_t>(mine.types));
  return all;
}

/// Point k of the result, and its cell, are those of row k, where every cell is one point.
PieceCells points_in_order(const PieceCells& cells, std::span<const Gid> rows) {
  PieceCells ordered = cells;
  for (std::size_t c = 0; c < rows.size(); ++c) ordered.points[static_cast<std::size_t>(rows[c])] = cells.points[c];
  std::iota(ordered.connectivity.begin(), ordered.connectivity.end(), std::int64_t{0});
  return ordered;
}

/// Cell k of the result is the one that is row k.
PieceCells in_order(const PieceCells& cells, std::span<const Gid> rows) {
  std::vector<std::size_t> cell_of(rows.size());
  for (std::size_t c = 0; c < rows.size(); ++c) cell_of[static_cast<std::size_t>(rows[c])] = c;
  PieceCells ordered;
  ordered.points = cells.points;
  for (const std::size_t c : cell_of) {
    const auto begin = cells.connectivity.begin();
    ordered.connectivity.insert(ordered.connectivity.end(), begin + cells.offsets[c], begin + cells.offsets[c + 1]);
    ordered.offsets.push_back(static_cast<std::int64_t>(ordered.connectivity.size()));
    ordered.types.push_back(cells.types[c]);
  }
  return ordered;
}

template <class T>
std::vector<T> in_order(const std::vector<T>& values, int components, std::span<const Gid> rows) {
  std::vector<T> ordered(values.size());
  const auto width = static_cast<std::size_t>(components);
  for (std::size_t c = 0; c < rows.size(); ++c)
    std::copy_n(values.begin() + static_cast<std::ptrdiff_t>(c * width), width,
                ordered.begin() + static_cast<std::ptrdiff_t>(static_cast<std::size_t>(rows[c]) * width));
  return ordered;
}

}  // namespace

HdfFieldFile::HdfFieldFile(const Comm& comm, const Domain& domain, const VtkOptions& options,
                           const std::filesystem::path& folder, Size times)
    : comm_(comm),
      pieces_(domain.pieces(options)),
      file_(folder / "results.vtkhdf", options.level, pieces_->at_points()) {
  PieceCells mine;
  std::vector<Gid> rows;
  comm_.together([&] {
    mine = joined(*pieces_);
    for (const Pieces::Piece& piece : pieces_->mine) {
      const auto& global = domain.maps[piece.p].global;
      rows.insert(rows.end(), global.begin(), global.begin() + piece.count);
    }
  });
  rows_ = on_root(comm_, std::span<const Gid>(rows));
  const PieceCells there = gathered(comm_, mine),
                   all = pieces_->at_points() ? points_in_order(there, rows_) : in_order(there, rows_);
  comm_.together([&] {
    if (!comm_.is_root()) return;
    if (times == 0)
      file_.create({&all, 1});
    else
      file_.go_on({&all, 1}, times);
  });
}

void HdfFieldFile::write(double time, std::span<const ModelField> fields) {
  std::vector<PieceArrays> mine;
  comm_.together([&] {
    for (std::size_t i = 0; i < pieces_->mine.size(); ++i) mine.push_back(arrays_of(fields, *pieces_, i));
  });
  const PieceArrays names = arrays_of(fields, *pieces_, {});
  std::deque<
      std::variant<std::vector<double>, std::vector<float>, std::vector<std::int64_t>, std::vector<std::int32_t>>>
      kept;
  std::vector<VtkArray> all;
  for (std::size_t a = 0; a < names.arrays.size(); ++a)
    std::visit(
        [&](auto of) {
          using T = std::remove_const_t<typename decltype(of)::element_type>;
          std::vector<T> values;
          for (const PieceArrays& piece : mine) {
            const auto some = std::get<std::span<const T>>(piece.arrays[a].values);
            values.insert(values.end(), some.begin(), some.end());
          }
          const auto& there = kept.emplace_back(
              in_order(on_root(comm_, std::span<const T>(values)), names.arrays[a].components, rows_));
          all.push_back(
              {names.arrays[a].name, names.arrays[a].components, std::span<const T>(std::get<std::vector<T>>(there))});
        },
        names.arrays[a].values);
  comm_.together([&] {
    if (comm_.is_root()) file_.add(time, all);
  });
}

}  // namespace tutti
