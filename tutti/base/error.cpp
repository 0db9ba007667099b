#include "tutti/base/error.hpp"

#include <algorithm>

namespace tutti {
namespace {

constexpr std::size_t longest = 2000, head = 1400, tail = 500;

/// The first place at or behind `at` where a character of UTF-8 begins.
std::size_t next_character(const std::string& text, std::size_t at) {
  while (at < text.size() && (static_cast<unsigned char>(text[at]) & 0xC0) == 0x80) ++at;
  return at;
}

}  // namespace

std::string one_line(std::string text) {
  std::replace_if(
      text.begin(), text.end(), [](unsigned char c) { return c < 0x20 || c == 0x7f; }, ' ');
  if (text.size() <= longest) return text;
  const std::size_t begin = next_character(text, head), end = next_character(text, text.size() - tail);
  const std::string middle = fmt::format(" [{} bytes] ", end - begin);
  // Bytes that are no UTF-8 may have no place to cut: then anywhere.
  if (begin + middle.size() + (text.size() - end) > longest)
    return text.substr(0, head) + middle + text.substr(text.size() - tail);
  return text.substr(0, begin) + middle + text.substr(end);
}

}  // namespace tutti
