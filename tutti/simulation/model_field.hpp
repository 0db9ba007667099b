// What a model says of its fields, once: results, slices, probes, checkpoints and checksums follow from it.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "tutti/domain/pieces.hpp"

namespace tutti {

/// A field of a model, and what it is used for.
struct ModelField {
  std::string name;
  int components = 1;
  /// Names of the components where each is a quantity of its own; none: they are those of a vector.
  std::vector<std::string> component_names = {};
  bool single = false;  ///< kept in single precision

  bool restart = false;   ///< a run goes on from it: kept in checkpoints
  bool checksum = false;  ///< part of the checksum in the summary
  bool output = false;    ///< written into results and slices
  /// What probes call its components; none: probes do not read it.
  std::vector<std::string> probes = {};

  /// Puts the values of rows of part p of this rank into `to`: [row][component]. Not collective.
  std::function<void(std::size_t p, const RowSet& rows, std::span<double> to)> read = {};
  /// Puts the value at a point of an owned row of part p there: of a field that varies within rows. Not collective.
  std::function<void(std::size_t p, Lid row, Vec3 point, std::span<double> to)> at = {};
  /// The way back, for all rows that the part owns. Fields of checkpoints only.
  std::function<void(std::size_t p, std::span<const double> from)> write = {};
};

}  // namespace tutti
