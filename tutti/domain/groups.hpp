// Groups of a mesh that a case names: regions of cells, surfaces.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>

namespace tutti {

struct Groups {
  std::map<std::int32_t, std::string> names;  ///< of those that have one
  std::set<std::int32_t> tags;                ///< in use
};

/// The tag of a group given by name or by number. Error(input) when the mesh has no such group, which lists those that
/// it has; `what`: "region", "surface". `where`: the place in the case.
std::int32_t find_group(const std::string& word, const Groups& groups, const char* what, const std::string& where);

}  // namespace tutti
