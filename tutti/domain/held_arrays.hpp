// Large read-only arrays of models, and the keys that say where they are held: [residency].
#pragma once

#include <string>

#include "tutti/base/mpi/comm.hpp"
#include "tutti/base/parallel.hpp"
#include "tutti/io/case/case.hpp"
#include "tutti/io/case/case_schema.hpp"
#include "tutti/io/summary.hpp"
#include "tutti/residency/choose.hpp"
#include "tutti/schedule/capacity.hpp"

namespace tutti {

/// For models that have such arrays. `array`: how the reference calls theirs.
void add_residency_keys(CaseSchema& schema, const std::string& array);

/// What the case says of them, for devices other than the CPU: there, all is resident. Error(input): the format or the
/// rate does not go with the policy.
ResidencyOptions residency_options(const Case& options);

/// The key that lets arrays be elsewhere, as messages name it.
inline constexpr const char* policy_advice = "residency.policy = \"auto\"";

/// Of an array whose rows stand for `rows_a_unit` rows of the mesh each; a row of the mesh. On a CPU: `as_doubles`.
HeldBytes held_bytes(const ResidencyOptions& options, bool on_host, int width, int rows_a_unit, double as_doubles);

/// Bytes that `policy` takes at the least for so many rows of the array: what a device must have left.
Size least_held_bytes(const ResidencyOptions& options, Lid rows, int width);

/// An array's rows, and doubles in each.
struct HeldRows {
  Lid rows = 0;
  int width = 0;
};
/// Of `room` bytes that two arrays share, those that the first leaves to the second: all that this takes where both
/// fit, else its share, and at least what it cannot do without.
Size left_for_second(const ResidencyOptions& options, const HeldRows& first, const HeldRows& second, Size room);

/// What `auto` is taken for before anything is timed: resident where that fits, else streamed, else overlaid. `room`:
/// bytes that are left for the array. Does not fail: what does not fit has the placement that takes least.
struct HeldPlan {
  Policy policy = Policy::resident;
  RowLayout layout;
  Placement placement;
  Size copied = 0;            ///< bytes that a pass brings from the host
  std::string about() const;  ///< "streamed: 61 % stay on the device, a pass copies 1.2 GiB"
};
HeldPlan plan_held(const ResidencyOptions& options, Lid rows, int width, Size room);

/// For the summary.
HeldArraySummary summarise_held(const std::string& name, const Residency& array);
/// In words, with what was tried.
std::string describe_held(const std::string& name, const Residency& array, const std::vector<Trial>& trials);
/// Prints such lines of all ranks, each with a line's end. Collective.
void say_what_is_held(const Comm& comm, const std::string& lines);

/// What a kernel of the device's libraries may still ask for, besides what is planned [bytes].
inline Size held_margin(const Device& device) {
  return device.kind() == DeviceKind::cuda ? Size{1} << 20 : 0;
}

}  // namespace tutti
