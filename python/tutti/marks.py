"""What every picture needs to be read: a scale of colours with its ends, the axes of a view, a bar of length."""

import matplotlib
import numpy as np

# From pale to dark with even steps in lightness: shading changes lightness too, and must not look like another value.
WARM = matplotlib.colors.LinearSegmentedColormap.from_list(
    "warm", ["#f7ece4", "#f6c9a4", "#f08c5e", "#d94452", "#97195f", "#3d0a4f"])
# Of numbers with a sign: pale at 0, as dark at both ends.
SIGNED = matplotlib.colors.LinearSegmentedColormap.from_list(
    "signed", ["#14325c", "#2f6fa7", "#8fbcd6", "#f4f1ee", "#f2ab85", "#c8473b", "#5e0d23"])
for one in (WARM, SIGNED):
    if one.name not in matplotlib.colormaps:
        matplotlib.colormaps.register(one)


def is_signed(low, high):
    """Numbers on both sides of 0, and neither side a mere overshoot."""
    return low < 0 < high and min(-low, high) > 0.1 * max(-low, high)


def colour_scale(values, lower=None, upper=None, map_name="auto"):
    """Of `values`, or from `lower` to `upper`. auto: warm, or for numbers with a sign the diverging map, even around 0."""
    finite = values[np.isfinite(values)]
    low = lower if lower is not None else (finite.min() if len(finite) else 0.0)
    high = upper if upper is not None else (finite.max() if len(finite) else 1.0)
    if map_name == "auto":
        map_name = "signed" if is_signed(low, high) else "warm"
        if map_name == "signed" and lower is None and upper is None:
            high = max(-low, high)
            low = -high
    if high - low <= 1e-12 * max(abs(low), abs(high)):  # a constant field still gets a bar
        pad = 0.5 * abs(low) or 0.5
        low, high = low - pad, high + pad
    if map_name not in matplotlib.colormaps:  # matplotlib would list all of its 180
        raise ValueError(f"--colours: no colour map '{map_name}'; choose warm, signed, auto or a map of matplotlib, such as "
                         "viridis")
    return matplotlib.cm.ScalarMappable(matplotlib.colors.Normalize(low, high), map_name)


def end_ticks(low, high):
    """Round numbers between the ends, none too near to them, and the ends."""
    inner = matplotlib.ticker.MaxNLocator(6).tick_values(low, high)
    air = 0.06 * (high - low)
    return [low, *(float(t) for t in inner if low + air < t < high - air), high]


def colour_bar(figure, scale, label, **place):
    """The bar of a scale with the quantity's name, and numbers at both of its ends."""
    bar = figure.colorbar(scale, pad=place.pop("pad", 0.02), aspect=28, **place)
    ticks = end_ticks(scale.norm.vmin, scale.norm.vmax)
    bar.set_ticks(ticks, labels=[f"{0.0 if abs(t) < 1e-12 * (ticks[-1] - ticks[0]) else t:.4g}".replace("-", "\N{MINUS SIGN}")
                                 for t in ticks])
    short = len(label) < 4
    bar.set_label(label, fontsize=14 if short else 12, rotation=0 if short else 90, labelpad=10 if short else 4)
    bar.outline.set_visible(False)
    return bar


def draw_triad(axes, view):
    """Arrows along x, y and z as the eye sees them, in the lower left corner; the farthest first."""
    corner = axes.inset_axes([0.0, 0.0, 0.17, 0.17])
    corner.set_axis_off()
    corner.set_xlim(-1.5, 1.5)
    corner.set_ylim(-1.5, 1.5)
    corner.set_aspect("equal", anchor="SW")
    for axis in np.argsort(view[2]):
        right, up = view[0, axis], view[1, axis]
        if np.hypot(right, up) > 0.05:  # else it points to the eye
            corner.annotate("", (right, up), (0, 0), arrowprops={"arrowstyle": "-|>", "color": "#1b2430", "linewidth": 1.1,
                                                                "shrinkA": 0, "shrinkB": 0, "mutation_scale": 8})
            corner.text(1.28 * right, 1.28 * up, "xyz"[axis], ha="center", va="center", fontsize=9, color="#1b2430")


def round_length(length):
    """The largest of 1, 2 and 5 times a power of ten that is not above it."""
    power = 10.0 ** np.floor(np.log10(length))
    return max(step * power for step in (1, 2, 5) if step * power <= length * (1 + 1e-12))


def draw_length(axes, unit=""):
    """A bar of a round length in the lower right corner of axes that show lengths as they are."""
    (left, right), (low, high) = axes.get_xlim(), axes.get_ylim()
    length = round_length(0.25 * (right - left))
    end, height = right - 0.02 * (right - left), low + 0.02 * (high - low)
    axes.plot([end - length, end], [height, height], color="#1b2430", linewidth=2, solid_capstyle="butt", zorder=9)
    axes.text(end - 0.5 * length, height + 0.015 * (high - low), f"{length:g} {unit}".strip(), ha="center", va="bottom",
              fontsize=9, color="#1b2430")
