#include <utility>

#include "tutti/base/error.hpp"
#include "tutti/base/units.hpp"
#include "tutti/partition/partition.hpp"

namespace tutti {
namespace {

template <class Value>
using Names = std::vector<std::pair<std::string, Value>>;

const Names<Partitioner>& partitioners() {
  static const Names<Partitioner> names{{"metis", Partitioner::metis},
                                        {"scotch", Partitioner::scotch},
                                        {"hilbert", Partitioner::hilbert},
                                        {"slabs", Partitioner::slabs},
                                        {"voronoi", Partitioner::voronoi}};
  return names;
}

const Names<Ordering>& orderings() {
  static const Names<Ordering> names{{"native", Ordering::native},
                                     {"hilbert", Ordering::hilbert},
                                     {"metis_blocks", Ordering::metis_blocks},
                                     {"rcm", Ordering::rcm},
                                     {"random", Ordering::random}};
  return names;
}

template <class Value>
std::vector<std::string> words(const Names<Value>& names) {
  std::vector<std::string> result;
  for (const auto& [word, value] : names) result.push_back(word);
  return result;
}

template <class Value>
Value parse(const char* what, const Names<Value>& names, const std::string& text) {
  for (const auto& [word, value] : names) {
    if (word == text) return value;
  }
  const std::string near = nearest_name(text, words(names));
  if (!near.empty()) fail(ErrorKind::usage, "unknown {} \"{}\": did you mean \"{}\"?", what, text, near);
  std::string all;
  for (const auto& [word, value] : names) all += (all.empty() ? "" : ", ") + word;
  fail(ErrorKind::usage, "unknown {} \"{}\": choose one of {}", what, text, all);
}

}  // namespace

Partitioner parse_partitioner(const std::string& name) {
  return parse("partitioner", partitioners(), name);
}

std::vector<std::string> partitioner_names() {
  std::vector<std::string> result;
  for (const auto& [word, value] : partitioners()) {
#ifndef TUTTI_HAVE_SCOTCH
    if (value == Partitioner::scotch) continue;
#endif
    result.push_back(word);
  }
  return result;
}

Ordering parse_ordering(const std::string& name) {
  return parse("ordering", orderings(), name);
}

std::vector<std::string> ordering_names() {
  return words(orderings());
}

}  // namespace tutti
