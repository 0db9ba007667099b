// Who tells of a failure that several ranks may meet at the same time, where they cannot ask each other.
#pragma once

#include <mpi.h>

#include "tutti/base/comm.hpp"

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

}  // namespace tutti
