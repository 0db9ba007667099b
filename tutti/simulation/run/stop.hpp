// Asking a run to stop in order: signals and a file.
#pragma once

#include <filesystem>

namespace tutti {

/// From now on SIGTERM, SIGINT, SIGUSR1, SIGHUP and SIGPIPE ask the run to stop instead of killing it; a second SIGINT
/// kills it. SIGHUP and SIGPIPE stay ignored where they are (nohup). Called first thing in a program: a signal that
/// comes before the run has begun counts as well.
/// (mpirun passes SIGUSR1 on to its ranks as it is; after SIGTERM or SIGINT it gives them only a second or so.)
void catch_stop_signals();
/// For what is no run: the signals kill it as they do any program; one that has come already does so now.
void release_stop_signals();
/// A signal has come to this process.
bool stop_signalled();
/// Forgets a signal; for tests.
void clear_stop_signal();
/// Is there a file `stop` in the folder? It is removed, so that the next run is not stopped by it.
bool take_stop_file(const std::filesystem::path& folder);

}  // namespace tutti
