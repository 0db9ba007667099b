// Arrays of zeros, made where they are: nothing travels to a device.
#pragma once

#include <string>

#include "tutti/device/buffer.hpp"

namespace tutti {

/// Sets all values to 0 and waits: for set-up.
template <class T>
void set_zeros(Stream& stream, Buffer<T>& buffer);

/// `size` zeros in the memory of the stream's device. Error(resource) as Buffer.
template <class T>
Buffer<T> make_zeros(Stream& stream, Size size, const std::string& name) {
  Buffer<T> buffer(stream.device(), size, name);
  set_zeros(stream, buffer);
  return buffer;
}

extern template void set_zeros(Stream&, Buffer<double>&);
extern template void set_zeros(Stream&, Buffer<float>&);

}  // namespace tutti
