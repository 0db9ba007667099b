#include "tutti/models/compressible/elements/straight_tables.hpp"

#include <algorithm>
#include <limits>

namespace tutti::compressible {
namespace {

/// Faces are sorted by their tables among so many neighbours: large enough to fill tiles, small enough for caches.
constexpr Lid sorted_together = 16384;

/// The point of column `column` of a tile. Products leave columns 2 j and 2 j + 1 to thread j, which needs them as row
/// j of two steps of the next product.
constexpr int point_of(int tile, int column) {
  return 4 * (2 * tile + column % 2) + column / 2;
}

/// Appends fragments: value(row, column) of `steps` x `tiles`.
template <class F>
void add_fragments(std::vector<double>& to, int steps, int tiles, const F& value) {
  for (int step = 0; step < steps; ++step)
    for (int tile = 0; tile < tiles; ++tile)
      for (int thread = 0; thread < fragment_size; ++thread)
        to.push_back(value(4 * step + thread % 4, tile, thread / 4));
}

template <class Sizes>
class Maker {
 public:
  Maker(const Operators& made, const IndexMap& map, Lid interior_faces, bool viscous)
      : made_(made), map_(map), interior_faces_(interior_faces), viscous_(viscous) {}

  StraightTables make() {
    if (!add_elements() || !add_faces()) return {};
    const auto count = static_cast<Lid>(made_.faces.size());
    made_tables_.view.interior = {0, interior_faces_};
    made_tables_.view.separators = {interior_faces_, count};
    add_tiles(made_tables_.view.interior, 1);
    add_tiles(made_tables_.view.separators, 2);
    made_tables_.view.order = Sizes::order;
    made_tables_.view.faces_each = Sizes::faces;
    made_tables_.view.viscous = viscous_;
    return std::move(made_tables_);
  }

 private:
  static constexpr int columns = padded(Sizes::bases);
  const double* table(Size at) const { return made_.tables.data() + at; }
  /// The basis function of a column. Coefficients of gradients are rows of the next product, as points are.
  int base_of(int tile, int column) const { return viscous_ ? point_of(tile, column) : 8 * tile + column; }

  bool add_elements() {
    if (map_.owned == 0 || made_.faces.empty()) return false;
    const ElementRecord& first = made_.elements[0];
    const bool alike = std::all_of(made_.elements.begin(), made_.elements.end(), [&](const ElementRecord& e) {
      return e.affine != 0 && e.values == first.values && e.points == Sizes::points &&
             (!viscous_ || e.derivative == first.derivative);
    });
    if (!alike) return false;
    auto& fragments = made_tables_.element_fragments;
    add_fragments(fragments, Sizes::base_steps, Sizes::point_tiles, [&](int l, int tile, int column) {
      const int q = point_of(tile, column);
      return l < Sizes::bases ? table(first.values)[l * Sizes::points + (q < Sizes::points ? q : 0)] : 0;
    });
    for (int step = 0; step < Sizes::point_steps; ++step)
      for (int d = 0; d < 3; ++d)
        add_fragments(fragments, 1, Sizes::base_tiles, [&](int row, int tile, int column) {
          const int q = 4 * step + row, chunk = q / chunk_points * chunk_points, l = base_of(tile, column);
          const int count = std::min(chunk_points, Sizes::points - chunk);
          return l < columns ? table(first.projection)[(3 * chunk + d * count + (q - chunk)) * columns + l] : 0;
        });
    return true;
  }

  /// The number of an offset among those met so far.
  static int number_of(std::vector<Size>& met, Size offset) {
    const auto at = std::find(met.begin(), met.end(), offset);
    if (at == met.end()) {
      met.push_back(offset);
      return static_cast<int>(met.size()) - 1;
    }
    return static_cast<int>(at - met.begin());
  }

  bool add_faces() {
    for (const FaceRecord& face : made_.faces) {
      const auto i = static_cast<Size>(&face - made_.faces.data());
      if (face.points != Sizes::face_points || face.normal_step != 0 || face.normals != 3 * i ||
          face.at != Sizes::face_values * i)
        return false;
      for (int side = 0; side < (face.right < 0 ? 1 : 2); ++side)
        if (!add_side(face, side)) return false;
      number_of(turns_, face.turn);
    }
    if (traces_.size() > max_traces || turns_.size() > max_turns) return false;
    if (made_.faces.size() > static_cast<std::size_t>(std::numeric_limits<std::int32_t>::max() / max_turns))
      return false;
    std::vector<Size> lifts(Sizes::faces, -1);
    for (Lid e = 0; e < map_.owned; ++e)
      for (std::size_t k = 0; k < max_faces; ++k) {
        const std::int32_t code = made_.face_of[static_cast<std::size_t>(max_faces) * e + k];
        if ((code >= 0) != (k < Sizes::faces)) return false;
        if (code < 0) continue;
        const FaceRecord& face = made_.faces[code >> 1];
        const int side = code & 1;
        if (lifts[k] >= 0 && lifts[k] != face.lift[side]) return false;
        lifts[k] = face.lift[side];
        made_tables_.sides.push_back(max_turns * (code >> 1) + (side == 0 ? 0 : number_of(turns_, face.turn)));
        made_tables_.scales.push_back(side == 0 ? -face.scale[0] : face.scale[1]);
      }
    for (const Size lift : lifts)
      add_fragments(made_tables_.element_fragments, Sizes::face_steps, Sizes::base_tiles,
                    [&](int q, int tile, int column) {
                      const int l = base_of(tile, column);
                      return l < columns ? table(lift)[q * columns + l] : 0;
                    });
    if (viscous_) add_derivatives();
    for (std::size_t k = 0; k < traces_.size(); ++k) {
      add_fragments(made_tables_.trace_fragments, Sizes::base_steps, Sizes::face_tiles,
                    [&](int l, int tile, int column) {
                      const int q = point_of(tile, column), n = Sizes::face_points;
                      return l < Sizes::bases ? table(traces_[k])[l * n + (q < n ? q : 0)] : 0;
                    });
      if (viscous_) add_slopes(table(traces_[k]), table(slopes_[k]));
    }
    for (std::size_t k = 0; k < turns_.size(); ++k)
      for (std::size_t q = 0; q < tile_rows; ++q)
        made_tables_.view.turns[tile_rows * k + q] = made_.turns[turns_[k] + static_cast<Size>(q)];
    made_tables_.view.traces = static_cast<int>(traces_.size());
    return true;
  }

  /// False: sides that share a trace do not share their slopes.
  bool add_side(const FaceRecord& face, int side) {
    const auto k = static_cast<std::size_t>(number_of(traces_, face.trace[side]));
    if (k == slopes_.size()) slopes_.push_back(face.slope[side]);
    return !viscous_ || (face.slope[side] >= 0 && slopes_[k] == face.slope[side]);
  }

  void add_derivatives() {
    const double* derivative = table(made_.elements[0].derivative);
    for (int step = 0; step < Sizes::base_steps; ++step)
      for (int d = 0; d < 3; ++d)
        add_fragments(made_tables_.element_fragments, 1, Sizes::base_tiles, [&](int row, int tile, int column) {
          const int m = 4 * step + row, l = base_of(tile, column);
          return m < Sizes::bases && l < columns ? derivative[(3 * m + d) * columns + l] : 0;
        });
  }

  /// A step's four points in two tiles: the trace beside the first derivative, the second beside the third; then the
  /// spread beside nothing. A thread has all of a point.
  void add_slopes(const double* trace, const double* slope) {
    constexpr int n = Sizes::face_points;
    for (int step = 0; step < Sizes::face_steps; ++step)
      add_fragments(made_tables_.trace_fragments, Sizes::base_steps, 2, [&](int l, int tile, int column) {
        const int q = 4 * step + column / 2, d = 2 * tile + column % 2 - 1;
        if (l >= Sizes::bases) return 0.0;
        return d < 0 ? trace[l * n + q] : slope[(3 * l + d) * n + q];
      });
    const double* spread = slope + 3 * n * Sizes::bases;
    for (int step = 0; step < Sizes::face_steps; ++step)
      add_fragments(made_tables_.trace_fragments, Sizes::face_steps, 1, [&](int k, int, int column) {
        return column % 2 == 0 ? spread[k * n + 4 * step + column / 2] : 0;
      });
  }

  void add_tiles(Range faces, std::size_t k) {
    std::vector<std::vector<StraightFace>> classes(std::size_t{max_traces} * max_traces);
    for (Lid begin = faces.begin; begin < faces.end; begin += sorted_together) {
      for (Lid i = begin; i < std::min(faces.end, begin + sorted_together); ++i) {
        const FaceRecord& face = made_.faces[i];
        if (face.right < 0)
          made_tables_.at_boundary.push_back(i);
        else
          classes[number_of(traces_, face.trace[0]) + max_traces * number_of(traces_, face.trace[1])].push_back(
              {i, face.left, face.right});
      }
      for (std::size_t c = 0; c < classes.size(); ++c) {
        for (std::size_t at = 0; at < classes[c].size(); at += tile_rows) {
          made_tables_.tables.push_back(static_cast<std::int32_t>(c));
          for (std::size_t row = at; row < at + tile_rows; ++row)
            made_tables_.faces.push_back(classes[c][std::min(row, classes[c].size() - 1)]);
        }
        classes[c].clear();
      }
    }
    made_tables_.view.tiles[k] = static_cast<Lid>(made_tables_.tables.size());
    made_tables_.view.boundary[k] = static_cast<Lid>(made_tables_.at_boundary.size());
  }

  const Operators& made_;
  const IndexMap& map_;
  const Lid interior_faces_;
  const bool viscous_;
  std::vector<Size> traces_, slopes_, turns_{0};  ///< slopes: of the traces
  StraightTables made_tables_;
};

}  // namespace

StraightTables make_straight_tables(const Operators& made, const LocalElementMesh& mesh, const IndexMap& map, int order,
                                    bool viscous) {
  if (map.owned == 0) return {};
  const auto make = [&](const auto tet, const auto hex) -> StraightTables {
    using Tet = std::decay_t<decltype(tet)>;
    using Hex = std::decay_t<decltype(hex)>;
    if (mesh.types[0] == ElementType::tetrahedron) return Maker<Tet>(made, map, mesh.interior_faces, viscous).make();
    if (mesh.types[0] == ElementType::hexahedron) return Maker<Hex>(made, map, mesh.interior_faces, viscous).make();
    return {};
  };
  switch (order) {
    case 1:
      return make(TetSizes<1>(), HexSizes<1>());
    case 2:
      return make(TetSizes<2>(), HexSizes<2>());
    case 3:
      return make(TetSizes<3>(), HexSizes<3>());
    default:
      return {};
  }
}

}  // namespace tutti::compressible
