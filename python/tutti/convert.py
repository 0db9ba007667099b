"""Meshes of the formats that meshio reads (MED, CGNS, Exodus, XDMF, Abaqus, legacy VTK, ...) as Gmsh's MSH 2.2: cells and tagged
faces, with their regions, tags and names; `tutti mesh convert` runs this."""

import argparse
import contextlib
import io
import sys
import tempfile
from pathlib import Path

from tutti.messages import Error, need, told
from tutti.pictures import write_whole

TAGS = ("gmsh:physical", "cell_tags", "region", "CellEntityIds", "medit:ref", "nastran:ref", "su2:tag", "cell_ids", "netgen:index")
DIMENSION = {"triangle": 2, "triangle6": 2, "quad": 2, "quad8": 2, "quad9": 2, "tetra": 3, "tetra10": 3, "hexahedron": 3, "hexahedron20": 3,
             "hexahedron27": 3, "wedge": 3, "wedge15": 3, "wedge18": 3, "pyramid": 3, "pyramid13": 3, "pyramid14": 3}


def _read(meshio, path):
    said = io.StringIO()
    with open(path, "rb"):  # its own words where it cannot be read
        pass
    try:
        with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):  # it prints, and may end the program
            return meshio.read(path)
    except ImportError as error:
        package = (error.name or str(error)).split(".")[0]
        raise Error(f"{path}: meshio needs {package} to read it; pip install {package}", 3) from None
    except (SystemExit, Exception) as error:
        lines = [line for line in [*said.getvalue().splitlines(), str(error)] if line.strip() not in ("", "1")]
        raise Error(f"{path}: meshio cannot read it: {lines[-1].strip() if lines else 'it says no more'}; check the file", 4) from None


def _tag_array(mesh):
    """Name of the whole numbers a cell that tell regions and tags, or None."""
    import numpy as np

    whole = [name for name, blocks in mesh.cell_data.items()
             if all(np.ndim(b) == 1 and np.all(np.asarray(b) == np.round(b)) for b in blocks)]
    chosen = [name for name in TAGS if name in whole]
    return chosen[0] if chosen else whole[0] if len(whole) == 1 and np.asarray(mesh.cell_data[whole[0]][0]).dtype.kind in "iu" else None


def _tags(mesh, file_type):
    """What belongs to which group: arrays as long as the blocks of cells, and {tag: name} of them."""
    import numpy as np

    sizes = [len(block.data) for block in mesh.cells]
    sets = {name: blocks for name, blocks in mesh.cell_sets.items() if not name.startswith("gmsh:")}
    name = _tag_array(mesh)
    if name is not None:
        tags = [np.asarray(b).astype(np.int64) for b in mesh.cell_data[name]]
        names = {tag: " + ".join(words) for tag, words in getattr(mesh, "cell_tags", {}).items()}  # of MED
        names |= {int(value[0]): text for text, value in mesh.field_data.items() if len(value) > 1}  # of Gmsh and XDMF
        return tags, names
    tags = [np.zeros(size, np.int64) for size in sizes]
    names = {}
    for number, (text, blocks) in enumerate(sets.items(), 1):
        names[number] = text
        for tag, chosen in zip(tags, blocks):
            if chosen is not None and len(chosen):
                chosen = np.asarray(chosen).astype(np.int64)
                tag[chosen[tag[chosen] == 0]] = number  # the first set that names a cell
    if not sets and file_type == "exodus" and len(sizes) > 1:  # its blocks are its regions
        tags = [np.full(size, number, np.int64) for number, size in enumerate(sizes, 1)]
    return tags, names


def convert(source, target):
    """Writes the mesh file `source` as `target`, MSH 2.2; returns what there is to tell. Error, OSError."""
    meshio = need("meshio", f"{source}: meshes of this format")
    import numpy as np

    mesh = _read(meshio, str(source))
    kinds = meshio.extension_to_filetypes.get(Path(source).suffix, [""])
    tags, names = _tags(mesh, kinds[0])
    known = [DIMENSION.get(block.type, 0) for block in mesh.cells]
    most = max(known, default=0)
    if most < 2:
        types = ", ".join(sorted({block.type for block in mesh.cells})) or "none"
        raise Error(f"{source}: cells: {types}; tetrahedra, hexahedra, prisms, pyramids or triangles are expected", 4)
    left_out = sorted({block.type for block, d in zip(mesh.cells, known) if d == 0 and block.type not in ("vertex", "line", "line3")})
    if left_out:
        raise Error(f"{source}: cells of the type {left_out[0]}; tetrahedra, hexahedra, prisms, pyramids and triangles are expected", 4)
    # Tags of cells and faces are numbered apart in Gmsh, and from 1 on.
    used = {d: sorted(set(np.concatenate([t for t, k in zip(tags, known) if k == d], dtype=np.int64)) - {0}) for d in set(known) - {0}}
    number = {d: {int(tag): int(tag) if min(all_) > 0 and max(all_) < 2**31 else k for k, tag in enumerate(all_, 1)}
              for d, all_ in used.items()}
    cells, values, groups = [], [], {}
    for block, tag, d in zip(mesh.cells, tags, known):
        if d < max(2, most - 1):
            continue
        cells.append((block.type, block.data))
        values.append(np.array([number[d].get(int(t), 0) for t in tag], np.int64))
    taken = set()
    for d, all_ in number.items():
        for tag, to in all_.items():
            text = names.get(tag, "").replace('"', "'").replace("\n", " ")
            if text and d >= max(2, most - 1):
                text = text if text not in taken else f"{text} ({'faces' if d == 2 else 'cells'})"
                taken.add(text)
                groups[text] = np.array([to, d])
    points = np.zeros((len(mesh.points), 3))
    points[:, :np.shape(mesh.points)[1]] = mesh.points
    if not np.isfinite(points).all():
        raise Error(f"{source}: point {int(np.flatnonzero(~np.isfinite(points).all(1))[0])} is not finite; mend the mesh", 4)
    made = meshio.Mesh(points, cells, field_data=groups, cell_data={"gmsh:physical": values, "gmsh:geometrical": values})
    with tempfile.TemporaryDirectory(prefix="tutti_convert_") as folder:
        with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
            meshio.write(f"{folder}/mesh.msh", made, file_format="gmsh22", binary=False)
        write_whole(target, Path(folder, "mesh.msh").read_bytes())
    counts = {}
    for kind, data in cells:
        counts[kind] = counts.get(kind, 0) + len(data)
    what = ", ".join(f"{count:,} {kind}" for kind, count in counts.items())
    return f"{target}: {what}; groups: {', '.join(sorted(groups)) or 'no names'} ({sum(len(n) for n in number.values())} tags)"


def main(argv=None):
    parser = argparse.ArgumentParser(prog="tutti.convert", description="A mesh that meshio reads as Gmsh's MSH 2.2.")
    parser.add_argument("source")
    parser.add_argument("target")
    options = parser.parse_args(argv)
    try:
        print(convert(options.source, options.target))
        return 0
    except (Error, OSError) as error:
        print(f"tutti.convert: {told(error)}", file=sys.stderr)
        return error.code if isinstance(error, Error) else 5
