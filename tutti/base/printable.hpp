// Texts of other people's files on a terminal.
#pragma once

#include <string>

namespace tutti {

/// The text with its control characters escaped ("\x1b", "\n"): a terminal would obey them. UTF-8 stays as it is, its
/// control characters (U+0080 to U+009F) become "\u009b". What is in `keep` stays, too.
std::string printable(const std::string& text, const std::string& keep = "");

}  // namespace tutti
