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
  Lid chunk = no_lid;  ///< that it holds
  Range pages;         ///< managed: rows whose pages are on the device
  Size last_used = 0;
  const Stream* reader = nullptr;  ///< the last one
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
      layout_(make_row_layout(options.format, source.width, options.rate, options.group)) {
  Device& device = stream.device();
  if ((options.policy == Policy::compressed) == is_exact(options.format) &&
      (options.policy == Policy::compressed || options.policy == Policy::resident))
    fail(ErrorKind::input, "'{}': residency.policy \"{}\" cannot be combined with rows as {}; set residency.format",
         source.name, policy_name(options.policy), layout_.name());
  placement_ = place_rows(layout_, source.rows, options.policy, room_of(device, options.leave_bytes),
                          options.chunk_bytes, device.name(), source.name);
  if (source.rows > 0 && layout_.format == ValueFormat::zfp)
    table_ = make_buffer(stream, std::span<const std::uint16_t>(host_plane_table(), zfp::table_size),
                         source.name + ": zfp's table");
  resident_ = Buffer<std::byte>(device, layout_.bytes(placement_.resident), source.name);
  if (!placement_.fits()) {
    const Size bytes = layout_.bytes(placement_.chunk);
    if (options.policy == Policy::managed)
      managed_ = make_managed_memory(device, placement_.host_bytes, bytes * placement_.buffers,
                                     source.name + ": unified memory");
    if (!managed_ && options.pinned)
      pinned_ = Buffer<std::byte>(device, placement_.host_bytes, source.name, Memory::pinned);
    else if (!managed_)
      pageable_.resize(placement_.host_bytes);
    if (options.policy != Policy::overlaid) own_stream_ = device.make_stream("residency");
    mark_ = device.make_event();
    windows_.resize(placement_.buffers);
    for (Window& window : windows_) {
      if (!managed_) window.memory = Buffer<std::byte>(device, bytes, source.name + ": a buffer");
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

void Residency::begin_pass(Stream& stream, Range rows) {
  ++counts_.passes;
  pass_ = {&stream, rows, 0, 0, false, 0};
  if (rows.end <= placement_.resident) return;
  pass_.first = std::max(Lid{0}, rows.begin - placement_.resident) / placement_.chunk;
  pass_.last = (rows.end - 1 - placement_.resident) / placement_.chunk + 1;
  if (options_.self_contained) {
    require(&stream == &stream_, "a self-contained pass on another stream than the array's");
    if (!managed_)  // which cannot be captured, and forgets nothing
      for (Window& window : windows_) window.chunk = no_lid, window.reader = nullptr;
    if (own_stream_) {  // a capture spreads to the copies by this event
      stream.record(*mark_);
      own_stream_->wait(*mark_);
    }
  }
  pass_.backwards = is_held(pass_.last - 1) && !is_held(pass_.first);
  while (pass_.kept < steps() && is_held(chunk_of(pass_.kept))) ++pass_.kept;
}

Residency::Chunk Residency::resident_rows() const {
  return {{pass_.rows.begin, std::min(pass_.rows.end, placement_.resident)}, stored(resident_.data(), 0), -1};
}

bool Residency::is_held(Lid chunk) const {
  return std::any_of(windows_.begin(), windows_.end(), [&](const Window& w) { return w.chunk == chunk; });
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
  const Lid number = chunk_of(step);
  const Range all = placement_.rows_of(number);
  Window& window = window_for(number);
  window.last_used = counts_.chunks + counts_.chunks_kept + 1;
  if (window.chunk == number) {
    ++counts_.chunks_kept;
    // Its copy was waited for by its last reader. So is then that of both, which the next copy waits for.
    if (window.reader != pass_.stream) pass_.stream->wait(*window.free);
  } else {
    window.chunk = no_lid;  // until its copy is enqueued
    fill_window(window, all);
    window.chunk = number;
    ++counts_.chunks;
    counts_.bytes_brought += layout_.bytes(all.size());
  }
  const std::byte* const data = managed_ ? managed_->data() + host_offset(all.begin) : window.memory.data();
  const Range rows = {std::max(all.begin, pass_.rows.begin), std::min(all.end, pass_.rows.end)};
  return {rows, stored(data, all.begin), static_cast<int>(&window - windows_.data())};
}

/// Enqueues the copy of rows into a window, behind those who read it before and before this pass's kernels.
void Residency::fill_window(Window& window, Range rows) {
  const Size bytes = layout_.bytes(rows.size());
  if (window.reader != nullptr && window.reader != &copies()) copies().wait(*window.free);
  if (managed_) {
    move_pages(window, rows);
  } else {
    const std::byte* from = host_rows() + host_offset(rows.begin);
    if (!window.staging.empty()) {
      window.staging_free->wait();
      std::memcpy(window.staging.data(), from, static_cast<std::size_t>(bytes));
      from = window.staging.data();
    }
    copies().copy(window.memory.data(), from, static_cast<std::size_t>(bytes), CopyDirection::to_device);
    if (!window.staging.empty()) copies().record(*window.staging_free);
  }
  if (own_stream_) {
    own_stream_->record(*window.filled);
    pass_.stream->wait(*window.filled);
  }
}

/// The window's pages make room first: not behind their readers, but when these are done. Kernels that read the other
/// window may run meanwhile.
void Residency::move_pages(Window& window, Range rows) {
  if (!window.pages.empty()) {
    window.free->wait();
    const Size bytes = layout_.bytes(window.pages.size());
    managed_->drop(host_offset(window.pages.begin), bytes);
    counts_.bytes_dropped += bytes;
  }
  managed_->bring(copies(), host_offset(rows.begin), layout_.bytes(rows.size()));
  window.pages = rows;
}

void Residency::release(const Chunk& chunk) {
  Window& window = windows_[chunk.buffer];
  pass_.stream->record(*window.free);
  window.reader = pass_.stream;
}

}  // namespace tutti
