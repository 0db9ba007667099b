#include "tutti/exchange/pack.hpp"

#include "tutti/device/for_each.hpp"

namespace tutti {
namespace {

template <class T>
struct PackRow {
  const T* from;
  Lid stride;
  const Lid* rows;
  int components;
  T* to;
  Lid to_stride;
  TUTTI_HD void operator()(Lid i) const {
    const Lid row = rows == nullptr ? i : rows[i];
    for (int c = 0; c < components; ++c)
      to[static_cast<Size>(c) * to_stride + i] = from[static_cast<Size>(c) * stride + row];
  }
};

}  // namespace

template <class T>
void pack_rows(Stream& stream, const FieldView<T>& from, const Lid* rows, Lid count, int components, T* to,
               Lid stride) {
  for_each(stream, {0, count}, PackRow<T>{from.data, from.stride, rows, components, to, stride});
}

template <class T>
void store_rows(Stream& stream, const FieldView<T>& from, const Lid* rows, Lid count, int components, T* to,
                Lid stride) {
  for_each_reaching(stream, {0, count}, PackRow<T>{from.data, from.stride, rows, components, to, stride}, to,
                    static_cast<std::size_t>(count) * static_cast<std::size_t>(components) * sizeof(T));
}

template void pack_rows(Stream&, const FieldView<double>&, const Lid*, Lid, int, double*, Lid);
template void pack_rows(Stream&, const FieldView<float>&, const Lid*, Lid, int, float*, Lid);
template void store_rows(Stream&, const FieldView<double>&, const Lid*, Lid, int, double*, Lid);
template void store_rows(Stream&, const FieldView<float>&, const Lid*, Lid, int, float*, Lid);

}  // namespace tutti
