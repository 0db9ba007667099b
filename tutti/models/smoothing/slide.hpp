// How a node of the boundary may move: in a plane, along a line, or over the surface or the edges of the first mesh.
#pragma once

#include <cstdint>

#include "tutti/base/types.hpp"
#include "tutti/base/vec3.hpp"

namespace tutti::smoothing {

/// Pieces of the first mesh's surface: triangles, or the segments a to b of its edges (c = b).
struct SurfacePiece {
  Vec3 a, b, c;
};

struct Slide {
  enum class Kind : std::uint8_t { plane, line, surface, edge };
  Kind kind = Kind::plane;
  Vec3 first, second;       ///< orthonormal tangents: two, or the first only along lines and edges
  Size begin = 0, end = 0;  ///< of `surface` and `edge`: which of near_pieces it is put back onto
  TUTTI_HD bool has_two() const { return kind == Kind::plane || kind == Kind::surface; }
};

/// The point of a piece nearest to p (Ericson, "Real-Time Collision Detection", 2005, section 5.1.5).
TUTTI_HD inline Vec3 nearest_in_triangle(Vec3 p, const SurfacePiece& t) {
  const Vec3 ab = t.b - t.a, ac = t.c - t.a, ap = p - t.a;
  const double d1 = dot(ab, ap), d2 = dot(ac, ap);
  if (d1 <= 0 && d2 <= 0) return t.a;
  const Vec3 bp = p - t.b;
  const double d3 = dot(ab, bp), d4 = dot(ac, bp);
  if (d3 >= 0 && d4 <= d3) return t.b;
  const double vc = d1 * d4 - d3 * d2;
  if (vc <= 0 && d1 >= 0 && d3 <= 0) return t.a + (d1 / (d1 - d3)) * ab;
  const Vec3 cp = p - t.c;
  const double d5 = dot(ab, cp), d6 = dot(ac, cp);
  if (d6 >= 0 && d5 <= d6) return t.c;
  const double vb = d5 * d2 - d1 * d6;
  if (vb <= 0 && d2 >= 0 && d6 <= 0) return t.a + (d2 / (d2 - d6)) * ac;
  const double va = d3 * d6 - d5 * d4;
  if (va <= 0 && d4 - d3 >= 0 && d5 - d6 >= 0) return t.b + ((d4 - d3) / ((d4 - d3) + (d5 - d6))) * (t.c - t.b);
  const double whole = (va + vb) + vc;
  return t.a + ((vb / whole) * ab + (vc / whole) * ac);
}

TUTTI_HD inline Vec3 nearest_in_segment(Vec3 p, const SurfacePiece& s) {
  const Vec3 ab = s.b - s.a;
  const double along = dot(p - s.a, ab), length = dot(ab, ab);
  return along <= 0 ? s.a : along >= length ? s.b : s.a + (along / length) * ab;
}

/// The surface of the first mesh, and for every node that slides over it the pieces near by.
struct Surface {
  const SurfacePiece* pieces = nullptr;
  const Lid* near_pieces = nullptr;
};

/// Puts a point back onto the boundary; planes and lines keep what moves in them.
TUTTI_HD inline Vec3 put_back(const Slide& slide, const Surface& surface, Vec3 p) {
  if (slide.kind == Slide::Kind::plane || slide.kind == Slide::Kind::line) return p;
  Vec3 best = p;
  double least = -1;
  for (Size i = slide.begin; i < slide.end; ++i) {
    const SurfacePiece& piece = surface.pieces[surface.near_pieces[i]];
    const Vec3 q = slide.kind == Slide::Kind::surface ? nearest_in_triangle(p, piece) : nearest_in_segment(p, piece);
    const double distance = dot(q - p, q - p);
    if (least < 0 || distance < least) {
      least = distance;
      best = q;
    }
  }
  return best;
}

}  // namespace tutti::smoothing
