// Compiled by nvcc where tutti has CUDA, by the C++ compiler where it has not.
#include "kernel.hpp"

#include <cmath>
#include <tutti/device/for_each.hpp>

void advection::upwind_step(tutti::Stream& stream, tutti::Range range, const Rows& rows, const double* u, double* next,
                            double dt) {
  tutti::for_each(stream, range, [=] TUTTI_HD(tutti::Lid i) {
    const double own = u[i];
    double rate = std::fma(-rows.loss[i], own, rows.gain[i]);
    for (int face = 0; face < 4; ++face) {
      const tutti::Size k = face * rows.count + i;
      rate = std::fma(rows.inflow[k], u[rows.upwind[k]] - own, rate);
    }
    next[i] = std::fma(dt, rate, own);
  });
}
