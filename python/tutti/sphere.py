"""Pictures of nodes on the unit sphere: the half towards the eye, and the half behind it as seen from the other side."""

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.patches import Circle
from matplotlib.tri import Triangulation

from tutti.marks import colour_bar

PIXELS = 700      # across a half sphere
MOST_NODES = 4e4  # of a half that are triangulated: one in about 10 pixels
ADDED = ("node", "part")  # what the program writes beside the tracers


def default_fields(snapshot):
    """The tracers, four at most; without any, whatever there is first."""
    names = [name for name in snapshot.cell_data if name not in ADDED]
    return names[:4] or list(snapshot.cell_data)[:1]


def named_fields(snapshot, names):
    """The fields of "a" or "a,b,c"."""
    return [name.strip() for name in names.split(",")] if names else default_fields(snapshot)


def thinned(seen, most):
    """Numbers of nodes, one in each square of a grid, if there are more than `most`. The grid is laid over Lambert's
    projection: squares have one area everywhere on the sphere."""
    if len(seen) <= most:
        return np.arange(len(seen))
    across = int(np.sqrt(4 * most / np.pi))
    flat = seen[:, :2] / np.sqrt(1 + seen[:, 2:])  # the rim is at 1
    square = np.floor((flat + 1.5) * (across / 2)).astype(np.int64)
    return np.unique(square[:, 0] * (2 * across) + square[:, 1], return_index=True)[1]


def triangulated(points, view):
    """The Delaunay triangulation of the half sphere towards the eye, and the numbers of its nodes.

    In the stereographic projection from the point behind, circles on the sphere stay circles: the triangulation of the
    plane is the one of the sphere. Nodes some way behind the rim are taken along, so that the rim is covered.
    """
    seen = points @ view.T
    behind = max(0.05, np.sin(min(3.0 * np.sqrt(4 * np.pi / len(points)), 1.2)))
    near = np.nonzero(seen[:, 2] > -behind)[0]
    number = near[thinned(seen[near], MOST_NODES)]
    flat = seen[number, :2] / (1 + seen[number, 2:])
    try:
        return Triangulation(*flat.T), number
    except (ValueError, RuntimeError) as error:
        raise ValueError(f"nodes: {len(points)} nodes cannot be drawn on the sphere ({error}); at least 12 all around are "
                         "expected") from None


def pixel_grid():
    """Places on the half sphere towards the eye, PIXELS x PIXELS x (right, up, towards the eye); NaN beside it. A little
    beyond the rim the rim's own are taken: the circle that the picture is cut along has smooth edges."""
    line = (np.arange(PIXELS) + 0.5) * (2 / PIXELS) - 1
    right, up = np.meshgrid(line, line)
    radius = np.hypot(right, up)
    shrink = np.where(radius > 1, 1 / np.maximum(radius, 1e-300), 1)
    places = np.stack([right * shrink, up * shrink, np.sqrt(np.maximum(0, 1 - radius**2))], axis=-1)
    places[radius > 1 + 4 / PIXELS] = np.nan
    return places


def raster(points, fields, view):
    """Each field on pixel_grid(): linear within the triangles; of whole numbers, that of the nearest corner."""
    triangulation, number = triangulated(points, view)
    places = pixel_grid()
    inside = np.isfinite(places[..., 0])
    spots = places[inside]
    flat = spots[:, :2] / (1 + spots[:, 2:])
    triangle = triangulation.get_trifinder()(*flat.T)
    corners = triangulation.triangles[triangle]
    share = barycentric(triangulation, corners, flat)
    pictures = []
    for values in fields:
        at = np.asarray(values)[number][corners]
        if np.issubdtype(at.dtype, np.integer):
            drawn = np.take_along_axis(at, share.argmax(axis=1)[:, None], axis=1)[:, 0].astype(float)
        else:
            drawn = np.einsum("ij,ij->i", at.astype(float), share)
        drawn[triangle < 0] = np.nan  # a hole in the nodes at the rim
        picture = np.full(inside.shape, np.nan)
        picture[inside] = drawn
        pictures.append(picture)
    return pictures


def barycentric(triangulation, corners, places):
    x, y = (axis[corners] for axis in (triangulation.x, triangulation.y))
    px, py = places.T
    area = (x[:, 1] - x[:, 0]) * (y[:, 2] - y[:, 0]) - (x[:, 2] - x[:, 0]) * (y[:, 1] - y[:, 0])
    area = np.where(area == 0, 1, area)
    second = ((px - x[:, 0]) * (y[:, 2] - y[:, 0]) - (x[:, 2] - x[:, 0]) * (py - y[:, 0])) / area
    third = ((x[:, 1] - x[:, 0]) * (py - y[:, 0]) - (px - x[:, 0]) * (y[:, 1] - y[:, 0])) / area
    return np.stack([1 - second - third, second, third], axis=1)


def draw_graticule(axes, view):
    """Meridians and parallels every 30 degrees; the equator and the meridian 0 a little stronger."""
    line = np.radians(np.linspace(-90, 90, 181))
    curves = [(np.full_like(line, np.radians(lon)), line, lon == 0) for lon in range(-180, 180, 30)]
    curves += [(2 * line, np.full_like(line, np.radians(lat)), lat == 0) for lat in range(-60, 61, 30)]
    for lon, lat, strong in curves:
        place = np.stack([np.cos(lat) * np.cos(lon), np.cos(lat) * np.sin(lon), np.sin(lat)], axis=1) @ view.T
        place[place[:, 2] < 0] = np.nan
        axes.plot(place[:, 0], place[:, 1], color="#1b2430", alpha=0.55 if strong else 0.25, linewidth=0.6)


def side_of(view):
    """Where the eye is: "from 70 W, 18 N", with signs of degrees."""
    eye = view[2]
    lon, lat = np.degrees(np.arctan2(eye[1], eye[0])), np.degrees(np.arcsin(np.clip(eye[2], -1, 1)))
    lon, lat = round(lon), round(lat)
    degrees = "\N{DEGREE SIGN}"
    return f"from {abs(lon)}{degrees}{'W' if -180 < lon < 0 else 'E'}, {abs(lat)}{degrees}{'S' if lat < 0 else 'N'}"


def picture(snapshot, fields, views, scales, title, labels):
    """A figure with a row for each of `fields`, [(name, values of every node)], and a column for each of `views`."""
    figure, grid = plt.subplots(len(fields), len(views), squeeze=False, layout="constrained",
                                figsize=(4.3 * len(views) + 1.4, 4.3 * len(fields) + 0.9))
    for column, view in enumerate(views):
        pictures = raster(snapshot.points, [values for _, values in fields], view)
        for row, (values, scale) in enumerate(zip(pictures, scales)):
            axes = grid[row, column]
            disc = Circle((0, 0), 1, facecolor="none", edgecolor="#1b2430", linewidth=0.8)
            axes.add_patch(disc)
            axes.imshow(values, extent=(-1, 1, -1, 1), origin="lower", norm=scale.norm, cmap=scale.cmap,
                        interpolation="nearest", clip_path=disc)
            draw_graticule(axes, view)
            axes.set_xlim(-1.03, 1.03)
            axes.set_ylim(-1.03, 1.03)
            axes.set_axis_off()
            if row == 0:
                axes.set_title(side_of(view), fontsize=11)
    for row, (scale, label) in enumerate(zip(scales, labels)):
        colour_bar(figure, scale, label, ax=list(grid[row]), shrink=0.8)
    figure.suptitle(title, fontsize=14)
    return figure
