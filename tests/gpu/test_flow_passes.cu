// The passes of a flow have the bits of the CPU's on a GPU: as the model makes them, and where threads march over boxes
// that are too small for that to be faster. Every test skips without a GPU.
#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <string>
#include <vector>

#include "tutti/base/random.hpp"
#include "tutti/device/threads.hpp"
#include "tutti/exchange/for_each_cell.hpp"
#include "tutti/models/incompressible/passes/momentum_cuda.cuh"
#include "tutti/models/incompressible/passes/projection_cuda.cuh"

namespace tutti::incompressible {
namespace {

struct Case {
  std::array<Lid, 3> cells;
  std::array<double, 3> stretch{0, 0, 0};
  std::array<Lid, 3> lower{0, 0, 0}, left_out{0, 0, 0};  ///< of the box that is computed: before and behind it
  double scale = 1;                                      ///< of the values
};

/// Odd and even rows and planes: as many values are moved together as they allow.
std::vector<Case> cases() {
  return {
      {{62, 14, 9}},
      {{62, 14, 9}, {1, 2, 1.5}},
      {{63, 14, 9}},
      {{63, 13, 8}, {1.2, 0, 0}},
      {{510, 6, 5}},
      {{510, 6, 5}, {0, 1, 0}},
      {{130, 9, 20}, {0.5, 0, 2}},
      // Interiors of parts, whose separators are left to others.
      {{126, 14, 40}, {0, 0, 0}, {1, 1, 1}, {1, 1, 1}},
      {{128, 30, 7}, {1, 1, 1}, {0, 2, 1}, {1, 0, 1}},
      {{66, 10, 12}, {0, 0, 0}, {3, 0, 0}, {2, 1, 0}},
      // Few planes, few cells.
      {{64, 40, 2}},
      {{66, 10, 12}, {1, 0, 0}, {65, 0, 0}, {0, 0, 0}},
      {{3, 2, 70}},
      {{1, 1, 9}},
      // Several blocks, and several pieces of planes.
      {{130, 66, 70}},
      // Squares that are no normal floats.
      {{62, 14, 9}, {0, 0, 0}, {0, 0, 0}, {0, 0, 0}, 1e-19},
      {{62, 14, 9}, {1, 1, 1}, {0, 0, 0}, {0, 0, 0}, 1e-35},
  };
}

struct Content {
  bool warm, forced;
  int scalars;
  bool sourced = false;  ///< a scalar's source is a field
};

template <class T>
class Passes {
 public:
  Passes(Device& device, const Case& c, const Content& content) : stream_(device.make_stream("test")) {
    BoxGrid grid;
    CellBox whole;
    for (std::size_t d = 0; d < 3; ++d) {
      grid.lines[d] = make_grid_line(c.cells[d], 0, 1 + 0.5 * static_cast<double>(d), c.stretch[d], false);
      whole.upper[d] = c.cells[d];
      part_.box.lower[d] = c.lower[d];
      part_.box.upper[d] = c.cells[d] - c.left_out[d];
    }
    if (c.lower[0] == 0) ends_.lower = {0, T(0.3), true, {T(0.7), T(-0.2)}};
    if (c.left_out[0] == 0) ends_.upper = {c.cells[0] - 1, T(-0.4), false, {}};
    const BoxArray array{grown(whole, 1)};
    part_.grid = PartGrid<T>(*stream_, grid, array);
    std::uint64_t seed = 0;
    const auto make = [&] {
      std::vector<T> values;
      ++seed;
      for (Size i = 0; i < array.values(); ++i)
        values.push_back(static_cast<T>(c.scale * (2 * random_unit(seed, static_cast<std::uint64_t>(i)) - 1)));
      return make_buffer(*stream_, std::span<const T>(values), "field");
    };
    for (auto* fields : {&part_.u, &part_.intermediate, &part_.rate})
      for (Buffer<T>& field : *fields) field = make();
    part_.p = make();
    part_.rhs = make();
    if (content.forced)
      for (Buffer<T>& field : part_.force) field = make();
    part_.warm = content.warm;
    constants_.viscosity = T(0.013);
    constants_.reference = T(0.1);
    for (int d = 0; d < 3; ++d) {
      constants_.buoyancy[d] = T(0.7 - d);
      constants_.force[d] = T(0.2 * d);
    }
    for (int s = 0; s < content.scalars; ++s) {
      part_.scalars.push_back({make(), make(), make(), {}, T(0.3 * s), T(0.01 * (1 + s))});
      if (content.sourced && s % 3 != 1) part_.scalars.back().source = make();
    }
  }

  /// As the model makes them.
  void run() {
    Kernels kernels;
    predict(kernels, part_, constants_, weights_, ends_);
    pressure_right_hand_side(kernels, part_, dt_);
    correct(kernels, part_, dt_, gain_, ends_);
    kernels.enqueue(*stream_, part_.box, all());
  }
  /// Marching wherever values can be moved together; how many passes march.
  int march() {
    const bool forced = !part_.force[0].empty();
    int marching = part_.warm ? forced ? march_over(predict_pass<true, true>(part_, constants_, weights_, ends_))
                                       : march_over(predict_pass<true, false>(part_, constants_, weights_, ends_))
                   : forced ? march_over(predict_pass<false, true>(part_, constants_, weights_, ends_))
                              : march_over(predict_pass<false, false>(part_, constants_, weights_, ends_));
    for (std::size_t s = most_scalars_together; s < part_.scalars.size(); s += most_scalars_together)
      marching += march_over(
          StepScalars<T>{part_.grid.view(), part_.velocity(), scalars_from(part_, s, constants_.diffuses), weights_});
    marching += march_over(divergence_pass(part_, dt_));
    return marching + march_over(correction_pass(part_, dt_, gain_, ends_));
  }
  bool moves_together() const {
    const BoxArray& array = part_.grid.array;
    return array.row() % 2 == 0 && array.plane() % (16 / static_cast<Lid>(sizeof(T))) == 0;
  }

  /// All fields, with the ghosts, which no pass may change but at the ends in x.
  std::vector<std::pair<std::string, std::vector<T>>> fields() {
    std::vector<std::pair<std::string, std::vector<T>>> all;
    const auto add = [&](const std::string& name, const Buffer<T>& field) {
      std::vector<T> values(static_cast<std::size_t>(field.size()));
      download(*stream_, std::span<T>(values), field);
      all.emplace_back(name, std::move(values));
    };
    for (std::size_t d = 0; d < 3; ++d) {
      const std::string c(1, "uvw"[d]);
      add(c, part_.u[d]);
      add(c + "*", part_.intermediate[d]);
      add("rate of " + c, part_.rate[d]);
    }
    add("rhs", part_.rhs);
    for (const PartScalar<T>& s : part_.scalars) {
      add("scalar", s.now);
      add("next scalar", s.next);
      add("rate of the scalar", s.rate);
    }
    return all;
  }

 private:
  template <class Pass>
  int march_over(const Pass& pass) {
    if (march_on_gpu(*stream_, part_.box, pass, part_.grid.equal_along_x, MarchWhere::anywhere)) return 1;
    for_each_cell<T>(*stream_, part_.box, all(), pass);
    return 0;
  }
  Range all() const { return {0, static_cast<Lid>(part_.box.cells())}; }

  std::unique_ptr<Stream> stream_;
  FlowPart<T> part_;
  FlowConstants<T> constants_;
  StageWeights<T> weights_{T(0.0015), T(-0.0005)};
  RowEnds<T> ends_;
  Gain<T> gain_{1, T(0.05)};
  T dt_ = T(0.001);
};

template <class T>
void expect_same_bits(Passes<T>& expected, Passes<T>& got) {
  const auto right = expected.fields(), values = got.fields();
  for (std::size_t f = 0; f < right.size(); ++f) {
    Size differing = 0, first = 0;
    for (std::size_t i = right[f].second.size(); i-- > 0;)
      if (std::memcmp(&right[f].second[i], &values[f].second[i], sizeof(T)) != 0) {
        ++differing;
        first = static_cast<Size>(i);
      }
    EXPECT_EQ(differing, 0) << "values of " << right[f].first << ", the first is " << first;
  }
}

template <class T>
class FlowPassesGpu : public testing::Test {};
using Numbers = testing::Types<float, double>;
TYPED_TEST_SUITE(FlowPassesGpu, Numbers);

TYPED_TEST(FlowPassesGpu, have_the_bits_of_the_cpu) {
  using T = TypeParam;
  if (cuda_device_count() == 0) GTEST_SKIP() << "no GPU on this machine";
  Threads threads(2);
  const auto cpu = make_host_device(threads, Size{1} << 34);
  const auto gpu = make_cuda_device(0);
  for (const Case& c : cases())
    for (const Content& content : {Content{false, false, 0},
                                   {false, true, 1, true},
                                   {true, false, 2},
                                   {true, true, 1, true},
                                   {false, false, 5},
                                   {true, false, 7, true}}) {
      SCOPED_TRACE(testing::Message() << c.cells[0] << " x " << c.cells[1] << " x " << c.cells[2] << ", warm "
                                      << content.warm << ", forced " << content.forced);
      Passes<T> expected(*cpu, c, content), model(*gpu, c, content), marching(*gpu, c, content);
      expected.run();
      model.run();
      const int passes = content.scalars > most_scalars_together ? 4 : 3;
      EXPECT_EQ(marching.march(), marching.moves_together() ? passes : 0);
      expect_same_bits(expected, model);
      expect_same_bits(expected, marching);
    }
}

}  // namespace
}  // namespace tutti::incompressible
