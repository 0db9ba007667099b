// Pieces of a mesh in files of unstructured grids (.vtu), whatever their cells are.
#pragma once

#include <vector>

#include "tutti/domain/domain.hpp"
#include "tutti/io/vtk/vtu.hpp"

namespace tutti {

/// One file of every part. Who derives from it adds a grid of each part of this rank.
class VtuPieces : public Pieces {
 public:
  explicit VtuPieces(const Domain& domain);
  std::string suffix() const override { return "vtu"; }
  void write(const std::filesystem::path& path, std::size_t i, std::span<const VtkArray> arrays,
             const VtkOptions& options) const override;
  void join(const std::filesystem::path& path, const std::vector<std::string>& files, std::span<const VtkArray> arrays,
            std::optional<double> time) const override;

 protected:
  std::vector<VtuGrid> grids_;
  std::vector<std::vector<std::int32_t>> owner_;  ///< the part, of each owned row
};

}  // namespace tutti
