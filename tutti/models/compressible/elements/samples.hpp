// Points of elements where formulas are evaluated: for initial states and errors.
#pragma once

#include <functional>
#include <map>
#include <span>
#include <vector>

#include "tutti/device/threads.hpp"
#include "tutti/models/compressible/elements/operators.hpp"

namespace tutti::compressible {

/// A rule of a higher degree than the method's, in affine elements; its own in others, in which their basis is
/// orthonormal.
class Samples {
 public:
  Samples(const LocalElementMesh& mesh, Range rows, int order, bool stored, bool exceed = false);
  /// Calls f(row, volume, places, shares, basis) for every row, of its element; shares of the points are w_q |J_q| / V,
  /// basis[q][l]. `f` is called by several threads.
  using Use = std::function<void(Lid row, double volume, std::span<const Vec3> places, std::span<const double> shares,
                                 std::span<const double> basis)>;
  void for_each(Threads& threads, const Use& use) const;

 private:
  struct Table {
    const ElementRule* rule = nullptr;
    std::vector<double> shares, basis;
  };
  struct Sample {
    double volume = 0;
    std::vector<Vec3> places;
    const Table* shared = nullptr;
    Table own;  ///< without a shared one
    const Table& table() const { return shared != nullptr ? *shared : own; }
  };
  Sample sample(Lid row) const;
  static Table table_of(const ElementBasis& basis, const ElementRule& rule, std::span<const Vec3> places);

  const LocalElementMesh& mesh_;
  Range rows_;
  int order_;
  bool stored_, exceed_;
  std::map<ElementType, ElementRule> rules_;  ///< of the higher degree
  std::map<ElementType, Table> shared_;
};

}  // namespace tutti::compressible
