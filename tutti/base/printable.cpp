#include "tutti/base/printable.hpp"

#include <fmt/format.h>

namespace tutti {

std::string printable(const std::string& text, const std::string& keep) {
  std::string result;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto c = static_cast<unsigned char>(text[i]);
    const auto next = i + 1 < text.size() ? static_cast<unsigned char>(text[i + 1]) : 0u;
    if (c == 0xC2 && next >= 0x80 && next <= 0x9F) {
      result += fmt::format("\\u00{:02x}", next);
      ++i;
    } else if ((c >= 0x20 && c != 0x7F) || keep.find(text[i]) != std::string::npos) {
      result += text[i];
    } else if (c == '\n') {
      result += "\\n";
    } else {
      result += fmt::format("\\x{:02x}", c);
    }
  }
  return result;
}

}  // namespace tutti
