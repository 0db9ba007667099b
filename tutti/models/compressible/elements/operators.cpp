#include "tutti/models/compressible/elements/operators.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <memory>
#include <optional>
#include <tuple>

#include "tutti/base/error.hpp"
#include "tutti/base/portable_math.hpp"
#include "tutti/mesh/elements/element_tables.hpp"
#include "tutti/models/compressible/elements/line_tables.hpp"
#include "tutti/models/compressible/elements/monomials.hpp"
#include "tutti/models/compressible/elements/side_points.hpp"
#include "tutti/models/compressible/elements/tetrahedron_symmetry.hpp"

namespace tutti::compressible {
namespace {

/// Says where each table goes, element by element and face by face; then all are made at the same time.
class Maker {
 public:
  Maker(const LocalElementMesh& mesh, const IndexMap& map, const OperatorOptions& options, ParallelFor parallel)
      : mesh_(mesh),
        map_(map),
        options_(options),
        parallel_(std::move(parallel)),
        n_(basis_size(options.order)),
        columns_(padded(n_)) {
    require(!(options.apart && options.recomputed), "elements that are recomputed have no tables to keep apart");
  }

  Operators make(const std::function<double*(Size)>& place) {
    for (int q = 0; q < max_face_points; ++q) made_.turns.push_back(static_cast<std::uint8_t>(q));
    const auto rows = static_cast<std::size_t>(map_.local());
    made_.elements.resize(rows);
    made_.metric.assign(9 * rows, 0.0);
    made_.face_of.assign(max_faces * rows, -1);
    shapes_.resize(rows);
    (options_.recomputed ? frames_.resize(rows) : bases_.resize(rows));
    for_ranges(parallel_, map_.local(), [&](Size begin, Size end) {
      for (Size e = begin; e < end; ++e) {
        const auto& shape = shapes_[e].emplace(ElementMap(mesh_.types[e], mesh_.element_nodes(static_cast<Lid>(e))),
                                               options_.order, options_.stored);
        if (shape.affine()) continue;
        if (options_.recomputed)
          frames_[e].emplace(shape.frame());
        else
          bases_[e] = std::make_unique<const ElementBasis>(shape, options_.order);
      }
    });
    for (const auto& shape : shapes_)
      if (auto& affine = affine_bases_[static_cast<std::size_t>(shape->map().type())]; shape->affine() && !affine)
        affine = std::make_unique<const ElementBasis>(*shape, options_.order);
    for (Lid e = 0; e < map_.local(); ++e) place_element(e);
    for (const LocalElementFace& face : mesh_.faces) place_face(face);
    if (!place) made_.own_tables.resize(end_);
    made_.tables = {place ? place(end_) : made_.own_tables.data(), static_cast<std::size_t>(end_)};
    if (made_.lines >= 0) make_line_tables(options_.order, at(made_.lines));
    for_ranges(parallel_, static_cast<Size>(volumes_.size()), [&](Size begin, Size end) {
      for (Size k = begin; k < end; ++k) fill_element(volumes_[k]);
    });
    for_ranges(parallel_, static_cast<Size>(recomputed_.size()), [&](Size begin, Size end) {
      for (Size k = begin; k < end; ++k) fill_matrix(recomputed_[k]);
    });
    for_ranges(parallel_, static_cast<Size>(mesh_.faces.size()), [&](Size begin, Size end) {
      for (Size i = begin; i < end; ++i) fill_face(static_cast<std::size_t>(i));
    });
    made_.projected.assign(3 * static_cast<std::size_t>(map_.owned), 0.0);
    for_ranges(parallel_, map_.owned, [&](Size begin, Size end) {
      for (Size e = begin; e < end; ++e) project_faces(static_cast<Lid>(e));
    });
    if (!options_.apart) return std::move(made_);
    records_ = made_.faces;
    face_of_ = made_.face_of;
    for (Lid e = 0; e < map_.owned; ++e)
      made_.apart.element_width = std::max(made_.apart.element_width, static_cast<int>(row_end(e)));
    for (const FaceRecord& face : records_)
      for (const int side : {0, 1})
        if (in_row(face, side))
          made_.apart.face_width = std::max(made_.apart.face_width, face_row_width(options_, face.points));
    return std::move(made_);
  }

  /// Rows of TablesApart, after make().
  void fill_element_rows(Range elements, std::span<double> rows) const {
    const auto width = rows.size() / static_cast<std::size_t>(elements.size());
    for_ranges(parallel_, elements.size(), [&](Size begin, Size end) {
      for (Size k = begin; k < end; ++k)
        fill_element_row(elements.begin + static_cast<Lid>(k),
                         rows.subspan(static_cast<std::size_t>(k) * width, width));
    });
  }
  void fill_face_rows(Range faces, std::span<double> rows) const {
    const auto width = rows.size() / static_cast<std::size_t>(faces.size());
    for_ranges(parallel_, faces.size(), [&](Size begin, Size end) {
      for (Size k = begin; k < end; ++k)
        fill_face_row(static_cast<std::size_t>(faces.begin) + static_cast<std::size_t>(k),
                      rows.subspan(static_cast<std::size_t>(k) * width, width));
    });
  }

 private:
  /// Of an element that exists and shares nothing.
  bool in_row(const FaceRecord& face, int side) const {
    const Lid e = side == 0 ? face.left : face.right;
    return e >= 0 && !shape(e).affine();
  }

  void fill_element_row(Lid e, std::span<double> row) const {
    const ElementBasis& b = basis(e);
    std::fill(row.begin(), row.end(), 0.0);
    make_volume_tables(b, options_.order, row.data(), row.data() + Size{padded(b.rule().size())} * n_);
    if (b.affine()) return;
    for (int k = 0; k < max_faces; ++k) {
      const std::int32_t code = face_of_[Size{max_faces} * e + k];
      if (code < 0) continue;
      const auto i = static_cast<std::size_t>(code >> 1);
      const int side = code & 1;
      const FaceRecord& record = records_[i];
      const std::vector<Vec3> at = places(*faces_[i].side[side].points, b);
      double* const lift = row.data() + record.lift[side];
      b.basis().values_by_point(at, own_shares(i, b), lift);
      if (options_.limited) b.basis().values_by_function(at, lift + Size{record.points} * columns_, record.points);
    }
  }

  void fill_face_row(std::size_t i, std::span<double> row) const {
    const FaceRecord& record = records_[i];
    std::fill(row.begin(), row.end(), 0.0);
    for (const int side : {0, 1}) {
      if (!in_row(record, side)) continue;
      const ElementBasis& b = basis(side == 0 ? record.left : record.right);
      const std::vector<Vec3> at = places(*faces_[i].side[side].points, b);
      b.basis().values_by_function(at, row.data() + record.trace[side], record.points);
      if (options_.derivatives)
        b.basis().values_by_point(at, own_shares(i, b), row.data() + Size{record.points} * (2 * n_ + side * columns_));
    }
  }

  const ElementShape& shape(Lid e) const { return *shapes_[e]; }
  /// Of an affine element: that of one of its type, whose basis is the same.
  const ElementBasis& basis(Lid e) const {
    return shape(e).affine() ? *affine_bases_[static_cast<std::size_t>(shape(e).map().type())] : *bases_[e];
  }
  bool with_slopes(Lid e) const { return have_slopes(shape(e).map().type(), shape(e).affine(), options_.order); }
  bool factored(Lid e) const { return is_factored(shape(e).map().type(), shape(e).affine(), options_.order); }
  double* at(Size offset) const { return made_.tables.data() + offset; }
  Size take(int rows, int columns) {
    const Size begin = end_;
    end_ += Size{rows} * columns;
    return begin;
  }

  void place_element(Lid e) {
    const ElementShape& b = shape(e);
    ElementRecord& record = made_.elements[e];
    if (!(b.volume() > 0))
      fail(ErrorKind::input,
           "mesh: element {} is inverted or has no volume; use a mesh whose elements have positive volumes",
           map_.global[e]);
    if (!(b.smallest_jacobian() > 0))
      fail(ErrorKind::input,
           "mesh: element {} is folded: its Jacobian determinant is {:g} inside; move its nodes, or make it straight",
           map_.global[e], b.smallest_jacobian());
    if (b.affine() || options_.recomputed) {
      const Size begin = Size{9} * e;
      const auto g = b.affine() ? b.frame().axes : frames_[e]->axes;
      for (int r = 0; r < 3; ++r)
        for (int d = 0; d < 3; ++d) made_.metric[begin + 3 * r + d] = g[r][d];
    }
    if (b.affine()) {
      const auto [found, is_new] = shared_volumes_.try_emplace(b.map().type());
      if (is_new) found->second = place_volume(e, true);
      record = found->second;
    } else if (options_.recomputed) {
      place_matrix(e, b);
    } else {
      record = place_volume(e, e < map_.owned);
      if (e < map_.owned) ++made_.own_volumes;
    }
    record.affine = b.affine() ? 1 : 0;
    if (factored(e)) {
      record.factored = 1;
      if (made_.lines < 0) made_.lines = take(1, hexahedra::Lines::size);
    }
    record.volume = b.volume();
    record.size = portable::pow(b.volume(), 1.0 / 3);
  }

  /// Of an element that is recomputed, in place of tables. Ghosts are not advanced: of them only the matrix is read.
  void place_matrix(Lid e, const ElementShape& b) {
    ElementRecord& record = made_.elements[e];
    record.points = padded(b.rule().size());
    record.matrix = take(2 * n_, columns_);
    if (e < map_.owned) {
      record.places = take(3, record.points);
      record.weights = take(1, record.points);
    }
    recomputed_.push_back(e);
    if (made_.monomials.empty()) made_.monomials = make_monomials(options_.order);
  }
  void fill_matrix(Lid e) {
    const ElementBasis b(shape(e), options_.order);
    const ElementRecord& record = made_.elements[e];
    std::ranges::copy(b.basis().matrices(), at(record.matrix));
    if (record.places < 0) return;
    const MappedRule& mapped = b.mapped();
    double* const weights = std::ranges::copy(mapped.weights, at(record.weights)).out;
    for (double* w = at(record.weights); w != weights; ++w) *w /= b.basis().volume();
    std::fill(weights, at(record.weights) + record.points, 0.0);
    frames_[e]->at(mapped.places.data(), mapped.row(), mapped.row(), at(record.places));
  }

  /// Ghosts are not advanced: of them only derivatives are read.
  ElementRecord place_volume(Lid e, bool all) {
    ElementRecord record;
    record.points = padded(shape(e).rule().size());
    if (options_.apart) {
      record.projection = Size{record.points} * n_;  // of rows
    } else if (all) {
      record.values = take(n_, record.points);
      record.projection = take(3 * record.points, columns_);
    }
    if (all) record.weights = take(1, record.points);
    if (options_.derivatives && with_slopes(e)) {
      record.slopes = take(3 * n_ + 4 * padded(rule_of_face(3, true).size()), record.points);
      for (int f = 0; f < 4; ++f)
        lifts_of_slopes_[static_cast<std::size_t>(f)] = {side_points(shape(e).map(), f, -1, true).reference(),
                                                         shares_of_face(rule_of_face(3, true))};
    }
    if (options_.derivatives && record.slopes < 0) record.derivative = take(n_ * 3, columns_);
    if (all || options_.derivatives) volumes_.push_back({e, record, all});
    return record;
  }

  struct Volume {
    Lid element;
    ElementRecord record;
    bool all;
  };
  void fill_element(const Volume& volume) {
    const ElementBasis& b = basis(volume.element);
    const ElementRecord& record = volume.record;
    if (volume.all) {
      const auto points = b.points();
      std::copy(points.shares.begin(), points.shares.end(), at(record.weights));
    }
    const bool slopes = record.slopes >= 0, derivatives = options_.derivatives && !slopes;
    if (slopes) fill_slopes(b, record);
    // Derivatives take them also where they are kept elsewhere.
    thread_local std::vector<double> elsewhere;
    const bool kept = volume.all && !options_.apart;
    double *values = at(record.values), *projection = at(record.projection);
    if (!kept && derivatives) {
      elsewhere.resize(static_cast<std::size_t>(volume_table_size(record.points, options_.order)));
      values = elsewhere.data();
      projection = values + Size{record.points} * n_;
    }
    if (kept || derivatives) make_volume_tables(b, options_.order, values, projection);
    if (derivatives) make_derivatives(record.points, options_.order, values, projection, at(record.derivative));
  }

  /// Of a tetrahedron. Along its reference normal a face has 3 times the element's volume: face 0 is oblique, its jump
  /// counts in all three directions, face f > 0 looks back along direction f - 1.
  void fill_slopes(const ElementBasis& b, const ElementRecord& record) {
    const std::vector<Vec3> at = b.points().at;
    const std::size_t points = at.size(), columns = static_cast<std::size_t>(columns_);
    const auto bases = static_cast<std::size_t>(n_);
    const std::vector<double> ones(points, 1.0);
    std::vector<double> gradients(3 * points * columns), values(bases * points);
    b.basis().gradients_by_point(at, ones, gradients.data());
    b.basis().values_by_function(at, values.data(), static_cast<int>(points));
    double* to = this->at(record.slopes);
    for (std::size_t l = 0; l < bases; ++l)
      for (std::size_t d = 0; d < 3; ++d)
        for (std::size_t q = 0; q < points; ++q) *to++ = gradients[(d * points + q) * columns + l];
    for (int f = 0; f < 4; ++f) {
      const FaceLift& lift = lifts_of_slopes_[static_cast<std::size_t>(f)];
      std::vector<double> lifted(lift.places.size() * columns);
      b.basis().values_by_point(lift.places, lift.shares, lifted.data());
      for (std::size_t k = 0; k < lift.places.size(); ++k)
        for (std::size_t q = 0; q < points; ++q) {
          double sum = 0;
          for (std::size_t l = 0; l < bases; ++l) sum += lifted[k * columns + l] * values[l * points + q];
          *to++ = (f == 0 ? 3 : -3) * sum;
        }
    }
  }

  /// Points of a tetrahedron's face and their shares of it, as the element itself has them.
  struct FaceLift {
    std::vector<Vec3> places;
    std::vector<double> shares;
  };

  const Quadrature& rule_of_face(int corners, bool flat) {
    const auto [found, is_new] = face_rules_.try_emplace({corners, flat});
    if (is_new) found->second = face_rule(corners, options_.order, flat, options_.stored);
    return found->second;
  }

  /// orientation: -1 for the left side.
  const SidePoints& side_points(const ElementMap& map, int local, int orientation, bool flat) {
    const std::tuple key{map.type(), map.geometry_order(), local, orientation, flat};
    if (const auto found = side_points_.find(key); found != side_points_.end()) return found->second;
    const Quadrature& rule = rule_of_face(face_corner_count(map.type(), local), flat);
    return side_points_.emplace(key, SidePoints(map, local, orientation, rule)).first->second;
  }

  /// What is to be made for a side of a face; the lift may take the points as a left side has them.
  struct SideJob {
    const SidePoints *points = nullptr, *lift_points = nullptr;
    const SidePoints* on_face_0 = nullptr;  ///< of a symmetric basis
    int local = 0;                          ///< number of the face
    bool trace = false, lift = false, slope = false;
  };
  struct FaceJob {
    const Quadrature* rule = nullptr;
    SideJob side[2];
  };

  void place_face(const LocalElementFace& face) {
    const ElementShape& left = shape(face.left);
    const bool flat = left.map().affine() || (face.right >= 0 && shape(face.right).map().affine());
    const int corners = face_corner_count(left.map().type(), face.left_face);
    FaceJob job;
    job.rule = &rule_of_face(corners, flat);
    FaceRecord record;
    record.left = face.left;
    record.right = face.right;
    record.actual = job.rule->size();
    record.points = padded(record.actual);
    record.normals = static_cast<Size>(made_.normals.size());
    record.normal_step = flat ? 0 : 3;
    made_.normals.resize(made_.normals.size() + (flat ? 3 : 3 * static_cast<std::size_t>(record.points)));
    for (int side = 0; side < (face.right < 0 ? 1 : 2); ++side) place_side(record, job, face, side, flat);
    if (face.right < 0) {
      record.tag = face.tag;
      record.boundary = static_cast<Size>(made_.boundary.places.size());
      made_.boundary.places.resize(made_.boundary.places.size() + static_cast<std::size_t>(record.points));
      made_.boundary.areas.resize(made_.boundary.places.size(), 0.0);
      made_.boundary.tags.resize(made_.boundary.places.size(), face.tag);
    }
    const auto number = static_cast<std::int32_t>(made_.faces.size());
    made_.face_of[max_faces * face.left + face.left_face] = 2 * number;
    if (face.right >= 0) made_.face_of[max_faces * face.right + face.right_face] = 2 * number + 1;
    made_.faces.push_back(record);
    faces_.push_back(job);
  }

  /// Where the next table of an element's row is to be.
  Size& row_end(Lid e) {
    if (row_ends_.empty())
      for (Lid r = 0; r < map_.local(); ++r)
        row_ends_.push_back(volume_table_size(padded(shape(r).rule().size()), options_.order));
    return row_ends_[e];
  }

  void place_side(FaceRecord& record, FaceJob& job, const LocalElementFace& face, int side, bool flat) {
    const ElementShape& b = shape(side == 0 ? face.left : face.right);
    const int local = side == 0 ? int{face.left_face} : int{face.right_face},
              orientation = side == 0 ? -1 : static_cast<int>(face.orientation);
    const int points = record.points;
    SideJob& to_make = job.side[side];
    to_make.points = to_make.lift_points = &side_points(b.map(), local, orientation, flat);
    if (!b.affine() && options_.recomputed) {
      record.places[side] = take(3, points);
      if (record.areas < 0) record.areas = take(1, points);
      return;
    }
    if (!b.affine() && options_.apart) {
      Size& end = row_end(side == 0 ? face.left : face.right);
      record.trace[side] = Size{side} * n_ * points;
      record.lift[side] = end;
      end += Size{points} * (columns_ + (options_.limited ? n_ : 0));
      return;
    }
    if (!b.affine()) {
      to_make.trace = to_make.lift = true;
      record.trace[side] = take(n_, points);
      record.lift[side] = take(points, columns_);
      return;
    }
    if (factored(side == 0 ? face.left : face.right)) {
      record.plane[side] = plane_of(local);
      const auto [found, is_new] =
          grids_.try_emplace({local, orientation}, static_cast<std::int32_t>(made_.turns.size()));
      if (is_new) {
        const auto grid = places_in_plane(options_.order, local, to_make.points->reference());
        made_.turns.insert(made_.turns.end(), grid.begin(), grid.end());
      }
      record.grid[side] = found->second;
    }
    const int turn = side == 0 ? 0 : turn_of(*job.rule, face_corner_count(b.map().type(), local), orientation);
    record.turn = std::max(turn, 0);
    if (turn >= 0) to_make.lift_points = &side_points(b.map(), local, -1, flat);
    if (has_symmetric_basis(b.map().type(), options_.order)) to_make.on_face_0 = &side_points(b.map(), 0, -1, flat);
    to_make.local = local;
    const auto shared = [&](auto& tables, int as, int rows, int columns, bool& is_new) {
      const auto [found, added] = tables.try_emplace({b.map().type(), local, as});
      if (added) found->second = take(rows, columns);
      is_new = added;
      return found->second;
    };
    record.trace[side] = shared(traces_, orientation, n_, points, to_make.trace);
    record.lift[side] = shared(lifts_, turn < 0 ? orientation : -1, points, columns_, to_make.lift);
    if (options_.derivatives) record.slope[side] = shared(slopes_, orientation, 3 * n_ + points, points, to_make.slope);
  }

  /// Of turns: how the right side takes the points of the rule. -1: it has an order of its own.
  std::int32_t turn_of(const Quadrature& rule, int corners, int orientation) {
    const auto [at, is_new] = turns_.try_emplace({corners, rule.size(), orientation}, -1);
    if (!is_new) return at->second;
    const auto turned = turned_points(rule, corners, orientation);
    if (turned.empty()) return -1;
    at->second = static_cast<std::int32_t>(made_.turns.size());
    for (int q = 0; q < max_face_points; ++q)
      made_.turns.push_back(q < rule.size() ? turned[q] : static_cast<std::uint8_t>(q));
    return at->second;
  }

  void fill_face(std::size_t i) {
    const FaceJob& job = faces_[i];
    FaceRecord& record = made_.faces[i];
    const std::vector<double> areas = areas_of_face(i, [&](int q, Vec3 place, Vec3 area, double size) {
      if (record.boundary >= 0) made_.boundary.places[record.boundary + q] = place;
      if (record.normal_step == 0 && q > 0) return;
      for (int d = 0; d < 3; ++d) made_.normals[record.normals + 3 * q + d] = area[d] / size;
    });
    double total = 0;
    for (const double area : areas) total += area;
    for (const int side : {0, 1}) {
      if (job.side[side].points == nullptr) continue;
      const Lid e = side == 0 ? record.left : record.right;
      const ElementShape& b = shape(e);
      if (b.affine()) record.scale[side] = total / b.volume();
      if (record.places[side] < 0) {
        fill_side(record, job, side, basis(e), areas);
        continue;
      }
      record.scale[side] = 1 / b.volume();
      std::copy(areas.begin(), areas.end(), at(record.areas));
      const auto points = static_cast<std::size_t>(record.points);
      double* const to = at(record.places[side]);
      job.side[side].points->map_places(b.map(), to);
      frames_[e]->at(to, points, points, to);
    }
    if (record.boundary < 0) return;
    const ElementShape& left = shape(record.left);
    const std::vector<double> shares = shares_of_side(job, left, areas);
    for (std::size_t q = 0; q < shares.size(); ++q)
      made_.boundary.areas[record.boundary + q] = left.volume() * (left.affine() ? record.scale[0] : 1) * shares[q];
  }

  /// Weights times ratios of areas; padding weighs nothing. each(q, p, area, its size) is called for all points.
  template <class Each>
  std::vector<double> areas_of_face(std::size_t i, const Each& each) const {
    const FaceJob& job = faces_[i];
    const auto points = job.side[0].points->points(shape(mesh_.faces[i].left).map());
    std::vector<double> areas(points.size(), 0.0);
    for (std::size_t q = 0; q < points.size(); ++q) {
      const double size = norm(points[q].area);
      if (q < job.rule->weights.size()) areas[q] = job.rule->weights[q] * size;
      each(static_cast<int>(q), points[q].place, points[q].area, size);
    }
    return areas;
  }
  /// What points weigh in a lift: the first column of its table, as phi_0 = 1.
  static std::vector<double> shares_of_side(const FaceJob& job, const ElementShape& b, std::vector<double> areas) {
    if (b.affine()) return shares_of_face(*job.rule);
    for (double& area : areas) area /= b.volume();
    return areas;
  }
  std::vector<double> own_shares(std::size_t i, const ElementShape& b) const {
    if (const FaceRecord& face = records_.empty() ? made_.faces[i] : records_[i]; face.areas >= 0)
      return shares_of_side(faces_[i], b, {at(face.areas), at(face.areas) + face.points});
    return shares_of_side(faces_[i], b, areas_of_face(i, [](int, Vec3, Vec3, double) {}));
  }

  /// V_d: half the sum of the faces' areas as seen along x, y and z. Every face of an owned element is here.
  void project_faces(Lid e) {
    const ElementShape& b = shape(e);
    for (int k = 0; k < max_faces; ++k) {
      const std::int32_t code = made_.face_of[Size{max_faces} * e + k];
      if (code < 0) continue;
      const auto i = static_cast<std::size_t>(code >> 1);
      const FaceRecord& face = made_.faces[i];
      const std::vector<double> shares = b.affine() ? shares_of_face(*faces_[i].rule) : own_shares(i, b);
      for (int q = 0; q < face.actual; ++q) {
        const double area = b.volume() * (b.affine() ? face.scale[code & 1] : 1) * shares[q];
        const double* normal = made_.normals.data() + face.normals + static_cast<Size>(face.normal_step) * q;
        for (int d = 0; d < 3; ++d) made_.projected[Size{3} * e + d] += 0.5 * area * std::abs(normal[d]);
      }
    }
  }

  static std::vector<Vec3> places(const SidePoints& points, const ElementShape& b) {
    return b.affine() ? points.reference() : points.places(b.map());
  }

  void fill_side(const FaceRecord& record, const FaceJob& job, int side, const ElementBasis& b,
                 const std::vector<double>& areas) {
    const SideJob& to_make = job.side[side];
    if (!to_make.trace && !to_make.lift && !to_make.slope) return;
    const std::vector<double> shares = shares_of_side(job, b, areas);
    std::vector<Vec3> here = places(*to_make.points, b);
    if (to_make.lift_points != to_make.points) {
      // The places that the lift takes, to the bit, so that tensor cores need tables of them only.
      const std::vector<Vec3> own = places(*to_make.lift_points, b);
      const std::uint8_t* turned = made_.turns.data() + record.turn;
      for (std::int32_t q = 0; q < record.actual; ++q) here[turned[q]] = own[q];
      for (std::size_t q = static_cast<std::size_t>(record.actual); q < here.size(); ++q) here[q] = here[0];
    }
    if (to_make.trace && to_make.on_face_0 != nullptr)
      make_symmetric_trace(b.basis(), to_make.local, to_make.on_face_0->reference(), here, at(record.trace[side]));
    else if (to_make.trace)
      b.basis().values_by_function(here, at(record.trace[side]), record.points);
    if (to_make.lift) b.basis().values_by_point(places(*to_make.lift_points, b), shares, at(record.lift[side]));
    if (to_make.slope) fill_slope(b.basis(), here, shares, at(record.slope[side]));
  }

  /// And behind it the spread.
  void fill_slope(const Basis& basis, std::span<const Vec3> places, std::span<const double> shares, double* to) const {
    const std::size_t points = places.size(), columns = static_cast<std::size_t>(columns_);
    const auto bases = static_cast<std::size_t>(n_);
    std::vector<double> gradients(3 * points * columns), values(points * columns);
    const std::vector<double> ones(points, 1.0);
    basis.gradients_by_point(places, ones, gradients.data());
    basis.values_by_point(places, ones, values.data());
    for (std::size_t l = 0; l < bases; ++l)
      for (std::size_t d = 0; d < 3; ++d)
        for (std::size_t q = 0; q < points; ++q) *to++ = gradients[(d * points + q) * columns + l];
    for (std::size_t k = 0; k < points; ++k)
      for (std::size_t q = 0; q < points; ++q) {
        double sum = 0;
        for (std::size_t l = 0; l < bases; ++l) sum += shares[k] * values[k * columns + l] * values[q * columns + l];
        *to++ = sum;
      }
  }

  const LocalElementMesh& mesh_;
  const IndexMap& map_;
  const OperatorOptions options_;
  const ParallelFor parallel_;
  const int n_, columns_;
  Size end_ = 0;  ///< of the tables
  std::vector<std::optional<ElementShape>> shapes_;
  std::vector<std::unique_ptr<const ElementBasis>> bases_;           ///< of those that have tables of their own
  std::array<std::unique_ptr<const ElementBasis>, 4> affine_bases_;  ///< by type
  std::vector<std::optional<LocalFrame>> frames_;                    ///< of those that are recomputed
  std::vector<Volume> volumes_;
  std::vector<Lid> recomputed_;
  std::vector<FaceJob> faces_;
  std::map<ElementType, ElementRecord> shared_volumes_;
  std::array<FaceLift, 4> lifts_of_slopes_;
  std::map<std::tuple<ElementType, int, int>, Size> traces_, lifts_, slopes_;  ///< of affine elements
  std::map<std::tuple<int, int, int>, std::int32_t> turns_;
  std::map<std::pair<int, int>, std::int32_t> grids_;  ///< of factored elements
  std::map<std::tuple<ElementType, int, int, int, bool>, SidePoints> side_points_;
  std::map<std::pair<int, bool>, Quadrature> face_rules_;
  std::vector<Size> row_ends_;       ///< of elements; empty: no side has a table in a row
  std::vector<FaceRecord> records_;  ///< those of made_, for rows
  std::vector<std::int32_t> face_of_;
  Operators made_;
};

}  // namespace

int face_row_width(const OperatorOptions& options, int points) {
  const int n = basis_size(options.order);
  return 2 * points * (n + (options.derivatives ? padded(n) : 0));
}

Operators make_operators(const LocalElementMesh& mesh, const IndexMap& map, const OperatorOptions& options,
                         const ParallelFor& parallel, const std::function<double*(Size)>& place) {
  const auto maker = std::make_shared<Maker>(mesh, map, options, parallel);
  Operators made = maker->make(place);
  if (made.apart.element_width > 0) {
    made.apart.fill_elements = [maker](Range elements, std::span<double> rows) {
      if (!elements.empty()) maker->fill_element_rows(elements, rows);
    };
    made.apart.fill_faces = [maker](Range faces, std::span<double> rows) {
      if (!faces.empty()) maker->fill_face_rows(faces, rows);
    };
  }
  return made;
}

}  // namespace tutti::compressible
