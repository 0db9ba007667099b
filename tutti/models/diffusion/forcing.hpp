// Source and boundary data of one part, as each row sees them: s_i + sum_f b_if g_f(t), evaluated on the part's device.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "tutti/device/buffer.hpp"
#include "tutti/device/threads.hpp"
#include "tutti/models/diffusion/diffusion_case.hpp"
#include "tutti/models/diffusion/scheme/scheme.hpp"

namespace tutti::diffusion {

/// A boundary face whose datum changes in time, and its formula's place among all steps.
struct TimeDependentFace {
  Vec3 centroid;
  Lid face = 0;
  std::int32_t first = 0, count = 0;
};
/// A row with boundary data: its terms are [begin, end).
struct BoundaryRow {
  Lid row = 0, begin = 0, end = 0;
};
struct BoundaryTerm {
  double weight = 0;  ///< b_if
  Lid face = 0;
};

/// What the kernels see of a forcing that changes in time.
struct ForcingView {
  double* forcing;
  const FormulaStep* steps;
  int source_steps;       ///< the first so many are the source's
  const double* u;        ///< the solution in owned cells
  const Vec3* centroids;  ///< of owned cells
  const TimeDependentFace* faces;
  double* data;  ///< g_f
  const BoundaryRow* rows;
  const BoundaryTerm* terms;
  const double* steady;     ///< s_i of the boundary rows; null where the source changes, too
  std::uint64_t* bad_time;  ///< bits of the first time with a value that is not finite
};

/// The forcing of one part. Device memory is charged to the budget: 8 bytes a row; where something depends on time,
/// the formulas and what they and the boundary's rows need, too (plan_arrays counts it). Nothing is copied in a step.
class Forcing {
 public:
  Forcing() = default;
  /// `centroids`: of owned cells; they must outlive this. Evaluates what does not depend on time. Error(input) where
  /// that is not finite.
  Forcing(Stream& stream, Threads& threads, const DiffusionPhysics& physics, std::span<const Vec3> centroids,
          const DiffusionRows& assembled);
  /// Of rows that change: whoever assembles them fills it in.
  Forcing(Stream& stream, Size rows) : forcing_(stream.device(), rows, "forcing") {}
  void set(Stream& stream, std::span<const double> values) { upload(stream, forcing_, values); }

  bool empty() const { return forcing_.empty(); }
  Size bytes() const { return forcing_.bytes(); }
  const double* data() const { return forcing_.data(); }
  /// Enqueues the evaluation at `time`, where the solution is `u` (owned cells, on the device). Error(input) where the
  /// source is a formula of t alone and not finite; of others first_bad_time tells.
  void update(Stream& stream, double time, const double* u);
  /// The first time at which an update that is done found a value that is not finite. Waits for the stream.
  std::optional<double> first_bad_time(Stream& stream) const;

 private:
  ForcingView view(const double* u);

  const Expression* source_ = nullptr;
  bool time_dependent_ = false, time_dependent_source_ = false;
  std::span<const Vec3> host_centroids_;
  Buffer<double> forcing_;
  Buffer<FormulaStep> steps_;
  Buffer<Vec3> centroids_;
  Buffer<TimeDependentFace> faces_;
  Buffer<double> data_;
  Buffer<BoundaryRow> rows_;
  Buffer<BoundaryTerm> terms_;
  Buffer<double> steady_;
  Buffer<std::uint64_t> bad_time_;
};

/// s_i + sum_f b_if g_f of each row at `time`; u: the solution in owned cells. Error(input) where it is not finite.
std::vector<double> forcing_of_rows(const DiffusionPhysics& physics, Threads& threads, std::span<const Vec3> centroids,
                                    const DiffusionRows& rows, double time, std::span<const double> u);

/// Data of boundary faces at `time`. Error(input) where one is not finite.
std::vector<double> boundary_data(const DiffusionPhysics& physics, std::span<const BoundaryFaceRef> faces, double time);

/// Enqueues the kernels of an update (forcing.cu).
void evaluate_source(Stream& stream, Range rows, const ForcingView& view, double time);
void fill_source(Stream& stream, Range rows, double* forcing, double value);
void evaluate_boundary(Stream& stream, Lid faces, Lid rows, const ForcingView& view, double time);

}  // namespace tutti::diffusion
