// What generators say when they cannot make what they are asked for.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

#include "tutti/base/error.hpp"
#include "tutti/base/system/machine_limits.hpp"
#include "tutti/base/units.hpp"

namespace tutti {

/// A generator was asked for what it cannot make: an Error(usage) that knows the word to change.
class SpecError : public Error {
 public:
  SpecError(std::string word, const std::string& message) : Error(ErrorKind::usage, message), word_(std::move(word)) {}
  /// As in the case: of the table [mesh] "cubes", "upper", "grading", "jitter", "map", "split", "h", of nodes "count",
  /// "m", "sweeps", "separation".
  const std::string& word() const { return word_; }

 private:
  std::string word_;
};

/// Throws SpecError with a message in fmt's notation.
template <class... Args>
[[noreturn]] void fail_spec(const char* word, fmt::format_string<Args...> format, Args&&... args) {
  throw SpecError(word, fmt::format(format, std::forward<Args>(args)...));
}

/// Error(resource) unless memory is left for `count` cells or nodes of `bytes` each: the system promises more than it
/// has, and kills the program that fills it. `who` begins the message ("box"), `advice` ends it.
inline void require_room(double count, double bytes, std::string_view who, std::string_view what,
                         std::string_view advice) {
  const auto left = static_cast<double>(read_machine_limits().available);
  if (!(count * bytes > left)) return;
  fail(ErrorKind::resource, "{}: {:.3g} {} take about {} of memory, and {} are left; {}", who, count, what,
       format_bytes(std::min(count * bytes, 1e21)), format_bytes(left), advice);
}

}  // namespace tutti
