#include "tutti/models/diffusion/scheme/scheme.hpp"

#include <algorithm>
#include <atomic>
#include <limits>
#include <map>
#include <numeric>

#include "tutti/base/error.hpp"
#include "tutti/models/diffusion/scheme/damped.hpp"
#include "tutti/models/diffusion/scheme/gradient.hpp"
#include "tutti/models/diffusion/scheme/monotone.hpp"
#include "tutti/models/diffusion/scheme/scheme_faces.hpp"

namespace tutti::diffusion {

using scheme_faces::at;
using scheme_faces::InteriorFace;

namespace {

void collect_boundary_faces(Scheme& scheme, const BoundaryKindOf& kind, const ParallelFor& parallel) {
  const LocalTetMesh& mesh = *scheme.mesh;
  const auto visit_faces = [&](Lid c, const auto& visit) {
    if (!scheme_faces::is_active(mesh, c)) return;
    for (int f = 0; f < 4; ++f) {
      const Lid n = mesh.neighbours[at(c)][at(f)];
      if (n < 0 && n != LocalTetMesh::outside_halo) visit(f, boundary_tag(n));
    }
  };
  // Each block counts its faces, then numbers them on from those of the blocks before.
  const Blocks blocks(mesh.cell_count(), 16384);
  std::vector<Lid> first(at(static_cast<Lid>(blocks.number)) + 1, 0);
  blocks.run(parallel, [&](Size block, Size begin, Size end) {
    Lid count = 0;
    for (Lid c = static_cast<Lid>(begin); c < static_cast<Lid>(end); ++c)
      visit_faces(c, [&](int, std::int32_t) { ++count; });
    first[block + 1] = count;
  });
  std::partial_sum(first.begin(), first.end(), first.begin());
  scheme.first_boundary_face.resize(mesh.cells.size() + 1);
  scheme.first_boundary_face.back() = first.back();
  scheme.boundary_faces.resize(at(first.back()));
  scheme.boundary_kinds.resize(at(first.back()));
  scheme.transfer.resize(at(first.back()), 0.0);
  blocks.run(parallel, [&](Size block, Size begin, Size end) {
    std::map<std::int32_t, BoundaryKind> known;
    Lid next = first[block];
    for (Lid c = static_cast<Lid>(begin); c < static_cast<Lid>(end); ++c) {
      scheme.first_boundary_face[at(c)] = next;
      visit_faces(c, [&](int f, std::int32_t tag) {
        auto found = known.find(tag);
        if (found == known.end()) found = known.emplace(tag, kind(tag)).first;
        scheme.boundary_faces[at(next)] = {c, f, tag, face_shape(mesh, c, f).centroid};
        if (found->second == BoundaryKind::robin)
          scheme.transfer[at(next)] = scheme.options.transfer(tag, scheme.boundary_faces[at(next)].centroid);
        scheme.boundary_kinds[at(next++)] = found->second;
      });
    }
  });
}

void check_tensors(const LocalTetMesh& mesh, std::span<const Sym3> K, const ParallelFor& parallel) {
  std::atomic<Lid> first_bad{mesh.cell_count()};
  scheme_faces::run(parallel, mesh.cell_count(), [&](Range range) {
    for (Lid c = range.begin; c < range.end; ++c) {
      if (scheme_faces::positive_definite(K[at(c)])) continue;
      Lid seen = first_bad;
      while (c < seen && !first_bad.compare_exchange_weak(seen, c)) {
      }
      return;
    }
  });
  if (const Lid c = first_bad; c < mesh.cell_count()) {
    const Sym3& k = K[at(c)];
    fail(ErrorKind::input,
         "cell {}: K is not positive definite: xx {:g}, yy {:g}, zz {:g}, xy {:g}, xz {:g}, yz {:g}; a diffusion "
         "tensor needs three positive eigenvalues",
         mesh.global[at(c)], k.xx, k.yy, k.zz, k.xy, k.xz, k.yz);
  }
}

/// Sums that belong to one row, before sorting: what the data behind the faces of cell i and of its neighbours weigh.
struct RowSums {
  std::array<double, 4> first{};    ///< of u_j - u_i behind face f, or of boundary face f of cell i
  std::array<double, 16> second{};  ///< behind face m of the neighbour behind face f, at 4 f + m: u_m - u_i, or datum
};

bool gives_u(const Scheme& scheme, Lid cell, int face) {
  return gives_u(scheme.boundary_kinds[at(scheme_faces::boundary_face_number(scheme, cell, face))]);
}

/// The flux alpha (g - u_i) + (K n - alpha d) . grad u at a face that gives u; the datum itself at a Neumann face.
/// Adds the first term to the sums, the factor of cell i's gradient to `own`.
void add_boundary_face(const Scheme& scheme, Lid cell, int face, RowSums& sums, Vec3& own) {
  const Lid number = scheme_faces::boundary_face_number(scheme, cell, face);
  if (!gives_u(scheme.boundary_kinds[at(number)])) {
    sums.first[at(face)] += norm(face_shape(*scheme.mesh, cell, face).area);
    return;
  }
  const auto f = scheme_faces::given_face(scheme, cell, face, number);
  sums.first[at(face)] += f.alpha();
  if (scheme.options.two_point) return;
  if (is_damped(scheme, cell)) {
    sums.first[at(face)] += extra_damping * f.share * f.scale;
    own = own + tangential_share(scheme, cell) * f.tangential() - (extra_damping * f.share) * f.row;
    return;
  }
  own = own + scheme_faces::given_tangential(scheme, cell, face);
}

void add_interior_face(const Scheme& scheme, Lid cell, int face, Lid neighbour, RowSums& sums, Vec3& own) {
  const LocalTetMesh& mesh = *scheme.mesh;
  if (scheme.options.two_point) {
    sums.first[at(face)] += scheme_faces::interior_face_of(scheme, cell, face, neighbour).alpha;
    return;
  }
  const auto flux = scheme_faces::interior_flux(scheme, cell, face, neighbour);
  const InteriorFace& f = flux.face;
  sums.first[at(face)] += f.alpha;
  own = own + flux.own;
  Vec3 other = flux.other;
  const bool is_lo = mesh.global[at(cell)] < mesh.global[at(neighbour)];
  // More of alpha on the defects of damped fits, which vanish for linear functions: row . grad u = u_hi - u_lo.
  const auto damp = [&](bool damped, bool of_lo, Vec3 row) {
    if (!damped) return;
    const double gain = extra_damping * f.alpha * (of_lo ? f.weight_lo : f.weight_hi);
    sums.first[at(face)] += gain;
    Vec3& gradient = of_lo == is_lo ? own : other;
    gradient = gradient - (is_lo ? gain : -gain) * row;
  };
  damp(is_damped(scheme, is_lo ? cell : neighbour), true, scheme_faces::row_of(f, true));
  damp(is_damped(scheme, is_lo ? neighbour : cell), false, scheme_faces::row_of(f, false));
  // The neighbour's gradient holds u_m - u_j = (u_m - u_i) - (u_j - u_i); u_m - u_i vanishes behind the shared face.
  for (int m = 0; m < 4; ++m) {
    const double weight = dot(other, scheme.gradients[at(neighbour)][at(m)]);
    const Lid behind = mesh.neighbours[at(neighbour)][at(m)];
    if (behind != cell) sums.second[at(4 * face + m)] = weight;
    if (behind >= 0 || gives_u(scheme, neighbour, m)) sums.first[at(face)] -= weight;
  }
}

/// Adds to the entry of a column, or inserts it at its place in the order of global numbers.
void insert_column(const LocalTetMesh& mesh, Lid column, double value, SchemeRow& row) {
  const Gid key = mesh.global[at(column)];
  int at_entry = row.count;
  while (at_entry > 0 && mesh.global[at(row.columns[at(at_entry - 1)])] >= key) --at_entry;
  if (at_entry < row.count && row.columns[at(at_entry)] == column) {
    row.values[at(at_entry)] += value;
    return;
  }
  require(row.count < max_row_entries, "the row of cell {} has more than {} entries", key, max_row_entries);
  for (int e = row.count; e > at_entry; --e) {
    row.columns[at(e)] = row.columns[at(e - 1)];
    row.values[at(e)] = row.values[at(e - 1)];
  }
  row.columns[at(at_entry)] = column;
  row.values[at(at_entry)] = value;
  ++row.count;
}

/// Inserts b_if in the order of the global cell, then the face. A face occurs once.
void insert_boundary(const Scheme& scheme, Lid number, double value, SchemeRow& row) {
  const auto key = [&](Lid n) {
    const BoundaryFaceRef& face = scheme.boundary_faces[at(n)];
    return std::pair(scheme.mesh->global[at(face.cell)], face.face);
  };
  int e = row.boundary_count++;
  for (; e > 0 && key(row.boundary_columns[at(e - 1)]) > key(number); --e) {
    row.boundary_columns[at(e)] = row.boundary_columns[at(e - 1)];
    row.boundary_values[at(e)] = row.boundary_values[at(e - 1)];
  }
  row.boundary_columns[at(e)] = number;
  row.boundary_values[at(e)] = value;
}

/// Sorts the sums of a row into its columns and boundary columns.
void collect(const Scheme& scheme, Lid cell, const RowSums& sums, SchemeRow& row) {
  const LocalTetMesh& mesh = *scheme.mesh;
  const double scale = 1.0 / mesh.volume(cell);
  const auto add = [&](Lid of, int face, double value) {
    const Lid behind = mesh.neighbours[at(of)][at(face)];
    require(behind != LocalTetMesh::outside_halo, "the halo of cell {} is too thin", mesh.global[at(of)]);
    if (behind >= 0) {
      insert_column(mesh, behind, value, row);
      return;
    }
    insert_boundary(scheme, scheme_faces::boundary_face_number(scheme, of, face), value, row);
  };
  for (int f = 0; f < 4; ++f) add(cell, f, scale * sums.first[at(f)]);
  if (has_short_rows(scheme.options)) return;
  for (int f = 0; f < 4; ++f) {
    const Lid neighbour = mesh.neighbours[at(cell)][at(f)];
    if (neighbour < 0) continue;
    for (int m = 0; m < 4; ++m)
      if (mesh.neighbours[at(neighbour)][at(m)] != cell) add(neighbour, m, scale * sums.second[at(4 * f + m)]);
  }
}

}  // namespace

/// The flux alpha (u_j - u_i) + (K_f n - alpha d) . (w_i grad u_i + w_j grad u_j) through an interior face.
/// K_f n weighs both cells' K n by their resistances, so K_f n - alpha d is tangential to the face, where the gradient
/// does not jump: any mean of the two is exact for linear functions, so a weak fit can yield to a good one.
scheme_faces::InteriorFlux scheme_faces::interior_flux(const Scheme& scheme, Lid cell, int face, Lid neighbour) {
  const LocalTetMesh& mesh = *scheme.mesh;
  InteriorFlux flux{interior_face_of(scheme, cell, face, neighbour), {}, {}};
  const InteriorFace& f = flux.face;
  const Vec3 tangential =
      (f.resistance_lo * f.alpha) * f.flow_lo + (f.resistance_hi * f.alpha) * f.flow_hi - f.alpha * f.d;
  const bool is_lo = mesh.global[at(cell)] < mesh.global[at(neighbour)];
  const Vec3 inwards = is_lo ? tangential : -1.0 * tangential;
  const double quality_lo = scheme.fit_quality[at(is_lo ? cell : neighbour)];
  const double quality_hi = scheme.fit_quality[at(is_lo ? neighbour : cell)];
  const double lo = f.weight_lo * quality_lo, hi = f.weight_hi * quality_hi;
  const double kept = is_damped(scheme, cell) || is_damped(scheme, neighbour)
                          ? std::min(tangential_share(scheme, cell), tangential_share(scheme, neighbour))
                          : std::min(1.0, std::max(quality_lo, quality_hi) / scheme.options.tangential_limit);
  const double share = kept / (lo + hi);
  flux.own = (share * (is_lo ? lo : hi)) * inwards;
  flux.other = (share * (is_lo ? hi : lo)) * inwards;
  return flux;
}

Scheme prepare_scheme(const LocalTetMesh& mesh, std::span<const Sym3> K, const BoundaryKindOf& kind,
                      const SchemeOptions& options, const ParallelFor& parallel) {
  require(K.size() == mesh.cells.size(), "{} tensors for {} cells", K.size(), mesh.cells.size());
  Scheme scheme;
  scheme.mesh = &mesh;
  scheme.K = K;
  scheme.options = options;
  check_tensors(mesh, K, parallel);
  collect_boundary_faces(scheme, kind, parallel);
  if (!options.two_point) fit_gradients(scheme, parallel);
  return scheme;
}

double boundary_inflow(const Scheme& scheme, Lid cell, int face, std::span<const double> u, std::span<const double> g) {
  if (scheme.options.monotone && gives_u(scheme, cell, face)) return monotone_inflow(scheme, cell, face);
  RowSums sums;
  Vec3 own;
  add_boundary_face(scheme, cell, face, sums, own);
  const double direct = sums.first[at(face)] * face_datum(scheme, cell, face, u, g);
  return own == Vec3{} ? direct : direct + dot(own, cell_gradient(scheme, cell, u, g));
}

SchemeRow assemble_row(const Scheme& scheme, Lid cell) {
  const LocalTetMesh& mesh = *scheme.mesh;
  RowSums sums;
  Vec3 own;  // what the gradient of the cell itself is multiplied with
  if (scheme.options.monotone) sums.first = monotone_weights(scheme, cell);
  for (int f = 0; f < 4 && !scheme.options.monotone; ++f) {
    const Lid neighbour = mesh.neighbours[at(cell)][at(f)];
    if (neighbour >= 0)
      add_interior_face(scheme, cell, f, neighbour, sums, own);
    else
      add_boundary_face(scheme, cell, f, sums, own);
  }
  if (!has_short_rows(scheme.options))
    for (int f = 0; f < 4; ++f) sums.first[at(f)] += dot(own, scheme.gradients[at(cell)][at(f)]);

  SchemeRow row;
  collect(scheme, cell, sums, row);
  for (int e = row.count; e < max_row_entries; ++e) {
    row.columns[at(e)] = cell;
    row.values[at(e)] = 0;
  }
  for (int e = 0; e < row.boundary_count; ++e)
    if (gives_u(scheme.boundary_kinds[at(row.boundary_columns[at(e)])])) row.diagonal -= row.boundary_values[at(e)];
  for (int e = 0; e < row.count; ++e) row.outflow += row.values[at(e)];
  row.outflow = scheme.options.monotone ? monotone_outflow(scheme, cell) : row.outflow - row.diagonal;
  return row;
}

namespace {

/// Boundary faces of a cell and of its face neighbours: the length of its row of boundary columns.
void count_boundary_columns(const Scheme& scheme, Csr<Lid>& out, const ParallelFor& parallel) {
  const LocalTetMesh& mesh = *scheme.mesh;
  const auto faces_of = [&](Lid c) {
    return scheme.first_boundary_face[at(c) + 1] - scheme.first_boundary_face[at(c)];
  };
  out.offsets.resize(at(mesh.owned) + 1);
  scheme_faces::run(parallel, mesh.owned, [&](Range range) {
    for (Lid c = range.begin; c < range.end; ++c) {
      Size count = faces_of(c);
      if (!has_short_rows(scheme.options))
        for (const Lid n : mesh.neighbours[at(c)])
          if (n >= 0) count += faces_of(n);
      out.offsets[at(c) + 1] = count;
    }
  });
  std::partial_sum(out.offsets.begin(), out.offsets.end(), out.offsets.begin());
  out.columns.resize(out.offsets.back());
}

void store_row(const SchemeRow& row, Lid cell, DiffusionRows& out) {
  const std::size_t c = at(cell);
  out.columns[c] = row.columns;
  out.values[c] = row.values;
  out.counts[c] = static_cast<std::uint8_t>(row.count);
  out.diagonal[c] = row.diagonal;
  const Size first = out.boundary_columns.offsets[c];
  require(out.boundary_columns.offsets[c + 1] - first == row.boundary_count, "boundary columns of row {}", cell);
  std::copy_n(row.boundary_columns.begin(), row.boundary_count, out.boundary_columns.columns.begin() + first);
  std::copy_n(row.boundary_values.begin(), row.boundary_count, out.boundary_values.begin() + first);
}

}  // namespace

DiffusionRows assemble_rows(const LocalTetMesh& mesh, std::span<const Sym3> K, const BoundaryKindOf& kind,
                            const SchemeOptions& options, const ParallelFor& parallel) {
  return assemble_rows(prepare_scheme(mesh, K, kind, options, parallel), parallel);
}

DiffusionRows assemble_rows(Scheme scheme, const ParallelFor& parallel) {
  DiffusionRows out;
  const std::size_t rows = at(scheme.mesh->owned);
  out.columns.resize(rows);
  out.values.resize(rows);
  out.counts.resize(rows);
  out.diagonal.resize(rows);
  count_boundary_columns(scheme, out.boundary_columns, parallel);
  out.boundary_values.resize(out.boundary_columns.columns.size());

  std::atomic<double> max_outflow{0};
  scheme_faces::run(parallel, scheme.mesh->owned, [&](Range range) {
    double largest = 0;
    for (Lid c = range.begin; c < range.end; ++c) {
      const SchemeRow row = assemble_row(scheme, c);
      store_row(row, c, out);
      largest = std::max(largest, std::abs(row.outflow));
    }
    double seen = max_outflow;
    while (seen < largest && !max_outflow.compare_exchange_weak(seen, largest)) {
    }
  });
  out.max_outflow = max_outflow;
  out.weak_fits = scheme.weak_fits;
  out.flattened = scheme.flattened;
  out.boundary_faces = std::move(scheme.boundary_faces);
  out.boundary_kinds = std::move(scheme.boundary_kinds);
  return out;
}

std::vector<double> jacobi_diagonal(const DiffusionRows& rows) {
  std::vector<double> result(rows.values.size());
  for (std::size_t i = 0; i < result.size(); ++i) {
    double sum = -rows.diagonal[i], magnitudes = std::abs(rows.diagonal[i]);
    for (const double a : rows.values[i]) sum += a, magnitudes += std::abs(a);
    // A row without entries is a mesh of one cell without fixed values.
    result[i] = magnitudes > 0 ? std::max(sum, 0.5 * magnitudes) : 1;
  }
  return result;
}

}  // namespace tutti::diffusion
