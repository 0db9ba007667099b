// $Entities, $Nodes and $Elements of MSH 4.1.
#include "tutti/mesh/files/gmsh/gmsh_builder.hpp"

namespace tutti::gmsh {

void read_entities_v41(Builder& b, Entities& entities) {
  Source& in = b.in;
  const char* start = in.position();
  constexpr std::array<const char*, 4> names = {"points", "curves", "surfaces", "volumes"};
  std::array<Size, 4> counts;
  for (std::size_t d = 0; d < 4; ++d) counts[d] = in.count("a number of entities");
  in.end_record("the numbers of entities");
  for (std::size_t d = 0; d < 4; ++d) {
    in.check_room(start, counts[d], in.binary ? 36 : 10, names[d]);
    for (Size i = 0; i < counts[d]; ++i) {
      const char* at = in.position();
      const Size tag = in.integer("an entity's tag");
      for (int k = 0; k < (d == 0 ? 3 : 6); ++k) in.real("an entity's position or bounding box");
      const Size groups = in.count("an entity's number of physical groups");
      in.check_room(at, groups, 2, "physical groups");
      std::int32_t first = 0;
      for (Size g = 0; g < groups; ++g) {
        const std::int32_t group = physical_tag(in, at, in.integer("a physical tag"));
        if (g == 0) first = group;
      }
      if (groups > 1 && d >= 2) ++b.report.extra_groups;
      if (d > 0) {
        const Size bounding = in.count("an entity's number of bounding entities");
        in.check_room(at, bounding, 2, "bounding entities");
        for (Size g = 0; g < bounding; ++g) in.integer("a bounding entity's tag");
      }
      in.end_record("an entity");
      if (!entities.emplace(std::pair{static_cast<int>(d), tag}, first).second)
        in.error(at, "entity {} of dimension {} is listed twice; every entity needs its own tag", tag, d);
    }
  }
}

namespace {

struct BlockHeader {
  const char* at;
  int dimension;
  Size entity, extra, count;  ///< extra: whether nodes are parametric, or the element type
};

BlockHeader read_block_header(Source& in, const char* extra, const char* count) {
  BlockHeader h;
  h.at = in.position();
  const Size dimension = in.integer("a block's dimension");
  if (dimension < 0 || dimension > 3) in.error(h.at, "a block of dimension {}; 0 to 3 are possible", dimension);
  h.dimension = static_cast<int>(dimension);
  h.entity = in.integer("a block's entity");
  h.extra = in.integer(extra);
  h.count = in.count(count);
  in.end_record("a block's header");
  return h;
}

struct SectionHeader {
  const char* at;
  Size blocks, total;
};

SectionHeader read_section_header(Source& in, const char* what) {
  SectionHeader h;
  h.at = in.position();
  h.blocks = in.count("the number of blocks");
  h.total = in.count(what);
  in.count("the smallest tag");
  in.count("the largest tag");
  in.end_record("the section's header");
  in.check_room(h.at, h.blocks, in.binary ? 20 : 8, "blocks");
  return h;
}

/// Coordinates of a block follow all of its tags.
void read_node_block(Builder& b, const BlockHeader& block, std::vector<Size>& tags) {
  Source& in = b.in;
  // A parametric block has as many parameters more as its entity has dimensions.
  const int parameters = block.extra != 0 ? block.dimension : 0;
  tags.clear();
  for (Size i = 0; i < block.count; ++i) {
    tags.push_back(in.count("a node's tag"));
    in.end_record("a node's tag");
  }
  for (const Size tag : tags) {
    const char* at = in.position();
    const double x = in.real("a node's x"), y = in.real("a node's y"), z = in.real("a node's z");
    for (int k = 0; k < parameters; ++k) in.real("a node's parameter");
    in.end_record("a node's coordinates");
    b.add_node(at, tag, {x, y, z});
  }
}

}  // namespace

void read_nodes_v41(Builder& b) {
  Source& in = b.in;
  const SectionHeader header = read_section_header(in, "the number of nodes");
  const Size bytes = in.binary ? 32 : 8;
  in.check_room(header.at, header.total, bytes, "nodes");
  b.mesh.vertices.reserve(header.total);
  std::vector<Size> tags;
  for (Size k = 0; k < header.blocks; ++k) {
    const BlockHeader block = read_block_header(in, "whether a block is parametric", "a block's number of nodes");
    in.check_room(block.at, block.count, bytes, "nodes");
    read_node_block(b, block, tags);
  }
  if (b.mesh.vertex_count() != header.total)
    in.error(header.at, "{} nodes are announced, but the blocks hold {}; one of the counts is wrong", header.total,
             b.mesh.vertex_count());
  b.finish_nodes(header.at);
}

void read_elements_v41(Builder& b, const Entities* entities) {
  Source& in = b.in;
  const SectionHeader header = read_section_header(in, "the number of elements");
  in.check_room(header.at, header.total, in.binary ? 16 : 4, "elements");
  Size found = 0;
  for (Size k = 0; k < header.blocks; ++k) {
    const BlockHeader block = read_block_header(in, "a block's element type", "a block's number of elements");
    const FileElement type = b.element_type(block.at, block.extra);
    in.check_room(block.at, block.count, (in.binary ? 8 : 2) * (1 + type.nodes), "elements");
    const int dimension = type.dimension();
    if (dimension > 0 && dimension != block.dimension)
      in.error(block.at, "elements of type {} in a block of dimension {}; {} is expected", block.extra, block.dimension,
               dimension);
    std::int32_t group = 0;
    if (entities != nullptr) {
      const auto entity = entities->find({block.dimension, block.entity});
      if (entity == entities->end())
        in.error(block.at, "entity {} of dimension {} is not in $Entities", block.entity, block.dimension);
      group = entity->second;
    }
    std::array<Size, max_file_nodes> nodes;
    const std::span<const Size> view(nodes.data(), static_cast<std::size_t>(type.nodes));
    for (Size i = 0; i < block.count; ++i) {
      const char* at = in.position();
      const Size tag = in.count("an element's tag");
      for (int j = 0; j < type.nodes; ++j) nodes[j] = in.count("an element's node");
      in.end_record("an element's nodes");
      b.add_element(at, type, tag, view, group);
    }
    found += block.count;
  }
  if (found != header.total)
    in.error(header.at, "{} elements are announced, but the blocks hold {}; one of the counts is wrong", header.total,
             found);
  b.finish_elements(header.at);
}

}  // namespace tutti::gmsh
