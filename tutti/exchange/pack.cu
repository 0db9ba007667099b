#include "tutti/exchange/pack.hpp"

#include "tutti/device/for_each.hpp"

namespace tutti {
namespace {

template <class T>
struct PackRow {
  const T* from;
  Lid stride;
  const Lid* rows;
  Lid count;
  int components;
  T* to;
  TUTTI_HD void operator()(Lid i) const {
    for (int c = 0; c < components; ++c)
      to[static_cast<Size>(c) * count + i] = from[static_cast<Size>(c) * stride + rows[i]];
  }
};

}  // namespace

template <class T>
void pack_rows(Stream& stream, const FieldView<T>& from, const Lid* rows, Lid count, int components, T* to) {
  for_each(stream, {0, count}, PackRow<T>{from.data, from.stride, rows, count, components, to});
}

template void pack_rows(Stream&, const FieldView<double>&, const Lid*, Lid, int, double*);
template void pack_rows(Stream&, const FieldView<float>&, const Lid*, Lid, int, float*);

}  // namespace tutti
