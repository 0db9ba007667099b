// Cells that react: against plain references written from the papers, what is published of them, and stimuli.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "tutti/base/random.hpp"
#include "tutti/device/threads.hpp"
#include "tutti/models/diffusion/ionic/ionic_part.hpp"

namespace tutti::diffusion {
namespace {

// Ten Tusscher and Panfilov 2006, currents and rates as they stand in the paper's appendix (tau_f2 as in CellML).
using Ref = std::vector<double>;
struct Tissue {
  double g_to = 0.294, g_ks = 0.392;
  bool endo = false;
};

Ref tissue_rates(const Ref& x, double stimulus, const Tissue& tissue) {
  enum { V, xr1, xr2, xs, m, h, j, d, f, f2, fcass, s, r, R_, cai, casr, cass, nai, ki };
  using std::exp, std::log, std::pow, std::sqrt;
  const double v = x[V], R = 8314.472, T = 310, F = 96485.3415, RTF = R * T / F;
  const double Ko = 5.4, Nao = 140, Cao = 2, Vc = 0.016404, Vsr = 0.001094, Vss = 0.00005468, Cm = 0.185;
  const double Ena = RTF * log(Nao / x[nai]), Ek = RTF * log(Ko / x[ki]), Eca = RTF / 2 * log(Cao / x[cai]);
  const double Eks = RTF * log((Ko + 0.03 * Nao) / (x[ki] + 0.03 * x[nai]));
  const double ina = 14.838 * pow(x[m], 3) * x[h] * x[j] * (v - Ena);
  const double ak1 = 0.1 / (1 + exp(0.06 * (v - Ek - 200)));
  const double bk1 = (3 * exp(0.0002 * (v - Ek + 100)) + exp(0.1 * (v - Ek - 10))) / (1 + exp(-0.5 * (v - Ek)));
  const double ik1 = 5.405 * ak1 / (ak1 + bk1) * sqrt(Ko / 5.4) * (v - Ek);
  const double ito = tissue.g_to * x[r] * x[s] * (v - Ek);
  const double ikr = 0.153 * sqrt(Ko / 5.4) * x[xr1] * x[xr2] * (v - Ek);
  const double iks = tissue.g_ks * pow(x[xs], 2) * (v - Eks);
  const double arg = 2 * (v - 15) * F / (R * T);
  const double ical = 0.0000398 * x[d] * x[f] * x[f2] * x[fcass] * 4 * (v - 15) * F * F / (R * T) *
                      (0.25 * x[cass] * exp(arg) - Cao) / (exp(arg) - 1);
  const double inak = 2.724 * Ko / (Ko + 1) * x[nai] / (x[nai] + 40) /
                      (1 + 0.1245 * exp(-0.1 * v * F / (R * T)) + 0.0353 * exp(-v * F / (R * T)));
  const double inaca = 1000 *
                       (exp(0.35 * v * F / (R * T)) * pow(x[nai], 3) * Cao -
                        exp((0.35 - 1) * v * F / (R * T)) * pow(Nao, 3) * x[cai] * 2.5) /
                       ((pow(87.5, 3) + pow(Nao, 3)) * (1.38 + Cao) * (1 + 0.1 * exp((0.35 - 1) * v * F / (R * T))));
  const double ipca = 0.1238 * x[cai] / (0.0005 + x[cai]), ipk = 0.0146 * (v - Ek) / (1 + exp((25 - v) / 5.98));
  const double ibna = 0.00029 * (v - Ena), ibca = 0.000592 * (v - Eca);

  Ref rate(19);
  rate[V] = -(ik1 + ito + ikr + iks + ical + inak + ina + ibna + inaca + ibca + ipk + ipca) + stimulus;
  const auto gate = [&](int g, double inf, double tau) { rate[g] = (inf - x[g]) / tau; };
  gate(xr1, 1 / (1 + exp((-26 - v) / 7)), 450 / (1 + exp((-45 - v) / 10)) * 6 / (1 + exp((v + 30) / 11.5)));
  gate(xr2, 1 / (1 + exp((v + 88) / 24)), 3 / (1 + exp((-60 - v) / 20)) * 1.12 / (1 + exp((v - 60) / 20)));
  gate(xs, 1 / (1 + exp((-5 - v) / 14)), 1400 / sqrt(1 + exp((5 - v) / 6)) / (1 + exp((v - 35) / 15)) + 80);
  gate(m, 1 / pow(1 + exp((-56.86 - v) / 9.03), 2),
       1 / (1 + exp((-60 - v) / 5)) * (0.1 / (1 + exp((v + 35) / 5)) + 0.1 / (1 + exp((v - 50) / 200))));
  double ah = 0, bh = 0.77 / (0.13 * (1 + exp(-(v + 10.66) / 11.1)));
  double aj = 0, bj = 0.6 * exp(0.057 * v) / (1 + exp(-0.1 * (v + 32)));
  if (v < -40) {
    ah = 0.057 * exp(-(v + 80) / 6.8);
    bh = 2.7 * exp(0.079 * v) + 3.1e5 * exp(0.3485 * v);
    aj = (-2.5428e4 * exp(0.2444 * v) - 6.948e-6 * exp(-0.04391 * v)) * (v + 37.78) / (1 + exp(0.311 * (v + 79.23)));
    bj = 0.02424 * exp(-0.01052 * v) / (1 + exp(-0.1378 * (v + 40.14)));
  }
  gate(h, 1 / pow(1 + exp((v + 71.55) / 7.43), 2), 1 / (ah + bh));
  gate(j, 1 / pow(1 + exp((v + 71.55) / 7.43), 2), 1 / (aj + bj));
  gate(d, 1 / (1 + exp((-8 - v) / 7.5)),
       (1.4 / (1 + exp((-35 - v) / 13)) + 0.25) * 1.4 / (1 + exp((v + 5) / 5)) + 1 / (1 + exp((50 - v) / 20)));
  gate(f, 1 / (1 + exp((v + 20) / 7)),
       1102.5 * exp(-pow((v + 27) / 15, 2)) + 200 / (1 + exp((13 - v) / 10)) + 180 / (1 + exp((v + 30) / 10)) + 20);
  gate(f2, 0.67 / (1 + exp((v + 35) / 7)) + 0.33,
       562 * exp(-pow(v + 27, 2) / 240) + 31 / (1 + exp((25 - v) / 10)) + 80 / (1 + exp((v + 30) / 10)));
  gate(fcass, 0.6 / (1 + pow(x[cass] / 0.05, 2)) + 0.4, 80 / (1 + pow(x[cass] / 0.05, 2)) + 2);
  if (tissue.endo)
    gate(s, 1 / (1 + exp((v + 28) / 5)), 1000 * exp(-pow(v + 67, 2) / 1000) + 8);
  else
    gate(s, 1 / (1 + exp((v + 20) / 5)), 85 * exp(-pow(v + 45, 2) / 320) + 5 / (1 + exp((v - 20) / 5)) + 3);
  gate(r, 1 / (1 + exp((20 - v) / 6)), 9.5 * exp(-pow(v + 40, 2) / 1800) + 0.8);

  const double kcasr = 2.5 - (2.5 - 1) / (1 + pow(1.5 / x[casr], 2)), k1 = 0.15 / kcasr, k2 = 0.045 * kcasr;
  const double O = k1 * pow(x[cass], 2) * x[R_] / (0.06 + k1 * pow(x[cass], 2));
  rate[R_] = -k2 * x[cass] * x[R_] + 0.005 * (1 - x[R_]);
  const double irel = 0.102 * O * (x[casr] - x[cass]), iup = 0.006375 / (1 + pow(0.00025 / x[cai], 2));
  const double ileak = 0.00036 * (x[casr] - x[cai]), ixfer = 0.0038 * (x[cass] - x[cai]);
  rate[cai] = ((ileak - iup) * Vsr / Vc + ixfer - (ibca + ipca - 2 * inaca) * Cm / (2 * Vc * F)) /
              (1 + 0.2 * 0.001 / pow(x[cai] + 0.001, 2));
  rate[casr] = (iup - irel - ileak) / (1 + 10 * 0.3 / pow(x[casr] + 0.3, 2));
  rate[cass] = (-ical * Cm / (2 * Vss * F) + irel * Vsr / Vss - ixfer * Vc / Vss) /
               (1 + 0.4 * 0.00025 / pow(x[cass] + 0.00025, 2));
  rate[nai] = -(ina + ibna + 3 * inak + 3 * inaca) * Cm / (Vc * F);
  rate[ki] = -(ik1 + ito + ikr + iks - 2 * inak + ipk - stimulus) * Cm / (Vc * F);
  return rate;
}

TEST(TenTusscher, HasTheRatesOfThePaper) {
  const Tissue kinds[] = {{}, {0.294, 0.098, false}, {0.073, 0.392, true}};
  for (int kind = 0; kind < 3; ++kind)
    for (int trial = 0; trial < 200; ++trial) {
      std::uint64_t n = 0;
      const auto unit = [&] { return random_unit(static_cast<std::uint64_t>(trial), n++); };
      TenTusscher::State state;
      state[0] = -95 + 150 * unit();
      for (int k = 1; k <= 13; ++k) state[k] = unit();
      state[14] = 5e-5 + 1e-3 * unit();
      state[15] = 1 + 4 * unit();
      state[16] = 1e-4 + unit();
      state[17] = 6 + 6 * unit();
      state[18] = 130 + 10 * unit();
      const auto change = [&](double dt) {
        return TenTusscher{}.advance(state, state, {dt, 3, kind == 2 ? 1.0 : 0.0, kind == 1 ? 1.0 : 0.0});
      };
      // Euler's steps tell the rate with any dt, exponentials with a short one.
      const double tiny = 1e-8;
      const TenTusscher::State unit_step = change(1), short_step = change(tiny);
      const Ref rates = tissue_rates({state.value, state.value + 19}, 3, kinds[kind]);
      for (int k = 0; k < 19; ++k) {
        const bool euler = k == 0 || k > 13;
        const double rate = euler ? unit_step[k] - state[k] : (short_step[k] - state[k]) / tiny;
        const double tolerance =
            (euler ? 1e-14 : 1e-7) * std::abs(state[k]) + (euler ? 1e-10 : 3e-5) * std::abs(rates[k]);
        EXPECT_NEAR(rate, rates[k], tolerance) << "variable " << k << ", V = " << state[0];
      }
    }
}

TEST(TenTusscher, HasNoGapAt15MillivoltsAndMinus40) {
  for (const double v : {15.0, -40.0}) {
    TenTusscher::State state = TenTusscher::rest(), beside = state;
    state[7] = beside[7] = 0.5;
    state[0] = v;
    beside[0] = std::nextafter(v, 100);
    const auto at = TenTusscher::currents(state, {0.02}), near = TenTusscher::currents(beside, {0.02});
    EXPECT_NEAR(at.ca_l, near.ca_l, 1e-12 * std::abs(at.ca_l));
    const Ref reference = tissue_rates({state.value, state.value + 19}, 0, {});
    if (v != 15) {  // where the paper's formula is 0 / 0
      EXPECT_NEAR(-at.all(), reference[0], 1e-12 * std::abs(reference[0]));
    }
  }
}

/// A cell of this kind, dt after dt; the trace of u, the beginning first. Stimulus: 52 pA/pF for a millisecond.
template <class Cell>
std::vector<double> trace(const Cell& cell, typename Cell::State& x, double dt, double time, bool second_order,
                          CellInput in = {}) {
  std::vector<double> u = {x[0]};
  in.dt = dt;
  const double strength = in.stimulus;
  for (int n = 0; n < std::lround(time / dt); ++n) {
    in.stimulus = n * dt < 1 ? strength : 0;
    CellInput half = in;
    half.dt = dt / 2;
    x = cell.advance(x, second_order ? cell.advance(x, x, half) : x, in);
    u.push_back(x[0]);
  }
  return u;
}

/// From the steepest rise until 90 % of the way back.
double duration90(const std::vector<double>& u, double dt) {
  std::size_t up = 1, end = u.size() - 1;
  for (std::size_t n = 1; n < u.size(); ++n)
    if (u[n] - u[n - 1] > u[up] - u[up - 1]) up = n;
  const double level = 0.1 * *std::max_element(u.begin(), u.end()) + 0.9 * u.front();
  while (u[end] < level) --end;
  return static_cast<double>(end - up) * dt;
}

TEST(TenTusscher, BeatsAsThePlainReferenceDoes) {
  const TenTusscher::State rest = TenTusscher::rest();
  Ref x(rest.value, rest.value + 19);
  const double tiny = 0.004;
  Ref reference;
  for (int n = 0; n < 100'000; ++n) {
    if (n % 25'000 == 0 && n > 0) reference.push_back(x[0]);
    const Ref rates = tissue_rates(x, n * tiny < 1 ? 52 : 0, {});
    for (int k = 0; k < 19; ++k) x[k] += tiny * rates[k];
  }
  for (const bool second_order : {false, true}) {
    TenTusscher::State state = TenTusscher::rest();
    const auto u = trace(TenTusscher{}, state, 0.02, 400, second_order, {0, 52});
    for (std::size_t k = 0; k < reference.size(); ++k)
      EXPECT_NEAR(u[5000 * (k + 1)], reference[k], second_order ? 0.02 : 0.05);
  }
}

TEST(TenTusscher, HasThePublishedActionPotentials) {
  // Paced at 1 Hz, epicardial, M and endocardial: about 300, 400 and 300 ms (the paper's Fig. 1 and its CellML form).
  const double low[] = {300, 390, 300}, high[] = {315, 415, 315};
  for (int kind = 0; kind < 3; ++kind) {
    TenTusscher::State state = TenTusscher::rest();
    const CellInput in{0, 52, kind == 2 ? 1.0 : 0.0, kind == 1 ? 1.0 : 0.0};
    trace(TenTusscher{}, state, 0.05, 1000, false, in);
    const auto u = trace(TenTusscher{}, state, 0.05, 1000, false, in);
    EXPECT_NEAR(u.front(), -85.4, 0.2);
    const double duration = duration90(u, 0.05);
    EXPECT_GT(duration, low[kind]);
    EXPECT_LT(duration, high[kind]);
  }
  // Just above threshold no stimulus is left when it rises: some 290 V/s.
  TenTusscher::State state = TenTusscher::rest();
  const auto u = trace(TenTusscher{}, state, 0.002, 12, true, {0, 37});
  double steepest = 0;
  for (std::size_t n = 550; n < u.size(); ++n) steepest = std::max(steepest, (u[n] - u[n - 1]) / 0.002);
  EXPECT_NEAR(steepest, 290, 60);
}

/// Orders seen with steps of dt, dt / 2 and dt / 4.
template <class Cell>
double order(const Cell& cell, typename Cell::State from, double dt, double time, bool second_order) {
  double u[3];
  for (int k = 0; k < 3; ++k) {
    typename Cell::State x = from;
    u[k] = trace(cell, x, dt / (1 << k), time, second_order).back();
  }
  return std::log2(std::abs((u[1] - u[0]) / (u[2] - u[1])));
}

TEST(Ionic, StepsHaveTheirOrders) {
  TenTusscher::State plateau = TenTusscher::rest();
  trace(TenTusscher{}, plateau, 0.01, 60, true, {0, 52});
  const FitzHughNagumo fitzhugh{0.1, 0.02, 0.5, 1};
  const MitchellSchaeffer mitchell{0.3, 6, 120, 150, 0.13};
  EXPECT_NEAR(order(TenTusscher{}, plateau, 0.1, 60, false), 1, 0.15);
  EXPECT_NEAR(order(TenTusscher{}, plateau, 0.1, 60, true), 2, 0.25);
  EXPECT_NEAR(order(fitzhugh, {{0.4, 0}}, 0.1, 10, false), 1, 0.15);
  EXPECT_NEAR(order(fitzhugh, {{0.4, 0}}, 0.1, 10, true), 2, 0.25);
  EXPECT_NEAR(order(mitchell, {{0.9, 1}}, 0.1, 40, false), 1, 0.15);
  EXPECT_NEAR(order(mitchell, {{0.9, 1}}, 0.1, 40, true), 2, 0.25);
}

TEST(MitchellSchaeffer, LastsAsLongAsItsFormulaSays) {
  // From the full gate: tau_close ln(tau_out / (4 tau_in)) where the gate is slow (the paper's sec. 2.3); then it
  // turns.
  const MitchellSchaeffer cell{0.05, 5, 120, 150, 0.05};
  MitchellSchaeffer::State x{{0.9, 1}};
  const auto u = trace(cell, x, 0.005, 700, true);
  std::size_t end = u.size() - 1;
  while (u[end] < 0.3) --end;
  EXPECT_NEAR(static_cast<double>(end) * 0.005, 1.06 * 150 * std::log(5 / (4 * 0.05)), 15);
}

TEST(FitzHughNagumo, RestsAtZeroAndFiresAboveItsThreshold) {
  const FitzHughNagumo cell{0.1, 0.01, 0.5, 2};
  for (const double u0 : {0.05, 0.2}) {
    FitzHughNagumo::State x{{u0, 0}};
    const auto u = trace(cell, x, 0.05, 400, true);
    const double peak = *std::max_element(u.begin(), u.end());
    EXPECT_EQ(peak > 0.7, u0 > 0.1) << u0;
    EXPECT_NEAR(u.back(), 0, 0.05);
  }
}

TEST(Stimulus, IsItsMeanOverAStep) {
  Stimulus once{Expression(1.0), 2, 1, 0, 10, ""}, often{Expression(1.0), 2, 1, 4, 10, ""};
  EXPECT_EQ(once.mean(0, 2), 0);
  EXPECT_DOUBLE_EQ(once.mean(2, 0.5), 10);
  EXPECT_DOUBLE_EQ(once.mean(1.5, 1), 5);
  EXPECT_DOUBLE_EQ(once.mean(2.75, 1), 2.5);
  EXPECT_EQ(once.mean(3, 10), 0);
  EXPECT_DOUBLE_EQ(once.mean(0, 10), 1);
  EXPECT_DOUBLE_EQ(often.mean(6, 1), 10);
  EXPECT_DOUBLE_EQ(often.mean(4002.5, 1), 5);
  EXPECT_DOUBLE_EQ(often.mean(0, 8), 2.5);
  EXPECT_EQ(often.mean(3, 3), 0);
  // Whatever the steps, all of it arrives.
  double total = 0, time = 0;
  for (int n = 0; n < 1000; ++n, time += 0.037) total += 0.037 * often.mean(time, 0.037);
  EXPECT_NEAR(total, 90, 1e-9);
}

/// A reaction of rows on a device, read back: u, then the state.
std::vector<double> react(Stream& stream, IonicKind kind, bool second_order, bool marked, Lid n) {
  IonicCase ionic;
  ionic.kind = kind;
  ionic.strang = second_order;
  ionic.constants = kind == IonicKind::fitzhugh_nagumo ? IonicConstants{{0.1, 0.01, 0.5, 1}}
                                                       : IonicConstants{{0.3, 6, 120, 150, 0.13}};
  ionic.recovery = Expression("x > 0.5 ? 0.3 : 0.7");
  ionic.threshold = kind == IonicKind::ten_tusscher ? 0 : 0.5;
  if (marked) {
    ionic.stimuli.push_back({Expression("y > 0.3"), 0, 0.05, 0, 40, ""});
    ionic.stimuli.push_back({Expression("x > 0.6"), 0.03, 1, 0, 7, ""});
    ionic.layer = Expression(kind == IonicKind::ten_tusscher ? "floor(3*x)" : "0");
  }
  std::vector<Vec3> points;
  std::vector<double> u;
  const double low = ionic.rest(), high = kind == IonicKind::ten_tusscher ? 30 : 1;
  for (Lid i = 0; i < n; ++i) {
    const auto at = [&](std::uint64_t seed) { return random_unit(seed, static_cast<std::uint64_t>(i)); };
    points.push_back({at(1), at(2), at(3)});
    u.push_back(low + (high - low) * at(4));
  }
  Threads threads(1);
  IonicPart part(stream, threads, ionic, points);
  auto on_device = make_buffer(stream, std::span<const double>(u), "u");
  part.forget(stream, on_device.data());
  for (int step = 0; step < 3; ++step) {
    const double time = 0.02 * step;
    for (const Range rows : {Range{0, n / 3}, Range{n / 3, n}}) {
      part.kernel(ionic, on_device.data(), time, 0.02)(stream, rows);
      part.activation_kernel(ionic, on_device.data(), time, 0.02)(stream, rows);
    }
  }
  const auto variables = ionic.variables().size();
  std::vector<double> state(variables * static_cast<std::size_t>(n)), activation(static_cast<std::size_t>(n));
  download(stream, std::span<double>(u), on_device);
  part.read_state(stream, {0, n}, state);
  download(stream, std::span<double>(activation), part.activation());
  u.insert(u.end(), state.begin(), state.end());
  u.insert(u.end(), activation.begin(), activation.end());
  return u;
}

TEST(Ionic, HasTheSameBitsInVectorsAndAlone) {
  Threads threads(2);
  const auto host = make_host_device(threads, Size{1} << 30);
#if defined(TUTTI_TEST_GPU)
  if (cuda_device_count() == 0) GTEST_SKIP() << "no GPU on this machine";
  const auto other = make_cuda_device(0);
#else
  const auto other = make_fake_device(0, {});
#endif
  const auto streams = {host->make_stream("test"), other->make_stream("test")};
  for (const IonicKind kind : {IonicKind::fitzhugh_nagumo, IonicKind::mitchell_schaeffer, IonicKind::ten_tusscher})
    for (const bool second_order : {false, true})
      for (const bool marked : {false, true}) {
        std::vector<std::vector<double>> results;
        for (const auto& stream : streams) results.push_back(react(*stream, kind, second_order, marked, 101));
        EXPECT_EQ(results[0], results[1]);
        // A row alone is not computed by vectors.
        const auto variables = (results[0].size() - 202) / 101;
        ASSERT_TRUE(std::isfinite(results[0][50]));
        const std::vector<double> few = react(**streams.begin(), kind, second_order, marked, 1);
        EXPECT_EQ(few[0], results[0][0]);
        for (std::size_t k = 0; k < variables; ++k) EXPECT_EQ(few[1 + k], results[0][101 + k]);
      }
}

TEST(Activation, IsTheFirstTimeThroughTheThreshold) {
  Threads threads(1);
  const auto host = make_host_device(threads, Size{1} << 30);
  const auto stream = host->make_stream("test");
  // Below, up, down, up again; above from the start; up exactly onto it; never.
  const double steps[4][4] = {{0, 1, 0, 1}, {1, 2, 0, 3}, {0, 0.5, 1, 1}, {0.4, 0.3, 0.2, 0.49}};
  std::vector<double> u(4), before = {steps[0][0], steps[1][0], steps[2][0], steps[3][0]}, activation(4, -1);
  for (int n = 1; n < 4; ++n) {
    for (std::size_t i = 0; i < 4; ++i) u[i] = steps[i][n];
    ActivationKernel{u.data(), before.data(), activation.data(), 0.5, n - 1.0, 1}(*stream, {0, 4});
    stream->synchronize();
  }
  EXPECT_EQ(activation, (std::vector<double>{0.5, 2 + 0.5 / 3, 1, -1}));
}

}  // namespace
}  // namespace tutti::diffusion
