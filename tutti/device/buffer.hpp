// Owning, move-only memory on one device. Nothing is copied implicitly.
#pragma once

#include <span>
#include <string>
#include <type_traits>
#include <utility>

#include "tutti/device/device.hpp"

namespace tutti {

/// `size` values of T in the memory of `device` (or pinned host memory for it), charged to the device's budget under
/// `name`. Device memory is uninitialised (the fake device fills it with NaN). The device must outlive the buffer.
template <class T>
class Buffer {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  Buffer() = default;
  /// Error(resource) when the budget or the machine has no room; it names the array.
  Buffer(Device& device, Size size, const std::string& name, Memory memory = Memory::device)
      : device_(&device), size_(size), memory_(memory) {
    if (size == 0) return;
    device.budget().reserve(name, bytes(), memory);
    try {
      data_ = static_cast<T*>(device.allocate(static_cast<std::size_t>(bytes()), memory));
    } catch (...) {
      device.budget().release(bytes(), memory);
      throw;
    }
  }
  ~Buffer() { reset(); }
  Buffer(Buffer&& other) noexcept { swap(other); }
  Buffer& operator=(Buffer&& other) noexcept {
    if (this != &other) {
      reset();
      swap(other);
    }
    return *this;
  }
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;

  T* data() { return data_; }
  const T* data() const { return data_; }
  Size size() const { return size_; }
  Size bytes() const { return size_ * static_cast<Size>(sizeof(T)); }
  bool empty() const { return size_ == 0; }
  /// Only for memory that the host may touch: pinned, or on a host device.
  std::span<T> span() { return {data_, static_cast<std::size_t>(size_)}; }
  std::span<const T> span() const { return {data_, static_cast<std::size_t>(size_)}; }

  void swap(Buffer& other) noexcept {
    std::swap(device_, other.device_);
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    std::swap(memory_, other.memory_);
  }

 private:
  void reset() noexcept {
    if (data_ != nullptr) {
      device_->deallocate(data_, static_cast<std::size_t>(bytes()), memory_);
      device_->budget().release(bytes(), memory_);
    }
    data_ = nullptr;
    size_ = 0;
  }
  Device* device_ = nullptr;
  T* data_ = nullptr;
  Size size_ = 0;
  Memory memory_ = Memory::device;
};

/// Copies host values into a buffer and waits: for set-up, not for steps. `to.size() >= from.size()`.
template <class T>
void upload(Stream& stream, Buffer<T>& to, std::span<const T> from) {
  if (from.empty()) return;
  stream.copy(to.data(), from.data(), from.size_bytes(), CopyDirection::to_device);
  stream.synchronize();
}

/// Copies the first to.size() values of a buffer to the host and waits.
template <class T>
void download(Stream& stream, std::span<T> to, const Buffer<T>& from) {
  if (to.empty()) return;
  stream.copy(to.data(), from.data(), to.size_bytes(), CopyDirection::to_host);
  stream.synchronize();
}

/// The same from any place in a buffer.
template <class T>
void download(Stream& stream, std::span<T> to, const T* from) {
  if (to.empty()) return;
  stream.copy(to.data(), from, to.size_bytes(), CopyDirection::to_host);
  stream.synchronize();
}

/// A buffer with the values of `from`.
template <class T>
Buffer<T> make_buffer(Stream& stream, std::span<const T> from, const std::string& name) {
  Buffer<T> buffer(stream.device(), static_cast<Size>(from.size()), name);
  upload(stream, buffer, from);
  return buffer;
}

}  // namespace tutti
