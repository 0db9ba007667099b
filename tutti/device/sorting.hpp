// Sorting on a device.
#pragma once

#include "tutti/device/device.hpp"

namespace tutti {

/// Two arrays of one length in the memory of a device. Without values the keys are sorted alone.
struct KeyedValues {
  std::uint64_t* keys = nullptr;
  std::int32_t* values = nullptr;
};

/// Bytes of scratch memory that sort_by_key wants, with values and without.
Size sort_scratch_bytes(Stream& stream, Size count, int bits);

/// Sorts by the lowest `bits` bits of the keys, where all others are 0; values of equal keys keep their order. Which of
/// the two holds the result then; the other one holds nothing of use. `scratch`: of sort_scratch_bytes().
KeyedValues sort_by_key(Stream& stream, KeyedValues pairs, KeyedValues spare, Size count, int bits, void* scratch);

}  // namespace tutti
