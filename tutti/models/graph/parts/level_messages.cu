// Compiles as plain C++ without CUDA.
#include "tutti/models/graph/parts/level_messages.hpp"

#include <mpi.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <map>

#include "tutti/base/log.hpp"
#include "tutti/device/for_each.hpp"
#include "tutti/exchange/nccl.hpp"
#include "tutti/models/graph/parts/message_kernels.hpp"

namespace tutti::graph {
namespace {

constexpr std::size_t most_bytes = std::size_t{1} << 30;  ///< of one MPI message
constexpr int tag = 71;

std::uint8_t bit_of(Way way) {
  return way == Way::back ? 2 : 1;
}

struct ZeroSums {
  std::int64_t* sums;
  TUTTI_HD void operator()(Lid i) const { sums[i] = 0; }
};

LanePair* pairs_of(PartBatch& part, Lid first = 0) {
  return reinterpret_cast<LanePair*>(part.values()) + static_cast<Size>(first) * lane_pairs;
}

/// Room for the largest message so far; nothing is kept.
template <class T>
void grow(Buffer<T>& buffer, Stream& stream, Size size, const char* name, Memory memory = Memory::device) {
  if (buffer.size() >= size) return;
  stream.synchronize();
  buffer = Buffer<T>();
  buffer = Buffer<T>(stream.device(), size + size / 4, name, memory);
}

/// The rows of a link on their device.
struct LinkRows {
  Buffer<Lid> rows;
  Buffer<std::uint8_t> readers;
  LinkRows(Stream& stream, const GraphPart& part, std::size_t link)
      : rows(make_buffer(stream, std::span<const Lid>(part.map.links[link].send_rows), "rows that other parts read")),
        readers(make_buffer(stream, std::span<const std::uint8_t>(part.readers[link]), "when other parts read rows")) {}
  SentRows view(PartBatch& part, int level, Way way) const {
    return {rows.data(), readers.data(), part.level(level), bit_of(way), static_cast<Lid>(rows.size())};
  }
};

}  // namespace

struct LevelMessages::Stored {
  PartBatch &from, &to;
  LinkRows rows;
  Lid ghosts;  ///< the first, there
};

/// One direction or both: what this rank's part sends to another part, and gets from it.
struct LevelMessages::Packed {
  Packed(PartBatch& of, std::size_t k)
      : part(of),
        link(of.part().map.links[k]),
        rows(of.stream(), of.part(), k),
        sums(of.stream().device(), 6, "sizes of messages"),
        host_sums(of.stream().device(), 4, "sizes of messages on the host", Memory::pinned),
        // Of a level that there is no room for, too.
        sent(most_levels + 1),
        got(most_levels + 1) {}
  PartBatch& part;
  const Link& link;
  LinkRows rows;
  bool linked = false;                          ///< by NCCL
  Packed* other = nullptr;                      ///< where that part is this rank's
  Buffer<std::int64_t> sums;                    ///< out, back: entries and numbers; of the list that is being made
  Buffer<std::int64_t> host_sums;               ///< pinned
  std::vector<std::array<Sizes, 2>> sent, got;  ///< [level][way]
  Sizes sent_at(int level, Way way) const { return sent[static_cast<std::size_t>(level)][way == Way::back ? 1 : 0]; }
  Sizes got_at(int level, Way way) const { return got[static_cast<std::size_t>(level)][way == Way::back ? 1 : 0]; }
  Buffer<LevelEntry> entries, got_entries;
  Buffer<double> numbers, got_numbers;
  Buffer<char> host_out, host_in;  ///< pinned: entries, then numbers
};

LevelMessages::LevelMessages(const Comm& comm, std::span<PartBatch* const> parts, std::span<const int> rank_of_part)
    : comm_(comm) {
  std::vector<PartBatch*> of_number(rank_of_part.size(), nullptr);
  for (PartBatch* part : parts)
    if (part != nullptr) of_number[static_cast<std::size_t>(part->part().map.part)] = part;
  comm.together([&] {
    for (PartBatch* part : parts) {
      if (part == nullptr) continue;
      const GraphPart& mine = part->part();
      for (std::size_t k = 0; k < mine.map.links.size(); ++k) {
        const Link& link = mine.map.links[k];
        PartBatch* other = of_number[static_cast<std::size_t>(link.part)];
        if (other != nullptr && part->device_part().reaches(other->device_part())) {
          if (link.send_rows.empty() || part->device_part().kernels().tell_readers()) continue;
          const auto& links = other->part().map.links;
          const auto back =
              std::find_if(links.begin(), links.end(), [&](const Link& l) { return l.part == mine.map.part; });
          stored_.push_back(std::unique_ptr<Stored>(
              new Stored{*part, *other, LinkRows(part->stream(), mine, k), back->ghosts.begin}));
          continue;
        }
        packed_.push_back(std::unique_ptr<Packed>(new Packed(*part, k)));
        Packed& packed = *packed_.back();
        for (auto& earlier : packed_)
          if (earlier->part.part().map.part == link.part && earlier->link.part == mine.map.part) {
            earlier->other = &packed;
            packed.other = earlier.get();
          }
      }
    }
  });
  only_stored_ = comm.sum(static_cast<Size>(packed_.size())) == 0;
  make_link(parts, rank_of_part);
}

LevelMessages::~LevelMessages() = default;

/// NCCL where several ranks have GPUs, and all of them have it.
void LevelMessages::make_link(std::span<PartBatch* const> parts, std::span<const int> rank_of_part) {
  struct Place {
    std::int32_t part;
    char on_gpu, usable;
  };
  std::vector<Place> mine;
  for (PartBatch* part : parts)
    if (part != nullptr) {
      const bool on_gpu = part->stream().kind() == DeviceKind::cuda;
      mine.push_back({part->part().map.part, static_cast<char>(on_gpu ? 1 : 0),
                      static_cast<char>(on_gpu && comm_.size() > 1 && !report_nccl().version.empty() ? 1 : 0)});
    }
  const std::vector<Place> all = comm_.all_gather(std::span<const Place>(mine));
  LinkedParts linked;
  linked.on_gpu.assign(rank_of_part.size(), 0);
  linked.first_rank = comm_.size();
  bool usable = comm_.size() > 1 && !all.empty();
  for (const Place& place : all) {
    usable = usable && (place.on_gpu == 0 || place.usable != 0);
    if (place.on_gpu == 0) continue;
    linked.on_gpu[static_cast<std::size_t>(place.part)] = 1;
    linked.first_rank = std::min(linked.first_rank, rank_of_part[static_cast<std::size_t>(place.part)]);
  }
  if (!usable || linked.first_rank == comm_.size()) return;
  comm_.together([&] {
    for (PartBatch* part : parts)
      if (part != nullptr) {
        streams_.emplace_back(part->stream().device());
        linked.mine.push_back(part->part().map.part);
      }
  });
  try {
    link_ = make_nccl_link(comm_, linked, streams_);  // Error on all ranks
  } catch (const Error& error) {
    verbose("messages between GPUs go through the host: {}", error.what());
    return;
  }
  linked_ = true;
  for (auto& p : packed_)
    p->linked = p->other == nullptr && linked.on_gpu[static_cast<std::size_t>(p->link.part)] != 0 &&
                linked.on_gpu[static_cast<std::size_t>(p->part.part().map.part)] != 0;
  // The first messages of a pair take a second: a few bytes each way before they count.
  comm_.together([&] {
    std::vector<LinkEnd> ends;
    for (auto& p : packed_)
      if (p->linked)
        for (const bool sends : {true, false})
          ends.push_back({&p->part.stream(), p->link.part, p->sums.data() + (sends ? 0 : 1), 8, sends});
    if (ends.empty()) return;
    link_->enqueue(*ends.front().stream, ends);
    for (PartBatch* part : parts)
      if (part != nullptr) part->stream().synchronize();
  });
}

Size LevelMessages::bytes(const GraphPart& part) {
  Size rows = part.map.ghosts();
  for (const Link& link : part.map.links) rows += static_cast<Size>(link.send_rows.size());
  return rows * (static_cast<Size>(sizeof(Lid)) + 1 + static_cast<Size>(sizeof(LevelEntry)) + 4 * most_lanes);
}

void LevelMessages::store(int level, Way way) {
  for (auto& s : stored_)
    store_level(s->from.stream(), s->rows.view(s->from, level, way), pairs_of(s->from), s->to.level(level) + s->ghosts,
                pairs_of(s->to, s->ghosts));
}

void LevelMessages::count(int level) {
  for (auto& p : packed_) {
    Stream& stream = p->part.stream();
    for_each(stream, {0, 4}, ZeroSums{p->sums.data()});
    count_level(stream, p->rows.view(p->part, level, Way::out), p->sums.data());
    count_level(stream, p->rows.view(p->part, level, Way::back), p->sums.data() + 2);
  }
}

void LevelMessages::ask() {
  for (auto& p : packed_)
    p->part.stream().copy(p->host_sums.data(), p->sums.data(), 4 * sizeof(std::int64_t), CopyDirection::to_host);
}

LevelMessages::Two LevelMessages::share(int level, Two mine) {
  if (comm_.size() == 1 && only_stored_) return mine;
  struct Told {
    std::int32_t from, to;  ///< parts; -1: the two numbers
    std::int64_t numbers[4];
  };
  std::vector<Told> told{{-1, -1, {mine.first, mine.second, 0, 0}}};
  const auto l = static_cast<std::size_t>(level);
  for (auto& p : packed_) {
    Told t{p->part.part().map.part, p->link.part, {}};
    for (int i = 0; i < 4; ++i) t.numbers[i] = mine.second > 0 ? 0 : p->host_sums.span()[static_cast<std::size_t>(i)];
    told.push_back(t);
    p->sent[l] = {Sizes{t.numbers[0], t.numbers[1]}, Sizes{t.numbers[2], t.numbers[3]}};
    p->got[l] = {};
  }
  std::map<std::pair<std::int32_t, std::int32_t>, Packed*> by_parts;
  for (auto& p : packed_) by_parts[{p->link.part, p->part.part().map.part}] = p.get();
  Two sum{0, 0};
  for (const Told& t : comm_.all_gather(std::span<const Told>(told))) {
    if (t.from < 0) {
      sum.first += t.numbers[0];
      sum.second += t.numbers[1];
    } else if (const auto at = by_parts.find({t.from, t.to}); at != by_parts.end()) {
      at->second->got[l] = {Sizes{t.numbers[0], t.numbers[1]}, Sizes{t.numbers[2], t.numbers[3]}};
    }
  }
  return sum;
}

/// Enqueues entries and numbers of a link's message.
void LevelMessages::pack(Packed& p, int level, Way way) {
  const Sizes size = p.sent_at(level, way);
  if (size.entries == 0) return;
  Stream& stream = p.part.stream();
  grow(p.entries, stream, size.entries, "vertices to send");
  grow(p.numbers, stream, size.numbers, "numbers to send");
  std::int64_t* sums = p.sums.data() + 4;
  for_each(stream, {0, 2}, ZeroSums{sums});
  list_level(stream, p.rows.view(p.part, level, way), sums, p.entries.data());
  gather_numbers(stream, p.entries.data(), size.entries, p.rows.rows.data(), pairs_of(p.part), p.numbers.data());
}

/// Enqueues what has come to the ghosts of a link.
void LevelMessages::put(Packed& p, int level, Way way) {
  const Lid ghosts = p.link.ghosts.begin;
  put_entries(p.part.stream(), p.got_entries.data(), p.got_at(level, way).entries, p.got_numbers.data(),
              p.part.level(level) + ghosts, pairs_of(p.part, ghosts));
}

/// Between GPUs of different ranks.
void LevelMessages::send_by_link(int level, Way way) {
  if (!linked_) return;
  comm_.together([&] {
    std::vector<LinkEnd> ends;
    for (auto& p : packed_) {
      if (!p->linked) continue;
      pack(*p, level, way);
      Stream& stream = p->part.stream();
      const Sizes sent = p->sent_at(level, way), got = p->got_at(level, way);
      grow(p->got_entries, stream, got.entries, "vertices that come");
      grow(p->got_numbers, stream, got.numbers, "numbers that come");
      const auto add = [&](auto& buffer, Size count, bool sends) {
        if (count > 0)
          ends.push_back(
              {&stream, p->link.part, buffer.data(), static_cast<std::size_t>(count) * sizeof(*buffer.data()), sends});
      };
      add(p->entries, sent.entries, true);
      add(p->numbers, sent.numbers, true);
      add(p->got_entries, got.entries, false);
      add(p->got_numbers, got.numbers, false);
    }
    if (ends.empty()) return;
    link_->enqueue(*ends.front().stream, ends);
    for (auto& p : packed_)
      if (p->linked) put(*p, level, way);
  });
}

/// All other ways: through pinned memory.
void LevelMessages::send_by_host(int level, Way way) {
  const auto bytes = [](const Sizes& size) {
    return static_cast<std::size_t>(size.entries) * sizeof(LevelEntry) + static_cast<std::size_t>(size.numbers) * 8;
  };
  std::vector<Packed*> mine;
  for (auto& p : packed_)
    if (!p->linked) mine.push_back(p.get());
  if (comm_.sum(static_cast<Size>(mine.size())) == 0) return;
  comm_.together([&] {
    for (Packed* p : mine) {
      pack(*p, level, way);
      Stream& stream = p->part.stream();
      const Sizes sent = p->sent_at(level, way), got = p->got_at(level, way);
      grow(p->host_out, stream, static_cast<Size>(bytes(sent)), "messages on the host", Memory::pinned);
      if (p->other == nullptr)
        grow(p->host_in, stream, static_cast<Size>(bytes(got)), "messages that come to the host", Memory::pinned);
      grow(p->got_entries, stream, got.entries, "vertices that come");
      grow(p->got_numbers, stream, got.numbers, "numbers that come");
      if (sent.entries == 0) continue;
      const std::size_t first = static_cast<std::size_t>(sent.entries) * sizeof(LevelEntry);
      stream.copy(p->host_out.data(), p->entries.data(), first, CopyDirection::to_host);
      stream.copy(p->host_out.data() + first, p->numbers.data(), bytes(sent) - first, CopyDirection::to_host);
    }
    for (Packed* p : mine) p->part.stream().synchronize();
  });
  // Messages of a pair of ranks are told apart by their order: by sending part, then by receiving part.
  std::vector<MPI_Request> requests;
  const auto in_pieces = [&](char* data, std::size_t size, const auto& start) {
    for (std::size_t done = 0; done < size; done += most_bytes)
      start(data + done, static_cast<int>(std::min(most_bytes, size - done)), &requests.emplace_back());
  };
  const auto number = [](const Packed* p) { return p->part.part().map.part; };
  std::sort(mine.begin(), mine.end(), [&](const Packed* a, const Packed* b) {
    return std::pair(a->link.part, number(a)) < std::pair(b->link.part, number(b));
  });
  for (Packed* p : mine)
    if (p->other == nullptr)
      in_pieces(p->host_in.data(), bytes(p->got_at(level, way)), [&](char* data, int size, MPI_Request* request) {
        check_mpi(MPI_Irecv(data, size, MPI_BYTE, p->link.rank, tag, comm_.handle(), request), "MPI_Irecv");
      });
  std::sort(mine.begin(), mine.end(), [&](const Packed* a, const Packed* b) {
    return std::pair(number(a), a->link.part) < std::pair(number(b), b->link.part);
  });
  for (Packed* p : mine)
    if (p->other == nullptr)
      in_pieces(p->host_out.data(), bytes(p->sent_at(level, way)), [&](char* data, int size, MPI_Request* request) {
        check_mpi(MPI_Isend(data, size, MPI_BYTE, p->link.rank, tag, comm_.handle(), request), "MPI_Isend");
      });
  check_mpi(MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE), "MPI_Waitall");
  comm_.together([&] {
    for (Packed* p : mine) {
      const Sizes got = p->got_at(level, way);
      if (got.entries == 0) continue;
      const char* data = p->other != nullptr ? p->other->host_out.data() : p->host_in.data();
      const std::size_t first = static_cast<std::size_t>(got.entries) * sizeof(LevelEntry);
      Stream& stream = p->part.stream();
      stream.copy(p->got_entries.data(), data, first, CopyDirection::to_device);
      stream.copy(p->got_numbers.data(), data + first, bytes(got) - first, CopyDirection::to_device);
      put(*p, level, way);
    }
    for (Packed* p : mine) p->part.stream().synchronize();
  });
}

void LevelMessages::abandon() noexcept {
  if (link_) link_->abandon();
}

void LevelMessages::send(int level, Way way) {
  if (only_stored_) return;
  const auto start = std::chrono::steady_clock::now();
  for (auto& p : packed_)
    if (p->other == nullptr) {
      const Sizes size = p->sent_at(level, way);
      bytes_sent_ += size.entries * static_cast<Size>(sizeof(LevelEntry)) + 8 * size.numbers;
    }
  send_by_link(level, way);
  send_by_host(level, way);
  seconds_ += std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

}  // namespace tutti::graph
