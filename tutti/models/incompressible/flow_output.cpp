// What is recorded of a flow at points.
#include <array>

#include "tutti/models/incompressible/flow_model.hpp"
#include "tutti/simulation/tet_results.hpp"

namespace tutti {

template <class T>
void FlowModel<T>::set_probes(std::vector<Vec3> points) {
  probes_ = BoxProbes(comm_, domain_, points, probe_labels(options_));
}

template <class T>
std::vector<std::string> FlowModel<T>::sampled() const {
  std::vector<std::string> names{"u", "v", "w", "p"};
  if (flow_.has_temperature()) names.emplace_back("T");
  return names;
}

/// At the centres of the probes' cells, as the fields in the results: a velocity is the mean of the two faces.
template <class T>
std::vector<double> FlowModel<T>::sample() {
  return probes_.sample(
      comm_, sampled().size(), [&](std::size_t p, const std::array<Lid, 3>& cell, std::span<double> values) {
        FlowPart<T>& part = parts_[p];
        const BoxArray& array = domain_.arrays[p];
        const Lid n = array.at(cell[0], cell[1], cell[2]);
        std::array<T, 8> read{};
        const auto take = [&](std::size_t to, const Buffer<T>& buffer, Lid from) {
          stream(p).copy(&read[to], buffer.data() + from, sizeof(T), CopyDirection::to_host);
        };
        for (std::size_t c = 0; c < 3; ++c) {
          take(2 * c, part.u[c], n);
          take(2 * c + 1, part.u[c], n - array.stride(static_cast<int>(c)));
        }
        take(6, part.p, n);
        if (flow_.has_temperature()) take(7, part.temperature, n);
        stream(p).synchronize();
        for (std::size_t c = 0; c < 3; ++c)
          values[c] = 0.5 * (static_cast<double>(read[2 * c]) + static_cast<double>(read[2 * c + 1]));
        values[3] = static_cast<double>(read[6]);
        if (flow_.has_temperature()) values[4] = static_cast<double>(read[7]);
      });
}

template class FlowModel<double>;
template class FlowModel<float>;

}  // namespace tutti
