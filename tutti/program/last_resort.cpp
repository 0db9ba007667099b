#include "tutti/program/last_resort.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <new>
#include <system_error>

#include "tutti/base/error.hpp"
#include "tutti/base/system/refused_memory.hpp"

// Sanitizers have allocators of their own, and look for crashes themselves.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define TUTTI_SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) || __has_feature(memory_sanitizer)
#define TUTTI_SANITIZED 1
#endif
#endif

namespace tutti {
namespace {

#if defined(TUTTI_SANITIZED)
constexpr bool sanitized = true;
#else
constexpr bool sanitized = false;
#endif

std::atomic<bool> watching{false};
std::atomic<int> wanted_code{0};  ///< of a program that ends; 0: it does not
std::array<char, 64> program_name{};
/// Given back when an allocation is refused for the first time, so that what is left to say can be said.
std::atomic<void*> reserve{nullptr};
constexpr std::size_t reserve_bytes = std::size_t{1} << 20;
alignas(16) std::array<char, 64 * 1024> signal_stack;

/// Nothing here may allocate.
void say(const char* message) {
  std::array<char, 300> line{};
  const int length = std::snprintf(line.data(), line.size(), "%s: error: %s\n", program_name.data(), message);
  if (length > 0) (void)!::write(STDERR_FILENO, line.data(), static_cast<std::size_t>(length));
}

[[noreturn]] void end(const char* message) {
  say(message);
  ::_exit(static_cast<int>(ErrorKind::resource));
}

constexpr const char* no_memory = "the system has no memory left; use a smaller mesh or more nodes";

bool memory_is_short() {
  if (refused_bytes() > 0) return true;
  constexpr std::size_t some = std::size_t{16} << 20;
  void* const there = ::mmap(nullptr, some, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (there == MAP_FAILED) return true;
  ::munmap(there, some);
  return false;
}

void at_exit(int code, void*) {
  if (const int wanted = wanted_code; wanted != 0 && wanted != code) ::_exit(wanted);
  if (watching.exchange(false))
    end("a library ended the program for the reason above, usually missing memory or threads; use a smaller mesh, "
        "fewer threads or more nodes");
}

void at_terminate() {
  const auto shortage = [] {
    if (const std::exception_ptr error = std::current_exception()) try {
        std::rethrow_exception(error);
      } catch (const std::bad_alloc&) {
        return true;
      } catch (const std::system_error& e) {
        return is_shortage(e.code().value());
      } catch (const Error& e) {
        return e.kind() == ErrorKind::resource;
      } catch (...) {
      }
    return false;
  };
  if (watching && (shortage() || memory_is_short())) end(no_memory);
  std::abort();
}

void at_crash(int signal) {
  if (watching.exchange(false) && memory_is_short()) end(no_memory);
  std::signal(signal, SIG_DFL);
  std::raise(signal);
}

}  // namespace

LastResort::LastResort(const std::string& program) {
  std::strncpy(program_name.data(), program.c_str(), program_name.size() - 1);
  if (reserve == nullptr) reserve = std::malloc(reserve_bytes);
  if (sanitized) return;
  static const bool once = [] {
    on_exit(at_exit, nullptr);
    std::set_terminate(at_terminate);
    // A stack of its own: one that has overflowed is no place for a handler.
    stack_t stack{};
    stack.ss_sp = signal_stack.data();
    stack.ss_size = signal_stack.size();
    sigaltstack(&stack, nullptr);
    for (const int signal : {SIGSEGV, SIGBUS, SIGABRT, SIGFPE}) {
      struct sigaction action {};
      action.sa_handler = at_crash;
      action.sa_flags = SA_ONSTACK | SA_NODEFER;
      sigaction(signal, &action, nullptr);
    }
    return true;
  }();
  (void)once;
  watching = true;
}

LastResort::~LastResort() {
  watching = false;
}

void LastResort::let_go(int code) {
  watching = false;
  wanted_code = code;
  std::free(reserve.exchange(nullptr));
}

}  // namespace tutti

#if !defined(TUTTI_SANITIZED)

namespace {

/// An allocation like the standard library's, but what was refused is kept.
void* take(std::size_t bytes, std::size_t alignment) {
  for (;;) {
    void* const there = alignment == 0 ? std::malloc(bytes == 0 ? 1 : bytes)
                                       : std::aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment);
    if (there != nullptr) return there;
    const std::new_handler handler = std::get_new_handler();
    if (handler == nullptr) {
      tutti::note_refused(bytes);
      std::free(tutti::reserve.exchange(nullptr));
      throw std::bad_alloc();
    }
    handler();
  }
}

}  // namespace

void* operator new(std::size_t bytes) {
  return take(bytes, 0);
}
void* operator new(std::size_t bytes, std::align_val_t alignment) {
  return take(bytes, static_cast<std::size_t>(alignment));
}
void operator delete(void* there) noexcept {
  std::free(there);
}
void operator delete(void* there, std::size_t) noexcept {
  std::free(there);
}
void operator delete(void* there, std::align_val_t) noexcept {
  std::free(there);
}
void operator delete(void* there, std::size_t, std::align_val_t) noexcept {
  std::free(there);
}

#endif
