// Elements of any type as Lagrange and linear cells: read back by tutti, and by VTK where it is installed.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <filesystem>
#include <fstream>

#include "tutti/base/error.hpp"
#include "tutti/base/system/program.hpp"
#include "tutti/io/vtk/elements_vtu.hpp"
#include "tutti/mesh/elements/element_checks.hpp"
#include "tutti/mesh/elements/generate_element_box.hpp"
#include "tutti/mesh/elements/lagrange.hpp"
#include "tutti/mesh/elements/read_elements.hpp"

namespace tutti {
namespace {

namespace fs = std::filesystem;

class ElementsVtu : public testing::TestWithParam<std::tuple<BoxElements, ElementCells, int>> {
 protected:
  ElementsVtu() {
    ElementBoxSpec s;
    s.elements = std::get<0>(GetParam());
    s.cubes = {5, 1, 2};
    s.order = 2;
    s.map = [](Vec3 p) { return Vec3{p.x + 0.1 * p.z * p.z, p.y + 0.05 * p.x * p.x, p.z + 0.1 * p.y * p.x}; };
    mesh = generate_element_box(s);
    folder = fs::temp_directory_path() / ("tutti_elements_vtu_" + std::to_string(::getpid()));
    fs::create_directories(folder);
  }
  ~ElementsVtu() override {
    std::error_code ignored;
    fs::remove_all(folder, ignored);
  }

  /// Point data f = x + 2 y + 3 z and g = element + f^degree, cell data "element".
  fs::path write(int degree) {
    const std::vector<Vec3> points = sample_points(mesh, order, 0, mesh.element_count());
    const ElementVtuGrid grid(mesh.types, order, points, cells);
    std::vector<double> f, g;
    std::vector<std::int32_t> number;
    std::size_t at = 0;
    for (Gid e = 0; e < mesh.element_count(); ++e) {
      number.push_back(static_cast<std::int32_t>(e));
      for (std::size_t n = lagrange_points(mesh.type(e), order).size(); n > 0; --n, ++at) {
        f.push_back(points[at].x + 2 * points[at].y + 3 * points[at].z);
        g.push_back(static_cast<double>(e) + std::pow(f.back(), degree));
      }
    }
    const auto of_cells = grid.cell_values<std::int32_t>(number);
    const std::vector<VtkArray> point_arrays = {{"f", 1, std::span<const double>(f)},
                                                {"g", 1, std::span<const double>(g)}};
    const std::vector<VtkArray> cell_arrays = {{"element", 1, std::span<const std::int32_t>(of_cells)}};
    const fs::path path = folder / "elements.vtu";
    write_vtu(path, grid.grid(), point_arrays, cell_arrays, {});
    return path;
  }

  ElementMesh mesh;
  ElementCells cells = std::get<1>(GetParam());
  int order = std::get<2>(GetParam());
  fs::path folder;
};

TEST_P(ElementsVtu, IsWhatVtkReads) {
  // In a curved element of order 2, a field of degree d in x has the degree 2 d in the element's coordinates.
  const int degree = cells == ElementCells::lagrange ? order / 2 : 0;
  const fs::path path = write(degree);
  ProgramResult result;
  try {
    result = run_program(
        {"/usr/bin/python3", TUTTI_TEST_DATA "/elements/check_with_vtk.py", path.string(), std::to_string(degree)});
  } catch (const Error& e) {
    GTEST_SKIP() << e.what();
  }
  if (result.status == 77) GTEST_SKIP() << "VTK's Python modules are not installed";
  ASSERT_EQ(result.status, 0) << result.output;
  double volume = 0;
  for (const double v : element_measures(mesh).volumes) volume += v;
  const std::size_t bracket = result.output.find(']');
  ASSERT_NE(bracket, std::string::npos) << result.output;
  // VTK cuts curved cells into a few straight ones.
  EXPECT_NEAR(std::stod(result.output.substr(bracket + 1)), volume, 0.02) << result.output;
  if (cells == ElementCells::lagrange)
    EXPECT_TRUE(result.output.starts_with("[7")) << result.output;
  else
    EXPECT_TRUE(result.output.starts_with("[1")) << result.output;
}

INSTANTIATE_TEST_SUITE_P(All, ElementsVtu,
                         testing::Combine(testing::Values(BoxElements::hexahedra, BoxElements::tetrahedra,
                                                          BoxElements::prisms, BoxElements::pyramids),
                                          testing::Values(ElementCells::lagrange, ElementCells::linear),
                                          testing::Values(2, 4)));
INSTANTIATE_TEST_SUITE_P(Mixed, ElementsVtu,
                         testing::Combine(testing::Values(BoxElements::mixed), testing::Values(ElementCells::lagrange),
                                          testing::Values(3, 6)));

TEST(ElementsVtuFile, IsReadBackAsTheSameElements) {
  ElementBoxSpec s;
  s.cubes = {2, 2, 1};
  s.elements = BoxElements::prisms;
  s.order = 2;
  s.map = [](Vec3 p) { return Vec3{p.x + 0.1 * p.z * p.z, p.y, p.z + 0.1 * p.y * p.x}; };
  for (const BoxElements kind : {BoxElements::hexahedra, BoxElements::tetrahedra, BoxElements::prisms}) {
    s.elements = kind;
    const ElementMesh mesh = generate_element_box(s);
    const fs::path path = fs::temp_directory_path() / ("tutti_elements_" + std::to_string(::getpid()) + ".vtu");
    const ElementVtuGrid grid(mesh.types, 2, sample_points(mesh, 2, 0, mesh.element_count()));
    write_vtu(path, grid.grid(), {}, {}, {});
    const ElementMesh back = read_elements(path);
    EXPECT_EQ(back.types, mesh.types);
    const auto a = element_measures(mesh).volumes, b = element_measures(back).volumes;
    for (std::size_t e = 0; e < a.size(); ++e) EXPECT_NEAR(a[e], b[e], 1e-14);
    fs::remove(path);
  }
}

}  // namespace
}  // namespace tutti
