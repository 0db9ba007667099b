// Launches of the reaction. Compiles as plain C++ without CUDA.
#include "tutti/device/for_each.hpp"
#include "tutti/models/diffusion/ionic/ionic_kernel.hpp"

namespace tutti::diffusion {
namespace {

struct NoteActivation {
  ActivationKernel of;
  TUTTI_HD void operator()(Lid i) const {
    const double now = of.u[i], was = of.before[i];
    if (of.activation[i] < 0 && was < of.threshold && now >= of.threshold)
      of.activation[i] = of.time + of.dt * ((of.threshold - was) / (now - was));
    of.before[i] = now;
  }
};

}  // namespace

void IonicKernel::operator()(Stream& stream, Range rows) const {
  if (stream.kind() != DeviceKind::cuda)
    return stream.loop(rows, [kernel = *this](Lid begin, Lid end) { ionic_rows_on_host(kernel, begin, end); });
  with_step(*this, [&](const auto& step) { for_each(stream, rows, step); });
}

void ActivationKernel::operator()(Stream& stream, Range rows) const {
  for_each(stream, rows, NoteActivation{*this});
}

}  // namespace tutti::diffusion
