"""Values of structured grids on planes and lines, by linear interpolation between the centres of cells.

    from tutti.box import profile
    y, u = profile(Results("DIR"), "velocity", "x", "y", through=(0.5, 0.5, 0.5))
"""

import numpy as np

from tutti.results import BoxSnapshot

AXES = {"x": 0, "y": 1, "z": 2}


def velocity_name(snapshot):
    """Name of the velocity: "velocity" or "u" if it is a vector, else the first vector; None when there is none."""
    vectors = [name for name, values in snapshot.cell_data.items() if values.ndim == 4 and values.shape[3] == 3]
    return next((name for name in ("velocity", "u") if name in vectors), vectors[0] if vectors else None)


def sample(values, centres, places, axis):
    """`values` at `places` along `axis` of the array. Between a wall and the centre of the cell at it, the line through the
    two nearest centres goes on; one cell is constant."""
    values = np.asarray(values, float)
    places = np.asarray(places, float)
    if len(centres) == 1:
        return np.repeat(values, len(places), axis=axis)
    low = np.clip(np.searchsorted(centres, places) - 1, 0, len(centres) - 2)
    share = (places - centres[low]) / (centres[low + 1] - centres[low])
    share = share.reshape([-1 if d == axis else 1 for d in range(values.ndim)])
    # Where a share is 0 or 1, the value is that of the cell, in every bit.
    return np.take(values, low, axis) * (1 - share) + np.take(values, low + 1, axis) * share


def inside(snapshot, axis, place):
    """`place` on an axis, checked."""
    low, high = snapshot.faces[axis][[0, -1]]
    air = 1e-9 * (high - low)
    if not low - air <= place <= high + air:
        raise ValueError(f"--through: {'xyz'[axis]} = {place:g} is outside of the grid; choose {low:g} to {high:g}")
    return float(place)


def plane(snapshot, values, axis, place):
    """`values` of a snapshot on the plane across `axis` (0, 1, 2) at `place`: an array without that axis. The values may
    lack axes behind `axis` already."""
    centres = snapshot.centres[axis]
    place = inside(snapshot, axis, place)
    # Only the two layers that matter: a field may be large.
    first = int(np.clip(np.searchsorted(centres, place) - 1, 0, max(len(centres) - 2, 0)))
    layers = np.take(values, range(first, min(first + 2, len(centres))), axis)
    return np.take(sample(layers, centres[first:first + 2], [place], axis), 0, axis)


def profile(results, field, component, axis, through=None):
    """Coordinates and values (two arrays) along the line parallel to `axis` ("x", "y", "z" or a number) through the point
    `through`, by default the middle of the grid: one value a cell, at its centre. `results`: Results, of which the last
    output is taken, or a BoxSnapshot. `component` of a vector: "x", "y", "z" or a number; None for a scalar."""
    snapshot = results if isinstance(results, BoxSnapshot) else results.load("last")
    if not isinstance(snapshot, BoxSnapshot):
        raise ValueError("--curves: profiles need results on a structured grid (.pvti or .pvtr)")
    if field not in snapshot.cell_data:
        raise ValueError(f"--field: no field '{field}'; choose one of {', '.join(snapshot.cell_data) or 'none'}")
    values = snapshot.cell_data[field]
    if (values.ndim == 4) != (component is not None):
        raise ValueError(f"--curves: '{field}' is drawn by component if it is a vector, as in u:y, and only then; choose another")
    if component is not None:
        component = AXES.get(component, component)
        if component not in range(values.shape[3]):
            raise ValueError(f"--curves: '{field}' has no component '{component}'; choose x, y or z")
        values = values[..., component]
    along = AXES.get(axis, axis)
    if along not in (0, 1, 2):
        raise ValueError(f"--curves: no axis '{axis}'; choose x, y or z")
    if through is None:
        through = [0.5 * (f[0] + f[-1]) for f in snapshot.faces]
    for d in (2, 1, 0):
        if d != along:
            values = plane(snapshot, values, d, through[d])
    return snapshot.centres[along], values
