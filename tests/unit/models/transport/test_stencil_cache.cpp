// What a cache of stencils takes it gives back; what is damaged, cut off or made of something else is told.
#include "tutti/models/transport/stencils/stencil_cache.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <iterator>

#include "sphere_nodes.hpp"
#include "tutti/base/error.hpp"
#include "tutti/base/hash.hpp"
#include "tutti/device/threads.hpp"

namespace tutti::transport {
namespace {

using testing::HasSubstr;
namespace fs = std::filesystem;

/// A file that goes with the test.
class StencilCaches : public testing::Test {
 protected:
  fs::path folder_ = fs::path(testing::TempDir()) / fmt::format("tutti_stencil_cache_{}", ::getpid());
  fs::path path_ = folder_ / "stencils.bin";
  void SetUp() override { fs::create_directories(folder_); }
  void TearDown() override { fs::remove_all(folder_); }

  std::string content() const {
    std::ifstream file(path_, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  }
  void set_content(const std::string& bytes) const {
    std::ofstream(path_, std::ios::binary).write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  }
};

/// Blocks from the last to the first: any order will do.
void write_cache(const fs::path& path, std::uint64_t key, int size, std::span<const Gid> columns,
                 std::span<const double> weights, const WeightReport& report) {
  StencilCacheWriter writer(path, key, static_cast<Size>(columns.size()) / size, size);
  const StencilCacheHeader& header = writer.header();
  for (Size block = header.blocks() - 1; block >= 0; --block) {
    const auto begin = static_cast<std::size_t>(header.block_begin(block) * size),
               count = static_cast<std::size_t>(header.block_rows(block) * size);
    writer.write(block, columns.subspan(begin, count), weights.subspan(begin * operators, count * operators));
  }
  EXPECT_FALSE(fs::exists(path)) << "before it is whole";
  writer.finish(report);
}

/// Arrays of many nodes that need no systems: any numbers will do.
struct Arrays {
  int size;
  std::vector<Gid> columns;
  std::vector<double> weights;
  WeightReport report;

  Arrays(Size nodes, int n) : size(n), report{nodes, 1e7, 3e6, 12} {
    for (Size i = 0; i < nodes * n; ++i) columns.push_back((i / n + i % n * 7) % nodes);
    for (Size i = 0; i < nodes * n * operators; ++i) weights.push_back(0.5 * static_cast<double>(i) - 3);
  }
  Size nodes() const { return static_cast<Size>(columns.size()) / size; }
  void write(const fs::path& path, std::uint64_t key) const {
    fs::remove(path);
    write_cache(path, key, size, columns, weights, report);
  }
};

std::string complaint(ErrorKind kind, const std::function<void()>& work) {
  try {
    work();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), kind) << error.what();
    return error.what();
  }
  return "no complaint";
}

void expect_rows(const StencilCache& cache, const Arrays& arrays, const std::vector<Gid>& rows) {
  const auto n = static_cast<std::size_t>(arrays.size);
  std::vector<Gid> columns(rows.size() * n);
  std::vector<double> weights(columns.size() * operators);
  Threads threads(2);
  cache.read(rows, columns, weights, parallel_for(threads));
  Size differing = 0;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const auto from = static_cast<std::size_t>(rows[i]) * n;
    differing += std::equal(&columns[i * n], &columns[i * n] + n, &arrays.columns[from]) ? 0 : 1;
    differing += std::equal(&weights[i * n * operators], &weights[i * n * operators] + n * operators,
                            &arrays.weights[from * operators])
                     ? 0
                     : 1;
  }
  EXPECT_EQ(differing, 0);
}

TEST_F(StencilCaches, RowsInAnyOrderComeBack) {
  for (const Size nodes : {Size{1}, stencil_cache_block_rows, 2 * stencil_cache_block_rows + 5}) {
    const Arrays arrays(nodes, 5);
    arrays.write(path_, 77);
    const StencilCache cache(path_, 77);
    EXPECT_EQ(cache.header().nodes, nodes);
    EXPECT_EQ(cache.header().size, 5);
    EXPECT_EQ(cache.header().report.max_condition, 1e7);
    EXPECT_EQ(cache.header().report.mean_condition, 3e6);
    EXPECT_EQ(cache.header().report.worst, 12);
    EXPECT_EQ(cache.header().report.stencils, nodes);
    std::vector<Gid> all;
    for (Gid row = 0; row < nodes; ++row) all.push_back((row * 4801) % nodes);  // 4801 is prime
    expect_rows(cache, arrays, all);
    expect_rows(cache, arrays, {nodes - 1, 0, nodes - 1});
    expect_rows(cache, arrays, {});
  }
}

TEST_F(StencilCaches, OneThatIsNotFinishedLeavesNothing) {
  const Arrays arrays(stencil_cache_block_rows + 3, 2);
  {
    StencilCacheWriter writer(path_, 1, arrays.nodes(), 2);
    writer.write(1, std::span(arrays.columns).last(6), std::span(arrays.weights).last(6 * operators));
    EXPECT_EQ(std::distance(fs::directory_iterator(folder_), fs::directory_iterator()), 1);
  }
  EXPECT_TRUE(fs::is_empty(folder_));
}

TEST_F(StencilCaches, OfNoNodes) {
  Arrays(0, 5).write(path_, 1);
  const StencilCache cache(path_, 1);
  EXPECT_EQ(cache.header().nodes, 0);
  EXPECT_EQ(cache.header().file_bytes(), stencil_cache_header_bytes);
  cache.read({}, {}, {});
}

TEST_F(StencilCaches, WeightsOfRealStencilsKeepTheirBits) {
  const std::vector<Vec3> nodes = test::fibonacci_sphere(300);
  const std::vector<Lid> narrow = test::stencils(nodes, 57);
  const std::vector<Gid> columns(narrow.begin(), narrow.end());
  std::vector<double> weights(columns.size() * operators), again(weights.size());
  WeightReport report = make_weights<Gid>(StencilBasis{}, nodes, columns, weights), read;
  const std::uint64_t key = stencil_key(StencilBasis{}, nodes);
  write_cache(path_, key, 57, columns, weights, report);
  std::vector<Gid> rows(300), columns_again(columns.size());
  for (Gid i = 0; i < 300; ++i) rows[i] = i;
  ASSERT_TRUE(read_stencil_cache(path_, key, rows, columns_again, again, read, BadCache::refuse));
  EXPECT_EQ(columns, columns_again);
  EXPECT_EQ(weights, again);
  EXPECT_EQ(read.max_condition, report.max_condition);
}

TEST_F(StencilCaches, KeyTellsApartWhatGivesOtherWeights) {
  const std::vector<Vec3> nodes = test::fibonacci_sphere(20);
  std::vector<std::uint64_t> keys;
  const auto add = [&](const StencilBasis& basis, const std::vector<Vec3>& of) {
    keys.push_back(stencil_key(basis, of));
  };
  const StencilBasis usual;
  StencilBasis basis = usual;
  add(usual, nodes);
  basis.epsilon = 3;  // no part of a polyharmonic basis
  EXPECT_EQ(stencil_key(basis, nodes), keys[0]);
  basis.kind = StencilBasis::Kind::gaussian;
  add(basis, nodes);
  basis.degree = 9;  // no part of a Gaussian one
  EXPECT_EQ(stencil_key(basis, nodes), keys[1]);
  basis.epsilon = std::nextafter(3, 4);
  add(basis, nodes);
  for (const auto change :
       {&StencilBasis::size, &StencilBasis::exponent, &StencilBasis::degree, &StencilBasis::hyper}) {
    basis = usual;
    basis.*change += 1;
    add(basis, nodes);
  }
  std::vector<Vec3> other = nodes;
  other[7].y = std::nextafter(other[7].y, 2);
  add(usual, other);
  other = nodes;
  std::swap(other[3], other[4]);
  add(usual, other);
  other.pop_back();
  add(usual, other);
  std::sort(keys.begin(), keys.end());
  EXPECT_EQ(std::adjacent_find(keys.begin(), keys.end()), keys.end());
}

TEST_F(StencilCaches, EveryDamagedByteIsFound) {
  const Arrays arrays(40, 3);
  arrays.write(path_, 5);
  const std::string whole = content();
  ASSERT_EQ(static_cast<Size>(whole.size()), stencil_cache_header_bytes + 8 + 40 * 3 * 48);
  std::vector<Gid> rows(1), columns(3);
  std::vector<double> weights(3 * operators);
  WeightReport report;
  const auto read = [&] { read_stencil_cache(path_, 5, rows, columns, weights, report, BadCache::refuse); };
  for (std::size_t at = 0; at < whole.size(); at += at < 200 ? 1 : 37) {
    std::string damaged = whole;
    damaged[at] = static_cast<char>(damaged[at] ^ 0x10);
    set_content(damaged);
    const std::string message = complaint(ErrorKind::input, read);
    EXPECT_THAT(message, HasSubstr(path_.string())) << "byte " << at;
    EXPECT_THAT(message, HasSubstr(at < 16 ? "not a cache of stencils" : "damaged")) << "byte " << at;
  }
  for (const std::size_t bytes : {0u, 7u, 50u, 95u, 96u, 1000u}) {
    set_content(whole.substr(0, bytes));
    EXPECT_THAT(complaint(ErrorKind::input, read), HasSubstr(bytes == 0 ? "not a cache" : "truncated")) << bytes;
  }
  set_content(whole + "x");
  EXPECT_THAT(complaint(ErrorKind::input, read), HasSubstr("has grown"));
}

/// The header with a number changed and its checksum made right.
std::string forged(std::string bytes, std::size_t at, std::int64_t value) {
  std::copy_n(reinterpret_cast<const char*>(&value), sizeof value, bytes.begin() + static_cast<std::ptrdiff_t>(at));
  const std::uint64_t hash = hash_bytes(std::span(bytes).first(stencil_cache_header_bytes - 8));
  std::copy_n(reinterpret_cast<const char*>(&hash), sizeof hash, bytes.begin() + stencil_cache_header_bytes - 8);
  return bytes;
}

TEST_F(StencilCaches, ForgedHeadersAreRefused) {
  Arrays(40, 3).write(path_, 5);
  const std::string whole = content();
  const auto told = [&](std::size_t at, std::int64_t value) {
    set_content(forged(whole, at, value));
    return complaint(ErrorKind::input, [&] { const StencilCache cache(path_, 5); });
  };
  EXPECT_THAT(told(16, 2), HasSubstr("has format 2, this tutti reads format 1"));
  EXPECT_THAT(told(24, 6), HasSubstr("made of other nodes or of another basis"));
  EXPECT_THAT(told(32, -1), HasSubstr("contradicts itself"));
  EXPECT_THAT(told(32, std::numeric_limits<std::int64_t>::max()), HasSubstr("contradicts itself"));
  EXPECT_THAT(told(32, 1'000'000'000), HasSubstr("truncated"));
  EXPECT_THAT(told(40, 0), HasSubstr("contradicts itself"));
  EXPECT_THAT(told(48, 6), HasSubstr("contradicts itself"));
}

TEST_F(StencilCaches, ColumnsThatThereAreNotAreRefused) {
  Arrays arrays(40, 3);
  arrays.columns[100] = 40;
  arrays.write(path_, 5);
  std::vector<Gid> columns(3);
  std::vector<double> weights(3 * operators);
  const StencilCache cache(path_, 5);
  EXPECT_THAT(complaint(ErrorKind::input, [&] { cache.read(std::vector<Gid>{0}, columns, weights); }),
              HasSubstr("names a node that does not exist"));
}

TEST_F(StencilCaches, ACacheOfNoUseIsMadeAnew) {
  std::vector<Gid> rows(1), columns(3);
  std::vector<double> weights(3 * operators);
  WeightReport report;
  const auto read = [&](BadCache bad) { return read_stencil_cache(path_, 5, rows, columns, weights, report, bad); };
  EXPECT_FALSE(read(BadCache::refuse)) << "there is none";
  set_content("tutti stencils");
  testing::internal::CaptureStderr();
  EXPECT_FALSE(read(BadCache::make_anew));
  EXPECT_THAT(testing::internal::GetCapturedStderr(), HasSubstr("truncated"));
  set_content("somebody's text, which is to stay");
  EXPECT_THAT(complaint(ErrorKind::input, [&] { read(BadCache::make_anew); }), HasSubstr("not a cache of stencils"));
  Arrays(40, 3).write(path_, 6);
  testing::internal::CaptureStderr();
  EXPECT_FALSE(read(BadCache::make_anew));
  EXPECT_THAT(testing::internal::GetCapturedStderr(), HasSubstr("other nodes"));
  EXPECT_THAT(complaint(ErrorKind::input, [&] { read(BadCache::refuse); }), HasSubstr("other nodes"));
  Arrays(40, 3).write(path_, 5);
  EXPECT_TRUE(read(BadCache::refuse));
  EXPECT_EQ(report.max_condition, 1e7);
  fs::remove(path_);
  fs::create_directory(path_);
  EXPECT_THAT(complaint(ErrorKind::io, [&] { read(BadCache::refuse); }), HasSubstr("cannot be read"));
}

}  // namespace
}  // namespace tutti::transport
