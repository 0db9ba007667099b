// The row operator in every format, precision and on every device against the slow obvious sum.
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "tests/support/thread_hook.hpp"
#include "tutti/base/random.hpp"
#include "tutti/device/device.hpp"
#include "tutti/device/threads.hpp"
#include "tutti/models/diffusion/rows/operator_rows.hpp"

namespace tutti {
namespace {

/// Rows of random length (0 to 16) with random columns and coefficients; every third row has a diagonal term.
DiffusionRows random_rows(Lid rows, Lid columns, std::uint64_t seed) {
  DiffusionRows result;
  std::uint64_t counter = 0;
  const auto draw = [&] { return random_unit(seed, counter++); };
  for (Lid i = 0; i < rows; ++i) {
    std::array<Lid, max_row_entries> c{};
    std::array<double, max_row_entries> v{};
    c.fill(i);
    const int count = static_cast<int>(draw() * 17);
    for (int j = 0; j < count; ++j) {
      c[j] = static_cast<Lid>(draw() * columns);
      v[j] = 2 * draw() - 0.5;
    }
    result.columns.push_back(c);
    result.values.push_back(v);
    result.counts.push_back(static_cast<std::uint8_t>(count));
    result.diagonal.push_back(i % 3 == 0 ? -draw() : 0.0);
  }
  return result;
}

std::vector<double> random_values(Lid n, std::uint64_t seed) {
  std::vector<double> values;
  for (Lid i = 0; i < n; ++i) values.push_back(random_unit(seed, static_cast<std::uint64_t>(i)) - 0.5);
  return values;
}

/// u + dt (sum_j a_ij (u_j - u_i) + d_i u_i + b_i), in the documented order: four running sums.
double reference(const DiffusionRows& rows, std::size_t i, const std::vector<double>& u,
                 const std::vector<double>* forcing, double dt, bool compact) {
  double part[4] = {0, 0, 0, 0};
  for (std::size_t j = 0; j < rows.counts[i]; ++j) {
    const double a = compact ? static_cast<double>(static_cast<float>(rows.values[i][j])) : rows.values[i][j];
    part[j % 4] = std::fma(a, u[rows.columns[i][j]] - u[i], part[j % 4]);
  }
  double rate = std::fma(rows.diagonal[i], u[i], (part[0] + part[1]) + (part[2] + part[3]));
  if (forcing != nullptr) rate += (*forcing)[i];
  return std::fma(dt, rate, u[i]);
}

struct Setting {
  RowFormat format;
  Precision precision;
  DeviceKind device;
  ColumnBytes columns = ColumnBytes::automatic;
  friend void PrintTo(const Setting& s, std::ostream* out) {
    const char* formats[] = {"rows", "blocks", "sliced"};
    *out << formats[static_cast<int>(s.format)] << (s.precision == Precision::compact ? "_compact" : "_double")
         << (s.device == DeviceKind::host   ? "_host"
             : s.device == DeviceKind::fake ? "_fake"
                                            : "_cuda")
         << (s.columns == ColumnBytes::two     ? "_two"
             : s.columns == ColumnBytes::tiles ? "_tiles"
                                               : "");
  }
};

class RowOperators : public testing::TestWithParam<Setting> {};

TEST_P(RowOperators, HaveTheBitsOfTheReference) {
  const Setting setting = GetParam();
  Threads threads(2);
  if (setting.device == DeviceKind::cuda && cuda_device_count() == 0) GTEST_SKIP() << "no GPU on this machine";
  const auto device = setting.device == DeviceKind::fake   ? make_fake_device(0, {})
                      : setting.device == DeviceKind::cuda ? make_cuda_device(0)
                                                           : make_host_device(threads, Size{1} << 32);
  const auto stream = device->make_stream("test");
  const bool compact = setting.precision == Precision::compact;
  constexpr double dt = 0.37;
  // Fewer rows than a vector, than a slice, than a block; odd remainders; whole blocks.
  for (const Lid n : {1, 3, 8, 31, 33, 128, 129, 517, 1024, 1025}) {
    // Ghosts behind the owned rows; once so many that slices need more windows than there are.
    const Lid local = n == 1025 ? 200'000 : n == 517 ? 50'000 : n + 40;
    const DiffusionRows rows = random_rows(n, local, 7 + static_cast<std::uint64_t>(n));
    const auto u = random_values(local, 3), b = random_values(n, 4);
    const RowOperator op(*stream, rows, setting.format, setting.precision, setting.columns, test::five_threads);
    EXPECT_EQ(op.rows(), n);
    EXPECT_EQ(op.columns(), setting.columns);
    const auto device_u = make_buffer(*stream, std::span<const double>(u), "u");
    const auto device_b = make_buffer(*stream, std::span<const double>(b), "b");
    for (const bool forced : {false, true}) {
      Buffer<double> next(*device, n, "next");
      const std::vector<double> untouched(n, -99.0);
      upload(*stream, next, std::span<const double>(untouched));
      // Ranges that cut vectors, slices and blocks; the last row of all is left out.
      std::vector<Range> ranges = {{0, n / 3}, {n / 3, n / 2 + 1}, {n / 2 + 1, n - 1}};
      for (const Range r : ranges)
        if (!r.empty())
          op.apply(*stream, r, device_u.data(), forced ? device_b.data() : nullptr, EulerUpdate{next.data(), dt});
      std::vector<double> result(n);
      download(*stream, std::span<double>(result), next);
      std::vector<char> covered(n, 0);
      for (const Range r : ranges)
        for (Lid i = r.begin; i < r.end; ++i) covered[i] = 1;
      for (std::size_t i = 0; i < result.size(); ++i)
        ASSERT_EQ(result[i], covered[i] != 0 ? reference(rows, i, u, forced ? &b : nullptr, dt, compact) : -99.0)
            << "row " << i << " of " << n;
    }
  }
}

/// Every format and precision on such a device; and every way to store columns.
std::vector<Setting> settings_on(DeviceKind device) {
  std::vector<Setting> settings;
  for (const Precision precision : {Precision::full, Precision::compact}) {
    for (const RowFormat format : {RowFormat::rows, RowFormat::blocks, RowFormat::sliced})
      settings.push_back({format, precision, device, ColumnBytes::four});
    settings.push_back({RowFormat::sliced, precision, device, ColumnBytes::two});
    settings.push_back({RowFormat::sliced, precision, device, ColumnBytes::tiles});
  }
  return settings;
}
std::string name_of(const testing::TestParamInfo<Setting>& setting) {
  return testing::PrintToString(setting.param);
}

#if defined(TUTTI_TEST_GPU)
INSTANTIATE_TEST_SUITE_P(Cuda, RowOperators, testing::ValuesIn(settings_on(DeviceKind::cuda)), name_of);
#else
INSTANTIATE_TEST_SUITE_P(Host, RowOperators, testing::ValuesIn(settings_on(DeviceKind::host)), name_of);
INSTANTIATE_TEST_SUITE_P(Fake, RowOperators, testing::ValuesIn(settings_on(DeviceKind::fake)), name_of);
#endif

TEST(RowOperator, ADeviceWithFewBlocksHasTheSameBitsInMoreLaunches) {
  const auto device = make_fake_device(0, {});
  const auto stream = device->make_stream("test");
  constexpr Lid n = 5000;
  const DiffusionRows rows = random_rows(n, n, 5);
  const auto u = make_buffer(*stream, std::span<const double>(random_values(n, 3)), "u");
  for (const RowFormat format : {RowFormat::rows, RowFormat::blocks, RowFormat::sliced}) {
    const RowOperator op(*stream, rows, format, Precision::full);
    std::vector<double> whole(n), pieces(n);
    for (auto [limit, result, launches] : {std::tuple{0, &whole, 1}, {1, &pieces, 20}, {6, &pieces, 7}}) {
      device->limit_blocks(limit);
      Buffer<double> next(*device, n, "next");
      const Size before = device->counts().launches;
      op.apply(*stream, {10, n}, u.data(), nullptr, EulerUpdate{next.data(), 0.37});
      EXPECT_EQ(device->counts().launches - before, launches) << "of 128 rows, in whole tiles of 256";
      op.apply(*stream, {0, 10}, u.data(), nullptr, EulerUpdate{next.data(), 0.37});
      download(*stream, std::span<double>(*result), next);
    }
    EXPECT_EQ(whole, pieces);
  }
}

TEST(RowOperator, FewBitsAreTakenWhereTheyAreEnough) {
  Threads threads(1);
  const auto host = make_host_device(threads, Size{1} << 32);
  const auto fake = make_fake_device(0, {});
  const auto host_stream = host->make_stream("test"), fake_stream = fake->make_stream("test");
  const auto columns = [](Stream& stream, const DiffusionRows& rows, ColumnBytes wanted = ColumnBytes::automatic) {
    return RowOperator(stream, rows, RowFormat::sliced, Precision::full, wanted).columns();
  };
  const DiffusionRows near = random_rows(4096, 700, 5), wider = random_rows(4096, 4096, 5),
                      far = random_rows(4096, 1 << 20, 5);
  EXPECT_EQ(columns(*host_stream, near), ColumnBytes::four);
  EXPECT_EQ(columns(*fake_stream, near), ColumnBytes::tiles);
  EXPECT_EQ(columns(*fake_stream, near, ColumnBytes::two), ColumnBytes::two);
  EXPECT_EQ(columns(*fake_stream, wider), ColumnBytes::two);
  EXPECT_EQ(columns(*fake_stream, far), ColumnBytes::four);
  EXPECT_EQ(columns(*fake_stream, near, ColumnBytes::four), ColumnBytes::four);
  EXPECT_EQ(RowOperator(*fake_stream, near, RowFormat::blocks, Precision::full).columns(), ColumnBytes::four);
}

TEST(RowOperator, SlicedRowsStoreNoDiagonalOfZeros) {
  const auto device = make_fake_device(0, {});
  const auto stream = device->make_stream("test");
  DiffusionRows rows = random_rows(1000, 1000, 5);
  const Size with = RowOperator(*stream, rows, RowFormat::sliced, Precision::full).bytes();
  rows.diagonal.assign(rows.diagonal.size(), 0.0);
  EXPECT_EQ(with - RowOperator(*stream, rows, RowFormat::sliced, Precision::full).bytes(), 8000);
}

TEST(RowOperator, AnEmptyPartStoresNothing) {
  const auto device = make_fake_device(0, {});
  const auto stream = device->make_stream("test");
  const RowOperator op(*stream, DiffusionRows{}, RowFormat::sliced, Precision::full);
  EXPECT_EQ(op.rows(), 0);
  EXPECT_EQ(op.bytes(), 0);
  EXPECT_EQ(device->budget().used(), 0);
  op.apply(*stream, {0, 0}, nullptr, nullptr, EulerUpdate{nullptr, 1.0});
  stream->synchronize();
}

TEST(RowOperator, ThePapersFormatMoves216BytesARow) {
  Threads threads(1);
  const auto device = make_host_device(threads, Size{1} << 32);
  const auto stream = device->make_stream("test");
  const RowOperator op(*stream, random_rows(1280, 1280, 5), RowFormat::blocks, Precision::full);
  EXPECT_EQ(op.bytes_applied(), Size{216} * 1280);
}

TEST(RowOperator, ADeviceThatIsTooSmallNamesTheArray) {
  FakeOptions options;
  options.memory = 100000;
  const auto device = make_fake_device(0, options);
  const auto stream = device->make_stream("test");
  try {
    const RowOperator op(*stream, random_rows(1024, 1024, 5), RowFormat::rows, Precision::full);
    FAIL() << "expected an error";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::resource);
    EXPECT_NE(std::string(error.what()).find("coefficients A"), std::string::npos) << error.what();
  }
  EXPECT_EQ(device->budget().used(), 0);
}

}  // namespace
}  // namespace tutti
