// Jacobi sweeps of uniform and stretched grids, bit for bit, against an obvious loop over an array with ghosts.
#include <gtest/gtest.h>

#include "tests/support/pressure_setup.hpp"
#include "tests/unit/base/mpi_environment.hpp"

namespace tutti {
namespace {

/// p of the whole grid after `sweeps` sweeps from p = 0, in numbers of type T: each ghost is what p was before the end.
template <class T>
std::vector<double> swept(const PressureBox& box, const BoxGrid& grid, const std::vector<T>& rhs, int sweeps, T omega,
                          bool uniform) {
  const auto [nx, ny, nz] = box.cells;
  const Lid n[3] = {nx, ny, nz}, stride[3] = {1, nx + 2, (nx + 2) * (ny + 2)};
  const auto at = [&](Lid i, Lid j, Lid k) {
    return static_cast<std::size_t>(i + 1 + stride[1] * (j + 1) + stride[2] * (k + 1));
  };
  std::vector<T> p(static_cast<std::size_t>(stride[2] * (nz + 2)), T(0)), next = p;
  const auto inverse = [](double length) { return static_cast<T>(1 / length); };
  double weight[3], all = 0;
  for (std::size_t d = 0; d < 3; ++d) {
    const double width = grid.lines[d].length() / grid.lines[d].cells();
    weight[d] = 1 / (width * width);
    all += 2 * weight[d];
  }
  const auto balance = [&](const Lid(&c)[3], std::size_t m, T f) {
    const auto neighbour = [&](int d, Lid by) { return p[m + static_cast<std::size_t>(by * stride[d])]; };
    const auto s = [](int d) { return static_cast<std::size_t>(d); };
    if (uniform) {
      T sum = static_cast<T>(weight[0]) * (neighbour(0, -1) + neighbour(0, 1));
      for (int d = 1; d < 3; ++d) sum = sum + static_cast<T>(weight[s(d)]) * (neighbour(d, -1) + neighbour(d, 1));
      return (sum - f) * static_cast<T>(1 / all);
    }
    T sum = 0, diagonal = 0;
    for (int d = 0; d < 3; ++d) {
      const GridLine& line = grid.lines[s(d)];
      const T lower = inverse(line.width(c[d])) * inverse(line.distance(c[d] - 1));
      const T upper = inverse(line.width(c[d])) * inverse(line.distance(c[d]));
      sum = sum + (lower * neighbour(d, -1) + upper * neighbour(d, 1));
      diagonal = diagonal + (lower + upper);
    }
    return (sum - f) / diagonal;
  };
  const auto each = [&](const auto& f) {
    for (Lid k = 0; k < nz; ++k)
      for (Lid j = 0; j < ny; ++j)
        for (Lid i = 0; i < nx; ++i) f(i, j, k);
  };
  for (int sweep = 0; sweep < sweeps; ++sweep) {
    each([&](Lid i, Lid j, Lid k) {
      const std::size_t m = at(i, j, k);
      const T f = rhs[static_cast<std::size_t>(i + nx * (j + ny * k))];
      next[m] = (T(1) - omega) * p[m] + omega * balance({i, j, k}, m, f);
    });
    each([&](Lid i, Lid j, Lid k) {
      const Lid c[3] = {i, j, k};
      for (int d = 0; d < 3; ++d)
        for (const bool upper : {false, true}) {
          if (c[d] != (upper ? n[d] - 1 : 0)) continue;
          Lid beyond[3] = {i, j, k}, inner[3] = {i, j, k};
          beyond[d] += upper ? 1 : -1;
          const char kind = box.ends[static_cast<std::size_t>(d)];
          if (kind == 'p') inner[d] = upper ? 0 : n[d] - 1;
          const T value = next[at(inner[0], inner[1], inner[2])];
          const bool open = n[d] > 1 && (kind == 'o' || (kind == 'u' && upper));
          next[at(beyond[0], beyond[1], beyond[2])] = open ? -value : value;
        }
    });
    std::swap(p, next);
  }
  std::vector<double> owned;
  each([&](Lid i, Lid j, Lid k) { owned.push_back(static_cast<double>(p[at(i, j, k)])); });
  return owned;
}

template <class T>
void expect_bits(const PressureBox& box, const std::string& devices, const std::string& cut, bool uniform, T omega) {
  constexpr int sweeps = 7;
  PressureSetup<T> setup(
      test::world(), box, devices,
      fmt::format("pressure.solver = \"jacobi\"\npressure.sweeps = {}\npartition.cut = \"{}\"\n", sweeps, cut));
  const std::vector<T> rhs = setup.random_rhs();
  make_relaxation<T>(setup.problem())->solve(1);
  const std::vector<double> p = setup.pressure(), expected = swept(box, setup.grid(), rhs, sweeps, omega, uniform);
  ASSERT_EQ(p.size(), expected.size());
  for (std::size_t i = 0; i < p.size(); ++i)
    ASSERT_EQ(p[i], expected[i]) << "cell " << i << " of " << box.cells[0] << " x " << box.cells[1] << " x "
                                 << box.cells[2] << ", " << box.ends << ", " << devices << ", " << cut;
}

struct SweepCase {
  PressureBox box;
  bool uniform;
  double omega;
};

template <class T>
void expect_all(const std::string& devices) {
  // Odd and even rows and planes: a GPU moves as many values together as they allow.
  const std::vector<SweepCase> cases = {
      {{{62, 14, 9}, {1, 2, 0.5}}, true, 1},
      {{{62, 14, 9}, {1, 2, 0.5}, {1, 0, 2}}, false, 1},
      {{{30, 13, 12}, {3, 1, 1}, {0, 0, 0}, "uow"}, true, 1},
      {{{30, 13, 12}, {3, 1, 1}, {0, 0, 1.5}, "uow"}, false, 1},
      {{{33, 12, 11}, {1, 1, 1}, {0, 0, 0}, "pwu"}, true, 1},
      {{{17, 8, 10}, {1, 1, 1}, {1, 0, 0}, "wpp"}, false, 1},
      {{{140, 16, 6}, {1, 1, 1}, {0, 0, 0}, "ppp"}, true, 0.8},
      {{{64, 40, 1}}, true, 1},
      {{{3, 2, 70}, {1, 1, 5}}, true, 1},
  };
  for (const SweepCase& c : cases)
    for (const char* cut : {"slabs", "blocks"}) {
      if (devices == "cpu" && std::string(cut) == "blocks") continue;  // there is one part
      expect_bits<T>(c.box, devices, cut, c.uniform, static_cast<T>(c.omega));
    }
}

TEST(JacobiSweep, has_the_bits_of_an_obvious_loop) {
  for (const std::string devices : {"cpu", "fake:2,cpu"}) {
    expect_all<float>(devices);
    expect_all<double>(devices);
  }
}

#if defined(TUTTI_TEST_GPU)
TEST(JacobiSweep, has_the_same_bits_on_a_gpu) {
  if (cuda_device_count() == 0) GTEST_SKIP() << "no GPU on this machine";
  for (const std::string devices : {"cuda:0", "cuda:0,cpu"}) {
    expect_all<float>(devices);
    expect_all<double>(devices);
  }
}
#endif

}  // namespace
}  // namespace tutti
