#include "tutti/device/fake/fake_memory.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

namespace tutti::fake {
namespace {

constexpr int poison = 0xFF;
constexpr std::size_t freed_kept = 64;

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

struct Registry {
  std::mutex mutex;
  std::vector<std::weak_ptr<Memory>> memories;
};
Registry& registry() {
  static Registry r;
  return r;
}

}  // namespace

Memory::~Memory() {
  for (const auto& [pointer, block] : blocks_) munmap(block.mapping, block.mapped);
  for (const Block& block : freed_) munmap(block.mapping, block.mapped);
}

void* Memory::allocate(std::size_t bytes) {
  const std::size_t page = page_size();
  Block block{};
  block.bytes = bytes;
  block.reserved = round_up(bytes, 64);
  block.mapped = round_up(block.reserved, page) + 2 * page;
  void* mapping = mmap(nullptr, block.mapped, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (mapping == MAP_FAILED) return nullptr;
  block.mapping = static_cast<char*>(mapping);
  char* const inside = block.mapping + page;
  const std::size_t inside_bytes = block.mapped - 2 * page;
  if (mprotect(inside, inside_bytes, PROT_READ | PROT_WRITE) != 0) {
    munmap(mapping, block.mapped);
    return nullptr;
  }
  // Fewer pages: a large array is then quickly closed and opened.
  if (inside_bytes >= std::size_t{4} << 20) madvise(inside, inside_bytes, MADV_HUGEPAGE);
  std::memset(inside, poison, inside_bytes);

  char* const pointer = inside + inside_bytes - block.reserved;
  std::lock_guard lock(mutex_);
  if (users_ == 0) protect(block, false);
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
  protect(block, true);
  if (!is_poison(block.mapping + page_size(), begin) || !is_poison(begin + block.bytes, begin + block.reserved)) {
    std::fprintf(stderr, "tutti: internal error: something wrote outside an array of %zu bytes of a fake device\n",
                 block.bytes);
    std::abort();
  }
  retire(block);
}

void Memory::retire(const Block& block) noexcept {
  madvise(block.mapping + page_size(), block.mapped - 2 * page_size(), MADV_DONTNEED);
  protect(block, false);
  freed_.push_back(block);
  if (freed_.size() <= freed_kept) return;
  munmap(freed_.front().mapping, freed_.front().mapped);
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

void Memory::protect(const Block& block, bool readable) const noexcept {
  const std::size_t page = page_size();
  if (mprotect(block.mapping + page, block.mapped - 2 * page, readable ? PROT_READ | PROT_WRITE : PROT_NONE) != 0) {
    std::perror("tutti: internal error: the memory of a fake device cannot be protected");
    std::abort();
  }
}

void Memory::open() {
  std::lock_guard lock(mutex_);
  if (users_++ > 0) return;
  for (const auto& [pointer, block] : blocks_) protect(block, true);
}

void Memory::close() noexcept {
  std::lock_guard lock(mutex_);
  if (--users_ > 0) return;
  for (const auto& [pointer, block] : blocks_) protect(block, false);
}

std::shared_ptr<Memory> make_memory() {
  auto memory = std::make_shared<Memory>();
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
