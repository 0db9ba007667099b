#include "tutti/models/transport/stencils/stencil_cache.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <numeric>
#include <string_view>

#include "tutti/base/error.hpp"
#include "tutti/base/hash.hpp"
#include "tutti/base/log.hpp"

namespace tutti::transport {
namespace {

static_assert(std::endian::native == std::endian::little, "the file's numbers are little-endian");

constexpr std::string_view magic("tutti stencils\0\0", 16);
/// Counts up when the same nodes and basis give other weights.
constexpr std::uint64_t arithmetic_version = 1;
constexpr const char* file_kind = "cache of stencils";
constexpr const char* advice = "remove it, and it is rebuilt";
constexpr Size max_nodes = Size{1} << 40;

/// The header's numbers as they stand in the file, behind `magic`.
struct Fields {
  std::uint64_t format, key;
  std::int64_t nodes, size, operators;
  double max_condition, mean_condition;
  std::int64_t worst;
  std::uint64_t table_hash, header_hash;
};
static_assert(magic.size() + sizeof(Fields) == stencil_cache_header_bytes);
constexpr std::size_t hashed_bytes = static_cast<std::size_t>(stencil_cache_header_bytes) - sizeof(std::uint64_t);

Size row_bytes(int size) {
  return Size{size} * (static_cast<Size>(sizeof(Gid)) + operators * static_cast<Size>(sizeof(double)));
}

template <class T>
std::string_view bytes_of(std::span<const T> values) {
  return {reinterpret_cast<const char*>(values.data()), values.size_bytes()};
}

StencilCacheHeader make_header(std::uint64_t key, Size nodes, int size) {
  StencilCacheHeader header;
  header.key = key;
  header.nodes = nodes;
  header.size = size;
  return header;
}

}  // namespace

std::uint64_t stencil_key(const StencilBasis& basis, std::span<const Vec3> nodes) {
  const bool gaussian = basis.kind == StencilBasis::Kind::gaussian;
  const std::array<std::uint64_t, 8> numbers{arithmetic_version,
                                             static_cast<std::uint64_t>(basis.kind),
                                             static_cast<std::uint64_t>(basis.size),
                                             gaussian ? std::bit_cast<std::uint64_t>(basis.epsilon) : 0,
                                             gaussian ? 0 : static_cast<std::uint64_t>(basis.exponent),
                                             gaussian ? 0 : static_cast<std::uint64_t>(basis.degree),
                                             static_cast<std::uint64_t>(basis.hyper),
                                             nodes.size()};
  Hasher hash;
  hash.add(bytes_of(std::span<const std::uint64_t>(numbers)));
  hash.add(bytes_of(nodes));
  return hash.digest();
}

Size StencilCacheHeader::block_rows(Size block) const {
  return std::min(stencil_cache_block_rows, nodes - block_begin(block));
}
Size StencilCacheHeader::block_offset(Size block) const {
  return stencil_cache_header_bytes + blocks() * static_cast<Size>(sizeof(std::uint64_t)) +
         std::min(block_begin(block), nodes) * row_bytes(size);
}
Size StencilCacheHeader::block_bytes(Size block) const {
  return block_rows(block) * row_bytes(size);
}

std::array<char, stencil_cache_header_bytes> format_stencil_header(const StencilCacheHeader& header) {
  std::array<char, stencil_cache_header_bytes> bytes{};
  Fields fields{stencil_cache_format,
                header.key,
                header.nodes,
                header.size,
                operators,
                header.report.max_condition,
                header.report.mean_condition,
                header.report.worst,
                header.table_hash,
                0};
  std::copy(magic.begin(), magic.end(), bytes.begin());
  std::memcpy(bytes.data() + magic.size(), &fields, sizeof fields);
  fields.header_hash = hash_bytes(std::span(bytes).first(hashed_bytes));
  std::memcpy(bytes.data() + magic.size(), &fields, sizeof fields);
  return bytes;
}

StencilCacheHeader parse_stencil_header(std::span<const char> bytes, Size file_bytes, const std::string& name) {
  const std::string_view text(bytes.data(), bytes.size());
  if (!text.starts_with(magic.substr(0, std::min(magic.size(), text.size()))) || text.empty())
    fail(ErrorKind::input, "{}: byte 0: not a cache of stencils of tutti; give another file", name);
  if (static_cast<Size>(text.size()) < stencil_cache_header_bytes)
    fail(ErrorKind::input, "{}: the cache of stencils is truncated: it has {} bytes, its header alone {}; {}", name,
         file_bytes, stencil_cache_header_bytes, advice);
  Fields fields;
  std::memcpy(&fields, bytes.data() + magic.size(), sizeof fields);
  if (fields.header_hash != hash_bytes(bytes.first(hashed_bytes)))
    fail(ErrorKind::input,
         "{}: byte 0: the header of the cache of stencils is damaged: its checksum does not match; {}", name, advice);
  if (fields.format != stencil_cache_format)
    fail(ErrorKind::input, "{}: the cache of stencils has format {}, this tutti reads format {}; {}", name,
         fields.format, stencil_cache_format, advice);
  // Numbers that a checksum protects can still be nonsense when someone made the file; nothing is allocated by them.
  if (fields.nodes < 0 || fields.nodes > max_nodes || fields.size < 1 || fields.size > max_stencil_unknowns ||
      fields.operators != operators)
    fail(ErrorKind::input, "{}: byte 0: the header of the cache of stencils contradicts itself; {}", name, advice);
  StencilCacheHeader header;
  header.key = fields.key;
  header.nodes = fields.nodes;
  header.size = static_cast<int>(fields.size);
  header.report = {fields.nodes, fields.max_condition, fields.mean_condition, fields.worst};
  header.table_hash = fields.table_hash;
  if (header.file_bytes() != file_bytes)
    fail(ErrorKind::input, "{}: the cache of stencils {}: it has {} bytes, {} were written; {}", name,
         file_bytes < header.file_bytes() ? "is truncated" : "has grown", file_bytes, header.file_bytes(), advice);
  return header;
}

void check_stencil_block(const StencilCacheHeader& header, Size block, std::span<const char> bytes, std::uint64_t hash,
                         const std::string& name) {
  const auto damaged = [&](const char* why) {
    fail(ErrorKind::input, "{}: byte {}: the cache of stencils is damaged: {}; {}", name, header.block_offset(block),
         why, advice);
  };
  if (static_cast<Size>(bytes.size()) != header.block_bytes(block)) damaged("a block is cut off");
  if (hash_bytes(bytes) != hash) damaged("the checksum of a block does not match");
  const auto count = static_cast<std::size_t>(header.block_rows(block) * header.size);
  for (std::size_t i = 0; i < count; ++i) {
    Gid column = 0;
    std::memcpy(&column, bytes.data() + i * sizeof(Gid), sizeof(Gid));
    if (column < 0 || column >= header.nodes) damaged("a stencil names a node that does not exist");
  }
}

StencilCacheWriter::StencilCacheWriter(const std::filesystem::path& path, std::uint64_t key, Size nodes, int size)
    : header_(make_header(key, nodes, size)),
      file_(path, Place::given, static_cast<std::size_t>(header_.file_bytes())),
      hashes_(static_cast<std::size_t>(header_.blocks())) {}

void StencilCacheWriter::write(Size block, std::span<const Gid> columns, std::span<const double> weights) {
  require(static_cast<Size>(columns.size()) == header_.block_rows(block) * header_.size &&
              weights.size() == columns.size() * operators,
          "block {}: {} columns, {} weights of stencils of {} nodes", block, columns.size(), weights.size(),
          header_.size);
  Hasher hash;
  hash.add(bytes_of(columns));
  hash.add(bytes_of(weights));
  hashes_[block] = hash.digest();
  const auto offset = static_cast<std::size_t>(header_.block_offset(block));
  file_.write(offset, bytes_of(columns));
  file_.write(offset + columns.size_bytes(), bytes_of(weights));
}

void StencilCacheWriter::finish(const WeightReport& report) {
  const std::string_view table = bytes_of(std::span<const std::uint64_t>(hashes_));
  header_.table_hash = hash_bytes(table);
  header_.report = report;
  const auto head = format_stencil_header(header_);
  file_.write(0, {head.data(), head.size()});
  file_.write(head.size(), table);
  file_.commit();
}

StencilCache::StencilCache(const std::filesystem::path& path, std::uint64_t key)
    : name_(path.string()), file_(path, file_kind) {
  const Size size = file_.size();
  header_ = parse_stencil_header(read_bytes(0, std::min<Size>(size, stencil_cache_header_bytes)), size, name_);
  if (header_.key != key)
    fail(ErrorKind::input, "{}: the cache of stencils was made of other nodes or of another basis; {}", name_, advice);
  const std::vector<char> table =
      read_bytes(stencil_cache_header_bytes, header_.block_offset(0) - stencil_cache_header_bytes);
  hashes_.resize(header_.blocks());
  if (table.size() != hashes_.size() * sizeof(std::uint64_t) || hash_bytes(table) != header_.table_hash)
    fail(ErrorKind::input,
         "{}: byte {}: the cache of stencils is damaged: the checksum of its table does not match; {}", name_,
         stencil_cache_header_bytes, advice);
  std::copy_n(table.data(), table.size(), reinterpret_cast<char*>(hashes_.data()));
}

/// As many as there are.
std::vector<char> StencilCache::read_bytes(Size offset, Size bytes) const {
  std::vector<char> to(bytes);
  to.resize(file_.read(to, offset));
  return to;
}

void StencilCache::read(std::span<const Gid> rows, std::span<Gid> columns, std::span<double> weights,
                        const ParallelFor& parallel) const {
  const auto size = static_cast<std::size_t>(header_.size);
  require(columns.size() == rows.size() * size && weights.size() == columns.size() * operators,
          "{} rows of {} nodes, places for {} columns and {} weights", rows.size(), size, columns.size(),
          weights.size());
  // The places of the rows, block by block.
  std::vector<std::size_t> order(rows.size()), begins{0};
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return rows[a] < rows[b]; });
  const auto block_of = [&](std::size_t place) { return rows[order[place]] / stencil_cache_block_rows; };
  for (std::size_t i = 0; i < order.size(); ++i) {
    require(rows[order[i]] >= 0 && rows[order[i]] < header_.nodes, "row {} of {}", rows[order[i]], header_.nodes);
    if (i > 0 && block_of(i) != block_of(i - 1)) begins.push_back(i);
  }
  if (!order.empty()) begins.push_back(order.size());
  for_ranges(parallel, static_cast<Size>(begins.size()) - 1, [&](Size first, Size last) {
    for (auto piece = static_cast<std::size_t>(first); piece < static_cast<std::size_t>(last); ++piece) {
      const Size block = block_of(begins[piece]);
      const std::vector<char> bytes = read_bytes(header_.block_offset(block), header_.block_bytes(block));
      check_stencil_block(header_, block, bytes, hashes_[block], name_);
      const char* block_weights =
          bytes.data() + static_cast<std::size_t>(header_.block_rows(block)) * size * sizeof(Gid);
      for (std::size_t i = begins[piece]; i < begins[piece + 1]; ++i) {
        const std::size_t to = order[i] * size,
                          from = static_cast<std::size_t>(rows[order[i]] - header_.block_begin(block)) * size;
        std::memcpy(&columns[to], bytes.data() + from * sizeof(Gid), size * sizeof(Gid));
        std::memcpy(&weights[to * operators], block_weights + from * operators * sizeof(double),
                    size * operators * sizeof(double));
      }
    }
  });
}

namespace {

/// Only such files may be written anew; another one is somebody's.
bool is_cache(const std::filesystem::path& path) {
  const InputFile file(path, file_kind);
  std::array<char, magic.size()> begin{};
  const std::size_t there = file.read(begin, 0);  // less of one that was cut off
  return there > 0 && std::equal(begin.begin(), begin.begin() + there, magic.begin());
}

}  // namespace

bool read_stencil_cache(const std::filesystem::path& path, std::uint64_t key, std::span<const Gid> rows,
                        std::span<Gid> columns, std::span<double> weights, WeightReport& report, BadCache bad,
                        const ParallelFor& parallel) {
  std::error_code ignored;
  if (!std::filesystem::exists(path, ignored)) return false;
  try {
    const StencilCache cache(path, key);
    if (!rows.empty() && columns.size() != rows.size() * static_cast<std::size_t>(cache.header().size))
      fail(ErrorKind::input, "{}: byte 0: the header of the cache of stencils contradicts itself; {}", path.string(),
           advice);
    cache.read(rows, columns, weights, parallel);
    report = cache.header().report;
    return true;
  } catch (const Error& error) {
    if (bad == BadCache::refuse || !is_cache(path)) throw;
    warn("{}", error.what());
    return false;
  }
}

}  // namespace tutti::transport
