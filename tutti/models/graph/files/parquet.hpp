// Apache Parquet, as little of it as a table of two columns needs.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <variant>

namespace tutti::graph {

struct ParquetColumn {
  std::string name;
  std::variant<std::span<const std::int64_t>, std::span<const double>> values;
  std::size_t size() const {
    return std::visit([](auto v) { return v.size(); }, values);
  }
};

/// The bytes of a file with these columns, all of the same size: values plain and not compressed, none of them null, in
/// groups of `group` rows. The format: https://parquet.apache.org/docs/file-format, parquet.thrift 2.10.
std::string parquet_of(std::span<const ParquetColumn> columns, std::size_t group = std::size_t{1} << 20);

}  // namespace tutti::graph
