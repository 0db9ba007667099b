// Brings every part's ghosts up to date: same-memory copies, PCIe, peer copies, MPI messages and NCCL from one plan.
#pragma once

#include <mpi.h>

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "tutti/base/mpi/comm.hpp"
#include "tutti/exchange/field.hpp"
#include "tutti/exchange/part_streams.hpp"
#include "tutti/exchange/routing.hpp"
#include "tutti/partition/index_map.hpp"

namespace tutti {

/// Rows that go from one part to another.
struct Message {
  std::int32_t from = 0, to = 0;  ///< parts
  int from_rank = 0, to_rank = 0;
  int source = -1, target = -1;  ///< index among this rank's parts, -1 when the part is another rank's
  std::vector<Lid> rows;         ///< sender's rows; empty when the sender is another rank's
  Range ghosts;                  ///< receiver's rows; empty when the receiver is another rank's
  Lid count = 0;
  int tag = 0;  ///< unique among the messages of a pair of ranks that are under way at the same time

  bool contiguous() const { return !rows.empty() && rows.back() - rows.front() + 1 == count; }
};

/// Who sends what to whom, seen from one rank. Immutable.
struct Plan {
  std::vector<Message> local;     ///< both parts are this rank's
  std::vector<Message> outgoing;  ///< to other ranks
  std::vector<Message> incoming;  ///< from other ranks

  Size rows_sent() const;
};
/// One of several exchanges whose messages are under way at the same time: no two have the same tags.
struct PlanTurn {
  int number = 0, of = 1;
};
/// `maps` are this rank's parts, from number_parts.
Plan make_plan(std::span<const IndexMap> maps, int my_rank, PlanTurn turn = {});

/// One operation of an exchange. `after` names earlier operations of the same list; `after_separators_of` (parts of
/// this rank by index) says whose separators must have been computed.
struct ExchangeOp {
  enum class Kind : std::uint8_t { outgoing_copy, incoming_copy, host, send, receive };
  Kind kind = Kind::host;
  std::string name;
  int part = -1;  ///< this rank's part whose device does it
  std::vector<int> after;
  std::vector<int> after_separators_of;
  std::vector<int> fills;   ///< parts of this rank some of whose ghosts are up to date after it
  bool overwrites = false;  ///< those ghosts, which may be read until the part's separators have been computed
  Size bytes = 0;
  bool by_kernel = false;                   ///< outgoing_copy: right behind what computes the part's separators
  std::function<void(Stream&)> enqueue;     ///< copies: put it on the stream
  std::function<void()> work;               ///< host: do it now
  std::function<void(MPI_Request*)> start;  ///< send, receive: start it
  std::function<void()> abandon;            ///< after a failure: wait for no other rank; else empty
};

/// What exchanges have moved since the start of the run.
struct ExchangeCounts {
  Size messages = 0;  ///< sent by this rank to others
  Size bytes = 0;     ///< bytes of all operations that leave a part: MPI, NCCL, PCIe, peer and same-memory
};
/// Adds what so many exchanges like `one` have moved.
inline void add_counts(ExchangeCounts& sum, const ExchangeCounts& one, Size times) {
  sum.messages += times * one.messages;
  sum.bytes += times * one.bytes;
}

/// The exchange of one field (of any number of components) of every part of this rank. One message a neighbour,
/// whatever the number of components. The operations only read separator rows and only write ghost rows.
template <class T>
class Exchange {
 public:
  /// Allocates the staging buffers, and buffers on devices for rows that are gathered there. The plan, parts, maps and
  /// routing must outlive it; without a routing it is RoutingKind::automatic.
  Exchange(const Comm& comm, const Plan& plan, std::span<const IndexMap> maps, std::span<PartStreams> parts,
           int components, const Routing* routing = nullptr);

  /// Chooses the arrays that the next exchange works on, one a part of this rank. Error(peer) when the routing's link
  /// has broken.
  void bind(std::span<const FieldView<T>> fields);
  std::span<const FieldView<T>> bound() const { return fields_; }
  /// The operations, in an order that respects `after`. They look the bound fields up when they run.
  const std::vector<ExchangeOp>& operations() const { return operations_; }
  /// A step has none of them (Transport::disabled).
  bool disabled() const { return routing_.disabled; }

  /// Starts the exchange of `fields`: everything that needs no message, and the messages themselves.
  void begin(std::span<const FieldView<T>> fields);
  /// Waits for it: all ghosts are up to date.
  void end();
  ExchangeCounts counts_per_exchange() const { return counts_; }

 private:
  struct Staging {
    Buffer<T> separators;  ///< pinned mirror of a device part's separator rows
    Buffer<T> ghosts;      ///< pinned mirror of a device part's ghost rows
  };
  /// A message's rows on its sender's device and what is gathered there, component after component.
  struct DevicePack {
    Buffer<Lid> rows;
    Buffer<T> values;
  };
  /// Where a message starts in device memory.
  struct DeviceSource {
    int ready = -1;             ///< operation that packs it, or -1
    const T* packed = nullptr;  ///< null: the field itself
  };
  int add(ExchangeOp op);
  int add_separator_copy(int part);
  void add_local(const Message& message);
  void add_peer(const Message& message);
  void add_direct(const Message& message);
  void add_outgoing(const Message& message);
  void add_send(const Message& message, int ready, std::function<const T*()> data);
  void add_device_send(const Message& message);
  void add_incoming(const Message& message);
  void add_device_receive(const Message& message);
  void add_link();
  int add_ghost_copy(int part, Range ghosts, int after, const std::string& name);
  DeviceSource add_device_source(const Message& message, Route route);
  const T* sent_values(const Message& message, const T* packed, int component) const;
  T* device_ghosts(const Message& message, int component) const;
  Route route_of(const Message& message) const { return tutti::route_of(message, routing_, parts_); }
  bool is_host(int part) const { return parts_[part].is_host(); }
  const T* separator_value(int part, int component, Lid row) const;
  T* ghost_value(int part, int component, Lid row);
  void gather(const Message& message, T* to) const;
  std::string label(const char* what, const Message& message) const;

  const Comm& comm_;
  const Plan& plan_;
  std::span<const IndexMap> maps_;
  std::span<PartStreams> parts_;
  const Routing& routing_;
  int components_;
  std::vector<FieldView<T>> fields_;
  std::vector<Staging> staging_;
  std::vector<int> separator_copies_;    ///< operation that fills staging_[p].separators, or -1
  std::vector<std::vector<T>> buffers_;  ///< packed messages
  std::vector<DevicePack> device_packs_;
  std::vector<Buffer<T>> device_arrivals_;  ///< messages of several components, as they arrive
  std::vector<ExchangeOp> operations_;
  std::vector<MPI_Request> requests_;
  std::vector<int> started_;
  ExchangeCounts counts_;
};

extern template class Exchange<double>;
extern template class Exchange<float>;

/// Bytes of its device's memory that an Exchange of `components` values of `value_bytes` takes for messages of part
/// `part` (index among this rank's).
Size device_message_bytes(const Plan& plan, const Routing& routing, std::span<const PartStreams> parts, int part,
                          int components, Size value_bytes);

/// After a failure: ends a receive, so that nothing arrives in memory that is freed next. What is arriving already is
/// given a moment to end; its sender may be gone. Nothing happens when the request is null.
void abandon_receive(MPI_Request& request);

}  // namespace tutti
