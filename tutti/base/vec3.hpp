// Points and 3x3 tensors in space; plain data, usable in kernels.
#pragma once

#include <array>
#include <cmath>

#include "tutti/base/types.hpp"

namespace tutti {

struct Vec3 {
  double x = 0, y = 0, z = 0;
  TUTTI_HD double& operator[](int i) { return i == 0 ? x : i == 1 ? y : z; }
  TUTTI_HD double operator[](int i) const { return i == 0 ? x : i == 1 ? y : z; }
  friend bool operator==(const Vec3&, const Vec3&) = default;
};

TUTTI_HD inline Vec3 operator+(Vec3 a, Vec3 b) {
  return {a.x + b.x, a.y + b.y, a.z + b.z};
}
TUTTI_HD inline Vec3 operator-(Vec3 a, Vec3 b) {
  return {a.x - b.x, a.y - b.y, a.z - b.z};
}
TUTTI_HD inline Vec3 operator*(double s, Vec3 a) {
  return {s * a.x, s * a.y, s * a.z};
}
TUTTI_HD inline double dot(Vec3 a, Vec3 b) {
  return a.x * b.x + a.y * b.y + a.z * b.z;
}
TUTTI_HD inline Vec3 cross(Vec3 a, Vec3 b) {
  return {a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}
TUTTI_HD inline double norm(Vec3 a) {
  return std::sqrt(dot(a, a));
}

/// Symmetric 3x3 tensor: xx, yy, zz, xy, xz, yz.
struct Sym3 {
  double xx = 0, yy = 0, zz = 0, xy = 0, xz = 0, yz = 0;
  friend bool operator==(const Sym3&, const Sym3&) = default;
};

TUTTI_HD inline Vec3 operator*(const Sym3& a, Vec3 v) {
  return {a.xx * v.x + a.xy * v.y + a.xz * v.z, a.xy * v.x + a.yy * v.y + a.yz * v.z,
          a.xz * v.x + a.yz * v.y + a.zz * v.z};
}
TUTTI_HD inline Sym3 operator+(const Sym3& a, const Sym3& b) {
  return {a.xx + b.xx, a.yy + b.yy, a.zz + b.zz, a.xy + b.xy, a.xz + b.xz, a.yz + b.yz};
}
TUTTI_HD inline Sym3 operator*(double s, const Sym3& a) {
  return {s * a.xx, s * a.yy, s * a.zz, s * a.xy, s * a.xz, s * a.yz};
}
TUTTI_HD inline Sym3 identity3(double s = 1.0) {
  return {s, s, s, 0, 0, 0};
}

}  // namespace tutti
