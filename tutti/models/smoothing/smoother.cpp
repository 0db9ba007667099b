#include "tutti/models/smoothing/smoother.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>

#include "tutti/base/error.hpp"
#include "tutti/base/mpi/over_ranks.hpp"
#include "tutti/base/units.hpp"
#include "tutti/mesh/quality/mesh_quality.hpp"

namespace tutti::smoothing {
namespace {

std::vector<std::int32_t> levels_of(const TetMesh& mesh, const Adjacency& cells_of, const NodeFreedom& freedom,
                                    bool simultaneous) {
  std::vector<bool> moves(mesh.vertices.size());
  for (std::size_t v = 0; v < moves.size(); ++v)
    moves[v] = freedom.of_node[v] != NodeFreedom::fixed && !cells_of.row(static_cast<Gid>(v)).empty();
  if (!simultaneous) return colour_nodes(mesh, cells_of, moves);
  std::vector<std::int32_t> one(moves.size());
  for (std::size_t v = 0; v < one.size(); ++v) one[v] = moves[v] ? 0 : -1;
  return one;
}

}  // namespace

Smoother::Smoother(const Comm& comm, Threads& threads, const TetMesh& mesh, const NodeFreedom& freedom,
                   const SmoothOptions& options, std::span<const std::int32_t> owner, std::span<const int> rank_of_part,
                   std::span<PartStreams> streams, Overlap overlap)
    : comm_(comm), threads_(threads), options_(options), streams_(streams), nodes_(mesh.vertex_count()) {
  if (options.method == Method::thesis && options.energy != Energy::l2v)
    fail(ErrorKind::usage, "the method of the thesis needs the energy l2v; choose --energy l2v");
  if (options.method == Method::thesis && mesh.is_surface())
    fail(ErrorKind::usage, "the method of the thesis needs tetrahedra; choose --method newton");
  if (options.energy == Energy::graded && mesh.is_surface())
    fail(ErrorKind::usage, "the energy graded needs tetrahedra; choose --energy shape");
  if (options.in_float && options.method == Method::thesis)
    fail(ErrorKind::usage, "the method of the thesis needs double; remove --derivatives float");
  const ParallelFor parallel = parallel_for(threads);
  triangles_ = mesh.is_surface();
  const Vec3 normal = plane_normal(mesh);
  in_plane_ = normal != Vec3{};
  plane_ = plane_of(normal);
  if (options.in_float && !takes_float(energy(), false))
    fail(ErrorKind::usage,
         "derivatives in float support only the energy shape, and triangles in a plane; remove --derivatives float");
  std::optional<TetMesh> made;
  if (triangles_) made = with_apex(mesh);
  const TetMesh& cells = made ? *made : mesh;
  cells_ = cells.cell_count();
  // The fourth node of triangles belongs to a part as others do, and stays.
  NodeFreedom freedom_of_all;
  std::vector<std::int32_t> owner_of_all;
  if (triangles_) {
    freedom_of_all = freedom;
    freedom_of_all.of_node.push_back(NodeFreedom::fixed);
    owner_of_all.assign(owner.begin(), owner.end());
    owner_of_all.push_back(0);
    owner = owner_of_all;
  }
  const NodeFreedom& moves = triangles_ ? freedom_of_all : freedom;
  const Adjacency cells_of = cells_of_nodes(cells, parallel);
  const auto levels = levels_of(cells, cells_of, moves, options.simultaneous);
  moving_ = std::count_if(levels.begin(), levels.end(), [](std::int32_t l) { return l >= 0; });
  std::vector<double> sizes;
  if (options.energy == Energy::graded) sizes = edge_lengths(cells, cells_of, parallel);
  parts_ = std::make_unique<MeshParts>(comm, cells, cells_of, moves, levels, owner, rank_of_part, streams, triangles_,
                                       sizes, parallel);
  if (options.tuned) comm.together([&] { parts_->find_neighbours(triangles_); });
  build_step(overlap, 32);
}

Smoother::~Smoother() = default;

// A sweep: colour after colour, every part moves the nodes that others read, and then its other ones while the first
// travel. Nodes that no other part reads have no neighbours that move in other parts: only the next colour's nodes that
// others read wait for what travels. All colours are one step, so that a GPU's sweep is launched as a whole. No place
// arrives too early, while the receiver still moves nodes of earlier colours by the old one: the sender waits for those
// nodes, as it reads them, too.

void Smoother::build_step(Overlap overlap, int row_cost) {
  step_ = std::make_unique<Step>(threads_, streams_, row_cost);
  const std::size_t count = parts_->parts.size();
  std::vector<TaskId> separators(count), interiors(count);
  std::vector<std::vector<TaskId>> arrivals(count);
  for (std::size_t l = 0; l < parts_->moving(); ++l) {
    const Level& level = *parts_->levels[l];
    const auto add = [&](std::size_t p, Step::Role role, Range rows) {
      return step_->compute(role == Step::Role::separator ? "separator" : "interior", static_cast<int>(p), role, rows,
                            [this, l, p](Stream& stream, Range some) { sweep_rows(stream, some, sweep_of(l, p)); });
    };
    const std::vector<TaskId> before = separators;
    for (std::size_t p = 0; p < count; ++p) {
      separators[p] = add(p, Step::Role::separator, level.maps[p].separator_rows());
      if (l == 0) continue;
      step_->after(separators[p], before[p]);
      step_->after(separators[p], interiors[p]);
      for (const TaskId arrival : std::exchange(arrivals[p], {})) step_->after(separators[p], arrival);
    }
    const std::vector<TaskId> exchange = step_->exchange(*level.exchange, separators);
    for (std::size_t i = 0; i < exchange.size(); ++i)
      for (const int p : level.exchange->operations()[i].fills) arrivals[p].push_back(exchange[i]);
    for (std::size_t p = 0; p < count; ++p) {
      const TaskId last = std::exchange(interiors[p], add(p, Step::Role::interior, level.maps[p].interior_rows()));
      if (l == 0) continue;
      step_->after(interiors[p], before[p]);
      step_->after(interiors[p], last);
    }
  }
  step_->finish(overlap);
}

SweepRows Smoother::sweep_of(std::size_t level, std::size_t p) const {
  MeshPart& part = parts_->parts[p];
  SweepRows s;
  s.stars = part.stars();
  s.first_star = parts_->levels[level]->first_star[p];
  s.first_row = parts_->levels[level]->first_row[p];
  s.from = part.points.data();
  s.to = options_.simultaneous ? part.moved.data() : part.points.data();
  s.options = {options_.method, options_.damping, eps2_, !options_.simultaneous};
  s.energy = energy();
  s.untangle = untangling_;
  s.plane = plane_;
  s.in_float = options_.in_float;
  return s;
}

Energy Smoother::energy() const {
  if (triangles_) return in_plane_ ? Energy::plane_triangle : Energy::surface_triangle;
  return untangling_ ? Energy::shape : options_.energy;
}

CellView Smoother::view_of(std::size_t p, bool moved) const {
  const MeshPart& part = parts_->parts[p];
  return {part.cells.data(), moved ? part.moved.data() : part.points.data(), energy(), plane_};
}

void Smoother::bind(std::size_t l, bool moved) {
  std::vector<FieldView<double>> views;
  for (std::size_t p = 0; p < parts_->parts.size(); ++p) {
    MeshPart& part = parts_->parts[p];
    Point* points = moved ? part.moved.data() : part.points.data();
    const Level& level = *parts_->levels[l];
    views.push_back({reinterpret_cast<double*>(points + level.first_row[p]), level.wide[p].local(), 1});
  }
  parts_->levels[l]->exchange->bind(views);
}

void Smoother::sweep(double eps2) {
  if (eps2 != eps2_) ++work_;
  eps2_ = eps2;
  untangling_ = eps2 > 0;
  if (parts_->moving() == 0) return;
  if (options_.simultaneous) return sweep_at_once();
  for (std::size_t l = 0; l < parts_->moving(); ++l) bind(l, false);
  step_->run_ahead(work_);
}

void Smoother::exchange_moved(std::size_t l) {
  std::vector<FieldView<double>> views;
  for (const PartStreams& s : streams_) s.compute->synchronize();
  for (std::size_t p = 0; p < parts_->parts.size(); ++p) {
    const Level& level = *parts_->levels[l];
    views.push_back(
        {reinterpret_cast<double*>(parts_->parts[p].moved.data() + level.first_row[p]), level.wide[p].local(), 1});
  }
  parts_->levels[l]->exchange->begin(views);
  parts_->levels[l]->exchange->end();
}

/// Takes half of their moves back from nodes of cells that would lose more than nine tenths of their volume, until
/// there are none: they come back to where they were, in the end.
bool Smoother::take_back_bad() {
  for (int round = 0;; ++round) {
    double any = 0;
    for (std::size_t p = 0; p < parts_->parts.size(); ++p) {
      const Range rows = parts_->levels[0]->maps[p].owned_rows();
      Stream& stream = *streams_[p].compute;
      const SweepRows s = sweep_of(0, p);
      mark_bad_rows(stream, rows, s, parts_->parts[p].bad.data());
      if (any_bad(stream, rows, s, parts_->parts[p].bad.data())) any = 1;
    }
    if (comm_.max(any) == 0) return true;
    if (round > 2 * max_halvings) return false;
    for (std::size_t p = 0; p < parts_->parts.size(); ++p)
      halve_moves(*streams_[p].compute, parts_->levels[0]->maps[p].owned_rows(), sweep_of(0, p),
                  parts_->parts[p].bad.data(), round > max_halvings);
    exchange_moved(0);
  }
}

bool Smoother::energy_is_lower() {
  return energies(eps2_, true).energy <= energies(eps2_).energy;
}

void Smoother::sweep_at_once() {
  bind(0, true);
  step_->run();
  if (!untangling_ && !take_back_bad()) return;
  int halvings = 0;
  while (!energy_is_lower()) {
    if (++halvings > max_halvings) return;
    for (std::size_t p = 0; p < parts_->parts.size(); ++p)
      halve_moves(*streams_[p].compute, parts_->levels[0]->maps[p].owned_rows(), sweep_of(0, p), nullptr, false);
    exchange_moved(0);
    if (!untangling_ && !take_back_bad()) return;
  }
  for (MeshPart& part : parts_->parts) part.points.swap(part.moved);
}

double Smoother::sum(const std::function<ExactSum(std::size_t, Stream&, const CellView&)>& of) {
  ExactSum total;
  for (std::size_t p = 0; p < parts_->parts.size(); ++p) total.merge(of(p, *streams_[p].compute, view_of(p, false)));
  return sum_over_ranks(comm_, total);
}

double Smoother::max(const std::function<double(std::size_t, Stream&, const CellView&)>& of) {
  double largest = -std::numeric_limits<double>::infinity();
  for (std::size_t p = 0; p < parts_->parts.size(); ++p)
    largest = std::max(largest, of(p, *streams_[p].compute, view_of(p, false)));
  return comm_.max(largest);
}

/// All parts at a time.
Smoother::Energies Smoother::energies(double eps2, bool moved) {
  SumAndLargest all;
  try {
    std::vector<Pending<SumAndLargest>> of_parts;
    for (std::size_t p = 0; p < parts_->parts.size(); ++p)
      of_parts.push_back(
          start_energies(*streams_[p].compute, {0, parts_->parts[p].cell_count}, view_of(p, moved), eps2));
    for (const auto& of_part : of_parts) all.merge(of_part());
  } catch (...) {
    // Other parts may still read what goes next.
    for (const PartStreams& s : streams_) try {
        s.compute->synchronize();
      } catch (const std::exception&) {
        // The first error is the one to tell.
      }
    throw;
  }
  return {sum_over_ranks(comm_, all.sum), comm_.max(all.largest)};
}

SmoothState Smoother::state(double eps2) {
  SmoothState s;
  const auto [energy, worst] = energies(eps2);
  s.energy = energy;
  // Of an inverted cell it is infinite.
  if (!(worst < std::numeric_limits<double>::infinity()))
    s.inverted = static_cast<Gid>(sum([&](std::size_t p, Stream& stream, const CellView& v) {
      return count_inverted(stream, {0, parts_->parts[p].cell_count}, v);
    }));
  if (s.inverted > 0 || cells_ == 0) return s;
  s.min_mean_ratio = std::pow(worst, triangles_ ? -1.0 : -2.0 / 3);
  return s;
}

double Smoother::cell_size() {
  if (cells_ == 0) return 1;
  const double v6 = sum([&](std::size_t p, Stream& stream, const CellView& v) {
    return total_volume6(stream, {0, parts_->parts[p].cell_count}, v);
  });
  const double mean = v6 / static_cast<double>(cells_);
  return triangles_ ? std::sqrt(mean) : std::cbrt(mean);
}

/// h(V) with eps of the size of the worst cell: large enough that all cells feel it, and smaller with every iteration
/// that makes the worst one better (Escobar et al. 2003).
void Smoother::untangle(SmoothReport& report) {
  const double size = cell_size(), mean = triangles_ ? size * size : size * size * size;
  double shrink = 1;
  for (int k = 0;; ++k) {
    SmoothState s = state(1e-300);
    s.energy = 0;  // of another eps each time: nothing to compare
    report.untangling.push_back(s);
    if (s.inverted == 0 || k == options_.untangling) return;
    const double worst = max([&](std::size_t p, Stream& stream, const CellView& v) {
      return largest_negative_volume(stream, {0, parts_->parts[p].cell_count}, v);
    });
    const double eps = std::max(worst, 1e-3 * mean) * shrink;
    sweep(eps * eps);
    report.node_moves += moving_;
    shrink = std::max(0.1, 0.9 * shrink);
  }
}

SmoothReport Smoother::run() {
  SmoothReport report;
  report.colours = static_cast<int>(parts_->moving());
  const auto begin = std::chrono::steady_clock::now();
  const auto finish = [&](const std::string& why) {
    for (const PartStreams& s : streams_) s.compute->synchronize();
    report.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    report.why_stopped = why;
    return report;
  };
  SmoothState last = state();
  if (last.inverted > 0 && triangles_ && !in_plane_)
    fail(ErrorKind::input, "mesh: {} of {} triangles have no area; improve the mesh", format_count(last.inverted),
         format_count(cells_));
  if (last.inverted > 0) {
    if (options_.untangling == 0)
      fail(ErrorKind::input, "mesh: {} of {} cells are inverted; use --untangle, or improve the mesh",
           format_count(last.inverted), format_count(cells_));
    untangle(report);
    untangling_ = false;
    last = state();
    if (last.inverted > 0) return finish("cells are still inverted");
  }
  report.smoothing.push_back(last);
  const double size = options_.stop_movement > 0 ? cell_size() : 1;
  for (int k = 0; k < options_.iterations; ++k) {
    if (options_.stop_quality > 0 && last.min_mean_ratio >= options_.stop_quality) return finish("quality");
    if (options_.stop_movement > 0)
      for (std::size_t p = 0; p < parts_->parts.size() && !options_.simultaneous; ++p) {
        MeshPart& part = parts_->parts[p];
        streams_[p].compute->copy(part.moved.data(), part.points.data(), static_cast<std::size_t>(part.points.bytes()),
                                  CopyDirection::local);
      }
    sweep();
    report.node_moves += moving_;
    SmoothState s = state();
    if (options_.stop_movement > 0)
      s.movement = std::sqrt(max([&](std::size_t p, Stream& stream, const CellView&) {
                     const MeshPart& part = parts_->parts[p];
                     return largest_move2(stream, {0, part.rows}, part.points.data(), part.moved.data());
                   })) /
                   size;
    report.smoothing.push_back(s);
    const double gain = last.energy - s.energy;
    last = s;
    if (options_.stop_energy > 0 && gain < options_.stop_energy * last.energy) return finish("energy");
    if (options_.stop_movement > 0 && s.movement < options_.stop_movement) return finish("movement");
  }
  return finish("iterations");
}

std::vector<Vec3> Smoother::points() const {
  auto all = parts_->gather(static_cast<std::size_t>(nodes_ + (triangles_ ? 1 : 0)));
  all.resize(nodes_);
  return all;
}

}  // namespace tutti::smoothing
