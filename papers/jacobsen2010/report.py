"""Tables and plots of reproduce.py: our numbers beside the paper's."""

import numpy as np

import paper
from page import BLUE, ORANGE, RED, plt, save, table
from tutti import box, slices

COLOURS = {"none": ORANGE, "messages": BLUE, "full": RED}


def by(grid):
    return " x ".join(map(str, grid))


def fixed(value, digits=2):
    return None if value is None else f"{value:.{digits}f}"


def draw_plane(axes, snapshot, values, colours, isotherms=False):
    """A plane of cells with streamlines or isotherms."""
    sides = [0, 1]
    scale = plt.cm.ScalarMappable(plt.Normalize(np.min(values), np.max(values)), colours)
    axes.pcolormesh(snapshot.faces[0], snapshot.faces[1], values.T, norm=scale.norm, cmap=scale.cmap, rasterized=True)
    points = slices.even_points(snapshot, sides)
    even = slices.on_points(snapshot, values, sides, points)
    if isotherms:
        slices.draw_isotherms(axes, points, even, scale)
    else:
        flow = snapshot.cell_data[box.velocity_name(snapshot)][:, :, 0, :2]
        flow = [slices.on_points(snapshot, flow[..., d], sides, points) for d in sides]
        slices.draw_streamlines(axes, points, flow, slices.behind(scale, even))
    axes.set_xlim(snapshot.faces[0][0], snapshot.faces[0][-1])
    axes.set_ylim(snapshot.faces[1][0], snapshot.faces[1][-1])
    axes.set_aspect("equal")
    axes.set_xlabel("x")
    axes.set_ylabel("y")
    return scale


def speed(snapshot):
    return np.linalg.norm(snapshot.cell_data[box.velocity_name(snapshot)][:, :, 0, :], axis=-1)


def plot_figure4(snapshot, done, file):
    figure, (left, right) = plt.subplots(1, 2, figsize=(11, 4.8), layout="constrained")
    figure.colorbar(draw_plane(left, snapshot, speed(snapshot), "viridis"), ax=left, shrink=0.85, label="|u| / U")
    left.set_title(f"t = {snapshot.time:g}, {done['cells']} x {done['cells']} cells", fontsize=10)
    for letter, colour, label in (("u", BLUE, "u(y) at x = 0.5"), ("v", RED, "v(x) at y = 0.5")):
        ours, ghia = done[letter]["ghia"], done[letter]["ghia"]["reference"]
        right.plot(ours["places"], ours["values"], color=colour, label=label)
        right.plot(ghia["places"], ghia["values"], "o", color=colour, fillstyle="none", label="Ghia et al. 1982")
    right.set_xlabel("y, x")
    right.grid(linewidth=0.4, alpha=0.6)
    figure.suptitle("Lid-driven cavity, Re 1000 (Jacobsen 2010, Figure 4)", fontsize=12)
    save(figure, file)


def plot_figure5(snapshots, file):
    figure, axes = plt.subplots(2, len(snapshots), figsize=(5 * len(snapshots), 9), layout="constrained")
    for column, (rayleigh, snapshot) in enumerate(snapshots.items()):
        top, bottom = axes[0][column], axes[1][column]
        figure.colorbar(draw_plane(top, snapshot, speed(snapshot), "viridis"), ax=top, shrink=0.8, label="speed, diffusivity / side")
        figure.colorbar(draw_plane(bottom, snapshot, snapshot.cell_data["T"][:, :, 0], "coolwarm", True), ax=bottom, shrink=0.8,
                        label="T")
        top.set_title(f"Ra {rayleigh:,}", fontsize=11)
    figure.suptitle("Heated cavity, Pr 7 (Jacobsen 2010, Figure 5)", fontsize=12)
    save(figure, file)


def plot_figure6(done, file):
    figure, axes = plt.subplots(figsize=(6, 4.4), layout="constrained")
    ours, reference = done["T"], done["T"]["reference"]
    axes.plot(ours["places"], ours["values"], color=RED, label=f"tutti, {done['cells']} x {done['cells']} cells")
    axes.plot(reference["places"], reference["values"], "o", color=BLUE, fillstyle="none", label="spectral solution")
    axes.set_xlabel("x at y = 0.5")
    axes.set_ylabel("T")
    axes.grid(linewidth=0.4, alpha=0.6)
    axes.set_title("Heated cavity, Ra 100,000, Pr 7 (Jacobsen 2010, Figure 6)", fontsize=11)
    save(figure, file)


def what(done):
    return "GPUs" if done["gpus"] else "CPU ranks of one core"


def seconds(record, policy):
    return record["rows"][policy]["seconds_best"]


def of_kind(done, name):
    return [r for r in done["records"] if r["name"] == name]


def efficiency(record, first, policy):
    """Against the first count: strong by time, weak by cells and time."""
    rate = record["rows"][policy]["cell_steps_per_second"]
    return rate / (first["rows"][policy]["cell_steps_per_second"] * record["count"])


def plot_scaling(done, folder):
    """Figures 7 to 10."""
    strong, weak = of_kind(done, "strong"), of_kind(done, "weak")
    base = seconds(done["base"], "full")
    plots = [("figure7", strong, "speed-up over all CPU cores", lambda r, p: base / seconds(r, p)),
             ("figure8", strong, "efficiency, one size", lambda r, p: efficiency(r, strong[0], p)),
             ("figure9", weak, "sustained GFLOPS", lambda r, p: r["rows"][p]["gflops"]),
             ("figure10", weak, "efficiency, as many cells each", lambda r, p: efficiency(r, weak[0], p))]
    for name, records, label, value in plots:
        figure, axes = plt.subplots(figsize=(5.5, 4), layout="constrained")
        for policy, words in paper.POLICIES.items():
            axes.plot([r["count"] for r in records], [value(r, policy) for r in records], "o-", color=COLOURS[policy],
                      label=f"{policy}: {words}")
        axes.set_xticks([r["count"] for r in records])
        axes.set_xlabel(what(done))
        axes.set_ylabel(label)
        axes.set_ylim(bottom=0)
        axes.grid(linewidth=0.4, alpha=0.6)
        axes.set_title(f"Jacobsen 2010, Figure {name[6:]}: {by(records[0]['grid'])} cells{' a device' if records is weak else ''}",
                       fontsize=10)
        save(figure, folder / f"{name}.png")


def table1(records):
    rows = []
    for name, t in paper.TABLE1.items():
        rows.append([f"*{name}*", t["peak"], t["sustained"], None, t["watts"], f"{paper.megaflops_per_watt(name):.0f}", None, None])
    for r in records:
        row = r["rows"]["full"]
        watts = r["watts"]
        rows.append([r["devices"], None, f"{row['gflops']:.2f}", fixed(row['sweep_gflops']), f"{watts:.0f}" if watts else None,
                     f"{1e3 * row['gflops'] / watts:.0f}" if watts else None, f"{row['fraction_of_triad']:.2f}",
                     fixed(row['sweep_fraction_of_triad'])])
    one = records[0]
    return (table(["device", "peak GFLOPS", "sustained GFLOPS", "sweeps alone", "W", "MFLOPS/W", "step of the triad", "sweep of the triad"],
                  rows) +
            f"\nTheirs in italics: {by(paper.TABLE1_GRID)} cells, W as printed. Ours: {by(one['grid'])} cells, {one['sweeps']} sweeps a "
            f"step, float; {one['rows']['full']['flops_a_step_cell']:.0f} flops per cell and step, 10 of them a sweep; W: the largest "
            "reading of nvidia-smi meanwhile, nothing where a board has none.\n")


def table_profiles(done):
    rows = []
    if "figure4" in done:
        f = done["figure4"]
        rows += [[f"4, {letter} at Re 1000", f"{f['cells']}^2", f"{f[letter]['exact']['difference']:.4f} ({f[letter]['column']})",
                  f"{f[letter]['ghia']['difference']:.4f} (Ghia)"] for letter in "uv"]
    if "figure5" in done:
        f = done["figure5"]
        rows.append(["5, T at Ra 140", f"{f['cells']}^2", f"{f['T']['140']['difference']:.1e} (spectral)", None])
    if "figure6" in done:
        f = done["figure6"]
        rows += [[f"6, {letter} at Ra 100,000", f"{f['cells']}^2",
                  f"{f[letter]['difference'] / scale:.5f}{' of the largest' if letter != 'T' else ''} (spectral)", None]
                 for letter, scale in (("T", 1), ("u", max(map(abs, f["u"]["reference"]["values"]))),
                                       ("v", max(map(abs, f["v"]["reference"]["values"]))))]
    return table(["figure, profile", "cells", "largest difference", "from what the paper plots"], rows)


def table_scaling(done):
    base, rows = seconds(done["base"], "full"), []
    for name in ("strong", "weak"):
        records = of_kind(done, name)
        for r in records:
            for policy in paper.POLICIES:
                row = r["rows"][policy]
                rows.append([name, by(r["grid"]), r["count"], policy, f"{1e3 * row['seconds_best']:.2f}",
                             f"{base / row['seconds_best']:.2f}" if name == "strong" else None, f"{row['gflops']:.2f}",
                             f"{efficiency(r, records[0], policy):.2f}", fixed(row['sweep_fraction_of_triad'])])
    return table(["", "cells", what(done), "overlap", "ms per step", "over all CPU cores", "GFLOPS", "efficiency", "sweep of the triad"], rows)


def whole(done):
    """The report of one session: Markdown."""
    text = [f"{done['date']}, {done['machine']}{'; small grids (--quick)' if done['quick'] else ''}.\n"]
    if "table1" in done:
        text += ["**Table 1**\n", table1(done["table1"])]
    if any(f"figure{k}" in done for k in (4, 5, 6)):
        text += ["**Figures 4 to 6** (`figure4.png`, `figure5.png`, `figure6.png`)\n", table_profiles(done)]
    if "scaling" in done:
        text += ["**Figures 7 to 10** (`figure7.png`, `figure8.png`, `figure9.png`, `figure10.png`)\n", table_scaling(done["scaling"]),
                 f"Theirs: {by(paper.STRONG_GRID)} cells; "
                 f"{', '.join(f'{s} x on {n} GPUs' for n, s in paper.SPEEDUPS.items())} over 8 cores; no gain beyond "
                 f"{paper.STRONG_ENDS_AT} GPUs; weak, {by(paper.WEAK_GRIDS[128])} cells on 128 GPUs: "
                 f"{paper.WEAK_TERAFLOPS[128]} TFLOPS, {1e3 * paper.WEAK_TERAFLOPS[128] / 128:.1f} GFLOPS per GPU.\n"]
    return "\n".join(text)
