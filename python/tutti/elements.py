"""What can be seen of a mesh of tetrahedra, hexahedra, prisms and pyramids, straight or of second order: its surface and a
plane section. Elements of second order are drawn with straight sides between their nodes."""

from dataclasses import dataclass

import numpy as np

from tutti import surface

# VTK's types of straight elements; those of second order; how many nodes each has in a file.
TETRA, HEXAHEDRON, WEDGE, PYRAMID = 10, 12, 13, 14
CURVED = {24: TETRA, 29: HEXAHEDRON, 32: WEDGE, 27: PYRAMID}
NODES = {TETRA: 4, HEXAHEDRON: 8, WEDGE: 6, PYRAMID: 5, 24: 10, 29: 27, 32: 18, 27: 13}

_FACES = {TETRA: ((1, 2, 3), (0, 3, 2), (0, 1, 3), (0, 2, 1)),
          HEXAHEDRON: ((0, 3, 2, 1), (4, 5, 6, 7), (0, 1, 5, 4), (1, 2, 6, 5), (2, 3, 7, 6), (3, 0, 4, 7)),
          WEDGE: ((0, 2, 1), (3, 4, 5), (0, 1, 4, 3), (1, 2, 5, 4), (2, 0, 3, 5)),
          PYRAMID: ((0, 3, 2, 1), (0, 1, 4), (1, 2, 4), (2, 3, 4), (3, 0, 4))}
# The edges whose middles are nodes of elements of second order, in VTK's order; then the faces that have one.
_EDGES = {TETRA: ((0, 1), (1, 2), (2, 0), (0, 3), (1, 3), (2, 3)),
          HEXAHEDRON: ((0, 1), (1, 2), (2, 3), (3, 0), (4, 5), (5, 6), (6, 7), (7, 4), (0, 4), (1, 5), (2, 6), (3, 7)),
          WEDGE: ((0, 1), (1, 2), (2, 0), (3, 4), (4, 5), (5, 3), (0, 3), (1, 4), (2, 5)),
          PYRAMID: ((0, 1), (1, 2), (2, 3), (3, 0), (0, 4), (1, 4), (2, 4), (3, 4))}
_MIDDLES = {HEXAHEDRON: ((0, 4, 7, 3), (1, 2, 6, 5), (0, 1, 5, 4), (3, 7, 6, 2), (0, 3, 2, 1), (4, 5, 6, 7)),
            WEDGE: ((0, 1, 4, 3), (1, 2, 5, 4), (2, 0, 3, 5))}


def _face(kind, face):
    """(ring, middle, triangles) of a face: nodes around it; the number of its middle, -1 where that is no node; triangles by
    places in the ring, whose end is the middle. Both sides of a face are cut alike, or planes along it would have holes."""
    straight, corners = CURVED.get(kind, kind), len(face)
    if kind == straight:
        if corners == 3:
            return face, -1, [(0, 1, 2)]
        return face, -1, [(i, (i + 1) % 4, 4) for i in range(4)]
    node = {frozenset(pair): NODES[straight] + n for n, pair in enumerate(_EDGES[straight])}
    ring = [n for i, c in enumerate(face) for n in (c, node[frozenset((c, face[(i + 1) % corners]))])]
    if corners == 3:
        return ring, -1, [(5, 0, 1), (1, 2, 3), (3, 4, 5), (1, 3, 5)]
    first = NODES[straight] + len(_EDGES[straight])
    middle = {frozenset(c): first + n for n, c in enumerate(_MIDDLES.get(straight, ()))}.get(frozenset(face), -1)
    return ring, middle, [(i, (i + 1) % 8, 8) for i in range(8)]


_SIDES = {kind: [_face(kind, face) for face in _FACES[CURVED.get(kind, kind)]] for kind in NODES}


def _middle_of(ring):
    """Of quadrangles by their corners, or by eight nodes (m, 8, 3), as these have it (VTK's pyramid has no other)."""
    if ring.shape[1] == 4:
        return ring.mean(axis=1)
    return 0.5 * ring[:, 1::2].sum(axis=1) - 0.25 * ring[:, ::2].sum(axis=1)


@dataclass
class ElementMesh:
    """Points (n, 3) and, of each of VTK's types, the numbers of the cells and their nodes."""

    points: np.ndarray
    groups: dict  # type -> (cells (m,), nodes (m, NODES[type]))

    @property
    def cells(self):
        return sum(len(cells) for cells, _ in self.groups.values())

    @staticmethod
    def of(path, points, connectivity, ends, types):
        """What vtkxml.read_elements() read in `path`. ValueError: other cells than NODES has."""
        groups = {}
        for kind in np.unique(types):
            if kind not in NODES:
                raise ValueError(f"{path}: cells of VTK's type {kind}; tetrahedra, hexahedra, prisms and pyramids are expected")
            cells = np.nonzero(types == kind)[0]
            groups[int(kind)] = (cells, connectivity[ends[cells][:, None] - NODES[kind] + np.arange(NODES[kind])])
        return ElementMesh(points, groups)

    def merged(self):
        """The same with points that several cells and pieces share made one (they agree in every bit)."""
        points, number = surface.merge(self.points)
        return ElementMesh(points, {kind: (cells, number[nodes]) for kind, (cells, nodes) in self.groups.items()})

    def boundary(self):
        """The faces that belong to one element only, as surface.Triangles."""
        sides = [(kind, f, *group) for kind, group in self.groups.items() for f in range(len(_SIDES[kind]))]
        keys = [np.sort(nodes[:, _FACES[CURVED.get(kind, kind)][f]], axis=1) for kind, f, _, nodes in sides]
        keys = np.concatenate([k if k.shape[1] == 4 else np.column_stack([np.full(len(k), -1), k]) for k in keys])
        order = np.lexsort(keys.T)
        same = np.all(keys[order[1:]] == keys[order[:-1]], axis=1)
        alone = np.ones(len(keys), bool)
        alone[order[1:][same]] = alone[order[:-1][same]] = False
        points, triangles, owners, first = [self.points], [], [], 0
        for kind, f, cells, nodes in sides:
            seen = alone[first:first + len(cells)]
            first += len(cells)
            ring, middle, pieces = _SIDES[kind][f]
            around = nodes[seen][:, ring]
            if len(ring) in (4, 8):
                if middle < 0:
                    middles = sum(map(len, points)) + np.arange(len(around))
                    points.append(_middle_of(self.points[around]))
                else:
                    middles = nodes[seen, middle]
                around = np.column_stack([around, middles])
            triangles.append(around[:, pieces].reshape(-1, 3))
            owners.append(np.repeat(cells[seen], len(pieces)))
        return surface.smoothed(np.concatenate(points), np.concatenate(triangles), np.concatenate(owners))

    def section(self, normal, offset):
        """The plane normal . p = offset through the elements, as triangles whose normal is `normal`. An element is cut into
        tetrahedra between the triangles of its faces and its middle."""
        side = self.points @ normal - offset
        corners, owners = [], []
        for kind, (cells, nodes) in self.groups.items():
            crossed = np.any(side[nodes] > 0, axis=1) & np.any(side[nodes] <= 0, axis=1)
            at = self.points[nodes[crossed]]
            inside = at[:, -1] if kind == 29 else at[:, :NODES[CURVED.get(kind, kind)]].mean(axis=1)
            for ring, middle, pieces in _SIDES[kind]:
                around = at[:, ring]
                if len(ring) in (4, 8):
                    middles = at[:, middle] if middle >= 0 else _middle_of(around)
                    around = np.concatenate([around, middles[:, None]], axis=1)
                shape = (len(at), len(pieces), 1, 3)
                tets = np.concatenate([around[:, pieces], np.broadcast_to(inside[:, None, None], shape)], axis=2)
                corners.append(tets.reshape(-1, 3))
                owners.append(np.repeat(cells[crossed], len(pieces)))
        corners, owners = np.concatenate(corners), np.concatenate(owners)
        cut = surface.section(corners, np.arange(len(corners)).reshape(-1, 4), normal, offset)
        return surface.Triangles(cut.corners, owners[cut.cell], cut.normal)
