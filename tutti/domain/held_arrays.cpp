#include "tutti/domain/held_arrays.hpp"

#include <algorithm>

#include "tutti/base/log.hpp"
#include "tutti/base/units.hpp"

namespace tutti {
namespace {

bool moves_rows(Policy policy) {
  return policy != Policy::resident && policy != Policy::compressed;
}

std::string bytes_text(Size bytes) {
  return format_bytes(static_cast<double>(bytes));
}

RowLayout layout_of(const ResidencyOptions& options, int width) {
  return make_row_layout(options.format, width, options.rate, options.group);
}

}  // namespace

ResidencyOptions residency_options(const Case& options) {
  ResidencyOptions result;
  const std::string format = options.text("residency.format"), where = options.where("residency.format");
  result.policy = policy_of(options.text("residency.policy"), options.where("residency.policy"));
  const bool has_rate = options.has("residency.rate");
  if (has_rate) result.rate = static_cast<int>(options.integer("residency.rate"));
  if (format != "auto")
    result.format = format_of(format, where);
  else if (result.policy == Policy::compressed)
    result.format = has_rate ? ValueFormat::zfp : ValueFormat::int32;
  else if (has_rate && moves_rows(result.policy) && result.policy != Policy::automatic)
    result.format = ValueFormat::zfp;
  if (result.policy == Policy::automatic) result.tolerance = options.number("residency.tolerance");
  const bool exact = is_exact(result.format);
  if (result.policy == Policy::compressed && exact)
    fail(ErrorKind::input, "{}: residency.format = \"double\" is not compressed; take float, int32, int16 or zfp",
         where);
  if (result.policy == Policy::resident && !exact)
    fail(ErrorKind::input,
         "{}: residency.format = \"{}\" needs the policy compressed, or one that copies; set residency.policy", where,
         format);
  if (result.policy == Policy::automatic && !exact)
    fail(ErrorKind::input, "{}: residency.policy = \"auto\" chooses the format; set residency.tolerance instead",
         where);
  if (has_rate && result.format != ValueFormat::zfp && result.tolerance <= 0)
    fail(ErrorKind::input, "{}: residency.rate belongs to the format zfp; set residency.format = \"zfp\" or remove it",
         options.where("residency.rate"));
  return result;
}

HeldBytes held_bytes(const ResidencyOptions& options, bool on_host, int width, int rows_a_unit, double as_doubles) {
  if (on_host || options.policy == Policy::resident) return {as_doubles, as_doubles, as_doubles, 0};
  const RowLayout layout = layout_of(options, width);
  const double here = static_cast<double>(layout.row_bytes) / rows_a_unit;
  if (!moves_rows(options.policy)) return {as_doubles, here, here, layout.shared_bytes()};
  // Two, for streamed; with one row each at the least.
  return {as_doubles, here, 0, layout.shared_bytes() + 2 * layout.row_bytes, options.policy != Policy::overlaid};
}

Size least_held_bytes(const ResidencyOptions& options, Lid rows, int width) {
  const RowLayout layout = layout_of(options, width);
  if (rows == 0) return 0;
  const Size all = layout.shared_bytes() + layout.bytes(rows);
  if (!moves_rows(options.policy)) return all;
  const int buffers = options.policy == Policy::overlaid || options.policy == Policy::automatic ? 1 : 2;
  return std::min(all, layout.shared_bytes() + layout.bytes(buffers));
}

Size left_for_second(const ResidencyOptions& options, const HeldRows& first, const HeldRows& second, Size room) {
  const auto stored = [&](const HeldRows& array) {
    const RowLayout layout = layout_of(options, array.width);
    return layout.shared_bytes() + layout.bytes(array.rows);
  };
  const Size one = stored(first), other = stored(second);
  if (one + other <= room) return other;
  const auto share =
      static_cast<Size>(static_cast<double>(room) * static_cast<double>(other) / static_cast<double>(one + other));
  const Size most = room - least_held_bytes(options, first.rows, first.width);
  return std::max(std::min(share, most), least_held_bytes(options, second.rows, second.width));
}

HeldPlan plan_held(const ResidencyOptions& options, Lid rows, int width, Size room) {
  HeldPlan plan;
  plan.layout = layout_of(options, width);
  const auto place = [&](Policy policy) {
    try {
      plan.placement = place_rows(plan.layout, rows, policy, std::max(room, Size{0}), options.chunk_bytes, "", "");
      plan.policy = policy;
      return true;
    } catch (const Error& error) {
      if (error.kind() != ErrorKind::resource) throw;
      return false;
    }
  };
  bool fits = false;
  if (options.policy != Policy::automatic)
    fits = place(options.policy);
  else
    fits = place(Policy::resident) || place(Policy::streamed) || place(Policy::overlaid);
  if (!fits) {
    plan.policy = options.policy == Policy::automatic ? Policy::overlaid : options.policy;
    plan.placement.policy = plan.policy;
    plan.placement.rows = plan.placement.resident = rows;
    plan.placement.device_bytes = least_held_bytes(options, rows, width);
  }
  plan.copied = plan.layout.bytes(rows - plan.placement.resident);
  return plan;
}

std::string HeldPlan::about() const {
  std::string name = is_exact(layout.format) ? policy_name(policy) : policy_name(policy) + " as " + layout.name();
  if (placement.fits()) return name;
  return fmt::format("{}: {:.3g} % stay on the device, a pass copies {}", name,
                     100.0 * placement.resident / placement.rows, bytes_text(copied));
}

HeldArraySummary summarise_held(const std::string& name, const Residency& array) {
  HeldArraySummary s;
  s.array = name;
  s.policy = policy_name(array.placement().policy);
  s.format = array.layout().name();
  s.loss = array.loss();
  s.device_bytes = array.placement().device_bytes;
  s.host_bytes = array.placement().host_bytes;
  s.brought_bytes = array.counts().bytes_brought;
  return s;
}

std::string describe_held(const std::string& name, const Residency& array, const std::vector<Trial>& trials) {
  HeldPlan as_it_is;
  as_it_is.policy = array.placement().policy;
  as_it_is.layout = array.layout();
  as_it_is.placement = array.placement();
  as_it_is.copied = array.placement().host_bytes;
  std::string text = fmt::format("{} {}", name, as_it_is.about());
  if (array.loss() > 0) text += fmt::format(", {:.2g} of it lost", array.loss());
  std::string tried;
  for (const Trial& trial : trials)
    if (trials.size() > 1)
      tried += fmt::format("{}{} {}", tried.empty() ? "" : ", ", trial.name(),
                           trial.seconds >= 0 ? fmt::format("{:.3g} ms", 1e3 * trial.seconds) : "not");
  return tried.empty() ? text : text + " (a pass: " + tried + ")";
}

void say_what_is_held(const Comm& comm, const std::string& lines) {
  for (const std::string& text : comm.all_gather_text(lines))
    if (!text.empty()) info("{}", text.substr(0, text.find_last_not_of('\n') + 1));
}

}  // namespace tutti
