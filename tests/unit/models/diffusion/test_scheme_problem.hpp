// Problems with a known solution, and their steady discrete solutions.
#pragma once

#include <complex>
#include <functional>
#include <span>
#include <vector>

#include "tutti/models/diffusion/scheme/gradient.hpp"
#include "tutti/models/diffusion/scheme/scheme.hpp"

namespace tutti::test {
using namespace diffusion;  // NOLINT(google-build-using-namespace): tests of this model

inline constexpr Sym3 full_tensor{2, 1.5, 3, 0.5, -0.7, 0.6};

/// A steady solution of div(K grad u) + s = 0. `side` (-1, +1) tells from which side of an interface a value is taken.
struct Exact {
  std::function<Sym3(Vec3, int side)> K;
  std::function<double(Vec3, int side)> u;
  std::function<Vec3(Vec3, int side)> gradient;
  std::function<int(Vec3)> side = [](Vec3) { return 0; };
  BoundaryKindOf kind = [](std::int32_t) { return BoundaryKind::dirichlet; };

  Vec3 flux(Vec3 x, int s) const { return K(x, s) * gradient(x, s); }
  /// s = -div(K grad u), by central differences of order four.
  double source(Vec3 x) const {
    const int s = side(x);
    const double h = 2e-3;
    double div = 0;
    for (int a = 0; a < 3; ++a) {
      const auto at = [&](double t) {
        Vec3 y = x;
        y[a] += t;
        return flux(y, s)[a];
      };
      div += (8 * (at(h) - at(-h)) - (at(2 * h) - at(-2 * h))) / (12 * h);
    }
    return -div;
  }
};

std::vector<Sym3> tensors(const LocalTetMesh& mesh, const Exact& exact);

/// The exact data of the boundary faces.
std::vector<double> boundary_data(const LocalTetMesh& mesh, const std::vector<BoundaryFaceRef>& faces,
                                  const Exact& exact, const SchemeOptions& options = {});

/// du/dt of the rows without source.
std::vector<double> apply(const DiffusionRows& rows, std::span<const double> u, std::span<const double> g);

/// Of the matrix of the rows, u -> du/dt with g = 0.
std::vector<std::complex<double>> eigenvalues(const DiffusionRows& rows);

/// The largest eigenvalue of the symmetric part of V L over the radius: energy that some state gains.
double largest_gain(const LocalTetMesh& mesh, const DiffusionRows& rows);

/// Explicit Euler with 0.95 * 2 / rho on noise: the norm after many steps against that before.
double growth(const DiffusionRows& rows);

struct Errors {
  double h = 0;  ///< (volume / cells)^(1/3)
  double u = 0, gradient = 0;
  Lid weak_fits = 0;
};

/// L2 errors of the steady solution and of its gradients, at centroids.
Errors steady_errors(const LocalTetMesh& mesh, const Exact& exact, const SchemeOptions& options = {});

}  // namespace tutti::test
