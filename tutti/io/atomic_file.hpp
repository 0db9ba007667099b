// Files that appear whole or not at all.
#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <string_view>

namespace tutti {

/// Writes the pieces, one after the other, to a temporary file beside `path` and renames it: a reader sees the old
/// content or the new one, never half of it. Makes the folder. Error(io) with path, bytes and cause (disk full, ...);
/// the temporary file is then removed and an old `path` stays.
void write_file_atomically(const std::filesystem::path& path, std::span<const std::string_view> pieces);
void write_file_atomically(const std::filesystem::path& path, std::string_view content);

}  // namespace tutti
