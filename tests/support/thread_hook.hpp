// The hook of ParallelFor with more threads than a machine may have cores: what must not change a result.
#pragma once

#include <exception>
#include <thread>
#include <vector>

#include "tutti/base/parallel.hpp"

namespace tutti::test {

/// Five threads, each with one piece; the last piece starts first. An exception on one of them is thrown to the caller.
inline void five_threads(Size count, const std::function<void(Size, Size)>& body) {
  std::vector<std::exception_ptr> errors(5);
  {
    std::vector<std::jthread> team;
    for (Size t = 4; t >= 0; --t)
      team.emplace_back([&, t] {
        try {
          if (count * t / 5 < count * (t + 1) / 5) body(count * t / 5, count * (t + 1) / 5);
        } catch (...) {
          errors[t] = std::current_exception();
        }
      });
  }
  for (std::size_t t = errors.size(); t-- > 0;)
    if (errors[t]) std::rethrow_exception(errors[t]);
}

}  // namespace tutti::test
