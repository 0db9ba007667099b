#include "tutti/models/diffusion/implicit/coarse_correction.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <mutex>
#include <numeric>
#include <utility>

#include "tutti/base/mpi/over_ranks.hpp"
#include "tutti/models/diffusion/diffusion.hpp"
#include "tutti/models/diffusion/implicit/vectors.hpp"

namespace tutti::diffusion {
namespace {

/// Of a mesh whose cells are even.
constexpr double cells_a_box = 48;

__extension__ using Wide = __int128;

/// A sum of numbers that are all multiples of 2^-exponent: the same in any order.
struct BoxSum {
  std::int64_t row = 0, column = 0;
  std::int64_t high = 0;
  std::uint64_t low = 0;
  Wide sum() const { return (static_cast<Wide>(high) << 64) + static_cast<Wide>(low); }
  void set(Wide sum) {
    high = static_cast<std::int64_t>(sum >> 64);
    low = static_cast<std::uint64_t>(sum);
  }
};
constexpr std::int64_t volume_column = -1;

/// Numbers of at most this size get 80 bits in front of the point: 2^46 of them fit.
int bits_for(double largest) {
  constexpr int bits = 80;
  return largest > 0 ? bits - std::ilogb(largest) : 0;
}
Wide fixed(double x, int exponent) {
  return static_cast<Wide>(std::ldexp(x, exponent));
}

struct Boxes {
  Vec3 low;
  double width;
  const std::set<std::int32_t>& regions;
  std::int64_t key(const LocalTetMesh& mesh, Lid c) const {
    const auto region = std::distance(regions.begin(), regions.find(mesh.regions[static_cast<std::size_t>(c)]));
    const Vec3 x = mesh.centroid(c);
    const auto at = [&](double from, double to) {
      constexpr double last = (1 << box_bits) - 1;
      return static_cast<std::int64_t>(std::clamp((to - from) / width, 0.0, last));  // ghosts may lie outside
    };
    return box_key(std::min<std::int64_t>(region, 0x7fff), at(low.x, x.x), at(low.y, x.y), at(low.z, x.z));
  }
};

Boxes boxes_of(const SolverProblem& problem, const std::set<std::int32_t>& regions, double& volume) {
  constexpr double none = -std::numeric_limits<double>::infinity();
  std::array<double, 6> ends = {none, none, none, none, none, none};  // -low, high
  ExactSum sum;
  Gid cells = 0;
  for (const LocalTetMesh& mesh : problem.domain.meshes) {
    for (Lid c = 0; c < mesh.owned; ++c) {
      const Vec3 x = mesh.centroid(c);
      const std::array<double, 6> at = {-x.x, -x.y, -x.z, x.x, x.y, x.z};
      for (std::size_t k = 0; k < ends.size(); ++k) ends[k] = std::max(ends[k], at[k]);
      sum.add(mesh.volume(c));
    }
    cells += mesh.owned;
  }
  problem.comm.max(ends);
  volume = sum_over_ranks(problem.comm, sum);
  double width = std::cbrt(cells_a_box * volume / static_cast<double>(problem.comm.sum(cells)));
  for (std::size_t k = 0; k < 3; ++k) width = std::max(width, (ends[k] + ends[k + 3]) / ((1 << box_bits) - 1));
  return {{-ends[0], -ends[1], -ends[2]}, width, regions};
}

/// What the rows of a part say about its boxes: `keys` are those of all local cells.
std::vector<BoxSum> sums_of(const LocalTetMesh& mesh, const DiffusionRows& rows, const std::vector<std::int64_t>& keys,
                            int exponent, int volume_exponent, const ParallelFor& parallel) {
  std::vector<Lid> order(static_cast<std::size_t>(mesh.owned));
  std::iota(order.begin(), order.end(), 0);
  const auto key = [&](Lid c) { return keys[static_cast<std::size_t>(c)]; };
  std::sort(order.begin(), order.end(), [&](Lid a, Lid b) { return key(a) < key(b); });
  std::vector<std::size_t> starts;  // of boxes
  for (std::size_t k = 0; k < order.size(); ++k)
    if (k == 0 || key(order[k]) != key(order[k - 1])) starts.push_back(k);
  const auto boxes = static_cast<Size>(starts.size());
  starts.push_back(order.size());
  std::vector<BoxSum> all;
  std::mutex mutex;
  for_ranges(parallel, boxes, [&](Size begin, Size end) {
    std::vector<BoxSum> mine;
    for (auto b = static_cast<std::size_t>(begin); b < static_cast<std::size_t>(end); ++b) {
      const std::int64_t own = key(order[starts[b]]);
      std::vector<std::pair<std::int64_t, Wide>> sums = {{own, 0}, {volume_column, 0}};
      for (std::size_t k = starts[b]; k < starts[b + 1]; ++k) {
        const auto c = static_cast<std::size_t>(order[k]);
        const double v = mesh.volume(order[k]);
        sums[0].second -= fixed(v * rows.diagonal[c], exponent);
        sums[1].second += fixed(v, volume_exponent);
        for (int e = 0; e < rows.counts[c]; ++e) {
          const std::int64_t column = key(rows.columns[c][static_cast<std::size_t>(e)]);
          if (column == own) continue;
          auto at = std::find_if(sums.begin(), sums.end(), [&](const auto& s) { return s.first == column; });
          if (at == sums.end()) at = sums.insert(at, {column, 0});
          at->second += fixed(v * rows.values[c][static_cast<std::size_t>(e)], exponent);
        }
      }
      for (const auto& [column, sum] : sums) {
        mine.push_back({own, column});
        mine.back().set(sum);
      }
    }
    const std::lock_guard lock(mutex);
    all.insert(all.end(), mine.begin(), mine.end());
  });
  return all;
}

double largest_of(const LocalTetMesh& mesh, const DiffusionRows& rows) {
  double largest = 0;
  for (Lid i = 0; i < mesh.owned; ++i) {
    const auto c = static_cast<std::size_t>(i);
    double row = std::abs(rows.diagonal[c]);
    for (const double a : rows.values[c]) row = std::max(row, std::abs(a));
    largest = std::max(largest, mesh.volume(i) * row);
  }
  return largest;
}

}  // namespace

CoarseCorrection::CoarseCorrection(const SolverProblem& problem, const std::set<std::int32_t>& regions,
                                   const ParallelFor& parallel)
    : problem_(problem), parts_(problem.parts.size()) {
  double volume = 0, largest = 0;
  const Boxes boxes = boxes_of(problem, regions, volume);
  for (std::size_t p = 0; p < parts_.size(); ++p)
    largest = std::max(largest, largest_of(problem.domain.meshes[p], problem.parts[p].kept));
  largest = max_over_ranks(problem.comm, largest);
  std::vector<std::vector<std::int64_t>> keys(parts_.size());  // of local cells
  std::vector<BoxSum> sums;
  problem.comm.together([&] {
    if (!std::isfinite(largest))
      fail(ErrorKind::numerical,
           "the operator's rows are not finite: K or the mesh has values out of any reasonable range; check their "
           "units");
    for (std::size_t p = 0; p < parts_.size(); ++p) {
      const LocalTetMesh& mesh = problem.domain.meshes[p];
      for (Lid c = 0; c < mesh.cell_count(); ++c) keys[p].push_back(boxes.key(mesh, c));
      const auto more = sums_of(mesh, problem.parts[p].kept, keys[p], bits_for(largest), bits_for(volume), parallel);
      sums.insert(sums.end(), more.begin(), more.end());
      problem.parts[p].kept = {};
    }
  });
  sums = problem.comm.all_gather(std::span<const BoxSum>(sums));
  std::sort(sums.begin(), sums.end(),
            [](const BoxSum& a, const BoxSum& b) { return std::pair(a.row, a.column) < std::pair(b.row, b.column); });
  std::vector<std::int64_t> all;
  std::vector<double> volumes;
  std::vector<CoarseEntry> entries;
  for (std::size_t k = 0; k < sums.size();) {
    const BoxSum& s = sums[k];
    Wide sum = 0;
    for (; k < sums.size() && sums[k].row == s.row && sums[k].column == s.column; ++k) sum += sums[k].sum();
    const auto value = static_cast<double>(sum);
    if (s.column == volume_column) {  // the first of its row
      all.push_back(s.row);
      volumes.push_back(std::ldexp(value, -bits_for(volume)));
    } else {
      entries.push_back({s.row, s.column, std::ldexp(value, -bits_for(largest))});
    }
  }
  problem.comm.together([&] {
    for (std::size_t p = 0; p < parts_.size(); ++p) {
      std::vector<Lid> places(static_cast<std::size_t>(problem.domain.meshes[p].owned));
      for (std::size_t c = 0; c < places.size(); ++c)
        places[c] = static_cast<Lid>(std::lower_bound(all.begin(), all.end(), keys[p][c]) - all.begin());
      parts_[p].boxes = make_buffer(problem.stream(p), std::span<const Lid>(places), "boxes of cells");
      const auto count = static_cast<Size>(all.size());
      parts_[p].sums = Buffer<std::int64_t>(problem.domain.device(p), count, "sums over boxes");
      parts_[p].values = Buffer<double>(problem.domain.device(p), count, "values of boxes");
    }
    levels_ = CoarseLevels(std::move(all), std::move(entries), std::move(volumes));
  });
}

void CoarseCorrection::apply(double sigma, const std::function<const double*(std::size_t p)>& right, int copy) {
  double largest = 0;
  for (std::size_t p = 0; p < parts_.size(); ++p)
    largest = std::max(largest, largest_product(problem_.stream(p), problem_.rows(p), problem_.volumes(p), right(p)));
  largest = max_over_ranks(problem_.comm, largest);
  // Integers of 40 bits: the sum over 2^22 cells fits.
  constexpr int bits = 40, most = 1000;
  const int exponent = largest > 0 && std::isfinite(largest) ? std::min(bits - std::ilogb(largest), most) : 0;
  std::vector<std::int64_t> sums(levels_.size()), part(levels_.size());
  if (largest > 0 && std::isfinite(largest)) {
    for (std::size_t p = 0; p < parts_.size(); ++p)
      add_to_boxes(
          problem_.stream(p), problem_.rows(p),
          {problem_.volumes(p), right(p), std::ldexp(1.0, exponent), parts_[p].boxes.data(), parts_[p].sums.data()},
          static_cast<Lid>(levels_.size()));
    for (std::size_t p = 0; p < parts_.size(); ++p) {
      download(problem_.stream(p), std::span<std::int64_t>(part), parts_[p].sums);
      for (std::size_t i = 0; i < sums.size(); ++i) sums[i] += part[i];
    }
    problem_.comm.sum(sums);
  }
  for (std::size_t i = 0; i < sums.size(); ++i)
    levels_.right()[i] = std::ldexp(static_cast<double>(sums[i]), -exponent);
  const std::span<const double> values = levels_.cycle(sigma);
  for (std::size_t p = 0; p < parts_.size(); ++p) upload(problem_.stream(p), parts_[p].values, values);
  problem_.run(copy, [&](std::size_t p, Kernels& to) {
    to.add(FromBoxes{problem_.parts[p].u[static_cast<std::size_t>(copy)].data(), parts_[p].values.data(),
                     parts_[p].boxes.data()});
  });
}

}  // namespace tutti::diffusion
