// 64-bit checksums (XXH3) of bytes: quick enough to protect everything that is written.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

namespace tutti {

/// Takes bytes piece by piece; the digest does not depend on how they were cut.
class Hasher {
 public:
  Hasher();
  ~Hasher();
  Hasher(const Hasher&) = delete;
  Hasher& operator=(const Hasher&) = delete;
  void add(std::span<const char> bytes);
  std::uint64_t digest() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

std::uint64_t hash_bytes(std::span<const char> bytes);

}  // namespace tutti
