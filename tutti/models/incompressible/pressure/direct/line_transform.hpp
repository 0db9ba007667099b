// The modes of every line of a dense array [z][y][x], x fastest, along x or along y: by a fast transform where the line
// has one (fast_line.hpp), else a matrix times the line.
//
// With a matrix, every result is one chain of std::fma over the cells (or modes) of its line in ascending order, so
// that its bits depend neither on how the lines are cut into ranges nor on the processor's vectors. What is vectorised
// is another index: along y that of x, along x that of the results of one line.
#pragma once

#include "tutti/base/raw_vector.hpp"
#include "tutti/models/incompressible/pressure/direct/line_modes.hpp"

namespace tutti::incompressible {

enum class Transform : std::uint8_t {
  to_modes,    ///< Q^-1 f
  from_modes,  ///< Q f
};
enum class LineAxis : std::uint8_t { x, y };

/// A matrix as a kernel reads it: rows in panels of some width, [panel][column][row of the panel]; rows that do not
/// exist are 0. All pointers are into the memory of whoever runs the kernel.
template <class T>
struct LineTransformView {
  Transform transform = Transform::to_modes;
  bool split = false;    ///< as in LineModes
  Lid even = 0, odd = 0; /**< sizes of the halves; even + odd cells a line */
  const T* even_panels = nullptr;
  const T* odd_panels = nullptr;
  FastLineView<T> fast = {};  ///< with points, nothing of the above is used
  Lid size() const { return even + odd; }
};

/// Q^-1 or Q of a line, rounded to T, for lines along one axis.
template <class T>
class LineTransform {
 public:
  LineTransform(const LineModes& modes, Transform transform, LineAxis axis);
  LineTransformView<T> view() const {
    return {transform_, split_, even_, odd_, even_panels_.data(), odd_panels_.data(), fast_.view()};
  }
  Size bytes() const {
    return static_cast<Size>((even_panels_.size() + odd_panels_.size()) * sizeof(T)) + fast_.bytes();
  }
  bool is_fast() const { return fast_.size > 0; }
  /// Multiply-adds for one line.
  Size work() const { return fast_.size > 0 ? fast_work(fast_.size) : Size{even_} * even_ + Size{odd_} * odd_; }

 private:
  Transform transform_;
  bool split_;
  Lid even_, odd_;
  RawVector<T> even_panels_, odd_panels_;
  RoundedFastLine<T> fast_;
};

/// Along x, the transform made for LineAxis::x: lines [begin, end) of in[lines][n] into out. `out` may be `in`.
template <class T>
void transform_x(const LineTransformView<T>& transform, const T* in, T* out, Range lines);

/// Along y, the transform made for LineAxis::y, of in[z][n][nx] into out: the lines z * nx + x in [begin, end). `out`
/// may be `in`.
template <class T>
void transform_y(const LineTransformView<T>& transform, const T* in, T* out, Lid nx, Range lines);

extern template class LineTransform<double>;
extern template class LineTransform<float>;
extern template void transform_x(const LineTransformView<double>&, const double*, double*, Range);
extern template void transform_x(const LineTransformView<float>&, const float*, float*, Range);
extern template void transform_y(const LineTransformView<double>&, const double*, double*, Lid, Range);
extern template void transform_y(const LineTransformView<float>&, const float*, float*, Lid, Range);

}  // namespace tutti::incompressible
