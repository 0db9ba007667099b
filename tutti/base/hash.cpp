#define XXH_INLINE_ALL  // compiled here, for this machine's vector units: three times as fast as the shared library's
#include "tutti/base/hash.hpp"

// GCC 12 takes its own AVX-512 intrinsics for uninitialised (GCC bug 105593).
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wuninitialized"
#include <xxhash.h>
#pragma GCC diagnostic pop

namespace tutti {

struct Hasher::State {
  XXH3_state_t xxh;
};

Hasher::Hasher() : state_(std::make_unique<State>()) {
  XXH3_64bits_reset(&state_->xxh);
}
Hasher::~Hasher() = default;

void Hasher::add(std::span<const char> bytes) {
  XXH3_64bits_update(&state_->xxh, bytes.data(), bytes.size());
}

std::uint64_t Hasher::digest() const {
  return XXH3_64bits_digest(&state_->xxh);
}

std::uint64_t hash_bytes(std::span<const char> bytes) {
  return XXH3_64bits(bytes.data(), bytes.size());
}

}  // namespace tutti
