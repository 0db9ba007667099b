#include "tutti/mesh/files/point_values.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "tests/support/own_folder.hpp"
#include "tutti/base/error.hpp"

namespace tutti {
namespace {

using testing::HasSubstr;

constexpr const char* vtu =
    "<VTKFile type=\"UnstructuredGrid\"><UnstructuredGrid><Piece NumberOfPoints=\"1\" NumberOfCells=\"1\">"
    "<CellData><DataArray type=\"Float64\" Name=\"v\" NumberOfComponents=\"2\" format=\"ascii\">3 "
    "4</DataArray></CellData>"
    "<Points><DataArray type=\"Float64\" NumberOfComponents=\"3\" format=\"ascii\">1 2 3</DataArray></Points><Cells>"
    "<DataArray type=\"Int64\" Name=\"connectivity\" format=\"ascii\">0</DataArray>"
    "<DataArray type=\"Int64\" Name=\"offsets\" format=\"ascii\">1</DataArray>"
    "<DataArray type=\"UInt8\" Name=\"types\" "
    "format=\"ascii\">1</DataArray></Cells></Piece></UnstructuredGrid></VTKFile>";

std::filesystem::path write(const char* name, const char* text) {
  std::ofstream(test::own_folder() / name) << text;
  return test::own_folder() / name;
}

std::string error_of(const std::filesystem::path& path, const std::string& name) {
  try {
    (void)read_point_values(path, name);
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

TEST(PointValues, are_those_of_a_component) {
  const auto path = write("a.vtu", vtu);
  EXPECT_EQ(read_point_values(path, "").values, std::vector<double>{3});
  EXPECT_EQ(read_point_values(path, "v[1]").values, std::vector<double>{4});
  for (const char* name : {"v[2]", "v[-1]"}) EXPECT_THAT(error_of(path, name), HasSubstr("take one of 0 to 1")) << name;
  EXPECT_THAT(error_of(path, "w"), HasSubstr("there is no quantity 'w'; take one of v"));
}

TEST(PointValues, of_series_that_name_themselves_are_refused) {
  const auto path = write("a.pvd", "<VTKFile><Collection><DataSet file=\"a.pvd\"/></Collection></VTKFile>");
  EXPECT_THAT(error_of(path, ""), HasSubstr("a file of VTK is expected"));
  write("results.vtkhdf", "");
  EXPECT_THAT(error_of(test::own_folder(), ""), HasSubstr("its results are VTKHDF"));
}

}  // namespace
}  // namespace tutti
