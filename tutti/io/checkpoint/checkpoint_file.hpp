// The HDF5 inside of a checkpoint: its empty frame, which all ranks then fill at known places, and its reading.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "tutti/base/types.hpp"

namespace tutti {

/// Version of the HDF5 library that runs: "1.10.8".
std::string hdf5_version();

/// A field in a checkpoint: `components` doubles a row.
struct CheckpointField {
  std::string name;
  int components = 1;
  friend bool operator==(const CheckpointField&, const CheckpointField&) = default;
};

/// What is in a checkpoint besides the values. Rows stand part after part, each in its part's order.
struct CheckpointFrame {
  std::string meta;              ///< JSON text
  std::vector<Size> part_begin;  ///< first row of each part, and the number of rows at the end
  std::vector<CheckpointField> fields;
  Size rows() const { return part_begin.back(); }
};

/// Where the bytes of the arrays belong.
struct CheckpointPlaces {
  Size file_bytes = 0;             ///< up to the end of the HDF5 part
  Size global = 0;                 ///< offset of /rows/global: int64, one a row
  std::vector<Size> field_begins;  ///< offset of each /fields/<name>: float64, [rows][components]
};

/// Makes the file: user block (zeros), groups, attributes and contiguous arrays whose disk space is reserved but not
/// written. One rank calls it. Error(io) with path, bytes and cause (disk full, ...); what was made is removed then.
CheckpointPlaces create_checkpoint_file(const std::filesystem::path& path, const CheckpointFrame& frame);

/// Reads rows of a checkpoint, without the HDF5 library (checkpoint_layout.hpp). Open it after its checksums were
/// verified: they tell damage better.
class CheckpointFile {
 public:
  /// Error(input): it has not the form that create_checkpoint_file gives, or holds more. Error(io): it cannot be read.
  explicit CheckpointFile(const std::filesystem::path& path);
  ~CheckpointFile();
  CheckpointFile(CheckpointFile&&) noexcept;
  CheckpointFile& operator=(CheckpointFile&&) = delete;

  const CheckpointFrame& frame() const { return frame_; }
  /// Global numbers of rows [begin, begin + count).
  std::vector<Gid> read_global(Size begin, Size count) const;
  /// Values of frame().fields[field] in the same rows, row-major.
  std::vector<double> read_field(std::size_t field, Size begin, Size count) const;

 private:
  struct Open;
  std::unique_ptr<Open> open_;
  CheckpointFrame frame_;
};

}  // namespace tutti
