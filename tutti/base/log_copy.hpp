// How a program sets up what it says: its name, and the copy that stands in the folder of the results (run.log).
#pragma once

#include <string>

namespace tutti {

/// Begins warnings; "tutti" until it is set.
void set_log_name(const std::string& program);
/// All that is said from now on goes to this open file as well, and first `head` and what was said before. A line that
/// cannot be written ends the copy, with a warning; the run goes on. The file is not closed here.
void copy_log_to(int file, const std::string& head);
/// A line into the copy only.
void copy_line(const std::string& line);

}  // namespace tutti
