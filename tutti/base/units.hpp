// Numbers as people read them.
#pragma once

#include <string>

#include "tutti/base/types.hpp"

namespace tutti {

/// "1.5 GiB", "32 B": binary units, three significant digits.
std::string format_bytes(double bytes);
/// "12 s", "3 min 20 s", "2 h 5 min".
std::string format_duration(double seconds);
/// "614,774".
std::string format_count(Size n);
/// Bytes from "512M", "2GiB", "4096": binary factors K, M, G, T. Throws Error(usage) naming `what`.
Size parse_bytes(const std::string& text, const std::string& what);
/// The candidate with the smallest edit distance to `word`, empty when none is near enough to be a slip.
template <class Container>
std::string nearest_name(const std::string& word, const Container& candidates);
/// Letters put in, left out, replaced, or exchanged with the next one, that make `b` of `a`.
int edit_distance(const std::string& a, const std::string& b);

template <class Container>
std::string nearest_name(const std::string& word, const Container& candidates) {
  std::string best;
  int best_distance = 1 + static_cast<int>(word.size()) / 2;
  for (const auto& c : candidates) {
    const int d = edit_distance(word, std::string(c));
    if (d < best_distance) {
      best_distance = d;
      best = std::string(c);
    }
  }
  return best;
}

}  // namespace tutti
