// What a marching thread reads of the next planes, on its way from memory to shared memory while the thread computes:
// its loads need no registers, and all of a plane's are under way together.
#pragma once

#include <cuda_pipeline.h>

#include <cstddef>

namespace tutti::incompressible::detail {

/// Places of a block's threads for `ahead` planes, each for its own values only, so that no barrier is needed: `fields`
/// groups of `cells` values; and `edged` values that only a warp's first and last threads have, among them those that
/// `west_of` and `east_of` take for the neighbours of a field.
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
    __pipeline_memcpy_async(planes_[next_].groups[field] + me_, from, sizeof(Group));
  }
  /// The same of a field that threads beside look for, and with edge `field`: by way of the first cache, which a copy
  /// of 16 bytes passes by unless it is told not to.
  __device__ void bring_shared(int field, const T* from) {
    copy<cells>(planes_[next_].groups[field][me_].values, from);
    bring_edge(field, from + (me_ % 32 == 0 ? -1 : cells));
  }
  /// Of a row beside: it is aligned to pairs only.
  __device__ void bring_beside(int field, const T* from) {
    constexpr int pair = cells > 1 ? 2 : 1;
#pragma unroll
    for (int c = 0; c < cells; c += pair) copy<pair>(planes_[next_].groups[field][me_].values + c, from + c);
  }
  /// `from`: a warp's first or last thread's.
  __device__ void bring_edge(int number, const T* from) {
    if (at_edge_) __pipeline_memcpy_async(edge(next_, number), from, sizeof(T));
  }
  /// Behind the last field, and once for each plane that there is not.
  __device__ void end_plane() {
    __pipeline_commit();
    next_ = (next_ + 1) % ahead;
  }
  /// Waits for the first plane that is under way, whose place is that of the next one to be brought.
  __device__ void wait() const {
    __pipeline_wait_prior(ahead - 1);
  }
  __device__ void get(int field, T (&to)[cells]) const {
    const Group group = planes_[next_].groups[field][me_];
#pragma unroll
    for (int c = 0; c < cells; ++c) to[c] = group.values[c];
  }
  /// For a warp's first and last threads; 0 for others.
  __device__ T get_edge(int number) const {
    return at_edge_ ? *edge(next_, number) : T(0);
  }

 private:
  template <int count>
  __device__ static void copy(T* to, const T* from) {
    asm volatile("cp.async.ca.shared.global [%0], [%1], %2;"
                 :
                 : "r"(static_cast<unsigned>(__cvta_generic_to_shared(to))), "l"(from),
                   "n"(static_cast<int>(count * sizeof(T)))
                 : "memory");
  }
  __device__ T* edge(int plane, int number) const {
    return &planes_[plane].edges[number][me_ / 32][me_ % 32 == 0 ? 0 : 1];
  }

  Plane* planes_;
  int me_;
  bool at_edge_;
  int next_ = 0;
};

}  // namespace tutti::incompressible::detail
