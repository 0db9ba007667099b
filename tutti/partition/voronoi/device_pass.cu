#include "tutti/partition/voronoi/device_pass.hpp"

#include "tutti/device/buffer.hpp"
#include "tutti/device/for_each.hpp"
#include "tutti/device/zeros.hpp"

namespace tutti::voronoi {
namespace {

/// Centres that a block has room to note; with more, its points look at all of them.
constexpr int most_near = 63;

struct Near {
  std::int32_t count;  ///< -1: all
  std::int32_t part[most_near];
};

/// Centres that are nearest to some point of a block's box, maybe: those no farther than the nearest one is at most.
struct FindNear {
  const Box* boxes;
  const Centre* centres;
  int parts;
  Near* near;
  TUTTI_HD void operator()(Lid b) const {
    const Box box = boxes[b];
    double least = farthest(box, centres[0]);
    for (int p = 1; p < parts; ++p) {
      const double d = farthest(box, centres[p]);
      least = d < least ? d : least;
    }
    std::int32_t count = 0;
    for (int p = 0; p < parts; ++p) {
      if (!(nearest(box, centres[p]) <= least * (1 + 1e-12))) continue;
      if (count < most_near) near[b].part[count] = p;
      ++count;
    }
    near[b].count = count <= most_near ? count : -1;
  }
};

TUTTI_HD void add_atomic(std::int64_t& to, std::int64_t amount) {
#ifdef __CUDA_ARCH__
  atomicAdd(reinterpret_cast<unsigned long long*>(&to), static_cast<unsigned long long>(amount));
#else
  __atomic_fetch_add(&to, amount, __ATOMIC_RELAXED);
#endif
}

/// Neighbours on the curve mostly are of the same part, so that few sums go to memory.
constexpr int run_points = 32;

struct AssignRun {
  const double *x, *y, *z;
  const std::int32_t *ix, *iy, *iz;
  Size points;
  const Centre* centres;
  int parts;
  const Near* near;
  std::int32_t* label;
  IntegerSums* sums;

  TUTTI_HD void flush(const IntegerSums& sum, std::int32_t part) const {
    if (sum.points == 0) return;
    add_atomic(sums[part].x, sum.x);
    add_atomic(sums[part].y, sum.y);
    add_atomic(sums[part].z, sum.z);
    add_atomic(sums[part].points, sum.points);
  }
  TUTTI_HD void operator()(Lid run) const {
    const Size begin = static_cast<Size>(run) * run_points;
    const Size end = begin + run_points < points ? begin + run_points : points;
    const Near& list = near[begin / block_points];
    const int count = list.count < 0 ? parts : list.count;
    IntegerSums sum;
    std::int32_t part = -1;
    for (Size i = begin; i < end; ++i) {
      std::int32_t mine = 0;
      double best = std::numeric_limits<double>::infinity();
      for (int k = 0; k < count; ++k) {
        const std::int32_t p = list.count < 0 ? k : list.part[k];
        const Centre c = centres[p];
        const double dx = x[i] - c.at.x, dy = y[i] - c.at.y, dz = z[i] - c.at.z;
        const double d = (dx * dx + dy * dy + dz * dz) * c.influence;
        mine = d < best ? p : mine;
        best = d < best ? d : best;
      }
      label[i] = mine;
      if (mine != part) {
        flush(sum, part);
        sum = {};
        part = mine;
      }
      sum.x += ix[i], sum.y += iy[i], sum.z += iz[i], sum.points += 1;
    }
    flush(sum, part);
  }
};

template <class T>
Buffer<T> sent(Stream& stream, const std::vector<T>& values, const char* name) {
  return make_buffer(stream, std::span<const T>(values), name);
}

}  // namespace

struct DevicePass::Arrays {
  Stream& stream;
  Size points;
  Buffer<double> x, y, z;
  Buffer<std::int32_t> ix, iy, iz, label;
  Buffer<Box> boxes;
  Buffer<Near> near;
  Buffer<Centre> centres;
  Buffer<IntegerSums> sums;
  std::vector<IntegerSums> zeros;
};

DevicePass::DevicePass(Stream& stream, const Cloud& cloud, std::size_t parts)
    : arrays_(new Arrays{stream, static_cast<Size>(cloud.size()), sent(stream, cloud.x, "x of points"),
                         sent(stream, cloud.y, "y of points"), sent(stream, cloud.z, "z of points"),
                         sent(stream, cloud.ix, "counted x"), sent(stream, cloud.iy, "counted y"),
                         sent(stream, cloud.iz, "counted z"),
                         Buffer<std::int32_t>(stream.device(), static_cast<Size>(cloud.size()), "parts of points"),
                         sent(stream, cloud.boxes, "boxes of points"),
                         Buffer<Near>(stream.device(), static_cast<Size>(cloud.boxes.size()), "centres near boxes"),
                         Buffer<Centre>(stream.device(), static_cast<Size>(parts), "centres"),
                         Buffer<IntegerSums>(stream.device(), static_cast<Size>(parts), "sums of parts"),
                         std::vector<IntegerSums>(parts)}) {}

DevicePass::~DevicePass() = default;

void DevicePass::run(std::span<const Centre> centres, std::span<IntegerSums> sums) {
  Arrays& a = *arrays_;
  const int parts = static_cast<int>(centres.size());
  upload(a.stream, a.centres, centres);
  upload(a.stream, a.sums, std::span<const IntegerSums>(a.zeros));
  for_each(a.stream, {0, static_cast<Lid>(a.boxes.size())},
           FindNear{a.boxes.data(), a.centres.data(), parts, a.near.data()});
  for_each(a.stream, {0, static_cast<Lid>((a.points + run_points - 1) / run_points)},
           AssignRun{a.x.data(), a.y.data(), a.z.data(), a.ix.data(), a.iy.data(), a.iz.data(), a.points,
                     a.centres.data(), parts, a.near.data(), a.label.data(), a.sums.data()});
  download(a.stream, sums, a.sums);
}

void DevicePass::labels(std::span<std::int32_t> to) const {
  download(arrays_->stream, to, arrays_->label);
}

}  // namespace tutti::voronoi
