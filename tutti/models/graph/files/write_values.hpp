// A value a vertex in files: CSV, NumPy's .npy and .npz, Parquet.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "tutti/base/system/atomic_file.hpp"
#include "tutti/models/graph/graph.hpp"

namespace tutti::graph {

/// One value a vertex, or one label.
struct VertexValues {
  std::string name;  ///< of the column: "betweenness"
  VertexNames names;
  std::vector<double> values;  ///< NaN: not measured
  std::vector<Gid> labels;     ///< instead of values
  std::size_t size() const { return labels.empty() ? values.size() : labels.size(); }
};

/// For help texts.
inline constexpr const char* value_formats = ".npy or .npz (NumPy), .parquet, else CSV";

/// By the ending of the name, in order of the vertices. CSV: `vertex,NAME`, empty where nothing was measured. .npy: an
/// array of records (vertex: int64, NAME: float64, or int64 for labels). .npz: the arrays `vertex` and NAME. .parquet:
/// columns of these names and types. In all but CSV, NaN where nothing was measured. Numbers of CSV read back to the
/// same doubles. Error(io).
void write_values(const VertexValues& values, const std::filesystem::path& path, Place place);

// The bytes of the four.
std::string csv_of(const VertexValues& values);
std::string npy_of(const VertexValues& values);
std::string npz_of(const VertexValues& values);
std::string parquet_of(const VertexValues& values);

/// The `count` highest values, equal ones in order of the vertices; a line each.
std::string top_list(const VertexValues& values, int count);

}  // namespace tutti::graph
