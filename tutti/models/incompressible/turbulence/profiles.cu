// Profiles of a flow. Compiles as plain C++ without CUDA.
#include "tutti/models/incompressible/turbulence/profiles.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "tutti/base/mpi/comm.hpp"
#include "tutti/base/system/atomic_file.hpp"
#include "tutti/device/sums/exact_sums.hpp"

namespace tutti::incompressible {
namespace {

constexpr Lid flow_values = 11, scalar_values = 5;

/// Value `first` + v of a cell in a plane across `direction`, group = plane * values + v: those of the flow, then those
/// of a scalar.
template <class T>
struct PlaneValue {
  GridView<T> g;
  CellBox box;
  int direction;
  VelocityView<T> u;
  const T *p, *scalar;
  Lid first, values;

  TUTTI_HD double lower(int c, Lid n) const { return static_cast<double>(u[c][n - g.stride(c)]); }
  TUTTI_HD double upper(int c, Lid n) const { return static_cast<double>(u[c][n]); }
  TUTTI_HD double mean(int c, Lid n) const { return 0.5 * (lower(c, n) + upper(c, n)); }
  TUTTI_HD double operator()(Lid group, Lid r) const {
    const int a = direction == 0 ? 1 : 0, b = direction == 2 ? 1 : 2;
    Lid cell[3];
    cell[direction] = box.lower[direction] + group / values;
    cell[a] = box.lower[a] + r % box.size(a);
    cell[b] = box.lower[b] + r / box.size(a);
    return value(first + group % values, g.array.at(cell[0], cell[1], cell[2]));
  }
  TUTTI_HD double value(Lid which, Lid n) const {
    if (which < 3) return mean(which, n);
    if (which < 6) {
      const double low = lower(which - 3, n), high = upper(which - 3, n);
      return 0.5 * (low * low + high * high);
    }
    if (which < 9) return mean(which == 8 ? 1 : 0, n) * mean(which == 6 ? 1 : 2, n);
    if (which < flow_values) {
      const double pressure = static_cast<double>(p[n]);
      return which == 9 ? pressure : pressure * pressure;
    }
    const double s = static_cast<double>(scalar[n]);
    which -= flow_values;
    return which == 0 ? s : which == 1 ? s * s : s * mean(which - 2, n);
  }
};

/// The part of a box that lies in planes [begin, end).
CellBox in_planes(CellBox box, std::size_t d, Lid begin, Lid end) {
  box.lower[d] = std::max(box.lower[d], begin);
  box.upper[d] = std::min(box.upper[d], end);
  return box;
}

/// The plane of cells that a position lies in.
Lid plane_at(const GridLine& line, double position) {
  Lid plane = 0;
  while (plane + 1 < line.cells() && line.faces[static_cast<std::size_t>(plane) + 1] <= position) ++plane;
  return plane;
}

}  // namespace

template <class T>
FlowProfiles<T>::FlowProfiles(const FlowCase& flow)
    : keys_(*flow.profiles), grid_(flow.grid), eddies_(flow.subgrid != SubgridModel::none) {
  const std::string speed = "length/s", square = "length^2/s^2";
  for (const char* name : {"u", "v", "w"}) columns_.push_back({name, speed});
  for (int c = 0; c < 3; ++c) columns_.push_back({std::string(2, "uvw"[c]), square, c, c});
  columns_.push_back({"uv", square, 0, 1});
  columns_.push_back({"uw", square, 0, 2});
  columns_.push_back({"vw", square, 1, 2});
  columns_.push_back({"p", square});
  columns_.push_back({"pp", "length^4/s^4", 9, 9});
  if (eddies_) columns_.push_back({"nu_t", "length^2/s"});
  for (const FlowScalar& scalar : flow.scalars) {
    const auto mean = static_cast<int>(columns_.size());
    scalars_.push_back(scalar.name);
    columns_.push_back({scalar.name, scalar.name});
    columns_.push_back({fmt::format("{0} {0}", scalar.name), scalar.name + "^2", mean, mean});
    for (int c = 0; c < 3; ++c)
      columns_.push_back(
          {fmt::format("{} {}", "uvw"[c], scalar.name), fmt::format("length/s {}", scalar.name), c, mean});
  }
  const auto d = static_cast<std::size_t>(keys_.direction);
  sums_.assign(static_cast<std::size_t>(grid_.lines[d].cells()) * columns_.size(), 0.0);
  for (const double position : keys_.positions)
    for (std::size_t axis = 0; axis < 3; ++axis) {
      const Lid n = grid_.lines[axis].cells();
      if (axis == d || n == 1) continue;
      if (!along_[axis]) along_[axis].emplace(n);
      const std::vector<double> none(static_cast<std::size_t>(n / 2 + 1), 0.0);
      spectra_.push_back({plane_at(grid_.lines[d], position), static_cast<int>(axis),
                          std::vector<std::vector<double>>(3 + scalars_.size(), none)});
    }
}

template <class T>
bool FlowProfiles<T>::due(double steps, double time) const {
  return std::fmod(steps, static_cast<double>(keys_.every)) == 0 && time >= keys_.start && time <= keys_.end;
}

/// Of this rank's parts, by plane and column.
template <class T>
std::vector<ExactSum> FlowProfiles<T>::plane_sums(BoxDomain& domain, std::vector<FlowPart<T>>& parts) const {
  std::vector<ExactSum> sums(sums_.size());
  const auto d = static_cast<std::size_t>(keys_.direction);
  for (std::size_t p = 0; p < parts.size(); ++p) {
    FlowPart<T>& part = parts[p];
    if (part.box.empty()) continue;
    const Lid planes = part.box.size(keys_.direction);
    std::size_t column = 0;
    const auto add = [&](const T* scalar, Lid first, Lid values) {
      const std::vector<ExactSum> of_part =
          exact_sums(*domain.streams[p].compute, planes * values, {0, static_cast<Lid>(part.box.cells() / planes)},
                     PlaneValue<T>{part.grid.view(), part.box, keys_.direction, part.velocity(), part.p.data(), scalar,
                                   first, values});
      for (std::size_t i = 0; i < of_part.size(); ++i) {
        const auto plane = part.box.lower[d] + static_cast<Lid>(i) / values;
        sums[at(plane, column + i % static_cast<std::size_t>(values))].merge(of_part[i]);
      }
      column += static_cast<std::size_t>(values);
    };
    add(nullptr, 0, flow_values);
    if (eddies_) add(part.eddy_viscosity.data(), flow_values, 1);
    for (PartScalar<T>& scalar : part.scalars) add(scalar.now.data(), flow_values, scalar_values);
  }
  return sums;
}

template <class T>
void FlowProfiles<T>::sample(const Comm& comm, BoxDomain& domain, std::vector<FlowPart<T>>& parts) {
  std::vector<ExactSum> sums;
  std::vector<std::int64_t> words;
  comm.together([&] {
    sums = plane_sums(domain, parts);
    for (ExactSum& sum : sums) {
      sum.normalise();
      words.insert(words.end(), sum.word, sum.word + ExactSum::size);
    }
  });
  comm.sum(words);
  const auto d = static_cast<std::size_t>(keys_.direction);
  const double cells = static_cast<double>(grid_.lines[(d + 1) % 3].cells()) * grid_.lines[(d + 2) % 3].cells();
  for (std::size_t i = 0; i < sums.size(); ++i) {
    std::copy_n(words.begin() + static_cast<std::ptrdiff_t>(i * ExactSum::size), ExactSum::size, sums[i].word);
    sums_[i] += sums[i].value() / cells;
  }
  for (Spectrum& spectrum : spectra_)
    for (std::size_t field = 0; field < spectrum.sums.size(); ++field) {
      const std::vector<double> plane = gather_plane(comm, domain, parts, spectrum, field);
      const std::vector<double> energy = (*along_[static_cast<std::size_t>(spectrum.axis)])(plane);
      for (std::size_t m = 0; m < energy.size(); ++m) spectrum.sums[field][m] += energy[m];
    }
  ++samples_;
}

/// Lines along the axis of a spectrum: a component of the velocity where it is (that across the planes: the mean of the
/// two faces) or a scalar.
template <class T>
std::vector<double> FlowProfiles<T>::gather_plane(const Comm& comm, BoxDomain& domain, std::vector<FlowPart<T>>& parts,
                                                  const Spectrum& spectrum, std::size_t field) const {
  struct Value {
    Size place;
    double value;
  };
  const auto d = static_cast<std::size_t>(keys_.direction), along = static_cast<std::size_t>(spectrum.axis),
             across = 3 - along - d;
  const Lid n = grid_.lines[along].cells(), lines = grid_.lines[across].cells();
  std::vector<Value> mine;
  comm.together([&] {
    for (std::size_t p = 0; p < parts.size(); ++p) {
      const CellBox box = in_planes(parts[p].box, d, spectrum.plane, spectrum.plane + 1);
      if (box.empty()) continue;
      const Buffer<T>& from = field < 3 ? parts[p].u[field] : parts[p].scalars[field - 3].now;
      std::vector<double> values(static_cast<std::size_t>(box.cells())), below;
      take_owned(*domain.streams[p].compute, from, domain.arrays[p], box, values);
      if (field == d) {
        CellBox lower = box;
        --lower.lower[d];
        --lower.upper[d];
        below.resize(values.size());
        take_owned(*domain.streams[p].compute, from, domain.arrays[p], lower, below);
        for (std::size_t i = 0; i < values.size(); ++i) values[i] = 0.5 * (values[i] + below[i]);
      }
      auto value = values.begin();
      std::array<Lid, 3> cell{};
      for (cell[2] = box.lower[2]; cell[2] < box.upper[2]; ++cell[2])
        for (cell[1] = box.lower[1]; cell[1] < box.upper[1]; ++cell[1])
          for (cell[0] = box.lower[0]; cell[0] < box.upper[0]; ++cell[0])
            mine.push_back({Size{cell[across]} * n + cell[along], *value++});
    }
  });
  std::vector<double> plane(static_cast<std::size_t>(Size{n} * lines));
  for (const Value& v : comm.all_gather(std::span<const Value>(mine)))
    plane[static_cast<std::size_t>(v.place)] = v.value;
  return plane;
}

template <class T>
std::vector<StateNumber> FlowProfiles<T>::numbers() {
  std::vector<StateNumber> all;
  all.push_back({"samples of profiles", &samples_});
  for (std::size_t i = 0; i < sums_.size(); ++i)
    all.push_back(
        {fmt::format("profile of {} {}", columns_[i % columns_.size()].name, i / columns_.size()), &sums_[i]});
  for (std::size_t s = 0; s < spectra_.size(); ++s)
    for (std::size_t c = 0; c < spectra_[s].sums.size(); ++c)
      for (std::size_t m = 0; m < spectra_[s].sums[c].size(); ++m)
        all.push_back({fmt::format("spectrum {} {} {}", s, c, m), &spectra_[s].sums[c][m]});
  return all;
}

template <class T>
void FlowProfiles<T>::write(const std::filesystem::path& folder) const {
  const auto d = static_cast<std::size_t>(keys_.direction);
  const GridLine& line = grid_.lines[d];
  const double samples = std::max(samples_, 1.0);
  std::string text = fmt::format("{} [length],samples", "xyz"[d]);
  for (const Column& column : columns_) text += fmt::format(",{} [{}]", column.name, column.unit);
  text += "\n";
  for (Lid plane = 0; plane < line.cells(); ++plane) {
    text += fmt::format("{:.12g},{:g}", line.centre(plane), samples_);
    const auto mean = [&](std::size_t c) { return sums_[at(plane, c)] / samples; };
    for (std::size_t c = 0; c < columns_.size(); ++c) {
      const Column& column = columns_[c];
      const double product = column.first < 0 ? 0
                                              : mean(static_cast<std::size_t>(column.first)) *
                                                    mean(static_cast<std::size_t>(column.second));
      text += fmt::format(",{:.12g}", mean(c) - product);
    }
    text += "\n";
  }
  write_file(folder / "profiles.csv", text);
  if (spectra_.empty()) return;
  text = fmt::format("{} [length],axis,mode,wave number [1/length]", "xyz"[d]);
  for (std::size_t c = 0; c < 3; ++c) text += fmt::format(",{0}{0} [length^2/s^2]", "uvw"[c]);
  for (const std::string& name : scalars_) text += fmt::format(",{0} {0} [{0}^2]", name);
  text += "\n";
  for (const Spectrum& spectrum : spectra_) {
    const double length = grid_.lines[static_cast<std::size_t>(spectrum.axis)].length();
    for (std::size_t m = 0; m < spectrum.sums[0].size(); ++m) {
      text += fmt::format("{:.12g},{},{},{:.12g}", line.centre(spectrum.plane), "xyz"[spectrum.axis], m,
                          2 * std::numbers::pi * static_cast<double>(m) / length);
      for (const auto& sums : spectrum.sums) text += fmt::format(",{:.12g}", sums[m] / samples);
      text += "\n";
    }
  }
  write_file(folder / "spectra.csv", text);
}

template class FlowProfiles<double>;
template class FlowProfiles<float>;

}  // namespace tutti::incompressible
