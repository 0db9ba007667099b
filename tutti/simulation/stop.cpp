#include "tutti/simulation/stop.hpp"

#include <csignal>

namespace tutti {
namespace {

volatile std::sig_atomic_t signalled = 0;

void remember(int signal) {
  signalled = 1;
  if (signal == SIGINT) std::signal(SIGINT, SIG_DFL);
}

}  // namespace

void catch_stop_signals() {
  for (const int signal : {SIGTERM, SIGINT, SIGUSR1}) {
    struct sigaction action {};
    action.sa_handler = remember;
    // System calls of output in progress go on; the steps look at the flag.
    action.sa_flags = SA_RESTART;
    sigaction(signal, &action, nullptr);
  }
}

bool stop_signalled() {
  return signalled != 0;
}

void clear_stop_signal() {
  signalled = 0;
}

bool take_stop_file(const std::filesystem::path& folder) {
  std::error_code error;
  return std::filesystem::remove(folder / "stop", error);
}

}  // namespace tutti
