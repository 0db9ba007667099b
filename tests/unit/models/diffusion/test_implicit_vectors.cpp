// What the solver of implicit diffusion does to vectors and rows, on every device, against plain loops.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <vector>

#include "tutti/base/random.hpp"
#include "tutti/device/threads.hpp"
#include "tutti/models/diffusion/implicit/vectors.hpp"
#include "tutti/models/diffusion/rows/operator_rows.hpp"

namespace tutti::diffusion {
namespace {

std::vector<double> noise(Lid n, std::uint64_t seed) {
  std::vector<double> values;
  for (Lid i = 0; i < n; ++i) values.push_back(random_unit(seed, static_cast<std::uint64_t>(i)) - 0.4);
  return values;
}

void on_every_device(const std::function<void(Stream&)>& check) {
#if defined(TUTTI_TEST_GPU)
  if (cuda_device_count() == 0) GTEST_SKIP() << "no GPU on this machine";
  check(*make_cuda_device(0)->make_stream("test"));
#else
  Threads threads(3);
  const auto host = make_host_device(threads, Size{1} << 30), fake = make_fake_device(0, {});
  check(*host->make_stream("test"));
  check(*fake->make_stream("test"));
#endif
}

/// Vectors of one length on a device.
struct Vectors {
  Stream& stream;
  Lid n;
  std::vector<std::vector<double>> host = {};
  std::vector<Buffer<double>> buffers = {};
  double* add(std::uint64_t seed) {
    host.push_back(noise(n, seed));
    buffers.push_back(make_buffer(stream, std::span<const double>(host.back()), "x"));
    return buffers.back().data();
  }
  std::vector<double> read(std::size_t k) {
    std::vector<double> result(static_cast<std::size_t>(n));
    download(stream, std::span<double>(result), buffers[k]);
    return result;
  }
};

TEST(ImplicitVectors, AreCombinedAndMultiplied) {
  on_every_device([](Stream& stream) {
    for (const Lid n : {1, 7, 1000}) {
      Vectors v{stream, n};
      double *a = v.add(1), *b = v.add(2), *c = v.add(3), *out = v.add(4);
      combine(stream, {0, n}, out, {2, a}, {-0.3, b}, {0.7, c});
      ExactSum products = weighted_product(stream, {0, n}, a, b, c), expected;
      double largest = 0;
      const auto result = v.read(3);
      for (std::size_t i = 0; i < result.size(); ++i) {
        const double x = v.host[0][i], y = v.host[1][i], z = v.host[2][i];
        EXPECT_EQ(result[i], std::fma(0.7, z, std::fma(-0.3, y, 2 * x)));
        expected.add(x * y * z);
        largest = std::max(largest, std::abs(x * y));
      }
      EXPECT_EQ(products.value(), expected.value());
      EXPECT_EQ(largest_product(stream, {0, n}, a, b), largest);
      ScaledRight{out, b, c, 5, 0.25}(stream, {0, n});
      const auto scaled = v.read(3);
      for (std::size_t i = 0; i < scaled.size(); ++i) EXPECT_EQ(scaled[i], 0.25 * v.host[1][i] / (5 + v.host[2][i]));
    }
  });
}

TEST(ImplicitVectors, GoToBoxesAndBack) {
  on_every_device([](Stream& stream) {
    for (const Lid n : {1, 8, 9, 3001}) {
      constexpr Lid count = 37;
      Vectors v{stream, n};
      double *weights = v.add(5), *u = v.add(6);
      v.add(7);
      std::vector<Lid> boxes(static_cast<std::size_t>(n));
      for (std::size_t i = 0; i < boxes.size(); ++i)
        boxes[i] = static_cast<Lid>(random_unit(8, i / 3) * count);  // some in a row are in one box
      const auto where = make_buffer(stream, std::span<const Lid>(boxes), "boxes");
      Buffer<std::int64_t> sums(stream.device(), count, "sums");
      const double scale = std::ldexp(1.0, 40);
      for (int again = 0; again < 2; ++again)
        add_to_boxes(stream, {0, n}, {weights, u, scale, where.data(), sums.data()}, count);
      std::vector<std::int64_t> result(count), expected(count, 0);
      download(stream, std::span<std::int64_t>(result), sums);
      for (std::size_t i = 0; i < boxes.size(); ++i)
        expected[static_cast<std::size_t>(boxes[i])] += static_cast<std::int64_t>(v.host[0][i] * v.host[1][i] * scale);
      EXPECT_EQ(result, expected);
      const auto values = noise(count, 9);
      const auto given = make_buffer(stream, std::span<const double>(values), "values");
      FromBoxes{v.buffers[2].data(), given.data(), where.data()}(stream, {0, n});
      const auto back = v.read(2);
      for (std::size_t i = 0; i < boxes.size(); ++i) EXPECT_EQ(back[i], values[static_cast<std::size_t>(boxes[i])]);
    }
  });
}

TEST(ImplicitVectors, UpdatesOfRowsAreTheirFormulas) {
  on_every_device([](Stream& stream) {
    constexpr Lid n = 300;
    DiffusionRows rows;
    for (Lid i = 0; i < n; ++i) {  // one entry: the rate is a (u_j - u_i) + d u_i
      std::array<Lid, max_row_entries> columns{};
      columns.fill(i);
      columns[0] = (i * 7 + 1) % n;
      std::array<double, max_row_entries> values{};
      values[0] = 1 + 0.01 * i;
      rows.columns.push_back(columns);
      rows.values.push_back(values);
      rows.counts.push_back(1);
      rows.diagonal.push_back(-0.5);
    }
    const RowOperator op(stream, rows, RowFormat::sliced, Precision::full);
    Vectors v{stream, n};
    double *u = v.add(1), *right = v.add(2), *diagonal = v.add(3), *out = v.add(4);
    for (double& d : v.host[2]) d += 2;
    upload(stream, v.buffers[2], std::span<const double>(v.host[2]));
    const auto rate = [&](std::size_t i) {
      const double a = rows.values[i][0], x = v.host[0][i], y = v.host[0][static_cast<std::size_t>(rows.columns[i][0])];
      return std::fma(-0.5, x, a * (y - x));
    };
    const double sigma = 3, carry = 0.4, gain = 0.8;
    const auto check = [&](const auto& update, const auto& formula) {
      upload(stream, v.buffers[3], std::span<const double>(v.host[3]));
      op.apply(stream, {0, n}, u, nullptr, update);
      const auto result = v.read(3);
      for (std::size_t i = 0; i < result.size(); ++i) EXPECT_NEAR(result[i], formula(i), 1e-13) << i;
    };
    const auto residual = [&](std::size_t i) { return v.host[1][i] - sigma * v.host[0][i] + rate(i); };
    check(ShiftedUpdate{out, sigma}, [&](std::size_t i) { return sigma * v.host[0][i] - rate(i); });
    check(ResidualUpdate{out, right, sigma}, residual);
    for (const bool from_zero : {false, true})
      check(ChebyshevUpdate{out, right, diagonal, sigma, carry, gain, from_zero}, [&](std::size_t i) {
        const double now = v.host[0][i], before = from_zero ? 0 : v.host[3][i];
        return now + carry * (now - before) + gain * residual(i) / (sigma + v.host[2][i]);
      });
  });
}

}  // namespace
}  // namespace tutti::diffusion
