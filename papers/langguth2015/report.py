"""Tables and plots of reproduce.py: our numbers beside the paper's."""

import paper
from page import BLUE, GREY, ORANGE, RED, plt, save, table


def table1(found):
    """Table 1: `found` is what `tutti devices --model diffusion --json` wrote."""
    cpus = [d for d in found["devices"] if not d["accelerator"]]
    gpus = [d for d in found["devices"] if d["accelerator"]]

    def gigaflops(bandwidth):
        return None if bandwidth is None else f"{bandwidth * paper.FLOP_PER_BYTE:.2f}"

    def number(value, form):
        return "unknown" if value is None else format(value, form)

    rows = []
    for label, ours, theirs in (("CPU", cpus, "cpu"), ("GPU", gpus, "gpu")):
        if not ours:
            continue
        d, times = ours[0], f"{len(ours)} x " if len(ours) > 1 else ""
        papers = [(t[theirs], "2 x " if theirs == "gpu" and t["gpus"] == 2 else "") for t in paper.TABLE1.values()]

        def row(name, mine, key):
            rows.append([f"{label} {name}", mine if mine in (None, "unknown") else times + mine,
                         *(f"{x}{p[key]}" for p, x in papers)])

        row("peak, GB/s", number(d["peak_gb_per_second"], ".1f"), "peak")
        row("stream, GB/s", f"{d['triad_gb_per_second']:.1f}", "stream")
        row("P_peak, GFLOPS", gigaflops(d["peak_gb_per_second"]), "P_peak")
        row("P_stream, GFLOPS", gigaflops(d["triad_gb_per_second"]), "P_stream")
        row("P_real, GFLOPS", f"{d['gflops']:.2f}", "P_real")
    for name in ("peak", "stream", "opt"):
        rows.append([f"r_{name}", f"{found['accelerators'][f'r_{name}']:.3f}",
                     *(f"{t['r'][name]:.2f}" for t in paper.TABLE1.values())])
    of_p = ", ".join(f"{d['device']} {d['fraction_of_P']:.2f}" for d in found["devices"])
    return (table(["", "here", *paper.TABLE1], rows) +
            f"\n{found['cells']:,} cells. Ours: P = 33/216 x bandwidth (eq. 3: {paper.FLOP_PER_BYTE:.3f} flop/byte); the "
            f"paper's table has {paper.FLOP_PER_BYTE_OF_TABLE}, 34/216. P_real over P_stream here: {of_p} (stored rows move "
            "fewer bytes than the paper's 216, so it can exceed 1).\n")


def rate(record):
    return 1e-9 * record["rate"]


def panels(records, title):
    """One panel an instance."""
    names = sorted({r["instance"] for r in records}, reverse=True)
    figure, axes = plt.subplots(1, len(names), figsize=(5.5 * len(names), 4), squeeze=False, layout="constrained")
    for a, name in zip(axes[0], names):
        cells = max(r["cells"] for r in records if r["instance"] == name)
        a.set_title(f"{name} instance: {cells:,} cells", fontsize=10)
        a.set_xlabel("GPUs")
        a.set_ylabel("G cell-steps/s")
        a.grid(linewidth=0.4, alpha=0.6)
    figure.suptitle(title, fontsize=12)
    return figure, dict(zip(names, axes[0]))


def plot_figure4(records, file):
    figure, axes = panels(records, "CPU only and GPUs only (Langguth 2015, Figure 4)")
    for name, a in axes.items():
        mine = [r for r in records if r["instance"] == name]
        gpus = sorted((r["gpus"], rate(r)) for r in mine if r["gpus"])
        a.plot(*zip(*gpus), "o-", color=BLUE, label="GPUs")
        a.plot([1, gpus[-1][0]], [gpus[0][1], gpus[0][1] * gpus[-1][0]], ":", color=GREY, label="one GPU times their number")
        for r in mine:
            if r["gpus"] == 0:
                a.axhline(rate(r), color=ORANGE, label="all CPU cores, no GPU")
        a.set_xticks([k for k, _ in gpus])
        a.set_ylim(bottom=0)
    save(figure, file)


def series(records, **wanted):
    """(GPUs, G cell-steps/s) of the records that are so."""
    return sorted({(r["gpus"], rate(r)) for r in records if all(r[key] == value for key, value in wanted.items())})


def plot_figure5(records, file):
    scaling = [r for r in records if not r["limit_blocks"] and r["overlap"] == "full" and r["gpus"]]
    figure, axes = panels(scaling, "GPUs only and GPUs with the CPU (Langguth 2015, Figure 5)")
    for name, a in axes.items():
        mine = [r for r in scaling if r["instance"] == name]
        a.plot(*zip(*series(mine, cpu=False, exchange=True)), "o-", color=BLUE, label="GPUs only")
        for weights, colour in (("measured", RED), ("stream", ORANGE)):
            for exchange, style in ((True, "s-"), (False, "s:")):
                points = series(mine, cpu=True, weights=weights, exchange=exchange)
                if not points:  # this instance was not run with the CPU
                    continue
                a.plot(*zip(*points), style, color=colour, markersize=4,
                       label=f"with CPU, {weights} weights{'' if exchange else ', no communication'}")
        a.set_xticks(sorted({r["gpus"] for r in mine}))
        a.set_ylim(bottom=0)
    save(figure, file)


def plot_projection(plans, file):
    figure, axes = plt.subplots(1, 2, figsize=(11, 4), layout="constrained")
    for (name, plan), colour in zip(plans.items(), (BLUE, RED)):
        lines = plan["nodes"]
        nodes = [n["nodes"] for n in lines]
        axes[0].loglog(nodes, [1e-9 * n["cell_steps_per_second"] for n in lines], "-", color=colour,
                       label=f"{name}: {plan['cells']:,} cells")
        for n in lines:
            axes[0].loglog(n["nodes"], 1e-9 * n["cell_steps_per_second"], "o", color=colour,
                           fillstyle="none" if n["projected"] else "full")
        axes[1].semilogx(nodes, [n["efficiency"] for n in lines], "o-", color=colour, label=name)
    axes[0].set_ylabel("G cell-steps/s")
    axes[1].set_ylabel("efficiency against one node")
    axes[1].set_ylim(0, 1.05)
    for a in axes:
        a.set_xlabel("nodes")
        a.grid(linewidth=0.4, alpha=0.6)
    figure.suptitle("Projected, not run: full marks from real partitions, open ones from their surfaces", fontsize=11)
    save(figure, file)


def table_figure4(records):
    rows = []
    for r in records:
        one = next((o for o in records if o["instance"] == r["instance"] and o["gpus"] == 1), None)
        efficiency = f"{r['rate'] / (r['gpus'] * one['rate']):.3f}" if r["gpus"] and one else None
        rows.append([r["instance"], f"{r['cells']:,}", r["devices"], f"{rate(r):.4g}", f"{33e-9 * r['rate']:.1f}", efficiency])
    return table(["instance", "cells", "devices", "G cell-steps/s", "GFLOPS", "of one GPU times their number"], rows)


def table_figure5(records):
    rows = []
    for r in records:
        if not r["exchange"]:
            continue
        alike = [o for o in records if all(o[k] == r[k] for k in ("instance", "gpus", "limit_blocks"))]
        alone = next((o for o in alike if not o["cpu"] and o["exchange"]), None)
        free = next((o for o in alike if o["cpu"] == r["cpu"] and o["weights"] == r["weights"] and not o["exchange"]), None)
        rows.append([r["instance"], r["devices"] + (f", {r['limit_blocks']} blocks" if r["limit_blocks"] else ""),
                     r["weights"], r["overlap"], f"{rate(r):.4g}", f"{r['cpu_cells'] / r['cells']:.4f}",
                     f"{r['rate'] / alone['rate']:.3f}" if alone and r["cpu"] else None,
                     f"{r['rate'] / free['rate']:.3f}" if free else None])
    return table(["instance", "devices", "weights", "overlap", "G cell-steps/s", "CPU's share", "over GPUs only",
                  "of communication-free"], rows)


def slowed(records):
    """One line about the GPU made slow: together against the sum."""
    slow = [r for r in records if r["limit_blocks"] and r["exchange"]]
    if not slow:
        return ""
    gpu = next(r for r in slow if not r["cpu"])
    both = next(r for r in slow if r["cpu"])
    cpu = next(r for r in records if r["gpus"] == 0)
    return (f"\nOne GPU slowed to {gpu['limit_blocks']} thread blocks: {rate(gpu):.4g}; CPU only {rate(cpu):.4g}; their sum "
            f"{rate(gpu) + rate(cpu):.4g}; together {rate(both):.4g} G cell-steps/s, {both['rate'] / (gpu['rate'] + cpu['rate']):.3f} "
            f"of the sum and {both['rate'] / gpu['rate']:.3f} of the GPU alone (the paper's bound by Table 1: "
            f"{paper.BOUNDS['Stampede']:.2f} on Stampede, {paper.BOUNDS['Wilkes']:.2f} on Wilkes).\n")


def table_projection(plan):
    rows = [[n["nodes"], n["parts"], f"{n['cells_a_part']:,.0f}", f"{n['most_separators']:,.0f}", f"{n['most_ghosts']:,.0f}",
             f"{n['most_messages']:.0f}", f"{1e3 * n['seconds']['full']:.4f}", f"{1e3 * n['seconds']['none']:.4f}",
             f"{n['efficiency']:.3f}", f"{1e-9 * n['cell_steps_per_second']:.4g}",
             "scaled" if n["projected"] else "cut"] for n in plan["nodes"]]
    return table(["nodes", "parts", "cells/part", "separators", "ghosts", "messages", "ms, full", "ms, none", "efficiency",
                  "G cell-steps/s", "mesh"], rows)


def whole(folder, done):
    """The report of one session: Markdown."""
    text = [f"{done['date']}, {done['machine']}; mesh: {done['mesh']}.\n"]
    if (folder / "table1.md").exists():
        text += ["**Table 1**\n", (folder / "table1.md").read_text()]
    if (folder / "figure3.png").exists():
        text += ["**Figure 3**: one step of the small instance, weights by stream (`figure3.png`).\n"]
    if "figure4" in done:
        text += ["**Figure 4**, homogeneous (`figure4.png`)\n", table_figure4(done["figure4"]),
                 f"Theirs: about {paper.EFFICIENCY:.0%} of all devices' P_real together, up to 32 GPUs.\n"]
    if "figure5" in done:
        speedups = ", ".join(f"{s} on {n} nodes of {m}" for (m, n), s in paper.SPEEDUPS.items())
        text += ["**Figure 5**, heterogeneous (`figure5.png`)\n", table_figure5(done["figure5"]), slowed(done["figure5"]),
                 f"Theirs: {paper.OF_COMMUNICATION_FREE:.0%} of the communication-free rate on 128 nodes; speedups {speedups}.\n"]
    plans, checks = done.get("projection", ({}, []))
    for name, plan in plans.items():
        network = plan["network"]
        text += [f"**Projection**, {name} instance, {plan['cells']:,} cells, copies of "
                 f"{' + '.join(d['device'] for d in plan['devices'])}; network assumed: {network['gb_per_second']} GB/s, "
                 f"{network['latency_us']} us (`projection.png`)\n", table_projection(plan)]
    if checks:
        text += ["Projected against run, one node:\n",
                 table(["instance", "devices", "run, G cell-steps/s", "projected", "error"],
                       [[c["instance"], c["devices"], f"{1e-9 * c['measured']:.4g}", f"{1e-9 * c['projected']:.4g}",
                         f"{100 * c['error']:+.1f} %"] for c in checks])]
    return "\n".join(text)
