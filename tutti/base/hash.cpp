#define XXH_STATIC_LINKING_ONLY  // the state's size; the functions are the shared library's
#include "tutti/base/hash.hpp"

#include <xxhash.h>

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
