"""Triangles of a tetrahedral mesh that can be seen: its boundary, and a plane section. Other elements: elements.py."""

from dataclasses import dataclass

import numpy as np

# Face f is opposite to vertex f; its normal points out of a positive tetrahedron.
_FACES = np.array([[1, 2, 3], [0, 3, 2], [0, 1, 3], [0, 2, 1]])


@dataclass
class Triangles:
    """corners (n, 3, 3); the cell each triangle belongs to; unit normals out of the material, (n, 3)."""

    corners: np.ndarray
    cell: np.ndarray
    normal: np.ndarray

    def take(self, index):
        return Triangles(self.corners[index], self.cell[index], self.normal[index])

    def faces_towards(self, eye):
        """Which triangles show their front. `normal` may be smoothed, so it only says which side is the front."""
        flat = np.cross(self.corners[:, 1] - self.corners[:, 0], self.corners[:, 2] - self.corners[:, 0])
        return (flat @ eye) * np.einsum("ij,ij->i", flat, self.normal) > 0


def join(*parts):
    return Triangles(*(np.concatenate([getattr(p, name) for p in parts]) for name in ("corners", "cell", "normal")))


def boundary(points, tets):
    """The faces that belong to one cell only, with normals smoothed over neighbouring triangles."""
    faces = tets[:, _FACES].reshape(-1, 3)
    low, middle, high = np.sort(faces, axis=1).T
    count = len(points)
    if count < 1 << 21:  # three numbers fit into one
        key = (low << 42) | (middle << 21) | high
        order = np.argsort(key, kind="stable")
        same = key[order][1:] == key[order][:-1]
    else:
        key = low * count + middle
        order = np.lexsort((high, key))
        same = (key[order][1:] == key[order][:-1]) & (high[order][1:] == high[order][:-1])
    shared = np.zeros(len(faces), bool)
    shared[1:] |= same
    shared[:-1] |= same
    chosen = np.sort(order[~shared])
    return smoothed(points, faces[chosen], chosen // 4)


def smoothed(points, faces, cell):
    """Triangles by numbers of points, with normals smoothed over neighbouring triangles."""
    corners = points[faces]
    return Triangles(corners, cell, _smooth_normals(len(points), faces, corners))


def merge(points):
    """(The points without those that are there already, in every bit; the new number of each)."""
    points = points + 0.0  # makes -0.0 and 0.0 one number
    order = np.lexsort(points.T)
    ordered = points[order]
    first = np.ones(len(points), bool)
    first[1:] = np.any(ordered[1:] != ordered[:-1], axis=1)
    number = np.empty(len(points), np.int64)
    number[order] = np.cumsum(first) - 1
    return ordered[first], number


def _smooth_normals(count, faces, corners):
    """Mean of the normals at the three vertices, which are means over the triangles that meet there, by their angles. At a
    vertex on a crease (more than 25 degrees off) a triangle keeps its own."""
    own = _unit(np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]))
    sides = [_unit(corners[:, (k + 1) % 3] - corners[:, k]) for k in range(3)]
    angles = np.stack([np.arccos(np.clip(-np.einsum("ij,ij->i", sides[k], sides[k - 1]), -1, 1)) for k in range(3)], axis=1)
    at_vertex = _unit(np.stack([np.bincount(faces.ravel(), (angles * own[:, i:i + 1]).ravel(), count) for i in range(3)],
                               axis=1))
    normals = at_vertex[faces]
    crease = np.einsum("ikj,ij->ik", normals, own) < 0.9
    return _unit(np.where(crease[:, :, None], own[:, None, :], normals).sum(axis=1))


def _unit(vectors):
    length = np.linalg.norm(vectors, axis=1, keepdims=True)
    return vectors / np.where(length > 0, length, 1)


def clip(triangles, normal, offset):
    """What lies on the side normal . p <= offset; triangles across the plane are cut."""
    side = triangles.corners @ normal - offset
    outside = (side > 0).sum(axis=1)
    parts = [triangles.take(outside == 0)]
    for removed in (1, 2):
        part = triangles.take(outside == removed)
        s = side[outside == removed]
        # Turned so that the lone vertex (the one outside, or the one inside) comes first.
        lone = np.argmax((s > 0) == (removed == 1), axis=1)
        turn = (lone[:, None] + np.arange(3)) % 3
        a, b, c = np.moveaxis(np.take_along_axis(part.corners, turn[:, :, None], axis=1), 1, 0)
        sa, sb, sc = np.take_along_axis(s, turn, axis=1).T
        ab, ac = _crossing(a, b, sa, sb), _crossing(a, c, sa, sc)
        pieces = [(ab, b, c), (ab, c, ac)] if removed == 1 else [(a, ab, ac)]
        parts += [Triangles(np.stack(piece, axis=1), part.cell, part.normal) for piece in pieces]
    return join(*parts)


def _crossing(a, b, sa, sb):
    return a + (sa / (sa - sb))[:, None] * (b - a)


def section(points, tets, normal, offset):
    """The plane normal . p = offset through the cells, as triangles whose normal is `normal`."""
    side = (points @ normal - offset)[tets]
    outside = side > 0
    count = outside.sum(axis=1)
    corners, cells = [], []

    def crossing(cell, order, i, j):
        v, s = np.take_along_axis(tets[cell], order, 1), np.take_along_axis(side[cell], order, 1)
        return _crossing(points[v[:, i]], points[v[:, j]], s[:, i], s[:, j])

    for lone_outside in (True, False):  # one vertex alone: a triangle
        cell = np.nonzero(count == (1 if lone_outside else 3))[0]
        order = np.argsort(outside[cell] != lone_outside, axis=1, kind="stable")
        corners.append(np.stack([crossing(cell, order, 0, j) for j in (1, 2, 3)], axis=1))
        cells.append(cell)
    cell = np.nonzero(count == 2)[0]  # two and two: a quadrilateral, as two triangles
    order = np.argsort(~outside[cell], axis=1, kind="stable")
    ring = [crossing(cell, order, i, j) for i, j in ((0, 2), (0, 3), (1, 3), (1, 2))]
    for piece in ((0, 1, 2), (0, 2, 3)):
        corners.append(np.stack([ring[k] for k in piece], axis=1))
        cells.append(cell)
    cells = np.concatenate(cells)
    return Triangles(np.concatenate(corners), cells, np.tile(normal, (len(cells), 1)))
