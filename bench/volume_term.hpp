// A kernel like the volume term of discontinuous Galerkin with stored coefficients (Choi 2019), for rows of 1,920
// doubles: 20 basis functions at 24 points, then 3 derivatives of them with weights and metric; Euler fluxes of 5
// variables.
#pragma once

#include "tutti/device/for_each.hpp"
#include "tutti/residency/row_access.hpp"

namespace tutti::volume_term {

inline constexpr int modes = 20, points = 24, variables = 5, directions = 3;
inline constexpr int basis_values = modes * points;                           ///< [mode][point]
inline constexpr int row_width = basis_values + points * directions * modes;  ///< then [point][direction][mode]
inline constexpr int values_a_row = variables * modes;                        ///< of state and result: [variable][mode]
inline constexpr int scale_group = basis_values;

/// Fluxes of the Euler equations, gamma 1.4, in three directions: flux[d * 5 + v].
TUTTI_HD inline void euler_fluxes(const double u[variables], double flux[directions * variables]) {
  const double inverse = 1 / u[0];
  const double kinetic = 0.5 * inverse * (u[1] * u[1] + u[2] * u[2] + u[3] * u[3]);
  const double p = 0.4 * (u[4] - kinetic);
  for (int d = 0; d < directions; ++d) {
    const double normal = u[1 + d] * inverse;
    for (int v = 0; v < variables; ++v) flux[d * variables + v] = normal * u[v];
    flux[d * variables + 1 + d] += p;
    flux[d * variables + 4] += normal * p;
  }
}

/// One thread a row, as it is written down: the reference, and what a CPU runs.
template <class Rows>
struct Kernel {
  Rows rows;
  const double* u;
  double* out;

  TUTTI_HD void operator()(Lid r) const {
    const auto row = rows.row(r);
    const double* const state = u + static_cast<Size>(r) * values_a_row;
    double at[points][variables] = {};
    for (int i = 0; i < modes; ++i)
      for (int q = 0; q < points; q += 4) {
        double basis[4];
        row.load4_unscaled(i * points + q, basis);
        for (int v = 0; v < variables; ++v)
          for (int k = 0; k < 4; ++k) at[q + k][v] = std::fma(basis[k], state[v * modes + i], at[q + k][v]);
      }
    double result[variables][modes] = {};
    for (int q = 0; q < points; ++q) {
      double flux[directions * variables];
      for (int v = 0; v < variables; ++v) at[q][v] *= row.scale(0);
      euler_fluxes(at[q], flux);
      for (int d = 0; d < directions; ++d) {
        const int begin = basis_values + (q * directions + d) * modes;
        for (int v = 0; v < variables; ++v) flux[d * variables + v] *= row.scale(begin);
        for (int i = 0; i < modes; i += 4) {
          double coefficients[4];
          row.load4_unscaled(begin + i, coefficients);
          for (int v = 0; v < variables; ++v)
            for (int k = 0; k < 4; ++k)
              result[v][i + k] = std::fma(coefficients[k], flux[d * variables + v], result[v][i + k]);
        }
      }
    }
    for (int v = 0; v < variables; ++v)
      for (int i = 0; i < modes; ++i) out[static_cast<Size>(r) * values_a_row + v * modes + i] = result[v][i];
  }
};

#if defined(__CUDACC__)

inline constexpr int warps = 4;    ///< of a block, each with a row
inline constexpr int lanes = 30;   ///< that work: 6 pieces of four points times 5, or 5 of four modes times 6
inline constexpr int padded = 38;  ///< no two lanes' sums in one bank

/// One warp a row. A lane loads fours of values and adds up its own sums; the lanes' sums are added through shared
/// memory.
template <class Rows>
__global__ void __launch_bounds__(32 * warps) warp_kernel(Rows rows, Range range, const double* u, double* out) {
  __shared__ double shared_state[warps][values_a_row], shared_sums[warps][4 * variables * padded];
  __shared__ double shared_flux[warps][points * directions * variables];
  __shared__ std::uint16_t table[Rows::format == ValueFormat::zfp ? zfp::table_size : 1];
  if constexpr (Rows::format == ValueFormat::zfp) {
    for (int k = threadIdx.x; k < zfp::table_size; k += 32 * warps) table[k] = rows.table[k];
    __syncthreads();
    rows.table = table;
  }
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  double* const state = shared_state[warp];
  double* const sums = shared_sums[warp];
  double* const fluxes = shared_flux[warp];
  const auto keep_sums = [&](const double(&sum)[variables][4]) {
#pragma unroll
    for (int v = 0; v < variables; ++v)
#pragma unroll
      for (int k = 0; k < 4; ++k) sums[(4 * v + k) * padded + lane] = sum[v][k];
  };
  const auto add_four = [&](double(&sum)[variables][4], const double(&four)[4], auto factor_of) {
#pragma unroll
    for (int v = 0; v < variables; ++v) {
      const double factor = factor_of(v);
#pragma unroll
      for (int k = 0; k < 4; ++k) sum[v][k] = std::fma(four[k], factor, sum[v][k]);
    }
  };
  for (Lid r = range.begin + static_cast<Lid>(blockIdx.x * warps + warp); r < range.end;
       r += static_cast<Lid>(gridDim.x * warps)) {
    const auto row = rows.row(r);
    __syncwarp();
    for (int k = lane; k < values_a_row; k += 32) state[k] = u[static_cast<Size>(r) * values_a_row + k];
    __syncwarp();
    if (lane < lanes) {
      double sum[variables][4] = {};
#pragma unroll
      for (int step = 0; step < 4; ++step) {
        const int mode = lane / 6 + 5 * step;
        double four[4];
        row.load4_unscaled(mode * points + lane % 6 * 4, four);
        add_four(sum, four, [&](int v) { return state[v * modes + mode]; });
      }
      keep_sums(sum);
    }
    __syncwarp();
    if (lane < points) {
      double at[variables], flux[directions * variables];
#pragma unroll
      for (int v = 0; v < variables; ++v) {
        at[v] = 0;
#pragma unroll
        for (int part = 0; part < 5; ++part) at[v] += sums[(4 * v + lane % 4) * padded + lane / 4 + 6 * part];
        at[v] *= row.scale(0);
      }
      euler_fluxes(at, flux);
#pragma unroll
      for (int k = 0; k < directions * variables; ++k)
        fluxes[lane * directions * variables + k] =
            flux[k] * row.scale(basis_values + (lane * directions + k / variables) * modes);
    }
    __syncwarp();
    if (lane < lanes) {
      double sum[variables][4] = {};
#pragma unroll 4
      for (int step = 0; step < 12; ++step) {
        const int piece = lane / 5 + 6 * step;  // point and direction
        double four[4];
        row.load4_unscaled(basis_values + piece * modes + lane % 5 * 4, four);
        add_four(sum, four, [&](int v) { return fluxes[piece * variables + v]; });
      }
      keep_sums(sum);
    }
    __syncwarp();
    for (int k = lane; k < values_a_row; k += 32) {
      const int v = k / modes, mode = k % modes;
      double sum = 0;
#pragma unroll
      for (int part = 0; part < 6; ++part) sum += sums[(4 * v + mode % 4) * padded + mode / 4 + 5 * part];
      out[static_cast<Size>(r) * values_a_row + k] = sum;
    }
  }
}

#endif

/// The kernel that is fast on the stream's device, on these rows.
template <class Rows>
void launch(Stream& stream, Range range, const Rows& rows, const double* u, double* out) {
#if defined(__CUDACC__)
  if (stream.kind() == DeviceKind::cuda) {
    const cuda::CurrentDevice current(stream.device().index());
    int processors = 0;
    TUTTI_CUDA_CHECK(cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, stream.device().index()));
    const int blocks = std::min(16 * processors, (range.size() + warps - 1) / warps);
    warp_kernel<<<blocks, 32 * warps, 0, static_cast<cudaStream_t>(stream.native())>>>(rows, range, u, out);
    TUTTI_CUDA_CHECK(cudaGetLastError());
    return;
  }
#endif
  for_each(stream, range, Kernel<Rows>{rows, u, out});
}

}  // namespace tutti::volume_term
