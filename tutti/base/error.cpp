#include "tutti/base/error.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace tutti {
namespace {

constexpr std::size_t longest = 2000, head = 1400, tail = 500;

/// The first place at or behind `at` where a character of UTF-8 begins.
std::size_t next_character(const std::string& text, std::size_t at) {
  while (at < text.size() && (static_cast<unsigned char>(text[at]) & 0xC0) == 0x80) ++at;
  return at;
}

const char* advice_for(int error) {
  switch (error) {
    case ENOENT:
    case ENOTDIR:
    case ENAMETOOLONG:
    case ELOOP:
      return "check the name";
    case EISDIR:
    case EEXIST:
    case ENOTEMPTY:
      return "choose another name";
    case EACCES:
    case EPERM:
      return "check the permissions";
    case ENOSPC:
    case EDQUOT:
    case EFBIG:
      return "free space or choose another folder";
    case EROFS:
      return "choose another folder";
    case EMFILE:
    case ENFILE:
      return "raise the limit of open files (ulimit -n)";
    case ENOMEM:
    case EAGAIN:
      return "free memory or use another machine";
    default:
      return "check the disk and the permissions";
  }
}

}  // namespace

std::string system_cause(int error) {
  return fmt::format("{}; {}", error == 0 ? "the system gives no reason" : std::strerror(error), advice_for(error));
}

std::string one_line(std::string text) {
  const auto at = [&](std::size_t i) { return i < text.size() ? static_cast<unsigned char>(text[i]) : 0u; };
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool wide = at(i) == 0xC2 && at(i + 1) >= 0x80 && at(i + 1) <= 0x9F;  // U+0080 to U+009F
    if (wide) text[i++] = ' ';
    if (wide || at(i) < 0x20 || at(i) == 0x7F) text[i] = ' ';
  }
  if (text.size() <= longest) return text;
  const std::size_t begin = next_character(text, head), end = next_character(text, text.size() - tail);
  const std::string middle = fmt::format(" [{} bytes] ", end - begin);
  // Bytes that are no UTF-8 may have no place to cut: then anywhere.
  if (begin + middle.size() + (text.size() - end) > longest)
    return text.substr(0, head) + middle + text.substr(text.size() - tail);
  return text.substr(0, begin) + middle + text.substr(end);
}

}  // namespace tutti
