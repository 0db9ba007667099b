// A Gmsh file in memory and a place in it. Inside the mesh floor only.
#pragma once

#include <string>

#include "tutti/base/types.hpp"
#include "tutti/mesh/files/text_source.hpp"

namespace tutti::gmsh {

/// Reads numbers from text or binary, whichever the file is ($MeshFormat sets `binary`). Text is read line by line: a
/// record ends where its line does.
class Source : public TextSource {
 public:
  using TextSource::TextSource;

  std::string section;  ///< the section being read; empty between sections

  /// Messages now begin with "$name: ".
  void open_section(std::string_view name) {
    section = name;
    context = "$" + section + ": ";
  }
  /// Moves behind the line "$End<section>"; used for sections that are not needed.
  void skip_section();
  /// Reads "$End<section>".
  void end_section();

  // Text or binary, as the file is.
  Size integer(const char* what) { return binary ? raw<std::int32_t>(what) : text_integer(what); }
  Size count(const char* what);
  double real(const char* what) { return binary ? raw<double>(what) : text_real(what); }
  void end_record(const char* after) {
    if (!binary) end_of_line(after);
  }
};

}  // namespace tutti::gmsh
