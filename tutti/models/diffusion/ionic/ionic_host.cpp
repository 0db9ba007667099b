// The reaction's loop over the cells of a CPU: compiled so that it becomes vector instructions.
#include "tutti/models/diffusion/ionic/ionic_kernel.hpp"

namespace tutti::diffusion {
namespace {

/// flatten, and a step of its own: a call that is left, or a member that u might overwrite, would keep the loop from
/// becoming vectors.
template <class Step>
__attribute__((flatten)) void run(const Step step, Lid begin, Lid end) {
#pragma omp simd
  for (Lid i = begin; i < end; ++i) step(i);
}

}  // namespace

void ionic_rows_on_host(const IonicKernel& kernel, Lid begin, Lid end) {
  with_step(kernel, [&](const auto& step) { run(step, begin, end); });
}

}  // namespace tutti::diffusion
