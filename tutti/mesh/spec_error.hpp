// What generators say when they cannot make what they are asked for.
#pragma once

#include <string>
#include <utility>

#include "tutti/base/error.hpp"

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

}  // namespace tutti
