#include "tutti/io/hdf5_handle_internal.hpp"

#include <cstdlib>
#include <cstring>

namespace tutti::hdf5 {
namespace {

thread_local std::string last_cause;
thread_local bool failed = false;

/// Keeps what lies at the bottom of an error: there the system's own error number stands, if it was the system.
herr_t remember_cause(hid_t stack, void*) {
  failed = true;
  last_cause = "HDF5 failed";
  const auto look = [](unsigned, const H5E_error2_t* error, void*) -> herr_t {
    const std::string text = error->desc != nullptr ? error->desc : "";
    last_cause = text;
    const std::string mark = "errno = ";
    if (const auto at = text.find(mark); at != std::string::npos)
      last_cause = std::strerror(std::atoi(text.c_str() + at + mark.size()));
    return 0;
  };
  H5Ewalk2(stack, H5E_WALK_DOWNWARD, look, nullptr);
  return 0;
}

}  // namespace

void start() {
  static const bool once = [] {
    H5dont_atexit();
    H5open();
    return true;
  }();
  (void)once;
  H5Eset_auto2(H5E_DEFAULT, remember_cause, nullptr);
  last_cause = "HDF5 failed";
  failed = false;
}

const std::string& cause() {
  return last_cause;
}

bool any_failed() {
  return failed;
}

}  // namespace tutti::hdf5
