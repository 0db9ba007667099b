#include "tutti/residency/row_layout.hpp"

#include "tutti/base/error.hpp"
#include "tutti/residency/zfp_block.hpp"

namespace tutti {
namespace {

Size round_up(Size value, Size unit) {
  return (value + unit - 1) / unit * unit;
}

Size bytes_of_row(const RowLayout& layout) {
  const Size stride = layout.stride, scales = Size{8} * layout.groups();
  switch (layout.format) {
    case ValueFormat::doubles:
      return 8 * stride;
    case ValueFormat::floats:
      return 4 * stride;
    case ValueFormat::int32:
      return 4 * stride + scales;
    case ValueFormat::int16:
      return 2 * stride + scales;
    case ValueFormat::zfp:
      break;
  }
  return (stride * layout.rate + 7) / 8;
}

}  // namespace

std::string RowLayout::name() const {
  switch (format) {
    case ValueFormat::doubles:
      return "double";
    case ValueFormat::floats:
      return "float";
    case ValueFormat::int32:
      return "int32";
    case ValueFormat::int16:
      return "int16";
    case ValueFormat::zfp:
      break;
  }
  return fmt::format("zfp-{}", rate);
}

RowLayout make_row_layout(ValueFormat format, int width, int rate, int group) {
  require(width > 0, "rows of {} values", width);
  if (format == ValueFormat::zfp && (rate < zfp::least_rate || rate > zfp::most_rate))
    fail(ErrorKind::input, "'residency.rate' is {} bits per value; expected {} to {}", rate, zfp::least_rate,
         zfp::most_rate);
  if (group < 0 || group % 4 != 0)
    fail(ErrorKind::input, "'residency.group' is {}; expected a multiple of 4, or 0 for one scale per row", group);
  RowLayout layout;
  layout.format = format;
  layout.width = width;
  layout.stride = static_cast<int>(round_up(width, 4));
  layout.group = group == 0 || group > layout.stride ? layout.stride : group;
  layout.rate = format == ValueFormat::zfp ? rate : 0;
  layout.row_bytes = round_up(bytes_of_row(layout), 16);
  return layout;
}

}  // namespace tutti
