#include "tutti/mesh/files/gmsh/gmsh_source.hpp"

namespace tutti::gmsh {

void Source::skip_section() {
  const std::string mark = "$End" + section;
  const std::string_view rest(position(), static_cast<std::size_t>(remaining()));
  const std::size_t at = rest.find(mark);
  if (at == std::string_view::npos) error(position(), "there is no {}; the file is truncated", mark);
  move_to(position() + at);
  end_section();
}

void Source::end_section() {
  skip_blank();
  const char* at = position();
  const std::string expected = "$End" + section;
  if (line() != expected) {
    if (at >= end()) error(at, "the file ends here, but {} was expected; the file is truncated", expected);
    error(at, "found '{}', but {} was expected; a count in this section is wrong", excerpt(at), expected);
  }
  section.clear();
  context.clear();
}

Size Source::count(const char* what) {
  const char* at = position();
  if (!binary) {
    const Size n = text_integer(what);
    if (n < 0) error(at, "found {}, but {} must not be negative", n, what);
    return n;
  }
  const auto n = raw<std::uint64_t>(what);
  if (n > (std::uint64_t{1} << 62)) error(at, "found {}, which is too large for {}; at most 2^62 is expected", n, what);
  return static_cast<Size>(n);
}

}  // namespace tutti::gmsh
