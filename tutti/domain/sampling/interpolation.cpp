#include "tutti/domain/sampling/interpolation.hpp"

#include <algorithm>
#include <array>
#include <map>

namespace tutti {
namespace {

/// x with A x = b, A symmetric and not negative: pivots are the largest that is left, and where none is left there is
/// no component.
Vec3 solve(std::array<std::array<double, 3>, 3> a, Vec3 b) {
  const double least = 1e-10 * (a[0][0] + a[1][1] + a[2][2]);
  std::array<bool, 3> done{};
  for (int step = 0; step < 3; ++step) {
    std::size_t k = 3;
    for (std::size_t i = 0; i < 3; ++i)
      if (!done[i] && (k == 3 || a[i][i] > a[k][k])) k = i;
    if (!(a[k][k] > least)) break;
    done[k] = true;
    for (std::size_t i = 0; i < 3; ++i) {
      if (i == k) continue;
      const double factor = a[i][k] / a[k][k];
      for (std::size_t j = 0; j < 3; ++j) a[i][j] -= factor * a[k][j];
      b[static_cast<int>(i)] -= factor * b[static_cast<int>(k)];
    }
  }
  Vec3 x;
  for (std::size_t k = 0; k < 3; ++k)
    if (done[k]) x[static_cast<int>(k)] = b[static_cast<int>(k)] / a[k][k];
  return x;
}

}  // namespace

std::vector<double> linear_weights(Vec3 at, std::span<const Vec3> points) {
  std::array<std::array<double, 3>, 3> matrix{};
  const auto each = [&](const auto& f) {
    for (std::size_t k = 1; k < points.size(); ++k) {
      const Vec3 d = points[k] - points[0];
      if (const double square = dot(d, d); square > 0) f(k, d, 1 / square);
    }
  };
  each([&](std::size_t, Vec3 d, double weight) {
    for (int i = 0; i < 3; ++i)
      for (int j = 0; j < 3; ++j)
        matrix[static_cast<std::size_t>(i)][static_cast<std::size_t>(j)] += weight * d[i] * d[j];
  });
  const Vec3 slope = solve(matrix, at - points[0]);
  std::vector<double> weights(points.size(), 0.0);
  weights[0] = 1;
  each([&](std::size_t k, Vec3 d, double weight) {
    weights[k] = weight * dot(slope, d);
    weights[0] -= weights[k];
  });
  return weights;
}

std::vector<WeightedRow> linear_rows(Vec3 at, std::span<const Vec3> points, std::span<const Gid> numbers) {
  const auto weights = linear_weights(at, points);
  std::vector<WeightedRow> rows;
  for (std::size_t k = 0; k < numbers.size(); ++k) rows.push_back({numbers[k], weights[k]});
  return rows;
}

std::vector<RowPlace> interpolated_rows(const Comm& comm, const Domain& domain, std::span<const Vec3> points,
                                        std::span<const std::string> labels) {
  struct Entry {
    std::size_t probe = 0;
    int entry = 0;
    WeightedRow of;
  };
  std::vector<RowPlace> places = domain.locate(comm, points, labels);
  std::vector<Entry> mine;
  comm.together([&] {
    for (RowPlace& place : places) {
      place.inside = points[place.probe];
      place.interpolated = true;
      place.weight = 0;
      int entry = 0;
      for (const WeightedRow& row : domain.around(place.p, place.row, *place.inside))
        mine.push_back({place.probe, entry++, row});
    }
  });
  // Whoever owns a row reads it.
  std::map<Gid, std::vector<Entry>> wanted;
  for (const Entry& e : comm.all_gather(std::span<const Entry>(mine))) wanted[e.of.row].push_back(e);
  for (std::size_t p = 0; p < domain.mine() && !wanted.empty(); ++p)
    for (Lid row = 0; row < domain.maps[p].owned; ++row) {
      const auto found = wanted.find(domain.maps[p].global[row]);
      if (found == wanted.end()) continue;
      for (const Entry& e : found->second)
        places.push_back({e.probe, p, domain.one_row(p, row), e.of.weight, e.entry, {}, true});
    }
  return places;
}

}  // namespace tutti
