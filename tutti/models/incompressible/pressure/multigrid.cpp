#include "tutti/models/incompressible/pressure/multigrid.hpp"

#include <algorithm>
#include <cmath>

namespace tutti::incompressible {

template <class T>
CoarsestSolver<T>::CoarsestSolver(const PressureProblem<T>& problem, MultigridLevel<T>& level)
    : problem_(problem), mine_(problem.domain.parts.rank_of_part[0] == problem.comm.rank()) {
  BoxDomain& domain = problem_.domain;
  const LevelGrid<T>& grid = level.level();
  const CellBox whole{{0, 0, 0}, grid.parts.cells};
  BoxParts gathered = grid.parts;
  gathered.boxes.assign(grid.parts.boxes.size(), CellBox{});
  gathered.boxes[0] = whole;
  std::vector<std::vector<CellBox>> all(grid.parts.boxes.size()), stored;
  all[0] = {whole};
  for (const CellBox& box : grid.stored) stored.push_back({box});
  for (const std::int32_t part : grid.parts.mine) arrays_.push_back({part == 0 ? whole : CellBox{}});
  problem.comm.together([&] {
    values_ = make_zeros(problem, arrays_, "pressure, the coarsest grid");
    if (!mine_) return;
    direct_ = std::make_unique<DirectSolver<T>>(PoissonBox{grid.lines[0], grid.lines[1], grid.lines[2]});
    host_.resize(whole.cells());
  });
  const auto transfer = [&](const BoxParts& parts, const auto& wanted, const auto& from, const auto& to) {
    return std::make_unique<BoxTransfer<T>>(problem.comm, parts, wanted, from, to, false, domain.streams, 1,
                                            &domain.routing);
  };
  gather_ = transfer(grid.parts, all, grid.arrays, arrays_);
  deal_ = transfer(gathered, stored, arrays_, grid.arrays);
  bind_field(*gather_, grid.rhs, pointers(values_));
  bind_field(*deal_, pointers(values_), grid.p);
  const auto pass = [&](const char* name, BoxTransfer<T>* halo) {
    const std::vector<Lid> nothing(domain.mine(), 0);
    return std::make_unique<Pass>(name, problem.threads, domain.streams, whole_pass_parts(nothing), halo,
                                  problem.overlap);
  };
  gather_pass_ = pass("coarsest", gather_.get());
  deal_pass_ = pass("coarsest, back", deal_.get());
}

template <class T>
void CoarsestSolver<T>::solve() {
  ++solves_;
  const auto nothing = [](std::size_t, Kernels&) {};
  gather_pass_->run(nothing);
  if (mine_) {
    // The first part is the first of its rank.
    Stream& stream = *problem_.domain.streams[0].compute;
    download(stream, std::span<T>(host_), values_[0]);
    direct_->solve(host_.data(), host_.data());
    upload(stream, values_[0], std::span<const T>(host_));
  }
  deal_pass_->run(nothing);
}

template <class T>
void CoarsestSolver<T>::add_exchanged(ExchangeCounts& counts) const {
  add_counts(counts, gather_->counts_per_exchange(), solves_);
  add_counts(counts, deal_->counts_per_exchange(), solves_);
}

namespace {

bool is_small(const BoxGrid& grid, const MultigridOptions& options) {
  return grid.cell_count() <= options.coarsest && std::ranges::max(grid.cells()) <= options.longest_line;
}

}  // namespace

template <class T>
Multigrid<T>::Multigrid(const PressureProblem<T>& problem, const MultigridOptions& options)
    : problem_(problem), ends_(problem) {
  levels_.push_back(std::make_unique<MultigridLevel<T>>(problem));
  double width = problem.domain.grid.smallest_width();
  while (!is_small(levels_.back()->level().grid, options)) {
    MultigridLevel<T>& fine = *levels_.back();
    const auto coarse = coarsen(fine.level().grid, width, levels_.size() % 2 == 0);
    if (!coarse) break;
    levels_.push_back(std::make_unique<MultigridLevel<T>>(problem, fine.level(), *coarse));
    between_.push_back(std::make_unique<MultigridTransfer<T>>(problem, fine, *levels_.back(), *coarse));
  }
  coarsest_ = std::make_unique<CoarsestSolver<T>>(problem, *levels_.back());
}

template <class T>
void Multigrid<T>::smooth_before(std::size_t l) {
  using Behind = typename MultigridLevel<T>::Behind;
  MultigridLevel<T>& level = *levels_[l];
  if (l > 0)
    level.sweep_from_zero();
  else
    level.sweep(0, Behind::faces);
  level.sweep(1, Behind::faces);
  level.sweep(0, Behind::faces);
  level.sweep(1, Behind::faces);
}

/// What follows when the coarser grid has its right-hand side.
template <class T>
void Multigrid<T>::correct_and_smooth(std::size_t l) {
  using Behind = typename MultigridLevel<T>::Behind;
  if (l + 2 == levels_.size()) {
    coarsest_->solve();
  } else {
    smooth_before(l + 1);
    between_[l + 1]->restrict_residual();
    correct_and_smooth(l + 1);
  }
  between_[l]->interpolate();
  MultigridLevel<T>& level = *levels_[l];
  level.sweep(0, Behind::faces);
  level.sweep(1, Behind::faces);
  level.sweep(0, Behind::faces);
  // Interpolation reads what is behind edges, too.
  level.sweep(1, l > 0 ? Behind::all : Behind::faces);
}

/// Until the finest grid's residual is known, which is returned. A grid that is the coarsest, too, is solved.
template <class T>
double Multigrid<T>::start_cycle() {
  if (between_.empty()) {
    coarsest_->solve();
    return levels_[0]->largest_residual();
  }
  smooth_before(0);
  between_[0]->store_residual();
  return between_[0]->largest_residual();
}

template <class T>
void Multigrid<T>::finish_cycle() {
  if (between_.empty()) return;
  between_[0]->restrict_stored();
  correct_and_smooth(0);
}

template <class T>
void Multigrid<T>::cycle() {
  start_cycle();
  finish_cycle();
}

template <class T>
void Multigrid<T>::solve(double scale) {
  if (std::isinf(scale)) {
    const double rhs = levels_.front()->largest_rhs();
    scale = rhs > 0 ? 1 / rhs : 1;
  }
  residuals_ = {start_cycle()};
  // Not a number is for others to find.
  while (residuals_.back() * scale > problem_.flow.tolerance) {
    // No cycle can do better than the precision of p.
    if (stalled() && residuals_.back() <= levels_.front()->rounding()) break;
    if (cycles() >= problem_.flow.sweeps) fail_to_converge(scale);
    finish_cycle();
    residuals_.push_back(start_cycle());
  }
  ends_.fill();
}

template <class T>
bool Multigrid<T>::stalled() const {
  return cycles() > 0 && residuals_.back() > 0.5 * residuals_[residuals_.size() - 2];
}

template <class T>
void Multigrid<T>::fail_to_converge(double scale) {
  problem_.comm.together([&] {
    fail(ErrorKind::numerical,
         "the pressure does not converge: after {} multigrid cycles a divergence of {:.3g} is left, {:.3g} before the "
         "last one, pressure.tolerance is {:.3g}; raise pressure.tolerance or pressure.sweeps",
         cycles(), residuals_.back() * scale, residuals_[residuals_.size() - 2] * scale, problem_.flow.tolerance);
  });
}

template <class T>
std::string Multigrid<T>::describe() const {
  std::string text = "multigrid, V(2,2) cycles of";
  for (std::size_t l = 0; l < levels_.size(); ++l) {
    const auto cells = level(l).grid.cells();
    text += fmt::format("{} {} x {} x {}", l == 0 ? "" : ",", cells[0], cells[1], cells[2]);
  }
  return text + " (directly)";
}

template <class T>
std::vector<const Step*> Multigrid<T>::steps() const {
  std::vector<const Step*> all;
  const auto add = [&](const auto& of) {
    for (const Step* step : of.steps()) all.push_back(step);
  };
  for (const auto& level : levels_) add(*level);
  for (const auto& transfer : between_) add(*transfer);
  add(*coarsest_);
  all.push_back(&ends_.step());
  return all;
}

template <class T>
ExchangeCounts Multigrid<T>::exchanged() const {
  ExchangeCounts counts;
  for (const auto& level : levels_) level->add_exchanged(counts);
  for (const auto& transfer : between_) transfer->add_exchanged(counts);
  coarsest_->add_exchanged(counts);
  return counts;
}

template <class T>
std::unique_ptr<PressureSolver<T>> make_multigrid(const PressureProblem<T>& problem) {
  return std::make_unique<Multigrid<T>>(problem);
}

template class CoarsestSolver<double>;
template class CoarsestSolver<float>;
template class Multigrid<double>;
template class Multigrid<float>;
template std::unique_ptr<PressureSolver<double>> make_multigrid(const PressureProblem<double>&);
template std::unique_ptr<PressureSolver<float>> make_multigrid(const PressureProblem<float>&);

}  // namespace tutti::incompressible
