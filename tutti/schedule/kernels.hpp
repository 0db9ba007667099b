// What a pass enqueues for a part, as values: so that it is known whether it is the same as before.
#pragma once

#include <cstring>
#include <type_traits>
#include <vector>

#include "tutti/base/field_bytes.hpp"
#include "tutti/device/device.hpp"
#include "tutti/partition/cell_box.hpp"

namespace tutti {

/// Functors that are called one after the other with a stream and the rows to compute: f(stream, range), or on a grid
/// f(stream, box, range) for the cells of the box with numbers `range`. Each is an aggregate, trivially copyable, whose
/// members say all that it enqueues: arrays, sizes and numbers. What it points to on the host must not change.
class Kernels {
 public:
  /// `key`: the members of all functors are appended to it; null where nobody asks. It must outlive this.
  explicit Kernels(std::vector<char>* key = nullptr) : key_(key) {}

  template <class F>
  void add(const F& f) {
    static_assert(std::is_trivially_copyable_v<F> && std::is_aggregate_v<F>, "its members must say what it enqueues");
    static_assert(alignof(F) <= alignof(Unit));
    const Call call = [](const void* functor, Stream& stream, [[maybe_unused]] const CellBox& box, Range range) {
      const F& called = *static_cast<const F*>(functor);
      if constexpr (std::is_invocable_v<const F&, Stream&, Range>)
        called(stream, range);
      else
        called(stream, box, range);
    };
    entries_.push_back({call, memory_.size()});
    memory_.resize(memory_.size() + (sizeof(F) + sizeof(Unit) - 1) / sizeof(Unit));
    std::memcpy(&memory_[entries_.back().at], &f, sizeof(F));
    if (key_ == nullptr) return;
    append_field_bytes(*key_, call);
    append_field_bytes(*key_, f);
  }
  void clear() {
    entries_.clear();
    memory_.clear();
  }
  void enqueue(Stream& stream, const CellBox& box, Range range) const {
    for (const Entry& entry : entries_) entry.call(&memory_[entry.at], stream, box, range);
  }

 private:
  using Call = void (*)(const void* functor, Stream&, const CellBox&, Range);
  struct Entry {
    Call call;
    std::size_t at;  ///< in memory_
  };
  struct alignas(16) Unit {
    std::byte bytes[16];
  };
  std::vector<Entry> entries_;
  std::vector<Unit> memory_;
  std::vector<char>* key_;
};

}  // namespace tutti
