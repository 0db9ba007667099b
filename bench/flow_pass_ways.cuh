// The passes of a flow besides its sweeps on one GPU, a thread a cell and marching in z, cut in several ways.
#pragma once

#include <array>
#include <vector>

#include "bench/flow_fields.cuh"
#include "tutti/exchange/for_each_cell.hpp"
#include "tutti/models/incompressible/passes/momentum_cuda.cuh"
#include "tutti/models/incompressible/passes/projection_cuda.cuh"

namespace tutti::incompressible {

/// A cube between walls, its cells equal or, stretch > 0, smaller towards them. Momentum counts the ten values of the
/// method, though a pass that keeps the rate before also reads u twice: it moves twelve.
template <class T>
class PassWays {
 public:
  PassWays(Stream& stream, Lid side, double stretch, const FigureLine& line, double seconds)
      : stream_(stream), line_(line), seconds_(seconds), equal_(stretch == 0) {
    part_.box = {{0, 0, 0}, {side, side, side}};
    const BoxArray array{grown(part_.box, 1)};
    part_.grid = PartGrid<T>(stream, cube(side, stretch), array);
    const auto add = [&](Buffer<T>& field) { field = scattered_field<T>(stream, array.values(), ++seed_); };
    for (std::size_t c = 0; c < 3; ++c)
      for (Buffer<T>* field : {&part_.u[c], &part_.intermediate[c], &part_.rate[c]}) add(*field);
    add(part_.p);
    add(part_.rhs);
    for (Buffer<T>& field : right_) add(field);
    add_scalar();
    constants_.viscosity = T(1e-3);
    constants_.buoyancy[1] = T(0.5);
  }

  bool measure() {
    momentum<false>("momentum", 10, 3 * 54);
    divergence();
    correction();
    momentum<true>("momentum and temperature", 16, 3 * 59 + 52);
    scalars<1>("a scalar");
    add_scalar();
    scalars<2>("two scalars");
    return good_;
  }

 private:
  void add_scalar() {
    PartScalar<T>& scalar = part_.scalars.emplace_back();
    for (Buffer<T>* field : {&scalar.now, &scalar.next, &scalar.rate})
      *field = scattered_field<T>(stream_, part_.grid.array.values(), ++seed_);
    scalar.diffusivity = T(2e-3);
  }
  static constexpr int wide = 16 / static_cast<int>(sizeof(T)), half = wide / 2;
  // The rate before is taken over as it is: values stay finite.
  static constexpr StageWeights<T> weights{T(1e-6), T(0)};

  /// What a pass writes.
  using Written = std::vector<Buffer<T>*>;
  struct Cost {
    int values;
    double flops;
  };
  void fill(const Written& written) {
    for (std::size_t f = 0; f < written.size(); ++f) scatter(stream_, *written[f], 100 + f);
  }
  template <class Launch>
  void compare(const std::string& name, const Cost& cost, const Written& written, const Launch& launch,
               const std::string& more = "") {
    fill(written);
    launch();
    bool same = true;
    for (std::size_t f = 0; f < written.size(); ++f)
      same = same && max_value(stream_, {0, static_cast<Lid>(written[f]->size())},
                               Differing<T>{right_[f].data(), written[f]->data()}) < 0;
    const double time = time_of(stream_, seconds_, launch, part_.box.cells() > 1'000'000 ? 10 : 50);
    line_((equal_ ? "" : "stretched: ") + name, time, cost.values, sizeof(T), cost.flops,
          more + (same ? "right" : "WRONG"));
    good_ = good_ && same;
  }
  template <class Add>
  void as_the_model(const std::string& name, const Cost& cost, const Written& written, const Add& add) {
    Kernels kernels;
    add(kernels);
    compare(name, cost, written, [&] { kernels.enqueue(stream_, part_.box, all()); });
  }
  /// Keeps what it writes; `pass` makes it of the fields as they are.
  template <class MakePass>
  void a_thread_per_cell(const std::string& name, const Cost& cost, const Written& written, const MakePass& pass) {
    const auto launch = [&] { for_each_cell<T>(stream_, part_.box, all(), pass()); };
    fill(written);
    launch();
    for (std::size_t f = 0; f < written.size(); ++f) written[f]->swap(right_[f]);
    compare(name + ", a thread per cell", cost, written, launch);
  }
  template <class Tuning, class Pass>
  void march(const std::string& name, const Cost& cost, const Written& written, const Pass& pass,
             void (*kernel)(CellBox, Pass, RowGroups, Lid), std::size_t shared = 0) {
    std::string cut = fmt::format("{}, {} cells x {} x {}, {} planes", name, Tuning::cells, Tuning::threads,
                                  Tuning::resident, Tuning::planes);
    if constexpr (requires { Tuning::ahead; }) cut += fmt::format(", {} ahead", Tuning::ahead);
    if constexpr (requires { Tuning::brings_rows; }) cut += Tuning::brings_rows ? " with rows beside" : "";
    const auto launch = [&] { launch_rows<Tuning>(stream_, part_.box, pass, kernel, shared); };
    launch();  // before its resources are asked for: it may need to be allowed more shared memory
    compare(cut, cost, written, launch, resources(kernel, Tuning::threads, shared));
  }

  template <bool warm>
  void momentum(const std::string& name, int values, double flops) {
    const Cost cost{values, flops};
    part_.warm = warm;
    std::vector<PartScalar<T>> left_out;
    if (!warm) part_.scalars.swap(left_out);
    Written written;
    for (std::size_t c = 0; c < 3; ++c) written.insert(written.end(), {&part_.intermediate[c], &part_.rate[c]});
    if (warm) written.insert(written.end(), {&part_.scalars[0].next, &part_.scalars[0].rate});
    const auto pass = [&] { return predict_pass<warm, false>(part_, constants_, weights); };
    a_thread_per_cell(name, cost, written, pass);
    as_the_model(name, cost, written, [&](Kernels& to) { predict(to, part_, constants_, weights); });
    const auto way = [&]<class Tuning>(Tuning) {
      march<Tuning>(name, cost, written, pass(),
                    equal_ ? &detail::march_momentum<Tuning, true, T, warm, false>
                           : &detail::march_momentum<Tuning, false, T, warm, false>,
                    detail::MomentumAhead<T, Tuning, warm, false>::bytes);
    };
    if constexpr (!warm) {
      if constexpr (sizeof(T) == 4) {
        way(MomentumTuning<wide, 512, 1, 8, 2, false>{});
        way(MomentumTuning<wide, 512, 1, 8, 2, true>{});
        way(MomentumTuning<wide, 256, 2, 8, 2, true>{});
      }
      way(MomentumTuning<wide, 384, 1, 4, 2, true>{});
      way(MomentumTuning<wide, 128, 3, 8, 2, true>{});
      way(MomentumTuning<half, 512, 1, 8, 2, true>{});
    } else {
      way(MomentumTuning<wide, 256, 1, 8, 2, false>{});
      way(MomentumTuning<wide, 256, 1, 8, 2, true>{});
      way(MomentumTuning<wide, 128, 3, 8, 2, true>{});
    }
    way(MomentumTuning<wide, 384, 1, 8, 2, false>{});
    way(MomentumTuning<wide, 384, 1, 8, 2, true>{});
    if (!warm) part_.scalars.swap(left_out);
  }

  template <int count>
  void scalars(const std::string& name) {
    const Cost cost{3 + 4 * count, 52.0 * count};
    Written written;
    for (PartScalar<T>& s : part_.scalars) written.insert(written.end(), {&s.next, &s.rate});
    const auto pass = [&] {
      return StepScalars<T>{part_.grid.view(), part_.velocity(), scalars_from(part_, 0, true), weights};
    };
    a_thread_per_cell(name, cost, written, pass);
    const auto way = [&]<class Tuning>(Tuning) {
      march<Tuning>(
          name, cost, written, pass(),
          equal_ ? &detail::march_scalars<Tuning, true, T, count> : &detail::march_scalars<Tuning, false, T, count>,
          detail::ScalarFields<T, Tuning, count>::Ahead::bytes);
    };
    way(ScalarTuning<wide, 384, 1, 8, 2>{});
    way(ScalarTuning<wide, 512, 1, 8, 2>{});
    way(ScalarTuning<wide, 256, 2, 8, 2>{});
    way(ScalarTuning<wide, 256, 2, 4, 2>{});
  }

  void divergence() {
    projection(
        "divergence", {4, 10}, {&part_.rhs}, [&] { return divergence_pass(part_, T(1)); },
        [&](Kernels& to) { pressure_right_hand_side(to, part_, T(1)); },
        []<class Tuning, bool equal>(Tuning, std::bool_constant<equal>) {
          return &detail::march_divergence<Tuning, equal, T>;
        });
  }
  void correction() {
    const T dt = T(1e-6);
    projection(
        "correction", {7, 12}, {&part_.u[0], &part_.u[1], &part_.u[2]}, [&] { return correction_pass(part_, dt); },
        [&](Kernels& to) { correct(to, part_, dt); },
        []<class Tuning, bool equal>(Tuning, std::bool_constant<equal>) {
          return &detail::march_correction<Tuning, equal, T>;
        });
  }
  template <class MakePass, class Add, class KernelOf>
  void projection(const std::string& name, const Cost& cost, const Written& written, const MakePass& pass,
                  const Add& add, const KernelOf& kernel_of) {
    a_thread_per_cell(name, cost, written, pass);
    as_the_model(name, cost, written, add);
    const auto way = [&]<class Tuning>(Tuning tuning) {
      equal_ ? march<Tuning>(name, cost, written, pass(), kernel_of(tuning, std::true_type{}))
             : march<Tuning>(name, cost, written, pass(), kernel_of(tuning, std::false_type{}));
    };
    way(RowTuning<wide, 256, 4, 1, 1>{});
    way(RowTuning<wide, 256, 4, 2, 1>{});
    way(RowTuning<wide, 256, 4, 4, 1>{});
    way(RowTuning<wide, 256, 4, 8, 1>{});
    way(RowTuning<wide, 256, 4, 32, 1>{});
    way(RowTuning<wide, 512, 2, 4, 1>{});
    way(RowTuning<half, 512, 2, 4, 1>{});
  }

  Range all() const { return {0, static_cast<Lid>(part_.box.cells())}; }

  Stream& stream_;
  std::uint64_t seed_ = 3;
  const FigureLine& line_;
  double seconds_;
  bool equal_;
  FlowPart<T> part_;
  FlowConstants<T> constants_;
  std::array<Buffer<T>, 8> right_;
  bool good_ = true;
};

}  // namespace tutti::incompressible
