"""Pictures of structured grids: a plane through the cells, with streamlines and isotherms."""

import matplotlib
import matplotlib.pyplot as plt
import matplotlib.ticker
import numpy as np

from tutti import box
from tutti.marks import colour_bar

POINTS = 240  # of the longer side, on which streamlines and isotherms are drawn
LINES = matplotlib.colors.ListedColormap(["#1b2430", "#f3e9e2"])  # on light colours, and on dark ones


def default_axis(snapshot):
    """Across the direction with the fewest cells: a plane flow is one cell deep."""
    return min((2, 1, 0), key=lambda d: snapshot.shape[d])  # of equals, the first


def default_fields(snapshot):
    """The velocity and the temperature T, if there are any, else the first field."""
    names = [name for name in (box.velocity_name(snapshot), "T") if name in snapshot.cell_data]
    return names or list(snapshot.cell_data)[:1]


def even_points(snapshot, sides):
    """Evenly spaced places from wall to wall on two axes."""
    low = [snapshot.faces[d][0] for d in sides]
    size = np.array([snapshot.faces[d][-1] for d in sides]) - low
    counts = np.clip(np.round(POINTS * size / size.max()).astype(int), 8, POINTS)
    return [np.linspace(a, a + s, n) for a, s, n in zip(low, size, counts)]


def on_points(snapshot, values, sides, points):
    """Values of a plane on even points."""
    for i in (0, 1):
        values = box.sample(values, snapshot.centres[sides[i]], points[i], i)
    return values


def behind(scale, values):
    """0 where the colours of `values` are light, 1 where they are dark."""
    colours = scale.to_rgba(values)[..., :3] @ [0.2126, 0.7152, 0.0722]
    return np.where(colours > 0.35, 0.0, 1.0)


def draw_streamlines(axes, points, flow, ground):
    """`flow` holds the two components in the plane on `points`, `ground` says what is behind them. Fluid at rest has no
    streamlines."""
    speed = np.hypot(*flow)
    if not np.any(np.isfinite(speed)) or np.nanmax(speed) <= 0:
        return
    width, height = (p[-1] - p[0] for p in points)
    longer = max(width, height)
    axes.streamplot(*points, flow[0].T, flow[1].T, color=ground.T, cmap=LINES, norm=plt.Normalize(0, 1), linewidth=0.7,
                    arrowsize=0.7, density=(1.5 * width / longer, 1.5 * height / longer))


def draw_isotherms(axes, points, values, scale):
    finite = values[np.isfinite(values)]
    if len(finite) == 0 or finite.max() - finite.min() <= 1e-12 * np.abs(finite).max():
        return
    low, high = finite.min(), finite.max()
    air = 0.02 * (high - low)  # a level at a wall's own temperature is crumbs
    levels = [t for t in matplotlib.ticker.MaxNLocator(11).tick_values(low, high) if low + air < t < high - air]
    lines = axes.contour(*points, values.T, levels=levels, colors=LINES(behind(scale, np.array(levels))), linewidths=0.8)
    axes.clabel(lines, lines.levels[::2], fontsize=7, fmt="%g")


def figure_size(panels, width, height):
    """Of `panels` beside each other, with their bars, in inches."""
    panel_width = np.clip(5.4 * width / max(width, height), 2.2, 5.4)
    panel_height = np.clip(5.4 * height / max(width, height), 1.8, 5.4)
    return (panels * (panel_width + 1.4), panel_height + 0.9)


def picture(snapshot, fields, axis, at, scales, title, labels):
    """A figure with a panel for each of `fields`, [(name, values of every cell)], on the plane across `axis` at the share
    `at` of the extent, with the velocity's streamlines; T with isotherms. `scales` and `labels`: one a field."""
    faces = snapshot.faces[axis]
    place = faces[0] + at * (faces[-1] - faces[0])
    sides = [d for d in range(3) if d != axis]
    points = even_points(snapshot, sides)
    extents = [snapshot.faces[d][-1] - snapshot.faces[d][0] for d in sides]
    flow_name = box.velocity_name(snapshot)
    figure, grid = plt.subplots(1, len(fields), figsize=figure_size(len(fields), *extents), squeeze=False,
                                layout="constrained")
    for axes, (name, values), scale, label in zip(grid[0], fields, scales, labels):
        axes.pcolormesh(snapshot.faces[sides[0]], snapshot.faces[sides[1]], box.plane(snapshot, values, axis, place).T,
                        norm=scale.norm, cmap=scale.cmap, rasterized=True)
        even = on_points(snapshot, box.plane(snapshot, values, axis, place), sides, points)
        if name == "T":
            draw_isotherms(axes, points, even, scale)
        elif flow_name is not None:
            flow = box.plane(snapshot, snapshot.cell_data[flow_name], axis, place)
            flow = [on_points(snapshot, flow[..., d], sides, points) for d in sides]
            draw_streamlines(axes, points, flow, behind(scale, even))
        axes.set_xlim(points[0][0], points[0][-1])
        axes.set_ylim(points[1][0], points[1][-1])
        axes.set_aspect("equal")
        axes.set_xlabel("xyz"[sides[0]])
        axes.set_ylabel("xyz"[sides[1]])
        colour_bar(figure, scale, label, ax=axes, shrink=0.85, pad=0.03)
    figure.suptitle(f"{title}, {'xyz'[axis]} = {place:.4g}", fontsize=13)
    return figure
