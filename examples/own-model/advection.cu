// advect run case.toml -o results: linear advection on tetrahedra, du/dt + div(v u) = 0, by finite volumes, first-order
// upwind and forward Euler. Compiled by nvcc where tutti has CUDA, by the C++ compiler where it has not.
#include <algorithm>
#include <cmath>
#include <tutti/device/for_each.hpp>
#include <tutti/mesh/face_shape.hpp>
#include <tutti/program/program.hpp>
#include <tutti/simulation/evaluate.hpp>
#include <tutti/simulation/tet_model.hpp>

namespace advection {
using namespace tutti;

/// A step of one row. Entry face * count + row of an array belongs to one face of a row.
struct UpwindStep {
  Size count;
  const Lid* upwind;     ///< the row behind an inflow face; the row itself behind all others
  const double* inflow;  ///< what flows in through that face, by the cell's volume [1/time]
  const double* loss;    ///< outflow less inflow from other cells, by the cell's volume [1/time]
  const double* gain;    ///< what enters through the domain's boundary, by the cell's volume [u/time]
  const double* u;
  double* next;
  double dt;

  TUTTI_HD void operator()(Lid i) const {
    double rate = std::fma(-loss[i], u[i], gain[i]);
    for (int face = 0; face < 4; ++face) {
      const Size k = face * count + i;
      rate = std::fma(inflow[k], u[upwind[k]] - u[i], rate);
    }
    next[i] = std::fma(dt, rate, u[i]);
  }
};

class Advection final : public TetModel {
 public:
  explicit Advection(const ModelSetup& setup) : TetModel(setup, {.layers = 1}) {
    inflow_ = options().expression("physics.inflow");
    double fastest = 0;
    comm().together([&] {  // an error of one rank becomes everyone's
      for (int p = 0; p < parts(); ++p) fastest = std::max(fastest, assemble(p));
      update_gain(0);
    });
    choose_time_step(1 / comm().max(fastest));
    allocate();
    if (options().has("physics.exact")) compare_with(options().expression("physics.exact"));
    start(options().expression("physics.initial"));
  }

  void step(double time, double dt) override {
    if (inflow_.depends_on_time()) update_gain(time);
    advance([&](std::size_t p, Kernels& kernels) {
      const Part& part = parts_[p];
      kernels.add(on_rows(UpwindStep{mesh(p).owned, part.upwind.data(), part.inflow.data(), part.loss.data(),
                                     part.gain.data(), now(p), next(p), dt}));
    });
  }

 private:
  struct Part {
    Buffer<Lid> upwind;  // these four: see UpwindStep
    Buffer<double> inflow, loss, gain;
    // On the host, for each face where something enters the domain: where, how fast, and into which row.
    std::vector<Vec3> entry_points;
    std::vector<double> entry_inflow;
    std::vector<Lid> entry_rows;
  };

  /// The coefficients of a part. Returns the largest outflow of a cell by its volume: 1 / the largest stable step.
  double assemble(int p) {
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

  void update_gain(double time) {
    for (int p = 0; p < parts(); ++p) {
      Part& part = parts_[p];
      const auto u = evaluate_at(inflow_, part.entry_points, time, threads());
      std::vector<double> gain(mesh(p).owned);
      for (std::size_t k = 0; k < u.size(); ++k) gain[part.entry_rows[k]] += part.entry_inflow[k] * u[k];
      upload(stream(p), part.gain, std::span<const double>(gain));
    }
  }

  Size bytes_a_run(int p) const override { return map(p).owned * Size{4 * (sizeof(Lid) + sizeof(double)) + 32}; }

  Expression inflow_;
  std::vector<Part> parts_;
};

ModelKind advection_kind() {
  const auto add_keys = [](CaseSchema& schema) {
    using enum KeyType;
    schema.begin_group("advection");
    schema.describe_table("physics", "du/dt + div(velocity u) = 0.");
    schema.add({.path = "physics.velocity", .type = expressions, .description = "v.", .length = 3, .required = true});
    schema.add({.path = "physics.initial", .type = expression, .default_value = "0", .description = "u at t = 0."});
    schema.add(
        {.path = "physics.inflow", .type = expression, .default_value = "0", .description = "u of what enters."});
    schema.add({.path = "physics.exact", .type = expression, .description = "The summary then gives errors."});
  };
  return {"advection", add_keys, [](const ModelSetup& setup) { return std::make_unique<Advection>(setup); }};
}

}  // namespace advection

int main(int argc, char** argv) {
  const tutti::ProgramInfo info{.name = "advect", .about = "Linear advection on tetrahedra.", .version = "1.0"};
  return tutti::run_program(argc, argv, info, {advection::advection_kind()});
}
