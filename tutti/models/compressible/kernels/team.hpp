// Who works on one element or face together: one thread of a CPU, or a few threads of a GPU. What is computed, in which
// order values are added and so the bits are the same.
#pragma once

#include <type_traits>

#include "tutti/device/for_each.hpp"
#include "tutti/models/compressible/elements/basis.hpp"

namespace tutti::compressible {

inline constexpr int max_face_points = 64;

/// What a team's memory has room for: bases up to an order, points of a face, points of a volume at a time.
template <int order_, int face_points_, int points_>
struct TeamRoom {
  static constexpr int order = order_, bases = basis_size(order_), face_points = face_points_, points = points_;
};

/// One thread does it all. Points are worked on a few at a time, which stay in its cache.
struct SerialTeam : TeamRoom<max_order, max_face_points, 32> {
  TUTTI_HD int first() const { return 0; }
  TUTTI_HD int step() const { return 1; }
  TUTTI_HD void meet() const {}
};

/// What all elements and faces of a part have at most.
struct TeamNeeds {
  int order = max_order, face_points = max_face_points;
};

/// Of a GPU's teams.
using BlockRoom = TeamRoom<max_order, max_face_points, 64>;
using FirstOrderRoom = TeamRoom<1, 16, 16>;
using SmallRoom = TeamRoom<3, 16, 24>;
using WarpRoom = TeamRoom<3, 32, 32>;

#if defined(__CUDACC__)
/// Threads of a GPU: a warp, several of which share a block, or a block.
template <int threads_, class Room>
struct GpuTeam : Room {
  static constexpr int threads = threads_;
  __device__ int first() const { return static_cast<int>(threadIdx.x) % threads; }
  __device__ int step() const { return threads; }
  __device__ void meet() const {
    if constexpr (threads == 32)
      __syncwarp();
    else
      __syncthreads();
  }
};
/// Small teams are many at a time: low orders are bound by how long memory, arithmetic and the others take to answer.
using BlockTeam = GpuTeam<128, BlockRoom>;
using FirstOrderTeam = GpuTeam<32, FirstOrderRoom>;
using SmallTeam = GpuTeam<32, SmallRoom>;
using WarpTeam = GpuTeam<32, WarpRoom>;

namespace detail {
inline constexpr int team_threads = 128;
template <class Team, class F>
__global__ void __launch_bounds__(team_threads, F::blocks) team_kernel(Range range, F f) {
  cuda::wait_for_earlier_work();
  extern __shared__ __align__(16) unsigned char shared[];
  constexpr int teams = team_threads / Team::threads;
  const int team = static_cast<int>(threadIdx.x) / Team::threads;
  const Lid i = range.begin + static_cast<Lid>(blockIdx.x) * teams + team;
  if (i < range.end) f(Team{}, i, reinterpret_cast<typename F::template Scratch<Team>*>(shared)[team]);
}

template <class Team, class F>
void launch_teams(Stream& stream, Range range, const F& f) {
  const cuda::CurrentDevice current(stream.device().index());
  constexpr int teams = team_threads / Team::threads;
  constexpr std::size_t bytes = teams * sizeof(typename F::template Scratch<Team>);
  if (bytes > 48 * 1024)
    TUTTI_CUDA_CHECK(cudaFuncSetAttribute(team_kernel<Team, F>, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                          static_cast<int>(bytes)));
  cuda::launch(stream, team_kernel<Team, F>, (range.size() + teams - 1) / teams, team_threads, bytes, range, f);
}
}  // namespace detail
#endif

/// i / n and the rest, of numbers below a million.
struct Division {
  int n;
#if defined(__CUDA_ARCH__)
  float inverse;
  TUTTI_HD explicit Division(int by) : n(by), inverse(__frcp_rn(static_cast<float>(by))) {}
  TUTTI_HD int operator()(int i) const {
    return static_cast<int>((static_cast<float>(i) + 0.5f) * inverse);  // a whole division takes five times as long
  }
#else
  TUTTI_HD explicit Division(int by) : n(by) {}
  TUTTI_HD int operator()(int i) const {
    return i / n;
  }
#endif
};

/// Calls f(k, q) for k < rows, q < n.
#if defined(__CUDACC__)
#pragma nv_exec_check_disable
#endif
template <class Team, class F>
TUTTI_HD inline void for_each_value(const Team& team, int rows, int n, const F& f) {
  if constexpr (std::is_same_v<Team, SerialTeam>) {
    for (int k = 0; k < rows; ++k)
      for (int q = 0; q < n; ++q) f(k, q);
  } else {
    const Division by(n);
    for (int i = team.first(); i < rows * n; i += team.step()) {
      const int k = by(i);
      f(k, i - k * n);
    }
  }
}

/// Enqueues f(team, i, scratch) for every i of the range; F::Scratch<Team> is memory for one i. As for_each. `several`:
/// GPUs choose among teams by what is needed. Kernels wait for memory more than they calculate: F::blocks of 128
/// threads have to find room for their registers on a multiprocessor.
template <bool several = true, class F>
void for_each_team(Stream& stream, Range range, [[maybe_unused]] const TeamNeeds& needs, const F& f) {
  if (range.empty()) return;
#if defined(__CUDACC__)
  if (stream.kind() == DeviceKind::cuda) {
    if constexpr (several) {
      const auto fits = [&](const auto team) {
        return needs.order <= team.order && needs.face_points <= team.face_points;
      };
      if (fits(FirstOrderTeam{})) return detail::launch_teams<FirstOrderTeam>(stream, range, f);
      if (fits(SmallTeam{})) return detail::launch_teams<SmallTeam>(stream, range, f);
      if (fits(WarpTeam{})) return detail::launch_teams<WarpTeam>(stream, range, f);
    }
    return detail::launch_teams<BlockTeam>(stream, range, f);
  }
#endif
  stream.loop(range, [f](Lid begin, Lid end) {
    // GCC 12 takes what is in it for aligned when it makes vectors of loops, but does not see to it.
    alignas(64) typename F::template Scratch<SerialTeam> scratch;
    for (Lid i = begin; i < end; ++i) f(SerialTeam{}, i, scratch);
  });
}

}  // namespace tutti::compressible
