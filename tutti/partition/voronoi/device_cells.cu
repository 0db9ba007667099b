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
  std::int32_t* done;
  TUTTI_HD void operator()(Lid i) const {
    sums[i] = {};
    if (i == 0) *done = 0;
  }
};

template <class T>
struct PutByRow {
  const std::int32_t *rows, *label;
  T* by_row;
  TUTTI_HD void operator()(Lid i) const { by_row[rows[i]] = static_cast<T>(label[i]); }
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
  DeviceCells(Stream& stream, std::span<const Vec3> all, std::size_t parts, bool by_groups, const ParallelFor& parallel,
              VoronoiTimes& times)
      : stream_(stream), parallel_(parallel), count_(static_cast<Lid>(all.size())), parts_(static_cast<Lid>(parts)) {
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
    times.allocation = seconds_since(begin);
    begin = std::chrono::steady_clock::now();
    stream.copy(points_, all.data(), all.size_bytes(), CopyDirection::to_device);
    stream.synchronize();
    times.upload = seconds_since(begin);
    for_each(stream_, {0, copies_ * parts_}, Clear{sums_, done_});
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
    last_ = sample_.label;
#if defined(__CUDACC__)
    if (gpu_)
      pass_by_groups(centres);
    else
#endif
      pass_by_runs(centres);
    stream_.synchronize();
    std::copy_n(staged_sums_, parts_, sums.begin());
  }

  std::span<const std::int32_t> labels() override {
    fetched_.resize(static_cast<std::size_t>(points));
    download(stream_, std::span(fetched_), last_);
    return fetched_;
  }
  void keep() override {
    std::swap(sample_.label, kept_);
  }
  void owners(std::span<std::int32_t> by_row) override {
    // A row's part in one byte takes a quarter of the time on its way.
    if (parts_ <= 256)
      fetch_owners<std::uint8_t>(by_row);
    else if (parts_ <= 65536)
      fetch_owners<std::uint16_t>(by_row);
    else
      fetch_owners<std::int32_t>(by_row);
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
  template <class T>
  void fetch_owners(std::span<std::int32_t> by_row) {
    T* on_device = reinterpret_cast<T*>(sample_.label);
    for_each(stream_, {0, count_}, PutByRow<T>{sample_.rows, kept_, on_device});
    const auto on_host = std::make_unique_for_overwrite<T[]>(by_row.size());
    download(stream_, std::span(on_host.get(), by_row.size()), static_cast<const T*>(on_device));
    for_ranges(parallel_, static_cast<Size>(by_row.size()), [&](Size begin, Size end) {
      std::copy(on_host.get() + begin, on_host.get() + end, by_row.begin() + begin);
    });
  }

  bool two_steps() const {
    return static_cast<std::size_t>(parts_) >= many_centres;
  }

  void lay_out(Carver& carver) {
    const Lid boxes = (count_ + block_points - 1) / block_points, outer = (boxes + block_boxes - 1) / block_boxes;
    points_ = carver.take<Vec3>(count_);
    order_.lay_out(carver, stream_, count_);
    // The order is found before the first sample: its keys are done then.
    sample_.x = reinterpret_cast<double*>(order_.pairs.keys);
    sample_.y = reinterpret_cast<double*>(order_.spare.keys);
    sample_.z = carver.take<double>(count_);
    sample_.label = carver.take<std::int32_t>(count_);
    kept_ = carver.take<std::int32_t>(count_);
    sample_.box = carver.take<Box>(boxes);
    sample_.sums_of_boxes = carver.take<IntegerSums>(boxes);
    sample_.outer_box = carver.take<Box>(outer);
    sample_.near = carver.take<Near>(outer);
    centres_ = carver.take<Centre>(parts_);
    sums_ = carver.take<IntegerSums>(static_cast<Size>(copies_) * parts_);
    done_ = carver.take<std::int32_t>(1);
    places_ = carver.take<Gid>(parts_);
  }
  void lay_out_staging(Carver& carver) {
    staged_centres_ = carver.take<Centre>(parts_);
    staged_sums_ = carver.take<IntegerSums>(parts_);
  }

  void send_centres(std::span<const Centre> centres) {
    std::copy(centres.begin(), centres.end(), staged_centres_);
    stream_.copy(centres_, staged_centres_, centres.size_bytes(), CopyDirection::to_device);
  }

#if defined(__CUDACC__)
  void pass_by_groups(std::span<const Centre> centres) {
    const gpu::Totals totals{sums_, copies_, done_, staged_sums_};
    if (two_steps()) {
      send_centres(centres);
      gpu::launch(stream_, sample_.outer_boxes, gpu::find_near, sample_, centres_, parts_);
      gpu::launch(stream_, sample_.boxes, gpu::assign_to_many, sample_, centres_, parts_, totals);
      return;
    }
    gpu::FewCentres few{};
    std::copy(centres.begin(), centres.end(), few.centre);
    gpu::launch(stream_, sample_.boxes, gpu::assign_to_few, sample_, few, parts_, totals);
  }
#endif

  void pass_by_runs(std::span<const Centre> centres) {
    send_centres(centres);
    for_each(stream_, {0, parts_}, Clear{sums_, done_});
    for_each(stream_, {0, sample_.outer_boxes}, FindNear{sample_, centres_, parts_});
    for_each(stream_, {0, (sample_.points + run_points - 1) / run_points}, AssignRun{sample_, centres_, parts_, sums_});
    stream_.copy(staged_sums_, sums_, static_cast<std::size_t>(parts_) * sizeof(IntegerSums), CopyDirection::to_host);
  }

  Stream& stream_;
  const ParallelFor& parallel_;
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
  std::int32_t* done_ = nullptr;  ///< boxes of a pass
  Gid* places_ = nullptr;
  std::vector<std::int32_t> fetched_;
};

}  // namespace

std::unique_ptr<Cells> make_device_cells(Stream& stream, std::span<const Vec3> points, std::size_t parts,
                                         bool by_groups, const ParallelFor& parallel, VoronoiTimes& times) {
  if (points.size() >= std::numeric_limits<Lid>::max() - block_points * block_boxes)
    fail(ErrorKind::resource, "{} points are too many for Voronoi parts on {}; use the threads of the host",
         points.size(), stream.device().name());
  return std::make_unique<DeviceCells>(stream, points, parts, by_groups, parallel, times);
}

}  // namespace tutti::voronoi
