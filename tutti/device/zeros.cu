// Compiles as plain C++ without CUDA.
#include "tutti/device/zeros.hpp"

#include <algorithm>
#include <limits>

#include "tutti/device/for_each.hpp"

namespace tutti {
namespace {

template <class T>
struct SetZero {
  T* values;
  TUTTI_HD void operator()(Lid i) const { values[i] = T(0); }
};

}  // namespace

template <class T>
void set_zeros(Stream& stream, Buffer<T>& buffer) {
  constexpr Size most = std::numeric_limits<Lid>::max();  // of a range
  for (Size first = 0; first < buffer.size(); first += most)
    for_each(stream, {0, static_cast<Lid>(std::min(most, buffer.size() - first))}, SetZero<T>{buffer.data() + first});
  stream.synchronize();
}

template void set_zeros(Stream&, Buffer<double>&);
template void set_zeros(Stream&, Buffer<float>&);

}  // namespace tutti
