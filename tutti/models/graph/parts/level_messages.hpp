// What the vertices of one level that other parts read are told to these: from device to device.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "tutti/base/mpi/comm.hpp"
#include "tutti/exchange/device_link.hpp"
#include "tutti/exchange/part_streams.hpp"
#include "tutti/models/graph/parts/part_batch.hpp"

namespace tutti::graph {

/// Which sweep: out or back. A vertex may be read in one of them only.
enum class Way : std::uint8_t { out, back };

/// Between devices of a rank that reach each other, kernels store masks and numbers into the other's arrays: those that
/// find them where they tell readers (LevelKernels), or else one after them. All else is packed on its device: of each
/// vertex its place, its lanes and its numbers, 16 bytes and 8 a number; then it goes to other ranks' GPUs by NCCL, and
/// where there is none through pinned memory and MPI.
class LevelMessages {
 public:
  /// Collective. `parts`: of this rank, null where the device has none.
  LevelMessages(const Comm& comm, std::span<PartBatch* const> parts, std::span<const int> rank_of_part);
  ~LevelMessages();
  LevelMessages(const LevelMessages&) = delete;
  LevelMessages& operator=(const LevelMessages&) = delete;

  /// No part of any rank packs: nothing need be known on the host.
  bool only_stored() const { return only_stored_; }
  /// Enqueues what is stored of a level.
  void store(int level, Way way);
  /// Enqueues counts of what a level will send packed, on both ways; ask() for them, after all ranks' answers are known
  /// to have come; share() tells them to all. Collective.
  void count(int level);
  void ask();
  /// `mine`: two numbers of this rank; returns their sums over ranks.
  struct Two {
    Size first, second;
  };
  Two share(int level, Two mine);
  /// Sends what is packed of a level that was shared, and puts it to the ghosts there. Collective.
  void send(int level, Way way);

  /// After an error: nobody waits for other ranks any more.
  void abandon() noexcept;
  Size bytes_sent() const { return bytes_sent_; }  ///< packed, to other ranks
  double seconds() const { return seconds_; }      ///< of the host, for what is packed
  /// Bytes of a device for its lists and places, and for messages of the largest level: about half of the border.
  static Size bytes(const GraphPart& part);

 private:
  struct Stored;
  struct Packed;
  struct Sizes {
    Size entries = 0, numbers = 0;
  };
  void pack(Packed& link, int level, Way way);
  void put(Packed& link, int level, Way way);
  void send_by_link(int level, Way way);
  void send_by_host(int level, Way way);
  void make_link(std::span<PartBatch* const> parts, std::span<const int> rank_of_part);

  const Comm& comm_;
  bool only_stored_ = true;
  std::vector<std::unique_ptr<Stored>> stored_;
  std::vector<std::unique_ptr<Packed>> packed_;
  std::vector<PartStreams> streams_;  ///< of the link
  std::unique_ptr<DeviceLink> link_;
  bool linked_ = false;
  Size bytes_sent_ = 0;
  double seconds_ = 0;
};

}  // namespace tutti::graph
