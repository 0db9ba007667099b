// $Periodic: which nodes of one entity are those of another, moved. Only surfaces are of interest.
#include <cmath>

#include "tutti/mesh/files/gmsh/gmsh_builder.hpp"

namespace tutti::gmsh {
namespace {

struct Link {
  const char* at;
  Size dimension, entity, master;
};

/// `n` pairs of nodes; `read` reads a node's tag.
template <class Read>
void read_pairs(Builder& b, const Link& link, Size n, const Read& read) {
  Source& in = b.in;
  PeriodicLink pairs;
  pairs.name = fmt::format("surface {} to surface {}", link.entity, link.master);
  for (Size i = 0; i < n; ++i) {
    const char* at = in.position();
    const Size own = read("a periodic node"), other = read("a periodic node's partner");
    in.end_record("a pair of periodic nodes");
    const Gid a = b.nodes.find(own), c = b.nodes.find(other);
    if (a < 0 || c < 0)
      in.error(at, "node {} is periodic, but is not in $Nodes; every node must be there", a < 0 ? own : other);
    if (link.dimension == 2) pairs.points.emplace_back(a, c);
  }
  if (link.dimension == 2) b.elements->links.push_back(std::move(pairs));
}

}  // namespace

void read_periodic_v22(Builder& b) {
  Source& in = b.in;
  // This section is text in binary files, too.
  const bool binary = std::exchange(in.binary, false);
  const char* start = in.position();
  const Size links = in.text_integer("the number of periodic entities");
  in.end_of_line("the number of periodic entities");
  in.check_room(start, links, 8, "periodic entities");
  for (Size k = 0; k < links; ++k) {
    Link link{in.position(), 0, 0, 0};
    link.dimension = in.text_integer("a periodic entity's dimension");
    link.entity = in.text_integer("a periodic entity's tag");
    link.master = in.text_integer("the tag of its partner");
    in.end_of_line("the tag of its partner");
    in.skip_blanks();
    if (in.peek() == 'A') in.line();  // Affine and the 16 numbers of the map
    const char* at = in.position();
    const Size n = in.text_integer("the number of periodic nodes");
    in.end_of_line("the number of periodic nodes");
    in.check_room(at, n, 4, "periodic nodes");
    read_pairs(b, link, n, [&](const char* what) { return in.text_integer(what); });
  }
  in.binary = binary;
}

void read_periodic_v41(Builder& b) {
  Source& in = b.in;
  const char* start = in.position();
  const Size links = in.count("the number of periodic entities");
  in.end_record("the number of periodic entities");
  in.check_room(start, links, in.binary ? 28 : 8, "periodic entities");
  for (Size k = 0; k < links; ++k) {
    Link link{in.position(), 0, 0, 0};
    link.dimension = in.integer("a periodic entity's dimension");
    link.entity = in.integer("a periodic entity's tag");
    link.master = in.integer("the tag of its partner");
    in.end_record("the tag of its partner");
    const char* at = in.position();
    const Size numbers = in.count("the length of a periodic map");
    in.check_room(at, numbers, in.binary ? 8 : 2, "numbers of a periodic map");
    for (Size i = 0; i < numbers; ++i) in.real("a number of a periodic map");
    in.end_record("a periodic map");
    at = in.position();
    const Size n = in.count("the number of periodic nodes");
    in.end_record("the number of periodic nodes");
    in.check_room(at, n, in.binary ? 16 : 4, "periodic nodes");
    read_pairs(b, link, n, [&](const char* what) { return in.count(what); });
  }
}

}  // namespace tutti::gmsh
