#include "tutti/simulation/run/stop.hpp"

#include <array>
#include <csignal>

namespace tutti {
namespace {

constexpr std::array<int, 5> stop_signals = {SIGTERM, SIGINT, SIGUSR1, SIGHUP, SIGPIPE};
volatile std::sig_atomic_t signalled = 0;  ///< the signal that came first

void remember(int signal) {
  if (signalled == 0) signalled = signal;
  if (signal == SIGINT) std::signal(SIGINT, SIG_DFL);
}

bool is_ignored(int signal) {
  struct sigaction action {};
  return sigaction(signal, nullptr, &action) == 0 && action.sa_handler == SIG_IGN;
}

}  // namespace

void catch_stop_signals() {
  for (const int signal : stop_signals) {
    if ((signal == SIGHUP || signal == SIGPIPE) && is_ignored(signal)) continue;
    struct sigaction action {};
    action.sa_handler = remember;
    // System calls of output in progress go on; the steps look at the flag.
    action.sa_flags = SA_RESTART;
    sigaction(signal, &action, nullptr);
  }
}

void release_stop_signals() {
  for (const int signal : stop_signals) {
    struct sigaction action {};
    if (sigaction(signal, nullptr, &action) == 0 && action.sa_handler == remember) std::signal(signal, SIG_DFL);
  }
  if (signalled != 0) std::raise(signalled);
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
