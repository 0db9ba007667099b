// Gathering rows of a field in device memory.
#pragma once

#include "tutti/exchange/field.hpp"

namespace tutti {

/// Enqueues to[c * stride + i] = component c of row rows[i], for i < count and all components of the field; of row i
/// where `rows` is null. All memory is that of the stream's device.
template <class T>
void pack_rows(Stream& stream, const FieldView<T>& from, const Lid* rows, Lid count, int components, T* to, Lid stride);
/// The same with `to` in the memory of another device, which the stream's one can reach.
template <class T>
void store_rows(Stream& stream, const FieldView<T>& from, const Lid* rows, Lid count, int components, T* to,
                Lid stride);

extern template void pack_rows(Stream&, const FieldView<double>&, const Lid*, Lid, int, double*, Lid);
extern template void pack_rows(Stream&, const FieldView<float>&, const Lid*, Lid, int, float*, Lid);
extern template void store_rows(Stream&, const FieldView<double>&, const Lid*, Lid, int, double*, Lid);
extern template void store_rows(Stream&, const FieldView<float>&, const Lid*, Lid, int, float*, Lid);

}  // namespace tutti
