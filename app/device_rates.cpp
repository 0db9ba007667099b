#include "app/device_rates.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "app/commands.hpp"
#include "app/temporary_folder.hpp"
#include "tutti/base/log.hpp"
#include "tutti/base/units.hpp"
#include "tutti/device/triad.hpp"
#include "tutti/domain/tet_domain.hpp"
#include "tutti/models/diffusion/diffusion_rate.hpp"
#include "tutti/schedule/balance.hpp"

namespace tutti::app {
namespace {

/// One device. What is measured travels to all ranks, the shares are theirs.
struct DeviceFigures {
  int rank = 0;
  char name[32] = "";
  double peak = 0, triad = 0;  ///< bytes/s
  bool knows_peak = true;      ///< else `peak` is the triad
  bool accelerator = false;
  double rate = 0;  ///< rows of the kernel a second
  double r_peak = 0, r_stream = 0, r_opt = 0;
  double of_bound() const { return rate * 216 / triad; }
  double gflops() const { return rate * 33e-9; }
};

std::vector<DeviceFigures> measure_triads(const Comm& comm, const DeviceSet& devices) {
  std::vector<DeviceFigures> mine;
  comm.barrier();  // memory is shared: all are timed at the same time
  comm.together([&] {
    for (const auto& device : devices.devices) {
      DeviceFigures& f = mine.emplace_back();
      f.rank = comm.rank();
      std::snprintf(f.name, sizeof(f.name), "%s", device->name().c_str());
      f.accelerator = !device->is_host();
      f.triad = device->is_host() ? measure_triad(*devices.threads) : measure_bandwidth(*device).triad;
    }
  });
  return comm.all_gather(std::span<const DeviceFigures>(mine));
}

/// Sets `share` of every device in proportion to its `speed`.
void share_out(std::vector<DeviceFigures>& all, double DeviceFigures::*speed, double DeviceFigures::*share) {
  double sum = 0;
  for (const DeviceFigures& f : all) sum += f.*speed;
  for (DeviceFigures& f : all) f.*share = f.*speed / sum;
}

/// The paper's r: what all accelerators get together.
double of_accelerators(const std::vector<DeviceFigures>& all, double DeviceFigures::*share) {
  double r = 0;
  for (const DeviceFigures& f : all)
    if (f.accelerator) r += f.*share;
  return r;
}

void print_table(const std::vector<DeviceFigures>& all) {
  info("{:>4} {:<10} {:>10} {:>11} {:>12} {:>7} {:>9} {:>8} {:>8} {:>8}", "rank", "device", "peak GB/s", "triad GB/s",
       "M cells/s", "of P", "GFLOPS", "r_peak", "r_stream", "r_opt");
  for (const DeviceFigures& f : all)
    info("{:>4} {:<10} {:>10} {:>11.1f} {:>12.1f} {:>7.3f} {:>9.2f} {:>8.4f} {:>8.4f} {:>8.4f}", f.rank, f.name,
         f.knows_peak ? fmt::format("{:.1f}", f.peak * 1e-9) : "unknown", f.triad * 1e-9, f.rate * 1e-6, f.of_bound(),
         f.gflops(), f.r_peak, f.r_stream, f.r_opt);
  info("P = 33/216 x triad (Langguth 2015, eq. 3); r: a device's share of the cells by peak, triad or kernel");
  if (std::any_of(all.begin(), all.end(), [](const DeviceFigures& f) { return !f.knows_peak; }))
    info("peak unknown: the measured triad is taken instead; devices.peak_gb_per_second gives it");
  info("all accelerators together: r_peak {:.4f}, r_stream {:.4f}, r_opt {:.4f}",
       of_accelerators(all, &DeviceFigures::r_peak), of_accelerators(all, &DeviceFigures::r_stream),
       of_accelerators(all, &DeviceFigures::r_opt));
}

using Json = nlohmann::ordered_json;

Json json_of(const std::vector<DeviceFigures>& all) {
  Json list = Json::array();
  for (const DeviceFigures& f : all)
    list.push_back({{"rank", f.rank},
                    {"device", f.name},
                    {"accelerator", f.accelerator},
                    {"peak_gb_per_second", f.knows_peak ? Json(f.peak * 1e-9) : Json(nullptr)},
                    {"triad_gb_per_second", f.triad * 1e-9},
                    {"cells_per_second", f.rate},
                    {"fraction_of_P", f.of_bound()},
                    {"gflops", f.gflops()},
                    {"r_peak", f.r_peak},
                    {"r_stream", f.r_stream},
                    {"r_opt", f.r_opt}});
  return list;
}

Gid count_cells(const Comm& comm, const Case& options) {
  const TemporaryFolder work_dir(comm);
  Gid cells = 0;
  comm.together([&] {
    if (comm.is_root()) cells = load_mesh(options, work_dir.path()).cell_count();
  });
  return comm.sum(cells);
}

}  // namespace

void list_rates(const Comm& comm, const DeviceArguments& arguments, const std::string& model,
                const std::string& case_file, const std::vector<std::string>& sets, const std::string& json) {
  const Case options = load_case(comm, case_file, sets);
  comm.together([&] {
    if (model != "diffusion")
      fail(ErrorKind::usage,
           "--model {}: the shares of Langguth 2015 are those of the model diffusion; write --model diffusion", model);
    if (options.text("model") != model)
      fail(ErrorKind::usage, "--model {}: {} is a case of the model {}; give one of {}", model, case_file,
           options.text("model"), model);
  });
  DeviceSet devices = arguments.open(comm, options);
  const Gid cells = count_cells(comm, options);

  auto all = measure_triads(comm, devices);
  const auto rates = measure_parts(comm, devices, cells, kernel_rate(options, *devices.threads));
  const auto peaks = peak_bandwidths(comm, devices, options, static_cast<int>(all.size()));
  for (std::size_t p = 0; p < all.size(); ++p) {
    all[p].knows_peak = peaks[p] > 0;
    all[p].peak = all[p].knows_peak ? peaks[p] : all[p].triad;
    all[p].rate = rates[p].rate;
  }
  share_out(all, &DeviceFigures::peak, &DeviceFigures::r_peak);
  share_out(all, &DeviceFigures::triad, &DeviceFigures::r_stream);
  share_out(all, &DeviceFigures::rate, &DeviceFigures::r_opt);

  info("{}: {} cells; the kernel alone, timed on each device", case_file, format_count(cells));
  print_table(all);
  Json report = {{"case", case_file}, {"model", model}, {"cells", cells}, {"devices", json_of(all)}};
  report["accelerators"] = {{"r_peak", of_accelerators(all, &DeviceFigures::r_peak)},
                            {"r_stream", of_accelerators(all, &DeviceFigures::r_stream)},
                            {"r_opt", of_accelerators(all, &DeviceFigures::r_opt)}};
  if (const auto share = share_between(rates, cells)) {
    info("weights = \"measured\": {}", describe(*share, cells));
    report["measured"] = {{"cpu_cells", share->host_rows},
                          {"in_cache", share->in_cache},
                          {"seconds_a_step", share->seconds},
                          {"seconds_a_step_without_cpu", share->seconds_without},
                          {"seconds_a_step_with_cpu", share->seconds_with}};
  }
  comm.together([&] {
    if (comm.is_root() && !json.empty()) write_report(json, report.dump(2) + "\n");
  });
}

}  // namespace tutti::app
