// One step of upwind advection on the rows of one part.
#pragma once
#include <tutti/device/device.hpp>

namespace advection {

/// The coefficients of a part, on its device. Entry face * count + row belongs to one face of a row.
struct Rows {
  tutti::Size count;
  const tutti::Lid* upwind;  ///< the row behind an inflow face; the row itself behind all others
  const double* inflow;      ///< what flows in through that face, by the cell's volume [1/time]
  const double* loss;        ///< outflow less inflow from other cells, by the cell's volume [1/time]
  const double* gain;        ///< what enters through the domain's boundary, by the cell's volume [u/time]
};

/// next[i] = u[i] + dt * du/dt[i] for the rows of the range.
void upwind_step(tutti::Stream& stream, tutti::Range range, const Rows& rows, const double* u, double* next, double dt);

}  // namespace advection
