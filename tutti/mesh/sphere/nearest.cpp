#include "tutti/mesh/sphere/nearest.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <nanoflann.hpp>
#include <vector>

#include "tutti/base/error.hpp"

namespace tutti {
namespace {

using Number = std::uint32_t;

struct Found {
  double distance = 0;  ///< squared
  Number number = 0;
  friend bool operator<(const Found& a, const Found& b) {
    return a.distance < b.distance || (a.distance == b.distance && a.number < b.number);
  }
};

/// What nanoflann gives the points to that it meets: keeps the n lowest by (squared distance, number). Once there are
/// so many, they are a heap with the highest one in front.
class Lowest {
 public:
  using DistanceType = double;

  explicit Lowest(std::span<Found> room) : room_(room) {}

  bool addPoint(double distance, Number number) {  // NOLINT(readability-identifier-naming): nanoflann's name
    const Found found{distance, number};
    if (!full()) {
      room_[count_++] = found;
      if (full()) std::make_heap(room_.begin(), room_.end());
    } else if (found < room_.front()) {
      replace_front(found);
    }
    return true;
  }
  /// nanoflann passes over points that are not nearer than this, and over branches whose distance, with the rounding of
  /// a sum along the way from the root, is larger. Ties must come through.
  double worstDist() const {  // NOLINT(readability-identifier-naming): nanoflann's name
    if (!full()) return std::numeric_limits<double>::max();
    return room_.front().distance * (1 + 1e-12) + std::numeric_limits<double>::min();
  }
  bool full() const { return count_ == room_.size(); }
  bool empty() const { return count_ == 0; }
  std::size_t size() const { return count_; }
  /// Ascending; what nanoflann may ask for at the end of a search.
  void sort() { std::sort(room_.begin(), room_.end()); }

 private:
  /// One way down, where pop_heap and push_heap take two.
  void replace_front(const Found& found) {
    std::size_t hole = 0;
    for (std::size_t child = 1; child < room_.size(); child = 2 * hole + 1) {
      if (child + 1 < room_.size() && room_[child] < room_[child + 1]) ++child;
      if (!(found < room_[child])) break;
      room_[hole] = room_[child];
      hole = child;
    }
    room_[hole] = found;
  }

  std::span<Found> room_;
  std::size_t count_ = 0;
};

/// What nanoflann gives the points to that it meets: keeps all within a distance.
struct Within {
  using DistanceType = double;
  double limit;  ///< squared
  std::vector<Gid>& numbers;

  bool addPoint(double distance, Number number) {  // NOLINT(readability-identifier-naming): nanoflann's name
    if (distance <= limit) numbers.push_back(static_cast<Gid>(number));
    return true;
  }
  double worstDist() const {  // NOLINT(readability-identifier-naming): nanoflann's name
    return limit * (1 + 1e-12) + std::numeric_limits<double>::min();
  }
  static bool full() { return true; }
  bool empty() const { return numbers.empty(); }
  std::size_t size() const { return numbers.size(); }
  void sort() {}
};

/// The points as nanoflann asks for them.
struct Points {
  std::span<const Vec3> at;
  std::size_t kdtree_get_point_count() const { return at.size(); }
  double kdtree_get_pt(std::size_t i, std::size_t d) const { return at[i][static_cast<int>(d)]; }
  template <class Box>
  bool kdtree_get_bbox(Box&) const {
    return false;
  }
};

constexpr std::size_t leaf_size = 12;

}  // namespace

struct NearestNodes::Tree {
  using Index = nanoflann::KDTreeSingleIndexAdaptor<nanoflann::L2_Simple_Adaptor<double, Points>, Points, 3, Number>;

  explicit Tree(std::span<const Vec3> p)
      : points{p}, index(3, points, nanoflann::KDTreeSingleIndexAdaptorParams(leaf_size)) {}

  template <class Result>
  void search(Result& result, Vec3 centre) const {
    const std::array<double, 3> place{centre.x, centre.y, centre.z};
#if NANOFLANN_VERSION >= 0x150
    index.findNeighbors(result, place.data());
#else
    index.findNeighbors(result, place.data(), nanoflann::SearchParams());
#endif
  }

  Points points;
  Index index;
};

NearestNodes::NearestNodes(std::span<const Vec3> points) {
  require(points.size() < std::numeric_limits<Number>::max(), "{} points are too many for a kd-tree", points.size());
  tree_ = std::make_unique<Tree>(points);
}
NearestNodes::~NearestNodes() = default;
NearestNodes::NearestNodes(NearestNodes&&) noexcept = default;
NearestNodes& NearestNodes::operator=(NearestNodes&&) noexcept = default;

Gid NearestNodes::size() const {
  return static_cast<Gid>(tree_->points.at.size());
}

void NearestNodes::find(Vec3 centre, int n, std::span<Gid> numbers) const {
  require(n >= 0 && n <= size(), "{} nearest of {} points", n, size());
  const auto count = static_cast<std::size_t>(n);
  require(numbers.size() >= count, "room for {} of {} nearest points", numbers.size(), n);
  if (n == 0) return;
  std::array<Found, 128> few;
  std::vector<Found> many;
  if (count > few.size()) many.resize(count);
  const std::span<Found> room = count > few.size() ? std::span(many) : std::span(few).first(count);
  Lowest lowest(room);
  tree_->search(lowest, centre);
  lowest.sort();
  for (std::size_t i = 0; i < count; ++i) numbers[i] = static_cast<Gid>(room[i].number);
}

void NearestNodes::find_within(Vec3 centre, double radius, std::vector<Gid>& numbers) const {
  numbers.clear();
  Within within{radius * radius, numbers};
  tree_->search(within, centre);
}

}  // namespace tutti
