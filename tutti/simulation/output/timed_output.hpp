// How long fields took to be written.
#pragma once

#include <chrono>

#include "tutti/base/system/fault.hpp"
#include "tutti/io/trace.hpp"

namespace tutti {

/// Writes fields by `write()`, as a slice of the timeline. Returns the seconds it took.
template <class Write>
double timed_output(Trace& trace, const Write& write) {
  const auto scope = trace.scope("output");
  const auto start = std::chrono::steady_clock::now();
  fault_point("output");
  write();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

}  // namespace tutti
