// Diffusion and reaction in turns.
#include "tutti/base/mpi/over_ranks.hpp"
#include "tutti/models/diffusion/diffusion.hpp"
#include "tutti/simulation/run/run_state.hpp"

namespace tutti::diffusion {

void Diffusion::set_up_ionic() {
  std::array<Size, most_stimuli> reached{};
  comm_.together([&] {
    for (std::size_t p = 0; p < parts_.size(); ++p) {
      cells_.emplace_back(domain_.stream(p), *devices_.threads, *ionic_, parts_[p].centroids);
      for (std::size_t k = 0; k < reached.size(); ++k) reached[k] += cells_[p].reached()[k];
    }
  });
  for (Size& cells : reached) cells = comm_.sum(cells);
  comm_.together([&] {
    for (std::size_t k = 0; k < ionic_->stimuli.size(); ++k)
      if (reached[k] == 0)
        fail(ErrorKind::input,
             "{}: this stimulus reaches no cell: its formula must not be 0 at all centroids of the mesh",
             ionic_->stimuli[k].place);
  });
  // A row of the large model takes a CPU as long as some forty of diffusion.
  const int row_cost = ionic_->kind == IonicKind::ten_tusscher ? 32 : 1;
  const auto make = [&](const char* name, Exchange<double>* halo, int cost) {
    return std::make_unique<Pass>(name, threads(), domain_.streams, row_pass_parts(domain_.maps), halo,
                                  parse_overlap(options_.text("devices.overlap")), cost);
  };
  reaction_ = make("reaction", exchange_.get(), row_cost);
  if (!ionic_->threshold) return;
  watch_ = make("activation", nullptr, 1);
  watch_->never_capture();  // time is another in every step
}

void Diffusion::split_step(double time, double dt) {
  const double first = ionic_->strang ? 0.5 * dt : dt;
  diffuse(time, first);
  bind_exchange(0);
  reaction_->run(
      [&](std::size_t p, Kernels& to) { to.add(cells_[p].kernel(*ionic_, parts_[p].u[0].data(), time, dt)); });
  if (ionic_->strang) diffuse(time + first, dt - first);
  if (!watch_) return;
  watch_->run([&](std::size_t p, Kernels& to) {
    to.add(cells_[p].activation_kernel(*ionic_, parts_[p].u[0].data(), time, dt));
  });
}

void Diffusion::forget_activation() {
  for (std::size_t p = 0; p < cells_.size(); ++p) cells_[p].forget(domain_.stream(p), parts_[p].u[0].data());
}

void Diffusion::add_ionic_fields(std::vector<ModelField>& all) {
  ModelField state{.name = "ionic", .restart = true, .checksum = true, .output = ionic_->output};
  state.component_names = ionic_->variables();
  state.components = static_cast<int>(state.component_names.size());
  if (ionic_->output) state.probes = state.component_names;
  state.read = [this](std::size_t p, const RowSet& rows, std::span<double> to) {
    cells_[p].read_state(domain_.stream(p), rows.rows, to);
  };
  state.write = [this](std::size_t p, std::span<const double> from) { cells_[p].write_state(domain_.stream(p), from); };
  all.push_back(std::move(state));
  if (!ionic_->threshold) return;
  ModelField activation{.name = "activation", .restart = true, .checksum = true, .output = true};
  activation.probes = {"activation"};
  activation.read = [this](std::size_t p, const RowSet& rows, std::span<double> to) {
    download(domain_.stream(p), to, cells_[p].activation().data() + rows.rows.begin);
  };
  // Times are not interpolated between cells: of those that were not reached, -1 says so.
  activation.at = [this](std::size_t p, Lid row, Vec3, std::span<double> to) {
    download(domain_.stream(p), to, cells_[p].activation().data() + row);
  };
  activation.write = [this](std::size_t p, std::span<const double> from) {
    upload(domain_.stream(p), cells_[p].activation(), from);
  };
  all.push_back(std::move(activation));
}

Size Diffusion::bytes_moved(std::size_t p) const {
  return TetModel::bytes_moved(p) + (ionic_ ? reaction_->runs() * cells_[p].bytes() : 0);
}

ExchangeCounts Diffusion::exchanged() const {
  ExchangeCounts counts = TetModel::exchanged();
  if (ionic_) add_counts(counts, exchange_->counts_per_exchange(), reaction_->runs());
  return counts;
}

}  // namespace tutti::diffusion
