// The kernels of the flow in a box on one GPU, each beside the STREAM triad of the same run: a Jacobi sweep of a
// uniform grid and of any other, and the model's other passes, a thread a cell and marching in z (cut in several ways,
// the model's among them).
//
// bench_flow_kernels [SECONDS] [sweeps] [passes] [CELLS a side ...], default 0.04 sweeps passes 256 512, which takes
// about a minute. Each way is compared with the plain one, in all bits. Exit code 1: one of them differs.
#include <cstdlib>
#include <string>
#include <vector>

#include "bench/flow_fields.cuh"
#include "bench/flow_pass_ways.cuh"
#include "tutti/device/triad.hpp"
#include "tutti/models/incompressible/pressure/jacobi_cuda.cuh"

namespace tutti::incompressible {
namespace {

/// A uniform cube between walls, an outflow at its upper end in z: the ways to sweep it, and one of stretched cells.
template <class T>
class Sweeps {
 public:
  Sweeps(Stream& stream, Lid side, const FigureLine& line, double seconds)
      : stream_(stream),
        line_(line),
        seconds_(seconds),
        box_{{0, 0, 0}, {side, side, side}},
        array_{grown(box_, 1)},
        lengths_(stream, cube(side, 1.5), array_) {
    const Size size = array_.values();
    p_ = scattered_field<T>(stream, size, 1);
    rhs_ = scattered_field<T>(stream, size, 2);
    for (Buffer<T>* field : {&once_, &metric_, &again_}) *field = scattered_field<T>(stream, size, 3);
    for (int d = 0; d < 3; ++d) {
      ends_.lower[d] = 1;
      ends_.upper[d] = d == 2 ? -1 : 1;
      ends_.last[d] = side - 1;
    }
    uniform_ = uniform_stencil<T>(cube(side, 0));
  }

  bool measure() {
    const auto stretched = sweep(metric_stencil(lengths_.view()), p_, metric_);
    plain("sweep of stretched cells, a thread per cell", stretched);
    const auto to_once = sweep(uniform_, p_, once_);
    plain("sweep, a thread per cell", to_once);
    constexpr int wide = 16 / static_cast<int>(sizeof(T)), half = wide / 2;
    compare("sweep as the model has it", once_, [&] { march_on_gpu(stream_, box_, sweep(uniform_, p_, again_)); });
    compare("stretched as the model has it", metric_,
            [&] { march_on_gpu(stream_, box_, sweep(metric_stencil(lengths_.view()), p_, again_)); });
    for (const Lid planes : {8, 16, 32, 64, 128, 256}) march<MarchTuning<wide, 512, 2, 1, true>>(planes);
    march<MarchTuning<wide, 512, 2, 1, false>>();
    march<MarchTuning<wide, 256, 4, 1, true>>();
    march<MarchTuning<wide, 256, 4, 1, false>>();
    march<MarchTuning<wide, 1024, 1, 1, true>>();
    march<MarchTuning<wide, 1024, 1, 1, false>>();
    march<MarchTuning<wide, 640, 2, 0, true>>();
    march<MarchTuning<wide, 256, 5, 0, true>>();
    march<MarchTuning<wide, 256, 3, 2, true>>();
    march<MarchTuning<wide, 768, 1, 2, true>>();
    march<MarchTuning<wide, 512, 2, 2, false>>();
    march<MarchTuning<half, 512, 3, 1, true>>();
    march<MarchTuning<half, 768, 2, 1, false>>();
    march<MarchTuning<half, 640, 2, 2, true>>();
    march_stretched<MarchTuning<half, 512, 2, 1, true>>();
    march_stretched<MarchTuning<half, 640, 2, 1, false>>();
    march_stretched<MarchTuning<half, 1024, 1, 2, false>>();
    march_stretched<MarchTuning<wide, 768, 1, 1, true>>();
    march_stretched<MarchTuning<wide, 768, 1, 1, false>>();
    return good_;
  }

 private:
  Range all() const { return {0, static_cast<Lid>(box_.cells())}; }
  template <template <class> class Stencil>
  JacobiSweep<T, Stencil> sweep(const Stencil<T>& stencil, const Buffer<T>& from, Buffer<T>& to) const {
    return {array_, stencil, from.data(), rhs_.data(), to.data(), T(1), ends_};
  }
  static double flops(bool uniform) { return uniform ? 10 : 26; }
  template <template <class> class Stencil>
  void plain(const char* name, const JacobiSweep<T, Stencil>& sweep) {
    const double time = time_of(stream_, seconds_, [&] { for_each_cell<T>(stream_, box_, all(), sweep); });
    line_(name, time, 3, sizeof(T), flops(std::is_same_v<Stencil<T>, UniformStencil<T>>));
  }
  /// `launch` fills again_.
  template <class Launch>
  void compare(const std::string& name, const Buffer<T>& right, const Launch& launch, const std::string& more = "") {
    scatter(stream_, again_, 3);
    const double time = time_of(stream_, seconds_, launch);
    const auto size = static_cast<Lid>(again_.size());
    const double wrong = max_value(stream_, {0, size}, Differing<T>{right.data(), again_.data()});
    const auto at = static_cast<Lid>(wrong);
    const std::string verdict = wrong < 0
                                    ? "right"
                                    : fmt::format("WRONG, last in ({}, {}, {})", at % array_.row() - 1,
                                                  at % array_.plane() / array_.row() - 1, at / array_.plane() - 1);
    line_(name, time, 3, sizeof(T), flops(&right != &metric_), more + verdict);
    good_ = good_ && wrong < 0;
  }
  template <class Tuning>
  static std::string cut(const char* name, Lid planes) {
    return fmt::format("{}, {} cells x {} x {}, {} ahead{}, {} planes", name, Tuning::cells, Tuning::threads,
                       Tuning::resident, Tuning::ahead, Tuning::sides ? " with sides" : "", planes);
  }
  /// planes 0: as many as the model would take.
  template <class Tuning, template <class> class Stencil>
  void march_one(const char* name, const JacobiSweep<T, Stencil>& sweep, const Buffer<T>& right, Lid planes) {
    if (planes == 0)
      planes = planes_to_march(march_blocks<Tuning>(box_, array_), box_.size(2),
                               Gid{multiprocessors(stream_.device())} * Tuning::resident, 2);
    compare(
        cut<Tuning>(name, planes), right, [&] { launch_march<Tuning>(stream_, box_, sweep, planes); },
        resources(detail::march_kernel<Tuning, T, Stencil>, Tuning::threads));
  }
  template <class Tuning>
  void march(Lid planes = 0) {
    march_one<Tuning>("marching", sweep(uniform_, p_, again_), once_, planes);
  }
  template <class Tuning>
  void march_stretched() {
    march_one<Tuning>("stretched", sweep(metric_stencil(lengths_.view()), p_, again_), metric_, 0);
  }

  Stream& stream_;
  const FigureLine& line_;
  double seconds_;
  CellBox box_;
  BoxArray array_;
  PartGrid<T> lengths_;
  UniformStencil<T> uniform_;
  Mirrors<T> ends_;
  Buffer<T> p_, rhs_, once_, metric_, again_;
  bool good_ = true;
};

/// What is measured.
struct Wish {
  double seconds = 0.04;
  bool sweeps = false, passes = false;
  std::vector<Lid> sides;
};

template <class T>
bool measure(const char* type, Lid side, double triad, Stream& stream, const Wish& wish) {
  const FigureLine line{type, side, triad};
  bool good = true;
  if (wish.sweeps) good = Sweeps<T>(stream, side, line, wish.seconds).measure() && good;
  for (const double stretch : {0.0, 1.5})
    if (wish.passes) good = PassWays<T>(stream, side, stretch, line, wish.seconds).measure() && good;
  return good;
}

bool run(const Wish& wish) {
  const auto device = make_cuda_device(0);
  const auto stream = device->make_stream("bench");
  const double triad = measure_bandwidth(*device).triad;
  fmt::print(
      "{}\ntriad {:.0f} GB/s; a sweep 3 values per cell, momentum 10, divergence 4, correction 7, temperature 6\n",
      device->description(), triad * 1e-9);
  bool good = true;
  for (const Lid side : wish.sides) {
    good = measure<float>("float", side, triad, *stream, wish) && good;
    good = measure<double>("double", side, triad, *stream, wish) && good;
  }
  return good;
}

}  // namespace
}  // namespace tutti::incompressible

int main(int argc, char** argv) try {
  tutti::incompressible::Wish wish;
  if (argc > 1) wish.seconds = std::atof(argv[1]);
  for (int i = 2; i < argc; ++i) {
    const std::string word = argv[i];
    if (word == "sweeps")
      wish.sweeps = true;
    else if (word == "passes")
      wish.passes = true;
    else
      wish.sides.push_back(std::atoi(argv[i]));
  }
  if (!wish.sweeps && !wish.passes) wish.sweeps = wish.passes = true;
  if (wish.sides.empty()) wish.sides = {256, 512};
  return tutti::incompressible::run(wish) ? 0 : 1;
} catch (const std::exception& error) {
  fmt::print(stderr, "bench_flow_kernels: {}\n", error.what());
  return 1;
}
