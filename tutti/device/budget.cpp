#include "tutti/base/units.hpp"
#include "tutti/device/device.hpp"

namespace tutti {

void Budget::reserve(const std::string& what, Size bytes, Memory memory) {
  std::lock_guard lock(mutex_);
  if (++reservations_ == fail_at_)
    fail(ErrorKind::resource,
         "{}: no memory for '{}' of {}: allocation {} fails, as devices.fake_fail_allocation asks; set it to 0", owner_,
         what, format_bytes(static_cast<double>(bytes)), fail_at_);
  if (memory == Memory::pinned) return;
  if (bytes > capacity_ - used_)
    fail(ErrorKind::resource,
         "{}: no memory for '{}': it needs {}, {} of {} are left; use more devices or a smaller mesh", owner_, what,
         format_bytes(static_cast<double>(bytes)), format_bytes(static_cast<double>(capacity_ - used_)),
         format_bytes(static_cast<double>(capacity_)));
  used_ += bytes;
  if (used_ > peak_) peak_ = used_;
}

void Budget::release(Size bytes, Memory memory) noexcept {
  if (memory == Memory::pinned) return;
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
