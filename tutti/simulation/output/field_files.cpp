#include "tutti/simulation/output/field_files.hpp"

#include <deque>

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

}  // namespace tutti
