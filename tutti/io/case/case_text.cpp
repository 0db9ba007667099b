#include "tutti/io/case/case_text.hpp"

#include <charconv>
#include <optional>
#include <utility>
#include <vector>

#include "tutti/base/error.hpp"

namespace tutti {
namespace {

/// One step of a path: a key, and for "boundary[2]" the index.
struct PathStep {
  std::string key;
  std::optional<std::size_t> index;
};

bool is_key(const std::string& text) {
  return !text.empty() && text.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-") ==
                              std::string::npos;
}

std::optional<PathStep> parse_step(const std::string& text) {
  const auto open = text.find('[');
  PathStep step{text.substr(0, open), {}};
  if (open != std::string::npos) {
    std::size_t index = 0;
    const char* end = text.data() + text.size();
    const auto result = std::from_chars(text.data() + open + 1, end, index);
    if (result.ec != std::errc() || result.ptr + 1 != end || *result.ptr != ']') return {};
    step.index = index;
  }
  return is_key(step.key) ? std::optional(step) : std::nullopt;
}

/// Deeper than any key of any model. A tree is taken apart by recursion, so its depth must be bounded.
constexpr std::size_t deepest_path = 16;

std::vector<PathStep> parse_path(const std::string& path, const std::string& option) {
  std::vector<PathStep> steps;
  for (std::size_t begin = 0; begin <= path.size();) {
    const auto end = std::min(path.find('.', begin), path.size());
    const auto step = parse_step(path.substr(begin, end - begin));
    if (!step)
      fail(ErrorKind::usage, "{}: '{}' is not a key; write e.g. --set time.end=2 or --set boundary[0].value=1", option,
           path);
    steps.push_back(*step);
    if (steps.size() > deepest_path)
      fail(ErrorKind::usage, "{}: the key has more than {} parts; write e.g. --set time.end=2", option, deepest_path);
    begin = end + 1;
  }
  return steps;
}

/// The entry of `table` that `step` names, made when it is not there.
TomlValue& enter(TomlValue& table, const PathStep& step, const std::string& option) {
  auto* entries = table.as<TomlValue::Table>();
  if (entries == nullptr)
    fail(ErrorKind::usage, "{}: '{}' would lie inside {}; only a table has keys", option, step.key, describe(table));
  const TomlPlace place{option, 0, 0};
  auto [it, made] = entries->try_emplace(step.key);
  if (made) {
    it->second.place = it->second.key_place = place;
    if (step.index) it->second.data = TomlValue::List{};
  }
  if (!step.index) return it->second;
  auto* list = it->second.as<TomlValue::List>();
  if (list == nullptr)
    fail(ErrorKind::usage, "{}: '{}' is {}, not a list; write it without [{}]", option, step.key, describe(it->second),
         *step.index);
  if (*step.index > list->size()) {
    fail(ErrorKind::usage, "{}: '{}' has {} entries; the next one is '{}[{}]'", option, step.key, list->size(),
         step.key, list->size());
  }
  if (*step.index == list->size()) {
    list->emplace_back();
    list->back().place = list->back().key_place = place;
  }
  return (*list)[*step.index];
}

void take_out(TomlValue& root, const std::vector<PathStep>& steps) {
  TomlValue* at = &root;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    auto* table = at->as<TomlValue::Table>();
    if (table == nullptr) return;
    const auto it = table->find(steps[i].key);
    if (it == table->end()) return;
    const bool last = i + 1 == steps.size();
    if (last && !steps[i].index) {
      table->erase(it);
      return;
    }
    at = &it->second;
    if (steps[i].index) {
      auto* list = at->as<TomlValue::List>();
      if (list == nullptr || *steps[i].index >= list->size()) return;
      if (last) {
        list->erase(list->begin() + static_cast<std::ptrdiff_t>(*steps[i].index));
        return;
      }
      at = &(*list)[*steps[i].index];
    }
  }
}

void apply(TomlValue& root, const std::string& set) {
  const std::string option = "--set " + set;
  const auto equals = set.find('=');
  if (equals == std::string::npos || equals == 0)
    fail(ErrorKind::usage, "{}: write --set key=value, e.g. --set time.end=2", option);
  const auto steps = parse_path(set.substr(0, equals), option);
  const std::string typed = set.substr(equals + 1);
  if (typed.find_first_not_of(" \t") == std::string::npos) return take_out(root, steps);
  TomlValue* at = &root;
  for (const auto& step : steps) at = &enter(*at, step, option);
  *at = parse_typed_value(typed, option);
}

}  // namespace

TomlValue parse_case_tree(const std::string& text, const std::string& name, std::span<const std::string> sets) {
  TomlValue root = parse_toml(text, name);
  for (const auto& set : sets) apply(root, set);
  return root;
}

}  // namespace tutti
