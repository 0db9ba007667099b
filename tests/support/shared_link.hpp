// A DeviceLink between fake devices of ranks of one host, through memory that the ranks share: what NCCL does for GPUs.
#pragma once

#include <mpi.h>
#include <sched.h>

#include <array>
#include <atomic>
#include <cstring>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "tutti/exchange/exchange.hpp"

namespace tutti::test {

class SharedLink final : public DeviceLink {
 public:
  /// Collective. For up to `parts` parts, and messages of up to `largest` bytes a component. `mine`: this rank's.
  SharedLink(const Comm& comm, std::size_t parts, std::size_t largest, std::span<const IndexMap> mine,
             std::span<PartStreams> streams)
      : parts_(parts), largest_((largest + 63) / 64 * 64) {
    for (std::size_t p = 0; p < mine.size(); ++p) number_.emplace(streams[p].outgoing.get(), mine[p].part);
    constexpr std::size_t line = alignof(Counters);
    const std::size_t bytes = parts * parts * queue_bytes() + line;
    MPI_Win_allocate_shared(comm.is_root() ? static_cast<MPI_Aint>(bytes) : 0, 1, MPI_INFO_NULL, comm.handle(), &base_,
                            &window_);
    MPI_Aint size = 0;
    int unit = 1;
    MPI_Win_shared_query(window_, 0, &size, &unit, &base_);
    // MPI aligns it to less; all ranks map it at the same place of a page.
    base_ += (line - reinterpret_cast<std::uintptr_t>(base_) % line) % line;
    if (comm.is_root())
      for (std::size_t q = 0; q < parts * parts; ++q) new (base_ + q * queue_bytes()) Counters;
    comm.barrier();
  }
  ~SharedLink() override { MPI_Win_free(&window_); }

  void enqueue(Stream& stream, std::span<const LinkEnd> ends) override {
    std::map<Stream*, std::vector<LinkEnd>> of_stream;
    for (const LinkEnd& end : ends) of_stream[end.stream].push_back(end);
    const auto begun = stream.device().make_event();
    stream.record(*begun);
    for (auto& [other, list] : of_stream) {
      if (other != &stream) other->wait(*begun);
      other->loop({0, 1}, [this, part = number_.at(other), list](Lid, Lid) { move(part, list); });
    }
    for (auto& [other, list] : of_stream) {
      if (other == &stream) continue;
      const auto ended = other->device().make_event();
      other->record(*ended);
      stream.wait(*ended);
    }
  }
  void check() override {}
  void abandon() noexcept override { abandoned_ = true; }

 private:
  static constexpr std::size_t slots = 8;
  struct Counters {
    alignas(64) std::atomic<std::uint64_t> written{0};
    alignas(64) std::atomic<std::uint64_t> read{0};
  };
  std::size_t queue_bytes() const { return sizeof(Counters) + slots * largest_; }
  char* queue(std::int32_t from, std::int32_t to) const {
    return base_ + (static_cast<std::size_t>(from) * parts_ + static_cast<std::size_t>(to)) * queue_bytes();
  }
  char* slot(char* queue, std::uint64_t n) const { return queue + sizeof(Counters) + n % slots * largest_; }
  template <class Ready>
  void wait_until(const Ready& ready) const {
    while (!ready()) {
      if (abandoned_) fail(ErrorKind::peer, "the link was given up");
      sched_yield();
    }
  }

  /// On the stream's thread: all that leaves first, as a group of NCCL does not let one end wait for another.
  void move(std::int32_t part, const std::vector<LinkEnd>& ends) const {
    for (const LinkEnd& end : ends) {
      if (!end.sends) continue;
      require(end.bytes <= largest_, "a message too long for this link");
      char* to = queue(part, end.other_part);
      auto& counters = *reinterpret_cast<Counters*>(to);
      wait_until([&] { return counters.written - counters.read < slots; });
      std::memcpy(slot(to, counters.written), end.data, end.bytes);
      ++counters.written;
    }
    for (const LinkEnd& end : ends) {
      if (end.sends) continue;
      char* from = queue(end.other_part, part);
      auto& counters = *reinterpret_cast<Counters*>(from);
      wait_until([&] { return counters.read < counters.written; });
      std::memcpy(end.data, slot(from, counters.read), end.bytes);
      ++counters.read;
    }
  }

  std::size_t parts_, largest_;
  std::map<const Stream*, std::int32_t> number_;
  MPI_Win window_ = MPI_WIN_NULL;
  char* base_ = nullptr;
  std::atomic<bool> abandoned_{false};
};

/// A routing over fake devices: `nccl` is a SharedLink that reaches all devices of all ranks. Collective.
inline Routing make_fake_routing(const Comm& comm, RoutingKind kind, std::span<const IndexMap> maps,
                                 std::span<PartStreams> streams, Lid max_rows) {
  if (kind != RoutingKind::nccl) return make_routing(comm, kind, maps, streams);
  struct Place {
    std::int32_t part;
    bool on_device;
  };
  std::vector<Place> mine;
  for (std::size_t p = 0; p < maps.size(); ++p) mine.push_back({maps[p].part, !streams[p].is_host()});
  const auto all = comm.all_gather(std::span<const Place>(mine));
  Routing routing;
  routing.kind = kind;
  routing.linked.assign(all.size(), 0);
  for (const Place& place : all) routing.linked[place.part] = place.on_device ? 1 : 0;
  routing.link = std::make_unique<SharedLink>(comm, all.size(), static_cast<std::size_t>(max_rows) * sizeof(double),
                                              maps, streams);
  return routing;
}

}  // namespace tutti::test
