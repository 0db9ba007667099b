// A named array over one part's IndexMap.
#pragma once

#include <string>

#include "tutti/device/buffer.hpp"
#include "tutti/partition/index_map.hpp"

namespace tutti {

/// What a kernel sees of a field: component c of row i is data[c * stride + i].
template <class T>
struct FieldView {
  T* data = nullptr;
  Lid stride = 0;
  int components = 1;
};

/// `components` values a local row (owned and ghosts) of one part, component after component, on one device.
template <class T>
class Field {
 public:
  Field() = default;
  Field(Device& device, const IndexMap& map, const std::string& name, int components = 1)
      : name_(name),
        stride_(map.local()),
        components_(components),
        buffer_(device, static_cast<Size>(map.local()) * components, name) {}

  const std::string& name() const { return name_; }
  int components() const { return components_; }
  Buffer<T>& buffer() { return buffer_; }
  const Buffer<T>& buffer() const { return buffer_; }
  T* data() { return buffer_.data(); }
  const T* data() const { return buffer_.data(); }
  FieldView<T> view() { return {buffer_.data(), stride_, components_}; }

 private:
  std::string name_;
  Lid stride_ = 0;
  int components_ = 1;
  Buffer<T> buffer_;
};

}  // namespace tutti
