#include "tutti/simulation/observer.hpp"

#include <chrono>

#include "tutti/base/system/fault.hpp"
#include "tutti/simulation/field_values.hpp"

namespace tutti {

std::vector<ModelField> Run::fields() const {
  std::vector<ModelField> all = model.fields();
  all.insert(all.end(), more_fields.begin(), more_fields.end());
  return all;
}

ModelState Run::state() {
  ModelState state = model.state();
  if (state.empty() || more_fields.empty()) return state;
  std::vector<StateNumber> numbers = state.numbers;
  numbers.insert(numbers.end(), more_numbers.begin(), more_numbers.end());
  return state_of(model.domain(), fields(), std::move(numbers));
}

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
