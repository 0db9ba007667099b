// The coarse levels of a multigrid method by aggregation, on the host, whole and the same on every rank.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "tutti/base/types.hpp"

namespace tutti::diffusion {

/// Part of row `row` of L, in difference form: value (e_column - e_row); where both are the same, -value e_row.
struct CoarseEntry {
  std::int64_t row = 0, column = 0;  ///< keys of boxes
  double value = 0;
};

/// A box of a grid, in a region: cells in it are one unknown. The box that holds it and seven others is that of twice
/// the width.
inline constexpr int box_bits = 16;
inline std::int64_t box_key(std::int64_t region, std::int64_t ix, std::int64_t iy, std::int64_t iz) {
  return region << (3 * box_bits) | ix << (2 * box_bits) | iy << box_bits | iz;
}

/// Solves (sigma V - L) x = b about: a W cycle whose coarse functions are piecewise constant, with symmetric
/// Gauss-Seidel sweeps in a fixed order (Trottenberg, Oosterlee, Schueller, Multigrid, 2001, appendix A).
class CoarseLevels {
 public:
  CoarseLevels() = default;
  /// keys: ascending, those of all unknowns. entries: of all rows, no two of them for one place, in any order.
  CoarseLevels(std::vector<std::int64_t> keys, std::vector<CoarseEntry> entries, std::vector<double> volumes);
  std::size_t size() const { return levels_.empty() ? 0 : levels_[0].volumes.size(); }
  /// The right-hand side, of size(), to be filled; then cycle(), which leaves x.
  std::span<double> right() { return levels_[0].right; }
  std::span<const double> cycle(double sigma);

 private:
  struct Level {
    std::vector<Size> first;  ///< entries of a row
    std::vector<std::int32_t> columns;
    std::vector<double> values;
    std::vector<double> losses, volumes, diagonal;
    std::vector<std::int32_t> parent;  ///< on the next level
    std::vector<double> right, x;
    double residual(std::size_t i, double sigma) const;
    void sweep(double sigma, bool forward);
  };
  static Level make_level(const std::vector<std::int64_t>& keys, std::vector<CoarseEntry>& entries,
                          std::vector<double> volumes);
  void cycle(std::size_t level, double sigma);

  std::vector<Level> levels_;
};

}  // namespace tutti::diffusion
