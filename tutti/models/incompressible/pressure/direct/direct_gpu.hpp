// The direct solver's work on a GPU: that of line_transform.hpp and tridiagonal.hpp in the same order, bit for bit.
#pragma once

#include <span>
#include <vector>

#include "tutti/device/buffer.hpp"
#include "tutti/models/incompressible/pressure/direct/divergence_rows.hpp"
#include "tutti/models/incompressible/pressure/direct/line_modes.hpp"
#include "tutti/models/incompressible/pressure/direct/line_transform.hpp"
#include "tutti/models/incompressible/pressure/direct/tridiagonal.hpp"
#include "tutti/models/incompressible/pressure/direct/turned_planes.hpp"

namespace tutti::incompressible {

/// Planes of rows of nx values in some array.
template <class T>
struct PlanesOfRows {
  T* first;         ///< value 0 of row 0 of plane 0
  Size row, plane;  ///< values from one to the next
};

/// What both transforms of a plane and the elimination across planes need, in the memory of one GPU.
template <class T>
class DirectGpu {
 public:
  /// `lambda`: of the columns; `planes`: at most so many are transformed. `rows`: of the columns, all where it is
  /// empty; `lost`: as in LinePart; `along_z`: of column modes (column_modes.hpp), where nothing is eliminated.
  /// Error(resource): it has no room. Error(internal) for another kind of device.
  DirectGpu(Stream& stream, const LineModes& x, const LineModes& y, const LineOperator& z, std::span<const T> lambda,
            Lid planes, Range rows = {}, std::span<const T> lost = {}, const LineModes& along_z = {});

  /// The modes of planes `range` into the same planes of values[plane][ny][nx], which `from` may be, too.
  void to_modes(Stream& stream, const PlanesOfRows<const T>& from, T* values, Range range);
  /// The same of div u* / dt; lines along x have a fast transform.
  void divide_to_modes(Stream& stream, const DivergenceRows<T>& from, T* values, Range range);
  /// And back; `to` may be `values`, which are overwritten in any case.
  void from_modes(Stream& stream, T* values, const PlanesOfRows<T>& to, Range range);
  /// Planes `range` into values[plane][ny][nx], or back, where x is the direction of the elimination.
  void turn_from(Stream& stream, const TurnedPlanes<const T>& from, T* values, Range range);
  void turn_to(Stream& stream, const T* values, const TurnedPlanes<T>& to, Range range);
  /// (L_z + lambda) p = f for columns `range`, in place, as solve_columns, or where there are the last rows only as
  /// solve_last_columns.
  void eliminate(Stream& stream, const ColumnRows<T>& rows, Range range);
  /// As the function of that name; a row has as many values as there are columns.
  void solve_by_modes(Stream& stream, T* values, Range columns);
  /// As eliminate_columns and substitute_columns.
  void eliminate_up(Stream& stream, const ColumnRows<T>& rows, Range range);
  void substitute_down(Stream& stream, const ColumnRows<T>& rows, Range range);
  /// solve_null_column for all rows of that column, side by side in `column`; those that there are go to `rows`.
  void solve_null(Stream& stream, T* column, const ColumnRows<T>& rows);

 private:
  struct Matrix {
    Buffer<T> even, odd;
  };
  struct Fast {
    FastLineView<T> view;
    Buffer<T> twiddles;
    Buffer<FastMix<T>> mixes;  ///< before and after
    Buffer<Lid> places;
  };
  struct LineOnGpu {
    Lid even = 0, odd = 0;
    bool split = false;
    Matrix to_modes, from_modes;  ///< empty where there is a fast transform
    Fast fast_to, fast_from;      ///< without points where there is none
    Lid size() const { return even + odd; }
  };
  static Fast upload_fast(Stream& stream, const FastLine& line);
  static LineOnGpu upload_line(Stream& stream, const LineModes& modes);
  static Range equal_rows(const LineOperator& z, Range rows);
  TridiagonalView<T> whole_line() const;
  TridiagonalView<T> line() const { return some_rows(whole_line(), rows_); }
  bool is_whole() const { return rows_.size() == nz_; }
  void find_factors(Stream& stream);
  struct Elimination;  // its launches
  template <class Rows>
  void launch_null(Stream& stream, const Rows& rows, Lid null, const Rows& to, Lid there);
  void to_modes_along_y(Stream& stream, T* values, Range range);
  void copy_planes(Stream& stream, const T* from, T* to, Range range) const;

  LineOnGpu x_, y_, z_;  ///< z_: without cells where there are no column modes
  Buffer<T> along_z_;    ///< eigenvalues
  bool cyclic_, singular_;
  Lid nz_, null_column_ = -1;
  Range rows_;                ///< of z, that there are
  Range equal_;               ///< of these, those that have the lengths of the row before
  bool columns_fit_ = false;  ///< some side by side in the memory of a block, and z is no cycle
  Buffer<T> widths_, conductance_, lambda_;
  Buffer<T> lost_, even_, odd_;  ///< of PartColumns, where there are not all rows
  Buffer<std::int32_t> settled_;
  Buffer<double> exact_widths_, distances_;
  /// Planes between the two transforms; ratios while columns are eliminated; slacks, too, where they are cyclic.
  Buffer<T> scratch_, slacks_;
  Buffer<std::int32_t> known_groups_;  ///< of columns: where their factors are in `known_`, or -1
  Buffer<T> known_;
};

/// Values of T that a DirectGpu of these lines takes, but for a few a row (lengths, distances); found without modes.
/// `rows`: of z, that there are.
Size direct_gpu_values(const Line& x, const Line& y, const Line& z, Size columns, Lid planes, Lid rows);

extern template class DirectGpu<double>;
extern template class DirectGpu<float>;

}  // namespace tutti::incompressible
