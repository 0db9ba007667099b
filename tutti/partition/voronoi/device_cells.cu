// Passes on a device. Compiles as plain C++ without CUDA.
#include <algorithm>
#include <chrono>
#include <utility>

#include "tutti/base/error.hpp"
#include "tutti/device/buffer.hpp"
#include "tutti/device/carver.hpp"
#include "tutti/device/for_each.hpp"
#include "tutti/partition/device_order.hpp"
#include "tutti/partition/voronoi/device_arrays.hpp"
#include "tutti/partition/voronoi/voronoi.hpp"

#if defined(__CUDACC__)
#include "tutti/partition/voronoi/cells_cuda.cuh"
#endif

namespace tutti::voronoi {
namespace {

struct Clear {
  IntegerSums* sums;
  TUTTI_HD void operator()(Lid i) const { sums[i] = {}; }
};

struct PutByRow {
  const std::int32_t *rows, *label;
  std::int32_t* by_row;
  TUTTI_HD void operator()(Lid i) const { by_row[rows[i]] = label[i]; }
};

struct TakeRows {
  const std::int32_t* rows;
  Gid* places;
  TUTTI_HD void operator()(Lid i) const { places[i] = rows[places[i]]; }
};

double seconds_since(std::chrono::steady_clock::time_point begin) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

class DeviceCells final : public Cells {
 public:
  DeviceCells(Stream& stream, std::span<const Vec3> all, std::size_t parts, bool by_groups, VoronoiTimes& times)
      : stream_(stream), count_(static_cast<Lid>(all.size())), parts_(static_cast<Lid>(parts)) {
    auto begin = std::chrono::steady_clock::now();
    gpu_ = by_groups && stream.kind() == DeviceKind::cuda;
    copies_ = gpu_ && parts <= 64 ? 8 : 1;
    Carver counted, here;
    lay_out(counted);
    memory_ = Buffer<std::byte>(stream.device(), counted.bytes, "Voronoi parts");
    here.memory = memory_.data();
    lay_out(here);
    Carver staged, host;
    lay_out_staging(staged);
    staging_ = Buffer<std::byte>(stream.device(), staged.bytes, "sums of Voronoi parts", Memory::pinned);
    host.memory = staging_.data();
    lay_out_staging(host);
    times.room = seconds_since(begin);
    begin = std::chrono::steady_clock::now();
    stream.copy(points_, all.data(), all.size_bytes(), CopyDirection::to_device);
    stream.synchronize();
    times.upload = seconds_since(begin);
    sample_.rows = hilbert_order(stream, order_, points_, all, lattice);
    set_lattice(lattice);
    sample_.all = points_;
    sample_.counter = counter;
  }
  ~DeviceCells() override { stream_.synchronize(); }

  void sample(Gid stride) override {
    points = (count_ + stride - 1) / stride;
    sample_.stride = static_cast<Lid>(stride);
    sample_.points = static_cast<Lid>(points);
    sample_.boxes = (sample_.points + block_points - 1) / block_points;
    sample_.outer_boxes = (sample_.boxes + block_boxes - 1) / block_boxes;
#if defined(__CUDACC__)
    if (gpu_)
      gpu::launch(stream_, sample_.boxes, gpu::fill_boxes, sample_);
    else
#endif
      for_each(stream_, {0, sample_.boxes}, FillBox{sample_});
    if (!gpu_ || two_steps()) for_each(stream_, {0, sample_.outer_boxes}, FillOuterBox{sample_});
  }

  void pass(std::span<const Centre> centres, std::span<IntegerSums> sums) override {
    std::copy(centres.begin(), centres.end(), staged_centres_);
    const Lid copied = copies_ * parts_;
    stream_.copy(centres_, staged_centres_, centres.size_bytes(), CopyDirection::to_device);
    for_each(stream_, {0, copied}, Clear{sums_});
    launch_pass();
    last_ = sample_.label;
    stream_.copy(staged_sums_, sums_, static_cast<std::size_t>(copied) * sizeof(IntegerSums), CopyDirection::to_host);
    stream_.synchronize();
    std::copy_n(staged_sums_, parts_, sums.begin());
    for (Lid k = parts_; k < copied; ++k) add(sums[static_cast<std::size_t>(k % parts_)], staged_sums_[k]);
  }

  std::span<const std::int32_t> labels() override {
    fetched_.resize(static_cast<std::size_t>(points));
    download(stream_, std::span(fetched_), last_);
    return fetched_;
  }
  void keep() override { std::swap(sample_.label, kept_); }
  void owners(std::span<std::int32_t> by_row) override {
    for_each(stream_, {0, count_}, PutByRow{sample_.rows, kept_, sample_.label});
    download(stream_, by_row, static_cast<const std::int32_t*>(sample_.label));
  }
  void rows_at(std::span<const Gid> places, std::span<Gid> rows) override {
    for (std::size_t first = 0; first < places.size(); first += static_cast<std::size_t>(parts_)) {
      const auto some = places.subspan(first, std::min(static_cast<std::size_t>(parts_), places.size() - first));
      stream_.copy(places_, some.data(), some.size_bytes(), CopyDirection::to_device);
      for_each(stream_, {0, static_cast<Lid>(some.size())}, TakeRows{sample_.rows, places_});
      download(stream_, rows.subspan(first, some.size()), static_cast<const Gid*>(places_));
    }
  }

 private:
  bool two_steps() const { return static_cast<std::size_t>(parts_) >= many_centres; }

  void lay_out(Carver& carver) {
    const Lid boxes = (count_ + block_points - 1) / block_points, outer = (boxes + block_boxes - 1) / block_boxes;
    points_ = carver.take<Vec3>(count_);
    order_.lay_out(carver, stream_, count_);
    for (double** values : {&sample_.x, &sample_.y, &sample_.z}) *values = carver.take<double>(count_);
    sample_.label = carver.take<std::int32_t>(count_);
    kept_ = carver.take<std::int32_t>(count_);
    sample_.box = carver.take<Box>(boxes);
    sample_.sums_of_boxes = carver.take<IntegerSums>(boxes);
    sample_.outer_box = carver.take<Box>(outer);
    sample_.near = carver.take<Near>(outer);
    centres_ = carver.take<Centre>(parts_);
    sums_ = carver.take<IntegerSums>(static_cast<Size>(copies_) * parts_);
    places_ = carver.take<Gid>(parts_);
  }
  void lay_out_staging(Carver& carver) {
    staged_centres_ = carver.take<Centre>(parts_);
    staged_sums_ = carver.take<IntegerSums>(static_cast<Size>(copies_) * parts_);
  }

  void launch_pass() {
#if defined(__CUDACC__)
    if (gpu_ && two_steps()) {
      gpu::launch(stream_, sample_.outer_boxes, gpu::find_near, sample_, centres_, parts_);
      gpu::launch(stream_, sample_.boxes, gpu::assign<true>, sample_, centres_, parts_, sums_, copies_);
      return;
    }
    if (gpu_) {
      gpu::launch(stream_, sample_.boxes, gpu::assign<false>, sample_, centres_, parts_, sums_, copies_);
      return;
    }
#endif
    for_each(stream_, {0, sample_.outer_boxes}, FindNear{sample_, centres_, parts_});
    for_each(stream_, {0, (sample_.points + run_points - 1) / run_points},
             AssignRun{sample_, centres_, parts_, sums_});
  }

  Stream& stream_;
  Lid count_, parts_, copies_ = 1;
  bool gpu_ = false;
  Buffer<std::byte> memory_, staging_;
  Vec3* points_ = nullptr;
  DeviceOrder order_;
  Sample sample_;
  std::int32_t* kept_ = nullptr;
  const std::int32_t* last_ = nullptr;  ///< labels of the last pass
  Centre *centres_ = nullptr, *staged_centres_ = nullptr;
  IntegerSums *sums_ = nullptr, *staged_sums_ = nullptr;
  Gid* places_ = nullptr;
  std::vector<std::int32_t> fetched_;
};

}  // namespace

std::unique_ptr<Cells> make_device_cells(Stream& stream, std::span<const Vec3> points, std::size_t parts,
                                         bool by_groups, VoronoiTimes& times) {
  if (points.size() >= std::numeric_limits<Lid>::max() - block_points * block_boxes)
    fail(ErrorKind::resource, "Voronoi parts of {} points on {}: 32-bit numbers", points.size(),
         stream.device().name());
  return std::make_unique<DeviceCells>(stream, points, parts, by_groups, times);
}

}  // namespace tutti::voronoi
