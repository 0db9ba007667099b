#include <algorithm>
#include <cmath>

#include "tutti/base/hash.hpp"
#include "tutti/base/system/input_file.hpp"
#include "tutti/io/checkpoint/checkpoint.hpp"

namespace tutti {
namespace {

namespace fs = std::filesystem;

constexpr const char* file_kind = "checkpoint";
constexpr std::size_t piece = std::size_t{4} << 20;  // bytes read at once

std::uint64_t hash_segment(const InputFile& file, const Segment& segment, std::vector<char>& buffer) {
  Hasher hash;
  for (Size at = 0; at < segment.bytes; at += static_cast<Size>(piece)) {
    const auto wanted = static_cast<std::size_t>(std::min<Size>(static_cast<Size>(piece), segment.bytes - at));
    const std::size_t got = file.read(std::span(buffer).first(wanted), segment.offset + at);
    hash.add(std::span(buffer).first(got));
    if (got < wanted) break;
  }
  return hash.digest();
}

/// Rows in equal shares: rank r looks after rows [begin(r), begin(r + 1)).
struct Shares {
  Size rows;
  int ranks;
  Size begin(int rank) const { return rows / ranks * rank + std::min<Size>(rank, rows % ranks); }
  int rank_of(Gid row) const {
    const Size small = rows / ranks, large = rows % ranks;
    return static_cast<int>(row < large * (small + 1) ? row / (small + 1)
                                                      : large + (row - large * (small + 1)) / small);
  }
};

}  // namespace

CheckpointReader::CheckpointReader(const Comm& comm, const fs::path& path) : comm_(comm), path_(path) {
  std::vector<char> head, table;
  comm_.together([&] {
    if (!comm_.is_root()) return;
    const InputFile file(path_, file_kind);
    const Size size = file.size();
    head.resize(checkpoint_header_bytes);
    head.resize(file.read(head, 0));
    const CheckpointHeader header = parse_checkpoint_header(head, size, path_.string());
    table.resize(size - header.table_offset);
    table.resize(file.read(table, header.table_offset));
  });
  comm_.broadcast(head);
  comm_.broadcast(table);
  comm_.together([&] {
    const InputFile file(path_, file_kind);
    header_ = parse_checkpoint_header(head, file.size(), path_.string());
    const auto segments = parse_segment_table(table, header_, path_.string());
    std::vector<char> buffer(piece);
    for (std::size_t i = static_cast<std::size_t>(comm_.rank()); i < segments.size();
         i += static_cast<std::size_t>(comm_.size()))
      if (hash_segment(file, segments[i], buffer) != segments[i].hash)
        fail(ErrorKind::input,
             "{}: the checkpoint is damaged: bytes {} to {} have another checksum than when they were written; use the "
             "previous checkpoint (--fallback), or start a new run",
             path_.string(), segments[i].offset, segments[i].offset + segments[i].bytes - 1);
  });
  comm_.together([&] { file_.emplace(path_); });
}

std::vector<std::int32_t> CheckpointReader::owners() const {
  std::vector<std::int32_t> owner;
  comm_.together([&] {
    if (!comm_.is_root()) return;
    const CheckpointFrame& f = frame();
    owner.assign(f.rows(), -1);
    for (std::size_t p = 0; p + 1 < f.part_begin.size(); ++p)
      for (const Gid g : file_->read_global(f.part_begin[p], f.part_begin[p + 1] - f.part_begin[p])) {
        if (g < 0 || g >= f.rows())
          fail(ErrorKind::input, "{}: row {} is not among the {} rows; use the previous checkpoint (--fallback)",
               path_.string(), g, f.rows());
        owner[g] = static_cast<std::int32_t>(p);
      }
    if (const auto none = std::find(owner.begin(), owner.end(), -1); none != owner.end())
      fail(ErrorKind::input, "{}: row {} is missing; use the previous checkpoint (--fallback)", path_.string(),
           none - owner.begin());
  });
  return owner;
}

void CheckpointReader::load(const ModelState& state) const {
  const CheckpointFrame& f = frame();
  comm_.together([&] {
    if (f.rows() != state.rows)
      fail(ErrorKind::input, "{}: the checkpoint has {} rows, the mesh {}; use the mesh that it was made with",
           path_.string(), f.rows(), state.rows);
    for (const StateField& field : state.fields)
      if (std::find(f.fields.begin(), f.fields.end(), CheckpointField{field.name, field.components}) == f.fields.end())
        fail(ErrorKind::input,
             "{}: the checkpoint has no field '{}' with {} component(s); use the case that it was made with",
             path_.string(), field.name, field.components);
  });
  const Shares shares{f.rows(), comm_.size()};
  const auto ranks = static_cast<std::size_t>(comm_.size());
  const Size first = shares.begin(comm_.rank()), count = shares.begin(comm_.rank() + 1) - first;

  // What this rank reads of the file goes to the ranks that look after these rows' numbers.
  std::vector<Gid> read;
  std::vector<std::vector<Gid>> sent_rows(ranks);
  comm_.together([&] {
    read = file_->read_global(first, count);
    for (const Gid g : read) {
      if (g < 0 || g >= f.rows())
        fail(ErrorKind::input, "{}: row {} is not among the {} rows; use the previous checkpoint (--fallback)",
             path_.string(), g, f.rows());
      sent_rows[shares.rank_of(g)].push_back(g);
    }
  });
  const auto arrived_rows = comm_.all_to_all(sent_rows);
  comm_.together([&] {
    std::vector<char> seen(count, 0);
    for (const auto& rows : arrived_rows)
      for (const Gid g : rows) {
        char& mark = seen[g - first];
        if (mark != 0)
          fail(ErrorKind::input, "{}: row {} is there twice; use the previous checkpoint (--fallback)", path_.string(),
               g);
        mark = 1;
      }
  });

  // What this rank's parts want of them.
  std::vector<std::vector<Gid>> wanted(ranks);
  for (const IndexMap& map : state.maps)
    for (Lid i = 0; i < map.owned; ++i) {
      const Gid g = map.global[i];
      wanted[shares.rank_of(g)].push_back(g);
    }
  const auto asked = comm_.all_to_all(wanted);

  for (const StateField& field : state.fields) {
    const auto at = std::find(f.fields.begin(), f.fields.end(), CheckpointField{field.name, field.components});
    const auto k = static_cast<std::size_t>(field.components);
    std::vector<std::vector<double>> out(ranks);
    comm_.together([&] {
      const auto values = file_->read_field(static_cast<std::size_t>(at - f.fields.begin()), first, count);
      // No run writes one; a forged one would be met where nobody looks for it.
      if (const auto bad = std::find_if(values.begin(), values.end(), [](double v) { return !std::isfinite(v); });
          bad != values.end())
        fail(ErrorKind::input, "{}: field '{}' is {:g} in row {}; use the previous checkpoint (--fallback)",
             path_.string(), field.name, *bad, read[static_cast<std::size_t>(bad - values.begin()) / k]);
      for (std::size_t i = 0; i < read.size(); ++i)
        for (std::size_t c = 0; c < k; ++c) out[shares.rank_of(read[i])].push_back(values[i * k + c]);
    });
    std::vector<double> share(static_cast<std::size_t>(count) * k);
    {
      const auto in = comm_.all_to_all(out);
      for (std::size_t r = 0; r < ranks; ++r)
        for (std::size_t i = 0; i < arrived_rows[r].size(); ++i)
          std::copy_n(
              in[r].begin() + static_cast<std::ptrdiff_t>(i * k), k,
              share.begin() + static_cast<std::ptrdiff_t>(static_cast<std::size_t>(arrived_rows[r][i] - first) * k));
    }
    for (std::size_t r = 0; r < ranks; ++r) {
      out[r].clear();
      for (const Gid g : asked[r])
        out[r].insert(out[r].end(),
                      share.begin() + static_cast<std::ptrdiff_t>(static_cast<std::size_t>(g - first) * k),
                      share.begin() + static_cast<std::ptrdiff_t>((static_cast<std::size_t>(g - first) + 1) * k));
    }
    const auto answers = comm_.all_to_all(out);
    std::vector<std::size_t> next(ranks, 0);
    comm_.together([&] {
      for (std::size_t p = 0; p < state.maps.size(); ++p) {
        const IndexMap& map = state.maps[p];
        std::vector<double> values(static_cast<std::size_t>(map.owned) * k);
        for (Lid i = 0; i < map.owned; ++i) {
          const auto r = static_cast<std::size_t>(shares.rank_of(map.global[i]));
          std::copy_n(answers[r].begin() + static_cast<std::ptrdiff_t>(next[r]), k,
                      values.begin() + static_cast<std::ptrdiff_t>(static_cast<std::size_t>(i) * k));
          next[r] += k;
        }
        field.load(p, values);
      }
    });
  }
}

std::vector<fs::path> find_checkpoints(const fs::path& folder) {
  std::vector<fs::path> found;
  const auto look = [&](const fs::path& in) {
    std::error_code error;
    for (fs::directory_iterator it(in, error); !error && it != fs::directory_iterator(); it.increment(error)) {
      const std::string name = it->path().filename().string();
      if (name.starts_with("step-") && name.ends_with(".h5")) found.push_back(it->path());
    }
    // A folder that cannot be read is not one without checkpoints.
    if (error && error != std::errc::no_such_file_or_directory && error != std::errc::not_a_directory)
      fail(ErrorKind::io, "{}: the folder cannot be read: {}", in.string(), system_cause(error.value()));
  };
  look(folder);
  if (found.empty()) look(folder / "checkpoints");
  // Names have as many digits as the largest step needs.
  std::sort(found.begin(), found.end(), [](const fs::path& a, const fs::path& b) {
    const auto x = a.filename().string(), y = b.filename().string();
    return x.size() != y.size() ? x.size() > y.size() : x > y;
  });
  return found;
}

}  // namespace tutti
