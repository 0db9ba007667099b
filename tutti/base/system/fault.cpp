#include "tutti/base/system/fault.hpp"

#include <atomic>
#include <charconv>

#include "tutti/base/error.hpp"

namespace tutti {
namespace {

/// Set once, before any thread looks.
struct Fault {
  bool armed = false;
  std::string phase;
  int rank = 0;
};
Fault& armed_fault() {
  static Fault fault;
  return fault;
}
std::atomic<int> visits_left{0};

bool whole_number(std::string_view text, int& value) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc{} && end == text.data() + text.size();
}

}  // namespace

void arm_fault(const std::string& fault, int rank) {
  armed_fault() = {};
  if (fault.empty()) return;
  const auto at = fault.find('@'), colon = fault.find(':', at == std::string::npos ? 0 : at);
  int where = 0, visit = 1;
  if (at == std::string::npos || at == 0 ||
      !whole_number(std::string_view(fault).substr(at + 1, colon - at - 1), where) ||
      (colon != std::string::npos && !whole_number(std::string_view(fault).substr(colon + 1), visit)) || visit < 1)
    fail(ErrorKind::usage, "the variable TUTTI_FAULT is '{}'; expected PHASE@RANK or PHASE@RANK:N, e.g. step@1:20",
         fault);
  visits_left = visit;
  if (where == rank) armed_fault() = {true, fault.substr(0, at), rank};
}

void fault_point(const std::string& phase) {
  const Fault& fault = armed_fault();
  if (!fault.armed || phase != fault.phase || --visits_left != 0) return;
  fail(ErrorKind::resource, "rank {} fails at '{}', as TUTTI_FAULT asks; unset it", fault.rank, phase);
}

}  // namespace tutti
