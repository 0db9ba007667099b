#include "tutti/residency/residency.hpp"

#include <algorithm>
#include <cstring>
#include <vector>

namespace tutti {
namespace {

constexpr Size piece_bytes = Size{32} << 20;  // of doubles, that set-up holds at a time

Size room_of(Device& device, Size leave_bytes) {
  return std::max(Size{0}, device.budget().capacity() - device.budget().used() - leave_bytes);
}

}  // namespace

/// A buffer for chunks on the device.
struct Residency::Window {
  Buffer<std::byte> memory;
  Buffer<std::byte> staging;  ///< pinned, for rows in ordinary memory
  std::unique_ptr<Event> filled, free, staging_free;
  Lid chunk = no_lid;   ///< that it holds
  bool in_use = false;  ///< `free` tells when its readers are done
  Size last_used = 0;
};

RowSource row_source(const std::string& name, int width, std::span<const double> values) {
  const auto fill = [values, width](Range rows, std::span<double> to) {
    const auto from = values.subspan(static_cast<std::size_t>(rows.begin) * static_cast<std::size_t>(width), to.size());
    std::copy(from.begin(), from.end(), to.begin());
  };
  return {name, static_cast<Lid>(values.size() / static_cast<std::size_t>(width)), width, fill};
}

Residency::Residency(Stream& stream, const RowSource& source, const ResidencyOptions& options)
    : stream_(stream),
      options_(options),
      layout_(make_row_layout(options.format, source.width, options.rate, options.group)),
      copies_(&stream) {
  Device& device = stream.device();
  if ((options.policy == Policy::compressed) == is_exact(options.format) &&
      (options.policy == Policy::compressed || options.policy == Policy::resident))
    fail(ErrorKind::input, "'{}': residency.policy \"{}\" does not go with rows as {}; set residency.format",
         source.name, policy_name(options.policy), layout_.name());
  placement_ = place_rows(layout_, source.rows, options.policy, room_of(device, options.leave_bytes),
                          options.chunk_bytes, device.name(), source.name);
  if (source.rows > 0 && layout_.format == ValueFormat::zfp)
    table_ = make_buffer(stream, std::span<const std::uint16_t>(host_plane_table(), zfp::table_size),
                         source.name + ": zfp's table");
  resident_ = Buffer<std::byte>(device, layout_.bytes(placement_.resident), source.name);
  if (!placement_.fits()) {
    if (options.policy == Policy::managed) managed_ = make_managed_memory(device, placement_.host_bytes);
    if (!managed_ && options.pinned)
      pinned_ = Buffer<std::byte>(device, placement_.host_bytes, source.name, Memory::pinned);
    else if (!managed_)
      pageable_.resize(static_cast<std::size_t>(placement_.host_bytes));
    if (options.policy != Policy::overlaid) {
      own_stream_ = device.make_stream("residency");
      copies_ = own_stream_.get();
    }
    mark_ = device.make_event();
    windows_.resize(static_cast<std::size_t>(placement_.buffers));
    const Size bytes = layout_.bytes(placement_.chunk);
    for (Window& window : windows_) {
      // Pages that are moved to the device take as much of it as a buffer.
      window.memory = Buffer<std::byte>(device, bytes, source.name + ": a buffer");
      if (!pageable_.empty())
        window.staging = Buffer<std::byte>(device, bytes, source.name + ": a buffer", Memory::pinned);
      window.filled = device.make_event();
      window.free = device.make_event();
      window.staging_free = device.make_event();
    }
  }
  load(source);
}

Residency::~Residency() {
  try {
    stream_.synchronize();  // after an error, too, nothing may read memory that is gone
  } catch (...) {           // who uses the stream was told, or will be
  }
}

void Residency::load(const RowSource& source) {
  const auto width = static_cast<Size>(source.width);
  const Lid most = static_cast<Lid>(std::clamp<Size>(piece_bytes / (8 * width), 1, std::max(source.rows, Lid{1})));
  RawVector<double> values(static_cast<std::size_t>(most * width));
  RawVector<std::byte> bytes(static_cast<std::size_t>(layout_.bytes(most)));
  for (Lid begin = 0; begin < source.rows; begin += most) {
    const Lid count = std::min(most, source.rows - begin);
    const std::span<double> piece(values.data(), static_cast<std::size_t>(count * width));
    const std::span<std::byte> encoded(bytes.data(), static_cast<std::size_t>(layout_.bytes(count)));
    source.fill({begin, begin + count}, piece);
    encode_rows(layout_, source.name, begin, piece, encoded, loss_, options_.parallel);
    keep({begin, begin + count}, encoded);
  }
  if (managed_) {  // pages that were written on the host are there, but for those that the driver moved by itself
    managed_->prefetch(*copies_, 0, placement_.host_bytes, false);
    copies_->synchronize();
  }
}

/// Puts encoded rows where they live: on the device, or on the host.
void Residency::keep(Range rows, std::span<const std::byte> bytes) {
  const Lid split = std::clamp(placement_.resident, rows.begin, rows.end);
  const auto here = static_cast<std::size_t>(layout_.bytes(split - rows.begin));
  if (here > 0) {
    stream_.copy(resident_.data() + layout_.bytes(rows.begin), bytes.data(), here, CopyDirection::to_device);
    stream_.synchronize();
  }
  if (here < bytes.size()) std::memcpy(host_rows() + host_offset(split), bytes.data() + here, bytes.size() - here);
}

std::byte* Residency::host_rows() {
  return managed_ ? managed_->data() : pageable_.empty() ? pinned_.data() : pageable_.data();
}

StoredRows Residency::stored(const std::byte* data, Lid first) const {
  return {data, layout_.row_bytes, first, layout_.stride, layout_.group, layout_.block_bits(), table_.data()};
}

void Residency::begin_pass() {
  ++counts_.passes;
  if (placement_.fits()) return;
  if (options_.self_contained) {
    for (Window& window : windows_) window.chunk = no_lid, window.in_use = false;
    backwards_ = false;
    if (copies_ != &stream_) {  // a capture spreads to the copies by this event
      stream_.record(*mark_);
      copies_->wait(*mark_);
    }
  }
}

Residency::Chunk Residency::resident_rows() const {
  return {{0, placement_.resident}, stored(resident_.data(), 0), -1};
}

/// The window that holds the chunk, or the one that was not used for the longest time.
Residency::Window& Residency::window_for(Lid chunk) {
  Window* oldest = &windows_.front();
  for (Window& window : windows_) {
    if (window.chunk == chunk) return window;
    if (window.last_used < oldest->last_used) oldest = &window;
  }
  return *oldest;
}

Residency::Chunk Residency::bring(Lid step) {
  const Lid number = backwards_ ? placement_.chunks() - 1 - step : step;
  const Range rows = placement_.rows_of(number);
  Window& window = window_for(number);
  window.last_used = counts_.chunks + counts_.chunks_kept + 1;
  if (window.chunk == number) {
    ++counts_.chunks_kept;
  } else {
    window.chunk = no_lid;  // until its copy is enqueued
    fill_window(window, rows);
    window.chunk = number;
    ++counts_.chunks;
    counts_.bytes_brought += layout_.bytes(rows.size());
  }
  const std::byte* const data = managed_ ? managed_->data() + host_offset(rows.begin) : window.memory.data();
  return {rows, stored(data, rows.begin), static_cast<int>(&window - windows_.data())};
}

void Residency::fill_window(Window& window, Range rows) {
  const Size bytes = layout_.bytes(rows.size());
  const bool apart = copies_ != &stream_;
  if (window.in_use && apart) copies_->wait(*window.free);
  if (managed_) {
    managed_->prefetch(*copies_, host_offset(rows.begin), bytes, true);
  } else {
    const std::byte* from = host_rows() + host_offset(rows.begin);
    if (!window.staging.empty()) {
      window.staging_free->wait();
      std::memcpy(window.staging.data(), from, static_cast<std::size_t>(bytes));
      from = window.staging.data();
    }
    copies_->copy(window.memory.data(), from, static_cast<std::size_t>(bytes), CopyDirection::to_device);
    if (!window.staging.empty()) copies_->record(*window.staging_free);
  }
  if (apart) {
    copies_->record(*window.filled);
    stream_.wait(*window.filled);
  }
}

void Residency::release(const Chunk& chunk) {
  Window& window = windows_[static_cast<std::size_t>(chunk.buffer)];
  if (copies_ != &stream_) stream_.record(*window.free);
  window.in_use = true;
}

void Residency::end_pass() {
  if (placement_.fits()) return;
  backwards_ = !backwards_;
  if (placement_.policy != Policy::managed) return;
  // A pass ends with all rows back on the host, as it is on a device whose memory others have filled in between.
  for (Window& window : windows_) {
    if (window.in_use) copies_->wait(*window.free);
    window.chunk = no_lid;
  }
  if (!managed_) return;
  managed_->prefetch(*copies_, 0, placement_.host_bytes, false);
  counts_.bytes_sent_back += placement_.host_bytes;
}

void Residency::settle() {
  if (own_stream_) own_stream_->synchronize();
}

}  // namespace tutti
