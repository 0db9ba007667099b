"""VTK's XML files of tetrahedra, of nodes and of structured grids as numpy arrays.

VTK's own readers are used where they are installed. Without them, and where they find nothing, a small reader takes what
tutti writes: appended raw data, with or without zlib blocks. TUTTI_PLAIN_READER=1 in the environment chooses the small reader.
VTK 9.1 takes raw data for XML if its Expat is 2.6 or newer, as in Ubuntu 24.04.
"""

import os
import xml.etree.ElementTree as ElementTree
import zlib
from pathlib import Path

import numpy as np

VTK_VERTEX, VTK_TETRA = 1, 10
CORNERS = {VTK_VERTEX: 1, VTK_TETRA: 4}
BOX_SUFFIXES = (".pvti", ".pvtr", ".vti", ".vtr")
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
    """Reads a .vtu or .pvtu; returns (points (n, 3), cells (m, 4) or, of nodes, (m, 1), {name: array of m rows})."""
    points, connectivity, _, types, cell_data = read_elements(path)
    return points, connectivity.reshape(-1, _corners(types, path)), cell_data


def read_elements(path):
    """Reads a .vtu or .pvtu of any cells; returns (points (n, 3), points of all cells one after the other, where each cell
    ends in these, VTK's types of the m cells, {name: array of m rows}). Where all cells are vertices, data of points count
    as those of the cells."""
    path = _existing(path)
    return _first_that_finds(_read_with_vtk, _read_pvtu if path.suffix == ".pvtu" else _read_vtu, path, lambda found: len(found[3]))


def read_boxes(path):
    """Reads a .vti, .vtr, .pvti or .pvtr; returns (faces, {name: array}). `faces` are the ascending planes between cells
    in x, y and z; an array is (nx, ny, nz), or (nx, ny, nz, components): element [i, j, k] is the i-th cell in x."""
    path = _existing(path)
    return _first_that_finds(_read_boxes_with_vtk, _read_boxes, path, lambda found: len(found[0][0]))


def _first_that_finds(with_vtk, small, path, cells_of):
    """What VTK reads; where it is not there or finds no cells, what the small reader does."""
    if not have_vtk():
        return small(path)
    from vtkmodules.vtkCommonCore import vtkObject

    told = vtkObject.GetGlobalWarningDisplay()
    vtkObject.SetGlobalWarningDisplay(0)  # pages of them, and the small reader says it in a line
    try:
        found = with_vtk(path)
    finally:
        vtkObject.SetGlobalWarningDisplay(told)
    if cells_of(found) > 0:
        return found
    try:
        return small(path)
    except ValueError:  # not what tutti writes
        return found


def _existing(path):
    path = Path(path)
    if not path.is_file():
        raise FileNotFoundError(f"{path}: no such file; check the name")
    return path


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
    cell_data, point_data = _vtk_arrays(grid.GetCellData()), _vtk_arrays(grid.GetPointData())
    if grid.GetNumberOfPoints() == 0 or count == 0:
        return np.zeros((0, 3)), *np.zeros((2, 0), np.int64), np.zeros(0, np.uint8), {**cell_data, **point_data}
    points = vtk_to_numpy(grid.GetPoints().GetData()).astype(np.float64)
    connectivity, offsets = (vtk_to_numpy(a).astype(np.int64) for a in
                             (grid.GetCells().GetConnectivityArray(), grid.GetCells().GetOffsetsArray()))
    types = np.array(vtk_to_numpy(grid.GetCellTypesArray()))
    return points, connectivity, offsets[1:], types, _of_cells(cell_data, point_data, connectivity, types)


def _of_cells(cell_data, point_data, connectivity, types):
    """Of vertices, the points' data, too."""
    if not np.all(types == VTK_VERTEX):
        return cell_data
    return {**cell_data, **{name: values[connectivity] for name, values in point_data.items()}}


def _corners(types, path):
    """Points of a cell; all cells have as many. Of no cells, those of tetrahedra."""
    kind = int(types[0]) if len(types) else VTK_TETRA
    if kind not in CORNERS or not np.all(types == kind):
        raise ValueError(f"{path}: only tetrahedra, or only vertices, are expected")
    return CORNERS[kind]


def _read_boxes_with_vtk(path):
    from vtkmodules import vtkIOXML
    from vtkmodules.util.numpy_support import vtk_to_numpy

    kind = {".vti": "ImageData", ".pvti": "PImageData", ".vtr": "RectilinearGrid", ".pvtr": "PRectilinearGrid"}
    reader = getattr(vtkIOXML, f"vtkXML{kind[path.suffix]}Reader")()
    reader.SetFileName(str(path))
    reader.Update()
    grid = reader.GetOutput()
    extent = np.array(grid.GetExtent()).reshape(3, 2)
    if path.suffix.endswith("i"):
        faces = [o + h * np.arange(lower, upper + 1) for o, h, (lower, upper) in
                 zip(grid.GetOrigin(), grid.GetSpacing(), extent)]
    else:
        faces = [np.array(vtk_to_numpy(c()), float) for c in
                 (grid.GetXCoordinates, grid.GetYCoordinates, grid.GetZCoordinates)]
    if np.any(extent[:, 1] <= extent[:, 0]):
        faces = [np.zeros(0)] * 3
    shape = [max(len(f) - 1, 0) for f in faces]
    return faces, {name: _to_box(values, shape, path) for name, values in _vtk_arrays(grid.GetCellData()).items()}


def _vtk_arrays(data):
    from vtkmodules.util.numpy_support import get_vtk_to_numpy_typemap, vtk_to_numpy

    def values(a):
        if a.GetNumberOfTuples() > 0:
            return np.array(vtk_to_numpy(a))
        shape = (0, a.GetNumberOfComponents()) if a.GetNumberOfComponents() > 1 else 0
        return np.zeros(shape, get_vtk_to_numpy_typemap()[a.GetDataType()])

    arrays = [data.GetArray(i) for i in range(data.GetNumberOfArrays())]
    return {a.GetName(): values(a) for a in arrays}


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
    pieces = [piece for piece in pieces if len(piece[3])] or pieces[:1]  # an empty one need not have all arrays
    shifts = np.cumsum([0] + [len(piece[0]) for piece in pieces])
    starts = np.cumsum([0] + [len(piece[1]) for piece in pieces])
    points = np.concatenate([piece[0] for piece in pieces])
    connectivity = np.concatenate([piece[1] + shift for piece, shift in zip(pieces, shifts)])
    ends = np.concatenate([piece[2] + start for piece, start in zip(pieces, starts)])
    types = np.concatenate([piece[3] for piece in pieces])
    names = pieces[0][4].keys()
    return points, connectivity, ends, types, {name: np.concatenate([p[4][name] for p in pieces]) for name in names}


def _open(path):
    """The XML of a file with appended data, and a function that reads the array of an element."""
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

    return root, array


def _read_vtu(path):
    root, array = _open(path)
    piece = root.find("UnstructuredGrid/Piece")
    elements = {e.get("Name"): e for e in piece.find("Cells")}
    points = array(piece.find("Points/DataArray")).astype(np.float64).reshape(-1, 3)
    connectivity, ends = (array(elements[name]).astype(np.int64) for name in ("connectivity", "offsets"))
    types = array(elements["types"])
    return points, connectivity, ends, types, _of_cells(_arrays(piece, array), _arrays(piece, array, "PointData"), connectivity, types)


def _arrays(piece, array, kind="CellData"):
    data = piece.find(kind)
    return {e.get("Name"): array(e) for e in (data if data is not None else [])}


def _to_box(values, shape, path):
    """x is fastest in the file."""
    cells = int(np.prod(shape))
    if len(values) != cells:
        raise ValueError(f"{path}: {len(values)} values for {cells} cells; the file is damaged")
    return np.moveaxis(values.reshape(*shape[::-1], *values.shape[1:]), (0, 1, 2), (2, 1, 0))


def _extent(text):
    """Lower and upper faces of each direction; of an empty box, zeros."""
    lower, upper = np.array(text.split(), int).reshape(3, 2).T
    return (lower, upper) if np.all(upper > lower) else (np.zeros(3, int), np.zeros(3, int))


def _even_faces(element, lower, upper):
    origin, spacing = (np.array(element.get(name).split(), float) for name in ("Origin", "Spacing"))
    return [o + h * np.arange(a, b + 1) for o, h, a, b in zip(origin, spacing, lower, upper)]


def _read_box_piece(path):
    """Lower face numbers, faces, {name: array}."""
    root, array = _open(path)
    element = next((e for e in root if e.tag in ("ImageData", "RectilinearGrid")), None)
    pieces = [] if element is None else element.findall("Piece")
    if len(pieces) != 1:
        raise ValueError(f"{path}: {len(pieces)} pieces of a structured grid; one is expected")
    lower, upper = _extent(pieces[0].get("Extent"))
    if element.tag == "ImageData":
        faces = _even_faces(element, lower, upper)
    else:
        faces = [array(e).astype(np.float64) for e in pieces[0].find("Coordinates")]
    if np.all(upper == lower):
        faces = [np.zeros(0)] * 3
    return lower, faces, {name: _to_box(values, upper - lower, path)
                          for name, values in _arrays(pieces[0], array).items()}


def _read_boxes(path):
    if not path.suffix.startswith(".p"):
        return _read_box_piece(path)[1:]
    root = _parse(path.read_bytes(), path)
    whole = next((e for e in root if e.get("WholeExtent")), None)
    pieces = [] if whole is None else [_read_box_piece(path.parent / e.get("Source")) for e in whole.findall("Piece")]
    if not pieces:
        raise ValueError(f"{path}: no pieces; at least one is expected")
    first, last = _extent(whole.get("WholeExtent"))
    shape = last - first
    faces = [np.full(n + 1, np.nan) for n in shape]
    fields = {name: np.zeros((*shape, *values.shape[3:]), values.dtype) for name, values in pieces[0][2].items()}
    seen = np.zeros(shape, bool)
    for lower, planes, arrays in pieces:
        begin = lower - first
        box = tuple(slice(b, b + max(len(p) - 1, 0)) for b, p in zip(begin, planes))
        for d in range(3):
            faces[d][begin[d]:begin[d] + len(planes[d])] = planes[d]
        for name in fields:
            fields[name][box] = arrays[name]
        seen[box] = True
    if not np.all(seen):
        raise ValueError(f"{path}: the pieces leave {np.count_nonzero(~seen)} cells out; the file is damaged")
    if whole.tag == "PImageData":  # the whole grid's numbers, in every bit
        faces = _even_faces(whole, first, last)
    return faces, fields


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
