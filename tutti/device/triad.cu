// Measures through for_each, so that the figure is what a portable kernel can reach.
#include "tutti/device/triad.hpp"

#include <algorithm>
#include <chrono>
#include <vector>

#include "tutti/device/buffer.hpp"
#include "tutti/device/device.hpp"
#include "tutti/device/for_each.hpp"

namespace tutti {
namespace {

struct FillTriad {
  double *a, *b, *c;
  TUTTI_HD void operator()(Lid i) const {
    a[i] = 0.0;
    b[i] = 1.0;
    c[i] = 2.0;
  }
};

struct Triad {
  double* a;
  const double *b, *c;
  double s;
  TUTTI_HD void operator()(Lid i) const { a[i] = b[i] + s * c[i]; }
};

struct Nothing {
  TUTTI_HD void operator()(Lid) const {}
};

template <class Work>
double seconds_of(const Work& work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

/// Times of at least `least` repetitions and as many as fit in `seconds`, ascending.
template <class Work>
std::vector<double> repeat(double seconds, int least, const Work& work) {
  std::vector<double> times;
  double spent = 0;
  while (static_cast<int>(times.size()) < least || (spent < seconds && times.size() < 1000)) {
    times.push_back(seconds_of(work));
    spent += times.back();
  }
  std::sort(times.begin(), times.end());
  return times;
}

double best(double bytes, const std::vector<double>& times) {
  return bytes / std::max(times.front(), 1e-9);
}

double triad_on(Stream& stream, Lid count, const MeasureLimits& limits) {
  Device& device = stream.device();
  Buffer<double> a(device, count, "triad a"), b(device, count, "triad b"), c(device, count, "triad c");
  // A GPU's triad takes a fraction of a millisecond: one launch alone would measure the launch too.
  const int launches = device.kind() == DeviceKind::cuda ? 10 : 1;
  const auto run = [&] {
    for (int k = 0; k < launches; ++k) for_each(stream, {0, count}, Triad{a.data(), b.data(), c.data(), 3.0});
    stream.synchronize();
  };
  for_each(stream, {0, count}, FillTriad{a.data(), b.data(), c.data()});
  run();  // wakes the team, loads the kernel
  return best(24.0 * count * launches, repeat(limits.seconds, 2, run));
}

/// Elements of one array: well out of the caches, and half of what the budget has left for the three.
Lid triad_count(Device& device, const MeasureLimits& limits) {
  // A GPU's second-level cache is 40 to 50 MiB. A fake GPU is slow, and its figure says nothing: small arrays do.
  const Size cache = device.is_host()                    ? last_level_cache_bytes()
                     : device.kind() == DeviceKind::fake ? Size{4} << 20
                                                         : Size{64} << 20;
  const Size room = (device.budget().capacity() - device.budget().used()) / 6;
  const Size bytes = std::min({4 * cache, limits.array_bytes, room});
  if (bytes < 600)
    fail(ErrorKind::resource, "{}: no memory left to measure its bandwidth; set balance.weights or use a smaller mesh",
         device.name());
  return static_cast<Lid>(std::min(bytes / 8, Size{1} << 30));
}

}  // namespace

double measure_triad(Threads& threads, const MeasureLimits& limits) {
  return measure_triad(*make_host_device(threads, Size{1} << 60), limits);
}

double measure_triad(Device& device, const MeasureLimits& limits) {
  const auto stream = device.make_stream("triad");
  return triad_on(*stream, triad_count(device, limits), limits);
}

Bandwidth measure_bandwidth(Device& device, const MeasureLimits& limits) {
  Bandwidth result = measure_copies(device, limits);
  result.triad = measure_triad(device, limits);
  return result;
}

Bandwidth measure_copies(Device& device, const MeasureLimits& limits) {
  const auto stream = device.make_stream("measure");
  Bandwidth result;
  const Lid copied = std::min(triad_count(device, limits), Lid{8} << 20);
  Buffer<double> there(device, copied, "copy test"), here(device, copied, "copy test", Memory::pinned);
  for_each(*stream, {0, copied}, FillTriad{there.data(), there.data(), there.data()});
  stream->synchronize();
  std::fill(here.span().begin(), here.span().end(), 1.0);
  const auto bytes = static_cast<std::size_t>(there.bytes());
  const auto copy = [&](std::size_t size, bool to_device) {
    if (to_device)
      stream->copy(there.data(), here.data(), size, CopyDirection::to_device);
    else
      stream->copy(here.data(), there.data(), size, CopyDirection::to_host);
    stream->synchronize();
  };
  result.copy_to_device = best(static_cast<double>(bytes), repeat(limits.seconds / 2, 2, [&] { copy(bytes, true); }));
  result.copy_to_host = best(static_cast<double>(bytes), repeat(limits.seconds / 2, 2, [&] { copy(bytes, false); }));

  const auto median_us = [](const std::vector<double>& times) { return 1e6 * times[times.size() / 2]; };
  result.latency_us = median_us(repeat(limits.seconds / 10, 21, [&] { copy(8, false); }));
  result.launch_us = median_us(repeat(limits.seconds / 10, 21, [&] {
    for_each(*stream, {0, 1}, Nothing{});
    stream->synchronize();
  }));
  return result;
}

}  // namespace tutti
