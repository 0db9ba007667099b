// Asking a run to stop in order: signals and a file.
#pragma once

#include <filesystem>

namespace tutti {

/// From now on SIGTERM, SIGINT and SIGUSR1 ask the run to stop instead of killing it; a second SIGINT kills it.
/// (mpirun passes SIGUSR1 on to its ranks as it is; after SIGTERM or SIGINT it gives them only a second or so.)
void catch_stop_signals();
/// A signal has come to this process.
bool stop_signalled();
/// Forgets a signal; for tests.
void clear_stop_signal();
/// Is there a file `stop` in the folder? It is removed, so that the next run is not stopped by it.
bool take_stop_file(const std::filesystem::path& folder);

}  // namespace tutti
