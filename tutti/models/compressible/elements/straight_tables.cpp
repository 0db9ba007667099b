#include "tutti/models/compressible/elements/straight_tables.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <tuple>
#include <utility>

#include "tutti/models/compressible/elements/tetrahedron_symmetry.hpp"

namespace tutti::compressible {
namespace {

/// Faces are sorted by their tables among so many neighbours: large enough to fill tiles, small enough for caches; on a
/// CPU for the states of their elements and all that is read with them in its second, and so that a part has enough
/// blocks for all threads, but not too many.
Lid sorted_together(int bases, Lid faces, bool on_gpu) {
  constexpr Lid most = 16384, fewest = 256, of_states = 1 << 17, most_blocks = 1024;
  if (on_gpu) return most;
  return std::max(std::clamp(2 * of_states / (variables * bases * Lid{sizeof(double)}), fewest, most),
                  faces / most_blocks);
}

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

/// What all kernels take: which faces have the same tables, and what an element's sides are.
class Sorter {
 public:
  Sorter(const Operators& made, const IndexMap& map, int faces_each, int order, bool viscous, bool on_gpu)
      : made_(made),
        map_(map),
        faces_each_(static_cast<std::size_t>(faces_each)),
        viscous_(viscous),
        on_gpu_(on_gpu),
        together_(sorted_together(basis_size(order), static_cast<Lid>(made.faces.size()), on_gpu)) {
    tables_.view.order = order;
    tables_.view.faces_each = faces_each;
    tables_.view.viscous = viscous;
  }

  /// False: elements or sides do not share their tables, or their basis is not symmetric where it should be.
  bool sort(Lid interior_faces) {
    if (map_.owned == 0 || made_.faces.empty() || !elements_alike() || !add_faces() || !add_sides()) return false;
    tables_.view.fused =
        on_gpu_ && !viscous_ && faces_each_ == 4 && has_symmetric_basis(ElementType::tetrahedron, tables_.view.order);
    if (tables_.view.fused && !add_beyond()) return false;
    const auto count = static_cast<Lid>(made_.faces.size());
    add_tiles({0, interior_faces}, interior_inner, interior_boundary);
    add_tiles({interior_faces, count}, separator_inner, separator_boundary);
    if (!on_gpu_) {
      add_blocks(interior_faces);
      add_products();
    }
    return true;
  }

  StraightTables& tables() { return tables_; }

  /// Tables of all sides that have the same lift.
  struct Side {
    Size lift = 0, trace = 0, slope = 0;
    int turn = 0;  ///< trace and slope are those of a face whose points are turned so
  };
  const std::vector<Side>& sides() const { return sides_; }

  /// Of a local face: the trace in its own order of the points, [l][q].
  std::vector<double> own_trace(Size lift) const {
    const auto side = std::find_if(sides_.begin(), sides_.end(), [&](const Side& s) { return s.lift == lift; });
    const int n = tables_.view.face_points;
    std::vector<double> own;
    for (int l = 0; l < basis_size(tables_.view.order); ++l)
      for (int q = 0; q < tables_.view.actual_points; ++q)
        own.push_back(made_.tables[side->trace + Size{n} * l + tables_.view.turns[tile_rows * side->turn + q]]);
    return own;
  }

 private:
  bool elements_alike() const {
    const ElementRecord& first = made_.elements[0];
    if (first.points > most_chunks * chunk_points) return false;
    return std::all_of(made_.elements.begin(), made_.elements.end(), [&](const ElementRecord& e) {
      return e.affine != 0 && e.factored == 0 && e.values == first.values && e.points == first.points &&
             (!viscous_ || (e.derivative == first.derivative && e.slopes == first.slopes));
    });
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
    const FaceRecord& first = made_.faces[0];
    const int n = first.points;
    if (n > tile_rows) return false;
    for (const FaceRecord& face : made_.faces) {
      const auto i = static_cast<Size>(&face - made_.faces.data());
      if (face.points != n || face.actual != first.actual || face.normal_step != 0 || face.normals != 3 * i)
        return false;
      for (int side = 0; side < (face.right < 0 ? 1 : 2); ++side)
        if (!add_side(face, side)) return false;
    }
    if (turns_.size() > max_turns || sides_.size() > max_faces ||
        made_.faces.size() > static_cast<std::size_t>(std::numeric_limits<std::int32_t>::max() / max_turns))
      return false;
    tables_.view.face_points = n;
    tables_.view.actual_points = first.actual;
    for (std::size_t k = 0; k < turns_.size(); ++k) {
      std::uint8_t *turns = tables_.view.turns + tile_rows * k, *own = tables_.view.own + tile_rows * k;
      for (std::size_t q = 0; q < tile_rows; ++q) turns[q] = made_.turns[turns_[k] + static_cast<Size>(q)];
      for (int q = 0; q < first.actual; ++q) own[turns[q]] = static_cast<std::uint8_t>(q);
      std::fill(own + first.actual, own + tile_rows, own[0]);
    }
    return true;
  }

  /// False: sides that share a trace do not share their slopes, table or turn.
  bool add_side(const FaceRecord& face, int side) {
    const auto k = static_cast<std::size_t>(number_of(traces_, face.trace[side]));
    const int turn = side == 0 ? 0 : number_of(turns_, face.turn);
    const auto found =
        std::find_if(sides_.begin(), sides_.end(), [&](const Side& s) { return s.lift == face.lift[side]; });
    const auto table = static_cast<int>(found - sides_.begin());
    if (found == sides_.end()) sides_.push_back({face.lift[side], face.trace[side], face.slope[side], turn});
    if (k == places_.size()) places_.push_back({face.slope[side], table, turn});
    return (!viscous_ || (face.slope[side] >= 0 && places_[k].slope == face.slope[side])) &&
           places_[k].table == table && places_[k].turn == turn;
  }

  bool add_sides() {
    auto& lifts = tables_.view.lifts;
    lifts.fill(-1);
    for (Lid e = 0; e < map_.owned; ++e)
      for (std::size_t k = 0; k < max_faces; ++k) {
        const std::int32_t code = made_.face_of[static_cast<std::size_t>(max_faces) * e + k];
        if ((code >= 0) != (k < faces_each_)) return false;
        if (code < 0) continue;
        const FaceRecord& face = made_.faces[code >> 1];
        const int side = code & 1;
        if (lifts[k] >= 0 && lifts[k] != face.lift[side]) return false;
        lifts[k] = face.lift[side];
        tables_.sides.push_back(max_turns * (code >> 1) + (side == 0 ? 0 : number_of(turns_, face.turn)));
        tables_.scales.push_back(side == 0 ? -face.scale[0] : face.scale[1]);
      }
    return true;
  }

  /// Of tetrahedra with a symmetric basis: point own[f][q] of face 0 is point q of face f. False: they have none.
  bool find_symmetry(std::array<std::vector<int>, 4>& own) const {
    const int order = tables_.view.order, actual = tables_.view.actual_points;
    if (actual != fused_points * order) return false;
    const std::vector<double> first = own_trace(tables_.view.lifts[0]);
    for (std::size_t f = 0; f < own.size(); ++f) {
      const std::vector<double> trace = own_trace(tables_.view.lifts[f]);
      const unsigned odd = odd_under_half_turn(static_cast<int>(f));
      for (int q = 0; q < actual; ++q) {
        const auto same = [&](int k) {
          for (int l = 0; l < basis_size(order); ++l)
            if (trace[actual * l + q] != ((odd >> l & 1U) != 0 ? -1 : 1) * first[actual * l + k]) return false;
          return true;
        };
        int k = 0;
        while (k < actual && !same(k)) ++k;
        if (k == actual) return false;
        own[f].push_back(k);
      }
    }
    return true;
  }

  /// What is beyond each side. False: the basis is not symmetric, or there is too much.
  bool add_beyond() {
    std::array<std::vector<int>, 4> on_face_0;
    if (map_.local() > Beyond::most_rows || !find_symmetry(on_face_0)) return false;
    std::map<std::tuple<int, int, int>, int> found;  // of a side, a turn and a face beyond
    std::vector<std::array<int, Reflections::steps>> reflections;
    // c of point q of an own side, which goes with point k of face 0.
    const auto reflection = [](int q, int k) { return (q + k) % fused_points; };
    for (Lid e = 0; e < map_.owned; ++e)
      for (std::size_t k = 0; k < faces_each_; ++k) {
        const std::int32_t code = made_.face_of[static_cast<std::size_t>(max_faces) * e + k];
        const FaceRecord& face = made_.faces[code >> 1];
        const int side = code & 1;
        if (face.right < 0) {
          tables_.beyond.push_back(Beyond::none);
          continue;
        }
        Beyond beyond{side == 0 ? face.right : face.left};
        const std::int32_t* sides = made_.face_of.data() + static_cast<std::size_t>(max_faces) * beyond.row;
        beyond.face = static_cast<int>(std::find(sides, sides + faces_each_, code ^ 1) - sides);
        if (beyond.face == static_cast<int>(faces_each_)) return false;
        const int turn = number_of(turns_, face.turn);
        const auto [at, is_new] = found.try_emplace({side, turn, beyond.face}, 0);
        if (is_new) {
          const std::uint8_t* there = (side == 0 ? tables_.view.own : tables_.view.turns) + tile_rows * turn;
          const std::vector<int>& place = on_face_0[static_cast<std::size_t>(beyond.face)];
          std::array<int, Reflections::steps> of_steps{};
          for (int q = 0; q < tables_.view.actual_points; ++q) {
            const int goes_with = place[there[q]], step = q / fused_points;
            int& c = of_steps[static_cast<std::size_t>(step)];
            if (q % fused_points == 0) c = reflection(q, goes_with);
            if (goes_with / fused_points != step || c != reflection(q, goes_with)) return false;
          }
          const auto same = std::find(reflections.begin(), reflections.end(), of_steps);
          at->second = static_cast<int>(same - reflections.begin());
          if (same == reflections.end()) reflections.push_back(of_steps);
        }
        beyond.match = at->second;
        tables_.beyond.push_back(beyond.code());
      }
    if (reflections.size() > Reflections::matches) return false;
    for (std::size_t match = 0; match < reflections.size(); ++match)
      for (std::size_t step = 0; step < Reflections::steps; ++step)
        tables_.view.reflections.set(static_cast<int>(match), static_cast<int>(step), reflections[match][step]);
    return true;
  }

  void add_tiles(Range faces, FaceSet inner, FaceSet boundary) {
    std::map<std::pair<int, int>, std::vector<StraightFace>> classes;  // by the traces of both sides
    std::vector<StraightFace> at_boundary;
    for (Lid begin = faces.begin; begin < faces.end; begin += together_) {
      for (Lid i = begin; i < std::min(faces.end, begin + together_); ++i) {
        const FaceRecord& face = made_.faces[i];
        if (tables_.view.fused && face.right >= 0) continue;
        auto& to = face.right < 0 ? at_boundary
                                  : classes[{number_of(traces_, face.trace[1]), number_of(traces_, face.trace[0])}];
        to.push_back({i, face.left, face.right});
      }
      for (auto& [traces, members] : classes) {
        const Place &left = places_[static_cast<std::size_t>(traces.second)],
                    &right = places_[static_cast<std::size_t>(traces.first)];
        const SideClasses on_cpu{traces.second, traces.first};
        add_class(members, on_gpu_ ? TileSides{left.table, right.table, right.turn}.code() : on_cpu.code());
        members.clear();
      }
      if (inner == interior_inner) ends_of_blocks_.push_back(static_cast<Lid>(tables_.tables.size()));
    }
    auto& ends = tables_.view.ends;
    ends[inner + 1] = static_cast<Lid>(tables_.tables.size());
    add_class(at_boundary, 0);
    ends[boundary + 1] = static_cast<Lid>(tables_.tables.size());
  }
  /// Faces inside are in the order of their first element, so that all faces of elements before the first one of the
  /// next block are in this block or in earlier ones.
  void add_blocks(Lid interior_faces) {
    const auto count = static_cast<Lid>(ends_of_blocks_.size());
    for (Lid b = 0; b < count; ++b) {
      const auto first_row = [&](Lid block) {
        if (block == 0) return Lid{0};
        if (block == count) return map_.interior;
        const FaceRecord& face = made_.faces[block * together_];
        return face.right < 0 ? face.left : std::min(face.left, face.right);
      };
      StraightBlock block{
          {b == 0 ? 0 : ends_of_blocks_[b - 1], ends_of_blocks_[b]}, {first_row(b), first_row(b + 1)}, {b}};
      for (Size k = Size{max_faces} * block.rows.begin; k < Size{max_faces} * block.rows.end; ++k) {
        const std::int32_t face = made_.face_of[k] < 0 ? interior_faces : made_.face_of[k] >> 1;
        if (face >= interior_faces) continue;
        const int of = face / together_;
        if (std::find(block.after.begin(), block.after.end(), of) == block.after.end()) block.after.push_back(of);
      }
      tables_.blocks.push_back(std::move(block));
    }
  }

  void add_class(const std::vector<StraightFace>& members, std::int32_t tables) {
    for (std::size_t at = 0; at < members.size(); at += tile_rows) {
      tables_.tables.push_back(tables);
      for (std::size_t row = at; row < at + tile_rows; ++row)
        tables_.faces.push_back(members[std::min(row, members.size() - 1)]);
      if (on_gpu_ || !viscous_) continue;
      for (std::size_t side = 0; side < 2; ++side)
        for (std::size_t row = tables_.faces.size() - tile_rows; row < tables_.faces.size(); ++row)
          tables_.face_scales.push_back(made_.faces[tables_.faces[row].face].scale[side]);
    }
  }

  /// What lanes multiply by.
  void add_products() {
    const ElementRecord& first = made_.elements[0];
    const double* const tables = made_.tables.data();
    const double* const weights = tables + first.weights;
    const int bases = basis_size(tables_.view.order), columns = padded(bases), n = tables_.view.face_points,
              actual = tables_.view.actual_points;
    int points = first.points;
    while (points > 1 && weights[points - 1] == 0) --points;  // padding
    tables_.view.points = points;
    // Of rows that follow one another, `stride` apart for each k.
    const auto add = [&](const double* table, int stride, int terms, int rows, bool added = false) {
      return tables_.products.add(
          rows, terms, [=](int k, int row) { return table[Size{stride} * k + row]; }, [](int k) { return k; }, added);
    };
    ElementProducts& element = tables_.element_products;
    for (int begin = 0, chunk = 0; begin < points; begin += chunk_points, ++chunk) {
      const int count = std::min(chunk_points, points - begin), stored = std::min(chunk_points, first.points - begin);
      element.values[chunk] = add(tables + first.values + begin, first.points, bases, count);
      // The first comes with the lifts, which go before it.
      const double* const projection = tables + first.projection + Size{3} * begin * columns;
      const int from_sides = chunk == 0 ? static_cast<int>(faces_each_) * n : 0, of_sides = max_faces * n;
      element.projection[chunk] = tables_.products.add(
          bases, from_sides + 3 * stored,
          [&](int k, int l) {
            return k < from_sides ? tables[tables_.view.lifts[static_cast<std::size_t>(k / n)] + k % n * columns + l]
                                  : projection[(k - from_sides) * columns + l];
          },
          [&](int k) { return k < from_sides ? k : of_sides + k - from_sides; }, true);
      if (!viscous_ || first.slopes < 0) continue;
      const double *slopes = tables + first.slopes + begin, *spread = slopes + Size{3} * bases * first.points;
      element.oblique[chunk] = add(spread, first.points, n, count);
      for (int d = 0; d < 3; ++d) {
        element.spread[d][chunk] = add(spread + Size{d + 1} * n * first.points, first.points, n, count, true);
        element.slopes[d][chunk] = add(slopes + Size{d} * first.points, 3 * first.points, bases, count, true);
      }
    }
    for (std::size_t k = 0; viscous_ && first.slopes < 0 && k < faces_each_; ++k)
      element.lift[k] = add(tables + tables_.view.lifts[k], columns, n, bases);
    for (int d = 0; viscous_ && first.slopes < 0 && d < 3; ++d)
      element.derivative[d] = add(tables + first.derivative + d * columns, 3 * columns, bases, bases);
    for (std::size_t k = 0; k < traces_.size(); ++k) {
      SideProducts side;
      side.trace = add(tables + traces_[k], n, bases, actual);
      const double* slopes = tables + places_[k].slope;
      for (int d = 0; viscous_ && d < 3; ++d) side.slope[d] = add(slopes + Size{d} * n, 3 * n, bases, actual);
      if (viscous_) side.spread = add(slopes + Size{3} * n * bases, n, n, actual);
      tables_.side_products.push_back(side);
    }
  }

  const Operators& made_;
  const IndexMap& map_;
  const std::size_t faces_each_;
  const bool viscous_, on_gpu_;
  const Lid together_;
  std::vector<Lid> ends_of_blocks_;  ///< tiles of faces inside
  /// Of a trace.
  struct Place {
    Size slope = 0;
    int table = 0, turn = 0;
  };
  std::vector<Size> traces_, turns_{0};
  std::vector<Place> places_;  ///< of the traces
  std::vector<Side> sides_;
  StraightTables tables_;
};

/// Tables for tensor cores.
template <class Sizes>
class Fragments {
 public:
  Fragments(const Operators& made, bool viscous) : made_(made), viscous_(viscous) {}

  /// False: the rules are not those that the kernels were made for.
  bool add_to(Sorter& sorted) const {
    StraightTables& tables = sorted.tables();
    if (made_.elements[0].points != Sizes::points || tables.view.face_points != Sizes::face_points) return false;
    add_volume(tables.element_fragments);
    if (tables.view.fused) return add_fused(sorted), true;
    add_lifts(tables.element_fragments, tables.view.lifts);
    if (viscous_ && Sizes::slopes)
      add_slopes_at_points(tables.element_fragments);
    else if (viscous_)
      add_derivatives(tables.element_fragments);
    for (const Sorter::Side& side : sorted.sides()) {
      // Padding, which weighs nothing, repeats the first of the side's own points.
      std::uint8_t turned[tile_rows];
      std::copy_n(tables.view.turns + tile_rows * side.turn, tile_rows, turned);
      std::fill(turned + made_.faces[0].actual, turned + tile_rows, turned[0]);
      add_trace(tables.trace_fragments, table(side.trace), turned);
      if (viscous_) add_slopes(tables.trace_fragments, table(side.trace), table(side.slope), turned);
    }
    tables.view.traces = static_cast<int>(sorted.sides().size());
    return true;
  }

 private:
  static constexpr int columns = padded(Sizes::bases);
  const double* table(Size at) const { return made_.tables.data() + at; }
  /// The basis function of a column. Coefficients of gradients are rows of the next product, as points are.
  int base_of(int tile, int column) const {
    return viscous_ && !Sizes::slopes ? point_of(tile, column) : 8 * tile + column;
  }

  void add_volume(std::vector<double>& fragments) const {
    const ElementRecord& first = made_.elements[0];
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
  }

  void add_lifts(std::vector<double>& fragments, const std::array<Size, max_faces>& lifts) const {
    for (std::size_t k = 0; k < Sizes::faces; ++k)
      add_fragments(fragments, Sizes::face_steps, Sizes::base_tiles, [&](int q, int tile, int column) {
        const int l = base_of(tile, column);
        return l < columns ? table(lifts[k])[q * columns + l] : 0;
      });
  }

  /// Lifts and traces of elements that compute the fluxes at their faces.
  void add_fused(Sorter& sorted) const {
    StraightTables& tables = sorted.tables();
    std::vector<double>& fragments = tables.element_fragments;
    for (std::size_t f = 0; f < Sizes::faces; ++f)
      add_fragments(fragments, Sizes::face_steps, Sizes::base_tiles, [&](int row, int tile, int column) {
        const int q = fused_points * (row / 4) + row % 4, l = base_of(tile, column);
        return row % 4 < fused_points && l < columns ? table(tables.view.lifts[f])[q * columns + l] : 0;
      });
    for (std::size_t f = 0; f < Sizes::faces; ++f) {
      const std::vector<double> trace = sorted.own_trace(tables.view.lifts[f]);
      add_fragments(fragments, Sizes::base_steps, 1, [&](int l, int, int column) {
        const int step = column % 2, t = column / 2;
        const int q = step < Sizes::face_steps && t < fused_points ? fused_points * step + t : 0;
        return l < Sizes::bases ? trace[tables.view.actual_points * l + q] : 0;
      });
    }
  }

  /// Of the volume's points: slopes, then what the jump at each face adds to them.
  void add_slopes_at_points(std::vector<double>& fragments) const {
    const double* slopes = table(made_.elements[0].slopes);
    const double* jumps = slopes + 3 * Sizes::bases * Sizes::points;
    const auto point = [](int tile, int column) {
      const int q = point_of(tile, column);
      return q < Sizes::points ? q : 0;
    };
    for (int step = 0; step < Sizes::base_steps; ++step)
      for (int d = 0; d < 3; ++d)
        add_fragments(fragments, 1, Sizes::point_tiles, [&](int row, int tile, int column) {
          const int l = 4 * step + row;
          return l < Sizes::bases ? slopes[(3 * l + d) * Sizes::points + point(tile, column)] : 0;
        });
    for (int f = 0; f < Sizes::faces; ++f)
      add_fragments(fragments, Sizes::face_steps, Sizes::point_tiles, [&](int k, int tile, int column) {
        return jumps[(f * Sizes::face_points + k) * Sizes::points + point(tile, column)];
      });
  }

  void add_derivatives(std::vector<double>& fragments) const {
    const double* derivative = table(made_.elements[0].derivative);
    for (int step = 0; step < Sizes::base_steps; ++step)
      for (int d = 0; d < 3; ++d)
        add_fragments(fragments, 1, Sizes::base_tiles, [&](int row, int tile, int column) {
          const int m = 4 * step + row, l = base_of(tile, column);
          return m < Sizes::bases && l < columns ? derivative[(3 * m + d) * columns + l] : 0;
        });
  }

  /// In the side's own order of the points: which `turned` ones of the table they are.
  static void add_trace(std::vector<double>& fragments, const double* trace, const std::uint8_t* turned) {
    add_fragments(fragments, Sizes::base_steps, Sizes::face_tiles, [&](int l, int tile, int column) {
      const int q = point_of(tile, column), n = Sizes::face_points;
      return l < Sizes::bases ? trace[l * n + turned[q < n ? q : 0]] : 0;
    });
  }

  /// A step's four points in two tiles: the trace beside the first derivative, the second beside the third; then the
  /// spread beside nothing. A thread has all of a point.
  void add_slopes(std::vector<double>& fragments, const double* trace, const double* slope,
                  const std::uint8_t* turned) const {
    constexpr int n = Sizes::face_points;
    const int actual = made_.faces[0].actual;
    for (int step = 0; step < Sizes::face_steps; ++step)
      add_fragments(fragments, Sizes::base_steps, 2, [&](int l, int tile, int column) {
        const int q = turned[4 * step + column / 2], d = 2 * tile + column % 2 - 1;
        if (l >= Sizes::bases) return 0.0;
        return d < 0 ? trace[l * n + q] : slope[(3 * l + d) * n + q];
      });
    const double* spread = slope + 3 * n * Sizes::bases;
    for (int step = 0; step < Sizes::face_steps; ++step)
      add_fragments(fragments, Sizes::face_steps, 1, [&](int k, int, int column) {
        if (column % 2 != 0 || k >= actual) return 0.0;
        return spread[turned[k] * n + turned[4 * step + column / 2]];
      });
  }

  const Operators& made_;
  const bool viscous_;
};

/// False: tensor cores have no kernels for these elements.
bool add_fragments_of(ElementType type, int order, const Operators& made, bool viscous, Sorter& sorted) {
  const auto add = [&](const auto tet, const auto hex) {
    return type == ElementType::tetrahedron ? Fragments<std::decay_t<decltype(tet)>>(made, viscous).add_to(sorted)
                                            : Fragments<std::decay_t<decltype(hex)>>(made, viscous).add_to(sorted);
  };
  switch (order) {
    case 1:
      return add(TetSizes<1>(), HexSizes<1>());
    case 2:
      return add(TetSizes<2>(), HexSizes<2>());
    case 3:
      return add(TetSizes<3>(), HexSizes<3>());
    default:
      return false;
  }
}

}  // namespace

StraightTables make_straight_tables(const Operators& made, const LocalElementMesh& mesh, const IndexMap& map, int order,
                                    bool viscous, DeviceKind device) {
  if (map.owned == 0) return {};
  const ElementType type = mesh.types[0];
  const bool tetrahedra = type == ElementType::tetrahedron, on_gpu = device == DeviceKind::cuda;
  if (!tetrahedra && type != ElementType::hexahedron) return {};
  if (order < lowest_tuned_order || order > highest_tuned_order || (!on_gpu && lane_count == 1)) return {};
  Sorter sorter(made, map, tetrahedra ? 4 : 6, order, viscous, on_gpu);
  if (!sorter.sort(mesh.interior_faces)) return {};
  if (on_gpu && !add_fragments_of(type, order, made, viscous, sorter)) return {};
  return std::move(sorter.tables());
}

}  // namespace tutti::compressible
