// A box with a right-hand side, cut into parts, for tests of solvers of the pressure.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "tutti/base/random.hpp"
#include "tutti/io/case/core_keys.hpp"
#include "tutti/models/incompressible/incompressible.hpp"
#include "tutti/models/incompressible/pressure/direct/direct_layout.hpp"
#include "tutti/models/incompressible/pressure/direct/direct_solver.hpp"
#include "tutti/models/incompressible/pressure/pressure.hpp"
#include "tutti/program/model_kind.hpp"

namespace tutti::incompressible {

/// What holds at both ends in each direction: 'w' walls, 'p' periodic, 'o' outflow at both, 'u' at the upper one (walls
/// where there is one cell).
struct PressureBox {
  std::array<Lid, 3> cells{};
  std::array<double, 3> length{1, 1, 1};
  std::array<double, 3> stretch{0, 0, 0};
  std::string ends = "www";
};

inline std::string case_text(const PressureBox& box, const std::string& more = "") {
  const auto three = [](const auto& v) { return fmt::format("[{}, {}, {}]", v[0], v[1], v[2]); };
  std::string text = more + "\nmodel = \"incompressible\"\ngrid.cells = " + three(box.cells) +
                     "\ngrid.upper = " + three(box.length) + "\ngrid.stretch = " + three(box.stretch) +
                     "\nfluid.viscosity = 1\ntime.steps = 1\nbalance.weights = \"equal\"\n";
  for (std::size_t f = 0; f < 6; ++f) {
    const char kind = box.ends[f / 2];
    const bool open = box.cells[f / 2] > 1 && (kind == 'o' || (kind == 'u' && f % 2 == 1));
    text += fmt::format("[[boundary]]\nface = \"{}\"\nvelocity = \"{}\"\n", box_face_names[f],
                        kind == 'p' ? "periodic"
                        : open      ? "outflow"
                                    : "no-slip");
  }
  return text;
}

template <class T>
class PressureSetup {
 public:
  PressureSetup(const Comm& comm, const PressureBox& box, const std::string& device_list = "cpu",
                const std::string& more = "")
      : comm_(comm),
        devices_(open(comm, device_list)),
        options_(parse(case_text(box, more))),
        flow_(read_flow_case(options_)),
        domain_(make_box_domain({comm, devices_, options_, std::filesystem::temp_directory_path(), phases_}, flow_.grid,
                                {}, cut_order(flow_))) {
    comm.together([&] {
      for (std::size_t p = 0; p < domain_.mine(); ++p) {
        Stream& stream = *domain_.streams[p].compute;
        const BoxArray& array = domain_.arrays[p];
        FlowPart<T>& part = parts_.emplace_back();
        part.grid = PartGrid<T>(stream, domain_.grid, array);
        part.box = domain_.box(p);
        const std::vector<T> zeros(array.values(), T(0));
        part.p = make_buffer(stream, std::span<const T>(zeros), "p");
        part.rhs = make_buffer(stream, std::span<const T>(zeros), "rhs");
        ends_.emplace_back(stream, flow_, part.box, array);
      }
    });
    set_rhs(random_rhs());
  }

  PressureProblem<T> problem() {
    return {comm_, *devices_.threads, domain_, flow_, parts_, ends_, parse_overlap(options_.text("devices.overlap"))};
  }
  const BoxGrid& grid() const { return domain_.grid; }
  FlowCase& flow() { return flow_; }
  PoissonBox box() const {
    return {pressure_line(flow_, domain_.grid.lines[0], 0), pressure_line(flow_, domain_.grid.lines[1], 1),
            pressure_line(flow_, domain_.grid.lines[2], 2)};
  }

  /// Of the whole grid, x fastest: rough, and of mean 0 where p is known but for a constant.
  std::vector<T> random_rhs() const {
    std::vector<T> rhs;
    const auto n = domain_.grid.cells();
    long double sum = 0, volume = 0;
    for (Lid k = 0; k < n[2]; ++k)
      for (Lid j = 0; j < n[1]; ++j)
        for (Lid i = 0; i < n[0]; ++i) {
          rhs.push_back(static_cast<T>(2 * random_unit(7, rhs.size()) - 1));
          const double v = domain_.grid.volume(i, j, k);
          sum += static_cast<long double>(v) * static_cast<long double>(rhs.back());
          volume += static_cast<long double>(v);
        }
    if (box().singular())
      for (T& f : rhs) f -= static_cast<T>(sum / volume);
    return rhs;
  }
  void set_rhs(const std::vector<T>& rhs) {
    for (std::size_t p = 0; p < parts_.size(); ++p) {
      std::vector<double> mine;
      for_owned(p, [&](std::size_t n) { mine.push_back(static_cast<double>(rhs[n])); });
      if (!mine.empty())
        put_owned(*domain_.streams[p].compute, parts_[p].rhs, domain_.arrays[p], parts_[p].box,
                  std::span<const double>(mine));
    }
  }
  /// p of the whole grid, on all ranks.
  std::vector<double> pressure() {
    const auto all = static_cast<std::size_t>(domain_.grid.cell_count());
    std::vector<double> p_of_all(all, 0.0);
    for (std::size_t p = 0; p < parts_.size(); ++p) {
      std::vector<double> mine(parts_[p].box.cells());
      if (mine.empty()) continue;
      take_owned(*domain_.streams[p].compute, parts_[p].p, domain_.arrays[p], parts_[p].box, std::span<double>(mine));
      std::size_t r = 0;
      for_owned(p, [&](std::size_t n) { p_of_all[n] = mine[r++]; });
    }
    std::vector<double> sum(all);
    MPI_Allreduce(p_of_all.data(), sum.data(), static_cast<int>(all), MPI_DOUBLE, MPI_SUM, comm_.handle());
    return sum;
  }

 private:
  static DeviceSet open(const Comm& comm, const std::string& list) {
    DeviceOptions options;
    options.threads = 1;
    return open_devices(list, comm, options);
  }
  static Case parse(const std::string& text) {
    CaseSchema schema = core_schema({"incompressible"}, DomainKeys::box);
    add_incompressible_keys(schema);
    return parse_case(text, "pressure.toml", schema);
  }
  template <class F>
  void for_owned(std::size_t p, const F& f) const {
    const CellBox& box = parts_[p].box;
    const auto n = domain_.grid.cells();
    for (Lid k = box.lower[2]; k < box.upper[2]; ++k)
      for (Lid j = box.lower[1]; j < box.upper[1]; ++j)
        for (Lid i = box.lower[0]; i < box.upper[0]; ++i) f(static_cast<std::size_t>((Size{k} * n[1] + j) * n[0] + i));
  }

  const Comm& comm_;
  DeviceSet devices_;
  Phases phases_;
  Case options_;
  FlowCase flow_;
  BoxDomain domain_;
  std::vector<FlowPart<T>> parts_;
  std::vector<BoundaryConditions> ends_;
};

}  // namespace tutti::incompressible
