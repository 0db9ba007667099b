#include "tutti/models/diffusion/forcing.hpp"

#include <cmath>
#include <map>

#include "tutti/simulation/evaluate.hpp"

namespace tutti::diffusion {
namespace {

constexpr std::uint64_t none = ~std::uint64_t{0};  // no time has these bits: it is a NaN

template <class T>
Buffer<T> to_device(Stream& stream, const std::vector<T>& values, const char* name) {
  return make_buffer(stream, std::span<const T>(values), name);
}

}  // namespace

std::vector<double> boundary_data(const DiffusionPhysics& physics, std::span<const BoundaryFaceRef> faces,
                                  double time) {
  std::vector<double> data;
  for (const BoundaryFaceRef& face : faces) data.push_back(physics.condition(face.tag).value(face.centroid, time));
  return data;
}

Forcing::Forcing(Stream& stream, Threads& threads, const DiffusionPhysics& physics, std::span<const Vec3> centroids,
                 const DiffusionRows& assembled)
    : source_(&physics.source()),
      time_dependent_(physics.forcing_depends_on_time()),
      time_dependent_source_(physics.source_changes()),
      host_centroids_(centroids),
      forcing_(stream.device(), static_cast<Size>(centroids.size()), "forcing") {
  std::vector<double> values(centroids.size(), 0.0), data;
  if (!time_dependent_source_) values = evaluate_at(*source_, centroids, 0, threads);
  // Formulas: the source's, then one a condition that changes in time.
  std::vector<FormulaStep> steps;
  if (time_dependent_source_) steps.assign(source_->steps().begin(), source_->steps().end());
  std::map<const Expression*, TimeDependentFace> known;
  std::vector<TimeDependentFace> faces;
  for (const BoundaryFaceRef& face : assembled.boundary_faces) {
    const Expression& value = physics.condition(face.tag).value;
    const auto number = static_cast<Lid>(data.size());
    data.push_back(value.depends_on_time() ? 0.0 : value(face.centroid, 0));
    if (!value.depends_on_time()) continue;
    auto formula = known.find(&value);
    if (formula == known.end()) {
      const auto first = static_cast<std::int32_t>(steps.size()),
                 count = static_cast<std::int32_t>(value.steps().size());
      steps.insert(steps.end(), value.steps().begin(), value.steps().end());
      formula = known.emplace(&value, TimeDependentFace{{}, 0, first, count}).first;
    }
    faces.push_back({face.centroid, number, formula->second.first, formula->second.count});
  }
  std::vector<BoundaryRow> rows;
  std::vector<BoundaryTerm> terms;
  std::vector<double> steady;
  const Csr<Lid>& columns = assembled.boundary_columns;
  for (Lid i = 0; i < columns.rows(); ++i) {
    const auto row = static_cast<std::size_t>(i);
    if (columns.offsets[row] == columns.offsets[row + 1]) continue;
    const auto begin = static_cast<Lid>(terms.size());
    double sum = values[row];
    if (time_dependent_ && !time_dependent_source_) steady.push_back(sum);
    for (auto k = static_cast<std::size_t>(columns.offsets[row]);
         k < static_cast<std::size_t>(columns.offsets[row + 1]); ++k) {
      const Lid face = columns.columns[k];
      terms.push_back({assembled.boundary_values[k], face});
      sum = std::fma(terms.back().weight, data[face], sum);
    }
    rows.push_back({i, begin, static_cast<Lid>(terms.size())});
    values[row] = sum;
  }
  upload(stream, forcing_, std::span<const double>(values));
  if (!time_dependent_) return;
  steps_ = to_device(stream, steps, "formulas");
  const bool at_places = source_->depends_on_space() || source_->depends_on_solution();
  if (time_dependent_source_ && at_places && !stream.device().is_host())
    centroids_ = make_buffer(stream, centroids, "centroids");
  faces_ = to_device(stream, faces, "boundary faces");
  data_ = to_device(stream, data, "boundary data");
  rows_ = to_device(stream, rows, "boundary rows");
  terms_ = to_device(stream, terms, "boundary terms");
  steady_ = to_device(stream, steady, "steady source");
  bad_time_ = to_device(stream, std::vector<std::uint64_t>{none}, "first bad time");
}

std::vector<double> forcing_of_rows(const DiffusionPhysics& physics, Threads& threads, std::span<const Vec3> centroids,
                                    const DiffusionRows& rows, double time, std::span<const double> u) {
  std::vector<double> values = evaluate_at(physics.source(), centroids, time, threads, u);
  const auto data = boundary_data(physics, rows.boundary_faces, time);
  const Csr<Lid>& columns = rows.boundary_columns;
  for (std::size_t row = 0; row < values.size(); ++row)
    for (auto k = static_cast<std::size_t>(columns.offsets[row]);
         k < static_cast<std::size_t>(columns.offsets[row + 1]); ++k)
      values[row] = std::fma(rows.boundary_values[k], data[static_cast<std::size_t>(columns.columns[k])], values[row]);
  return values;
}

ForcingView Forcing::view(const double* u) {
  return {forcing_.data(),
          steps_.data(),
          time_dependent_source_ ? static_cast<int>(source_->steps().size()) : 0,
          u,
          centroids_.empty() ? host_centroids_.data() : centroids_.data(),
          faces_.data(),
          data_.data(),
          rows_.data(),
          terms_.data(),
          steady_.data(),
          bad_time_.data()};
}

void Forcing::update(Stream& stream, double time, const double* u) {
  if (!time_dependent_) return;
  const Range owned{0, static_cast<Lid>(forcing_.size())};
  if (time_dependent_source_ && (source_->depends_on_space() || source_->depends_on_solution()))
    evaluate_source(stream, owned, view(u), time);
  else if (time_dependent_source_)
    fill_source(stream, owned, forcing_.data(), (*source_)({}, time));
  evaluate_boundary(stream, static_cast<Lid>(faces_.size()), static_cast<Lid>(rows_.size()), view(u), time);
}

std::optional<double> Forcing::first_bad_time(Stream& stream) const {
  if (bad_time_.empty()) return {};
  std::uint64_t bits = none;
  stream.copy(&bits, bad_time_.data(), sizeof bits, CopyDirection::to_host);
  stream.synchronize();
  if (bits == none) return {};
  return portable::from_bits(bits);
}

}  // namespace tutti::diffusion
