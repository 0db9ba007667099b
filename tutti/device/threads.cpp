#include "tutti/device/threads.hpp"

#include <fmt/format.h>
#include <omp.h>
#include <sched.h>

#include <cerrno>
#include <exception>
#include <future>
#include <mutex>
#include <system_error>
#include <thread>

#include "tutti/base/error.hpp"

namespace tutti {
namespace {

thread_local bool inside_team = false;
thread_local int pinned_core = -1;

std::vector<int> read_mask() {
  cpu_set_t set;
  CPU_ZERO(&set);
  std::vector<int> cores;
  if (sched_getaffinity(0, sizeof(set), &set) == 0)
    for (int c = 0; c < CPU_SETSIZE; ++c)
      if (CPU_ISSET(static_cast<unsigned>(c), &set)) cores.push_back(c);
  if (cores.empty()) cores.push_back(0);
  return cores;
}

/// False when the system refuses (a container that forbids pinning): that costs speed, not correctness.
bool set_mask(const std::vector<int>& cores) {
  cpu_set_t set;
  CPU_ZERO(&set);
  for (const int c : cores) CPU_SET(static_cast<unsigned>(c), &set);
  return sched_setaffinity(0, sizeof(set), &set) == 0;
}

void pin(int core) {
  if (core != pinned_core && set_mask({core})) pinned_core = core;
}

#if !defined(TUTTI_TEAM_PLAIN_THREADS)
/// OpenMP ends the program where it gets no thread, so they are asked for before. All are there at the same time; the
/// system keeps their stacks for those that come.
void try_threads(int count) {
  std::promise<void> all_there;
  const std::shared_future<void> wait(all_there.get_future());
  std::vector<std::thread> others;
  int cause = 0;
  try {
    others.reserve(count);
    while (static_cast<int>(others.size()) + 1 < count) others.emplace_back([wait] { wait.wait(); });
  } catch (const std::system_error& error) {
    cause = error.code().value();
  } catch (const std::bad_alloc&) {
    cause = ENOMEM;
  }
  all_there.set_value();
  for (std::thread& other : others) other.join();
  if (cause != 0)
    fail(ErrorKind::resource,
         "the system gives {} of the {} threads that tutti asks for: {}, or ask for fewer "
         "(devices.threads)",
         others.size() + 1, count, system_cause(cause));
}
#endif

// Reads the mask before main() can pin anything.
[[maybe_unused]] const std::vector<int>& mask_at_start = allowed_cores();

}  // namespace

Threads::Threads(int count, std::vector<int> cores) : count_(count), cores_(std::move(cores)) {
  require(count_ >= 1, "a team needs a thread");
  require(cores_.empty() || static_cast<int>(cores_.size()) == count_, "{} cores for {} threads", cores_.size(),
          count_);
#if !defined(TUTTI_TEAM_PLAIN_THREADS)
  if (count_ == 1) return;
  try_threads(count_);
  omp_set_dynamic(0);
  int delivered = 1;
#pragma omp parallel num_threads(count_)
  {
    // A thread that is new here inherits the pinning of the one that starts the team.
    release_cores();
#pragma omp single
    delivered = omp_get_num_threads();
  }
  if (delivered != count_)
    fail(ErrorKind::resource,
         "OpenMP gives {} thread{} of the {} that tutti asks for; unset OMP_THREAD_LIMIT and OMP_MAX_ACTIVE_LEVELS, or "
         "ask for fewer (devices.threads)",
         delivered, delivered == 1 ? "" : "s", count_);
#endif
}

void Threads::run(int members, const std::function<void(int)>& work) {
  require(members >= 1 && members <= count_, "{} members of a team of {}", members, count_);
  require(!inside_team, "a team cannot start a team");
  std::exception_ptr first;
  std::mutex mutex;
  const auto member = [&](int i) {
    if (!cores_.empty())
      pin(cores_[i]);
    else if (pinned_core >= 0)
      release_cores();  // by an earlier, pinned team of this process
    inside_team = true;
    try {
      work(i);
    } catch (...) {
      std::lock_guard lock(mutex);
      if (!first) first = std::current_exception();
    }
    inside_team = false;
  };
#if defined(TUTTI_TEAM_PLAIN_THREADS)
  std::vector<std::jthread> others;
  for (int i = 1; i < members; ++i)
    others.emplace_back([&member, i] {
      release_cores();
      member(i);
    });
  member(0);
  others.clear();
#else
  if (members == 1) {
    member(0);
  } else {
#pragma omp parallel num_threads(members)
    member(omp_get_thread_num());
  }
#endif
  if (first) std::rethrow_exception(first);
}

void Threads::for_range(Size n, const std::function<void(Size, Size)>& body) {
  if (n <= 0) return;
  if (count_ == 1 || inside_team || n < 2 * count_) {
    body(0, n);
    return;
  }
  run([&](int member) {
    const Size begin = n * member / count_;
    const Size end = n * (member + 1) / count_;
    if (begin < end) body(begin, end);
  });
}

const std::vector<int>& allowed_cores() {
  static const std::vector<int> cores = read_mask();
  return cores;
}

void release_cores() {
  set_mask(allowed_cores());
  pinned_core = -1;
}

std::string format_cores(const std::vector<int>& cores) {
  std::string text;
  for (std::size_t i = 0; i < cores.size();) {
    std::size_t j = i;
    while (j + 1 < cores.size() && cores[j + 1] == cores[j] + 1) ++j;
    text += fmt::format("{}{}", text.empty() ? "" : ",", cores[i]);
    if (j > i) text += fmt::format("-{}", cores[j]);
    i = j + 1;
  }
  return text;
}

}  // namespace tutti
