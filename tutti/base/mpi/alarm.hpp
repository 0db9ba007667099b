// Who tells of a failure that several ranks may meet at the same time, where they cannot ask each other.
#pragma once

#include <mpi.h>

#include <functional>

#include "tutti/base/mpi/comm.hpp"

namespace tutti {

/// Made once, while all ranks are well. A rank that fails alone, in the middle of a step, claims the message; the
/// others are then ended by it (MPI_Abort) and keep quiet.
class Alarm {
 public:
  /// Collective.
  explicit Alarm(const Comm& comm);
  /// Collective, unless this rank has claimed.
  ~Alarm();
  Alarm(const Alarm&) = delete;
  Alarm& operator=(const Alarm&) = delete;

  /// True on the rank that shall tell. A rank that hears of an earlier failure, or of one of a lower rank at the same
  /// time, gets false; it does so only after it has waited in vain to be ended. Waits 0.1 s a rank below this one, at
  /// most 2 s.
  bool claim();

 private:
  bool hear_until(double seconds, bool lower_only);

  const Comm& comm_;
  MPI_Comm own_comm_ = MPI_COMM_NULL;
  bool claimed_ = false;
};

/// What a program does when this rank fails alone while messages are under way: MPI may still write to memory that goes
/// when the exception unwinds, so the ranks must end before. Empty: nothing.
void set_lone_failure_handler(std::function<void()> handler);
/// Call it in a catch block, first thing, where messages may be under way. Comes back when no handler is set, or when
/// the handler does (with one rank there is nobody to end).
void on_lone_failure();

}  // namespace tutti
