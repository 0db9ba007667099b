#include "tutti/domain/groups.hpp"

#include <charconv>

#include "tutti/base/error.hpp"

namespace tutti {
namespace {

std::string list_groups(const Groups& groups) {
  if (groups.tags.empty()) return "the mesh has none";
  std::string text = "the mesh has";
  for (const std::int32_t tag : groups.tags) {
    const auto named = groups.names.find(tag);
    text += named == groups.names.end() ? fmt::format(" {}", tag) : fmt::format(" '{}' ({})", named->second, tag);
  }
  return text;
}

}  // namespace

std::int32_t find_group(const std::string& word, const Groups& groups, const char* what, const std::string& where) {
  for (const std::int32_t tag : groups.tags)
    if (const auto named = groups.names.find(tag); named != groups.names.end() && named->second == word) return tag;
  std::int32_t number = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), number);
  if (error == std::errc() && end == word.data() + word.size() && groups.tags.contains(number)) return number;
  fail(ErrorKind::input, "{}: the mesh has no {} '{}'; {}", where, what, word, list_groups(groups));
}

}  // namespace tutti
