// Threads that may not be had.
#pragma once

#include <system_error>
#include <thread>
#include <utility>

#include "tutti/base/error.hpp"

namespace tutti {

/// A thread that does `work`. Error(resource): the system gives none; `purpose` says what it is for.
template <class Work>
std::thread start_thread(const char* purpose, Work&& work) {
  try {
    return std::thread(std::forward<Work>(work));
  } catch (const std::system_error& error) {
    fail(ErrorKind::resource, "the system cannot start a thread for {}: {}", purpose,
         system_cause(error.code().value()));
  }
}

}  // namespace tutti
