// The memory of one fake device: separate, poisoned with NaN, and closed to all but the device's own threads.
#pragma once

#include <cstddef>
#include <deque>
#include <map>
#include <memory>
#include <mutex>

namespace tutti::fake {

/// Every block lies between two guard pages, placed so that it ends at the upper one (up to 64-byte alignment). Blocks
/// share mappings, as opening and closing takes a call of the system a mapping: with one a block, tests on fake devices
/// spent most of their time there. Where the processor has protection keys, a thread opens and closes it for itself,
/// and without such a call; else it is open to all threads while one is at work on it. Thread safe.
class Memory {
 public:
  explicit Memory(bool always_open);
  ~Memory();
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;

  /// bytes > 0, all bits set: NaN as double or float, -1 as an integer. Null when the system has none left.
  void* allocate(std::size_t bytes);
  /// Ends the program when something was written next to the block: the write came from a bug that must not stay.
  void deallocate(void* pointer) noexcept;
  /// True when [pointer, pointer + bytes) lies in one block.
  bool contains(const void* pointer, std::size_t bytes) const;

  /// Memory can be touched by this thread from its first open() to its last close().
  void open();
  void close() noexcept;

 private:
  /// Between two pages that are never open. Inside, guard pages are closed by the system (MADV_GUARD_INSTALL); where it
  /// cannot (Linux before 6.13), a mapping has one block.
  struct Mapping {
    char* inside;
    std::size_t bytes;  ///< inside, as all below
    std::size_t used;   ///< from the lower end
    int blocks;         ///< that are not freed
  };
  using Mappings = std::deque<Mapping>;
  struct Block {
    char* pages;           ///< its first page
    std::size_t mapped;    ///< its pages
    std::size_t reserved;  ///< bytes from the block's first one to the upper guard page: `bytes` rounded up to 64
    std::size_t bytes;
  };
  bool closes() const { return key_ < 0 && users_ == 0; }
  void open_pages(const Block& block) noexcept;
  void close_pages(const Block& block) noexcept;
  void enter() const noexcept;
  void leave() const noexcept;
  bool add_mapping(std::size_t least);
  void retire(const Mappings::iterator& mapping) noexcept;

  mutable std::mutex mutex_;
  std::map<const char*, Block> blocks_;  ///< by the address that allocate() returned
  Mappings mappings_;                    ///< new blocks go to the last
  /// Without blocks: addresses stay closed for a while, so that late work on a freed array faults instead of hitting
  /// what the system put there next.
  Mappings freed_;
  int key_;    ///< -1: pages are closed and opened for all threads
  int users_;  ///< without a key
};

/// A new memory that owner_of() knows. `always_open`: to all threads.
std::shared_ptr<Memory> make_memory(bool always_open);
/// The fake device's memory that holds these bytes; null for host memory.
std::shared_ptr<Memory> owner_of(const void* pointer, std::size_t bytes);

/// Opens a memory for as long as it lives.
class Access {
 public:
  explicit Access(std::shared_ptr<Memory> memory) : memory_(std::move(memory)) {
    if (memory_) memory_->open();
  }
  ~Access() {
    if (memory_) memory_->close();
  }
  Access(const Access&) = delete;
  Access& operator=(const Access&) = delete;

 private:
  std::shared_ptr<Memory> memory_;
};

}  // namespace tutti::fake
