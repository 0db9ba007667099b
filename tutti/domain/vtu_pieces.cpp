#include "tutti/domain/vtu_pieces.hpp"

#include <numeric>

namespace tutti {

VtuPieces::VtuPieces(const Domain& domain) {
  all.resize(domain.rank_of_part.size());
  std::iota(all.begin(), all.end(), 0);
  for (std::size_t p = 0; p < domain.mine(); ++p) {
    mine.push_back({p, domain.part(p), domain.owned(p), domain.owned_count(p)});
    owner_.emplace_back(static_cast<std::size_t>(domain.owned_count(p)), domain.part(p));
  }
}

void VtuPieces::write(const std::filesystem::path& path, std::size_t i, std::span<const VtkArray> arrays,
                      const VtkOptions& options) const {
  if (at_points())
    write_vtu(path, grids_[i], arrays, {}, options);
  else
    write_vtu(path, grids_[i], arrays, options);
}

void VtuPieces::join(const std::filesystem::path& path, const std::vector<std::string>& files,
                     std::span<const VtkArray> arrays, std::optional<double> time) const {
  if (at_points())
    write_pvtu(path, files, {}, time, arrays);
  else
    write_pvtu(path, files, arrays, time);
}

}  // namespace tutti
