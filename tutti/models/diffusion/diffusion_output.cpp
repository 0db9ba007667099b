// What is written besides u: gradients, fluxes, and what flows through the boundary.
#include <algorithm>

#include "tutti/base/mpi/over_ranks.hpp"
#include "tutti/mesh/face_shape.hpp"
#include "tutti/models/diffusion/diffusion.hpp"
#include "tutti/models/diffusion/scheme/gradient.hpp"
#include "tutti/models/diffusion/scheme/monotone.hpp"
#include "tutti/simulation/evaluate.hpp"

namespace tutti::diffusion {

/// Of the rows as they are, kept for the next time.
const KeptScheme& Diffusion::scheme(std::size_t p) {
  DiffusionPart& part = parts_[p];
  if (part.scheme && (!changes_ || part.scheme->run == runs_)) return *part.scheme;
  const LocalTetMesh& mesh = domain_.meshes[p];
  part.scheme = std::make_unique<KeptScheme>();
  const ParallelFor parallel = parallel_for(*devices_.threads);
  const double time = method_ == TimeMethod::steady ? 0 : time_;
  const std::vector<double> u = local_values(p);
  part.scheme->run = runs_;
  part.scheme->K = physics_->diffusivity(mesh, *devices_.threads, u);
  Scheme& scheme = part.scheme->scheme;
  scheme = prepare_scheme(
      mesh, part.scheme->K, [&](std::int32_t tag) { return physics_->kind(tag); }, scheme_options(p, time), parallel);
  if (is_monotone()) set_flux_bounds(scheme, u, boundary_data(*physics_, scheme.boundary_faces, time), parallel);
  return *part.scheme;
}

std::vector<double> Diffusion::local_values(std::size_t p) {
  std::vector<double> u(domain_.maps[p].local());
  download(domain_.stream(p), std::span<double>(u), parts_[p].u[0].buffer());
  return u;
}

std::vector<std::string> Diffusion::boundary_quantities() const {
  return {"flux", "u"};
}

/// Densities of the flux out of the domain; u in the cell, or where it is given.
BoundaryValues Diffusion::boundary_values(std::int32_t tag, double time) {
  if (method_ == TimeMethod::steady) {  // an iteration leaves ghosts behind
    time = 0;
    exchange_now(0);
  }
  BoundaryValues found;
  comm_.together([&] {
    for (std::size_t p = 0; p < parts_.size(); ++p) {
      const LocalTetMesh& mesh = domain_.meshes[p];
      const Scheme& of = scheme(p).scheme;
      const std::vector<double> u = local_values(p), data = boundary_data(*physics_, of.boundary_faces, time);
      for (std::size_t b = 0; b < of.boundary_faces.size(); ++b) {
        const BoundaryFaceRef& face = of.boundary_faces[b];
        if (face.tag != tag || face.cell >= mesh.owned) continue;
        const double area = norm(face_shape(mesh, face.cell, face.face).area);
        found.faces.push_back({4 * mesh.global[face.cell] + face.face, face.centroid, area});
        found.values.push_back(-boundary_inflow(of, face.cell, face.face, u, data) / area);
        found.values.push_back(of.boundary_kinds[b] == BoundaryKind::dirichlet ? data[b] : u[face.cell]);
      }
    }
  });
  return found;
}

/// Of the steady state at the end.
Summary::Flows Diffusion::flows() {
  std::map<std::int32_t, ExactSum> boundaries;
  for (const std::int32_t tag : domain_.boundary_tags) boundaries[tag];
  ExactSum source;
  exchange_now(0);
  comm_.together([&] {
    for (std::size_t p = 0; p < parts_.size(); ++p) {
      const LocalTetMesh& mesh = domain_.meshes[p];
      const Scheme& of = scheme(p).scheme;
      std::vector<double> u = local_values(p);
      const std::vector<double> data = boundary_data(*physics_, of.boundary_faces, 0);
      for (const BoundaryFaceRef& face : of.boundary_faces)
        if (face.cell < mesh.owned) boundaries[face.tag].add(boundary_inflow(of, face.cell, face.face, u, data));
      u.resize(parts_[p].centroids.size());
      const auto s = evaluate_at(physics_->source(), parts_[p].centroids, 0, *devices_.threads, u);
      for (Lid c = 0; c < mesh.owned; ++c) source.add(mesh.volume(c) * s[static_cast<std::size_t>(c)]);
    }
  });
  Summary::Flows result;
  result.source = sum_over_ranks(comm_, source);
  ExactSum all;
  all.add(result.source);
  for (auto& [tag, sum] : boundaries) {
    const auto name = domain_.boundary_names.find(tag);
    const double flow = sum_over_ranks(comm_, sum);
    result.boundaries[name == domain_.boundary_names.end() ? fmt::format("{}", tag) : name->second] = flow;
    all.add(flow);
  }
  result.sum = all.value();
  return result;
}

void Diffusion::before_output() {
  if (!options_.has("output.extra") || gradients_of_run_ == runs_) return;
  gradients_of_run_ = runs_;
  if (method_ == TimeMethod::steady) exchange_now(0);
  comm_.together([&] {
    for (std::size_t p = 0; p < parts_.size(); ++p) {
      const Scheme& of = scheme(p).scheme;
      const double time = method_ == TimeMethod::steady ? 0 : time_;
      parts_[p].gradients = cell_gradients(of, local_values(p), boundary_data(*physics_, of.boundary_faces, time));
    }
  });
}

/// Of output.extra.
void Diffusion::add_gradient_fields(std::vector<ModelField>& all) {
  if (!options_.has("output.extra")) return;
  const auto names = options_.texts("output.extra");
  for (const std::string name : {"gradient", "flux"}) {
    if (std::ranges::find(names, name) == names.end()) continue;
    ModelField field{.name = name, .components = 3, .output = true};
    field.read = [this, is_flux = name == "flux"](std::size_t p, const RowSet& rows, std::span<double> to) {
      auto value = to.begin();
      for (Lid c = rows.rows.begin; c < rows.rows.end; ++c) {
        Vec3 v = parts_[p].gradients.empty() ? Vec3{} : parts_[p].gradients[c];
        if (is_flux) v = -1.0 * (scheme(p).K[c] * v);
        for (int d = 0; d < 3; ++d) *value++ = v[d];
      }
    };
    all.push_back(std::move(field));
  }
}

}  // namespace tutti::diffusion
