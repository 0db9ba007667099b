// A thin, typed layer over MPI: what tutti needs of a communicator and no more.
#pragma once

#include <mpi.h>

#include <algorithm>
#include <functional>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "tutti/base/error.hpp"
#include "tutti/base/types.hpp"

namespace tutti {

/// Error(peer) that names the call, unless `code` is MPI_SUCCESS. tutti's communicators return their errors.
void check_mpi(int code, const char* call);

/// A communicator that is not owned. All members are collective unless said otherwise.
class Comm {
 public:
  explicit Comm(MPI_Comm comm = MPI_COMM_WORLD);
  MPI_Comm handle() const { return comm_; }
  int rank() const { return rank_; }
  int size() const { return size_; }
  bool is_root() const { return rank_ == 0; }

  void barrier() const;
  void sum(std::span<std::int64_t> values) const;  ///< element-wise, in place, on all ranks
  /// NaN is not treated specially: use it on numbers, or turn NaN into +infinity first.
  void max(std::span<double> values) const;
  std::int64_t sum(std::int64_t value) const;
  double max(double value) const;

  /// Bytes of any trivially copyable type: everyone's elements, rank after rank, on every rank.
  template <class T>
  std::vector<T> all_gather(std::span<const T> mine) const;
  /// outgoing[r] goes to rank r; returns what each rank sent here. Counts may exceed 2^31 bytes.
  template <class T>
  std::vector<std::vector<T>> all_to_all(const std::vector<std::vector<T>>& outgoing) const;
  /// The root's value on every rank.
  template <class T>
  void broadcast(std::vector<T>& values, int root = 0) const;
  void broadcast(std::string& text, int root = 0) const;

  /// Everyone's text, rank after rank, on every rank.
  std::vector<std::string> all_gather_text(const std::string& mine) const;

  /// Runs `work` on this rank; when any rank threw Error, all ranks throw the Error of the lowest such rank (running
  /// out of memory counts as Error(resource); any other exception becomes std::logic_error on all ranks). Every rank
  /// must call it: the way a failure that only one rank can see becomes everyone's.
  void together(const std::function<void()>& work) const;

 private:
  std::vector<char> all_gather_bytes(std::span<const char> mine) const;
  std::vector<std::vector<char>> all_to_all_bytes(const std::vector<std::span<const char>>& outgoing) const;
  void broadcast_bytes(std::vector<char>& bytes, int root) const;

  MPI_Comm comm_;
  int rank_ = 0;
  int size_ = 1;
};

/// Sends and receives a byte array of any length between two ranks (not collective). Tag 32001 is the collectives' own.
void send_bytes(const Comm& comm, std::span<const char> bytes, int to, int tag);
std::vector<char> receive_bytes(const Comm& comm, int from, int tag);

/// Largest single MPI message in bytes, <= 2^30 (the default); longer arrays travel in pieces. The same on all ranks.
/// Returns the value before. For tests: it lets a short array take the path of a long one.
Size set_message_chunk(Size bytes);

namespace detail {
template <class T>
std::span<const char> as_chars(std::span<const T> values) {
  static_assert(std::is_trivially_copyable_v<T>);
  return {reinterpret_cast<const char*>(values.data()), values.size_bytes()};
}
template <class T>
std::vector<T> from_chars_vector(const std::vector<char>& bytes) {
  std::vector<T> values(bytes.size() / sizeof(T));
  std::copy(bytes.begin(), bytes.end(), reinterpret_cast<char*>(values.data()));
  return values;
}
}  // namespace detail

template <class T>
std::vector<T> Comm::all_gather(std::span<const T> mine) const {
  return detail::from_chars_vector<T>(all_gather_bytes(detail::as_chars(mine)));
}

template <class T>
std::vector<std::vector<T>> Comm::all_to_all(const std::vector<std::vector<T>>& outgoing) const {
  std::vector<std::span<const char>> spans;
  for (const auto& o : outgoing) spans.push_back(detail::as_chars(std::span<const T>(o)));
  std::vector<std::vector<T>> incoming;
  for (const auto& bytes : all_to_all_bytes(spans)) incoming.push_back(detail::from_chars_vector<T>(bytes));
  return incoming;
}

template <class T>
void Comm::broadcast(std::vector<T>& values, int root) const {
  auto bytes = std::vector<char>(detail::as_chars(std::span<const T>(values)).begin(),
                                 detail::as_chars(std::span<const T>(values)).end());
  broadcast_bytes(bytes, root);
  values = detail::from_chars_vector<T>(bytes);
}

}  // namespace tutti
