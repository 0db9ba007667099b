// Texts that commands write for scripts.
#pragma once

#include <string>

namespace tutti {

/// To a file or a pipe. Error(io), also where the file's folder is not there.
void write_report(const std::string& file, const std::string& text);

}  // namespace tutti
