#include "advection.hpp"

#include <algorithm>
#include <tutti/mesh/face_shape.hpp>
#include <tutti/simulation/evaluate.hpp>

namespace advection {
using namespace tutti;

void add_keys(CaseSchema& schema) {
  using enum KeyType;
  schema.begin_group("advection");
  schema.describe_table("physics", "du/dt + div(velocity u) = 0.");
  schema.add({.path = "physics.velocity", .type = expressions, .description = "v.", .length = 3, .required = true});
  schema.add({.path = "physics.initial", .type = expression, .default_value = "0", .description = "u at t = 0."});
  schema.add({.path = "physics.inflow", .type = expression, .default_value = "0", .description = "u of what enters."});
  schema.add({.path = "physics.exact", .type = expression, .description = "The summary then gives errors."});
}

Advection::Advection(const ModelSetup& setup) : TetModel(setup, {.layers = 1}) {
  inflow_ = options().expression("physics.inflow");
  double fastest = 0;
  comm().together([&] {  // an error of one rank becomes everyone's
    for (int p = 0; p < parts(); ++p) fastest = std::max(fastest, assemble(p));
    update_gain(0);
  });
  choose_time_step(fastest);
  build_step();
  if (options().has("physics.exact")) compare_with(options().expression("physics.exact"));
  start(options().expression("physics.initial"), *step_);
}

/// The coefficients of a part. Returns the largest outflow of a cell by its volume: 1 / the largest stable step.
double Advection::assemble(int p) {
  const LocalTetMesh& cells = mesh(p);
  const Lid owned = cells.owned;
  std::vector<Vec3> areas, points;  // of face f of row i at [f * owned + i]
  for (int f = 0; f < 4; ++f)
    for (Lid i = 0; i < owned; ++i) {
      const FaceShape face = shared_face_shape(cells, i, f);
      areas.push_back(face.area);
      points.push_back(face.centroid);
    }
  std::vector<std::vector<double>> v;
  for (const Expression& component : options().expressions("physics.velocity")) {
    require_steady(component, options().where("physics.velocity"), "physics.velocity");
    v.push_back(evaluate_at(component, points, 0, threads()));
  }

  Part& part = parts_.emplace_back();
  std::vector<Lid> upwind(areas.size());
  std::vector<double> inflow(areas.size()), loss(owned), outflow(owned);
  for (std::size_t k = 0; k < areas.size(); ++k) {
    const Lid row = k % owned, behind = cells.neighbours[row][k / owned];
    const double flow = dot({v[0][k], v[1][k], v[2][k]}, areas[k]) / cells.volume(row);  // > 0: leaves the cell
    const bool enters_domain = behind < 0 && flow < 0;
    upwind[k] = flow < 0 && behind >= 0 ? behind : row;
    inflow[k] = upwind[k] == row ? 0 : -flow;
    outflow[row] += std::max(flow, 0.0);
    loss[row] += enters_domain ? 0 : flow;
    if (!enters_domain) continue;
    part.entry_points.push_back(points[k]);
    part.entry_inflow.push_back(-flow);
    part.entry_rows.push_back(row);
  }
  part.upwind = make_buffer(stream(p), std::span<const Lid>(upwind), "upwind rows");
  part.inflow = make_buffer(stream(p), std::span<const double>(inflow), "inflow");
  part.loss = make_buffer(stream(p), std::span<const double>(loss), "loss");
  part.gain = Buffer<double>(device(p), owned, "gain");
  return owned == 0 ? 0 : *std::max_element(outflow.begin(), outflow.end());
}

void Advection::update_gain(double time) {
  for (int p = 0; p < parts(); ++p) {
    Part& part = parts_[p];
    const auto u = evaluate_at(inflow_, part.entry_points, time, threads());
    std::vector<double> gain(mesh(p).owned);
    for (std::size_t k = 0; k < u.size(); ++k) gain[part.entry_rows[k]] += part.entry_inflow[k] * u[k];
    upload(stream(p), part.gain, std::span<const double>(gain));
  }
}

/// Every part computes the rows that others wait for, then the rest while these travel.
void Advection::build_step() {
  step_ = std::make_unique<Step>(threads(), streams());
  const auto kernel = [this](int p) {
    return [this, p](Stream& on, Range range) {
      const Part& part = parts_[p];
      const Rows rows{mesh(p).owned, part.upwind.data(), part.inflow.data(), part.loss.data(), part.gain.data()};
      upwind_step(on, range, rows, now(p), next(p), dt_now_);
    };
  };
  std::vector<TaskId> separators;
  for (int p = 0; p < parts(); ++p)
    separators.push_back(step_->compute("separator", p, Step::Role::separator, map(p).separator_rows(), kernel(p)));
  step_->exchange(exchange(), separators);
  for (int p = 0; p < parts(); ++p)
    step_->compute("interior", p, Step::Role::interior, map(p).interior_rows(), kernel(p));
  step_->finish(parse_overlap(options().text("devices.overlap")));
}

void Advection::step(double time, double dt) {
  if (inflow_.depends_on_time()) update_gain(time);
  dt_now_ = dt;
  advance(*step_);
}

Size Advection::bytes_a_step(int part) const {
  return map(part).owned * Size{4 * (sizeof(Lid) + sizeof(double)) + 4 * sizeof(double)};
}

}  // namespace advection
