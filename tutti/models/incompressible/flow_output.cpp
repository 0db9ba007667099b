// What is written of a flow: fields, slices of them, values at points.
#include <vector>

#include "tutti/models/incompressible/flow_model.hpp"
#include "tutti/simulation/tet_results.hpp"

namespace tutti {

template <class T>
std::vector<double> FlowModel<T>::values_in(std::size_t p, const Buffer<T>& buffer, const CellBox& box) {
  std::vector<double> values(static_cast<std::size_t>(box.cells()));
  take_owned(stream(p), buffer, domain_.arrays[p], box, values);
  return values;
}

/// At the centres of cells of a part: means of the two faces, components together.
template <class T>
std::vector<double> FlowModel<T>::centred_velocity(std::size_t p, const CellBox& box) {
  std::vector<double> values(static_cast<std::size_t>(3 * box.cells()));
  if (box.empty()) return values;
  for (std::size_t c = 0; c < 3; ++c) {
    BoxArray faces{box};
    --faces.stored.lower[c];
    const std::vector<double> u = values_in(p, parts_[p].u[c], faces.stored);
    const auto stride = static_cast<std::size_t>(faces.stride(static_cast<int>(c)));
    std::size_t to = c;
    for (Lid k = box.lower[2]; k < box.upper[2]; ++k)
      for (Lid j = box.lower[1]; j < box.upper[1]; ++j)
        for (Lid i = box.lower[0]; i < box.upper[0]; ++i, to += 3) {
          const auto n = static_cast<std::size_t>(faces.at(i, j, k));
          values[to] = 0.5 * (u[n] + u[n - stride]);
        }
  }
  return values;
}

/// The pressure of each part; with implicit diffusion p is but a potential.
template <class T>
std::vector<const Buffer<T>*> FlowModel<T>::pressure_fields() {
  if (diffusion_) diffusion_->pressure_of_potential(last_dt_);
  std::vector<const Buffer<T>*> fields;
  for (const FlowPart<T>& part : parts_) fields.push_back(diffusion_ ? &part.rhs : &part.p);
  return fields;
}

/// The fields of the results in boxes of cells, one a part.
template <class T>
std::vector<BoxFieldValues> FlowModel<T>::fields_in(std::span<const CellBox> boxes) {
  const auto in_precision = [](const std::vector<double>& values) {
    return std::vector<T>(values.begin(), values.end());
  };
  const auto pressures = pressure_fields();
  std::vector<std::vector<T>> velocity, pressure;
  for (std::size_t p = 0; p < parts_.size(); ++p) {
    velocity.push_back(in_precision(centred_velocity(p, boxes[p])));
    pressure.push_back(in_precision(values_in(p, *pressures[p], boxes[p])));
  }
  // Not a list: GCC 12 destroys the elements of one twice where a copy of them throws.
  std::vector<BoxFieldValues> fields;
  fields.push_back({"velocity", 3, std::move(velocity)});
  fields.push_back({"p", 1, std::move(pressure)});
  for (std::size_t s = 0; s < flow_.scalars.size(); ++s) {
    std::vector<std::vector<T>> values;
    for (std::size_t p = 0; p < parts_.size(); ++p)
      values.push_back(in_precision(values_in(p, parts_[p].scalars[s].now, boxes[p])));
    fields.push_back({flow_.scalars[s].name, 1, std::move(values)});
  }
  return fields;
}

template <class T>
void FlowModel<T>::open_results(const std::filesystem::path& folder, std::span<const double> before) {
  std::vector<BoxPiece> mine;
  for (std::size_t p = 0; p < parts_.size(); ++p) mine.push_back({domain_.parts.mine[p], parts_[p].box});
  const auto& lines = domain_.grid.lines;
  results_ = std::make_unique<BoxResults>(
      comm_, BoxGridShape({lines[0].faces, lines[1].faces, lines[2].faces}), mine, domain_.parts.boxes, folder,
      static_cast<int>(options_.integer("output.compress")), devices_.threads->count(), before);
}

template <class T>
void FlowModel<T>::write_results(double time) {
  std::vector<CellBox> owned;
  for (const FlowPart<T>& part : parts_) owned.push_back(part.box);
  results_->write(time, fields_in(owned));
}

template <class T>
void FlowModel<T>::open_slices(const std::filesystem::path& folder, std::span<const std::vector<double>> before) {
  slices_ = std::make_unique<BoxSlices>(comm_, domain_, options_, folder, devices_.threads->count(), before);
}

template <class T>
void FlowModel<T>::write_slice(std::size_t slice, double time) {
  slices_->write(slice, time, [this](std::span<const CellBox> boxes) { return fields_in(boxes); });
}

template <class T>
void FlowModel<T>::set_probes(std::vector<Vec3> points) {
  probes_ = BoxProbes(comm_, domain_, points, probe_labels(options_));
}

template <class T>
std::vector<std::string> FlowModel<T>::sampled() const {
  std::vector<std::string> names{"u", "v", "w", "p"};
  for (const FlowScalar& scalar : flow_.scalars) names.push_back(scalar.name);
  return names;
}

/// At the centres of the probes' cells, as the fields in the results: a velocity is the mean of the two faces.
template <class T>
std::vector<double> FlowModel<T>::sample() {
  const auto pressures = pressure_fields();
  return probes_.sample(comm_, sampled().size(),
                        [&](std::size_t p, const std::array<Lid, 3>& cell, std::span<double> values) {
                          FlowPart<T>& part = parts_[p];
                          const BoxArray& array = domain_.arrays[p];
                          const Lid n = array.at(cell[0], cell[1], cell[2]);
                          std::vector<T> read(7 + part.scalars.size());
                          const auto take = [&](std::size_t to, const Buffer<T>& buffer, Lid from) {
                            stream(p).copy(&read[to], buffer.data() + from, sizeof(T), CopyDirection::to_host);
                          };
                          for (std::size_t c = 0; c < 3; ++c) {
                            take(2 * c, part.u[c], n);
                            take(2 * c + 1, part.u[c], n - array.stride(static_cast<int>(c)));
                          }
                          take(6, *pressures[p], n);
                          for (std::size_t s = 0; s < part.scalars.size(); ++s) take(7 + s, part.scalars[s].now, n);
                          stream(p).synchronize();
                          for (std::size_t c = 0; c < 3; ++c)
                            values[c] = 0.5 * (static_cast<double>(read[2 * c]) + static_cast<double>(read[2 * c + 1]));
                          for (std::size_t i = 6; i < read.size(); ++i) values[i - 3] = static_cast<double>(read[i]);
                        });
}

template class FlowModel<double>;
template class FlowModel<float>;

}  // namespace tutti
