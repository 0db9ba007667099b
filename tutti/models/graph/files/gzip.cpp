#include <zlib.h>

#include <algorithm>
#include <memory>

#include "tutti/base/error.hpp"
#include "tutti/base/system/machine_limits.hpp"
#include "tutti/models/graph/files/graph_files.hpp"

namespace tutti::graph {
namespace {

constexpr int gzip_window = 15 + 16;  // of zlib: gzip's header instead of its own
constexpr std::size_t step = std::size_t{1} << 22;

/// zlib counts with 32 bits.
uInt part(std::size_t left) {
  return static_cast<uInt>(std::min(left, std::size_t{1} << 30));
}

Bytef* bytes_of(const char* text) {
  return reinterpret_cast<Bytef*>(const_cast<char*>(text));
}

}  // namespace

std::string decompress(std::string_view bytes, const std::string& name) {
  z_stream stream{};
  if (inflateInit2(&stream, gzip_window) != Z_OK)
    fail(ErrorKind::resource, "{}: no memory to decompress the file; use a machine with more memory", name);
  const std::unique_ptr<z_stream, int (*)(z_stream*)> end(&stream, inflateEnd);
  const auto most = static_cast<std::size_t>(read_machine_limits().available);
  std::string content;
  std::size_t read = 0;
  while (read < bytes.size()) {
    const std::size_t before = content.size();
    if (2 * before + step > most)  // it grows by being copied
      fail(ErrorKind::resource, "{}: more than {} bytes when decompressed; use a machine with more memory", name,
           before);
    content.resize(before + step);
    stream.next_in = bytes_of(bytes.data() + read);
    stream.avail_in = part(bytes.size() - read);
    const uInt given = stream.avail_in;
    stream.next_out = bytes_of(content.data() + before);
    stream.avail_out = static_cast<uInt>(step);
    const int code = inflate(&stream, Z_NO_FLUSH);
    read += given - stream.avail_in;
    content.resize(before + step - stream.avail_out);
    if (code == Z_STREAM_END) {  // another member may follow
      if (read == bytes.size()) return content;
      if (inflateReset(&stream) == Z_OK) continue;
    }
    if (code != Z_OK || (given == stream.avail_in && content.size() == before))
      fail(ErrorKind::input, "{}: byte {}: its compressed data are damaged; copy the file again", name, read);
  }
  fail(ErrorKind::input, "{}: its compressed data end too early; the file is truncated", name);
}

std::string compress(std::string_view bytes) {
  z_stream stream{};
  if (deflateInit2(&stream, 6, Z_DEFLATED, gzip_window, 8, Z_DEFAULT_STRATEGY) != Z_OK)
    fail(ErrorKind::resource, "no memory to compress a file; write it without .gz");
  const std::unique_ptr<z_stream, int (*)(z_stream*)> end(&stream, deflateEnd);
  std::string result;
  std::size_t read = 0;
  for (int code = Z_OK; code != Z_STREAM_END;) {
    const std::size_t before = result.size();
    result.resize(before + step);
    stream.next_in = bytes_of(bytes.data() + read);
    stream.avail_in = part(bytes.size() - read);
    const uInt given = stream.avail_in;
    stream.next_out = bytes_of(result.data() + before);
    stream.avail_out = static_cast<uInt>(step);
    code = deflate(&stream, read + given == bytes.size() ? Z_FINISH : Z_NO_FLUSH);
    read += given - stream.avail_in;
    result.resize(before + step - stream.avail_out);
  }
  return result;
}

}  // namespace tutti::graph
