#include "tutti/io/distribute.hpp"

#include <algorithm>
#include <cstring>
#include <limits>
#include <numeric>

namespace tutti {
namespace {

constexpr int distribute_tag = 4711;

/// Numbers of one cut-out: local number of a global one, valid while `stamp` matches. Reused from part to part.
struct LocalNumbers {
  explicit LocalNumbers(Gid size) : local(static_cast<std::size_t>(size), no_lid), used() {}
  Lid find(Gid g) const { return local[g]; }
  void add(Gid g) {
    if (local[g] != no_lid) return;
    local[g] = static_cast<Lid>(used.size());
    used.push_back(g);
  }
  void clear() {
    for (const Gid g : used) local[g] = no_lid;
    used.clear();
  }
  std::vector<Lid> local;
  std::vector<Gid> used;  ///< in the order of their local numbers
};

/// Adds the face neighbours of cells [begin, end) of the cut-out.
void add_layer(const FaceNeighbours& neighbours, LocalNumbers& cells, std::size_t begin, std::size_t end) {
  for (std::size_t i = begin; i < end; ++i) {
    const Gid cell = cells.used[i];
    for (const Gid n : neighbours[cell])
      if (n >= 0) cells.add(n);
  }
}

void require_fit(std::size_t cells) {
  if (cells >= static_cast<std::size_t>(std::numeric_limits<Lid>::max()))
    fail(ErrorKind::resource, "a part would hold {} cells, 2^31 or more; use more devices", cells);
}

DistributedPart cut_out(const WholeMesh& whole, std::span<const std::int32_t> owner, std::int32_t part,
                        std::span<const Gid> own_cells, int layers, LocalNumbers& cells, LocalNumbers& vertices) {
  cells.clear();
  vertices.clear();
  for (const Gid c : own_cells) cells.add(c);
  const std::size_t owned = cells.used.size();
  std::size_t layer_begin = 0;
  for (int layer = 0; layer < layers; ++layer) {
    const std::size_t layer_end = cells.used.size();
    add_layer(whole.neighbours, cells, layer_begin, layer_end);
    layer_begin = layer_end;
  }
  require_fit(cells.used.size());
  // Ghosts in global order: what arrives does not depend on how the halo was found.
  std::sort(cells.used.begin() + static_cast<std::ptrdiff_t>(owned), cells.used.end());
  for (std::size_t i = owned; i < cells.used.size(); ++i) cells.local[cells.used[i]] = static_cast<Lid>(i);

  DistributedPart result;
  result.part = part;
  LocalTetMesh& mesh = result.mesh;
  mesh.owned = static_cast<Lid>(owned);
  mesh.global = cells.used;
  mesh.cells.reserve(cells.used.size());
  mesh.neighbours.reserve(cells.used.size());
  mesh.regions.reserve(cells.used.size());
  for (std::size_t i = 0; i < cells.used.size(); ++i) {
    const auto c = static_cast<std::size_t>(cells.used[i]);
    if (i >= owned) result.ghost_owners.push_back(owner[c]);
    std::array<Lid, 4> corners{}, across{};
    for (std::size_t k = 0; k < 4; ++k) {
      vertices.add(whole.mesh.cells[c][k]);
      corners[k] = vertices.find(whole.mesh.cells[c][k]);
      const Gid n = whole.neighbours[c][k];
      across[k] = n < 0 ? static_cast<Lid>(n) : cells.find(n) != no_lid ? cells.find(n) : LocalTetMesh::outside_halo;
    }
    mesh.cells.push_back(corners);
    mesh.neighbours.push_back(across);
    mesh.regions.push_back(whole.mesh.regions[c]);
  }
  mesh.vertices.reserve(vertices.used.size());
  for (const Gid v : vertices.used) mesh.vertices.push_back(whole.mesh.vertices[v]);
  for (const CellData& data : whole.mesh.cell_data) {
    CellData& mine = mesh.cell_data.emplace_back();
    mine.name = data.name;
    mine.components = data.components;
    const auto k = static_cast<std::size_t>(data.components);
    for (const Gid c : cells.used)
      for (std::size_t j = 0; j < k; ++j) mine.values.push_back(data.values[static_cast<std::size_t>(c) * k + j]);
  }
  return result;
}

/// The whole mesh as the only part: nothing is cut, no ghost is made.
DistributedPart keep_whole(WholeMesh&& whole, const ParallelFor& parallel) {
  DistributedPart result;
  LocalTetMesh& mesh = result.mesh;
  require_fit(whole.mesh.cells.size());
  mesh.owned = static_cast<Lid>(whole.mesh.cell_count());
  mesh.vertices = std::move(whole.mesh.vertices);
  const auto narrow = [&](std::vector<std::array<Gid, 4>>&& from) {
    std::vector<std::array<Lid, 4>> to(from.size());
    for_ranges(parallel, static_cast<Size>(from.size()), [&](Size begin, Size end) {
      for (auto i = static_cast<std::size_t>(begin); i < static_cast<std::size_t>(end); ++i)
        for (std::size_t k = 0; k < 4; ++k) to[i][k] = static_cast<Lid>(from[i][k]);
    });
    std::vector<std::array<Gid, 4>>().swap(from);
    return to;
  };
  mesh.cells = narrow(std::move(whole.mesh.cells));
  mesh.neighbours = narrow(std::move(whole.neighbours));
  mesh.regions = std::move(whole.mesh.regions);
  mesh.cell_data = std::move(whole.mesh.cell_data);
  mesh.global.resize(mesh.cells.size());
  std::iota(mesh.global.begin(), mesh.global.end(), Gid{0});
  return result;
}

/// A part as a run of bytes: each array as its length and its elements.
class Packer {
 public:
  template <class T>
  void put(const std::vector<T>& values) {
    put_bytes(values.size(), values.data(), values.size() * sizeof(T));
  }
  void put(const std::string& text) { put_bytes(text.size(), text.data(), text.size()); }
  std::vector<char> bytes;

 private:
  void put_bytes(std::size_t count, const void* data, std::size_t size) {
    const auto n = static_cast<std::uint64_t>(count);
    bytes.insert(bytes.end(), reinterpret_cast<const char*>(&n), reinterpret_cast<const char*>(&n) + sizeof(n));
    bytes.insert(bytes.end(), static_cast<const char*>(data), static_cast<const char*>(data) + size);
  }
};

class Unpacker {
 public:
  explicit Unpacker(std::span<const char> bytes) : bytes_(bytes) {}
  template <class T>
  void get(std::vector<T>& values) {
    values.resize(count());
    take(values.data(), values.size() * sizeof(T));
  }
  void get(std::string& text) {
    text.resize(count());
    take(text.data(), text.size());
  }

 private:
  std::size_t count() {
    std::uint64_t n = 0;
    take(&n, sizeof(n));
    return static_cast<std::size_t>(n);
  }
  void take(void* to, std::size_t size) {
    if (size > 0) std::memcpy(to, bytes_.data() + at_, size);
    at_ += size;
  }
  std::span<const char> bytes_;
  std::size_t at_ = 0;
};

std::vector<char> pack(const DistributedPart& p) {
  Packer packer;
  packer.put(std::vector<Gid>{p.part, p.mesh.owned, static_cast<Gid>(p.mesh.cell_data.size())});
  packer.put(p.mesh.vertices);
  packer.put(p.mesh.cells);
  packer.put(p.mesh.neighbours);
  packer.put(p.mesh.global);
  packer.put(p.mesh.regions);
  packer.put(p.ghost_owners);
  for (const CellData& data : p.mesh.cell_data) {
    packer.put(data.name);
    packer.put(std::vector<int>{data.components});
    packer.put(data.values);
  }
  return std::move(packer.bytes);
}

DistributedPart unpack(const std::vector<char>& bytes) {
  Unpacker unpacker(bytes);
  DistributedPart p;
  std::vector<Gid> head;
  unpacker.get(head);
  p.part = static_cast<std::int32_t>(head[0]);
  p.mesh.owned = static_cast<Lid>(head[1]);
  unpacker.get(p.mesh.vertices);
  unpacker.get(p.mesh.cells);
  unpacker.get(p.mesh.neighbours);
  unpacker.get(p.mesh.global);
  unpacker.get(p.mesh.regions);
  unpacker.get(p.ghost_owners);
  p.mesh.cell_data.resize(head[2]);
  for (CellData& data : p.mesh.cell_data) {
    std::vector<int> components;
    unpacker.get(data.name);
    unpacker.get(components);
    data.components = components[0];
    unpacker.get(data.values);
  }
  return p;
}

}  // namespace

std::vector<DistributedPart> distribute_mesh(const Comm& comm, WholeMesh&& whole, std::span<const std::int32_t> owner,
                                             std::span<const int> rank_of_part, int layers,
                                             const ParallelFor& parallel) {
  const auto parts = static_cast<std::int32_t>(rank_of_part.size());
  std::vector<DistributedPart> mine;
  if (!comm.is_root()) {
    for (std::int32_t p = 0; p < parts; ++p)
      if (rank_of_part[p] == comm.rank()) mine.push_back(unpack(receive_bytes(comm, 0, distribute_tag)));
    return mine;
  }
  if (parts == 1) {
    DistributedPart part = keep_whole(std::move(whole), parallel);
    whole = {};
    if (rank_of_part[0] == comm.rank())
      mine.push_back(std::move(part));
    else
      send_bytes(comm, pack(part), rank_of_part[0], distribute_tag);
    return mine;
  }
  const Gid cells = whole.mesh.cell_count();
  // Cells part after part, by counting.
  std::vector<Gid> begin(static_cast<std::size_t>(parts) + 1, 0);
  for (const std::int32_t p : owner) ++begin[p + 1];
  std::partial_sum(begin.begin(), begin.end(), begin.begin());
  std::vector<Gid> sorted(cells), next(begin);
  for (Gid c = 0; c < cells; ++c) sorted[next[owner[c]]++] = c;

  LocalNumbers cell_numbers(cells), vertex_numbers(whole.mesh.vertex_count());
  for (std::int32_t p = 0; p < parts; ++p) {
    const auto b = static_cast<std::size_t>(begin[p]), e = static_cast<std::size_t>(begin[p + 1]);
    DistributedPart part =
        cut_out(whole, owner, p, std::span(sorted).subspan(b, e - b), layers, cell_numbers, vertex_numbers);
    const int rank = rank_of_part[p];
    if (rank == comm.rank())
      mine.push_back(std::move(part));
    else
      send_bytes(comm, pack(part), rank, distribute_tag);
  }
  whole = {};
  return mine;
}

LocalTetMesh reorder_cells(LocalTetMesh&& mesh, std::span<const Lid> order, const ParallelFor& parallel) {
  require(order.size() == mesh.cells.size(), "{} cells, {} in the order", mesh.cells.size(), order.size());
  const auto for_cells = [&](const auto& body) {
    for_ranges(parallel, static_cast<Size>(order.size()), [&](Size begin, Size end) {
      for (auto i = static_cast<std::size_t>(begin); i < static_cast<std::size_t>(end); ++i) body(i);
    });
  };
  std::vector<Lid> now(order.size());
  for_cells([&](std::size_t i) { now[order[i]] = static_cast<Lid>(i); });
  LocalTetMesh result;
  result.owned = mesh.owned;
  const auto permute = [&](auto&& from) {
    std::remove_reference_t<decltype(from)> to(from.size());
    for_cells([&](std::size_t i) { to[i] = from[order[i]]; });
    std::remove_reference_t<decltype(from)>().swap(from);
    return to;
  };
  result.cells = permute(mesh.cells);
  result.neighbours = permute(mesh.neighbours);
  result.global = permute(mesh.global);
  result.regions = permute(mesh.regions);
  for_cells([&](std::size_t i) {
    for (Lid& n : result.neighbours[i])
      if (n >= 0) n = now[n];
  });
  for (CellData& data : mesh.cell_data) {
    CellData& to =
        result.cell_data.emplace_back(CellData{data.name, data.components, std::vector<double>(data.values.size())});
    const auto k = static_cast<std::size_t>(data.components);
    for_cells([&](std::size_t i) {
      std::copy_n(data.values.begin() + static_cast<std::ptrdiff_t>(static_cast<std::size_t>(order[i]) * k), k,
                  to.values.begin() + static_cast<std::ptrdiff_t>(i * k));
    });
  }
  // Vertices in the order in which the cells meet them: neighbours in space become neighbours in memory.
  std::vector<Lid> vertex_now(mesh.vertices.size(), no_lid);
  result.vertices.reserve(mesh.vertices.size());
  for (auto& corners : result.cells)
    for (Lid& v : corners) {
      Lid& at = vertex_now[v];
      if (at == no_lid) {
        at = static_cast<Lid>(result.vertices.size());
        result.vertices.push_back(mesh.vertices[v]);
      }
      v = at;
    }
  return result;
}

}  // namespace tutti
