"""VTK's XML files of tetrahedra as numpy arrays.

VTK's own readers are used where they are installed. Without them, a small reader takes what tutti writes: appended raw
data, with or without zlib blocks. TUTTI_PLAIN_READER=1 in the environment chooses the small reader.
"""

import os
import xml.etree.ElementTree as ElementTree
import zlib
from pathlib import Path

import numpy as np

VTK_TETRA = 10
_TYPES = {"Float64": "<f8", "Float32": "<f4", "Int64": "<i8", "Int32": "<i4", "UInt8": "<u1", "Int8": "<i1",
          "UInt64": "<u8", "UInt32": "<u4"}


def have_vtk():
    """True when VTK's readers can and may be used."""
    if os.environ.get("TUTTI_PLAIN_READER"):
        return False
    try:
        import vtkmodules.vtkIOXML  # noqa: F401
        import vtkmodules.util.numpy_support  # noqa: F401
    except ImportError:
        return False
    return True


def read_grid(path):
    """Reads a .vtu or .pvtu; returns (points (n, 3), tets (m, 4), {name: array of m rows})."""
    path = Path(path)
    if not path.is_file():
        raise FileNotFoundError(f"{path}: no such file; check the name")
    if have_vtk():
        return _read_with_vtk(path)
    return _read_pvtu(path) if path.suffix == ".pvtu" else _read_vtu(path)


def read_series(path):
    """Entries of a .pvd: a list of (time, path of the file), by time."""
    path = Path(path)
    root = _parse(path.read_bytes(), path)
    entries = [(float(e.get("timestep")), path.parent / e.get("file")) for e in root.iter("DataSet")]
    return sorted(entries, key=lambda entry: entry[0])


def _read_with_vtk(path):
    from vtkmodules.util.numpy_support import vtk_to_numpy
    from vtkmodules.vtkIOXML import vtkXMLPUnstructuredGridReader, vtkXMLUnstructuredGridReader

    reader = vtkXMLPUnstructuredGridReader() if path.suffix == ".pvtu" else vtkXMLUnstructuredGridReader()
    reader.SetFileName(str(path))
    reader.Update()
    grid = reader.GetOutput()
    count = grid.GetNumberOfCells()
    if grid.GetNumberOfPoints() == 0 or count == 0:
        return np.zeros((0, 3)), np.zeros((0, 4), np.int64), _vtk_arrays(grid)
    if not np.all(vtk_to_numpy(grid.GetCellTypesArray()) == VTK_TETRA):
        raise ValueError(f"{path}: only tetrahedra are expected")
    points = vtk_to_numpy(grid.GetPoints().GetData()).astype(np.float64)
    tets = vtk_to_numpy(grid.GetCells().GetConnectivityArray()).astype(np.int64).reshape(count, 4)
    return points, tets, _vtk_arrays(grid)


def _vtk_arrays(grid):
    from vtkmodules.util.numpy_support import vtk_to_numpy

    data = grid.GetCellData()
    arrays = [data.GetArray(i) for i in range(data.GetNumberOfArrays())]
    return {a.GetName(): np.array(vtk_to_numpy(a)) for a in arrays}


def _parse(data, path):
    try:
        return ElementTree.fromstring(data)
    except ElementTree.ParseError as error:
        raise ValueError(f"{path}: no XML: {error}; the file is damaged") from None


def _read_pvtu(path):
    root = _parse(path.read_bytes(), path)
    pieces = [_read_vtu(path.parent / piece.get("Source")) for piece in root.iter("Piece")]
    if not pieces:
        raise ValueError(f"{path}: no pieces; at least one is expected")
    shifts = np.cumsum([0] + [len(points) for points, _, _ in pieces])
    points = np.concatenate([piece[0] for piece in pieces])
    tets = np.concatenate([piece[1] + shift for piece, shift in zip(pieces, shifts)])
    names = pieces[0][2].keys()
    return points, tets, {name: np.concatenate([piece[2][name] for piece in pieces]) for name in names}


def _read_vtu(path):
    data = path.read_bytes()
    start = data.find(b"<AppendedData")
    if start < 0:
        raise ValueError(f"{path}: no appended data; install VTK to read this file")
    payload = data.index(b"_", data.index(b">", start)) + 1
    root = _parse(data[:start] + b"</VTKFile>", path)
    if root.get("byte_order") != "LittleEndian" or root.get("compressor") not in (None, "vtkZLibDataCompressor"):
        raise ValueError(f"{path}: this byte order or compressor needs VTK; install it")
    header = "<u8" if root.get("header_type") == "UInt64" else "<u4"
    compressed = root.get("compressor") is not None

    def array(element):
        raw = _payload(memoryview(data), payload + int(element.get("offset")), header, compressed)
        values = np.frombuffer(raw, _TYPES[element.get("type")])
        components = int(element.get("NumberOfComponents") or 1)
        return values.reshape(-1, components) if components > 1 else values

    piece = root.find("UnstructuredGrid/Piece")
    cells = {e.get("Name"): e for e in piece.find("Cells")}
    if not np.all(array(cells["types"]) == VTK_TETRA):
        raise ValueError(f"{path}: only tetrahedra are expected")
    points = array(piece.find("Points/DataArray")).astype(np.float64).reshape(-1, 3)
    tets = array(cells["connectivity"]).astype(np.int64).reshape(-1, 4)
    cell_data = piece.find("CellData")
    return points, tets, {e.get("Name"): array(e) for e in (cell_data if cell_data is not None else [])}


def _payload(data, at, header, compressed):
    """Bytes of one appended array."""
    width = np.dtype(header).itemsize
    if not compressed:
        size = int(np.frombuffer(data, header, 1, at)[0])
        return data[at + width:at + width + size]
    blocks = int(np.frombuffer(data, header, 1, at)[0])
    if blocks == 0:
        return b""
    sizes = np.frombuffer(data, header, blocks, at + 3 * width)
    ends = at + (3 + blocks) * width + np.cumsum(sizes).astype(np.int64)
    return b"".join(zlib.decompress(data[int(end - size):int(end)]) for end, size in zip(ends, sizes))
