// $Nodes and $Elements of MSH 2.2.
#include "tutti/mesh/files/gmsh/gmsh_builder.hpp"

namespace tutti::gmsh {

void read_nodes_v22(Builder& b) {
  Source& in = b.in;
  const char* start = in.position();
  const Size n = in.text_integer("the number of nodes");
  in.end_of_line("the number of nodes");
  in.check_room(start, n, in.binary ? 28 : 8, "nodes");
  b.mesh.vertices.reserve(n);
  for (Size i = 0; i < n; ++i) {
    const char* at = in.position();
    const Size tag = in.integer("a node's tag");
    const double x = in.real("a node's x"), y = in.real("a node's y"), z = in.real("a node's z");
    in.end_record("a node's coordinates");
    b.add_node(at, tag, {x, y, z});
  }
  b.finish_nodes(start);
}

namespace {

/// One element behind its header: tags (the first is the physical group), then nodes.
void read_element(Builder& b, const char* at, const FileElement& type, Size tag, Size tag_count) {
  Source& in = b.in;
  std::int32_t group = 0;
  for (Size t = 0; t < tag_count; ++t) {
    const Size value = in.integer("an element's group, entity or partition");
    if (t == 0 && type.use != FileElement::Use::ignored) group = physical_tag(in, at, value);
  }
  std::array<Size, max_file_nodes> nodes;
  for (int i = 0; i < type.nodes; ++i) nodes[i] = in.integer("an element's node");
  in.end_record("an element's nodes");
  b.add_element(at, type, tag, {nodes.data(), static_cast<std::size_t>(type.nodes)}, group);
}

Size read_tag_count(Source& in) {
  const char* at = in.position();
  const Size n = in.integer("an element's number of tags");
  if (n < 0 || n > in.remaining()) in.error(at, "{} tags per element; 0 to {} are possible here", n, in.remaining());
  return n;
}

}  // namespace

void read_elements_v22(Builder& b) {
  Source& in = b.in;
  const char* start = in.position();
  const Size n = in.text_integer("the number of elements");
  in.end_of_line("the number of elements");
  in.check_room(start, n, 8, "elements");
  for (Size done = 0; done < n;) {
    const char* at = in.position();
    if (!in.binary) {
      const Size tag = in.text_integer("an element's tag");
      const FileElement type = b.element_type(at, in.text_integer("an element's type"));
      read_element(b, at, type, tag, read_tag_count(in));
      ++done;
      continue;
    }
    const FileElement type = b.element_type(at, in.integer("a block's element type"));
    const Size in_block = in.integer("a block's number of elements");
    const Size tag_count = read_tag_count(in);
    if (in_block < 1 || in_block > n - done)
      in.error(at, "a block of {} elements, but {} of {} are left to read; the count is wrong", in_block, n - done, n);
    in.check_room(at, in_block, 4 * (1 + tag_count + type.nodes), "elements");
    for (Size i = 0; i < in_block; ++i) {
      const char* element = in.position();
      read_element(b, element, type, in.integer("an element's tag"), tag_count);
    }
    done += in_block;
  }
  b.finish_elements(start);
}

}  // namespace tutti::gmsh
