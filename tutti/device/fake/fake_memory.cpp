#include "tutti/device/fake/fake_memory.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

namespace tutti::fake {
namespace {

constexpr int poison = 0xFF;
constexpr std::size_t freed_kept = 64;
constexpr std::size_t shared_bytes = std::size_t{1} << 20;  // of a mapping for many blocks

std::size_t page_size() {
  static const auto size = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  return size;
}

std::size_t round_up(std::size_t bytes, std::size_t unit) {
  return (bytes + unit - 1) / unit * unit;
}

bool is_poison(const char* begin, const char* end) {
  return std::all_of(begin, end, [](char c) { return c == static_cast<char>(poison); });
}

/// Whole pages.
void protect(char* begin, std::size_t bytes, bool readable) noexcept {
  if (mprotect(begin, bytes, readable ? PROT_READ | PROT_WRITE : PROT_NONE) != 0) {
    std::perror("tutti: internal error: the memory of a fake device cannot be protected");
    std::abort();
  }
}

void unmap(char* inside, std::size_t bytes) {
  munmap(inside - page_size(), bytes + 2 * page_size());
}

/// Closes pages, whatever the protection of their mapping, and drops what they hold.
bool guard(char* begin, std::size_t bytes) {
  constexpr int guard_install = 102;  // MADV_GUARD_INSTALL of Linux 6.13: headers may be older
  return madvise(begin, bytes, guard_install) == 0;
}

bool can_guard() {
  static const bool can = [] {
    void* const page = mmap(nullptr, page_size(), PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (page == MAP_FAILED) return false;
    const bool done = guard(static_cast<char*>(page), page_size());
    munmap(page, page_size());
    return done;
  }();
  return can;
}

/// Accesses of this thread under way, by protection key.
std::array<int, 16>& accesses() {
  thread_local std::array<int, 16> all{};
  return all;
}
int protection_key() {
  const int key = pkey_alloc(0, PKEY_DISABLE_ACCESS);  // -1: none is left, or the processor has none
  return key < static_cast<int>(accesses().size()) ? key : -1;
}

struct Registry {
  std::mutex mutex;
  std::vector<std::weak_ptr<Memory>> memories;
};
Registry& registry() {
  static Registry r;
  return r;
}

}  // namespace

Memory::Memory(bool always_open) : key_(always_open ? -1 : protection_key()), users_(always_open ? 1 : 0) {}

Memory::~Memory() {
  for (const Mappings* all : {&mappings_, &freed_})
    for (const Mapping& m : *all) unmap(m.inside, m.bytes);
  if (key_ >= 0) pkey_free(key_);
}

bool Memory::add_mapping(std::size_t least) {
  const std::size_t page = page_size(), bytes = can_guard() ? std::max(least, shared_bytes) : least;
  void* const all = mmap(nullptr, bytes + 2 * page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (all == MAP_FAILED) return false;
  char* const inside = static_cast<char*>(all) + page;
  if (pkey_mprotect(inside, bytes, PROT_READ | PROT_WRITE, key_) != 0) {
    unmap(inside, bytes);
    return false;
  }
  // Fewer pages: a large array is then quickly closed and opened.
  if (bytes >= std::size_t{4} << 20) madvise(inside, bytes, MADV_HUGEPAGE);
  if (closes()) protect(inside, bytes, false);
  // A large block leaves the last one, with its room, in its place.
  mappings_.insert(least < shared_bytes ? mappings_.end() : mappings_.begin(), {inside, bytes, 0, 0});
  return true;
}

void* Memory::allocate(std::size_t bytes) {
  Block block{};
  block.bytes = bytes;
  block.reserved = round_up(bytes, 64);
  block.mapped = round_up(block.reserved, page_size());
  std::lock_guard lock(mutex_);
  const auto has_room = [&] {
    return !mappings_.empty() && mappings_.back().bytes - mappings_.back().used >= block.mapped;
  };
  if (!has_room() && !add_mapping(block.mapped)) return nullptr;
  Mapping& mapping = has_room() ? mappings_.back() : mappings_.front();
  block.pages = mapping.inside + mapping.used;
  mapping.used += block.mapped;
  if (mapping.used < mapping.bytes) {
    guard(mapping.inside + mapping.used, page_size());
    mapping.used += page_size();
  }
  ++mapping.blocks;
  open_pages(block);
  std::memset(block.pages, poison, block.mapped);
  close_pages(block);
  char* const pointer = block.pages + block.mapped - block.reserved;
  blocks_.emplace(pointer, block);
  return pointer;
}

void Memory::deallocate(void* pointer) noexcept {
  std::lock_guard lock(mutex_);
  const auto it = blocks_.find(static_cast<const char*>(pointer));
  if (it == blocks_.end()) return;
  const Block block = it->second;
  const char* const begin = it->first;
  blocks_.erase(it);
  open_pages(block);
  if (!is_poison(block.pages, begin) || !is_poison(begin + block.bytes, begin + block.reserved)) {
    std::fprintf(stderr, "tutti: internal error: something wrote outside an array of %zu bytes of a fake device\n",
                 block.bytes);
    std::abort();
  }
  const auto mapping = std::find_if(mappings_.begin(), mappings_.end(), [&](const Mapping& m) {
    return block.pages >= m.inside && block.pages < m.inside + m.bytes;
  });
  const bool last = --mapping->blocks == 0;
  if (!last) guard(block.pages, block.mapped);
  close_pages(block);  // as all of the mapping: one piece for the system
  if (last) retire(mapping);
}

/// For this thread, or for all.
void Memory::open_pages(const Block& block) noexcept {
  if (key_ >= 0)
    enter();
  else
    protect(block.pages, block.mapped, true);
}
void Memory::close_pages(const Block& block) noexcept {
  if (key_ >= 0)
    leave();
  else
    protect(block.pages, block.mapped, !closes());
}
void Memory::enter() const noexcept {
  if (accesses()[static_cast<std::size_t>(key_)]++ == 0) pkey_set(key_, 0);
}
void Memory::leave() const noexcept {
  if (--accesses()[static_cast<std::size_t>(key_)] == 0) pkey_set(key_, PKEY_DISABLE_ACCESS);
}

void Memory::retire(const Mappings::iterator& mapping) noexcept {
  madvise(mapping->inside, mapping->bytes, MADV_DONTNEED);
  protect(mapping->inside, mapping->bytes, false);
  freed_.push_back(*mapping);
  mappings_.erase(mapping);
  if (freed_.size() <= freed_kept) return;
  unmap(freed_.front().inside, freed_.front().bytes);
  freed_.pop_front();
}

bool Memory::contains(const void* pointer, std::size_t bytes) const {
  std::lock_guard lock(mutex_);
  const char* const begin = static_cast<const char*>(pointer);
  auto it = blocks_.upper_bound(begin);
  if (it == blocks_.begin()) return false;
  --it;
  const auto offset = static_cast<std::size_t>(begin - it->first);
  return offset <= it->second.bytes && bytes <= it->second.bytes - offset;
}

void Memory::open() {
  if (key_ >= 0) return enter();
  std::lock_guard lock(mutex_);
  if (users_++ > 0) return;
  for (const Mapping& m : mappings_) protect(m.inside, m.bytes, true);
}

void Memory::close() noexcept {
  if (key_ >= 0) return leave();
  std::lock_guard lock(mutex_);
  if (--users_ > 0) return;
  for (const Mapping& m : mappings_) protect(m.inside, m.bytes, false);
}

std::shared_ptr<Memory> make_memory(bool always_open) {
  auto memory = std::make_shared<Memory>(always_open);
  Registry& r = registry();
  std::lock_guard lock(r.mutex);
  std::erase_if(r.memories, [](const auto& m) { return m.expired(); });
  r.memories.push_back(memory);
  return memory;
}

std::shared_ptr<Memory> owner_of(const void* pointer, std::size_t bytes) {
  Registry& r = registry();
  std::lock_guard lock(r.mutex);
  for (const auto& weak : r.memories)
    if (auto memory = weak.lock(); memory && memory->contains(pointer, bytes)) return memory;
  return nullptr;
}

}  // namespace tutti::fake
