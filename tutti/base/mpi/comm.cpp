#include "tutti/base/mpi/comm.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <exception>
#include <new>
#include <system_error>

#include "tutti/base/system/refused_memory.hpp"

namespace tutti {
namespace {

// MPI counts are ints: a longer array travels in pieces of this many bytes.
std::atomic<Size> chunk_bytes{Size{1} << 30};

// Of the messages inside a collective member; send_bytes and receive_bytes must not use it.
constexpr int collective_tag = 32001;

/// piece(offset, count) over [0, size) in pieces of at most `limit`.
template <class Piece>
void in_pieces(Size size, Size limit, const Piece& piece) {
  for (Size offset = 0; offset < size; offset += limit) piece(offset, static_cast<int>(std::min(limit, size - offset)));
}

template <class T>
void reduce_in_place(std::span<T> values, MPI_Datatype type, MPI_Op op, MPI_Comm comm) {
  const Size limit = std::max(Size{1}, chunk_bytes / static_cast<Size>(sizeof(T)));
  in_pieces(static_cast<Size>(values.size()), limit, [&](Size offset, int count) {
    check_mpi(MPI_Allreduce(MPI_IN_PLACE, values.data() + offset, count, type, op, comm), "MPI_Allreduce");
  });
}

void broadcast_raw(char* bytes, Size size, int root, MPI_Comm comm) {
  in_pieces(size, chunk_bytes, [&](Size offset, int count) {
    check_mpi(MPI_Bcast(bytes + offset, count, MPI_CHAR, root, comm), "MPI_Bcast");
  });
}

/// What this rank's work threw, as it travels: kind 0 is an exception that is not tutti's, a bug.
struct Failure {
  bool failed = false;
  int kind = 0;
  std::string message;
};

Failure run_and_catch(const std::function<void()>& work) {
  try {
    work();
    return {};
  } catch (const Error& error) {
    return {true, error.exit_code(), error.what()};
  } catch (const std::bad_alloc&) {
    return {true, static_cast<int>(ErrorKind::resource), no_memory_message()};
  } catch (const std::system_error& error) {
    const int cause = error.code().value();
    if (!is_shortage(cause)) return {true, 0, error.what()};
    return {true, static_cast<int>(ErrorKind::resource),
            fmt::format("the system has no memory or thread left: {}", system_cause(cause))};
  } catch (const std::exception& error) {
    return {true, 0, error.what()};
  } catch (...) {
    return {true, 0, "internal error: an exception of an unknown type"};
  }
}

}  // namespace

void check_mpi(int code, const char* call) {
  if (code == MPI_SUCCESS) return;
  char text[MPI_MAX_ERROR_STRING] = "";
  int length = 0;
  MPI_Error_string(code, text, &length);
  fail(ErrorKind::peer, "{} failed: {}; another rank or the network was lost; restart from a checkpoint", call, text);
}

Comm::Comm(MPI_Comm comm) : comm_(comm) {
  check_mpi(MPI_Comm_rank(comm_, &rank_), "MPI_Comm_rank");
  check_mpi(MPI_Comm_size(comm_, &size_), "MPI_Comm_size");
}

void Comm::barrier() const {
  check_mpi(MPI_Barrier(comm_), "MPI_Barrier");
}

void Comm::sum(std::span<std::int64_t> values) const {
  reduce_in_place(values, MPI_INT64_T, MPI_SUM, comm_);
}

void Comm::max(std::span<double> values) const {
  reduce_in_place(values, MPI_DOUBLE, MPI_MAX, comm_);
}

std::int64_t Comm::sum(std::int64_t value) const {
  sum(std::span(&value, 1));
  return value;
}

double Comm::max(double value) const {
  max(std::span(&value, 1));
  return value;
}

std::vector<char> Comm::all_gather_bytes(std::span<const char> mine) const {
  const auto ranks = static_cast<std::size_t>(size_);
  const Size my_size = static_cast<Size>(mine.size());
  std::vector<Size> sizes(ranks), begins(ranks + 1, 0);
  check_mpi(MPI_Allgather(&my_size, 1, MPI_INT64_T, sizes.data(), 1, MPI_INT64_T, comm_), "MPI_Allgather");
  for (std::size_t r = 0; r < ranks; ++r) begins[r + 1] = begins[r] + sizes[r];
  std::vector<char> all(begins[ranks]);
  if (begins[ranks] <= chunk_bytes) {
    const std::vector<int> counts(sizes.begin(), sizes.end());
    const std::vector<int> offsets(begins.begin(), begins.end() - 1);
    check_mpi(MPI_Allgatherv(mine.data(), static_cast<int>(my_size), MPI_CHAR, all.data(), counts.data(),
                             offsets.data(), MPI_CHAR, comm_),
              "MPI_Allgatherv");
    return all;
  }
  if (!mine.empty()) std::memcpy(all.data() + begins[rank_], mine.data(), mine.size());
  for (std::size_t r = 0; r < ranks; ++r) broadcast_raw(all.data() + begins[r], sizes[r], static_cast<int>(r), comm_);
  return all;
}

std::vector<std::vector<char>> Comm::all_to_all_bytes(const std::vector<std::span<const char>>& outgoing) const {
  const auto ranks = static_cast<std::size_t>(size_);
  const auto me = static_cast<std::size_t>(rank_);
  require(outgoing.size() == ranks, "all_to_all: {} arrays for {} ranks", outgoing.size(), ranks);
  std::vector<Size> send_sizes(ranks), receive_sizes(ranks);
  for (std::size_t r = 0; r < ranks; ++r) send_sizes[r] = static_cast<Size>(outgoing[r].size());
  check_mpi(MPI_Alltoall(send_sizes.data(), 1, MPI_INT64_T, receive_sizes.data(), 1, MPI_INT64_T, comm_),
            "MPI_Alltoall");

  std::vector<std::vector<char>> incoming(ranks);
  std::vector<MPI_Request> requests;
  const auto post = [&](auto&& call) {
    requests.push_back(MPI_REQUEST_NULL);
    call(&requests.back());
  };
  for (std::size_t r = 0; r < ranks; ++r) {
    if (r == me) {
      incoming[r].assign(outgoing[r].begin(), outgoing[r].end());
      continue;
    }
    incoming[r].resize(receive_sizes[r]);
    in_pieces(receive_sizes[r], chunk_bytes, [&](Size offset, int count) {
      post([&](MPI_Request* request) {
        check_mpi(MPI_Irecv(incoming[r].data() + offset, count, MPI_CHAR, static_cast<int>(r), collective_tag, comm_,
                            request),
                  "MPI_Irecv");
      });
    });
  }
  // Every rank starts with its own successor, so that not all send to rank 0 first.
  for (std::size_t step = 1; step < ranks; ++step) {
    const std::size_t r = (me + step) % ranks;
    in_pieces(send_sizes[r], chunk_bytes, [&](Size offset, int count) {
      post([&](MPI_Request* request) {
        check_mpi(MPI_Isend(outgoing[r].data() + offset, count, MPI_CHAR, static_cast<int>(r), collective_tag, comm_,
                            request),
                  "MPI_Isend");
      });
    });
  }
  check_mpi(MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE), "MPI_Waitall");
  return incoming;
}

void Comm::broadcast_bytes(std::vector<char>& bytes, int root) const {
  Size size = static_cast<Size>(bytes.size());
  check_mpi(MPI_Bcast(&size, 1, MPI_INT64_T, root, comm_), "MPI_Bcast");
  bytes.resize(size);
  broadcast_raw(bytes.data(), size, root, comm_);
}

void Comm::broadcast(std::string& text, int root) const {
  Size size = static_cast<Size>(text.size());
  check_mpi(MPI_Bcast(&size, 1, MPI_INT64_T, root, comm_), "MPI_Bcast");
  text.resize(size);
  broadcast_raw(text.data(), size, root, comm_);
}

std::vector<std::string> Comm::all_gather_text(const std::string& mine) const {
  const std::array<Size, 1> length{static_cast<Size>(mine.size())};
  const auto lengths = all_gather(std::span<const Size>(length));
  const auto all = all_gather(std::span<const char>(mine.data(), mine.size()));
  std::vector<std::string> texts;
  std::size_t at = 0;
  for (const Size n : lengths) {
    texts.emplace_back(all.begin() + static_cast<std::ptrdiff_t>(at),
                       all.begin() + static_cast<std::ptrdiff_t>(at + static_cast<std::size_t>(n)));
    at += static_cast<std::size_t>(n);
  }
  return texts;
}

void Comm::together(const std::function<void()>& work) const {
  Failure failure = run_and_catch(work);
  int first = failure.failed ? rank_ : size_;
  check_mpi(MPI_Allreduce(MPI_IN_PLACE, &first, 1, MPI_INT, MPI_MIN, comm_), "MPI_Allreduce");
  if (first == size_) return;
  check_mpi(MPI_Bcast(&failure.kind, 1, MPI_INT, first, comm_), "MPI_Bcast");
  broadcast(failure.message, first);
  if (failure.kind == 0) throw std::logic_error(failure.message);
  throw SharedError(static_cast<ErrorKind>(failure.kind), failure.message);
}

void send_bytes(const Comm& comm, std::span<const char> bytes, int to, int tag) {
  const Size size = static_cast<Size>(bytes.size());
  check_mpi(MPI_Send(&size, 1, MPI_INT64_T, to, tag, comm.handle()), "MPI_Send");
  in_pieces(size, chunk_bytes, [&](Size offset, int count) {
    check_mpi(MPI_Send(bytes.data() + offset, count, MPI_CHAR, to, tag, comm.handle()), "MPI_Send");
  });
}

std::vector<char> receive_bytes(const Comm& comm, int from, int tag) {
  Size size = 0;
  check_mpi(MPI_Recv(&size, 1, MPI_INT64_T, from, tag, comm.handle(), MPI_STATUS_IGNORE), "MPI_Recv");
  std::vector<char> bytes(size);
  in_pieces(size, chunk_bytes, [&](Size offset, int count) {
    check_mpi(MPI_Recv(bytes.data() + offset, count, MPI_CHAR, from, tag, comm.handle(), MPI_STATUS_IGNORE),
              "MPI_Recv");
  });
  return bytes;
}

Size set_message_chunk(Size bytes) {
  require(bytes > 0 && bytes <= (Size{1} << 30), "a message piece of {} bytes", bytes);
  return chunk_bytes.exchange(bytes);
}

}  // namespace tutti
