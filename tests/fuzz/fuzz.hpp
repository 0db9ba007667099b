// What all fuzz targets share: an Error is an answer, anything else is a finding.
#pragma once

#include <cctype>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <initializer_list>
#include <string>
#include <string_view>

#include "tutti/base/error.hpp"
#include "tutti/base/log.hpp"

/// libFuzzer's entry; replay.cpp calls it, too. Whatever the bytes, it returns 0 or ends the process.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace tutti::fuzz {

/// Ends the process: libFuzzer keeps the input, replay.cpp's caller sees a failed test.
[[noreturn]] inline void finding(const std::string& what) {
  std::fprintf(stderr, "finding: %s\n", what.c_str());
  std::abort();
}

inline void check(bool promise, const char* what) {
  if (!promise) finding(what);
}

/// A message is one line, not empty, shows no control character of the input, and quotes it only in part.
inline void check_message(const Error& error, std::initializer_list<ErrorKind> kinds) {
  const std::string_view message = error.what();
  bool known = false;
  for (const ErrorKind kind : kinds) known = known || kind == error.kind();
  if (!known) finding("an error of kind " + std::to_string(error.exit_code()) + ": " + std::string(message));
  if (message.empty() || message.size() > 4000)
    finding("a message of " + std::to_string(message.size()) + " bytes: " + std::string(message.substr(0, 400)));
  for (const char c : message)
    if (std::iscntrl(static_cast<unsigned char>(c)) != 0)
      finding("the message holds byte " + std::to_string(static_cast<unsigned char>(c)) + ": " + std::string(message));
}

/// Runs `read`. True when it returned, false when it threw an Error of one of these kinds with a proper message.
template <class Read>
bool accepts(std::initializer_list<ErrorKind> kinds, Read&& read) {
  static const bool silent = (set_log(LogLevel::quiet, false), true);
  static_cast<void>(silent);
  try {
    read();
    return true;
  } catch (const Error& error) {
    check_message(error, kinds);
  } catch (const std::exception& error) {
    finding(std::string("an exception that is no Error: ") + error.what());
  }
  return false;
}

}  // namespace tutti::fuzz
