// Text inside XML.
#pragma once

#include <string>

namespace tutti {

/// `text` as it may stand in an attribute or between elements.
std::string escape_xml(const std::string& text);

}  // namespace tutti
