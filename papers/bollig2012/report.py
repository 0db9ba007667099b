"""Tables and plots of reproduce.py: our numbers beside the paper's, from what stands in runs.json."""

import math

import numpy as np

import paper
from page import plt, save, table
from tutti import spectrum, sphere
from tutti.plot import camera, colour_scale
from tutti.results import Results

SPECTRUM_FILES = {"vortex": "figure8.png", "bell": "figure11.png"}
FIELD_FILES = {"vortex": "figure9.png", "bell": "figure12.png"}
ERROR_FILES = {"vortex": "figure10.png", "bell": "figure13.png"}
NAMES = {"vortex": "vortex roll-up", "bell": "cosine bell"}
COLOURS = {17: "#3b6fa8", 31: "#2f9e6e", 50: "#f0a13c", 101: "#d9493f", None: "#8a8a8a"}
NOT_RUN = "not run\n"


# Spectra


def plot_spectrum(csv, title, file):
    """Draws Figure 8 or 11 and returns {operator: what counts of its eigenvalues}."""
    found = spectrum.read(csv)
    figure = spectrum.picture(found, "rk4", title=title)
    figure.savefig(file, dpi=130, facecolor="white")
    plt.close(figure)
    return {name: {"largest_real": float(np.max(plain.real)), "radius": float(np.max(np.abs(plain))),
                   "right": int(np.sum(plain.real > 1e-6 * np.max(np.abs(plain)))),
                   "amplification": float(np.max(spectrum.amplification(times_dt, "rk4")))}
            for name, (plain, times_dt) in found.items()}


def table_spectra(records):
    rows = []
    for r in records:
        for name, found in r["operators"].items():
            rows.append([f"{8 if r['test'] == 'vortex' else 11}: {NAMES[r['test']]}", f"{r['nodes']:,} {r['kind']}", r["size"],
                         spectrum.TITLES[name], f"{found['largest_real']:.3g}", found["right"], f"{found['radius']:.4g}",
                         f"{found['amplification'] - 1:.2g}"])
    return table(["figure", "nodes", "n", "", "largest real part", "right of the axis", "radius", "a step's growth, at most"], rows)


# Fields


def exact(test, points, time):
    x, y, z = points.T
    if test == "bell":
        distance = np.arccos(np.clip(z * math.sin(time) - y * math.cos(time), -1, 1))
        return np.where(distance < 1 / 3, 0.5 * (1 + np.cos(3 * np.pi * distance)), 0)
    rho = 3 * np.hypot(x, y)
    turning = np.where(rho < 3e-6, 1.5 * math.sqrt(3), 1.5 * math.sqrt(3) / np.cosh(rho)**2 * np.tanh(rho) / np.maximum(rho, 1e-300))
    return 1 - np.tanh(rho / 5 * np.sin(np.arctan2(y, x) - turning * time))


def plot_field(folder, test, end, file):
    """The solution of a run and its distance from the exact one: Figure 9 or 12."""
    snapshot = Results(folder).load("last")
    values = snapshot.cell_data["h"]
    time = end if test == "vortex" else 2 * math.pi * end
    error = np.abs(values - exact(test, snapshot.points, time))
    # The vortex turns around the pole; the bell comes back to (0, -1, 0).
    view = camera(*((-60.0, 65.0) if test == "vortex" else (-90.0, 10.0)))
    scales = [colour_scale(values, None, None, "warm"), colour_scale(error, None, None, "warm")]
    said = f"t = {end:g}" if test == "vortex" else f"after {end:g} turn{'' if end == 1 else 's'}"
    figure = sphere.picture(snapshot, [("h", values), ("error", error)], [view, view * np.array([[-1], [1], [-1]])], scales,
                            f"{NAMES[test]}, {len(values):,} nodes, {said}", ["h", "|h - exact|"])
    figure.savefig(file, dpi=80, facecolor="white")
    plt.close(figure)


def table_fields(records):
    rows = []
    for r in records:
        if "l2" not in r:
            rows.append([NAMES[r["test"]], f"{r['nodes']:,} {r['kind']}", r["size"], "refused", None, None, None])
            continue
        theirs = f"{paper.FIGURE9['l2']:g}" if r["test"] == "vortex" and r["nodes"] == paper.FIGURE9["nodes"] else None
        rows.append([f"{NAMES[r['test']]}, {'t = ' if r['test'] == 'vortex' else 'turns: '}{r['end']:g}", f"{r['nodes']:,} {r['kind']}",
                     r["size"] if not r["instead"] else f"57, tutti's default: n = {r['size']} is refused", f"{r['l2']:.4g}", theirs,
                     f"{r['linf']:.3g}", f"{r['min']:.3g} to {r['max']:.4g}"])
    return table(["test", "nodes", "n", "l2", "theirs", "linf", "range"], rows)


# Convergence


def order(points):
    """Slope of log(l2) over log(h), h ~ N^-1/2, by least squares."""
    if len(points) < 2:
        return None
    nodes, errors = zip(*points)
    return -2 * float(np.polyfit(np.log(nodes), np.log(errors), 1)[0])


def series(records, test, kind, size):
    return sorted((r["nodes"], r["l2"]) for r in records
                  if (r["test"], r["kind"], r["size"]) == (test, kind, size) and r.get("l2") is not None and "refused" not in r)


def label(size):
    return f"n = {size}" if size else "tutti's default, n = 57"


def plot_convergence(records, test, file):
    mine = [r for r in records if r["test"] == test]
    kinds = sorted({r["kind"] for r in mine})
    figure, grid = plt.subplots(1, len(kinds), figsize=(6 * len(kinds), 4.6), squeeze=False, layout="constrained")
    for axes, kind in zip(grid[0], kinds):
        for size in (*paper.SIZES, None):
            points = series(mine, test, kind, size)
            if points:
                axes.loglog([math.sqrt(n) for n, _ in points], [e for _, e in points], "s--" if size is None else "o-",
                            color=COLOURS[size], label=label(size))
        places = sorted({r["nodes"] for r in mine if r["kind"] == kind})
        axes.set_xticks([math.sqrt(n) for n in places], [f"{math.sqrt(n):.0f}" for n in places])
        axes.minorticks_off()
        axes.set_xlabel("square root of N")
        axes.set_ylabel("normalised l2 error")
        axes.set_title(f"{kind} nodes", fontsize=10)
        axes.grid(True, which="both", linewidth=0.3, alpha=0.6)
    figure.suptitle(f"{NAMES[test]} (Bollig 2012, Figure {10 if test == 'vortex' else 13})", fontsize=12)
    save(figure, file)


def error_cell(record):
    if record is None:
        return None
    if record.get("l2") is None:
        return "lost"
    return f"{record['l2']:.3g}" + (" \\*" if "refused" in record else "")


def table_convergence(records, test):
    mine = [r for r in records if r["test"] == test]
    text = ""
    for kind in sorted({r["kind"] for r in mine}):
        of_kind = [r for r in mine if r["kind"] == kind]
        counts = sorted({r["nodes"] for r in of_kind})
        rows = []
        for size in [s for s in (*paper.SIZES, None) if any(r["size"] == s for r in of_kind)]:
            found = {r["nodes"]: r for r in of_kind if r["size"] == size}
            cells = [error_cell(found.get(n)) for n in counts]
            slope = order([point for point in series(of_kind, test, kind, size) if point[0] >= 4000])
            rows.append([label(size), *cells, None if slope is None else f"{slope:.1f}"])
        end = of_kind[0]["end"]
        text += f"\n{kind} nodes, {'t = ' if test == 'vortex' else 'turns: '}{end:g}\n\n"
        text += table(["l2", *(f"{n:,}" for n in counts), "order in h, from 4,000"], rows)
    if any("refused" in r for r in mine):
        text += "\n\\*: refused, because noise grows, and run all the same; lost: it is not finite at the end.\n"
    return text


# Timings


def by_machine(records):
    """{machine: records}, in the order of their first."""
    found = {}
    for record in records:
        found.setdefault(record["machine"], []).append(record)
    return found


def rows_of(records):
    """Rows of tutti bench transport, each with what its record was asked for."""
    return [{**r, **row} for r in records for row in r["rows"]]


def base_of(rows, row):
    """The row of one CPU core that a row is measured against: None where there is none of so many nodes."""
    return next((b for b in rows if b["threads"] == 1 and b["ranks"] == 1
                 and all(b[k] == row[k] for k in ("nodes", "size", "operators"))), None)


def device_name(row):
    if row["devices"] != "cpu":
        return row["devices"] + (", a warp per stencil" if row["kernel"] == "warp" else "")
    return "one CPU core" if row["threads"] == 1 else "all CPU cores"


def table_speedup(records):
    text = ""
    for machine, mine in by_machine(records).items():
        rows = rows_of(mine)
        lines = []
        for row in sorted(rows, key=lambda r: (r["nodes"], r["operators"], r["devices"] != "cpu", r["threads"] is None)):
            base = base_of(rows, row)
            lines.append((row["nodes"], row["operators"], device_name(row), row["size"], row["seconds_best"],
                          base["seconds_best"] / row["seconds_best"] if base else None, row["fraction_of_triad"]))
        sizes = sorted({line[3] for line in lines})
        found = {}
        for nodes, operators, device, size, seconds, gain, _ in lines:
            found.setdefault((nodes, operators, device), {})[size] = (seconds, gain)
        out = []
        for (nodes, operators, device), cells in found.items():
            out.append([f"{nodes:,}", operators, device] + [
                None if s not in cells else f"{1e6 * cells[s][0]:,.1f} us" + ("" if cells[s][1] is None else f", {cells[s][1]:.3g}x")
                for s in sizes])
        text += f"\n{machine}\n\n" + table(["N", "operators", "on", *(f"n = {s}" for s in sizes)], out)
    return text


def gpu_rows(rows):
    return [r for r in rows if r["devices"] != "cpu"]


def plot_speedup(records, file):
    """False where no GPU was run."""
    rows = rows_of(records)
    found = {}
    for row in rows:
        base = base_of([r for r in rows if r["machine"] == row["machine"]], row)
        if row["devices"] == "cpu" and row["threads"] == 1 or base is None:
            continue
        found.setdefault((device_name(row), row["nodes"], row["operators"]), {})[row["size"]] = base["seconds_best"] / row["seconds_best"]
    if not found:
        return False
    counts = sorted({nodes for _, nodes, _ in found})
    devices = sorted({device for device, _, _ in found})
    figure, grid = plt.subplots(1, len(counts), figsize=(4.6 * len(counts), 4.4), sharey=True, squeeze=False, layout="constrained")
    for axes, count in zip(grid[0], counts):
        for (device, nodes, operators), gains in found.items():
            if nodes != count:
                continue
            sizes = sorted(gains)
            axes.semilogy(sizes, [gains[s] for s in sizes], "o-" if operators == 1 else "s--", color=f"C{devices.index(device)}",
                          label=f"{device}, {operators} operator{'' if operators == 1 else 's'}")
        axes.set_xlabel("nodes of a stencil")
        axes.set_title(f"N = {count:,}", fontsize=10)
        axes.grid(True, which="both", linewidth=0.3, alpha=0.6)
    grid[0][0].set_ylabel("times as fast as one CPU core")
    handles, labels = grid[0][0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="center left", bbox_to_anchor=(1, 0.5), fontsize=8)
    figure.suptitle("Speed-up (Bollig 2012, Figures 15 and 16)", fontsize=12)
    save(figure, file)
    return True


def parts_of(row):
    """Ranks, or devices of one rank."""
    if row["devices"].startswith("fake:"):
        return int(row["devices"][5:])
    return max(row["ranks"], len(row["devices"].split(",")))


def table_scaling(records, unit):
    """One size on more and more: against one of them."""
    text = ""
    for machine, mine in by_machine(records).items():
        rows = rows_of(mine)
        keys = sorted({(r["nodes"], r["operators"], r["size"], r["overlap"]) for r in rows},
                      key=lambda k: (k[0], k[1], k[2], ("none", "messages", "full").index(k[3])))
        counts = sorted({parts_of(r) for r in rows})
        out = []
        for key in keys:
            times = {parts_of(r): r["seconds_best"] for r in rows if (r["nodes"], r["operators"], r["size"], r["overlap"]) == key}
            out.append([f"{key[0]:,}", key[1], key[2], key[3]] + [
                None if c not in times else f"{1e6 * times[c]:,.1f} us" + (f", {times[1] / times[c]:.2f}x" if 1 in times and c > 1 else "")
                for c in counts])
        text += f"\n{machine}\n\n" + table(["N", "operators", "n", "overlap", *(f"{c} {unit}{'' if c == 1 else 's'}" for c in counts)], out)
    return text


def plot_scaling(panels, file):
    """`panels`: [(title, records)]; the curves of one operator without overlap or, where there is none, with it."""
    panels = [(title, records) for title, records in panels if len({parts_of(r) for r in records}) > 1]
    if not panels:
        return False
    figure, grid = plt.subplots(1, len(panels), figsize=(5.5 * len(panels), 4.2), squeeze=False, layout="constrained")
    for axes, (title, records) in zip(grid[0], panels):
        rows = [r for r in rows_of(records) if r["operators"] == 1]
        best = {}
        for r in rows:
            key = (r["nodes"], r["size"], parts_of(r))
            best[key] = min(best.get(key, math.inf), r["seconds_best"])
        for nodes, size in sorted({key[:2] for key in best}):
            times = {c: t for (n, s, c), t in best.items() if (n, s) == (nodes, size)}
            counts = sorted(times)
            if len(counts) < 2:
                continue
            axes.plot(counts, [times[1] / times[c] for c in counts], "o-", label=f"n = {size}, N = {nodes:,}")
        most = max(key[2] for key in best)
        axes.plot([1, most], [1, most], ":", color="#8a8a8a", label="linear")
        axes.set_xticks(sorted({key[2] for key in best}))
        axes.set_title(title, fontsize=10)
        axes.set_ylabel("times as fast as one")
        axes.grid(linewidth=0.3, alpha=0.6)
    figure.suptitle("One size on more (Bollig 2012, Figure 17)", fontsize=12)
    save(figure, file)
    return True


def compute_of(record):
    return record["means"]["separator"] + record["means"]["interior"]


def plot_breakdown(records, file):
    if not records:
        return False
    kinds = [(name, [r for r in records if (r["devices"] == "cpu") == (name == "CPU ranks")]) for name in ("CPU ranks", "GPUs")]
    kinds = [(name, found) for name, found in kinds if found]
    figure, grid = plt.subplots(1, len(kinds), figsize=(6 * len(kinds), 4.2), squeeze=False, layout="constrained")
    for axes, (name, found) in zip(grid[0], kinds):
        found = sorted(found, key=lambda r: (r["size"], r["parts"]))
        places = np.arange(len(found))
        compute = np.array([1e3 * compute_of(r) for r in found])
        exchange = np.array([1e3 * r["means"]["exchange"] for r in found])
        rest = np.maximum(0, np.array([1e3 * r["seconds"] for r in found]) - compute - exchange)
        axes.bar(places, compute, color="#3b6fa8", label="computing")
        axes.bar(places, exchange, bottom=compute, color="#d9493f", label="packing, copies, messages")
        axes.bar(places, rest, bottom=compute + exchange, color="#cccccc", label="waiting, launching")
        axes.set_xticks(places, [f"n = {r['size']}\n{r['parts']}" for r in found], fontsize=7)
        axes.set_xlabel(name)
        axes.set_ylabel("ms per step")
        axes.grid(axis="y", linewidth=0.3, alpha=0.6)
    figure.suptitle("The time of a step, nothing overlapped (Bollig 2012, Figure 18)", fontsize=12)
    save(figure, file)
    return True


def table_breakdown(records):
    text = ""
    for machine, mine in by_machine(records).items():
        rows = [[f"{r['nodes']:,}", f"{r['parts']} {'rank' if r['devices'] == 'cpu' else 'GPU'}{'' if r['parts'] == 1 else 's'}", r["size"],
                 f"{1e6 * r['seconds']:,.1f}", f"{1e6 * compute_of(r):,.1f}", f"{1e6 * r['means']['exchange']:,.1f}",
                 f"{1e6 * max(0, r['seconds'] - compute_of(r) - r['means']['exchange']):,.1f}"]
                for r in sorted(mine, key=lambda r: (r["devices"] != "cpu", r["size"], r["parts"]))]
        text += f"\n{machine}\n\n" + table(["N", "on", "n", "us per step", "computing", "exchange", "the rest"], rows)
    return text


# All of it


def dates(records):
    found = sorted({r["date"] for r in records})
    return found[0] if len(found) == 1 else f"{found[0]} to {found[-1]}"


def whole(folder, kept):
    """The report of all records, {part: [record]}: Markdown. Pictures that need no run are drawn into `folder`."""
    text = []

    def section(title, records, body, *pictures):
        named = ", ".join(f"`{name}`" for name in pictures if (folder / name).exists())
        text.append(f"**{title}**" + (f", {dates(records)}" if records else "") + (f" ({named})" if named and records else "") + "\n")
        text.append(body() if records else NOT_RUN)

    section("Figures 8 and 11: all eigenvalues", kept["spectra"], lambda: table_spectra(kept["spectra"]), *SPECTRUM_FILES.values())
    section("Figures 9 and 12: fields", kept["fields"], lambda: table_fields(kept["fields"]), *FIELD_FILES.values())
    for test, file in ERROR_FILES.items():
        mine = [r for r in kept["convergence"] if r["test"] == test]
        if mine:
            plot_convergence(mine, test, folder / file)
        section(f"Figure {10 if test == 'vortex' else 13}: errors of the {NAMES[test]}", mine,
                lambda mine=mine, test=test: table_convergence(mine, test), file)
    speedup = kept["speedup"]
    if speedup:
        plot_speedup(speedup, folder / "figure15.png")
    theirs = "; ".join(f"{name}: " + ", ".join(f"n = {n} {gain}" for n, gain in gains.items()) for name, gains in paper.SPEEDUP.items())
    section("Figures 15 and 16: over one CPU core", speedup,
            lambda: table_speedup(speedup) + ("" if gpu_rows(rows_of(speedup)) else "\nA GPU: not run.\n"), "figure15.png")
    text.append(f"Theirs: {theirs}.\n")
    plot_scaling([("CPU ranks of one core", kept["ranks"]), ("GPUs of one host", kept["scaling"])], folder / "figure17.png")
    section("Figures 17a and c: CPU ranks of one core, latitude slices", kept["ranks"], lambda: table_scaling(kept["ranks"], "rank"),
            "figure17.png")
    section("Figures 17b and d: GPUs", kept["scaling"], lambda: table_scaling(kept["scaling"], "GPU"), "figure17.png")
    text.append(f"Theirs: {paper.CPU_SPEEDUP[0]} to {paper.CPU_SPEEDUP[1]} times on six CPUs of as many hosts, no gain beyond "
                f"{paper.GPUS_END_AT} GPUs.\n")
    plot_breakdown(kept["breakdown"], folder / "figure18.png")
    section("Figure 18: the time of a step", kept["breakdown"],
            lambda: table_breakdown(kept["breakdown"]) +
            ("" if any(r["devices"] != "cpu" for r in kept["breakdown"]) else "\nGPUs: not run.\n"), "figure18.png")
    text.append(f"Theirs: messages take more than computing from {paper.COMMUNICATION_FROM[0]} to {paper.COMMUNICATION_FROM[1]} CPUs on, and "
                f"beyond {paper.GPUS_END_AT} GPUs.\n")
    return "\n".join(text)
