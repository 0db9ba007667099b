#include "tutti/mesh/quality/mesh_quality.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "tutti/base/error.hpp"
#include "tutti/base/exact_sum.hpp"
#include "tutti/base/units.hpp"

namespace tutti {
namespace {

Histogram even_bins(double from, double to, int bins) {
  Histogram h;
  for (int i = 0; i <= bins; ++i) h.edges.push_back(from + (to - from) * i / bins);
  h.counts.assign(bins, 0);
  return h;
}

Histogram bins_of(std::vector<double> edges) {
  Histogram h;
  h.counts.assign(edges.size() - 1, 0);
  h.edges = std::move(edges);
  return h;
}

void count(Histogram& h, double value) {
  const auto above = std::upper_bound(h.edges.begin() + 1, h.edges.end() - 1, value);
  ++h.counts[static_cast<std::size_t>(above - h.edges.begin()) - 1];
}

/// A measure of some cells, on its way to that of all.
struct Running {
  Measure measure;
  ExactSum sum;
  Size values = 0;

  explicit Running(Histogram histogram) {
    measure.histogram = std::move(histogram);
    measure.min = std::numeric_limits<double>::infinity();
    measure.max = -measure.min;
  }
  void add(double value) {
    measure.min = std::min(measure.min, value);
    measure.max = std::max(measure.max, value);
    sum.add(value);
    ++values;
    count(measure.histogram, value);
  }
  void merge(const Running& other) {
    measure.min = std::min(measure.min, other.measure.min);
    measure.max = std::max(measure.max, other.measure.max);
    sum.merge(other.sum);
    values += other.values;
    for (std::size_t i = 0; i < measure.histogram.counts.size(); ++i)
      measure.histogram.counts[i] += other.measure.histogram.counts[i];
  }
  Measure finish() {
    if (values == 0) measure.min = measure.max = 0;
    sum.normalise();
    measure.mean = values == 0 ? 0 : sum.value() / static_cast<double>(values);
    return measure;
  }
};

struct Tally {
  Running mean_ratio{even_bins(0, 1, 20)}, radius_ratio{even_bins(0, 1, 20)};
  Running aspect{bins_of({1, 1.25, 1.5, 2, 3, 4, 6, 10, 20, 50, 100, std::numeric_limits<double>::infinity()})};
  Running dihedral{even_bins(0, 180, 18)};
  Running volume;
  Gid inverted = 0;
  std::vector<WorstCell> worst;

  explicit Tally(const Histogram& volumes) : volume(volumes) {}
  void add(const TetQuality& q) {
    mean_ratio.add(q.mean_ratio);
    radius_ratio.add(q.radius_ratio);
    aspect.add(q.aspect);
    volume.add(q.volume);
    for (const double angle : q.dihedral) dihedral.add(angle);
    inverted += q.inverted();
  }
  void merge(const Tally& other) {
    mean_ratio.merge(other.mean_ratio);
    radius_ratio.merge(other.radius_ratio);
    aspect.merge(other.aspect);
    volume.merge(other.volume);
    dihedral.merge(other.dihedral);
    inverted += other.inverted;
    worst.insert(worst.end(), other.worst.begin(), other.worst.end());
  }
  void keep_worst(std::size_t n) {
    std::sort(worst.begin(), worst.end(), [](const WorstCell& a, const WorstCell& b) {
      return a.quality.mean_ratio != b.quality.mean_ratio ? a.quality.mean_ratio < b.quality.mean_ratio
                                                          : a.cell < b.cell;
    });
    if (worst.size() > n) worst.resize(n);
  }
};

Vec3 corner(const TetMesh& mesh, Gid cell, std::size_t k) {
  return mesh.vertices[mesh.cells[cell][k]];
}

TetQuality quality_of(const TetMesh& mesh, Gid cell) {
  return tet_quality(corner(mesh, cell, 0), corner(mesh, cell, 1), corner(mesh, cell, 2), corner(mesh, cell, 3));
}

/// Bins of the volumes, in decades below the largest one; first those that are not positive.
Histogram volume_bins(const TetMesh& mesh) {
  double largest = 0;
  for (Gid c = 0; c < mesh.cell_count(); ++c)
    largest =
        std::max(largest, tet_volume(corner(mesh, c, 0), corner(mesh, c, 1), corner(mesh, c, 2), corner(mesh, c, 3)));
  std::vector<double> edges{-std::numeric_limits<double>::infinity(), 0};
  if (largest > 0)
    for (const double part : {1e-4, 1e-3, 1e-2, 0.03, 0.1, 0.3}) edges.push_back(part * largest);
  edges.push_back(std::numeric_limits<double>::infinity());
  return bins_of(std::move(edges));
}

/// One line a bin, with a bar as long as its share.
std::string bars(const std::string& title, const Histogram& h) {
  Size all = 0, most = 1;
  for (const Size n : h.counts) {
    all += n;
    most = std::max(most, n);
  }
  std::string text = title + "\n";
  for (std::size_t i = 0; i < h.counts.size(); ++i) {
    if (h.counts[i] == 0) continue;
    const auto length = static_cast<std::size_t>((40 * h.counts[i] + most - 1) / most);
    text += fmt::format("  {:>9.4g} .. {:<9.4g} {:>12} {:>6.2f} %  {}\n", h.edges[i], h.edges[i + 1],
                        format_count(h.counts[i]), 100.0 * static_cast<double>(h.counts[i]) / static_cast<double>(all),
                        std::string(length, '#'));
  }
  return text;
}

}  // namespace

MeshQuality assess_quality(const TetMesh& mesh, std::size_t worst, const ParallelFor& parallel) {
  const Histogram volumes = volume_bins(mesh);
  const Blocks blocks(mesh.cell_count(), 4096);
  std::vector<Tally> tallies(blocks.number, Tally(volumes));
  blocks.run(parallel, [&](Size block, Size begin, Size end) {
    Tally& tally = tallies[block];
    for (Gid c = begin; c < end; ++c) {
      const TetQuality q = quality_of(mesh, c);
      tally.add(q);
      const bool room = tally.worst.size() < worst;
      if (worst == 0 || (!room && q.mean_ratio >= tally.worst.back().quality.mean_ratio)) continue;
      const Vec3 middle = 0.25 * (corner(mesh, c, 0) + corner(mesh, c, 1) + corner(mesh, c, 2) + corner(mesh, c, 3));
      tally.worst.push_back({c, mesh.regions[c], middle, q});
      tally.keep_worst(worst);
    }
  });
  for (std::size_t b = 1; b < tallies.size(); ++b) tallies[0].merge(tallies[b]);
  Tally& all = tallies[0];
  all.keep_worst(worst);

  MeshQuality quality;
  quality.cells = mesh.cell_count();
  quality.inverted = all.inverted;
  quality.mean_ratio = all.mean_ratio.finish();
  quality.radius_ratio = all.radius_ratio.finish();
  quality.aspect = all.aspect.finish();
  quality.dihedral = all.dihedral.finish();
  quality.volume = all.volume.finish();
  quality.total_volume = all.volume.sum.value();
  quality.worst = all.worst;
  return quality;
}

std::string describe(const MeshQuality& q) {
  std::string text = fmt::format("{} tetrahedra, {} inverted, volume {:.10g}\n", format_count(q.cells),
                                 format_count(q.inverted), q.total_volume);
  text += "                      smallest       mean    largest\n";
  const auto line = [&](const char* name, const Measure& m, const char* unit) {
    text += fmt::format("{:<20} {:>10.4g} {:>10.4g} {:>10.4g}  {}\n", name, m.min, m.mean, m.max, unit);
  };
  line("mean ratio", q.mean_ratio, "1 is regular");
  line("radius ratio", q.radius_ratio, "1 is regular");
  line("aspect ratio", q.aspect, "1 is regular");
  line("dihedral angle", q.dihedral, "degrees; 70.53 is regular");
  line("volume", q.volume, "");
  text += bars("mean ratio of cells", q.mean_ratio.histogram);
  text += bars("dihedral angles [degrees]", q.dihedral.histogram);
  text += bars("aspect ratio of cells", q.aspect.histogram);
  text += "worst cells, counted from 0\n        cell  region  mean ratio   dihedral angles      volume   at\n";
  for (const WorstCell& w : q.worst) {
    const auto [least, most] = std::minmax_element(w.quality.dihedral.begin(), w.quality.dihedral.end());
    text +=
        fmt::format("{:>12} {:>7} {:>11.4g}  {:>6.2f} to {:>6.2f} {:>11.4g}   {:.6g} {:.6g} {:.6g}\n", w.cell, w.region,
                    w.quality.mean_ratio, *least, *most, w.quality.volume, w.centroid.x, w.centroid.y, w.centroid.z);
  }
  return text;
}

std::vector<CellData> quality_data(const TetMesh& mesh, const ParallelFor& parallel) {
  const std::size_t n = mesh.cells.size();
  std::vector<CellData> added;
  for (const char* name : {"mean_ratio", "radius_ratio", "aspect_ratio", "min_dihedral", "volume"})
    added.push_back({name, 1, std::vector<double>(n)});
  for_ranges(parallel, mesh.cell_count(), [&](Size begin, Size end) {
    for (Gid c = begin; c < end; ++c) {
      const TetQuality q = quality_of(mesh, c);
      const auto i = static_cast<std::size_t>(c);
      added[0].values[i] = q.mean_ratio;
      added[1].values[i] = q.radius_ratio;
      added[2].values[i] = q.aspect;
      added[3].values[i] = *std::min_element(q.dihedral.begin(), q.dihedral.end());
      added[4].values[i] = q.volume;
    }
  });
  std::vector<CellData> all;
  for (const CellData& old : mesh.cell_data)
    if (std::none_of(added.begin(), added.end(), [&](const CellData& d) { return d.name == old.name; }))
      all.push_back(old);
  std::move(added.begin(), added.end(), std::back_inserter(all));
  return all;
}

}  // namespace tutti
