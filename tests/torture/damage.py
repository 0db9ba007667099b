"""Files that were turned, cut, mixed: the right results, or one line that says so. Never a crash, never other results."""

import json
import math
import re
import shutil
import threading

from trials import (CASES, DATA, INPUT, IO, NUMERICAL, OPTIONS, RESOURCE, ROWS, SECONDS, STEPS, Whole, checkpoint, clear_error,
                    lines_of, require, same_outcome, tutti, whole)

SHORT, LONG = 90, 2000
MESHES = ["mesh/two_boxes_v22_ascii.msh", "mesh/two_boxes_v22_binary.msh", "mesh/two_boxes_v41_ascii.msh",
          "mesh/two_boxes_v41_binary.msh", "tetgen/two_boxes.1", "vtu/ascii.vtu", "vtu/raw_zlib.vtu", "vtu/base64.vtu"]
MESH_CASE = """model = "diffusion"
[mesh]
file = "{file}"
[physics]
K = 1
initial = "x*y+z"
[time]
steps = 10
[checkpoint]
every = 4
minutes = 0
keep = 9
"""
_wholes, _lock = {}, threading.Lock()


def damaged(content, dice, other=b""):
    """`content`, after what happens to files. `other`: a file of the same kind, pieces of which may get in."""
    data = bytearray(content)

    def place():
        return dice.randrange(max(len(data), 1))

    def flip():
        for _ in range(dice.choice([1, 1, 1, 2, 8, 64])):
            data[place()] ^= 1 << dice.randrange(8)

    def piece():
        begin = place()
        return begin, min(len(data), begin + dice.choice([1, 8, 64, 512, 4096]))

    def truncate():
        del data[place():]

    def swap():
        (a, b), (c, _) = sorted([piece(), piece()])
        width = min(b - a, c - a, len(data) - c)
        data[a:a + width], data[c:c + width] = data[c:c + width], data[a:a + width]

    def zeros():
        begin, stop = piece()
        data[begin:stop] = bytes(stop - begin)

    def noise():
        begin, stop = piece()
        data[begin:stop] = dice.randbytes(stop - begin)

    def cut_out():
        begin, stop = piece()
        del data[begin:stop]

    def twice():
        begin, stop = piece()
        data[begin:begin] = data[begin:stop]

    def longer():
        data.extend(dice.randbytes(dice.choice([1, 7, 4096])))

    def mix():
        begin, stop = piece()
        data[begin:stop] = other[begin:stop]

    def replace():
        data[:] = other

    for _ in range(dice.choice([1, 1, 1, 3])):
        if data:
            dice.choice([flip, flip, flip, truncate, swap, zeros, noise, cut_out, twice, longer, mix, replace])()
    return bytes(data)


def of_checkpoint(t):
    model, ranks = t.model_and_ranks(0.04)
    folder = t.folder / "results"
    shutil.copytree(whole(t, model).folder, folder)
    victim = checkpoint(folder, STEPS)
    other = checkpoint(folder, STEPS - 4) if t.dice.random() < 0.7 else checkpoint(whole(t, "transport").folder, STEPS)
    good = victim.read_bytes()
    bad = damaged(good, t.dice, other.read_bytes())
    while bad == other.read_bytes() and other.parent.parent != folder:  # a whole checkpoint of another run is no damage
        bad = damaged(good, t.dice, other.read_bytes())
    victim.write_bytes(bad)
    options = [] if t.dice.random() < 0.5 else ["--fallback"]
    result = tutti("run", "--restart", folder, *options, *OPTIONS, ranks=ranks, timeout=SECONDS)
    if options or result.code == 0:
        same_outcome(folder, whole(t, model).outcome, result)
        require(options or bad == good or bad == other.read_bytes(), "damage was not seen")
        return "the one before" if options else "right results"
    clear_error(result, {INPUT})
    require(victim.read_bytes() == bad, "the damaged file has become another one")
    return "error"


def whole_of(t, name, text, options=()):
    with _lock:
        if name not in _wholes:
            folder = t.base / "damage" / re.sub(r"\W", "-", name)
            _wholes[name] = Whole(folder, text, options=options)
        return _wholes[name]


def of_mesh(t):
    """A restart takes the very mesh, or none."""
    name = t.dice.choice(MESHES)
    parts = sorted((DATA / name).parent.glob((DATA / name).name + ".*")) if "tetgen" in name else [DATA / name]
    given = (DATA / name).with_name(DATA.joinpath(name).name + ".node") if "tetgen" in name else DATA / name
    before = whole_of(t, name, MESH_CASE.format(file=given))
    for path in parts:
        shutil.copy(path, t.folder / path.name)
    victim = t.folder / t.dice.choice(parts).name
    victim.write_bytes(damaged(victim.read_bytes(), t.dice, (DATA / t.dice.choice(MESHES[:4])).read_bytes()))
    folder = t.folder / "results"
    again = t.dice.random() < 0.7
    mesh = t.folder / given.name
    if again:
        arguments = ["--restart", checkpoint(before.folder, 4), "--set", f"mesh.file={json.dumps(str(mesh))}"]
    else:
        (t.folder / "case.toml").write_text(MESH_CASE.format(file=mesh), encoding="utf-8")
        arguments = [t.folder / "case.toml"]
    result = tutti("run", *arguments, "-o", folder, *OPTIONS, timeout=SECONDS)
    if result.code:
        clear_error(result, {INPUT, IO, RESOURCE, NUMERICAL})  # the set-up may find out before the checksum does
        return "error"
    if again:
        same_outcome(folder, before.outcome, result)
        return "right results"
    finite(folder)
    return "another mesh"


def finite(folder):
    """Another mesh may be a mesh, too: then its results are numbers."""
    summary = json.loads((folder / "summary.json").read_text(encoding="utf-8"))
    values = [value for value in [*summary.get("mass", summary.get("heat")).values(), summary["time"], summary["dt"]] if isinstance(value, (int, float))]
    require(values and all(map(math.isfinite, values)), f"not finite: {values}")


def of_nodes(t):
    before = whole_of(t, "nodes", CASES["transport"])
    nodes = t.base / "damage" / "nodes.xyz"
    with _lock:
        if not nodes.exists():
            result = tutti("nodes", "generate", "icosahedral", "--m", 6, "-o", nodes)
            require(result.code == 0, result.err)
    victim = t.folder / "nodes.xyz"
    victim.write_bytes(damaged(nodes.read_bytes(), t.dice, nodes.read_bytes()[::-1]))
    text = CASES["transport"].replace('generate = "icosahedral"\ncount = 362', f'file = "{victim}"')
    (t.folder / "case.toml").write_text(text, encoding="utf-8")
    folder = t.folder / "results"
    result = tutti("run", t.folder / "case.toml", "-o", folder, *OPTIONS, timeout=SECONDS)
    if result.code:
        clear_error(result, {INPUT, IO, RESOURCE, NUMERICAL})
        return "error"
    require(before is not None, "no run")
    finite(folder)
    return "other nodes"


def of_cache(t):
    """Weights of stencils: the same results, or an error; never other weights."""
    cache = t.base / "damage" / "stencils.bin"
    text = CASES["transport"].replace("[stencil]", '[stencil]\ncache = "{}"')
    before = whole_of(t, "cache", text.format(cache))
    victim = t.folder / "stencils.bin"
    victim.write_bytes(damaged(cache.read_bytes(), t.dice, cache.read_bytes()[::-1]))
    (t.folder / "case.toml").write_text(text.format(victim), encoding="utf-8")
    folder = t.folder / "results"
    result = tutti("run", t.folder / "case.toml", "-o", folder, *OPTIONS, timeout=SECONDS)
    if result.code:
        clear_error(result, {INPUT, RESOURCE})
        return "error"
    same_outcome(folder, before.outcome, result)
    return "right results"


def of_rows(t):
    """A restart keeps the rows that are rows, says how many are missing, and writes those behind the checkpoint again."""
    model, _ = t.model_and_ranks(0)
    other = whole(t, model)
    folder = t.folder / "results"
    shutil.copytree(other.folder, folder)
    name = t.dice.choice(ROWS)
    victim = folder / name
    victim.write_bytes(damaged(victim.read_bytes(), t.dice, (folder / t.dice.choice(ROWS)).read_bytes()))
    left = victim.read_bytes()
    first = STEPS - t.dice.choice([4, 8])
    result = tutti("run", "--restart", checkpoint(folder, first), *OPTIONS, timeout=SECONDS)
    same_outcome(folder, other.outcome, result)
    rows = victim.read_text(encoding="utf-8", errors="replace").split("\n")[:-1]
    if name != "metrics.jsonl":  # where the clock counts
        behind = STEPS - first
        require(rows[-behind:] == lines_of(other.folder / name)[-behind:], f"{name}: the rows behind the checkpoint are others")
    lost = len(lines_of(other.folder / name)) - len(rows)
    if lost > 0:
        require(re.search(rf"{name}: .*(missing|other columns)", result.err), f"{name}: {lost} rows fewer, and nothing is said:\n{result.err}")
        require(any(path.read_bytes() == left for path in folder.glob(f"{name}.before-restart*")), f"{name} is not kept beside")
        return "fewer rows, said so"
    return "rows"


def of_other_files(t):
    """What a restart does not go on from does not disturb it."""
    model, _ = t.model_and_ranks(0)
    folder = t.folder / "results"
    shutil.copytree(whole(t, model).folder, folder)
    (folder / "tutti.lock").write_text("host nowhere\nprocess 1\nstart never\nborn 0\n")
    files = [folder / name for name in ("results.pvd", "summary.json", "effective.toml", "tutti.lock")]
    files = [path for path in files if path.exists()]  # results in one file have no results.pvd
    files += sorted((folder / "fields").glob("*"))
    victim = t.dice.choice(files)
    victim.write_bytes(damaged(victim.read_bytes(), t.dice, t.dice.choice(files).read_bytes()))
    result = tutti("run", "--restart", checkpoint(folder, STEPS - 4), *OPTIONS, timeout=SECONDS)
    same_outcome(folder, whole(t, model).outcome, result)
    return "right results"


def trial(t):
    targets = [of_checkpoint, of_mesh, of_nodes, of_cache, of_rows, of_other_files]
    target = t.dice.choices(targets, [40, 25, 8, 10, 12, 5])[0]
    return f"{target.__name__[3:].replace('_', ' ')}: {target(t)}"
