#include "tutti/simulation/observer.hpp"

#include <chrono>

#include "tutti/base/system/fault.hpp"

namespace tutti {

void Run::wait_for_devices() {
  const auto start = std::chrono::steady_clock::now();
  model.wait();
  wall += std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

const std::vector<Diagnostic>& Run::diagnose() {
  if (diagnosed != step) {
    const auto scope = trace.scope("report");
    fault_point("report");
    diagnostics = model.diagnose();
    diagnosed = step;
  }
  return diagnostics;
}

}  // namespace tutti
