// What all users of the HDF5 library share. Inside the io floor only.
#pragma once

#include <hdf5.h>

#include <string>
#include <utility>

namespace tutti::hdf5 {

/// An HDF5 identifier that closes itself.
class Handle {
 public:
  Handle(hid_t id, herr_t (*closer)(hid_t)) : id_(id), close_(closer) {}
  Handle(Handle&& other) noexcept : id_(std::exchange(other.id_, -1)), close_(other.close_) {}
  Handle& operator=(Handle&&) = delete;
  ~Handle() {
    if (id_ >= 0) close_(id_);
  }
  hid_t get() const { return id_; }
  bool valid() const { return id_ >= 0; }
  /// Closes now; false if that failed (then data may be lost).
  bool close() { return close_(std::exchange(id_, -1)) >= 0; }

 private:
  hid_t id_;
  herr_t (*close_)(hid_t);
};

/// Before the first call on this thread: errors are neither printed nor flushed at the program's end, and start anew.
void start();
/// Why the last call failed that did, on this thread.
const std::string& cause();
/// Any call has failed on this thread since start(), be it the closing of a handle that nobody looked at.
bool any_failed();

}  // namespace tutti::hdf5
