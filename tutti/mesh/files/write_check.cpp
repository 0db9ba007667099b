#include "tutti/mesh/files/write_check.hpp"

#include <limits>
#include <string>

#include "tutti/base/error.hpp"

namespace tutti {

void check_writable(const TetMesh& mesh, const std::filesystem::path& path) {
  const auto refuse = [&](const std::string& why) {
    fail(ErrorKind::input, "{}: the mesh cannot be written: {}", path.string(), why);
  };
  if (mesh.regions.size() != mesh.cells.size()) refuse("it needs one region per cell");
  if (mesh.boundary_tags.size() != mesh.boundary.size()) refuse("it needs one boundary tag per triangle");
  for (const std::int32_t r : mesh.regions)
    if (r < 0 || r >= std::numeric_limits<std::int32_t>::max() - 1)
      refuse(fmt::format("region {} is not possible; 0 to 2147483645 is expected", r));
  for (const std::int32_t t : mesh.boundary_tags)
    if (t < (mesh.is_surface() ? 0 : 1))
      refuse(fmt::format("boundary tag {} is not positive; at least 1 is expected", t));
  for (const CellData& d : mesh.cell_data) {
    if (d.components != 1 && d.components != 3 && d.components != 9)
      refuse(fmt::format("data '{}' has {} components; 1, 3 or 9 are possible", d.name, d.components));
    const std::size_t rows = mesh.is_surface() ? mesh.boundary.size() : mesh.cells.size();
    if (d.values.size() != rows * static_cast<std::size_t>(d.components))
      refuse(
          fmt::format("data '{}' has {} values for {} cells of {} components; one per cell and component is expected",
                      d.name, d.values.size(), rows, d.components));
  }
}

}  // namespace tutti
