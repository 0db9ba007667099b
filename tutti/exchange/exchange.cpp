#include "tutti/exchange/exchange.hpp"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <limits>

#include "tutti/exchange/pack.hpp"

namespace tutti {
namespace {

const Routing automatic_routing;

template <class T>
int message_bytes(const Message& message, int components) {
  const Size bytes = static_cast<Size>(message.count) * components * static_cast<Size>(sizeof(T));
  require(bytes <= std::numeric_limits<int>::max(), "a message of {} bytes is too long for MPI", bytes);
  return static_cast<int>(bytes);
}

}  // namespace

template <class T>
Exchange<T>::Exchange(const Comm& comm, const Plan& plan, std::span<const IndexMap> maps, std::span<PartStreams> parts,
                      int components, const Routing* routing)
    : comm_(comm),
      plan_(plan),
      maps_(maps),
      parts_(parts),
      routing_(routing != nullptr ? *routing : automatic_routing),
      components_(components),
      fields_(maps.size()),
      staging_(maps.size()),
      separator_copies_(maps.size(), -1) {
  for (std::size_t p = 0; p < maps.size(); ++p) {
    if (parts[p].is_host()) continue;
    Device& device = *parts[p].device;
    staging_[p].separators = Buffer<T>(device, static_cast<Size>(maps[p].separator_rows().size()) * components,
                                       "separator staging", Memory::pinned);
    staging_[p].ghosts =
        Buffer<T>(device, static_cast<Size>(maps[p].ghosts()) * components, "ghost staging", Memory::pinned);
  }
  // Packed messages: reserved at once, so that their addresses stay.
  buffers_.reserve(plan.outgoing.size() + plan.incoming.size());

  // Receives first: they wait for nothing. Then what other ranks wait for, then what stays in this rank.
  for (const Message& m : plan.incoming) add_incoming(m);
  for (const Message& m : plan.outgoing) add_outgoing(m);
  for (const Message& m : plan.local) switch (route_of(m)) {
      case Route::direct:
        add_direct(m);
        break;
      case Route::peer:
        add_peer(m);
        break;
      default:
        add_local(m);
    }
  add_link();

  if (routing_.disabled) return;
  counts_.messages = static_cast<Size>(plan.outgoing.size());
  counts_.bytes = plan.rows_sent() * components * static_cast<Size>(sizeof(T));
}

template <class T>
int Exchange<T>::add(ExchangeOp op) {
  operations_.push_back(std::move(op));
  return static_cast<int>(operations_.size()) - 1;
}

template <class T>
std::string Exchange<T>::label(const char* what, const Message& message) const {
  return fmt::format("{} {}>{}", what, message.from, message.to);
}

/// Where the host reads a separator row: the field itself, or the pinned mirror of a device part.
template <class T>
const T* Exchange<T>::separator_value(int part, int component, Lid row) const {
  const auto p = static_cast<std::size_t>(part);
  if (is_host(part)) return fields_[p].data + static_cast<Size>(component) * fields_[p].stride + row;
  const Range rows = maps_[p].separator_rows();
  return staging_[p].separators.data() + static_cast<Size>(component) * rows.size() + (row - rows.begin);
}

/// Where the host writes a ghost row: likewise.
template <class T>
T* Exchange<T>::ghost_value(int part, int component, Lid row) {
  const auto p = static_cast<std::size_t>(part);
  if (is_host(part)) return fields_[p].data + static_cast<Size>(component) * fields_[p].stride + row;
  return staging_[p].ghosts.data() + static_cast<Size>(component) * maps_[p].ghosts() + (row - maps_[p].owned);
}

template <class T>
void Exchange<T>::gather(const Message& m, T* to) const {
  for (int c = 0; c < components_; ++c) {
    if (m.contiguous()) {
      std::copy_n(separator_value(m.source, c, m.rows.front()), m.count, to);
      to += m.count;
    } else {
      for (const Lid row : m.rows) *to++ = *separator_value(m.source, c, row);
    }
  }
}

/// The copy of all separators of a device part to its pinned mirror: one for all its messages.
template <class T>
int Exchange<T>::add_separator_copy(int part) {
  const auto p = static_cast<std::size_t>(part);
  if (is_host(part)) return -1;
  if (separator_copies_[p] >= 0) return separator_copies_[p];
  const Range rows = maps_[p].separator_rows();
  const std::size_t bytes = static_cast<std::size_t>(rows.size()) * sizeof(T);
  ExchangeOp op;
  op.kind = ExchangeOp::Kind::outgoing_copy;
  op.name = "copy separators";
  op.part = part;
  op.after_separators_of = {part};
  op.bytes = static_cast<Size>(bytes) * components_;
  op.enqueue = [this, p, rows, bytes](Stream& stream) {
    for (int c = 0; c < components_; ++c)
      stream.copy(staging_[p].separators.data() + static_cast<Size>(c) * rows.size(),
                  fields_[p].data + static_cast<Size>(c) * fields_[p].stride + rows.begin, bytes,
                  CopyDirection::to_host);
  };
  return separator_copies_[p] = add(std::move(op));
}

/// The copy of some ghosts of a device part from its pinned mirror to the device.
template <class T>
int Exchange<T>::add_ghost_copy(int part, Range ghosts, int after, const std::string& name) {
  const auto p = static_cast<std::size_t>(part);
  ExchangeOp op;
  op.kind = ExchangeOp::Kind::incoming_copy;
  op.name = name;
  op.part = part;
  op.after = {after};
  op.fills = {part};
  op.bytes = static_cast<Size>(ghosts.size()) * components_ * static_cast<Size>(sizeof(T));
  op.enqueue = [this, part, p, ghosts](Stream& stream) {
    for (int c = 0; c < components_; ++c)
      stream.copy(fields_[p].data + static_cast<Size>(c) * fields_[p].stride + ghosts.begin,
                  ghost_value(part, c, ghosts.begin), static_cast<std::size_t>(ghosts.size()) * sizeof(T),
                  CopyDirection::to_device);
  };
  return add(std::move(op));
}

/// Within a rank, through host memory: separators (mirrored if need be) are gathered where the receiver's ghosts are
/// (mirrored if need be).
template <class T>
void Exchange<T>::add_local(const Message& m) {
  const int mirrored = add_separator_copy(m.source);
  ExchangeOp op;
  op.name = label("gather", m);
  op.part = m.target;
  op.after_separators_of = {m.source};
  if (mirrored >= 0) op.after = {mirrored};
  if (is_host(m.target)) op.fills = {m.target};
  op.bytes = static_cast<Size>(m.count) * components_ * static_cast<Size>(sizeof(T));
  op.work = [this, &m] {
    for (int c = 0; c < components_; ++c) {
      T* to = ghost_value(m.target, c, m.ghosts.begin);
      for (const Lid row : m.rows) *to++ = *separator_value(m.source, c, row);
    }
  };
  const int gathered = add(std::move(op));
  if (!is_host(m.target)) add_ghost_copy(m.target, m.ghosts, gathered, label("copy ghosts", m));
}

/// A message's rows lie in device memory one behind the other in the field itself, or are gathered to a buffer.
template <class T>
typename Exchange<T>::DeviceSource Exchange<T>::add_device_source(const Message& m, Route route) {
  if (!is_packed(m, route, components_)) return {};
  PartStreams& part = parts_[m.source];
  DevicePack& pack = device_packs_.emplace_back();
  pack.rows = make_buffer(*part.compute, std::span<const Lid>(m.rows), "rows to pack");
  pack.values = Buffer<T>(*part.device, static_cast<Size>(m.count) * components_, "packed separators");
  ExchangeOp op;
  op.kind = ExchangeOp::Kind::outgoing_copy;
  op.name = label("pack", m);
  op.part = m.source;
  op.after_separators_of = {m.source};
  op.bytes = pack.values.bytes();
  op.enqueue = [this, &m, rows = pack.rows.data(), to = pack.values.data()](Stream& stream) {
    pack_rows(stream, fields_[m.source], rows, m.count, components_, to, m.count);
  };
  const T* packed = pack.values.data();
  return {add(std::move(op)), packed};
}

template <class T>
const T* Exchange<T>::sent_values(const Message& m, const T* packed, int component) const {
  if (packed != nullptr) return packed + static_cast<Size>(component) * m.count;
  const auto& from = fields_[m.source];
  return from.data + static_cast<Size>(component) * from.stride + m.rows.front();
}

template <class T>
T* Exchange<T>::device_ghosts(const Message& m, int component) const {
  const auto& to = fields_[m.target];
  return to.data + static_cast<Size>(component) * to.stride + m.ghosts.begin;
}

/// From GPU memory to GPU memory.
template <class T>
void Exchange<T>::add_peer(const Message& m) {
  ExchangeOp op;
  op.kind = ExchangeOp::Kind::incoming_copy;
  op.name = label("peer copy", m);
  op.part = m.target;
  op.after_separators_of = {m.source};
  op.fills = {m.target};
  op.bytes = static_cast<Size>(m.count) * components_ * static_cast<Size>(sizeof(T));
  op.enqueue = [this, &m](Stream& stream) {
    for (int c = 0; c < components_; ++c)
      stream.copy(device_ghosts(m, c), sent_values(m, nullptr, c), static_cast<std::size_t>(m.count) * sizeof(T),
                  CopyDirection::peer);
  };
  add(std::move(op));
}

/// From GPU memory to GPU memory, by a kernel of the sender.
template <class T>
void Exchange<T>::add_direct(const Message& m) {
  const Lid* rows = nullptr;
  if (!m.contiguous()) {
    DevicePack& pack = device_packs_.emplace_back();
    pack.rows = make_buffer(*parts_[m.source].compute, std::span<const Lid>(m.rows), "rows to send");
    rows = pack.rows.data();
  }
  ExchangeOp op;
  op.kind = ExchangeOp::Kind::outgoing_copy;
  op.name = label("store", m);
  op.part = m.source;
  op.after_separators_of = {m.source};
  op.fills = {m.target};
  op.overwrites = true;
  op.bytes = static_cast<Size>(m.count) * components_ * static_cast<Size>(sizeof(T));
  op.enqueue = [this, &m, rows](Stream& stream) {
    FieldView<T> from = fields_[m.source];
    if (rows == nullptr) from.data += m.rows.front();
    store_rows(stream, from, rows, m.count, components_, device_ghosts(m, 0), fields_[m.target].stride);
  };
  add(std::move(op));
}

template <class T>
void Exchange<T>::add_outgoing(const Message& m) {
  const Route route = route_of(m);
  if (route == Route::link) return;
  if (route == Route::device) return add_device_send(m);
  const int mirrored = add_separator_copy(m.source);
  const int bytes = message_bytes<T>(m, components_);
  int ready = mirrored;
  T* packed = nullptr;
  if (!(m.contiguous() && components_ == 1)) {
    packed = buffers_.emplace_back(static_cast<std::size_t>(m.count) * static_cast<std::size_t>(components_)).data();
    ExchangeOp pack;
    pack.name = label("pack", m);
    pack.part = m.source;
    pack.after_separators_of = {m.source};
    if (mirrored >= 0) pack.after = {mirrored};
    pack.bytes = bytes;
    pack.work = [this, &m, packed] { gather(m, packed); };
    ready = add(std::move(pack));
  }
  add_send(m, ready,
           [this, &m, packed] { return packed != nullptr ? packed : separator_value(m.source, 0, m.rows.front()); });
}

/// data(): where the message's values lie when it is sent, behind operation `ready` (-1: none).
template <class T>
void Exchange<T>::add_send(const Message& m, int ready, std::function<const T*()> data) {
  const int bytes = message_bytes<T>(m, components_);
  ExchangeOp send;
  send.kind = ExchangeOp::Kind::send;
  send.name = label("send", m);
  send.part = m.source;
  send.after_separators_of = {m.source};
  if (ready >= 0) send.after = {ready};
  send.bytes = bytes;
  send.start = [this, &m, data = std::move(data), bytes](MPI_Request* request) {
    check_mpi(MPI_Isend(data(), bytes, MPI_BYTE, m.to_rank, m.tag, comm_.handle(), request), "MPI_Isend");
  };
  add(std::move(send));
}

/// By an MPI that reads device memory.
template <class T>
void Exchange<T>::add_device_send(const Message& m) {
  const DeviceSource source = add_device_source(m, Route::device);
  add_send(m, source.ready, [this, &m, packed = source.packed] { return sent_values(m, packed, 0); });
}

/// By an MPI that writes device memory: to the ghosts themselves, where they are one row behind the other.
template <class T>
void Exchange<T>::add_device_receive(const Message& m) {
  const int bytes = message_bytes<T>(m, components_);
  T* arrived = nullptr;
  if (components_ > 1)
    arrived = device_arrivals_
                  .emplace_back(*parts_[m.target].device, static_cast<Size>(m.count) * components_, "arriving ghosts")
                  .data();
  ExchangeOp receive;
  receive.kind = ExchangeOp::Kind::receive;
  receive.name = label("receive", m);
  receive.part = m.target;
  receive.bytes = bytes;
  receive.start = [this, &m, arrived, bytes](MPI_Request* request) {
    T* data = arrived != nullptr ? arrived : device_ghosts(m, 0);
    check_mpi(MPI_Irecv(data, bytes, MPI_BYTE, m.from_rank, m.tag, comm_.handle(), request), "MPI_Irecv");
  };
  if (arrived == nullptr) receive.fills = {m.target};
  const int received = add(std::move(receive));
  if (arrived == nullptr) return;
  ExchangeOp unpack;
  unpack.kind = ExchangeOp::Kind::incoming_copy;
  unpack.name = label("unpack", m);
  unpack.part = m.target;
  unpack.after = {received};
  unpack.fills = {m.target};
  unpack.bytes = bytes;
  unpack.enqueue = [this, &m, arrived](Stream& stream) {
    for (int c = 0; c < components_; ++c)
      stream.copy(device_ghosts(m, c), arrived + static_cast<Size>(c) * m.count,
                  static_cast<std::size_t>(m.count) * sizeof(T), CopyDirection::local);
  };
  add(std::move(unpack));
}

/// All messages of this rank that the link moves, as one operation: several would wait for each other in a circle,
/// where ranks launch them in different orders. It stands last, so that it keeps no copy waiting for other ranks.
template <class T>
void Exchange<T>::add_link() {
  struct End {
    const Message* message;
    const T* packed;
    bool sends;
  };
  std::vector<End> ends;
  ExchangeOp op;
  for (const Message& m : plan_.outgoing) {
    if (route_of(m) != Route::link) continue;
    const DeviceSource source = add_device_source(m, Route::link);
    if (source.ready >= 0) op.after.push_back(source.ready);
    op.after_separators_of.push_back(m.source);
    op.bytes += static_cast<Size>(m.count) * components_ * static_cast<Size>(sizeof(T));
    ends.push_back({&m, source.packed, true});
  }
  for (const Message& m : plan_.incoming) {
    if (route_of(m) != Route::link) continue;
    // Its ghosts may still be read until its separators have been computed: those of the step before are done then.
    op.after_separators_of.push_back(m.target);
    op.fills.push_back(m.target);
    ends.push_back({&m, nullptr, false});
  }
  if (ends.empty()) return;
  op.kind = ExchangeOp::Kind::outgoing_copy;
  op.name = routing_name(routing_.kind);
  op.part = ends.front().sends ? ends.front().message->source : ends.front().message->target;
  op.abandon = [this] { routing_.link->abandon(); };
  op.enqueue = [this, ends](Stream& stream) {
    std::vector<LinkEnd> all;
    for (const End& end : ends) {
      const Message& m = *end.message;
      PartStreams& part = parts_[end.sends ? m.source : m.target];
      const std::size_t bytes = static_cast<std::size_t>(m.count) * sizeof(T);
      for (int c = 0; c < components_; ++c)
        if (end.sends)
          all.push_back({part.outgoing.get(), m.to, const_cast<T*>(sent_values(m, end.packed, c)), bytes, true});
        else
          all.push_back({part.outgoing.get(), m.from, device_ghosts(m, c), bytes, false});
    }
    routing_.link->enqueue(stream, all);
  };
  add(std::move(op));
}

template <class T>
void Exchange<T>::add_incoming(const Message& m) {
  const Route route = route_of(m);
  if (route == Route::link) return;
  if (route == Route::device) return add_device_receive(m);
  const int bytes = message_bytes<T>(m, components_);
  // One component: the receiver's ghosts are contiguous, so the message needs no unpacking.
  T* packed = nullptr;
  if (components_ > 1)
    packed = buffers_.emplace_back(static_cast<std::size_t>(m.count) * static_cast<std::size_t>(components_)).data();
  ExchangeOp receive;
  receive.kind = ExchangeOp::Kind::receive;
  receive.name = label("receive", m);
  receive.part = m.target;
  receive.bytes = bytes;
  receive.start = [this, &m, packed, bytes](MPI_Request* request) {
    T* data = packed != nullptr ? packed : ghost_value(m.target, 0, m.ghosts.begin);
    check_mpi(MPI_Irecv(data, bytes, MPI_BYTE, m.from_rank, m.tag, comm_.handle(), request), "MPI_Irecv");
  };
  if (packed == nullptr && is_host(m.target)) receive.fills = {m.target};
  int ready = add(std::move(receive));
  if (packed != nullptr) {
    ExchangeOp unpack;
    unpack.name = label("unpack", m);
    unpack.part = m.target;
    if (is_host(m.target)) unpack.fills = {m.target};
    unpack.after = {ready};
    unpack.bytes = bytes;
    unpack.work = [this, &m, packed] {
      for (int c = 0; c < components_; ++c)
        std::copy_n(packed + static_cast<Size>(c) * m.count, m.count, ghost_value(m.target, c, m.ghosts.begin));
    };
    ready = add(std::move(unpack));
  }
  if (!is_host(m.target)) add_ghost_copy(m.target, m.ghosts, ready, label("copy ghosts", m));
}

template <class T>
void Exchange<T>::bind(std::span<const FieldView<T>> fields) {
  require(fields.size() == fields_.size(), "{} fields for {} parts", fields.size(), fields_.size());
  if (routing_.link) routing_.link->check();
  std::copy(fields.begin(), fields.end(), fields_.begin());
}

template <class T>
void Exchange<T>::begin(std::span<const FieldView<T>> fields) {
  bind(fields);
  for (PartStreams& part : parts_) part.compute->synchronize();
  requests_.assign(operations_.size(), MPI_REQUEST_NULL);
  started_.assign(operations_.size(), 0);
  for (std::size_t i = 0; i < operations_.size(); ++i) {
    const ExchangeOp& op = operations_[i];
    const bool after_message = std::any_of(op.after.begin(), op.after.end(), [&](int a) {
      return started_[a] == 0 || operations_[a].kind == ExchangeOp::Kind::receive;
    });
    if (after_message) continue;
    started_[i] = 1;
    if (op.start) op.start(&requests_[i]);
    if (op.work) op.work();
    if (op.enqueue) {
      PartStreams& part = parts_[op.part];
      Stream& stream = op.kind == ExchangeOp::Kind::outgoing_copy ? *part.outgoing : *part.incoming;
      op.enqueue(stream);
      stream.synchronize();
    }
  }
}

template <class T>
void Exchange<T>::end() {
  check_mpi(MPI_Waitall(static_cast<int>(requests_.size()), requests_.data(), MPI_STATUSES_IGNORE), "MPI_Waitall");
  for (std::size_t i = 0; i < operations_.size(); ++i) {
    const ExchangeOp& op = operations_[i];
    if (started_[i] != 0) continue;
    if (op.work) op.work();
    if (op.enqueue) {
      Stream& stream = *parts_[op.part].incoming;
      op.enqueue(stream);
      stream.synchronize();
    }
  }
}

template class Exchange<double>;
template class Exchange<float>;

Size device_message_bytes(const Plan& plan, const Routing& routing, std::span<const PartStreams> parts, int part,
                          int components, Size value_bytes) {
  Size bytes = 0;
  const Size row_bytes = components * value_bytes;
  for (const auto* messages : {&plan.local, &plan.outgoing})
    for (const Message& m : *messages)
      if (m.source == part) {
        const Route route = route_of(m, routing, parts);
        const bool packed = is_packed(m, route, components);
        if (packed || (route == Route::direct && !m.contiguous())) bytes += m.count * static_cast<Size>(sizeof(Lid));
        if (packed) bytes += m.count * row_bytes;
      }
  for (const Message& m : plan.incoming)
    if (m.target == part && components > 1 && route_of(m, routing, parts) == Route::device)
      bytes += m.count * row_bytes;
  return bytes;
}

void abandon_receive(MPI_Request& request) {
  if (request == MPI_REQUEST_NULL) return;
  MPI_Cancel(&request);
  const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(200);
  for (int done = 0; MPI_Test(&request, &done, MPI_STATUS_IGNORE) == MPI_SUCCESS && done == 0;)
    if (std::chrono::steady_clock::now() > end) return;
}

}  // namespace tutti
