// What a marching thread reads of the next planes, on its way from memory to shared memory while the thread computes:
// its loads need no registers, and all of a plane's are under way together.
#pragma once

#include <cuda_pipeline.h>

#include <cstddef>

namespace tutti::incompressible::detail {

/// Places of a block's threads for `ahead` planes, each for its own values only, so that no barrier is needed: `fields`
/// groups of `cells` values; of the first `edged` ones also what `west_of` and `east_of` take for a warp's neighbours.
template <class T, int cells, int fields, int edged, int threads, int ahead>
class PlanesAhead {
  struct alignas(sizeof(T) * cells) Group {
    T values[cells];
  };
  static_assert(sizeof(Group) <= 16);
  struct Plane {
    Group groups[fields][threads];
    T edges[edged][threads / 32][2];
  };

 public:
  static constexpr std::size_t bytes = sizeof(Plane) * ahead;

  __device__ explicit PlanesAhead(char* memory)
      : planes_(reinterpret_cast<Plane*>(memory)),
        me_(static_cast<int>(threadIdx.x)),
        at_edge_(me_ % 32 == 0 || me_ % 32 == 31) {}

  /// Brings field `field` of the plane after those that are under way, `from` being the thread's first value.
  __device__ void bring(int field, const T* from) {
    Group* const to = planes_[next_].groups[field] + me_;
    if (field >= edged) {
      __pipeline_memcpy_async(to, from, sizeof(Group));
      return;
    }
    // Those beside will look for it in the first cache, which a copy of 16 bytes passes by unless it is told not to.
    asm volatile("cp.async.ca.shared.global [%0], [%1], %2;"
                 :
                 : "r"(static_cast<unsigned>(__cvta_generic_to_shared(to))), "l"(from),
                   "n"(static_cast<int>(sizeof(Group)))
                 : "memory");
    if (at_edge_) __pipeline_memcpy_async(edge(next_, field), from + (me_ % 32 == 0 ? -1 : cells), sizeof(T));
  }
  /// Behind the last field, and once for each plane that there is not.
  __device__ void end_plane() {
    __pipeline_commit();
    next_ = (next_ + 1) % ahead;
  }
  /// Waits for the first plane that is under way, whose place is that of the next one to be brought.
  __device__ void wait() const { __pipeline_wait_prior(ahead - 1); }
  __device__ void get(int field, T (&to)[cells]) const {
    const Group group = planes_[next_].groups[field][me_];
#pragma unroll
    for (int c = 0; c < cells; ++c) to[c] = group.values[c];
  }
  /// For a warp's first and last threads; 0 for others.
  __device__ T get_edge(int field) const {
    return at_edge_ ? *edge(next_, field) : T(0);
  }

 private:
  __device__ T* edge(int plane, int field) const {
    return &planes_[plane].edges[field][me_ / 32][me_ % 32 == 0 ? 0 : 1];
  }

  Plane* planes_;
  int me_;
  bool at_edge_;
  int next_ = 0;
};

}  // namespace tutti::incompressible::detail
