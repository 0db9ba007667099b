#include "tutti/residency/placement.hpp"

#include <algorithm>
#include <array>
#include <string_view>

#include "tutti/base/error.hpp"
#include "tutti/base/units.hpp"

namespace tutti {
namespace {

constexpr std::array<std::string_view, 6> policy_names = {"resident", "compressed", "overlaid",
                                                          "streamed", "managed",    "auto"};
constexpr std::array<std::string_view, 5> format_names = {"double", "float", "int32", "int16", "zfp"};

template <class Word, std::size_t n>
Word word_of(const std::array<std::string_view, n>& known, const std::string& word, const std::string& key) {
  const auto found = std::find(known.begin(), known.end(), word);
  if (found != known.end()) return static_cast<Word>(found - known.begin());
  std::string all;
  for (const std::string_view name : known) all += fmt::format("{}\"{}\"", all.empty() ? "" : ", ", name);
  fail(ErrorKind::input, "{}: \"{}\" is not known; expected one of {}", key, word, all);
}

std::string bytes_text(Size bytes) {
  return format_bytes(static_cast<double>(bytes));
}

[[noreturn]] void refuse(const RowLayout& layout, Lid rows, Policy policy, Size need, Size room,
                         const std::string& owner, const std::string& name) {
  const bool whole = policy == Policy::resident || policy == Policy::compressed;
  fail(ErrorKind::resource,
       "{}: no room for '{}' ({} rows of {} values as {}) by the policy \"{}\": it needs {} ({} bytes), {} ({} bytes) "
       "are "
       "left; {}",
       owner, name, rows, layout.width, layout.name(), policy_name(policy), bytes_text(need), need, bytes_text(room),
       room,
       whole ? "set residency.policy to \"streamed\" or \"auto\", or use more devices"
             : "use more devices or a smaller mesh");
}

}  // namespace

std::string policy_name(Policy policy) {
  return std::string(policy_names[static_cast<std::size_t>(policy)]);
}

Policy policy_of(const std::string& word, const std::string& key) {
  return word_of<Policy>(policy_names, word, key);
}

ValueFormat format_of(const std::string& word, const std::string& key) {
  return word_of<ValueFormat>(format_names, word, key);
}

Placement place_rows(const RowLayout& layout, Lid rows, Policy policy, Size room, Size chunk_bytes,
                     const std::string& owner, const std::string& name) {
  require(policy != Policy::automatic, "'{}': no placement has the policy auto", name);
  Placement placement;
  placement.policy = policy;
  placement.rows = placement.resident = rows;
  const Size shared = rows > 0 ? layout.shared_bytes() : 0;
  placement.device_bytes = shared + layout.bytes(rows);
  if (placement.device_bytes <= room) return placement;
  if (policy == Policy::resident || policy == Policy::compressed)
    refuse(layout, rows, policy, placement.device_bytes, room, owner, name);

  placement.buffers = policy == Policy::overlaid ? 1 : 2;
  const Size chunk = std::min(chunk_bytes, (room - shared) / 2 / placement.buffers) / layout.row_bytes;
  placement.chunk = static_cast<Lid>(std::clamp<Size>(chunk, 1, rows));
  const Size moving = shared + placement.buffers * layout.bytes(placement.chunk);
  if (moving > room) refuse(layout, rows, policy, moving, room, owner, name);
  placement.resident = static_cast<Lid>(std::min<Size>((room - moving) / layout.row_bytes, rows - 1));
  placement.device_bytes = moving + layout.bytes(placement.resident);
  placement.host_bytes = layout.bytes(rows - placement.resident);
  return placement;
}

}  // namespace tutti
