#include "tutti/base/alarm.hpp"

#include <algorithm>
#include <chrono>
#include <thread>
#include <utility>
#include <vector>

namespace tutti {
namespace {

std::function<void()> lone_failure_handler;

constexpr int tag = 1;
constexpr double patience = 8;  // seconds: a rank that is not ended by then ends itself

}  // namespace

void set_lone_failure_handler(std::function<void()> handler) {
  lone_failure_handler = std::move(handler);
}

void on_lone_failure() {
  if (lone_failure_handler) lone_failure_handler();
}

Alarm::Alarm(const Comm& comm) : comm_(comm) {
  if (comm_.size() == 1) return;
  check_mpi(MPI_Comm_dup(comm_.handle(), &own_comm_), "MPI_Comm_dup");
  MPI_Comm_set_errhandler(own_comm_, MPI_ERRORS_RETURN);
}

Alarm::~Alarm() {
  if (own_comm_ != MPI_COMM_NULL && !claimed_) MPI_Comm_free(&own_comm_);
}

/// Looks for so long whether another rank has failed, too. (Errors of MPI are of no more interest here.)
bool Alarm::hear_until(double seconds, bool lower_only) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::duration<double>(seconds);
  for (;;) {
    int there = 0;
    MPI_Status status;
    while (MPI_Iprobe(MPI_ANY_SOURCE, tag, own_comm_, &there, &status) == MPI_SUCCESS && there != 0) {
      char nothing = 0;
      MPI_Recv(&nothing, 0, MPI_CHAR, status.MPI_SOURCE, tag, own_comm_, MPI_STATUS_IGNORE);
      if (!lower_only || status.MPI_SOURCE < comm_.rank()) return true;
    }
    if (std::chrono::steady_clock::now() >= end) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

bool Alarm::claim() {
  claimed_ = true;
  if (comm_.size() == 1) return true;
  bool other = hear_until(0, false);
  if (!other) {
    // Messages without content: they leave at once and are never waited for.
    std::vector<MPI_Request> requests(comm_.size(), MPI_REQUEST_NULL);
    for (int r = 0; r < comm_.size(); ++r)
      if (r != comm_.rank()) MPI_Isend(nullptr, 0, MPI_CHAR, r, tag, own_comm_, &requests[r]);
    for (MPI_Request& request : requests)
      if (request != MPI_REQUEST_NULL) MPI_Request_free(&request);
    other = hear_until(std::clamp(0.1 * comm_.rank(), 0.02, 2.0), true);
  }
  if (other) std::this_thread::sleep_for(std::chrono::duration<double>(patience));
  return !other;
}

}  // namespace tutti
