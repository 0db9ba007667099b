#include "app/device_rates.hpp"

#include <algorithm>
#include <cerrno>
#include <fstream>
#include <nlohmann/json.hpp>
#include <numeric>

#include "app/commands.hpp"
#include "app/temporary_folder.hpp"
#include "tutti/base/log.hpp"
#include "tutti/base/units.hpp"
#include "tutti/device/triad.hpp"
#include "tutti/models/diffusion/diffusion_plan.hpp"
#include "tutti/schedule/balance.hpp"

namespace tutti::app {
namespace {

/// One device as it travels to rank 0.
struct DeviceLine {
  int rank = 0;
  char name[32] = "";
  double triad = 0;  ///< bytes/s
};

std::vector<DeviceLine> measure_triads(const Comm& comm, const DeviceSet& devices) {
  std::vector<DeviceLine> mine;
  comm.barrier();  // memory is shared: all are timed at the same time
  comm.together([&] {
    for (const auto& device : devices.devices) {
      DeviceLine& line = mine.emplace_back();
      line.rank = comm.rank();
      std::snprintf(line.name, sizeof(line.name), "%s", device->name().c_str());
      line.triad = device->is_host() ? measure_triad(*devices.threads) : measure_bandwidth(*device).triad;
    }
  });
  return comm.all_gather(std::span<const DeviceLine>(mine));
}

std::vector<double> shares_of(std::vector<double> speeds) {
  const double sum = std::accumulate(speeds.begin(), speeds.end(), 0.0);
  for (double& s : speeds) s /= sum;
  return speeds;
}

/// The paper's r: what all accelerators get together.
double share_of_accelerators(const std::vector<double>& shares, const std::vector<PartRate>& rates) {
  double r = 0;
  for (std::size_t p = 0; p < shares.size(); ++p)
    if (rates[p].threads == 0) r += shares[p];
  return r;
}

Gid count_cells(const Comm& comm, const Case& options) {
  const TemporaryFolder work_dir(comm);
  Gid cells = 0;
  comm.together([&] {
    if (comm.is_root()) cells = load_mesh(options, work_dir.path()).cell_count();
  });
  return comm.sum(cells);
}

void write_json(const std::string& file, const nlohmann::ordered_json& report) {
  std::ofstream out(file);
  out << report.dump(2) << "\n";
  if (!out.flush()) fail(ErrorKind::io, "{}: cannot be written: {}", file, system_cause(errno));
}

}  // namespace

void list_rates(const Comm& comm, const DeviceArguments& arguments, const std::string& model,
                const std::string& case_file, const std::vector<std::string>& sets, const std::string& json) {
  const Case options = load_case(comm, case_file, sets);
  comm.together([&] {
    if (model != "diffusion")
      fail(ErrorKind::usage, "--model {}: only the model diffusion times its kernel; write --model diffusion", model);
    if (options.text("model") != model)
      fail(ErrorKind::usage, "--model {}: {} is a case of the model {}; give one of {}", model, case_file,
           options.text("model"), model);
  });
  DeviceSet devices = arguments.open(comm, options);
  const Gid cells = count_cells(comm, options);
  const DomainOptions domain = diffusion_domain_options(options, *devices.threads);

  const auto lines = measure_triads(comm, devices);
  const std::size_t n = lines.size();
  const auto rates = measure_parts(comm, devices, cells, domain.rate);
  std::vector<double> peaks = peak_bandwidths(comm, devices, options, static_cast<int>(n)), triads(n), kernels(n);
  std::vector<bool> unknown(n);
  for (std::size_t p = 0; p < n; ++p) {
    triads[p] = lines[p].triad;
    kernels[p] = rates[p].rate;
    unknown[p] = peaks[p] == 0;
    if (unknown[p]) peaks[p] = triads[p];
  }
  const auto r_peak = shares_of(peaks), r_stream = shares_of(triads), r_opt = shares_of(kernels);

  info("{}: {} cells; the kernel alone, timed on each device", case_file, format_count(cells));
  info("{:>4} {:<10} {:>10} {:>11} {:>12} {:>7} {:>9} {:>8} {:>8} {:>8}", "rank", "device", "peak GB/s", "triad GB/s",
       "M cells/s", "of P", "GFLOPS", "r_peak", "r_stream", "r_opt");
  nlohmann::ordered_json report = {{"case", case_file}, {"model", model}, {"cells", cells}};
  report["devices"] = nlohmann::ordered_json::array();
  for (std::size_t p = 0; p < n; ++p) {
    const double of_bound = kernels[p] * 216 / triads[p];
    info("{:>4} {:<10} {:>10} {:>11.1f} {:>12.1f} {:>7.3f} {:>9.2f} {:>8.4f} {:>8.4f} {:>8.4f}", lines[p].rank,
         lines[p].name, unknown[p] ? "unknown" : fmt::format("{:.1f}", peaks[p] * 1e-9), triads[p] * 1e-9,
         kernels[p] * 1e-6, of_bound, kernels[p] * 33e-9, r_peak[p], r_stream[p], r_opt[p]);
    report["devices"].push_back({{"rank", lines[p].rank},
                                 {"device", lines[p].name},
                                 {"accelerator", rates[p].threads == 0},
                                 {"peak_gb_per_second", unknown[p] ? nlohmann::ordered_json() : peaks[p] * 1e-9},
                                 {"triad_gb_per_second", triads[p] * 1e-9},
                                 {"cells_per_second", kernels[p]},
                                 {"fraction_of_P", of_bound},
                                 {"gflops", kernels[p] * 33e-9},
                                 {"r_peak", r_peak[p]},
                                 {"r_stream", r_stream[p]},
                                 {"r_opt", r_opt[p]}});
  }
  info("P = 33/216 x triad (Langguth 2015, eq. 3); r: a device's share of the cells by peak, triad or kernel");
  if (std::find(unknown.begin(), unknown.end(), true) != unknown.end())
    info("peak unknown: the measured triad is taken instead; devices.peak_gb_per_second gives it");
  report["accelerators"] = {{"r_peak", share_of_accelerators(r_peak, rates)},
                            {"r_stream", share_of_accelerators(r_stream, rates)},
                            {"r_opt", share_of_accelerators(r_opt, rates)}};
  info("all accelerators together: r_peak {:.4f}, r_stream {:.4f}, r_opt {:.4f}",
       share_of_accelerators(r_peak, rates), share_of_accelerators(r_stream, rates),
       share_of_accelerators(r_opt, rates));
  if (const auto share = share_between(rates, cells)) {
    info("weights = \"measured\": {}", describe(*share, cells));
    report["measured"] = {{"cpu_cells", share->host_rows},
                          {"in_cache", share->in_cache},
                          {"seconds_a_step", share->seconds},
                          {"seconds_a_step_without_cpu", share->seconds_without},
                          {"seconds_a_step_with_cpu", share->seconds_with}};
  }
  comm.together([&] {
    if (comm.is_root() && !json.empty()) write_json(json, report);
  });
}

}  // namespace tutti::app
