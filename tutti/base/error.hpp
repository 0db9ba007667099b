// Errors a user can meet. The kind fixes the exit code of the program.
#pragma once

#include <fmt/core.h>

#include <stdexcept>
#include <string>
#include <utility>

namespace tutti {

/// Kind of an error = exit code of the program (docs/reference/exit-codes.md).
enum class ErrorKind : int {
  usage = 2,      ///< the command line is wrong
  resource = 3,   ///< memory, a device or a library is missing
  input = 4,      ///< a file's content is wrong
  io = 5,         ///< a file could not be read or written
  numerical = 6,  ///< the computation cannot go on (unstable, NaN)
  peer = 7,       ///< another rank or a device was lost
};

/// The text as one printable line, of 2,000 bytes at most: messages quote names and pieces of files, which may hold
/// line breaks, a terminal's control codes, or megabytes. Control characters become spaces; a long middle is left out.
std::string one_line(std::string text);

/// What the system says about `error` (an errno), and what to do: "No space left on device; free space or choose
/// another folder". 0, where the system gave no reason, is told as that.
std::string system_cause(int error);

/// The one exception type of tutti: `what()` is one line (see one_line) that says what, where and what to do.
class Error : public std::runtime_error {
 public:
  Error(ErrorKind kind, const std::string& message) : std::runtime_error(one_line(message)), kind_(kind) {}
  ErrorKind kind() const { return kind_; }
  int exit_code() const { return static_cast<int>(kind_); }

 private:
  ErrorKind kind_;
};

/// An Error that every rank throws at the same place (Comm::together): one message is enough and all can end in order.
class SharedError : public Error {
 public:
  using Error::Error;
};

/// Throws Error with a message in fmt's notation.
template <class... Args>
[[noreturn]] void fail(ErrorKind kind, fmt::format_string<Args...> format, Args&&... args) {
  throw Error(kind, fmt::format(format, std::forward<Args>(args)...));
}

/// A broken promise between two pieces of tutti: a bug, never a user's mistake.
template <class... Args>
void require(bool condition, fmt::format_string<Args...> format, Args&&... args) {
  if (!condition) throw std::logic_error("internal error: " + fmt::format(format, std::forward<Args>(args)...));
}

}  // namespace tutti
