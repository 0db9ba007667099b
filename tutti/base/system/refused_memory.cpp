#include "tutti/base/system/refused_memory.hpp"

#include <atomic>
#include <cerrno>

#include "tutti/base/error.hpp"
#include "tutti/base/units.hpp"

namespace tutti {
namespace {

std::atomic<std::size_t> last_refused{0};

}  // namespace

void note_refused(std::size_t bytes) noexcept {
  last_refused.store(bytes, std::memory_order_relaxed);
}

std::size_t refused_bytes() noexcept {
  return last_refused.load(std::memory_order_relaxed);
}

std::string no_memory_message() {
  const std::size_t bytes = refused_bytes();
  return fmt::format("the system has no {} left; use a smaller mesh or more nodes",
                     bytes == 0 ? "memory" : format_bytes(static_cast<double>(bytes)));
}

bool is_shortage(int error) {
  return error == EAGAIN || error == ENOMEM;
}

}  // namespace tutti
