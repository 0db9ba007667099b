// Velocities in kernels. Compiles as plain C++ without CUDA.
#include "tutti/models/transport/velocity.hpp"

#include "tutti/device/for_each.hpp"
#include "tutti/models/transport/stencils/stencil_system.hpp"

namespace tutti::transport {
namespace {

struct Evaluate {
  const FormulaStep* steps;
  int counts[3];
  const Vec3* nodes;
  double* along;
  double time;
  bool cartesian;
  TUTTI_HD void operator()(Lid row) const {
    double values[3] = {};
    const FormulaStep* formula = steps;
    for (int c = 0; c < 3; ++c) {
      if (counts[c] > 0) values[c] = evaluate_formula(formula, counts[c], nodes[row], time);
      formula += counts[c];
    }
    const Vec3 velocity = velocity_vector(nodes[row], values, cartesian);
    const StencilFrame frame = make_frame(nodes[row]);
    along[2 * static_cast<Size>(row)] = -dot(velocity, frame.first);
    along[2 * static_cast<Size>(row) + 1] = -dot(velocity, frame.second);
  }
};

}  // namespace

PartVelocity::PartVelocity(Stream& stream, const std::vector<Expression>& formulas, bool cartesian,
                           std::span<const Vec3> nodes)
    : cartesian_(cartesian), rows_(static_cast<Lid>(nodes.size())) {
  if (nodes.empty()) return;  // a device without nodes may have no room for the formulas
  std::vector<FormulaStep> steps;
  for (std::size_t c = 0; c < formulas.size(); ++c) {
    const auto formula = formulas[c].steps();
    counts_[c] = static_cast<int>(formula.size());
    steps.insert(steps.end(), formula.begin(), formula.end());
  }
  steps_ = make_buffer(stream, std::span<const FormulaStep>(steps), "velocity, formulas");
  nodes_ = make_buffer(stream, nodes, "nodes");
  along_ = Buffer<double>(stream.device(), 2 * Size{rows_}, "velocity");
}

void PartVelocity::update(Stream& stream, double time) {
  for_each(
      stream, {0, rows_},
      Evaluate{steps_.data(), {counts_[0], counts_[1], counts_[2]}, nodes_.data(), along_.data(), time, cartesian_});
}

}  // namespace tutti::transport
