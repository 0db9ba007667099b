"""Values that Python gives: functions and arrays become files that the case names as [[field]]."""

import re
from pathlib import Path

import numpy as np

from tutti.messages import Error


# Keys besides initial values whose expressions can name a [[field]], and what stands for them where only the mesh matters.
_OTHERS = {r"(physics|physics\.region\[\d+\])\.(K|longitudinal|transverse)": "1", r"(physics|physics\.region\[\d+\])\.fibre": "[1, 0, 0]",
           r"physics\.source": "0", r"boundary\[\d+\]\.value": "0", r"velocity\.east": '"cos(lat)"', r"velocity\.north": "0",
           r"velocity\.cartesian": '["-y", "x", 0]'}


def _stand_in(key):
    """None: the key takes no values of Python."""
    if "initial" in re.split(r"[.\[]", key):
        return "[0, 0, 0]" if key.endswith("velocity") else "1"  # which every quantity can be
    return next((text for pattern, text in _OTHERS.items() if re.fullmatch(pattern, key)), None)


def is_given(key, value):
    """Is this a value a cell? TypeError: a function for a key that takes none."""
    takes = _stand_in(key) is not None
    if callable(value) and not takes:
        raise TypeError(f"{key}: it cannot be a function of Python, which initial values, the diffusivity, sources, boundary values "
                        "and velocities of transport can be; give an expression such as 'exp(-x^2)'")
    return callable(value) or (takes and np.ndim(value) > 0 and np.size(value) > (9 if key.endswith(".K") else 3))


def words_before(keys):
    """--set options that stand for such values where only the mesh matters."""
    return [word for key in keys for word in ("--set", f"{key}={_stand_in(key)}")]


def _on(places, key, value):
    """[values of all cells], one a component. `places`: (time, cell) or (time, x, y, z) of a field."""
    x, y, z = (np.asarray(places.coords[d], float) for d in "xyz")
    shape = np.shape(places)[1:4 if places.dims[1] == "x" else 2]
    if len(shape) == 3:
        x, y, z = (a.ravel() for a in np.meshgrid(x, y, z, indexing="ij"))
    if callable(value):
        result = value(x, y, z)
        vector = isinstance(result, (tuple, list)) or np.ndim(result) == 2
        parts = [np.broadcast_to(np.asarray(part, float), x.shape) for part in (result if vector else [result])]
    else:
        array = np.asarray(value, float)
        vector = array.ndim == len(shape) + 1
        if array.shape[:len(shape)] != shape or (vector and array.shape[-1] != 3):
            raise ValueError(f"{key}: an array of the shape {array.shape}; the mesh has {shape} cells, as run.fields has them")
        parts = array.reshape(x.size, -1).T
    if len(parts) not in (1, 3):
        raise ValueError(f"{key}: {len(parts)} components; 1 or 3 are expected")
    for part in parts:
        if not np.isfinite(part).all():
            at = int(np.flatnonzero(~np.isfinite(part))[0])
            raise ValueError(f"{key}: the value at ({x[at]}, {y[at]}, {z[at]}) is {part[at]}; it must be finite")
    return (x, y, z), parts, vector


def write(values, run, folder, first):
    """Writes them, {key: function or array}, to `folder`, as CSV at the places of the cells of `run`, and returns the --set
    options that name the files, as [[field]] number `first` and more. ValueError: another shape than the mesh's."""
    name = next(iter(run.fields))
    places = run.fields.at("last", name)
    # These models take the values at just these places; the others' lie elsewhere, too, as boundaries do.
    exact = run.summary["model"] in ("diffusion", "transport")
    words = []
    Path(folder).mkdir(parents=True, exist_ok=True)
    for key, value in values.items():
        at, parts, vector = _on(places, key, value)
        way = "nearest" if exact and not key.startswith("boundary") else "linear"
        if vector != _stand_in(key).startswith("["):
            raise ValueError(f"{key}: {len(parts)} component{'s' if vector else ''}; {1 if vector else 3} {'is' if vector else 'are'} expected")
        names = []
        for number, part in enumerate(parts):
            names.append("from_python_" + re.sub(r"\W", "_", key) + (f"_{'xyz'[number]}" if vector else ""))
            file = Path(folder).resolve() / f"{names[-1]}.csv"
            try:
                np.savetxt(file, np.column_stack([*at, part]), "%.17g", ",", header="x,y,z,value", comments="")
            except OSError as error:
                raise Error(f"{file}: cannot be written: {error.strerror}; choose another folder", 5) from None
            entry = f"field[{first}]."
            for field, text in (("name", names[-1]), ("file", str(file)), ("interpolation", way)):
                quoted = text.replace("\\", "\\\\").replace('"', '\\"')
                words += ["--set", f'{entry}{field}="{quoted}"']
            first += 1
        quoted = [f'"{name}"' for name in names]
        words += ["--set", f"{key}={'[' + ', '.join(quoted) + ']' if vector else quoted[0]}"]
    return words
