#include "tutti/base/units.hpp"
#include "tutti/device/device.hpp"

namespace tutti {

void Budget::reserve(const std::string& what, Size bytes) {
  std::lock_guard lock(mutex_);
  if (bytes > capacity_ - used_)
    fail(ErrorKind::resource,
         "{}: no memory for '{}': it needs {}, {} of {} are left; use more devices or a smaller mesh", owner_, what,
         format_bytes(static_cast<double>(bytes)), format_bytes(static_cast<double>(capacity_ - used_)),
         format_bytes(static_cast<double>(capacity_)));
  used_ += bytes;
  if (used_ > peak_) peak_ = used_;
}

void Budget::release(Size bytes) noexcept {
  std::lock_guard lock(mutex_);
  used_ -= bytes;
}

Size Budget::used() const {
  std::lock_guard lock(mutex_);
  return used_;
}

Size Budget::peak() const {
  std::lock_guard lock(mutex_);
  return peak_;
}

}  // namespace tutti
