// The nearest of many points: a kd-tree.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "tutti/base/types.hpp"
#include "tutti/base/vec3.hpp"

namespace tutti {

/// Finds points near a place. Keeps no copy of the points, which must outlive it; about 15 bytes a point.
class NearestNodes {
 public:
  /// Finite points, fewer than 2^32.
  explicit NearestNodes(std::span<const Vec3> points);
  ~NearestNodes();
  NearestNodes(NearestNodes&&) noexcept;
  NearestNodes& operator=(NearestNodes&&) noexcept;

  Gid size() const;
  /// The n nearest points of `centre` (itself included where it is one of them), ascending by (squared distance,
  /// number), ties included: a result depends on the points and their numbers alone. 0 <= n <= size(), and `numbers`
  /// has n places. May be called from several threads at a time.
  void find(Vec3 centre, int n, std::span<Gid> numbers) const;
  /// All points within `radius` of `centre`, in no order, in place of what `numbers` holds. As thread-safe as find().
  void find_within(Vec3 centre, double radius, std::vector<Gid>& numbers) const;

 private:
  struct Tree;
  std::unique_ptr<Tree> tree_;
};

}  // namespace tutti
