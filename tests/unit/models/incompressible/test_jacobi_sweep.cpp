// Jacobi sweeps of uniform and stretched grids, bit for bit, against an obvious loop over an array with ghosts.
#include <gtest/gtest.h>

#include <array>
#include <string>
#include <vector>

#include "tests/support/pressure_setup.hpp"
#include "tests/unit/base/mpi_environment.hpp"

namespace tutti::incompressible {
namespace {

using Cell = std::array<Lid, 3>;

std::size_t s(int d) {
  return static_cast<std::size_t>(d);
}

/// The whole grid in one array with ghosts, in numbers of type T, p = 0 at first. A ghost is what p was before the end.
template <class T>
class ObviousSweeps {
 public:
  ObviousSweeps(const PressureBox& box, const BoxGrid& grid, bool uniform, T omega)
      : box_(box), grid_(grid), n_(box.cells), uniform_(uniform), omega_(omega) {
    stride_ = {1, n_[0] + 2, (n_[0] + 2) * (n_[1] + 2)};
    p_.assign(s(stride_[2] * (n_[2] + 2)), T(0));
    next_ = p_;
  }
  void sweep(const std::vector<T>& rhs) {
    std::size_t r = 0;
    for_each([&](const Cell& c) {
      const std::size_t m = at(c);
      next_[m] = (T(1) - omega_) * p_[m] + omega_ * balanced(c, rhs[r++]);
    });
    for (int d = 0; d < 3; ++d)
      for (const bool upper : {false, true}) fill(d, upper);
    std::swap(p_, next_);
  }
  std::vector<double> pressure() const {
    std::vector<double> owned;
    for_each([&](const Cell& c) { owned.push_back(static_cast<double>(p_[at(c)])); });
    return owned;
  }

 private:
  template <class F>
  void for_each(const F& f) const {
    for (Lid k = 0; k < n_[2]; ++k)
      for (Lid j = 0; j < n_[1]; ++j)
        for (Lid i = 0; i < n_[0]; ++i) f(Cell{i, j, k});
  }
  std::size_t at(const Cell& c) const { return s(c[0] + 1 + stride_[1] * (c[1] + 1) + stride_[2] * (c[2] + 1)); }
  T neighbour(Cell c, int d, Lid by) const {
    c[s(d)] += by;
    return p_[at(c)];
  }
  /// p of the cell by which lap p = f there.
  T balanced(const Cell& c, T f) const {
    T sum = 0, diagonal = 0;
    double weights = 0;
    for (int d = 0; d < 3; ++d) {
      const GridLine& line = grid_.lines[s(d)];
      const Lid i = c[s(d)];
      if (uniform_) {
        const double width = line.length() / line.cells(), weight = 1 / (width * width);
        sum += static_cast<T>(weight) * (neighbour(c, d, -1) + neighbour(c, d, 1));
        weights += 2 * weight;
      } else {
        const T width = static_cast<T>(1 / line.width(i));
        const T lower = width * static_cast<T>(1 / line.distance(i - 1));
        const T upper = width * static_cast<T>(1 / line.distance(i));
        sum += lower * neighbour(c, d, -1) + upper * neighbour(c, d, 1);
        diagonal += lower + upper;
      }
    }
    return uniform_ ? (sum - f) * static_cast<T>(1 / weights) : (sum - f) / diagonal;
  }
  void fill(int d, bool upper) {
    const Lid last = n_[s(d)] - 1;
    const char kind = box_.ends[s(d)];
    const bool open = last > 0 && (kind == 'o' || (kind == 'u' && upper));
    for_each([&](const Cell& c) {
      if (c[s(d)] != (upper ? last : 0)) return;
      Cell beyond = c, inner = c;
      beyond[s(d)] = upper ? last + 1 : -1;
      if (kind == 'p') inner[s(d)] = upper ? 0 : last;
      next_[at(beyond)] = open ? -next_[at(inner)] : next_[at(inner)];
    });
  }

  const PressureBox& box_;
  const BoxGrid& grid_;
  Cell n_, stride_{};
  bool uniform_;
  T omega_;
  std::vector<T> p_, next_;
};

template <class T>
void expect_bits(const PressureBox& box, const std::string& devices, const std::string& cut, bool uniform, T omega) {
  constexpr int sweeps = 7;
  PressureSetup<T> setup(
      test::world(), box, devices,
      fmt::format("pressure.solver = \"jacobi\"\npressure.sweeps = {}\npartition.cut = \"{}\"\n", sweeps, cut));
  const std::vector<T> rhs = setup.random_rhs();
  make_relaxation<T>(setup.problem())->solve(1);
  ObviousSweeps<T> slow(box, setup.grid(), uniform, omega);
  for (int k = 0; k < sweeps; ++k) slow.sweep(rhs);
  const std::vector<double> p = setup.pressure(), expected = slow.pressure();
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
}  // namespace tutti::incompressible
