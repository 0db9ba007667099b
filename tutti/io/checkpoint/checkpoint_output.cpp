#include "tutti/io/checkpoint/checkpoint_output.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <future>
#include <system_error>
#include <utility>

#include "tutti/base/error.hpp"
#include "tutti/base/system/atomic_file.hpp"

namespace tutti {
namespace {

constexpr std::size_t cached_piece = std::size_t{1} << 20;  // looked at and written while it is in a core's cache
constexpr std::size_t direct_piece = std::size_t{4} << 20;  // less, and the disk waits between pieces
constexpr const char* write_advice =
    "the previous checkpoint is kept; free space or choose another disk, then continue with --restart";

std::size_t remainder(const char* address) {
  return static_cast<std::size_t>(reinterpret_cast<std::uintptr_t>(address) % CheckpointOutput::block);
}

}  // namespace

CheckpointOutput::CheckpointOutput(std::filesystem::path path, int flags)
    : path_(std::move(path)), file_(open_file(path_, flags)), flags_(flags) {
  if (file_ < 0)
    fail(ErrorKind::io, "{}: cannot be opened: {}; {}", path_.string(), std::strerror(errno), write_advice);
}

CheckpointOutput::~CheckpointOutput() {
  if (file_ >= 0) ::close(file_);
}

/// Writes at least one byte of them; how many.
std::size_t CheckpointOutput::write_some(std::span<const char> bytes, Size offset) {
  while (true) {
    const ssize_t n = ::pwrite(file_, bytes.data(), bytes.size(), static_cast<off_t>(offset));
    if (n > 0) {
      if ((flags_ & O_DIRECT) != 0) bytes_past_cache_ += n;
      return static_cast<std::size_t>(n);
    }
    if (n < 0 && errno == EINTR) continue;
    // What the file system wants of such writes is more than `block`, or some bytes were not taken before.
    if (n < 0 && errno == EINVAL && pass_cache(false)) {
      can_pass_cache_ = false;
      continue;
    }
    fail(ErrorKind::io, "{}: {} bytes are not written at byte {}: {}; {}", path_.string(), bytes.size(), offset,
         n < 0 ? std::strerror(errno) : "nothing more was taken", write_advice);
  }
}

void CheckpointOutput::write(std::span<const char> bytes, Size offset) {
  while (!bytes.empty()) {
    const std::size_t n = write_some(bytes, offset);
    bytes = bytes.subspan(n);
    offset += static_cast<Size>(n);
  }
}

/// Sets whether writes pass the system's cache. False: it was so before, or the file system cannot.
bool CheckpointOutput::pass_cache(bool on) {
  const int flags = on ? flags_ | O_DIRECT : flags_ & ~O_DIRECT;
  if (flags == flags_ || ::fcntl(file_, F_SETFL, flags) != 0) return false;
  flags_ = flags;
  return true;
}

/// The bytes, or a copy of them, at the address of a whole block. The copy before stays as it is.
std::span<const char> CheckpointOutput::at_a_block(std::span<const char> bytes) {
  if (remainder(bytes.data()) == 0) return bytes;
  std::swap(copies_[0], copies_[1]);
  if (!copies_[0]) copies_[0] = std::make_unique_for_overwrite<char[]>(direct_piece + block);
  char* to = copies_[0].get() + (block - remainder(copies_[0].get())) % block;
  std::memcpy(to, bytes.data(), bytes.size());
  return {to, bytes.size()};
}

void CheckpointOutput::write_large(std::span<const char> bytes, Size offset,
                                   const std::function<void(std::span<const char>)>& look) {
  const auto next = [&](std::size_t size) {
    const auto piece = bytes.first(size);
    bytes = bytes.subspan(size);
    look(piece);
    return std::pair{piece, std::exchange(offset, offset + static_cast<Size>(size))};
  };
  const std::size_t head = (block - static_cast<std::size_t>(offset) % block) % block;
  if (bytes.size() >= head + cached_piece && can_pass_cache_) {
    if (head > 0) {
      const auto [piece, at] = next(head);
      write(piece, at);
    }
    // Such a write sleeps until the disk has the bytes, so the next piece is looked at meanwhile.
    can_pass_cache_ = pass_cache(true);
    std::future<void> under_way;
    bool direct = can_pass_cache_;
    while (bytes.size() >= block && direct) {
      const auto [piece, at] = next(std::min(direct_piece, bytes.size() / block * block));
      const auto ready = at_a_block(piece);
      if (under_way.valid()) under_way.get();
      direct = can_pass_cache_;
      try {
        under_way = std::async(std::launch::async, [this, ready, at = at] { write(ready, at); });
      } catch (const std::system_error&) {  // no thread is to be had
        write(ready, at);
      }
    }
    if (under_way.valid()) under_way.get();
    pass_cache(false);
  }
  while (!bytes.empty()) {
    const auto [piece, at] = next(std::min(cached_piece, bytes.size()));
    write(piece, at);
    // The disk begins with it while the next piece is looked at.
    ::sync_file_range(file_, at, static_cast<off_t>(piece.size()), SYNC_FILE_RANGE_WRITE);
  }
}

void CheckpointOutput::read(std::span<char> bytes, Size offset) {
  std::size_t done = 0;
  while (done < bytes.size()) {
    const ssize_t n =
        ::pread(file_, bytes.data() + done, bytes.size() - done, static_cast<off_t>(offset) + static_cast<off_t>(done));
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0)
      fail(ErrorKind::io, "{}: cannot be read back at byte {}: {}; {}", path_.string(), offset,
           n < 0 ? std::strerror(errno) : "the file ends", write_advice);
    done += static_cast<std::size_t>(n);
  }
}

void CheckpointOutput::sync(Size bytes) {
  if (::fsync(file_) != 0)
    fail(ErrorKind::io, "{}: {} bytes cannot be made durable (fsync): {}; {}", path_.string(), bytes,
         std::strerror(errno), write_advice);
}

void CheckpointOutput::close(Size bytes) {
  if (::close(std::exchange(file_, -1)) != 0)
    fail(ErrorKind::io, "{}: cannot be closed after {} bytes: {}; {}", path_.string(), bytes, std::strerror(errno),
         write_advice);
}

}  // namespace tutti
