// The direct solver's kernels have the bits of the CPU's. Every test skips without a GPU.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <functional>
#include <memory>
#include <vector>

#include "tutti/base/denormals.hpp"
#include "tutti/base/random.hpp"
#include "tutti/models/incompressible/pressure/direct/column_modes.hpp"
#include "tutti/models/incompressible/pressure/direct/direct_gpu.hpp"
#include "tutti/models/incompressible/pressure/direct/line_transform.hpp"
#if defined(__CUDACC__)
#include "tutti/models/incompressible/pressure/direct/fast_power_cuda.cuh"
#endif

namespace tutti::incompressible {
namespace {

struct Box {
  Line x, y, z;
};

Line stretched(Lid n, LineEnd low, LineEnd high) {
  Line line = uniform_line(n, 1, low, high);
  for (Lid i = 0; i < n; ++i) line.widths[i] *= 1 + 0.01 * i;
  return line;
}

std::vector<Box> boxes() {
  using enum LineEnd;
  const auto walls = [](Lid n) { return uniform_line(n, 1, neumann, neumann); };
  const auto ring = [](Lid n) { return uniform_line(n, 2, periodic, periodic); };
  const auto open = [](Lid n) { return uniform_line(n, 3, neumann, dirichlet); };
  return {{walls(64), walls(64), walls(64)},
          {walls(200), walls(131), walls(17)},
          {ring(33), ring(30), ring(16)},
          {walls(7), ring(5), ring(2)},
          {ring(129), walls(1), walls(40)},
          {open(65), walls(12), ring(9)},
          {stretched(70, neumann, neumann), stretched(9, neumann, dirichlet), stretched(23, neumann, neumann)},
          {walls(1), walls(1), walls(50)},
          {walls(300), walls(20), open(1)},
          {open(48), ring(70), walls(20)},
          {ring(2048), open(6), walls(3)},
          {walls(6), ring(2048), walls(3)},
          {walls(128), ring(256), walls(90)},                         // along z some columns settle early, some late
          {walls(64), walls(32), open(700)},                          // and in several pieces
          {walls(192), ring(160), stretched(130, neumann, neumann)},  // lines of FrequentPoints
          {ring(96), walls(384), walls(5)},
          {open(320), walls(640), walls(3)},
          {walls(768), open(192), ring(4)},
          {ring(160), open(96), walls(3)},
          {ring(640), ring(768), walls(2)},
          {ring(384), ring(320), walls(2)},
          {walls(33), walls(5), walls(200)},  // whose rows are not aligned
          {open(512), walls(1024), stretched(6, neumann, neumann)},
          {walls(256), open(512), open(33)},
          {ring(64), ring(48), ring(64)},  // with modes along z, too
          {walls(33), walls(5), ring(256)},
          {ring(20), open(6), ring(96)},
          {walls(12), walls(3), ring(2048)},
          {walls(6), walls(6), walls(7000)}};  // its constant column does not fit shared memory in double
}

template <class T>
std::vector<T> random_values(Size count) {
  std::vector<T> values;
  for (Size i = 0; i < count; ++i)
    values.push_back(static_cast<T>(2 * random_unit(7, static_cast<std::uint64_t>(i)) - 1));
  return values;
}

template <class T>
class DirectGpuBits : public testing::Test {};
using Numbers = testing::Types<float, double>;
TYPED_TEST_SUITE(DirectGpuBits, Numbers);

template <class T>
Size differing(const std::vector<T>& a, const std::vector<T>& b) {
  Size count = 0;
  for (std::size_t i = 0; i < a.size(); ++i) count += std::memcmp(&a[i], &b[i], sizeof(T)) != 0 ? 1 : 0;
  return count;
}

/// The modes of columns divide, in two pieces.
template <class T>
void solve_by_modes_too(Stream& stream, const Box& box, const std::vector<T>& lambda, std::vector<T> values) {
  const ColumnModes<T> modes(box.z);
  if (!modes.exist()) return;
  const auto all = static_cast<Lid>(lambda.size()), cut = all / 3;
  DirectGpu<T> direct(stream, line_modes(box.x), line_modes(box.y), line_operator(box.z), lambda, 1, {}, {},
                      line_modes(box.z));
  Buffer<T> on_gpu = make_buffer(stream, std::span<const T>(values), "values");
  for (const Range range : {Range{0, cut}, Range{cut, all}}) direct.solve_by_modes(stream, on_gpu.data(), range);
  std::vector<T> got(values.size());
  download(stream, std::span<T>(got), on_gpu);
  solve_by_modes(modes.view(), lambda.data(), values.data(), all, {0, all});
  EXPECT_EQ(differing(got, values), 0) << "columns by modes";
}

/// div u* / dt that the transform finds itself, in planes across z and across y, the box's second direction then being
/// z.
template <class T>
void divide(Stream& stream, DirectGpu<T>& direct, const Box& box, const LineTransform<T>& x_to,
            const LineTransform<T>& y_to) {
  if (!has_fast_transform(box.x)) return;
  for (const int axis : {2, 1}) {
    const Lid nx = box.x.size(), ny = box.y.size(), nz = box.z.size();
    const CellBox planes{{0, 0, 0}, {nx, axis == 2 ? ny : nz, axis == 2 ? nz : ny}};
    const BoxArray array{grown(planes, 1)};
    std::vector<std::vector<T>> u, widths;
    std::vector<Buffer<T>> on_gpu;
    DivergenceRows<T> of_cpu{{{array, {}}, {}, nullptr, T(3)}, planes, axis, false}, of_gpu = of_cpu;
    for (int d = 0; d < 3; ++d) {
      u.push_back(random_values<T>(array.values()));
      std::vector<T>& h = widths.emplace_back(static_cast<std::size_t>(array.stored.size(d)));
      for (std::size_t i = 0; i < h.size(); ++i) h[i] = static_cast<T>(1 + random_unit(d, i));
    }
    for (int d = 0; d < 3; ++d) {
      const auto i = static_cast<std::size_t>(d);
      of_cpu.pass.u.c[d] = u[i].data();
      of_cpu.pass.g.line[d] = {widths[i].data(), nullptr, nullptr, -1};
      on_gpu.push_back(make_buffer(stream, std::span<const T>(u[i]), "velocity"));
      of_gpu.pass.u.c[d] = on_gpu.back().data();
      on_gpu.push_back(make_buffer(stream, std::span<const T>(widths[i]), "widths"));
      of_gpu.pass.g.line[d] = {on_gpu.back().data(), nullptr, nullptr, -1};
    }
    const Size plane = Size{nx} * ny;
    std::vector<T> expected(static_cast<std::size_t>(plane * nz)), got = expected;
    for (Lid k = 0; k < nz; ++k)
      for (Lid j = 0; j < ny; ++j) of_cpu.take(k, j, expected.data() + k * plane + Size{j} * nx);
    transform_x(x_to.view(), expected.data(), expected.data(), {0, nz * ny});
    if (ny > 1) transform_y(y_to.view(), expected.data(), expected.data(), nx, {0, nz * nx});
    Buffer<T> values(stream.device(), plane * nz, "values");
    for (const Range range : {Range{0, nz / 3}, Range{nz / 3, nz}})
      direct.divide_to_modes(stream, of_gpu, values.data(), range);
    download(stream, std::span<T>(got), values);
    EXPECT_EQ(differing(got, expected), 0) << "divergence to modes, planes across "
                                           << "xyz"[axis];
  }
}

TYPED_TEST(DirectGpuBits, of_planes_that_are_turned_stay) {
  using T = TypeParam;
  if (cuda_device_count() == 0) GTEST_SKIP() << "no GPU on this machine";
  const auto device = make_cuda_device(0);
  const auto stream = device->make_stream("test");
  using enum LineEnd;
  // Of values, rows and planes: whole squares, and what is left of them.
  for (const auto& [n, rows, planes] :
       std::vector<std::array<Lid, 3>>{{64, 3, 64}, {33, 5, 70}, {1, 4, 9}, {40, 1, 1}}) {
    SCOPED_TRACE(testing::Message() << n << " x " << rows << " x " << planes);
    const auto line = [](Lid cells) { return uniform_line(cells, 1, neumann, neumann); };
    const std::vector<T> lambda(static_cast<std::size_t>(n) * rows, T(-1));
    DirectGpu<T> direct(*stream, line_modes(line(n)), line_modes(line(rows)), line_operator(line(planes)), lambda,
                        planes);
    // Planes lie side by side in the field, with a ghost at both ends.
    const Size step = planes + 2, row = step * n + 5;
    const std::vector<T> field = random_values<T>(row * rows + 1);
    std::vector<T> expected(lambda.size() * planes), got = expected, back(field.size(), T(0)), got_back = back;
    for_turned(n, rows, step, row, {0, planes}, [&](Size own, Size at) {
      expected[own] = field[at + 1];
      back[at + 1] = field[at + 1];
    });
    const Buffer<T> from = make_buffer(*stream, std::span<const T>(field), "field");
    Buffer<T> values = make_buffer(*stream, std::span<const T>(got), "values"),
              to = make_buffer(*stream, std::span<const T>(got_back), "back");
    const Lid cut = planes / 3;
    for (const Range range : {Range{0, cut}, Range{cut, planes}}) {
      direct.turn_from(*stream, {from.data() + 1, step, row}, values.data(), range);
      direct.turn_to(*stream, values.data(), {to.data() + 1, step, row}, range);
    }
    download(*stream, std::span<T>(got), values);
    download(*stream, std::span<T>(got_back), to);
    EXPECT_EQ(differing(got, expected), 0) << "from the field";
    EXPECT_EQ(differing(got_back, back), 0) << "to the field";
  }
}

/// Elimination up through parts of the line and down again, each piece of columns with its own launches.
template <class T>
std::vector<T> through_parts(Stream& stream, const LineModes& x, const LineModes& y, const LineOperator& z,
                             const std::vector<T>& lambda, const std::vector<T>& f, const std::vector<Lid>& cuts) {
  const Tridiagonal<T> line(z);
  const Size plane = static_cast<Size>(lambda.size());
  struct Part {
    Range rows;
    std::unique_ptr<DirectGpu<T>> direct;
    Buffer<T> values;  // and a row below and above
  };
  std::vector<Part> parts;
  for (std::size_t c = 0; c + 1 < cuts.size(); ++c) {
    const Range rows{cuts[c], cuts[c + 1]};
    const std::vector<T> lost = lost_behind(line.view(), rows.begin, lambda);
    std::vector<T> values(static_cast<std::size_t>(plane * (rows.size() + 2)), T(-7));
    std::copy_n(f.begin() + rows.begin * plane, rows.size() * plane, values.begin() + plane);
    parts.push_back({rows, std::make_unique<DirectGpu<T>>(stream, x, y, z, lambda, rows.size(), rows, lost),
                     make_buffer(stream, std::span<const T>(values), "part")});
  }
  const auto rows_of = [&](Part& part) { return ColumnRows<T>{part.values.data() + plane, plane}; };
  const auto pass = [&](const T* from, T* to, const Range& columns) {
    stream.copy(to + columns.begin, from + columns.begin, static_cast<std::size_t>(columns.size()) * sizeof(T),
                CopyDirection::local);
  };
  const Lid all = static_cast<Lid>(plane), half = all / 2;
  for (const Range columns : {Range{0, half}, Range{half, all}})
    for (std::size_t p = 0; p < parts.size(); ++p) {
      const ColumnRows<T> rows = rows_of(parts[p]);
      if (p > 0) pass(rows_of(parts[p - 1]).row(parts[p - 1].rows.size() - 1), rows.row(-1), columns);
      if (p + 1 < parts.size())
        parts[p].direct->eliminate_up(stream, rows, columns);
      else
        parts[p].direct->eliminate(stream, rows, columns);
    }
  for (const Range columns : {Range{half, all}, Range{0, half}})
    for (std::size_t p = parts.size() - 1; p-- > 0;) {
      const ColumnRows<T> rows = rows_of(parts[p]);
      pass(rows_of(parts[p + 1]).row(0), rows.row(parts[p].rows.size()), columns);
      parts[p].direct->substitute_down(stream, rows, columns);
    }
  std::vector<T> result;
  for (Part& part : parts) {
    if (z.singular && lambda[0] == 0) {
      std::vector<T> column;
      for (Lid k = 0; k < z.size(); ++k) column.push_back(f[static_cast<std::size_t>(k * plane)]);
      Buffer<T> null = make_buffer(stream, std::span<const T>(column), "constant column");
      part.direct->solve_null(stream, null.data(), rows_of(part));
      stream.synchronize();
    }
    std::vector<T> values(static_cast<std::size_t>(plane * (part.rows.size() + 2)));
    download(stream, std::span<T>(values), part.values);
    result.insert(result.end(), values.begin() + plane, values.end() - plane);
  }
  return result;
}

TYPED_TEST(DirectGpuBits, are_those_of_the_cpu_after_each_of_its_three_parts) {
  using T = TypeParam;
  if (cuda_device_count() == 0) GTEST_SKIP() << "no GPU on this machine";
  const auto device = make_cuda_device(0);
  const auto stream = device->make_stream("test");
  const FlushDenormals<T> flush;
  for (const Box& box : boxes()) {
    const Lid nx = box.x.size(), ny = box.y.size(), nz = box.z.size();
    SCOPED_TRACE(testing::Message() << nx << " x " << ny << " x " << nz);
    const LineModes x = line_modes(box.x), y = line_modes(box.y);
    const LineOperator z = line_operator(box.z);
    const Size plane = Size{nx} * ny;
    std::vector<T> lambda;
    for (const double b : y.eigenvalues)
      for (const double a : x.eigenvalues) lambda.push_back(static_cast<T>(a + b));
    // The field has ghosts around it, which stay as they are.
    const Size row = nx + 2, field_plane = row * (ny + 2);
    const std::vector<T> field = random_values<T>(field_plane * (nz + 2));
    std::vector<T> expected(plane * nz), got = expected;
    for (Lid k = 0; k < nz; ++k)
      for (Lid j = 0; j < ny; ++j)
        std::copy_n(field.data() + (k + 1) * field_plane + (j + 1) * row + 1, nx,
                    expected.data() + k * plane + Size{j} * nx);

    DirectGpu<T> direct(*stream, x, y, z, lambda, nz);
    const Buffer<T> from = make_buffer(*stream, std::span<const T>(field), "field");
    Buffer<T> values(*device, plane * nz, "values"), back = make_buffer(*stream, std::span<const T>(field), "back");
    // In two pieces: ranges must not matter.
    const Lid cut = nz / 3;
    for (const Range range : {Range{0, cut}, Range{cut, nz}})
      direct.to_modes(*stream, {from.data() + field_plane + row + 1, row, field_plane}, values.data(), range);
    const LineTransform<T> x_to(x, Transform::to_modes, LineAxis::x), y_to(y, Transform::to_modes, LineAxis::y),
        x_from(x, Transform::from_modes, LineAxis::x), y_from(y, Transform::from_modes, LineAxis::y);
    transform_x(x_to.view(), expected.data(), expected.data(), {0, nz * ny});
    if (ny > 1) transform_y(y_to.view(), expected.data(), expected.data(), nx, {0, nz * nx});
    download(*stream, std::span<T>(got), values);
    EXPECT_EQ(differing(got, expected), 0) << "to modes";

    divide(*stream, direct, box, x_to, y_to);

    // The same with some rows in an array of their own, and in two pieces.
    const Range rows{nz / 4, nz - nz / 3};
    Buffer<T> others = make_buffer(*stream, std::span<const T>(got), "others"),
              apart = make_buffer(*stream, std::span<const T>(got).subspan(rows.begin * plane, rows.size() * plane),
                                  "apart");
    const Lid all = static_cast<Lid>(plane), half = all / 2;
    for (const Range range : {Range{0, half}, Range{half, all}})
      direct.eliminate(*stream, {others.data(), plane, rows, apart.data(), plane}, range);
    std::vector<T> joined(got.size()), own(static_cast<std::size_t>(rows.size() * plane));
    download(*stream, std::span<T>(joined), others);
    download(*stream, std::span<T>(own), apart);
    std::copy(own.begin(), own.end(), joined.begin() + rows.begin * plane);

    solve_by_modes_too<T>(*stream, box, lambda, got);
    std::vector<std::vector<T>> passed;
    const std::vector<T> modes = got;
    for (const std::vector<Lid>& cuts :
         {std::vector<Lid>{0, nz / 2, nz}, {0, 1, nz - nz / 3, nz}, {0, nz / 4, nz / 3, nz - 1, nz}})
      if (!z.cyclic && std::adjacent_find(cuts.begin(), cuts.end(), std::greater_equal()) == cuts.end())
        passed.push_back(through_parts<T>(*stream, x, y, z, lambda, modes, cuts));

    direct.eliminate(*stream, {values.data(), plane}, {0, all});
    const Tridiagonal<T> columns(z);
    solve_columns(columns.view(), lambda.data(), ColumnRows<T>{expected.data(), plane}, {0, static_cast<Lid>(plane)});
    download(*stream, std::span<T>(got), values);
    EXPECT_EQ(differing(got, expected), 0) << "columns";
    EXPECT_EQ(differing(joined, expected), 0) << "columns, some rows apart";
    for (const std::vector<T>& parts : passed) EXPECT_EQ(differing(parts, expected), 0) << "columns through parts";

    direct.from_modes(*stream, values.data(), {back.data() + field_plane + row + 1, row, field_plane}, {0, nz});
    if (ny > 1) transform_y(y_from.view(), expected.data(), expected.data(), nx, {0, nz * nx});
    transform_x(x_from.view(), expected.data(), expected.data(), {0, nz * ny});
    std::vector<T> whole = field, got_whole(field.size());
    for (Lid k = 0; k < nz; ++k)
      for (Lid j = 0; j < ny; ++j)
        std::copy_n(expected.data() + k * plane + Size{j} * nx, nx,
                    whole.data() + (k + 1) * field_plane + (j + 1) * row + 1);
    download(*stream, std::span<T>(got_whole), back);
    EXPECT_EQ(differing(got_whole, whole), 0) << "from modes";
  }
}

#if defined(__CUDACC__)
// A thread's values belong into registers. A choice between two places of an array is enough for the compiler to put
// them into memory, which no counter of spilled registers tells.
TYPED_TEST(DirectGpuBits, LinesStayInRegisters) {
  using T = TypeParam;
  if (cuda_device_count() == 0) GTEST_SKIP() << "no GPU on this machine";
  constexpr std::size_t spilled = 64;  // bytes of a thread; the arrays would take 128 or 256
  cudaFuncAttributes rows, columns, modes;
  ASSERT_EQ(cudaFuncGetAttributes(&rows, direct::power_rows_kernel<T, 8, direct::ArrayLines<T>>), cudaSuccess);
  ASSERT_EQ(cudaFuncGetAttributes(&columns, direct::power_columns_kernel<T, 8>), cudaSuccess);
  ASSERT_EQ(cudaFuncGetAttributes(&modes, direct::power_modes_kernel<T, 8>), cudaSuccess);
  EXPECT_LE(rows.localSizeBytes, spilled);
  EXPECT_LE(modes.localSizeBytes, spilled);
  EXPECT_LE(columns.localSizeBytes, spilled);
}
#endif

}  // namespace
}  // namespace tutti::incompressible
