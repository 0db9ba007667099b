// The fields of a flow: what a run goes on from, and what is written at the centres of cells.
#include <vector>

#include "tutti/models/incompressible/flow_model.hpp"

namespace tutti::incompressible {

/// At the centres of cells of a part: means of the two faces, components together.
template <class T>
void FlowModel<T>::take_centred_velocity(std::size_t p, const CellBox& box, std::span<double> to) {
  if (box.empty()) return;
  for (std::size_t c = 0; c < 3; ++c) {
    BoxArray faces{box};
    --faces.stored.lower[c];
    std::vector<double> u(faces.values());
    take_owned(stream(p), parts_[p].u[c], domain_.arrays[p], faces.stored, u);
    const auto stride = static_cast<std::size_t>(faces.stride(static_cast<int>(c)));
    std::size_t at = c;
    for (Lid k = box.lower[2]; k < box.upper[2]; ++k)
      for (Lid j = box.lower[1]; j < box.upper[1]; ++j)
        for (Lid i = box.lower[0]; i < box.upper[0]; ++i, at += 3) {
          const auto n = static_cast<std::size_t>(faces.at(i, j, k));
          to[at] = 0.5 * (u[n] + u[n - stride]);
        }
  }
}

/// A field that is kept in an array of each part, for checkpoints.
template <class T>
ModelField FlowModel<T>::field_of(std::string name, std::function<Buffer<T>&(std::size_t)> buffer) {
  ModelField field{.name = std::move(name), .single = sizeof(T) == sizeof(float), .restart = true};
  field.read = [this, buffer](std::size_t p, const RowSet& rows, std::span<double> to) {
    take_owned(stream(p), buffer(p), domain_.arrays[p], rows.box, to);
  };
  field.write = [this, buffer](std::size_t p, std::span<const double> from) {
    put_owned(stream(p), buffer(p), domain_.arrays[p], parts_[p].box, from);
  };
  return field;
}

template <class T>
std::vector<ModelField> FlowModel<T>::fields() {
  std::vector<ModelField> all;
  // A case with the other kind of diffusion cannot go on from them.
  const char* const rate = diffusion_ ? "rate without diffusion of" : "rate of";
  for (std::size_t c = 0; c < 3; ++c) {
    const std::string name(1, "uvw"[c]);
    all.push_back(field_of(name, [this, c](std::size_t p) -> Buffer<T>& { return parts_[p].u[c]; }));
    all.back().checksum = true;
    all.push_back(field_of(fmt::format("{} {}", rate, name),
                           [this, c](std::size_t p) -> Buffer<T>& { return parts_[p].rate[c]; }));
  }
  for (std::size_t d = 0; d < 3; ++d) {
    if (flow_.ends[2 * d].velocity != VelocityEnd::outflow) continue;
    all.push_back(field_of(fmt::format("{} at {}", "uvw"[d], box_face_names[2 * d]),
                           [this, d](std::size_t p) -> Buffer<T>& { return parts_[p].intermediate[d]; }));
    all.back().read = [this, d](std::size_t p, const RowSet&, std::span<double> to) { take_lower_outflow(p, d, to); };
  }

  ModelField velocity{.name = "velocity",
                      .components = 3,
                      .single = sizeof(T) == sizeof(float),
                      .output = true,
                      .probes = {"u", "v", "w"}};
  velocity.read = [this](std::size_t p, const RowSet& rows, std::span<double> to) {
    take_centred_velocity(p, rows.box, to);
  };
  all.push_back(std::move(velocity));
  all.push_back(field_of("p", [this](std::size_t p) -> Buffer<T>& { return parts_[p].p; }));
  if (diffusion_) {  // then p is but a potential, and the pressure is computed to be written
    all.push_back(field_of("p", [this](std::size_t p) -> Buffer<T>& { return parts_[p].rhs; }));
    all.back().restart = false;
  }
  all.back().output = true;
  all.back().probes = {"p"};
  if (eddies_) {
    all.push_back(field_of("nu_t", [this](std::size_t p) -> Buffer<T>& { return parts_[p].eddy_viscosity; }));
    all.back().restart = false;
    all.back().output = true;
    all.back().probes = {"nu_t"};
  }
  for (std::size_t s = 0; s < flow_.scalars.size(); ++s) {
    const std::string& name = flow_.scalars[s].name;
    all.push_back(field_of(name, [this, s](std::size_t p) -> Buffer<T>& { return parts_[p].scalars[s].now; }));
    all.back().checksum = all.back().output = true;
    all.back().probes = {name};
    all.push_back(field_of(fmt::format("{} {}", rate, name),
                           [this, s](std::size_t p) -> Buffer<T>& { return parts_[p].scalars[s].rate; }));
  }
  add_extra_fields(all);
  return all;
}

template <class T>
std::vector<StateNumber> FlowModel<T>::numbers() {
  std::vector<StateNumber> all;  // not a list: GCC 12 destroys the elements of one twice where a copy throws
  all.push_back({"steps", &steps_});
  all.push_back({"last_dt", &last_dt_});
  all.push_back({"time of the ends", &ends_time_});
  all.push_back({"initial_heat", &initial_heat_});
  all.push_back({"heat_scale", &heat_scale_});
  if (flow_.bulk) all.push_back({"bulk force", &bulk_force_});
  if (profiles_)
    for (const StateNumber& number : profiles_->numbers()) all.push_back(number);
  return all;
}

template <class T>
void FlowModel<T>::write_results(const std::filesystem::path& folder) {
  if (profiles_)
    comm_.together([&] {
      if (comm_.is_root()) profiles_->write(folder);
    });
}

template <class T>
void FlowModel<T>::before_output() {
  if (diffusion_) diffusion_->pressure_of_potential(last_dt_);
  update_eddy_viscosity();
  find_stream_function();
}

template class FlowModel<double>;
template class FlowModel<float>;

}  // namespace tutti::incompressible
