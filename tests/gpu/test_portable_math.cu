// Functions of formulas have the bits of the host on a GPU. Every test skips without one.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tutti/base/formula.hpp"
#include "tutti/base/random.hpp"
#include "tutti/device/buffer.hpp"
#include "tutti/device/for_each.hpp"

namespace tutti {
namespace {

/// a op b, or op(b), of any two doubles.
struct Apply {
  FormulaOp op;
  const Vec3* points;
  double* out;
  TUTTI_HD void operator()(Lid i) const {
    const FormulaStep steps[3] = {{FormulaOp::x, 0}, {FormulaOp::y, 0}, {op, 0}};
    const int unused = formula_operands(op) == 1 ? 1 : 0;
    out[i] = evaluate_formula(steps + unused, 3 - unused, points[i], 0);
  }
};

/// Of all sizes, and of those that formulas meet.
double argument(std::uint64_t stream, std::uint64_t k) {
  const double unit = 2 * random_unit(stream, 2 * k) - 1;
  switch (k % 4) {
    case 0:
      return portable::from_bits(random_bits(stream, 2 * k + 1));
    case 1:
      return unit;
    case 2:
      return 100 * unit;
    default:
      return unit * portable::power_of_two(static_cast<int>(random_bits(stream, 2 * k + 1) % 120) - 60);
  }
}

TEST(PortableMath, has_the_bits_of_the_host_on_a_gpu) {
  if (cuda_device_count() == 0) GTEST_SKIP() << "no GPU on this machine";
  constexpr Lid n = 1 << 20;
  std::vector<Vec3> points;
  for (Lid i = 0; i < n; ++i)
    points.push_back({argument(1, static_cast<std::uint64_t>(i)), argument(2, static_cast<std::uint64_t>(i)), 0});
  const auto device = make_cuda_device(0);
  const auto stream = device->make_stream("test");
  const auto on_device = make_buffer(*stream, std::span<const Vec3>(points), "points");
  Buffer<double> out(*device, n, "values");
  std::vector<double> values(n);
  for (int k = static_cast<int>(FormulaOp::negate); k < static_cast<int>(FormulaOp::choose); ++k) {
    const auto op = static_cast<FormulaOp>(k);
    if (op == FormulaOp::table) continue;  // it reads the steps behind it
    for_each(*stream, {0, n}, Apply{op, on_device.data(), out.data()});
    download(*stream, std::span<double>(values), out);
    Lid wrong = 0;
    for (Lid i = 0; i < n; ++i) {
      const auto at = static_cast<std::size_t>(i);
      double host;
      Apply{op, points.data() + at, &host}(0);
      const bool same = portable::bits_of(host) == portable::bits_of(values[at]) ||
                        (portable::is_nan(host) && portable::is_nan(values[at]));
      if (!same && wrong++ == 0)
        ADD_FAILURE() << "operation " << k << " of " << points[at].x << ", " << points[at].y << ": " << host
                      << " on the host, " << values[at] << " on the GPU";
    }
    EXPECT_EQ(wrong, 0) << "operation " << k;
  }
}

}  // namespace
}  // namespace tutti
