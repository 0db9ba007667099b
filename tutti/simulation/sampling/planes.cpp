#include "tutti/simulation/sampling/planes.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "tutti/base/mpi/over_ranks.hpp"
#include "tutti/io/vtk/vtu.hpp"
#include "tutti/simulation/field_values.hpp"
#include "tutti/simulation/output/timed_output.hpp"

namespace tutti {
namespace {

/// The polygons of a plane, a file a part that has any.
class PlanePieces final : public Pieces {
 public:
  PlanePieces(const Comm& comm, const Domain& domain, std::span<const PlaneCut> cuts, const VtkOptions& options) {
    std::vector<int> parts;
    for (std::size_t p = 0; p < cuts.size(); ++p) {
      const PlaneCut& cut = cuts[p];
      if (cut.cells.empty()) continue;
      mine.push_back({p, domain.part(p), domain.owned(p), static_cast<Size>(cut.cells.size())});
      parts.push_back(domain.part(p));
      owner_.emplace_back(cut.cells.size(), domain.part(p));
      constexpr std::uint8_t polygon = 7;
      const std::vector<std::uint8_t> types(cut.cells.size(), polygon);
      grids_.push_back(VtuGrid::of_cells(cut.points, cut.connectivity, cut.ends, types, options));
    }
    all = comm.all_gather(std::span<const int>(parts));
    std::ranges::sort(all);
  }
  std::string suffix() const override { return "vtu"; }
  std::vector<VtkArray> arrays(std::optional<std::size_t> i) const override {
    return {{"part", 1, i ? std::span<const std::int32_t>(owner_[*i]) : std::span<const std::int32_t>()}};
  }
  PieceCells cells(std::size_t) const override { return {}; }  // for files of whole meshes
  void write(const std::filesystem::path& path, std::size_t i, std::span<const VtkArray> arrays,
             const VtkOptions& options) const override {
    write_vtu(path, grids_[i], arrays, options);
  }
  void join(const std::filesystem::path& path, const std::vector<std::string>& files, std::span<const VtkArray> arrays,
            std::optional<double> time) const override {
    write_pvtu(path, files, arrays, time);
  }

 private:
  std::vector<VtuGrid> grids_;
  std::vector<std::vector<std::int32_t>> owner_;
};

/// The values of cells that are cut, out of those of all that the part owns.
std::vector<double> at_cut(const Domain& domain, const ModelField& field, std::size_t p, const PlaneCut& cut) {
  const std::vector<double> values = values_of(domain, field, p);
  const auto width = static_cast<std::size_t>(field.components);
  std::vector<double> some;
  for (const Lid cell : cut.cells)
    for (std::size_t c = 0; c < width; ++c) some.push_back(values[static_cast<std::size_t>(cell) * width + c]);
  return some;
}

Vec3 vec3_of(const std::vector<double>& v) {
  return {v[0], v[1], v[2]};
}

}  // namespace

Planes::Planes(const Run& run) : when_(run.options, "output.") {
  const Case& options = run.options;
  const std::string list = "output.plane";
  if (!options.schema().is_table_list(list) || !run.exchanges || options.count(list) == 0) return;
  const Domain& domain = run.model.domain();
  const VtkOptions vtk = vtk_options(options, run.threads);
  const auto pieces = domain.pieces(vtk);
  for (int i = 0; i < options.count(list); ++i) {
    const std::string table = fmt::format("{}[{}]", list, i);
    Plane plane;
    std::string name;
    Gid cells = 0;
    run.comm.together([&] {
      name = file_name_of(options, list, i);
      const Vec3 point = vec3_of(options.numbers(table + ".point")),
                 normal = vec3_of(options.numbers(table + ".normal"));
      // Its square may be beyond the largest double.
      const double largest = std::max({std::abs(normal.x), std::abs(normal.y), std::abs(normal.z)});
      if (!(largest > 0))
        fail(ErrorKind::input, "{}: the normal of plane '{}' has no direction; its length must be above 0",
             options.where(table + ".normal"), name);
      plane.what = fmt::format("{} at ({}, {}, {}) across ({}, {}, {})", name, point.x, point.y, point.z, normal.x,
                               normal.y, normal.z);
      plane.cuts.resize(domain.mine());
      for (std::size_t k = 0; k < pieces->mine.size(); ++k) {
        PlaneCut& cut = plane.cuts[pieces->mine[k].p] = cut_by_plane(pieces->cells(k), point, (1 / largest) * normal);
        cells += static_cast<Gid>(cut.cells.size());
      }
    });
    cells = run.comm.sum(cells);
    run.comm.together([&] {
      if (cells == 0)
        fail(ErrorKind::input,
             "{}: plane '{}' cuts no cell; move it into the mesh (along a side of it: turn the normal)",
             options.where(table + ".point"), name);
    });
    if (run.before != nullptr)
      if (const auto found = run.before->slices.find("plane " + plane.what); found != run.before->slices.end())
        plane.times = found->second;
    plane.files.emplace(run.comm, std::make_unique<PlanePieces>(run.comm, domain, plane.cuts, vtk),
                        run.folder / "planes", vtk, plane.times,
                        SeriesNames{"plane-" + name + ".pvd", "plane-" + name});
    if (options.flag(table + ".csv")) {
      std::vector<std::string> columns{"x", "y", "z", "area"};
      const auto quantities = probed_names(run.model.fields());
      columns.insert(columns.end(), quantities.begin(), quantities.end());
      plane.csv.emplace("planes/" + name + ".csv", columns, static_cast<std::size_t>(cells));
    }
    planes_.push_back(std::move(plane));
  }
}

void Planes::start(Run& run) {
  for (Plane& plane : planes_) {
    if (plane.times.empty()) write(run, plane);
    if (plane.csv && plane.csv->start(run, when_)) add_rows(run, plane);
  }
}

void Planes::after_step(Run& run) {
  if (!due(run)) return;
  run.comm.together([&] { run.require_folder(); });
  seconds_ += timed_output(run.trace, [&] {
    for (Plane& plane : planes_) {
      write(run, plane);
      if (plane.csv) add_rows(run, plane);
    }
  });
}

void Planes::describe(RunState& state) {
  for (Plane& plane : planes_) {
    state.slices["plane " + plane.what] = plane.times;
    if (plane.csv) plane.csv->describe(state);
  }
}

void Planes::finish(Run& run, Summary& summary) {
  (void)run;
  summary.output_seconds += seconds_;
}

/// The fields as they are, but read in the cells that are cut.
void Planes::write(Run& run, Plane& plane) {
  run.model.before_output();
  std::vector<ModelField> fields = run.fields();
  for (ModelField& field : fields) {
    if (!field.output) continue;
    field.read = [&domain = run.model.domain(), &plane, of = field](std::size_t p, const RowSet&,
                                                                    std::span<double> to) {
      std::ranges::copy(at_cut(domain, of, p, plane.cuts[p]), to.begin());
    };
  }
  plane.files->write(run.time, fields);
  plane.times.push_back(run.time);
}

/// In the order of the cells' numbers.
void Planes::add_rows(Run& run, Plane& plane) {
  run.model.before_output();
  const Domain& domain = run.model.domain();
  const std::vector<ModelField> fields = run.model.fields();
  const std::size_t width = 4 + probed_names(fields).size();
  std::vector<Gid> numbers;
  std::vector<double> mine;
  run.comm.together([&] {
    for (std::size_t p = 0; p < plane.cuts.size(); ++p) {
      const PlaneCut& cut = plane.cuts[p];
      std::vector<std::vector<double>> values;
      for (const ModelField& field : fields)
        if (!field.probes.empty()) values.push_back(at_cut(domain, field, p, cut));
      for (std::size_t k = 0; k < cut.cells.size(); ++k) {
        numbers.push_back(domain.maps[p].global[cut.cells[k]]);
        const Vec3 at = cut.middles[k];
        mine.insert(mine.end(), {at.x, at.y, at.z, cut.areas[k]});
        for (const auto& of : values) {
          const std::size_t components = of.size() / cut.cells.size();
          for (std::size_t c = 0; c < components; ++c) mine.push_back(of[k * components + c]);
        }
      }
    }
  });
  const auto order = on_root(run.comm, std::span<const Gid>(numbers));
  const auto values = on_root(run.comm, std::span<const double>(mine));
  std::vector<std::size_t> place(order.size());
  for (std::size_t k = 0; k < place.size(); ++k) place[k] = k;
  std::ranges::sort(place, {}, [&](std::size_t k) { return order[k]; });
  std::vector<double> rows;
  for (const std::size_t k : place)
    rows.insert(rows.end(), values.begin() + static_cast<std::ptrdiff_t>(k * width),
                values.begin() + static_cast<std::ptrdiff_t>((k + 1) * width));
  plane.csv->add(run, rows);
}

}  // namespace tutti
