"""Tables and plots of reproduce.py: our numbers beside the paper's."""

import paper
from page import BLUE, GREY, ORANGE, RED, plt, save, table

SHAPES = {0.0: "affine", 0.1: "perturbed"}


def bases(order):
    return (order + 1) * (order + 2) * (order + 3) // 6


def padded(n):
    return (n + 3) // 4 * 4


def arrays_of(order):
    """Doubles an element of each array of the stored form, on hexahedra, as kernels/view.hpp lays them out; ours have a side of a
    face where the paper has owners, neighbours and periodic pairs."""
    n, points, face = bases(order), padded((order + 2) ** 3), padded((order + 2) ** 2)
    return {"cell_coefficients": 3 * points * padded(n), "cell_basis_value": points * n, "face basis values": 6 * face * n,
            "face coefficients": 6 * face * padded(n), "Flux": 3 * 5 * face, "solution": 5 * n, "stages": 3 * 5 * n}


def table1(done):
    def theirs(name):
        """Theirs are of owners and neighbours of faces, inside and at periodic pairs."""
        kind = name.removeprefix("face ").replace(" ", "_").removesuffix("s")
        found = [share for key, share in paper.TABLE1.items() if key == name or (name.startswith("face") and not key.startswith("cell") and kind in key)]
        return f"{sum(found):.2f}" if found else None

    rows = [[name, theirs(name), *(f"{800 * arrays_of(r['order'])[name] / r['bytes']:.2f}" for r in done)] for name in arrays_of(1)]
    rows.append(["all, kB per element", "2,030 (fitted)", *(f"{1e-3 * r['bytes']:,.1f}" for r in done)])
    rows.append(["the same with shared tables (form auto)", None, *(f"{1e-3 * r['shared']:,.2f}" for r in done)])
    return table(["% of all", "theirs", *(f"p = {r['order']}" for r in done)], rows)


def axes_of(title, *labels, panels=1):
    figure, axes = plt.subplots(1, panels, figsize=(5.5 * panels, 4), squeeze=False, layout="constrained")
    for a in axes[0]:
        a.set_xlabel(labels[0])
        a.set_ylabel(labels[1])
        a.grid(linewidth=0.4, alpha=0.6)
    figure.suptitle(title, fontsize=12)
    return figure, axes[0]


def plot_sizes(records, file):
    """Figure 1: seconds of one core, of all, of a GPU."""
    figure, (a, b) = axes_of("Box (n, n, n), 100 iterations (Choi 2019, Figure 1)", "n", "s", panels=2)
    base = {r["n"]: r["seconds"] for r in records if r["threads"] == 1}
    kinds = list(dict.fromkeys(kind_of(r) for r in records))
    for kind, colour in zip(kinds, (GREY, ORANGE, BLUE, RED)):
        points = sorted((r["n"], r["seconds"]) for r in records if kind_of(r) == kind)
        a.semilogy(*zip(*points), "o-", color=colour, label=kind)
        if kind != "one core":
            b.plot([n for n, _ in points], [base[n] / s for n, s in points], "o-", color=colour, label=kind)
    b.set_ylabel("times one core")
    save(figure, file)


def kind_of(r):
    return "one core" if r["threads"] == 1 else "all cores" if r["devices"] == "cpu" else r["devices"]


def table_sizes(records):
    base = {r["n"]: r["seconds"] for r in records if r["threads"] == 1}
    return table(["n", "devices", "s for 100 iterations", "times one core"],
                 [[r["n"], kind_of(r), f"{r['seconds']:.4g}", f"{base[r['n']] / r['seconds']:.2f}"] for r in records])


def plot_weights(records, file):
    """Figure 2: the GPU's weight, given."""
    sizes = sorted({r["n"] for r in records})
    figure, axes = axes_of("A GPU's weight beside the CPU (Choi 2019, Figure 2)", "weight of the GPU", "s for 100 iterations", panels=len(sizes))
    for a, n in zip(axes, sizes):
        given = sorted((r["weight"], r["seconds"]) for r in records if r["n"] == n and not isinstance(r["weight"], str))
        a.plot(*zip(*given), "o-", color=BLUE, label="given")
        for r in records:
            if r["n"] == n and isinstance(r["weight"], str):
                a.axhline(r["seconds"], linestyle="--", color=RED, label="measured by tutti")
        a.set_title(f"({n}, {n}, {n})", fontsize=10)
    save(figure, file)


def table_weights(records):
    rows = []
    for r in records:
        alone = next(o["seconds"] for o in records if o["n"] == r["n"] and o["weight"] == 1)
        rows.append([r["n"], r["weight"], f"{r['share']:.3f}", f"{r['seconds']:.4g}", f"{alone / r['seconds']:.3f}"])
    return table(["n", "weight of the GPU", "its share of elements", "s for 100 iterations", "times the GPU alone"], rows)


def plot_gpus(records, file):
    """Figure 3: several GPUs."""
    figure, (a,) = axes_of("Several GPUs (Choi 2019, Figure 3)", "n", "s for 100 iterations")
    kinds = list(dict.fromkeys(r["devices"] for r in records))
    for devices, colour in zip(kinds, (BLUE, RED, ORANGE, GREY)):
        a.semilogy(*zip(*sorted((r["n"], r["seconds"]) for r in records if r["devices"] == devices)), "o-", color=colour, label=devices)
    save(figure, file)


def table_gpus(records):
    rows = []
    for r in records:
        one = next(o["seconds"] for o in records if o["n"] == r["n"])
        rows.append([r["n"], r["devices"], f"{r['seconds']:.4g}", f"{one / r['seconds']:.3f}"])
    return table(["n", "devices", "s for 100 iterations", "times one GPU"], rows)


def plot_saving(records, file):
    """Figure 4: what saves memory."""
    shapes = list(dict.fromkeys(r["jitter"] for r in records))
    figure, axes = axes_of("Ways to save memory (Choi 2019, Figure 4)", "s for 100 iterations", "", panels=len(shapes))
    for a, jitter in zip(axes, shapes):
        mine = [r for r in records if r["jitter"] == jitter and "refused" not in r][::-1]
        colours = [RED if r["name"] in ("managed", "compressed zfp-32", "overlaid") else BLUE for r in mine]
        a.barh([r["name"] + (", capped" if r["cap"] else "") for r in mine], [r["seconds"] for r in mine], color=colours)
        a.set_xscale("log")
        a.set_title(f"{SHAPES.get(jitter, jitter)} hexahedra (red: the paper's)", fontsize=10)
    save(figure, file)


def table_saving(records):
    rows = []
    for r in records:
        alike = [o for o in records if o["jitter"] == r["jitter"]]
        unified = next((o["seconds"] for o in alike if o["name"] == "managed" and "refused" not in o), None)
        head = [SHAPES.get(r["jitter"], r["jitter"]), r["name"], f"{1e-6 * r['cap']:,.1f}" if r["cap"] else "no"]
        if "refused" in r:
            rows.append([*head, None, None, None, None, None, "no room"])
            continue
        rows.append([*head, f"{1e-6 * r['device_bytes']:,.1f}" if r["device_bytes"] else "all", f"{r['seconds']:.4g}", f"{unified / r['seconds']:.2f}" if unified else None,
                     f"{r['loss']:.1e}", f"{r['free_stream']:.1e}", r["chosen"]])
    return table(["hexahedra", "policy", "cap, MB", "of the array on the device, MB", "s for 100 iterations", "times managed", "loss of the array",
                  "free stream", "held"], rows)


def whole(done):
    """The report of one session: Markdown."""
    text = [f"{done['date']}, {done['machine']}; p = {done['order']}{', quick' if done['quick'] else ''}.\n"]
    if "table1" in done:
        text += ["**Table 1**, shares of what an element takes in the stored form, without messages\n", table1(done["table1"])]
    if "figure1" in done:
        said = ", ".join(f"{speedup} ({name})" for name, speedup in paper.CORE_SPEEDUPS.items())
        text += ["**Figure 1**, boxes of all sizes (`figure1.png`)\n", table_sizes(done["figure1"]), f"Theirs, at most: {said} times one core.\n"]
    if "figure2" in done:
        said = ", ".join(f"{gain} times the {name} alone at n = {n}" for name, (n, gain) in paper.HYBRID.items())
        text += ["**Figure 2**, weights of a GPU beside the CPU (`figure2.png`)\n", table_weights(done["figure2"]),
                 f"Theirs: {said}; best weight {paper.BEST_WEIGHT} (Titan XP).\n"]
    if "figure3" in done:
        text += ["**Figure 3**, several GPUs (`figure3.png`)\n", table_gpus(done["figure3"]),
                 "Theirs: two are about twice one, more than twice at n = 9 and 10; with the CPU beside them they are slower.\n"]
    if "figure4" in done:
        said = ", ".join(f"{name} saves {100 * share:.4g} % and is up to {paper.OVER_UNIFIED[name]} times as fast as unified memory"
                         for name, share in paper.SAVED.items())
        text += ["**Figure 4**, ways to save memory (`figure4.png`)\n", table_saving(done["figure4"]), f"Theirs: {said}.\n"]
    return "\n".join([*text, paper.MISSING, ""])
