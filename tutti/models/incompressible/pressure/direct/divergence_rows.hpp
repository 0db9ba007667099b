// div u* / dt of the rows of a part's planes, found where the transforms read them: it never goes through memory.
#pragma once

#include "tutti/models/incompressible/passes/flow_passes.hpp"

namespace tutti::incompressible {

/// Rows along x of planes across `axis` (y or z), as PlanesOfRows counts them: plane 0 is the first of `planes`.
template <class T>
struct DivergenceRows {
  DivideDivergence<T> pass;
  CellBox planes;  ///< all of them, whole
  int axis;
  bool equal_x;  ///< as PartGrid

  /// The first cell of a row.
  TUTTI_HD void first_cell(Lid plane, Lid row, Lid (&at)[3]) const {
    at[0] = planes.lower[0];
    at[1] = planes.lower[1] + (axis == 1 ? plane : row);
    at[2] = planes.lower[2] + (axis == 1 ? row : plane);
  }
  /// All of a row.
  void take(Lid plane, Lid row, T* to) const {
    Lid at[3];
    first_cell(plane, row, at);
    pass.row(planes.size(0), at, to);
  }
};

}  // namespace tutti::incompressible
