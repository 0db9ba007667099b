// The bytes of one array of a VTK file: base64, zlib, headers. Inside the mesh floor only.
#pragma once

#include <string>
#include <string_view>

#include "tutti/base/types.hpp"
#include "tutti/mesh/files/text_source.hpp"

namespace tutti::vtu {

/// What the file says once for all of its arrays.
struct Coding {
  bool swap = false;  ///< the other byte order than this machine's
  int word = 4;       ///< bytes of the numbers in headers: 4 or 8
  bool zlib = false;
};

/// zlib packs at most this many bytes into one (https://zlib.net/zlib_tech.html).
inline constexpr Size largest_ratio = 1032;

/// Reads the array that begins at the source's position and must have `expected` bytes. The result lies in the file or
/// in `storage`. Errors: input, anything that does not fit; nothing is allocated for what cannot be there.
std::string_view read_payload(TextSource& in, const Coding& coding, bool base64, Size expected, std::string& storage);

}  // namespace tutti::vtu
