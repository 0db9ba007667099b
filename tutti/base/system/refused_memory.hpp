// What was asked for when an allocation failed: std::bad_alloc does not say it.
#pragma once

#include <cstddef>
#include <string>

namespace tutti {

/// Keeps the size of an allocation that the system refused. Does not allocate.
void note_refused(std::size_t bytes) noexcept;
/// Bytes of the allocation that was refused last; 0: none, or not known.
std::size_t refused_bytes() noexcept;

/// What a std::bad_alloc means: "the system has no 1.5 GiB left; ...", without the size where it is not known.
std::string no_memory_message();

/// For a std::system_error: memory or threads are missing (EAGAIN, ENOMEM).
bool is_shortage(int error);

}  // namespace tutti
