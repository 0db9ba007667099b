// Gathering rows of a field in device memory.
#pragma once

#include "tutti/exchange/field.hpp"

namespace tutti {

/// Enqueues to[c * count + i] = component c of row rows[i], for i < count and all components of the field. All memory
/// is that of the stream's device.
template <class T>
void pack_rows(Stream& stream, const FieldView<T>& from, const Lid* rows, Lid count, int components, T* to);

extern template void pack_rows(Stream&, const FieldView<double>&, const Lid*, Lid, int, double*);
extern template void pack_rows(Stream&, const FieldView<float>&, const Lid*, Lid, int, float*);

}  // namespace tutti
